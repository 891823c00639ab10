//! Results in parts: continuation tokens that any server reads, and the hints to continue.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use super::{action, actions, served};
use crate::mcp::client::Client;

fn decoded(token: &str) -> Value {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(token).unwrap()).unwrap()
}

fn token_of(answer: &Value) -> String {
    answer["continuation"]["token"].as_str().unwrap().to_owned()
}

#[test]
fn a_token_goes_on_in_another_process_with_all_arguments() {
    // S3-14, S3-36, S3-43, S3-62, S3-63
    let (folder, mut first) = served();
    let folder_filter = json!({"folder": "Legal/Contracts", "fileType": "pdf"});
    for (tool, given, position) in [
        (
            "search",
            json!({"query": "vendor agreement", "scope": "chunks", "filters": folder_filter, "limit": 2}),
            ("offset", 2),
        ),
        (
            "search",
            json!({"query": r"\bvendor\b", "mode": "regex", "scope": "chunks", "filters": folder_filter, "limit": 2}),
            ("offset", 0),
        ),
        (
            "get_sheet_data",
            json!({"document_id": "Customer_List.csv", "max_tokens": 500}),
            ("row", 0),
        ),
        (
            "get_pages",
            json!({"document_id": "Annual_Report_2024.pdf", "max_tokens": 700}),
            ("page", 3),
        ),
        (
            "get_slides",
            json!({"document_id": "Q4_Board_Deck.pptx", "max_tokens": 200}),
            ("slide", 0),
        ),
    ] {
        let answer = first.tool(tool, given.clone());
        assert_eq!(answer["continuation"]["has_more"], true, "{tool}");
        let token = token_of(&answer);
        let says = decoded(&token);
        let at = says[position.0].as_u64();
        assert!(at.is_some_and(|at| at > 0), "{tool}: {says}");
        assert!(position.1 == 0 || at == Some(position.1), "{tool}: {says}");
        // The token alone, and with the required arguments, here and in a new server.
        let mut with_required = json!({"continuation_token": token});
        for name in ["query", "document_id"] {
            if let Some(value) = given.get(name) {
                with_required[name] = value.clone();
            }
        }
        let here = first.tool(tool, with_required.clone());
        let mut other = Client::stdio(&folder, &["company.kb"]);
        assert_eq!(other.tool(tool, json!({"continuation_token": token})), here);
        assert_eq!(other.tool(tool, with_required), here);
        assert_ne!(here["data"], answer["data"], "{tool}");
        for result in here["data"]["results"].as_array().into_iter().flatten() {
            assert_eq!(
                result["document_id"],
                "Legal/Contracts/Acme_Vendor_Agreement.pdf"
            );
        }
    }
}

