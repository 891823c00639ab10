//! A small set of company files, with which the contract of folder-mcp is tested (S3-72 to S3-92).

use std::fmt::Write as _;

use kb_engine::cell_text::{Cell, CellValue, RowWriter};
use kb_engine::{Class, Document, KbWriter, Page, PageSource, PartContent, Sheet, Slide};

use crate::support::{Folder, parts};

/// Bytes of each page of prose: some 300 tokens.
const PAGE_BYTES: usize = 1200;

/// The sheets of the content calendar.
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// A folder with `company.kb`.
pub(crate) fn company() -> Folder {
    let folder = Folder::empty();
    let path = folder.path().join("company.kb");
    let mut writer = KbWriter::open_or_create(path).expect("writer");
    for document in documents() {
        writer.add(document).expect("added");
    }
    for (path, text) in texts() {
        writer.add_bytes(&path, text.as_bytes()).expect("added");
    }
    writer.commit().expect("commit");
    folder
}

fn documents() -> Vec<Document> {
    let budget = [
        ("Summary", 50, "Revenue: $1,234,567"),
        ("Details", 200, "Q1 budget line"),
        ("Charts", 0, ""),
    ];
    let financial =
        |_| "The financial performance of Q1 2024: quarterly results and Q1 revenue.".to_owned();
    let vendor = |page| match page {
        5 => "Write to contact@acme.com or john@acme.com until March 31, 2024.".to_owned(),
        12..=14 => "Limitation of Liability: the vendor pays for no loss of profit.".to_owned(),
        _ => "This agreement binds the vendor; force majeure and indemnification apply.".to_owned(),
    };
    let supply = |page| match page {
        7 => "Orders go to procurement@supplier.com. The contract expires December 31, 2024."
            .to_owned(),
        _ => "Termination clause of the supply contract with the supplier.".to_owned(),
    };
    let months = MONTHS.map(|month| (month, 2, "A post about the harbour"));
    vec![
        book(
            "Marketing/content_calendar.xlsx",
            "Content calendar",
            &months,
        ),
        paged(
            "Marketing/brand_guidelines.pdf",
            "Brand guidelines",
            PageSource::Physical,
            15,
            |page| format!("Logo and colour {page}."),
        ),
        book(
            "Finance/2024/Q1/Q1_Budget.xlsx",
            "Q1 Budget, financial performance",
            &budget,
        ),
        book(
            "Sales/Data/Sales_Pipeline.xlsx",
            "Sales Pipeline",
            &[("October", 9, "deal")],
        ),
        paged(
            "Finance/2024/Q1/Q1_Report.pdf",
            "Q1 Report",
            PageSource::Physical,
            30,
            financial,
        ),
        paged(
            "Finance/Reports/Annual_Report_2024.pdf",
            "Annual Report 2024",
            PageSource::Physical,
            100,
            |page| format!("Page {page} of the annual report of the company."),
        ),
        paged(
            "Legal/Contracts/Acme_Vendor_Agreement.pdf",
            "Acme Vendor Agreement",
            PageSource::Physical,
            15,
            vendor,
        ),
        paged(
            "Legal/Contracts/Supply_Contract_2024.docx",
            "Supply Contract 2024",
            PageSource::Rendered,
            20,
            supply,
        ),
        paged(
            "test-edge-cases/single_page.pdf",
            "Single",
            PageSource::Physical,
            1,
            |_| "One page.".to_owned(),
        ),
        deck(
            "Sales/Presentations/Q4_Board_Deck.pptx",
            45,
            "Tell the board of it.",
        ),
        deck("Sales/Presentations/Product_Demo.pptx", 10, ""),
    ]
}

fn texts() -> Vec<(String, String)> {
    let mut customers = "name,town,orders\n".to_owned();
    let mut huge = String::new();
    for n in 1..=1000 {
        writeln!(customers, "customer {n},town {n},{n}").expect("written");
    }
    for n in 0..8000 {
        writeln!(
            huge,
            "Line {n} of a text that does not end soon, lorem ipsum."
        )
        .expect("written");
    }
    let policy = "# Remote work\n\nWFH: remote work is agreed with sarah.smith@bigco.com.\n";
    let text = |path: &str, text: &str| (path.to_owned(), text.to_owned());
    vec![
        text("Sales/Data/Customer_List.csv", &customers),
        text("Legal/Policies/Remote_Work_Policy.md", policy),
        text(
            "Engineering/README.md",
            "# Engine\n\n```sh\nmake all\n```\n",
        ),
        text(
            "Engineering/config.xml",
            "<config><port>80</port></config>\n",
        ),
        text("Engineering/notes.txt", "Notes of the engineers.\n"),
        text(
            "Engineering/package.json",
            "{\"name\": \"quarterly results\"}\n",
        ),
        text(
            "Engineering/Cargo.lock",
            "# quarterly results\nversion = 4\n",
        ),
        text(
            "Engineering/Cargo.toml",
            "[package]\nname = \"quarterly-results\"\n",
        ),
        text("test-edge-cases/empty.txt", ""),
        text("test-edge-cases/huge_text.txt", &huge),
        text(
            "test-edge-cases/special_chars_\u{6587}\u{4ef6}\u{540d}.txt",
            "A name.\n",
        ),
    ]
}

/// A document of pages, each of which says the same thing until it is long.
fn paged(
    path: &str,
    title: &str,
    source: PageSource,
    pages: u32,
    says: impl Fn(u32) -> String,
) -> Document {
    let mut document = parts::document(path, title, Class::Doc);
    for number in 1..=pages {
        let label = String::new();
        parts::begin(&mut document, PartContent::Page(Page { source, label }));
        let line = format!("{}\n", says(number));
        document
            .text
            .push_str(&line.repeat(PAGE_BYTES.div_ceil(line.len())));
    }
    document
}

/// Sheets of a name, so many rows and what the second row says.
fn book(path: &str, title: &str, sheets: &[(&str, u32, &str)]) -> Document {
    let mut document = parts::document(path, title, Class::Doc);
    for (name, rows, says) in sheets {
        let sheet = Sheet {
            name: (*name).to_owned(),
            rows: *rows,
            columns: if *rows > 0 { 2 } else { 0 },
            header_row: (*rows > 0).then_some(1),
            is_hidden: false,
            uncalculated: 0,
            runs: Vec::new(),
        };
        parts::begin(&mut document, PartContent::Sheet(sheet));
        for row in 1..=*rows {
            let label = if row == 1 {
                "Item".to_owned()
            } else {
                format!("Item {row}")
            };
            let value = match row {
                1 => "Value",
                2 => says,
                _ => "0",
            };
            let mut written = RowWriter::new(&mut document.text);
            written.push(1, &Cell::plain(CellValue::Text(label)));
            written.push(2, &Cell::plain(CellValue::Text(value.to_owned())));
            written.finish();
        }
    }
    document
}

fn deck(path: &str, slides: u32, notes: &str) -> Document {
    let mut document = parts::document(path, "Deck", Class::Doc);
    for number in 1..=slides {
        let title = format!("Slide {number}");
        let text = format!("{title}\n\nFigures of month {number}, as the board knows them.\n");
        let start = document.text.len() + text.len();
        let slide = Slide {
            title,
            notes: (!notes.is_empty()).then(|| u32::try_from(start).expect("a short text")),
            is_hidden: false,
        };
        parts::begin(&mut document, PartContent::Slide(slide));
        document.text.push_str(&text);
        if !notes.is_empty() {
            document.text.push_str(notes);
            document.text.push('\n');
        }
    }
    document
}
