//! Searching and listing documents.

use serde_json::{Value, json};

use super::{results, served};
use crate::mcp::client::Client;
use crate::support::Folder;

fn ids(answer: &Value) -> Vec<&str> {
    let results = results(answer).iter();
    results
        .map(|one| one["document_id"].as_str().unwrap())
        .collect()
}

#[test]
fn a_pattern_finds_lines_and_documents_in_the_shape_of_search() {
    // S3-05, S3-06, S3-15, S3-96, S3-105
    let (_folder, mut client) = served();
    let mail = r"[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[a-z]{2,}";
    let given =
        json!({"query": mail, "mode": "regex", "scope": "chunks", "limit": 50, "max_tokens": 9000});
    let (found, text) = client.both("search", given);
    assert_eq!(
        found["status"],
        json!({"code": "success", "message": "SEARCH_COMPLETED"})
    );
    for (address, document, page) in [
        (
            "contact@acme.com",
            "Legal/Contracts/Acme_Vendor_Agreement.pdf",
            5,
        ),
        (
            "procurement@supplier.com",
            "Legal/Contracts/Supply_Contract_2024.docx",
            7,
        ),
    ] {
        let has = |one: &&Value| one["preview"].as_str().unwrap().contains(address);
        let hit = results(&found).iter().find(has).expect(address);
        assert_eq!(
            (&hit["document_id"], &hit["location"]["page"]),
            (&json!(document), &json!(page))
        );
        assert_eq!(hit["score"], 1.0);
        assert!(
            hit["metadata"]["total_pages"]
                .as_u64()
                .is_some_and(|pages| pages >= 15)
        );
        assert!(text.contains(address));
    }
    // One result a document, with its first match.
    let parties = r"\b(contract|agreement)\b.*\b(vendor|supplier)\b";
    let given = json!({"query": parties, "mode": "regex", "scope": "documents"});
    let found = client.tool("search", given.clone());
    assert_eq!(
        ids(&found),
        [
            "Legal/Contracts/Acme_Vendor_Agreement.pdf",
            "Legal/Contracts/Supply_Contract_2024.docx"
        ]
    );
    assert_eq!(results(&found)[0]["location"]["page"], 1);
    assert!(
        results(&found)[1]["preview"]
            .as_str()
            .unwrap()
            .contains("supply contract with the supplier")
    );
    let mut filtered = given;
    filtered["filters"] = json!({"fileType": "docx", "folder": "Legal"});
    assert_eq!(
        ids(&client.tool("search", filtered)),
        ["Legal/Contracts/Supply_Contract_2024.docx"]
    );
    let none = client.tool("search", json!({"query": "no such text", "mode": "regex"}));
    assert!(results(&none).is_empty());
    let text = client.error("search", json!({"query": "a(b", "mode": "regex"}));
    assert!(
        text.starts_with("INVALID_REGEX: query, character 2"),
        "{text}"
    );
    let text = client.error("search", json!({"query": " ", "mode": "regex"}));
    assert!(text.starts_with("INVALID_ARGUMENT: query"), "{text}");
}

#[test]
fn every_hit_has_its_context_metadata_and_title() {
    // S0-07, S3-11
    let (_folder, mut client) = served();
    for mode in ["hybrid", "semantic", "keyword", "regex"] {
        let given = json!({"query": "vendor", "mode": mode, "scope": "chunks", "limit": 4});
        let found = client.tool("search", given);
        assert!(results(&found).len() > 2, "{mode}");
        for hit in results(&found) {
            let context = &hit["context"];
            assert!(
                context["before"].is_string() && context["after"].is_string(),
                "{mode}: {hit}"
            );
            let around = context["before"].as_str().unwrap().len()
                + context["after"].as_str().unwrap().len();
            assert!(around > 0, "{mode}: {hit}");
            assert!(
                hit["metadata"]["document_type"].is_string(),
                "{mode}: {hit}"
            );
            assert!(hit["title"].is_string(), "{mode}: {hit}");
        }
    }
    let found = client.tool("search_docs", json!({"query": "vendor agreement"}));
    for hit in found["results"].as_array().unwrap() {
        for field in ["documentTitle", "chunkIndex", "score", "text"] {
            assert!(!hit[field].is_null(), "{field}: {hit}");
        }
    }
}

