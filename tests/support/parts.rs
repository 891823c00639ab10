//! Documents with sheets, pages and slides, built by hand as an extractor builds them.

use kb_engine::cell_text::{Cell, CellValue, RowWriter};
use kb_engine::{Class, Document, Page, PageSource, Part, PartContent, Sheet, Slide};

pub(crate) fn document(path: &str, title: &str, class: Class) -> Document {
    let mut document = kb_engine::document_of("empty.txt", b"").expect("an empty text");
    document.path = path.to_owned();
    document.title = title.to_owned();
    document.file_type = path.rsplit('.').next().expect("an extension").to_owned();
    document.class = class;
    document
}

/// Begins a part at the end of the text.
pub(crate) fn begin(document: &mut Document, content: PartContent) {
    document.parts.push(Part {
        start: u32::try_from(document.text.len()).expect("a short text"),
        line: u32::try_from(document.text.lines().count()).expect("few lines") + 1,
        content,
    });
}

/// A sheet with a header, a gap and cells that show other than they hold, an empty one, and one of a cell far away.
pub(crate) fn ledger() -> Document {
    let mut book = document("ledger.xlsx", "Harbour ledger", Class::Doc);
    let text = |text: &str| Cell::plain(CellValue::Text(text.to_owned()));
    let money = |number: f64| Cell {
        shown: format!("${number:.2}"),
        value: CellValue::Number(number),
    };
    let day = Cell {
        shown: "1 March".to_owned(),
        value: CellValue::Date("2024-03-01".to_owned()),
    };
    let sum = Cell {
        shown: String::new(),
        value: CellValue::Formula("=SUM(C2:C5)".to_owned()),
    };
    let dues = vec![
        vec![(1, text("Vessel")), (2, text("Day")), (3, text("Dues"))],
        vec![(1, text("Kittiwake")), (2, day), (3, money(1234.5))],
        vec![(1, text("Razorbill\tand tender")), (3, money(0.25))],
        vec![(1, text("Sum")), (3, sum)],
    ];
    let sheets = [
        ("Dues", vec![(0, 1), (2, 5)], 6, 3, dues),
        ("Empty", Vec::new(), 0, 0, Vec::new()),
        (
            "Corner",
            vec![(0, 1_048_576)],
            1_048_576,
            16_384,
            vec![vec![(16_384, text("sextant"))]],
        ),
    ];
    for (name, runs, rows, columns, lines) in sheets {
        let sheet = Sheet {
            name: name.to_owned(),
            rows,
            columns,
            header_row: (name == "Dues").then_some(1),
            is_hidden: name == "Corner",
            uncalculated: u32::from(name == "Dues"),
            // A run at the first row says nothing.
            runs: runs.into_iter().filter(|run| *run != (0, 1)).collect(),
        };
        begin(&mut book, PartContent::Sheet(sheet));
        for cells in lines {
            let mut row = RowWriter::new(&mut book.text);
            for (column, cell) in &cells {
                row.push(*column, cell);
            }
            row.finish();
        }
    }
    book
}

/// Pages with a printed number, without one, and without text.
pub(crate) fn pilot_book() -> Document {
    let mut book = document("pilot-book.pdf", "Pilot book", Class::Doc);
    for (label, text) in [
        ("ii", "Pilot book\n\nOf the approaches to the harbour.\n"),
        (
            "",
            "The bar is passed at half tide, with the beacon astern.\n",
        ),
        ("", ""),
        ("", "Anchorage is forbidden over the cable.\n"),
    ] {
        let page = Page {
            source: PageSource::Physical,
            label: label.to_owned(),
        };
        begin(&mut book, PartContent::Page(page));
        book.text.push_str(text);
    }
    book
}

/// Slides with notes, without a title, and hidden.
pub(crate) fn talk() -> Document {
    let mut talk = document("talk.pptx", "The new lens", Class::Doc);
    for (title, text, notes) in [
        (
            "The new lens",
            "The new lens\n\nTwelve panels of ground glass.\n",
            "Show the old one.\n",
        ),
        ("", "It turns on mercury.\n", ""),
        (
            "Thanks",
            "Thanks\n",
            "Questions about the gr\u{fc}ne lamp.\n",
        ),
    ] {
        let start = talk.text.len() + text.len();
        let slide = Slide {
            title: title.to_owned(),
            notes: (!notes.is_empty()).then(|| u32::try_from(start).expect("a short text")),
            is_hidden: title.is_empty(),
        };
        begin(&mut talk, PartContent::Slide(slide));
        talk.text.push_str(text);
        talk.text.push_str(notes);
    }
    talk
}
