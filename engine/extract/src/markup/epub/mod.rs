//! EPUB: the chapters of the book in their order, as text.
//!
//! `META-INF/container.xml` names the package document, its spine the chapters; they are pages of XHTML. Headings
//! are those of the chapters; one without a heading has the name that the table of contents gives it.

use std::collections::{HashMap, HashSet};

use kb_types::percent;

use crate::extracted::{Extracted, LineCounter};
use crate::markup::html;
use crate::package::ooxml::{package_path, read_optional, read_part};
use crate::package::xml::{XmlEvent, XmlReader};
use crate::package::zip_package::ZipPackage;
use crate::skip_reason::SkipReason;
use crate::text_builder::TextBuilder;

/// What errors call a book.
pub(crate) const FORMAT: &str = "EPUB";
/// What the first part of a book says.
pub(crate) const MEDIA_TYPE: &str = "application/epub+zip";
/// Bytes of a property; [`Extracted`] cuts it to its own limit.
const MAX_PROPERTY_BYTES: usize = 64 << 10;
/// Entries of a manifest, a spine or a table of contents that are read.
// A book has hundreds of chapters; forged lists must not fill the memory of the worker.
const MAX_ENTRIES: usize = 1 << 16;
/// What only disguises fonts (EPUB 3.3, 4.2.6.2, and Adobe's older form): the text is readable.
const FONT_ALGORITHMS: [&str; 2] = [
    "http://www.idpf.org/2008/embedding",
    "http://ns.adobe.com/pdf/enc#RC",
];

/// Reads a book.
///
/// # Errors
/// [`SkipReason::Encrypted`] for one with protected chapters, [`SkipReason::Damaged`] for one without any, a limit
/// is exceeded.
pub(crate) fn extract(bytes: &[u8]) -> Result<Extracted, SkipReason> {
    let mut package = ZipPackage::open(bytes, FORMAT)?;
    let damaged = |what: &'static str| SkipReason::damaged(FORMAT, what);
    let container = read_optional(&mut package, "META-INF/container.xml")?;
    let path =
        package_document(&container)?.ok_or_else(|| damaged("it names no package document"))?;
    let source = read_part(&mut package, &path)?;
    let source = source.ok_or_else(|| damaged("its package document is missing"))?;
    let mut text = TextBuilder::new();
    let book = Book::read(&source, &path, text.found())?;
    let protected = protected_parts(&read_optional(&mut package, "META-INF/encryption.xml")?)?;
    let is_protected = |chapter: &String| protected.contains(&chapter.to_lowercase());
    // Refused as a whole: a book of which some chapters are missing would look complete.
    if book.chapters.iter().any(is_protected) {
        return Err(SkipReason::Encrypted(FORMAT));
    }
    let contents = book.contents(&mut package)?;
    let mut found_any = false;
    let mut deeper = 0;
    for chapter in &book.chapters {
        let Some(source) = read_chapter(&mut package, chapter)? else {
            continue;
        };
        found_any = true;
        add_chapter(&mut text, &source, contents.get(chapter), &mut deeper);
        if text.is_full() {
            break;
        }
    }
    if !found_any {
        return Err(damaged("none of its chapters can be read"));
    }
    text.finish()
}

/// A chapter; none that is missing or broken: the others are worth reading.
fn read_chapter(package: &mut ZipPackage<'_>, path: &str) -> Result<Option<String>, SkipReason> {
    match read_part(package, path) {
        Err(SkipReason::Damaged { .. }) => Ok(None),
        read => read,
    }
}

/// Appends a chapter. `deeper` is by how much the table of contents puts headings deeper than the page does; it
/// holds until the next chapter that the table names.
fn add_chapter(text: &mut TextBuilder, source: &str, entry: Option<&Entry>, deeper: &mut i64) {
    let page = html::extract_xhtml(source);
    let words = page.text.unwrap_or_default();
    let first = page.outline.first();
    if let Some(entry) = entry {
        match first {
            Some(heading) => *deeper = entry.level - i64::from(heading.level),
            None if words.is_empty() => {}
            None => {
                let (start, line) = (text.len(), text.line());
                let level = usize::try_from(entry.level).unwrap_or(1);
                text.found().add_heading(level, &entry.label, start, line);
            }
        }
    }
    let (start, line) = (text.len(), text.line());
    let mut lines = LineCounter::new(&words);
    for heading in &page.outline {
        let at = heading.start as usize;
        let line = line.saturating_add(lines.line_of(at).saturating_sub(1));
        let level = usize::try_from(i64::from(heading.level) + *deeper).unwrap_or(1);
        text.found()
            .add_heading(level, &heading.title, start.saturating_add(at), line);
    }
    if !words.is_empty() {
        text.lines(&words);
        text.lines("\n");
    }
}

