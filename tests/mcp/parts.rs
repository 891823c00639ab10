//! Pages, sheets and slides through a server: what was asked of the tools that read them, and how a hit leads to one.

use kb_engine::{Document, KbWriter, Page, PageSource, Part, PartContent};
use serde_json::{Value, json};

use super::client::Client;
use crate::support::{Folder, parts};

/// Bytes of the text of each page of the report: some 500 tokens.
const PAGE_BYTES: usize = 2000;

/// A report of 30 pages, each with its number and long.
fn report() -> Document {
    let mut report = parts::pilot_book();
    report.path = "Finance/report.pdf".to_owned();
    report.title = "Annual report".to_owned();
    (report.text, report.parts) = (String::new(), Vec::new());
    for number in 1..=30 {
        let page = Page {
            source: PageSource::Physical,
            label: String::new(),
        };
        let lines = report.text.lines().count();
        report.parts.push(Part {
            start: u32::try_from(report.text.len()).expect("a short text"),
            line: u32::try_from(lines).expect("few lines") + 1,
            content: PartContent::Page(page),
        });
        let line = match number {
            12 => "Limitation of liability: the carrier pays for no loss at sea.\n".to_owned(),
            number => format!("Page {number} of the accounts of the harbour company.\n"),
        };
        while report.text.len() < number * PAGE_BYTES {
            report.text.push_str(&line);
        }
    }
    report
}

fn served() -> (Folder, Client) {
    let folder = Folder::empty();
    let path = folder.path().join("harbour.kb");
    let mut writer = KbWriter::open_or_create(path).expect("writer");
    for document in [parts::ledger(), parts::talk(), report()] {
        writer.add(document).expect("added");
    }
    let rows = (1..=1000).map(|n| format!("customer {n},town {n},{n}\n"));
    let table = format!("name,town,orders\n{}", rows.collect::<String>());
    let added = writer.add_bytes("Sales/customers.csv", table.as_bytes());
    added.expect("added");
    writer.commit().expect("commit");
    let client = Client::stdio(&folder, &["harbour.kb"]);
    (folder, client)
}

/// Asks until nothing is left, each time with the token alone beside the document.
fn all(client: &mut Client, tool: &str, document: &str, max_tokens: u32) -> Vec<Value> {
    let mut given = json!({"document_id": document, "max_tokens": max_tokens});
    let mut answers: Vec<Value> = Vec::new();
    loop {
        let answer = client.tool(tool, given);
        let token = answer["continuation"]["token"].clone();
        answers.push(answer);
        if token.is_null() {
            return answers;
        }
        given = json!({"document_id": document, "continuation_token": token});
        assert!(answers.len() < 1000);
    }
}

#[test]
fn a_hit_leads_to_its_page_rows_or_slide_with_one_call() {
    let (_folder, mut client) = served();
    let hit = |client: &mut Client, query: &str| {
        let given = json!({"query": query, "scope": "chunks", "mode": "keyword"});
        client.tool("search", given)["data"]["results"][0].take()
    };
    let found = hit(&mut client, "limitation of liability");
    assert_eq!(
        (
            &found["location"]["page"],
            &found["location"]["document_type"]
        ),
        (&json!(12), &json!("pdf"))
    );
    assert_eq!(found["metadata"]["total_pages"], 30);
    let page =
        json!({"document_id": found["document_id"], "page_range": found["location"]["page"]});
    let page = client.tool("get_pages", page);
    let content = page["data"]["pages"][0]["content"].as_str().unwrap();
    assert!(content.starts_with("Limitation of liability"), "{content}");

    let found = hit(&mut client, "Kittiwake");
    let location = &found["location"];
    assert_eq!(location["sheet"], "Dues");
    let cells = format!("{}:{}", location["start_row"], location["end_row"]);
    let rows = json!({"document_id": found["document_id"], "sheet_name": location["sheet"], "cell_range": cells});
    let rows = client.tool("get_sheet_data", rows);
    let first = json!(["Kittiwake", "1 March", "$1234.50"]);
    assert!(
        rows["data"]["rows"].as_array().unwrap().contains(&first),
        "{rows}"
    );

    let found = hit(&mut client, "mercury");
    let slide =
        json!({"document_id": found["document_id"], "slide_numbers": found["location"]["slide"]});
    let slide = client.tool("get_slides", slide);
    assert_eq!(
        slide["data"]["slides"][0]["content"],
        "It turns on mercury.\n"
    );
}

