//! Packages of OpenDocument: their kind, whether they are encrypted, and what they say of themselves.

use std::collections::HashSet;

use crate::extracted::Extracted;
use crate::package::math::read_mathml;
use crate::package::ooxml::{package_path, read_optional, read_part};
use crate::package::xml::{Element, XmlEvent, XmlReader};
use crate::package::zip_package::ZipPackage;
use crate::skip_reason::SkipReason;

/// Bytes of a property; [`Extracted`] cuts it to its own limit.
const MAX_PROPERTY_BYTES: usize = 64 << 10;
/// Spaces that one `text:s` may stand for.
// An element of some bytes can claim four billion spaces.
const MAX_SPACES: u32 = 1000;

/// The content of a package.
///
/// # Errors
/// [`SkipReason::Encrypted`], [`SkipReason::Damaged`] without content, a limit is exceeded.
pub(crate) fn content(package: &mut ZipPackage<'_>) -> Result<String, SkipReason> {
    // In an encrypted package only the manifest can be read.
    let manifest = read_optional(package, "META-INF/manifest.xml")?;
    let mut reader = XmlReader::new(&manifest);
    while let Some(event) = reader.next()? {
        if let XmlEvent::Start(element) = event
            && element.name() == "encryption-data"
        {
            return Err(SkipReason::Encrypted(package.format()));
        }
    }
    let content = read_part(package, "content.xml")?;
    content.ok_or_else(|| SkipReason::damaged(package.format(), "its content is missing"))
}

/// Takes title, author and times from the metadata of the package.
///
/// # Errors
/// A limit is exceeded.
pub(crate) fn read_properties(
    package: &mut ZipPackage<'_>,
    extracted: &mut Extracted,
) -> Result<(), SkipReason> {
    let text = read_optional(package, "meta.xml")?;
    let mut reader = XmlReader::new(&text);
    let mut keywords = String::new();
    let mut editor = String::new();
    while let Some(event) = reader.next()? {
        let XmlEvent::Start(element) = event else {
            continue;
        };
        let key = match element.name() {
            "title" => "title",
            "initial-creator" => "author",
            "creator" => "editor",
            "creation-date" => "created",
            "date" => "modified",
            "subject" => "subject",
            "keyword" => "keywords",
            "description" => "description",
            "language" => "language",
            _ => continue,
        };
        let value = reader.text_of_element(MAX_PROPERTY_BYTES)?;
        match key {
            "editor" => editor = value,
            "keywords" if keywords.len() < MAX_PROPERTY_BYTES => {
                keywords.push_str(if keywords.is_empty() { "" } else { ", " });
                keywords.push_str(&value);
            }
            _ => extracted.add_property(key, &value),
        }
    }
    extracted.add_metadata("keywords", &keywords);
    // Who changed it last, where nobody is known to have begun it.
    extracted.add_metadata("author", &editor);
    Ok(())
}

/// Appends text of a paragraph, where any white space is one space.
pub(crate) fn push_collapsed(paragraph: &mut String, text: &str) {
    let mut after_space = paragraph.is_empty() || paragraph.ends_with([' ', '\n', '\t']);
    for character in text.chars() {
        let is_space = matches!(character, ' ' | '\n' | '\r' | '\t');
        if !is_space {
            paragraph.push(character);
        } else if !after_space {
            paragraph.push(' ');
        }
        after_space = is_space;
    }
}

/// Appends the spaces that a `text:s` stands for.
pub(crate) fn push_spaces(paragraph: &mut String, count: Option<u32>) {
    let count = count.unwrap_or(1).min(MAX_SPACES);
    paragraph.extend((0..count).map(|_| ' '));
}

/// An object that is embedded in a document.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Object {
    /// In a linear form.
    Equation(String),
    /// The lines of its titles and of its table.
    Chart(Vec<String>),
}

/// The objects of a package. Each is read once, so that references to one do not multiply its text.
#[derive(Debug, Default)]
pub(crate) struct Objects(HashSet<String>);

impl Objects {
    /// The object that an element `draw:object` refers to; `None` where it is neither equation nor chart.
    ///
    /// # Errors
    /// A limit is exceeded.
    pub(crate) fn read(
        &mut self,
        package: &mut ZipPackage<'_>,
        element: &Element<'_>,
    ) -> Result<Option<Object>, SkipReason> {
        let folder = package_path("", &element.reference("href").unwrap_or_default());
        if folder.is_empty() || !self.0.insert(folder.clone()) {
            return Ok(None);
        }
        let part = read_optional(package, &format!("{folder}/content.xml"))?;
        let mut reader = XmlReader::new(&part);
        while let Some(event) = reader.next()? {
            match event {
                XmlEvent::Start(element) => match element.name() {
                    "math" => return Ok(Some(Object::Equation(read_mathml(&part)?))),
                    "chart" => return Ok(Some(Object::Chart(chart_lines(&mut reader)?))),
                    "document-content" | "body" => {}
                    _ => reader.skip()?,
                },
                XmlEvent::End(_) | XmlEvent::Text(_) => {}
            }
        }
        Ok(None)
    }
}

/// What is written in a chart: a line for a title, and one for each row of its table.
fn chart_lines(reader: &mut XmlReader<'_>) -> Result<Vec<String>, SkipReason> {
    let mut lines = Vec::new();
    let mut line = String::new();
    let (mut in_text, mut in_row) = (false, false);
    while let Some(event) = reader.next()? {
        match event {
            XmlEvent::Start(element) => match element.name() {
                "p" => in_text = true,
                "table-row" => in_row = true,
                _ => {}
            },
            XmlEvent::End(end) => match end.name() {
                "p" => {
                    in_text = false;
                    if !in_row {
                        lines.push(std::mem::take(&mut line));
                    }
                }
                "table-cell" => line.push('\t'),
                "table-row" => {
                    in_row = false;
                    lines.push(std::mem::take(&mut line));
                }
                _ => {}
            },
            XmlEvent::Text(text) if in_text => push_collapsed(&mut line, &text),
            XmlEvent::Text(_) => {}
        }
    }
    let lines = lines.into_iter().map(|line| line.trim().to_owned());
    Ok(lines.filter(|line| !line.is_empty()).collect())
}
