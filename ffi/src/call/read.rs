//! Calls that read.

use kb_engine::{Kb, Paged, VerifyOptions};
use kb_json::Object;

use crate::base::fault::Fault;
use crate::base::progress::Listener;
use crate::call::arguments::Arguments;
use crate::call::search;
use crate::call::table::Call;

/// What answers a call.
type Answer = fn(&Kb, &mut Arguments, &Listener) -> Result<String, Fault>;

/// The calls with the names of their arguments, in the order of the alphabet.
pub(crate) const CALLS: &[Call<Answer>] = &[
    (
        "chunks",
        &["document", "section", "lines", "max_tokens", "continue"],
        chunks,
    ),
    ("document", &["document"], document),
    (
        "documents",
        &["folder", "recursive", "where", "max_tokens", "continue"],
        documents,
    ),
    ("fields", &["name"], fields),
    ("info", &["sizes"], info),
    (
        "outline",
        &["document", "section", "max_tokens", "continue"],
        outline,
    ),
    (
        "pages",
        &["document", "pages", "section", "max_tokens", "continue"],
        pages,
    ),
    ("parts", &["document", "max_tokens", "continue"], parts),
    #[cfg(feature = "regex")]
    ("regex", search::REGEX, regex),
    ("search", search::SEARCH, find),
    (
        "sheet",
        &["document", "sheet", "range", "max_tokens", "continue"],
        sheet,
    ),
    ("skipped", &["folder", "max_tokens", "continue"], skipped),
    (
        "slides",
        &["document", "slides", "max_tokens", "continue"],
        slides,
    ),
    ("symbols", search::SYMBOLS, symbols),
    (
        "text",
        &["document", "lines", "section", "max_tokens", "continue"],
        text,
    ),
    ("verify", &["deep"], verify),
];

/// The objects of a list under a name, and where it continues.
fn list<T>(name: &str, paged: &Paged<T>, objects: Vec<Object>) -> Object {
    let answer = Object::new().objects(name, objects);
    answer.join(kb_json::paging(
        paged.tokens,
        paged.over_budget,
        paged.next.as_ref(),
    ))
}

fn find(file: &Kb, arguments: &mut Arguments, listener: &Listener) -> Result<String, Fault> {
    let request = search::request(arguments)?;
    let response = file.search_with(&request, &mut |progress| listener.tell(progress))?;
    let hits = response.hits.iter();
    let hits = hits.map(|hit| kb_json::hit(hit, None, &request)).collect();
    let mut answer = list("hits", &response.hits, hits)
        .field("mode", response.mode.name())
        .field("verdict", response.relevance.name())
        .field("searched_chunks", response.searched_chunks)
        .join(kb_json::spelling(&response))
        .join(kb_json::facets(&response))
        .field("warnings", response.warnings.clone());
    if let Some(explanation) = kb_json::explanation(&response) {
        answer = answer.join(explanation);
    }
    Ok(answer.finish())
}

#[cfg(feature = "regex")]
fn regex(file: &Kb, arguments: &mut Arguments, listener: &Listener) -> Result<String, Fault> {
    let request = search::regex(arguments)?;
    let mut hook = |progress: &kb_engine::Progress| listener.tell(progress);
    let response = kb_engine::search_files_regex(&[file], &request, &mut hook)?;
    let matches = response.matches.iter();
    let matches = matches.map(|found| kb_json::regex_match(found, None, request.output));
    Ok(list("matches", &response.matches, matches.collect())
        .field("is_complete", response.is_complete)
        .field("searched_bytes", response.searched_bytes)
        .field("warnings", response.warnings.clone())
        .finish())
}

fn symbols(file: &Kb, arguments: &mut Arguments, _: &Listener) -> Result<String, Fault> {
    let response = file.symbols(&search::symbols(arguments)?)?;
    let symbols = response.symbols.iter();
    let symbols = symbols
        .map(|symbol| kb_json::symbol(symbol, None))
        .collect();
    Ok(list("symbols", &response.symbols, symbols)
        .field("total", response.total)
        .field("uses_outside", response.uses_outside)
        .field("warnings", response.warnings.clone())
        .finish())
}