#[test]
fn the_named_tests_of_documents_hold() {
    let (_folder, mut client) = served();
    // S3-93
    let folders = client.tool("list_folders", json!({}));
    let folders = folders["data"]["folders"].as_array().unwrap();
    for name in ["Finance", "Legal", "Sales"] {
        assert!(folders.contains(&json!(name)));
    }
    // S3-94
    let given = json!({"folder": "test-edge-cases", "max_tokens": 500});
    let listed = client.tool("list_documents", given);
    assert_eq!(listed["continuation"]["has_more"], true);
    assert!(listed["data"]["token_count"].as_u64().unwrap() <= 500);
    // S3-95
    let given =
        json!({"query": "financial performance Q1", "mode": "semantic", "scope": "documents"});
    let found = client.tool("search", given);
    for name in [
        "Finance/2024/Q1/Q1_Budget.xlsx",
        "Finance/2024/Q1/Q1_Report.pdf",
    ] {
        assert!(ids(&found).contains(&name), "{:?}", ids(&found));
    }
    // S3-97
    let found = client.tool(
        "search",
        json!({"query": "limitation of liability", "scope": "chunks"}),
    );
    let first = &results(&found)[0];
    assert!(first["location"]["page"].is_u64(), "{first}");
    assert_eq!(first["location"]["document_type"], "pdf");
    // S3-99
    let given = json!({"document_id": "Customer_List.csv", "sheet_name": "Sheet1"});
    let text = client.error("get_sheet_data", given);
    assert!(
        text.contains("CSV files don't have multiple sheets"),
        "{text}"
    );
    // S3-101, S3-102
    let empty = client.tool(
        "get_document_data",
        json!({"document_id": "empty.txt", "format": "raw"}),
    );
    assert_eq!(empty["data"]["content"], "");
    let name = "test-edge-cases/special_chars_\u{6587}\u{4ef6}\u{540d}.txt";
    let named = client.tool(
        "get_document_data",
        json!({"document_id": name, "format": "raw"}),
    );
    assert_eq!(named["status"]["code"], "success");
    // S3-104
    let outline = client.tool(
        "get_document_outline",
        json!({"document_id": "Q1_Budget.xlsx"}),
    );
    assert_eq!(outline["sheets"][0]["name"], "Summary");
    assert_eq!(
        outline["sheets"][2],
        json!({"name": "Charts", "rows": 0, "columns": 0})
    );
    let sheet = json!({"document_id": "Q1_Budget.xlsx", "sheet_name": "Summary"});
    let sheet = client.tool("get_sheet_data", sheet);
    assert!(sheet["data"]["rows"].to_string().contains("$1,234,567"));
}

#[test]
fn documentation_is_found_and_counted() {
    // S4-03, S4-04, S4-05, S4-06, S4-08
    let (_folder, mut client) = served();
    let found = client.tool("search_docs", json!({"query": "quarterly results"}));
    let shown = found["results"].as_array().unwrap();
    assert_eq!(shown.len(), 10);
    for one in shown {
        let path = one["path"].as_str().unwrap();
        let is_data = [".json", ".lock", ".toml", ".csv"]
            .iter()
            .any(|end| path.ends_with(end));
        assert!(!is_data, "{path}");
    }
    assert!(
        found["totalResults"].as_u64().unwrap() > 10,
        "{}",
        found["totalResults"]
    );
    let few = client.tool(
        "search_docs",
        json!({"query": "quarterly results", "top_k": 3}),
    );
    assert_eq!(few["results"].as_array().unwrap().len(), 3);
    assert!(few["totalResults"].as_u64().unwrap() > 3);
    let all = client.tool("search_docs", json!({"query": "vendor", "top_k": 50}));
    assert_eq!(all["results"].as_array().unwrap().len(), 50);
    assert!(all.get("truncated").is_none());
    let exact = client.tool("search_docs", json!({"query": "+\"WFH\"", "top_k": 3}));
    assert_eq!(exact["totalResults"], 1, "{exact}");
}

#[test]
fn an_index_without_documentation_names_the_way_to_more() {
    // S4-09
    let folder = Folder::empty();
    folder.write("code/a.rs", "fn main() {}\n");
    folder.kb("index code").expect(0);
    for arguments in [&["code.kb"][..], &["code.kb", "--allow-write"]] {
        let mut client = Client::stdio(&folder, arguments);
        let text = client.error("search_docs", json!({"query": "main"}));
        assert!(
            text.starts_with("DOCS_INDEX_NOT_FOUND: ") && text.contains("`kb index"),
            "{text}"
        );
    }
}

