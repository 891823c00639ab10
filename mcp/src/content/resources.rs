//! Resources: an overview of each index, and every document.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use kb_engine::escape::{escape_json, escape_line};
use kb_engine::{DocumentInfo, Error, Lines, NameMatch, PageOptions, file_types};
use serde_json::{Value, json};

use super::error::ContentError;
use crate::indexes::{Index, Indexes, Selection, updated_ms};
use crate::limits;
use crate::response::uri::{self, Part};
use crate::response::{Object, time};

/// Resources in one page of the list.
const PAGE_ITEMS: usize = 100;

/// Most bytes of text in one resource.
const TEXT_LIMIT_BYTES: usize = 800 << 10;

/// The same limit in tokens of four bytes.
const TEXT_LIMIT_TOKENS: u32 = 200 << 10;

/// Longest cursor, in bytes: JSON may take six bytes for each byte of the longest path, and base64 adds a
/// third.
const CURSOR_LIMIT_BYTES: usize = 9 * limits::DOCUMENT_LIMIT;

/// Bytes of folder paths in the overview of an index.
const FOLDERS_BYTES: u64 = 8000;

/// Tokens of headings in the outline of a document; about as much as [`TEXT_LIMIT_BYTES`].
const OUTLINE_LIMIT_TOKENS: u32 = 200_000;

/// The content of a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Content {
    pub(crate) uri: String,
    pub(crate) mime_type: String,
    pub(crate) text: String,
}

/// Where a page of the list starts: after a document of an index, or at the start of the index.
struct Position {
    index: String,
    after: Option<String>,
}

impl Position {
    fn encode(&self) -> String {
        let state = json!({"v": 1, "index": self.index, "after": self.after});
        URL_SAFE_NO_PAD.encode(state.to_string())
    }

    fn decode(cursor: &str) -> Option<Position> {
        if cursor.len() > CURSOR_LIMIT_BYTES {
            return None;
        }
        let bytes = URL_SAFE_NO_PAD.decode(cursor).ok()?;
        let state: Value = serde_json::from_slice(&bytes).ok()?;
        if state.get("v").and_then(Value::as_u64) != Some(1) {
            return None;
        }
        let after = match state.get("after")? {
            Value::Null => None,
            Value::String(path) => Some(path.clone()),
            _ => return None,
        };
        let index = state.get("index")?.as_str()?.to_owned();
        Some(Position { index, after })
    }
}

/// A page of all resources, in the order of indexes and paths, and the cursor of the next page.
pub(crate) fn resources(
    indexes: &Indexes,
    cursor: Option<&str>,
) -> Result<(Vec<Object>, Option<String>), ContentError> {
    let invalid = || ContentError::InvalidArgument("cursor: not from this server".to_owned());
    let all = indexes.list();
    let (mut number, mut after, mut is_start) = (0, None, true);
    if let Some(cursor) = cursor {
        let position = Position::decode(cursor).ok_or_else(invalid)?;
        let found = all.iter().position(|index| index.name() == position.index);
        number = found.ok_or_else(invalid)?;
        (is_start, after) = (position.after.is_none(), position.after);
    }
    let mut page = Vec::with_capacity(PAGE_ITEMS);
    while let Some(index) = all.get(number) {
        if page.len() == PAGE_ITEMS {
            let name = index.name().to_owned();
            return Ok((page, Some(Position { index: name, after }.encode())));
        }
        if is_start {
            let Ok(entry) = overview_entry(index) else {
                // An index that cannot be read is left out; reading it reports the error.
                (number, after, is_start) = (number + 1, None, true);
                continue;
            };
            page.push(entry);
        }
        let wanted = PAGE_ITEMS - page.len();
        let documents = index.kb().documents_after(after.as_deref(), wanted + 1)?;
        let has_more = documents.len() > wanted;
        for document in documents.into_iter().take(wanted) {
            page.push(document_entry(index, &document));
            after = Some(document.path);
        }
        if has_more {
            let name = index.name().to_owned();
            return Ok((page, Some(Position { index: name, after }.encode())));
        }
        (number, after, is_start) = (number + 1, None, true);
    }
    Ok((page, None))
}

fn overview_entry(index: &Index) -> Result<Object, ContentError> {
    let updated = index.kb().state()?.updated_ms;
    Ok(object(json!({
        "uri": uri::of_index(index.name()),
        "name": index.name(),
        "title": format!("Overview of {}", index.name()),
        "mimeType": "application/json",
        "annotations": {"lastModified": time::rfc3339(updated)},
    })))
}

