//! Pages, rows of sheets and slides with their text, and the location of a text in one of them.

use kb_engine::cell_text::{Cell, CellValue};
use kb_engine::{DocumentInfo, DocumentPage, PartAddress, SheetRow, SlideText, column_name};
use serde_json::Value;

use crate::document::document_head;
use crate::object::Object;

/// The page, sheet or slide that a text lies in.
#[must_use]
pub fn part_address(part: &PartAddress) -> Object {
    match part {
        PartAddress::Page {
            number,
            total,
            source,
            label,
            ..
        } => Object::new()
            .field("page", *number)
            .field("total_pages", *total)
            .field("source", source.name())
            .field("label", &**label),
        PartAddress::Sheet {
            name,
            first_row,
            last_row,
            ..
        } => Object::new()
            .field("sheet", &**name)
            .field("first_row", *first_row)
            .field("last_row", *last_row),
        PartAddress::Slide {
            number,
            total,
            title,
            ..
        } => Object::new()
            .field("slide", *number)
            .field("total_slides", *total)
            .field("slide_title", &**title),
    }
}

/// A page of a document, of `total`. `source` and `label` are there where the document has pages of
/// its own.
#[must_use]
pub fn page(document: &DocumentInfo, total: u32, page: DocumentPage) -> Object {
    let mut object = document_head(document)
        .field("page", page.number)
        .field("total_pages", total);
    if let Some(source) = page.source {
        object = object
            .field("source", source.name())
            .field("label", &*page.label);
    }
    object
        .field("start_line", page.lines.first)
        .field("end_line", page.lines.last)
        .field("text", page.text)
}

/// A row of a sheet: the texts that its cells show by the names of their columns, and as `values` what
/// they hold where that is something else. `header` is true of a header row that is given beside the
/// rows that were asked for, and not there otherwise.
#[must_use]
pub fn sheet_row(document: &str, sheet: &str, row: &SheetRow, is_header: bool) -> Object {
    let (mut shown, mut values) = (Object::new(), Object::new());
    let mut has_values = false;
    for (column, cell) in &row.cells {
        let column = column_name(*column);
        shown = shown.field(&column, cell.displayed());
        if let Some(value) = value_of(cell) {
            values = values.field(&column, value);
            has_values = true;
        }
    }
    let mut object = Object::new()
        .field("document", document)
        .field("sheet", sheet)
        .field("row", row.number);
    if is_header {
        object = object.field("header", true);
    }
    object = object.object("cells", shown);
    if has_values {
        object = object.object("values", values);
    }
    object
}

/// What a cell holds, where that is not the text that it shows.
fn value_of(cell: &Cell) -> Option<Value> {
    match &cell.value {
        CellValue::Empty => None,
        CellValue::Number(number) => Some(Value::from(*number)),
        CellValue::Boolean(boolean) => Some(Value::from(*boolean)),
        CellValue::Text(text)
        | CellValue::Date(text)
        | CellValue::Error(text)
        | CellValue::Formula(text) => (*text != cell.shown).then(|| Value::from(text.as_str())),
    }
}

/// A slide of a document, of `total`.
#[must_use]
pub fn slide(document: &DocumentInfo, total: u32, slide: SlideText) -> Object {
    document_head(document)
        .field("slide", slide.number)
        .field("total_slides", total)
        .field("slide_title", slide.title)
        .field("hidden", slide.is_hidden)
        .field("start_line", slide.lines.first)
        .field("end_line", slide.lines.last)
        .field("text", slide.text)
        .field("notes", slide.notes)
}