/// The path of the package document.
fn package_document(container: &str) -> Result<Option<String>, SkipReason> {
    let mut reader = XmlReader::new(container);
    while let Some(event) = reader.next()? {
        if let XmlEvent::Start(element) = event
            && element.name() == "rootfile"
            && let Some(path) = element.attribute("full-path")
        {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

/// The parts that are encrypted, in lower case.
fn protected_parts(encryption: &str) -> Result<HashSet<String>, SkipReason> {
    let mut parts = HashSet::new();
    let mut is_font = false;
    let mut reader = XmlReader::new(encryption);
    while let Some(event) = reader.next()? {
        let XmlEvent::Start(element) = event else {
            continue;
        };
        match element.name() {
            "EncryptedData" => is_font = false,
            "EncryptionMethod" => {
                let algorithm = element.attribute("Algorithm").unwrap_or_default();
                is_font |= FONT_ALGORITHMS.contains(&algorithm.as_str());
            }
            "CipherReference" if !is_font && parts.len() < MAX_ENTRIES => {
                let path = element.attribute("URI").unwrap_or_default();
                parts.insert(resolve("", &path).to_lowercase());
            }
            _ => {}
        }
    }
    Ok(parts)
}

/// What the package document says.
#[derive(Default)]
struct Book {
    /// Paths of the chapters in reading order, each once.
    chapters: Vec<String>,
    /// Path of the table of contents of EPUB 3.
    navigation: Option<String>,
    /// Path of the table of contents of EPUB 2.
    ncx: Option<String>,
}

impl Book {
    /// Reads it, and what the book says of itself.
    fn read(source: &str, path: &str, found: &mut Extracted) -> Result<Book, SkipReason> {
        let folder = folder_of(path);
        let mut book = Book::default();
        let mut paths: HashMap<String, String> = HashMap::new();
        let mut spine = Vec::new();
        let mut authors: Vec<String> = Vec::new();
        let mut subjects: Vec<String> = Vec::new();
        let mut reader = XmlReader::new(source);
        while let Some(event) = reader.next()? {
            let XmlEvent::Start(element) = event else {
                continue;
            };
            let key = match element.name() {
                "item" if paths.len() < MAX_ENTRIES => {
                    let target = element.attribute("href").unwrap_or_default();
                    let path = resolve(folder, &target);
                    let properties = element.attribute("properties").unwrap_or_default();
                    if properties.split_whitespace().any(|word| word == "nav") {
                        book.navigation = Some(path.clone());
                    }
                    if element.attribute("media-type").as_deref()
                        == Some("application/x-dtbncx+xml")
                    {
                        book.ncx = Some(path.clone());
                    }
                    paths
                        .entry(element.reference("id").unwrap_or_default())
                        .or_insert(path);
                    continue;
                }
                "itemref" if spine.len() < MAX_ENTRIES => {
                    spine.extend(element.reference("idref"));
                    continue;
                }
                "meta" if element.attribute("property").as_deref() == Some("dcterms:modified") => {
                    "modified"
                }
                "title" => "title",
                "creator" => "author",
                "language" => "language",
                "date" => "date",
                "publisher" => "publisher",
                "description" => "description",
                "subject" => "keywords",
                "identifier" => "identifier",
                _ => continue,
            };
            let value = reader.text_of_element(MAX_PROPERTY_BYTES)?;
            match key {
                "author" if authors.len() < MAX_ENTRIES => authors.push(value),
                "keywords" if subjects.len() < MAX_ENTRIES => subjects.push(value),
                // Descriptions of books are pages in disguise.
                "description" => {
                    let words = html::extract(&value).text.unwrap_or_default();
                    found.add_metadata(key, &words);
                }
                "date" => {
                    found.add_property("created", &value);
                    let is_known = found.metadata.iter().any(|(have, _)| have == "created");
                    // Many books state no more than a year.
                    found.add_metadata(key, if is_known { "" } else { &value });
                }
                _ => found.add_property(key, &value),
            }
        }
        for (key, list) in [("author", authors), ("keywords", subjects)] {
            let list: Vec<&str> = list.iter().map(|one| one.trim()).collect();
            found.add_metadata(key, &list.join(", "));
        }
        let mut seen = HashSet::new();
        for path in spine.iter().filter_map(|id| paths.get(id)) {
            let is_contents = book.navigation.as_ref() == Some(path);
            if !is_contents && seen.insert(path) {
                book.chapters.push(path.clone());
            }
        }
        Ok(book)
    }

    /// The entries of the table of contents by the paths of their chapters.
    fn contents(&self, package: &mut ZipPackage<'_>) -> Result<HashMap<String, Entry>, SkipReason> {
        let found = match &self.navigation {
            Some(path) => navigation(&read_optional(package, path)?, folder_of(path))?,
            None => HashMap::new(),
        };
        match &self.ncx {
            // The older table only as a substitute: books that have both repeat the same entries.
            Some(path) if found.is_empty() => ncx(&read_optional(package, path)?, folder_of(path)),
            _ => Ok(found),
        }
    }
}

/// An entry of the table of contents.
struct Entry {
    /// Its depth, from 1.
    level: i64,
    label: String,
}

/// Keeps the first entry for each chapter: further ones lead into the middle of it.
fn add_entry(entries: &mut HashMap<String, Entry>, path: String, level: i64, label: String) {
    if entries.len() < MAX_ENTRIES && !label.trim().is_empty() {
        entries.entry(path).or_insert(Entry { level, label });
    }
}

/// The table of contents of EPUB 3: lists of links inside `<nav epub:type="toc">`.
fn navigation(source: &str, folder: &str) -> Result<HashMap<String, Entry>, SkipReason> {
    let mut entries = HashMap::new();
    let mut level = 0;
    let mut is_inside = false;
    let mut reader = XmlReader::new(source);
    while let Some(event) = reader.next()? {
        match event {
            XmlEvent::Start(element) => match element.name() {
                "nav" => {
                    let kind = element.attribute("type").unwrap_or_default();
                    is_inside = kind.split_whitespace().any(|word| word == "toc");
                    level = 0;
                }
                "ol" => level += 1,
                "a" if is_inside => {
                    let target = element.attribute("href").unwrap_or_default();
                    let label = reader.text_of_element(MAX_PROPERTY_BYTES)?;
                    add_entry(&mut entries, resolve(folder, &target), level, label);
                }
                _ => {}
            },
            XmlEvent::End(element) => match element.name() {
                "nav" => is_inside = false,
                "ol" => level -= 1,
                _ => {}
            },
            XmlEvent::Text(_) => {}
        }
    }
    Ok(entries)
}

/// The table of contents of EPUB 2: `navPoint`s inside each other.
fn ncx(source: &str, folder: &str) -> Result<HashMap<String, Entry>, SkipReason> {
    let mut entries = HashMap::new();
    let mut level = 0;
    let mut label = String::new();
    let mut reader = XmlReader::new(source);
    while let Some(event) = reader.next()? {
        match event {
            XmlEvent::Start(element) => match element.name() {
                "navPoint" => level += 1,
                "text" if level > 0 => label = reader.text_of_element(MAX_PROPERTY_BYTES)?,
                "content" if level > 0 => {
                    let target = element.attribute("src").unwrap_or_default();
                    let label = std::mem::take(&mut label);
                    add_entry(&mut entries, resolve(folder, &target), level, label);
                }
                _ => {}
            },
            XmlEvent::End(element) if element.name() == "navPoint" => level -= 1,
            _ => {}
        }
    }
    Ok(entries)
}

fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The path that a link in `folder` leads to, without the place in it.
fn resolve(folder: &str, target: &str) -> String {
    let target = target.split(['#', '?']).next().unwrap_or_default();
    let target = percent::decode(target).unwrap_or_else(|| target.to_owned());
    package_path(folder, &target)
}

#[cfg(test)]
mod tests;