fn document_entry(index: &Index, document: &DocumentInfo) -> Object {
    object(json!({
        "uri": uri::of_document(index.name(), &document.path),
        "name": document.path,
        "title": document.title,
        "mimeType": mime(document),
        "size": document.text_bytes,
        "annotations": {"lastModified": time::rfc3339(updated_ms(document))},
    }))
}

/// The MIME type of the stored text, which is plain text for HTML and for files that are no text.
fn mime(document: &DocumentInfo) -> &'static str {
    match document.file_type.as_str() {
        "ipynb" => "text/markdown",
        name if name == "html" || file_types::is_packed(name) => "text/plain",
        name => file_types::mime(name),
    }
}

/// The resource templates.
pub(crate) fn templates() -> Vec<Object> {
    let template = |part: &str, name: &str, title: &str, description: &str, mime: Option<&str>| {
        let mut template = object(json!({
            "uriTemplate": format!("kb://{{index_name}}/{part}{{+path}}"),
            "name": name,
            "title": title,
            "description": description,
        }));
        if let Some(mime) = mime {
            template.insert("mimeType".to_owned(), mime.into());
        }
        template
    };
    vec![
        template(
            "doc/",
            "document",
            "Text of a document",
            "The stored text of one document, up to 800 KB.",
            None,
        ),
        template(
            "outline/",
            "outline",
            "Outline of a document",
            "The headings of one document with section numbers and lines.",
            Some("text/markdown"),
        ),
        template(
            "lines/{start}-{end}/",
            "lines",
            "Lines of a document",
            "Some lines of one document, first and last counted from 1.",
            Some("text/plain"),
        ),
    ]
}

/// Reads a resource.
pub(crate) fn read(indexes: &Indexes, address: &str) -> Result<Content, ContentError> {
    let missing = || ContentError::NotFound(address.to_owned());
    let mut found = uri::parse(address).ok_or_else(missing)?;
    let index = indexes.named(&found.index).map_err(|_| missing())?;
    let mut skip_bytes = 0;
    if found.part != Part::Overview && index.kb().document_at(&found.path)?.is_none() {
        // A path with lines behind it, as searches print it, or the bytes after them, as where a text was cut:
        // `a.md#L5-L9`, `a.md:5-9`, `a.md:5-9+1200`.
        let located = index.kb().locate(&found.path);
        let located = located.map_err(|error| missing_or_failed(error, address))?;
        let lines = located.lines.filter(|_| located.how == NameMatch::Path);
        let lines = lines.filter(|_| found.part == Part::Document);
        let Lines { first, last } = lines.ok_or_else(missing)?;
        found.part = Part::Lines(first, last);
        found.path = located.document.path;
        skip_bytes = located.skip_bytes;
    }
    let (mime_type, text) = match found.part {
        Part::Overview => ("application/json", overview(&index)?),
        Part::Document => {
            let (document, text) = match index.kb().head(&found.path, TEXT_LIMIT_BYTES) {
                Ok(found) => found,
                Err(error) => return Err(missing_or_failed(error, address)),
            };
            exact(&document, &found.path).ok_or_else(missing)?;
            (mime(&document), text)
        }
        Part::Outline => ("text/markdown", outline(&index, &found.path, address)?),
        Part::Lines(first, last) => {
            let lines = Some(Lines { first, last });
            let Selection { name, lines } = Selection::new(&found.path, lines, skip_bytes);
            // Bounds what is read, however long the lines are.
            let page = PageOptions::default().max_tokens(TEXT_LIMIT_TOKENS);
            let read = index.kb().text_paged(&name, lines, &page);
            let text = read.map_err(|error| missing_or_failed(error, address))?;
            exact(&text.document, &found.path).ok_or_else(missing)?;
            ("text/plain", text.text)
        }
    };
    Ok(Content {
        uri: address.to_owned(),
        mime_type: mime_type.to_owned(),
        text,
    })
}

/// A resource has one URI, with the whole path; tools also accept the end of a path.
fn exact(document: &DocumentInfo, path: &str) -> Option<()> {
    (document.path == path).then_some(())
}

fn missing_or_failed(error: Error, address: &str) -> ContentError {
    match error {
        Error::DocumentNotFound { .. }
        | Error::AmbiguousDocument { .. }
        | Error::InvalidRange { .. } => ContentError::NotFound(address.to_owned()),
        other => other.into(),
    }
}