#[test]
fn titles_slugs_and_tags_have_every_word() {
    // S1-14, S1-16
    let folder = Folder::empty();
    let write = |name: &str, head: &str| {
        folder.write(
            format!("notes/{name}"),
            format!("---\n{head}\n---\n\nText.\n"),
        );
    };
    write("one.md", "title: Über tides\ntags: [harbour, moon]");
    write("two.md", "title: Tide tables\ntags: [moon]");
    write("harbour.md", "title: Ropes");
    folder.kb("index notes").expect(0);
    let mut client = Client::stdio(&folder, &["notes.kb"]);
    let mut found = |query: &str| {
        let found = client.tool("search", json!({"query": query, "mode": "title"}));
        let mut ids: Vec<String> = ids(&found).iter().map(|id| (*id).to_owned()).collect();
        ids.sort();
        ids
    };
    assert_eq!(found("tide moon"), ["one.md", "two.md"]);
    assert_eq!(found("uber-tides harbour"), ["one.md"]);
    assert_eq!(
        found("harbour"),
        ["one.md"],
        "the name of a file is no title"
    );
    assert!(found("tide ropes").is_empty());
}

#[test]
fn documents_say_when_they_came() {
    // S1-01
    let (_folder, mut client) = served();
    let found = client.tool(
        "get_document",
        json!({"doc_handle": "Engineering/notes.txt"}),
    );
    assert!(
        found["createdAt"].as_str().unwrap().ends_with('Z'),
        "{found}"
    );
}

#[test]
fn a_folder_of_folders_points_at_them() {
    // S3-33
    let (_folder, mut client) = served();
    for given in [json!({}), json!({"folder": "Finance"})] {
        let (listed, text) = client.both("list_documents", given);
        assert_eq!(listed["data"]["documents"], json!([]));
        let warning = listed["warnings"][0].as_str().unwrap();
        assert!(
            warning.contains("Finance") && text.contains(warning),
            "{text}"
        );
    }
}

#[test]
fn the_files_of_marketing_are_read() {
    let (_folder, mut client) = served();
    // S3-84
    let calendar = json!({"document_id": "Marketing/content_calendar.xlsx"});
    let outline = client.tool("get_document_outline", calendar);
    let sheets = outline["sheets"].as_array().unwrap();
    assert_eq!(sheets.len(), 12);
    assert_eq!(sheets[11]["name"], "December");
    let given = json!({"document_id": "content_calendar.xlsx", "sheet_name": "May"});
    let rows = client.tool("get_sheet_data", given);
    assert_eq!(
        rows["data"]["rows"][0][1], "A post about the harbour",
        "{rows}"
    );
    // S3-85
    let given = json!({"document_id": "brand_guidelines.pdf", "page_range": "15"});
    let pages = client.tool("get_pages", given);
    assert_eq!(pages["data"]["total_pages"], 15);
    assert_eq!(pages["data"]["pages"][0]["page_number"], 15);
}

#[test]
fn a_damaged_workbook_is_named_with_the_reason() {
    // S3-90
    let folder = Folder::empty();
    folder.write("edge/notes.txt", "Notes.\n");
    // The beginning of a workbook: the heads of two parts, and no list of them at the end.
    let head = |name: &str| {
        let length = char::from(u8::try_from(name.len()).unwrap());
        format!("PK\u{3}\u{4}\u{14}{}{length}\0\0\0{name}", "\0".repeat(21))
    };
    let damaged = head("[Content_Types].xml") + &head("xl/workbook.xml");
    folder.write("edge/test-edge-cases/corrupted.xlsx", damaged);
    folder.kb("index edge").expect(0);
    let mut client = Client::stdio(&folder, &["edge.kb"]);
    let name = "test-edge-cases/corrupted.xlsx";
    let (_, text) = client.both("list_documents", json!({"skipped": true}));
    assert!(text.contains(name) && text.contains("damaged"), "{text}");
    let text = client.error("get_sheet_data", json!({"document_id": name}));
    assert!(
        text.starts_with("DOCUMENT_NOT_FOUND: ") && text.contains("damaged"),
        "{text}"
    );
    // The other files are there.
    client.tool("get_document_data", json!({"document_id": "notes.txt"}));
}