fn document(file: &Kb, arguments: &mut Arguments, _: &Listener) -> Result<String, Fault> {
    let document = file.document(&arguments.required("document")?)?;
    Ok(kb_json::metadata(&document).finish())
}

fn documents(file: &Kb, arguments: &mut Arguments, _: &Listener) -> Result<String, Fault> {
    let folder = arguments.text("folder")?;
    let (is_recursive, page) = (arguments.flag("recursive")?, arguments.page()?);
    if let Some(condition) = arguments.text("where")? {
        let found = file.documents_where(folder.as_deref(), is_recursive, &condition, &page)?;
        let objects = found.iter().map(kb_json::document).collect();
        return Ok(list("documents", &found, objects).finish());
    }
    if is_recursive {
        let found = file.documents(folder.as_deref(), true, &page)?;
        let objects = found.iter().map(kb_json::document).collect();
        return Ok(list("documents", &found, objects).finish());
    }
    let found = file.list(folder.as_deref(), &page)?;
    let objects = found.iter().map(kb_json::entry).collect();
    Ok(list("entries", &found, objects).finish())
}

/// The fields that documents have; those of one name with all their values.
fn fields(file: &Kb, arguments: &mut Arguments, _: &Listener) -> Result<String, Fault> {
    let name = arguments.text("name")?;
    let fields = file.fields()?;
    let objects = match name {
        None => fields.iter().map(kb_json::field).collect(),
        Some(name) => {
            let name = name.trim().to_lowercase();
            let named = fields.iter().filter(|field| field.name == name);
            named.map(kb_json::field_with_values).collect()
        }
    };
    Ok(Object::new().objects("fields", objects).finish())
}

fn skipped(file: &Kb, arguments: &mut Arguments, _: &Listener) -> Result<String, Fault> {
    let folder = arguments.text("folder")?;
    let found = file.skipped(folder.as_deref(), &arguments.page()?)?;
    let objects = found.iter().map(kb_json::skipped_file).collect();
    Ok(list("skipped", &found, objects).finish())
}

fn info(file: &Kb, arguments: &mut Arguments, _: &Listener) -> Result<String, Fault> {
    let sizes = match arguments.flag("sizes")? {
        true => Some(file.sizes()?),
        false => None,
    };
    let found = file.info()?;
    let path = found.path.as_ref().map(|path| path.display().to_string());
    #[cfg(feature = "write")]
    let writer = file.writer()?;
    // A build that only reads does not look who writes.
    #[cfg(not(feature = "write"))]
    let writer: Option<kb_engine::WriterInfo> = None;
    Ok(kb_json::info(
        path.as_deref().unwrap_or_default(),
        &found,
        &file.skipped_reasons()?,
        writer.as_ref(),
        sizes.as_ref(),
    )
    .finish())
}

fn outline(file: &Kb, arguments: &mut Arguments, _: &Listener) -> Result<String, Fault> {
    let (name, section) = (arguments.required("document")?, arguments.text("section")?);
    let page = arguments.page()?;
    let found = match section {
        Some(section) => file.subsections(&name, &section, &page),
        None => file.sections(&name, &page),
    }?;
    let objects = found.sections.iter();
    let objects = objects.map(|section| kb_json::section(&found.document, section));
    Ok(list("sections", &found.sections, objects.collect()).finish())
}

fn parts(file: &Kb, arguments: &mut Arguments, _: &Listener) -> Result<String, Fault> {
    let found = file.parts(&arguments.required("document")?, &arguments.page()?)?;
    let objects = found.parts.iter();
    let objects = objects
        .map(|part| kb_json::part(&found.document, part))
        .collect();
    Ok(list("parts", &found.parts, objects)
        .object("document", kb_json::parts_total(&found))
        .finish())
}

