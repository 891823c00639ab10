//! Properties of all results that come in pages, whatever the documents contain: the pages join to the
//! whole, and both forms of each fit the budget.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::fixture::Fixture;
use crate::tools::call::budget::larger_form;

/// Tool, arguments, and the JSON pointer of its items.
fn calls() -> Vec<(&'static str, Value, &'static str)> {
    let document = "a/long.md";
    vec![
        (
            "search",
            json!({"query": "walrus ice", "scope": "chunks", "limit": 50}),
            "/data/results",
        ),
        ("search", json!({"query": "walrus ice"}), "/data/results"),
        (
            "get_document_outline",
            json!({"document_id": document}),
            "/headings",
        ),
        (
            "get_document_data",
            json!({"document_id": document}),
            "/data/content",
        ),
        (
            "get_document_data",
            json!({"document_id": document, "section": "2"}),
            "/data/content",
        ),
        (
            "get_document_data",
            json!({"document_id": document, "format": "chunks"}),
            "/data/chunks",
        ),
        (
            "get_document_data",
            json!({"document_id": document, "format": "chunks", "section": "2"}),
            "/data/chunks",
        ),
        ("get_pages", json!({"document_id": document}), "/data/pages"),
        (
            "get_pages",
            json!({"document_id": document, "page_range": "2,1"}),
            "/data/pages",
        ),
        (
            "list_documents",
            json!({"recursive": true}),
            "/data/documents",
        ),
    ]
}

/// The items of all pages of a result, each page checked against `max_tokens`; texts are joined.
fn all_pages(
    fixture: &Fixture,
    tool: &str,
    given: &Value,
    pointer: &str,
    max_tokens: u32,
) -> Value {
    let required = ["query", "document_id"];
    let mut given = given.clone();
    given["max_tokens"] = max_tokens.into();
    let (mut items, mut content) = (Vec::new(), String::new());
    for _ in 0..10_000 {
        let answer = fixture.answer(tool, given.clone());
        let whole = Value::Object(answer.structured.clone());
        let found = whole.pointer(pointer).unwrap();
        let is_one = found.as_array().is_some_and(|items| items.len() == 1);
        let (size, most) = (larger_form(&answer), max_tokens as usize * 5);
        assert!(
            is_one || size <= most,
            "{tool} {given}: {size} of {most}\n{}",
            answer.text
        );
        match found {
            Value::Array(found) => {
                assert!(!found.is_empty(), "{tool} {given}: an empty page");
                items.extend(found.iter().cloned());
            }
            found => content.push_str(found.as_str().unwrap()),
        }
        let tokens = whole.pointer("/data/token_count").and_then(Value::as_u64);
        let is_over = whole.pointer("/status/code") == Some(&json!("partial_success"));
        assert_eq!(
            tokens.is_some_and(|tokens| tokens > max_tokens.into()),
            is_over
        );
        let Some(token) = whole.pointer("/continuation/token").and_then(Value::as_str) else {
            assert_eq!(whole.pointer("/continuation/has_more"), Some(&json!(false)));
            items.push(content.into());
            return items.into();
        };
        assert!(answer.text.ends_with(token));
        let kept = given
            .as_object()
            .unwrap()
            .iter()
            .filter(|(name, _)| required.contains(&name.as_str()));
        given = Value::Object(
            kept.map(|(name, value)| (name.clone(), value.clone()))
                .collect(),
        );
        given["continuation_token"] = token.into();
    }
    panic!("{tool} does not end");
}

/// Text that becomes longer with escapes and fences, with line feeds and without.
fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        3 => "[a-z ]{1,30}",
        2 => Just("walrus on ice ".to_owned()),
        1 => "\n{1,3}",
        1 => "`{1,8}",
        1 => Just("\"\\\t\u{85}\u{202e}\u{e0041}".to_owned()),
        1 => Just("\n\n# Heading \"`\u{200f} walrus\n\n".to_owned()),
        1 => "[\u{4e00}-\u{4e20}\u{1f600}-\u{1f610}]{1,20}",
    ];
    (proptest::collection::vec(piece, 1..120), 1usize..8)
        .prop_map(|(pieces, times)| pieces.concat().repeat(times))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pages_join_to_the_whole_and_each_fits(
        texts in proptest::collection::vec(hostile(), 3),
        names in proptest::collection::hash_set("[a-z\"'% \u{4e00}\u{202e}]{1,40}", 1..12),
        max_tokens in 500u32..3000,
    ) {
        let long = format!("# One\n\nwalrus ice\n\n# Two\n\n{}\n\n{}", texts[0], texts[1].repeat(4));
        let names: Vec<String> = names.iter().map(|name| format!("b/{name}x/n.md")).collect();
        let mut documents = vec![("a/long.md", long.as_str()), ("a/other.txt", texts[2].as_str())];
        documents.extend(names.iter().map(|name| (name.as_str(), "# Ice\n\nA walrus on ice.\n")));
        let fixture = Fixture::new("hostile", &documents);
        for (tool, given, pointer) in calls() {
            if given.get("page_range").is_some() && !has_two_pages(&fixture) {
                continue;
            }
            let whole = all_pages(&fixture, tool, &given, pointer, 20_000);
            let joined = all_pages(&fixture, tool, &given, pointer, max_tokens);
            prop_assert!(whole == joined, "{} {}: {} and {}", tool, given, whole, joined);
            if tool == "get_document_data" && given.get("format").is_none() && given.get("section").is_none() {
                prop_assert_eq!(&joined[0], &long);
            }
        }
    }

    #[test]
    fn searches_without_pages_fit(texts in proptest::collection::vec(hostile(), 4), max_tokens in 500u32..3000) {
        let names = ["a.md", "b.rs", "c.json", "d.txt"];
        let texts: Vec<String> = texts.iter().map(|text| format!("walrus ice\n{text}")).collect();
        let documents: Vec<(&str, &str)> = names.into_iter().zip(texts.iter().map(String::as_str)).collect();
        let fixture = Fixture::new("hostile", &documents);
        for tool in ["search_docs", "search_code"] {
            let given = json!({"query": "walrus ice", "max_tokens": max_tokens});
            let answer = fixture.answer(tool, given);
            let results = answer.structured["results"].as_array().unwrap().len();
            let size = larger_form(&answer);
            prop_assert!(results == 1 || size <= max_tokens as usize * 5, "{} {}", tool, size);
        }
    }
}

fn has_two_pages(fixture: &Fixture) -> bool {
    let answer = fixture.answer("get_pages", json!({"document_id": "a/long.md"}));
    answer.structured["data"]["total_pages"].as_u64() > Some(1)
}
