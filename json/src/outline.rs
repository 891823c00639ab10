//! Outlines: the headings, symbols, sheets or slides of a document.

use kb_engine::{
    DocumentInfo, DocumentParts, DocumentSections, PartContent, PartInfo, PartKind, Section,
};

use crate::numbers::bytes;
use crate::object::Object;

/// A heading or symbol, with the text that it stands for. `page`, `sheet` or `slide` is there in a
/// document of parts, `kind` where it is a symbol.
#[must_use]
pub fn section(document: &DocumentInfo, section: &Section) -> Object {
    let mut object = Object::new()
        .field("document", &*document.path)
        .field("section", &*section.number)
        .field("level", section.level)
        .field("title", &*section.title);
    if let (Some(part), Some(kind)) = (section.part, document.part_kind) {
        object = object.field(kind.name(), part);
    }
    if let Some(kind) = section.kind {
        object = object.field("kind", kind.name());
    }
    object
        .field("line", section.lines.first)
        .field("end_line", section.lines.last)
        .field("start_byte", section.span.start)
        .field("end_byte", section.span.end)
}

/// A sheet, slide or page without its text.
#[must_use]
pub fn part(document: &DocumentInfo, part: &PartInfo) -> Object {
    let object = Object::new().field("document", &*document.path);
    match &part.content {
        PartContent::Sheet(sheet) => object
            .field("sheet", &*sheet.name)
            .field("number", part.number)
            .field("rows", sheet.rows)
            .field("columns", sheet.columns)
            .field("header_row", sheet.header_row)
            .field("hidden", sheet.is_hidden),
        PartContent::Slide(slide) => object
            .field("slide", part.number)
            .field("title", (!slide.title.is_empty()).then_some(&*slide.title))
            .field("hidden", slide.is_hidden),
        PartContent::Page(page) => object
            .field("page", part.number)
            .field("label", &*page.label),
    }
}

/// The whole of a document with pages, which comes before its [`section`]s; `None` for others.
#[must_use]
pub fn sections_total(outline: &DocumentSections) -> Option<Object> {
    let source = outline.page_source?;
    Some(totals(&outline.document).field("page_source", source.name()))
}

/// The whole of a document with sheets or slides, which comes before each [`part`] of it.
#[must_use]
pub fn parts_total(parts: &DocumentParts) -> Object {
    let totals = totals(&parts.document);
    match parts.document.part_kind {
        Some(PartKind::Sheet) => totals.field("total_rows", parts.rows),
        _ => totals,
    }
}

fn totals(document: &DocumentInfo) -> Object {
    let object = Object::new()
        .field("document", &*document.path)
        .field("title", &*document.title)
        .field("file_type", &*document.file_type)
        .field("file_size", bytes(document.size_bytes))
        .field("size_bytes", document.size_bytes);
    match document.part_kind {
        Some(kind) => object.field(&format!("total_{}", kind.plural()), document.parts),
        None => object,
    }
}
