//! The text of a document, and its chunks.

use kb_engine::{ChunkText, DocumentInfo, DocumentPage, DocumentText};

use crate::document::document_head;
use crate::object::Object;
use crate::parts::part_address;

/// The text of a document, or of some of its lines.
#[must_use]
pub fn document_text(text: DocumentText) -> Object {
    document_head(&text.document)
        .field("start_line", text.lines.first)
        .field("end_line", text.lines.last)
        .field("document_lines", text.document.lines)
        .field("text", text.text)
}

/// The text of a page, of `total`, where pages are a way to select text: without what
/// [`page`](crate::page) says of the page itself.
#[must_use]
pub fn page_text(document: &DocumentInfo, total: u32, page: DocumentPage) -> Object {
    document_head(document)
        .field("page", page.number)
        .field("total_pages", total)
        .field("start_line", page.lines.first)
        .field("end_line", page.lines.last)
        .field("text", page.text)
}

/// A chunk of the document with that path. `part` is there in a document of parts.
#[must_use]
pub fn chunk(document: &str, chunk: ChunkText) -> Object {
    let mut object = Object::new()
        .field("document", document)
        .field("chunk", format!("{document}#{}", chunk.index))
        .field("index", chunk.index)
        .field("section", chunk.section)
        .field("start_line", chunk.at.lines.first)
        .field("end_line", chunk.at.lines.last)
        .field("start_byte", chunk.at.span.start)
        .field("end_byte", chunk.at.span.end);
    if let Some(part) = &chunk.part {
        object = object.object("part", part_address(part));
    }
    object.field("text", chunk.text)
}
