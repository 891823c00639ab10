//! Documents with pages, slides and sheets.

use kb_engine::cell_text::{Cell, CellValue, RowWriter};
use kb_engine::{Class, Document, Page, PageSource, Part, PartContent, Sheet, Slide, document_of};

/// Those of the integration tests.
#[path = "../../../../tests/support/parts.rs"]
mod by_hand;

pub(super) use by_hand::{ledger, pilot_book, talk};

fn document(path: &str) -> Document {
    let mut document = document_of("empty.txt", b"").unwrap();
    document.path = path.to_owned();
    document.title = "Hostile parts".to_owned();
    document.file_type = path.rsplit('.').next().unwrap().to_owned();
    document.class = Class::Doc;
    document
}

fn begin(document: &mut Document, content: PartContent) {
    document.parts.push(Part {
        start: document.text.len() as u32,
        line: document.text.matches('\n').count() as u32 + 1,
        content,
    });
}

fn push_line(document: &mut Document, text: &str) {
    document.text.push_str(text);
    if !document.text.ends_with('\n') {
        document.text.push('\n');
    }
}

/// `paper.pdf` with these texts as pages.
pub(in crate::tools) fn paper(pages: &[&str]) -> Document {
    let mut paper = document("paper.pdf");
    for text in pages {
        let page = Page {
            source: PageSource::Physical,
            label: "iv".to_owned(),
        };
        begin(&mut paper, PartContent::Page(page));
        push_line(&mut paper, text);
    }
    paper
}

/// `deck.odp` with these texts as slides, and as their notes.
pub(in crate::tools) fn deck(slides: &[&str]) -> Document {
    let mut deck = document("deck.odp");
    for (text, number) in slides.iter().zip(0..) {
        let slide = Slide {
            title: text.chars().filter(|c| !c.is_control()).take(9).collect(),
            ..Slide::default()
        };
        begin(&mut deck, PartContent::Slide(slide));
        push_line(&mut deck, text);
        if number % 2 == 0 {
            let start = deck.text.len() as u32;
            if let Some(PartContent::Slide(slide)) =
                deck.parts.last_mut().map(|part| &mut part.content)
            {
                slide.notes = Some(start);
            }
            push_line(&mut deck, text);
        }
    }
    deck
}

/// A sheet with these cells, from A1 on.
pub(in crate::tools) fn table(path: &str, name: &str, rows: &[Vec<String>]) -> Document {
    let mut table = document(path);
    let mut sheet = Sheet {
        name: name.to_owned(),
        ..Sheet::default()
    };
    let (mut text, mut expected) = (String::new(), 1);
    for (cells, row) in rows.iter().zip(1..) {
        let filled = cells.iter().zip(1..).filter(|(cell, _)| !cell.is_empty());
        let filled: Vec<(&String, u32)> = filled.collect();
        let Some((_, last)) = filled.last() else {
            continue;
        };
        if row != expected {
            sheet.runs.push((text.matches('\n').count() as u32, row));
        }
        expected = row + 1;
        (sheet.rows, sheet.columns) = (row, sheet.columns.max(*last));
        let mut writer = RowWriter::new(&mut text);
        for (cell, column) in filled {
            writer.push(column, &Cell::plain(CellValue::Text(cell.clone())));
        }
        writer.finish();
    }
    begin(&mut table, PartContent::Sheet(sheet));
    table.text = text;
    table
}
