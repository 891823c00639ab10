//! Results in parts, and their continuation.

use serde_json::{Value, json};

use super::client::Client;
use super::office::{office, paths, served};
use crate::support::Folder;

/// Asks until nothing is left, each time with the token alone beside what is required, and gives all
/// answers.
fn all_pages(client: &mut Client, tool: &str, first: Value, required: Value) -> Vec<Value> {
    let mut answers = vec![client.tool(tool, first)];
    while let Some(token) = answers.last().unwrap()["continuation"]["token"].as_str() {
        assert_eq!(answers.last().unwrap()["continuation"]["has_more"], true);
        let mut next = required.clone();
        next["continuation_token"] = token.into();
        answers.push(client.tool(tool, next));
        assert!(answers.len() < 3000);
    }
    assert_eq!(answers.last().unwrap()["continuation"]["has_more"], false);
    answers
}

#[test]
fn the_parts_of_every_answer_joined_are_the_whole() {
    let folder = Folder::indexed();
    let mut client = Client::stdio(&folder, &["harbour.kb"]);
    let text = crate::support::CORPUS[0].1;
    for tokens in [1, 10, 25, 60] {
        let required = json!({"document_id": "docs/guide.md"});
        let first = json!({"document_id": "docs/guide.md", "max_tokens": tokens});
        let raw = all_pages(
            &mut client,
            "get_document_data",
            first.clone(),
            required.clone(),
        );
        let joined: String = raw
            .iter()
            .map(|part| part["data"]["content"].as_str().unwrap())
            .collect();
        assert_eq!(joined, text, "{tokens}");
        let pages = all_pages(&mut client, "get_pages", first.clone(), required.clone());
        let joined: String = pages
            .iter()
            .flat_map(|part| part["data"]["pages"].as_array().unwrap())
            .map(|page| page["content"].as_str().unwrap())
            .collect();
        assert_eq!(joined, text, "{tokens}");
        let mut chunked = first.clone();
        chunked["format"] = "chunks".into();
        let chunks = all_pages(&mut client, "get_document_data", chunked, required.clone());
        let mut ids: Vec<&str> = chunks
            .iter()
            .flat_map(|part| paths(&part["data"]["chunks"], "chunk_id"))
            .collect();
        ids.dedup();
        let expected: Vec<String> = (0..ids.len())
            .map(|n| format!("docs/guide.md#{n}"))
            .collect();
        assert_eq!(ids, expected);
        let outline = all_pages(&mut client, "get_document_outline", first, required);
        let headings = outline
            .iter()
            .flat_map(|part| part["headings"].as_array().unwrap())
            .count();
        assert_eq!(headings, 3);
        let list = json!({"recursive": true, "max_tokens": tokens});
        let documents = all_pages(&mut client, "list_documents", list, json!({}));
        let listed: Vec<&str> = documents
            .iter()
            .flat_map(|part| paths(&part["data"]["documents"], "document_id"))
            .collect();
        assert_eq!(listed.len(), crate::support::CORPUS.len());
        assert!(listed.is_sorted());
        let asked = json!({"query": "the lamp and the harbour", "scope": "chunks", "limit": 3, "max_tokens": tokens});
        let parts = all_pages(
            &mut client,
            "search",
            asked,
            json!({"query": "the lamp and the harbour"}),
        );
        let hits = parts
            .iter()
            .map(|part| part["data"]["results"].as_array().unwrap().len())
            .sum::<usize>();
        assert_eq!(
            parts[0]["data"]["results"].as_array().unwrap().len().min(1),
            1
        );
        assert!(hits >= 3, "{hits}");
    }
}

#[test]
fn forged_foreign_and_stale_continuations_are_refused() {
    let folder = office();
    let mut client = served(&folder);
    let huge = |token: &str| json!({"document_id": "huge_text.txt", "continuation_token": token});
    let pages = client.tool("get_pages", json!({"document_id": "huge_text.txt"}));
    let token = pages["continuation"]["token"].as_str().unwrap().to_owned();
    let forged = token.chars().rev().collect::<String>();
    for wrong in ["x", "eyJ2IjoxfQ", &forged, &"A".repeat(30_000)] {
        let text = client.error("get_pages", huge(wrong));
        assert!(
            text.starts_with("INVALID_CONTINUATION_TOKEN: "),
            "{wrong:.20}: {text}"
        );
    }
    let first = client.tool("get_pages", huge(""));
    assert_eq!(first["data"]["pages"], pages["data"]["pages"]);
    let text = client.error("get_document_data", huge(&token));
    assert!(text.starts_with("INVALID_CONTINUATION_TOKEN: "), "{text}");
    let other = json!({"document_id": "Q1_Report.md", "continuation_token": token});
    let text = client.error("get_pages", other);
    assert!(text.starts_with("INVALID_CONTINUATION_TOKEN: "), "{text}");
    let text = client.error("list_documents", json!({"continuation_token": token}));
    assert!(text.starts_with("INVALID_CONTINUATION_TOKEN: "), "{text}");
    folder.kb("rm office.kb Sales/customers.csv").expect(0);
    let text = client.error("get_pages", huge(&token));
    assert!(text.starts_with("CONTINUATION_STALE: "), "{text}");
}

#[test]
fn pages_of_a_large_text_come_one_by_one_within_the_budget() {
    let folder = office();
    let mut client = served(&folder);
    let first = client.tool(
        "get_pages",
        json!({"document_id": "huge_text.txt", "max_tokens": 100}),
    );
    assert_eq!(
        first["status"],
        json!({"code": "partial_success", "message": "TOKEN_LIMIT_EXCEEDED_BUT_INCLUDED"})
    );
    assert_eq!(first["data"]["pages"].as_array().unwrap().len(), 1);
    let total = first["data"]["total_pages"].as_u64().unwrap();
    assert!(total > 500, "{total}");
    let actions: Vec<&str> = first["actions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["id"].as_str().unwrap())
        .collect();
    // S3-60, S3-65
    assert_eq!(actions, ["CONTINUE", "INCREASE_LIMIT"]);
    let token = &first["continuation"]["token"];
    let next = client.tool(
        "get_pages",
        json!({"document_id": "huge_text.txt", "continuation_token": token}),
    );
    // S3-67
    assert_eq!(next["data"]["pages"][0]["page_number"], 2, "{next}");
    assert_eq!(
        next["data"]["pages"].as_array().unwrap().len(),
        1,
        "the budget of the first call holds"
    );
    let some = client.tool(
        "get_pages",
        json!({"document_id": "huge_text.txt", "page_range": "3,5-6", "max_tokens": 20_000}),
    );
    let numbers: Vec<u64> = some["data"]["pages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|page| page["page_number"].as_u64().unwrap())
        .collect();
    assert_eq!(numbers, [3, 5, 6]);
    let total = total.to_string();
    for (range, bound) in [
        ("9999999", total.as_str()),
        ("0", ""),
        ("3-1", ""),
        ("x", ""),
        ("-", ""),
    ] {
        let text = client.error(
            "get_pages",
            json!({"document_id": "huge_text.txt", "page_range": range}),
        );
        assert!(
            text.starts_with("INVALID_RANGE: ") && text.contains(bound),
            "{range}: {text}"
        );
    }
}