#[test]
fn hostile_tokens_are_refused_and_stale_ones_told() {
    // S3-62
    let (folder, mut client) = served();
    let given = json!({"query": "vendor agreement", "scope": "chunks", "limit": 2});
    let token = token_of(&client.tool("search", given));
    let mut changed = decoded(&token);
    changed["offset"] = json!(9_000_000);
    let forged = URL_SAFE_NO_PAD.encode(changed.to_string());
    let alone = URL_SAFE_NO_PAD.encode(r#"{"offset":10}"#);
    let long = "A".repeat(100_000);
    for bad in [&forged, &alone, &long, "!", "eyJ", "null", &token[3..]] {
        let text = client.error(
            "search",
            json!({"query": "vendor agreement", "continuation_token": bad}),
        );
        assert!(text.starts_with("INVALID_CONTINUATION_TOKEN: "), "{text}");
    }
    for (tool, other) in [
        (
            "search",
            json!({"query": "another question", "continuation_token": token}),
        ),
        (
            "search_docs",
            json!({"query": "vendor agreement", "continuation_token": token}),
        ),
        (
            "get_pages",
            json!({"document_id": "Q1_Report.pdf", "continuation_token": token}),
        ),
    ] {
        let text = client.error(tool, other);
        assert!(text.starts_with("INVALID_CONTINUATION_TOKEN: "), "{text}");
    }
    let mut writer = kb_engine::KbWriter::open_or_create(folder.path().join("company.kb")).unwrap();
    writer.add_bytes("late.md", b"A late vendor.").unwrap();
    writer.commit().unwrap();
    drop(writer);
    let mut client = Client::stdio(&folder, &["company.kb"]);
    let text = client.error("search", json!({"continuation_token": token}));
    assert!(text.starts_with("CONTINUATION_STALE: "), "{text}");
}

#[test]
fn what_goes_on_says_how() {
    // S3-56, S3-60, S3-66
    let (_folder, mut client) = served();
    let many = json!({"query": "vendor", "scope": "chunks", "limit": 2, "max_tokens": 4000});
    let full = client.tool("search", many);
    // It ends at its limit: a larger budget gives no more.
    assert_eq!(actions(&full), ["CONTINUE"]);
    for (tool, given) in [
        (
            "search",
            json!({"query": "vendor", "scope": "chunks", "limit": 50, "max_tokens": 300}),
        ),
        (
            "get_pages",
            json!({"document_id": "Annual_Report_2024.pdf", "max_tokens": 100}),
        ),
        (
            "get_slides",
            json!({"document_id": "Q4_Board_Deck.pptx", "max_tokens": 100}),
        ),
        (
            "get_sheet_data",
            json!({"document_id": "Customer_List.csv", "max_tokens": 100}),
        ),
        (
            "get_document_data",
            json!({"document_id": "huge_text.txt", "max_tokens": 100}),
        ),
        (
            "list_documents",
            json!({"recursive": true, "max_tokens": 100}),
        ),
    ] {
        let answer = client.tool(tool, given);
        assert_eq!(answer["continuation"]["has_more"], true, "{tool}");
        let params = &action(&answer, "CONTINUE")["params"];
        let token = json!({"continuation_token": token_of(&answer)});
        assert_eq!(params, &token, "{tool}");
        let more = &action(&answer, "INCREASE_LIMIT")["params"]["max_tokens"];
        assert!(
            more.as_u64().is_some_and(|more| more >= 200),
            "{tool}: {more}"
        );
    }
    let last = client.tool("list_documents", json!({"folder": "Legal/Policies"}));
    assert!(last.get("actions").is_none());
}

#[test]
fn whole_items_come_and_their_numbers_grow() {
    // S3-64, S3-65, S3-67, S3-98, S3-100, S3-103
    let (_folder, mut client) = served();
    let annual = json!({"document_id": "Annual_Report_2024.pdf", "max_tokens": 2000});
    let annual = client.tool("get_pages", annual);
    assert!(annual["data"]["token_count"].as_u64().unwrap() <= 2000);
    assert_eq!(annual["continuation"]["has_more"], true);
    assert_eq!(annual["status"]["code"], "success");
    for (document, tool, items, number, max_tokens) in [
        (
            "Supply_Contract_2024.docx",
            "get_pages",
            "pages",
            "page_number",
            1000,
        ),
        (
            "Supply_Contract_2024.docx",
            "get_pages",
            "pages",
            "page_number",
            10,
        ),
        ("huge_text.txt", "get_pages", "pages", "page_number", 100),
        (
            "Q4_Board_Deck.pptx",
            "get_slides",
            "slides",
            "slide_number",
            5,
        ),
    ] {
        let mut given = json!({"document_id": document, "max_tokens": max_tokens});
        let mut last = 0;
        for _ in 0..5 {
            let answer = client.tool(tool, given);
            let shown = answer["data"][items].as_array().unwrap();
            assert!(!shown.is_empty());
            for item in shown {
                let next = item[number].as_u64().unwrap();
                assert!(next > last, "{document}: {next} after {last}");
                last = next;
            }
            let tokens = answer["data"]["token_count"].as_u64().unwrap();
            let is_over = tokens > max_tokens;
            let message = answer["status"]["message"] == "TOKEN_LIMIT_EXCEEDED_BUT_INCLUDED";
            assert_eq!(message, is_over, "{document}: {tokens} of {max_tokens}");
            assert_eq!(answer["status"]["code"] == "partial_success", is_over);
            assert!(!is_over || (shown.len() == 1 && actions(&answer).contains(&"INCREASE_LIMIT")));
            given = json!({"document_id": document, "continuation_token": token_of(&answer)});
        }
    }
}