fn text(file: &Kb, arguments: &mut Arguments, _: &Listener) -> Result<String, Fault> {
    let (name, section) = (arguments.required("document")?, arguments.text("section")?);
    let (lines, page) = (arguments.lines("lines")?, arguments.page()?);
    let found = match (section, lines) {
        (Some(_), Some(_)) => return Err(Fault::argument("section", "it excludes lines")),
        (Some(section), None) => file.section_text(&name, &section, &page),
        (None, lines) => file.text_paged(&name, lines, &page),
    }?;
    let paging = kb_json::paging(found.tokens, found.over_budget, found.next.as_ref());
    Ok(kb_json::document_text(found).join(paging).finish())
}

fn chunks(file: &Kb, arguments: &mut Arguments, _: &Listener) -> Result<String, Fault> {
    let (name, section) = (arguments.required("document")?, arguments.text("section")?);
    let (lines, page) = (arguments.lines("lines")?, arguments.page()?);
    let found = match (section, lines) {
        (Some(_), Some(_)) => return Err(Fault::argument("section", "it excludes lines")),
        (section, None) => file.chunks(&name, section.as_deref(), &page),
        (None, Some(lines)) => file.chunks_of_lines(&name, lines, &page),
    }?;
    let path = file.document(&name)?.path;
    let paging = kb_json::paging(found.tokens, found.over_budget, found.next.as_ref());
    let objects = found.into_iter().map(|chunk| kb_json::chunk(&path, chunk));
    Ok(Object::new()
        .objects("chunks", objects.collect())
        .join(paging)
        .finish())
}

fn pages(file: &Kb, arguments: &mut Arguments, _: &Listener) -> Result<String, Fault> {
    let (name, section) = (arguments.required("document")?, arguments.text("section")?);
    let (ranges, page) = (arguments.ranges("pages")?, arguments.page()?);
    let found = match section {
        Some(_) if !ranges.is_empty() => {
            return Err(Fault::argument("section", "it excludes pages"));
        }
        Some(section) => file.section_pages(&name, &section, &page),
        None => file.pages(&name, &ranges, &page),
    }?;
    let (document, total, pages) = (found.document, found.total, found.pages);
    let paging = kb_json::paging(pages.tokens, pages.over_budget, pages.next.as_ref());
    let objects = pages
        .into_iter()
        .map(|page| kb_json::page(&document, total, page));
    Ok(Object::new()
        .objects("pages", objects.collect())
        .join(paging)
        .finish())
}

fn sheet(file: &Kb, arguments: &mut Arguments, _: &Listener) -> Result<String, Fault> {
    let name = arguments.required("document")?;
    let (sheet, range) = (arguments.text("sheet")?, arguments.text("range")?);
    let page = arguments.page()?;
    let found = file.sheet(&name, sheet.as_deref(), range.as_deref(), &page)?;
    let (path, name) = (&found.document.path, &found.sheet.name);
    let header = found
        .header
        .iter()
        .filter(|header| !header.cells.is_empty());
    let header = header.map(|row| kb_json::sheet_row(path, name, row, true));
    let rows = found.rows.iter();
    let rows = rows.map(|row| kb_json::sheet_row(path, name, row, false));
    Ok(list("rows", &found.rows, header.chain(rows).collect())
        .field("uncalculated", found.sheet.uncalculated)
        .finish())
}

fn slides(file: &Kb, arguments: &mut Arguments, _: &Listener) -> Result<String, Fault> {
    let name = arguments.required("document")?;
    let found = file.slides(&name, &arguments.ranges("slides")?, &arguments.page()?)?;
    let (document, total, slides) = (found.document, found.total, found.slides);
    let paging = kb_json::paging(slides.tokens, slides.over_budget, slides.next.as_ref());
    let objects = slides
        .into_iter()
        .map(|slide| kb_json::slide(&document, total, slide));
    Ok(Object::new()
        .objects("slides", objects.collect())
        .join(paging)
        .finish())
}

fn verify(file: &Kb, arguments: &mut Arguments, listener: &Listener) -> Result<String, Fault> {
    let options = VerifyOptions::new().deep(arguments.flag("deep")?);
    let report = file.verify(&options, &mut |progress| listener.tell(progress))?;
    let path = file.info()?.path;
    let path = path
        .map(|path| path.display().to_string())
        .unwrap_or_default();
    Ok(kb_json::verify_report(&path, &report).finish())
}