#[test]
fn an_outline_names_the_sheets_that_sheet_data_reads() {
    let (_folder, mut client) = served();
    let outline = client.tool(
        "get_document_outline",
        json!({"document_id": "ledger.xlsx"}),
    );
    for sheet in outline["sheets"].as_array().unwrap() {
        let rows = json!({"document_id": "ledger.xlsx", "sheet_name": sheet["name"]});
        let rows = client.tool("get_sheet_data", rows);
        assert_eq!(rows["data"]["total_rows"], sheet["rows"], "{sheet}");
    }
    let outline = client.tool("get_document_outline", json!({"document_id": "report.pdf"}));
    assert_eq!(
        (&outline["total_pages"], &outline["bookmarks"]),
        (&json!(30), &json!([]))
    );
}

#[test]
fn pages_go_on_behind_the_last_one_within_the_budget() {
    let (_folder, mut client) = served();
    let answers = all(&mut client, "get_pages", "report.pdf", 1200);
    assert!(answers.len() > 10);
    let mut numbers: Vec<u64> = Vec::new();
    let mut text = String::new();
    for answer in &answers {
        let data = &answer["data"];
        assert!(data["token_count"].as_u64().unwrap() <= 1200 && data["total_pages"] == 30);
        for page in data["pages"].as_array().unwrap() {
            assert_eq!(page["source"], "physical");
            numbers.push(page["page_number"].as_u64().unwrap());
            text.push_str(page["content"].as_str().unwrap());
        }
    }
    // Strictly increasing but where a page was cut.
    numbers.dedup();
    assert_eq!(numbers, (1..=30).collect::<Vec<u64>>());
    assert_eq!(text, report().text);
    let one = json!({"document_id": "report.pdf", "max_tokens": 100});
    let one = client.tool("get_pages", one);
    let status = json!({"code": "partial_success", "message": "TOKEN_LIMIT_EXCEEDED_BUT_INCLUDED"});
    assert_eq!(one["status"], status);
    assert_eq!(one["actions"][0]["id"], "CONTINUE");
    assert_eq!(one["actions"][1]["id"], "INCREASE_LIMIT");
}

#[test]
fn rows_of_a_table_are_all_there_and_a_sheet_of_it_is_refused() {
    let (_folder, mut client) = served();
    let answers = all(&mut client, "get_sheet_data", "customers.csv", 700);
    let rows = answers
        .iter()
        .flat_map(|answer| answer["data"]["rows"].as_array().unwrap());
    let rows: Vec<&Value> = rows.collect();
    assert_eq!(rows.len(), 1000);
    assert_eq!(*rows[999], json!(["customer 1000", "town 1000", "1000"]));
    for answer in &answers {
        assert_eq!(answer["data"]["headers"], json!(["name", "town", "orders"]));
        assert!(answer["data"]["token_count"].as_u64().unwrap() <= 700);
    }
    let text = client.error(
        "get_sheet_data",
        json!({"document_id": "customers.csv", "sheet_name": "Sheet1"}),
    );
    let told = "CSV_NO_SHEETS: CSV files don't have multiple sheets. Omit sheet_name parameter.";
    assert_eq!(text, told);
}

#[test]
fn slides_are_read_by_their_numbers() {
    let (_folder, mut client) = served();
    let given = json!({"document_id": "talk.pptx", "slide_numbers": "1,3"});
    let answer = client.tool("get_slides", given);
    let slides = answer["data"]["slides"].as_array().unwrap();
    let numbers: Vec<&Value> = slides.iter().map(|slide| &slide["slide_number"]).collect();
    assert_eq!(numbers, [1, 3]);
    assert_eq!(slides[1]["notes"], "Questions about the gr\u{fc}ne lamp.\n");
    for (tool, document, reads) in [
        ("get_slides", "report.pdf", "get_pages"),
        ("get_pages", "customers.csv", "get_sheet_data"),
        ("get_sheet_data", "talk.pptx", "get_slides"),
    ] {
        let text = client.error(tool, json!({"document_id": document}));
        assert!(text.starts_with("UNSUPPORTED_DOCUMENT_TYPE: "), "{text}");
        assert!(text.ends_with(&format!("{reads} reads it.")), "{text}");
    }
}