fn overview(index: &Index) -> Result<String, ContentError> {
    let info = index.kb().info()?;
    let folders = index.kb().folders(FOLDERS_BYTES)?;
    let paths = folders.paths.into_iter();
    let paths: Vec<Value> = paths
        .map(|(path, documents)| json!({"path": path, "documents": documents}))
        .collect();
    let counts = |list: Vec<(String, u64)>| -> Object {
        list.into_iter()
            .map(|(name, count)| (name, count.into()))
            .collect()
    };
    let overview = json!({
        "index_name": index.name(),
        "id": info.uuid,
        "format_version": info.format,
        "documents": info.documents,
        "chunks": info.chunks,
        "text_bytes": info.text_bytes,
        "file_bytes": info.file_bytes,
        "created": time::rfc3339(info.created_ms),
        "updated": time::rfc3339(info.updated_ms),
        "types": counts(info.types),
        "languages": counts(info.languages),
        "folders": folders.top,
        "paths": paths,
        "embedding_model": info.model,
        "dimensions": info.dim,
    });
    match serde_json::to_string_pretty(&overview) {
        Ok(text) => Ok(escape_json(&text).into_owned()),
        Err(error) => Err(ContentError::Failed(error.to_string())),
    }
}

fn outline(index: &Index, path: &str, address: &str) -> Result<String, ContentError> {
    let page = PageOptions::default().max_tokens(OUTLINE_LIMIT_TOKENS);
    let found = index.kb().sections(path, &page);
    let outline = found.map_err(|error| missing_or_failed(error, address))?;
    let missing = || ContentError::NotFound(address.to_owned());
    exact(&outline.document, path).ok_or_else(missing)?;
    let mut text = String::new();
    for section in &outline.sections {
        let indent = "  ".repeat(section.number.matches('.').count());
        let (first, last) = (section.lines.first, section.lines.last);
        text.push_str(&format!(
            "{indent}- {} {} (lines {first}-{last})\n",
            section.number,
            escape_line(&section.title)
        ));
    }
    if text.is_empty() {
        text.push_str("This document has no headings.\n");
    } else if outline.sections.next.is_some() {
        text.push_str("- more headings follow; get_document_outline gives them all\n");
    }
    Ok(text)
}

/// A revision that changes when the result of [`read`] may change; `None` if there is no such resource.
pub(crate) fn revision(indexes: &Indexes, address: &str) -> Option<String> {
    let found = uri::parse(address)?;
    let index = indexes.named(&found.index).ok()?;
    match found.part {
        Part::Overview => {
            let state = index.kb().state().ok()?;
            Some(format!("{} {}", state.generation, state.commit))
        }
        _ => {
            let document = index.kb().document_at(&found.path).ok()?;
            document.map(|document| document.revision)
        }
    }
}

/// The fields of a JSON object.
fn object(value: Value) -> Object {
    match value {
        Value::Object(object) => object,
        _ => Object::new(),
    }
}

#[cfg(test)]
mod tests {
    use kb_engine::KbWriter;

    use super::*;
    use crate::options::Options;

    #[test]
    fn a_document_is_read_by_its_lines_as_searches_print_them() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("own.kb");
        let mut writer = KbWriter::open_or_create(&path).unwrap();
        writer.add_bytes("a.md", b"one\ntwo\nthree\n").unwrap();
        writer.add_bytes("b.md:2", b"b\n").unwrap();
        writer.add_bytes("a.md:1-2", b"other\n").unwrap();
        writer.commit().unwrap();
        let options = Options::reading(vec![("own".to_owned(), path)]);
        let indexes = Indexes::open(&options).unwrap_or_else(|error| panic!("{error:?}"));
        let text = |address: &str| read(&indexes, address).ok().map(|found| found.text);
        for address in [
            "kb://own/doc/a.md#L2-L3",
            "kb://own/doc/a.md#L2-3",
            "kb://own/doc/a.md:2-3",
            "kb://own/doc/a.md:2-",
            "kb://own/lines/2-3/a.md",
        ] {
            assert_eq!(text(address).as_deref(), Some("two\nthree\n"), "{address}");
        }
        for address in ["kb://own/doc/a.md#L2-L3+4", "kb://own/doc/a.md:1-+8"] {
            assert_eq!(text(address).as_deref(), Some("three\n"), "{address}");
        }
        assert_eq!(text("kb://own/doc/a.md:2-3+10"), None, "they have no more");
        assert_eq!(text("kb://own/doc/a.md:3:7").as_deref(), Some("three\n"));
        let lines = text("kb://own/lines/1-2/a.md");
        assert_eq!(lines.as_deref(), Some("one\ntwo\n"));
        assert_eq!(
            text("kb://own/doc/b.md:2").as_deref(),
            Some("b\n"),
            "its path"
        );
        for address in [
            "kb://own/doc/a.md:9-3",
            "kb://own/doc/.md:1",
            "kb://own/outline/a.md:1",
        ] {
            assert_eq!(text(address), None, "{address}");
        }
    }
}
