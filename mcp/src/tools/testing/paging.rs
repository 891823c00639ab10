//! Properties of all results that come in pages, whatever the documents contain: the pages join to the
//! whole, and both forms of each fit the budget.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::fixture::Fixture;
use super::parts;
use crate::tools::ToolResponse;
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
        (
            "search_docs",
            json!({"query": "walrus ice", "top_k": 50}),
            "/results",
        ),
        (
            "search_docs",
            json!({"query": "walrus ice", "full": true, "min_score": 0.01}),
            "/results",
        ),
    ]
}

/// What of an item does not depend on the page: how many lines of a result are shown does, and which is the
/// first of its document.
fn lasting(tool: &str, item: &Value) -> Value {
    if !tool.starts_with("search") {
        let mut item = item.clone();
        // Small budgets leave it out.
        if let Some(Value::Object(metadata)) = item.get_mut("metadata") {
            for small in ["section", "page", "sheet", "slide"] {
                metadata.remove(small);
            }
        }
        return item;
    }
    let id = item.get("path").or_else(|| item.get("document_id"));
    json!([id, item["score"]])
}

/// Adds an item; of a page or chunk that comes in parts, its text to the one before.
fn add(items: &mut Vec<Value>, item: Value) {
    let is_rest = |last: &&mut Value| {
        let ids = ["page_number", "slide_number", "chunk_id"];
        let id = |item: &Value| ids.iter().find_map(|id| item.get(id)).cloned();
        id(last).is_some() && id(last) == id(&item)
    };
    let Some(last) = items.last_mut().filter(is_rest) else {
        items.push(item);
        return;
    };
    let text = |item: &Value| item["content"].as_str().unwrap().to_owned();
    last["content"] = (text(last) + &text(&item)).into();
    if let Some(notes) = item["notes"].as_str() {
        last["notes"] = (last["notes"].as_str().unwrap_or_default().to_owned() + notes).into();
    }
    match (
        last.get_mut("metadata"),
        item.get("metadata"),
        item.get("end_line"),
    ) {
        (Some(last), Some(rest), _) => last["end_line"] = rest["end_line"].clone(),
        (_, _, Some(end)) => last["end_line"] = end.clone(),
        _ => {}
    }
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
        // S3-64: what is listed and read comes whole; the texts of hits are cut.
        let is_name = is_one && !tool.starts_with("search");
        assert!(
            is_name || size <= most,
            "{tool} {given}: {size} of {most}\n{}",
            answer.text
        );
        match found {
            Value::Array(found) => {
                assert!(!found.is_empty(), "{tool} {given}: an empty page");
                for item in found {
                    add(&mut items, lasting(tool, item));
                }
            }
            found => content.push_str(found.as_str().unwrap()),
        }
        let tokens = whole.pointer("/data/token_count").and_then(Value::as_u64);
        let is_over = whole.pointer("/status/code") == Some(&json!("partial_success"));
        let is_above = tokens.is_some_and(|tokens| tokens > max_tokens.into());
        assert!(!is_above || is_over);
        let Some(token) = whole.pointer("/continuation/token").and_then(Value::as_str) else {
            let has_more = whole.pointer("/continuation/has_more");
            assert!(has_more.is_none_or(|has_more| has_more == false));
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
        max_tokens in 100u32..3000,
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
    fn pages_rows_and_slides_join_to_the_whole(
        texts in proptest::collection::vec(hostile(), 2..6),
        cells in proptest::collection::vec(proptest::collection::vec("[a-z\"`\t\n\u{4e00}]{0,12}", 0..5), 1..60),
        max_tokens in 100u32..3000,
    ) {
        // A sheet without any cell has no rows to join.
        let mut cells = cells;
        cells.push(vec!["walrus".to_owned()]);
        let fixture = Fixture::new("hostile", &[]);
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let documents = [parts::paper(&texts), parts::deck(&texts), parts::table("book.ods", "Rows", &cells)];
        fixture.add_documents(documents.into());
        for (tool, given, pointer) in [
            ("get_pages", json!({"document_id": "paper.pdf"}), "/data/pages"),
            ("get_pages", json!({"document_id": "paper.pdf", "page_range": "2,1-"}), "/data/pages"),
            ("get_slides", json!({"document_id": "deck.odp"}), "/data/slides"),
            ("get_slides", json!({"document_id": "deck.odp", "slide_numbers": "2-,1"}), "/data/slides"),
            ("get_sheet_data", json!({"document_id": "book.ods"}), "/data/rows"),
            ("get_document_outline", json!({"document_id": "deck.odp"}), "/slides"),
            ("get_document_data", json!({"document_id": "paper.pdf", "format": "chunks"}), "/data/chunks"),
        ] {
            let whole = all_pages(&fixture, tool, &given, pointer, 20_000);
            let joined = all_pages(&fixture, tool, &given, pointer, max_tokens);
            prop_assert!(whole == joined, "{} {}: {} and {}", tool, given, whole, joined);
            let content: String = whole.as_array().unwrap().iter().filter_map(|item| item["content"].as_str()).collect();
            if given.as_object().unwrap().len() == 1 && tool == "get_pages" {
                prop_assert_eq!(content, parts::paper(&texts).text);
            }
        }
        let rows = all_pages(&fixture, "get_sheet_data", &json!({"document_id": "book.ods"}), "/data/rows", max_tokens);
        let found: Vec<&Value> = rows.as_array().unwrap().iter().filter(|row| row.is_array()).collect();
        let width = cells.iter().map(Vec::len).max().unwrap_or(0);
        let expected: Vec<Value> = cells
            .iter()
            .filter(|row| row.iter().any(|cell| !cell.is_empty()))
            .map(|row| (0..width).map(|at| row.get(at).cloned().unwrap_or_default()).collect::<Vec<_>>().into())
            .collect();
        // The width is that of the last column with a cell.
        let trimmed = |rows: Vec<&Value>| -> Vec<Vec<String>> {
            let cells = |row: &&Value| {
                let mut cells: Vec<String> = row.as_array().unwrap().iter().map(|cell| cell.as_str().unwrap().to_owned()).collect();
                while cells.last().is_some_and(String::is_empty) {
                    cells.pop();
                }
                cells
            };
            rows.iter().map(cells).collect()
        };
        prop_assert_eq!(trimmed(found), trimmed(expected.iter().collect()));
    }

    #[test]
    fn searches_without_pages_fit(texts in proptest::collection::vec(hostile(), 4), max_tokens in 100u32..3000) {
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

/// Documents of `count` sections of some 30 lines each, with different words.
fn manual(count: usize) -> Fixture {
    let paragraph = |n: usize| {
        let line = |k: usize| {
            format!("Step {k} of task {n}: the walrus crew lashes barrel {k} to mast {n}.\n")
        };
        format!("## Task {n}\n\n{}\n", (0..30).map(line).collect::<String>())
    };
    let document = |d: usize| {
        let tasks = (0..count).map(|n| paragraph(10 * d + n));
        format!("# Walrus manual {d}\n\n{}", tasks.collect::<String>())
    };
    let texts: Vec<(String, String)> = (0..4)
        .map(|d| (format!("manual/volume-{d}.md"), document(d)))
        .collect();
    let texts: Vec<(&str, &str)> = texts
        .iter()
        .map(|(a, b)| (a.as_str(), b.as_str()))
        .collect();
    Fixture::new("manual", &texts)
}

#[test]
fn a_default_search_takes_a_quarter_more_than_its_budget_at_most() {
    let fixture = manual(6);
    // `search` has the budget of the system that it stands in for.
    for (tool, results, count, most) in [
        ("search_docs", "/results", 10, 3000 * 4),
        ("search", "/data/results", 5, 2500 * 4),
    ] {
        let mut given = json!({"query": "how does the crew lash a barrel to the mast"});
        if tool == "search" {
            given["scope"] = "chunks".into();
        }
        let answer = fixture.answer(tool, given);
        assert!(
            larger_form(&answer) <= most,
            "{tool}: {}",
            larger_form(&answer)
        );
        let whole = Value::Object(answer.structured);
        let shown = whole.pointer(results).unwrap().as_array().unwrap();
        // Of passages of some 20 lines the last may be for the next page.
        assert!(shown.len() + 1 >= count, "{tool}: {}", shown.len());
    }
}

#[test]
fn shown_lines_are_whole_and_named() {
    let fixture = manual(6);
    let asked = json!({"query": "how does the crew lash barrel 17 to mast 23"});
    let body = fixture.answer("get_document", json!({"doc_handle": "volume-2.md"}));
    let body: Vec<&str> = body.structured["body"].as_str().unwrap().lines().collect();
    let answer = fixture.answer("search_docs", asked.clone());
    let mut shown = 0;
    for result in answer.structured["results"].as_array().unwrap() {
        let lines: Vec<&str> = result["text"].as_str().unwrap().lines().collect();
        let (first, last) = (&result["startLine"], &result["endLine"]);
        let (first, last) = (
            first.as_u64().unwrap() as usize,
            last.as_u64().unwrap() as usize,
        );
        assert_eq!(lines.len(), last - first + 1);
        if result["path"] == "manual/volume-2.md" {
            assert_eq!(lines, body[first - 1..last]);
            shown += 1;
        }
    }
    assert!(
        shown > 0 && answer.text.contains("barrel 17 to mast 23"),
        "{}",
        answer.text
    );
    // Whole passages are longer than their best lines.
    let mut full = asked;
    full["full"] = true.into();
    let full = fixture.answer("search_docs", full);
    let bytes = |answer: &ToolResponse| -> usize {
        let results = answer.structured["results"].as_array().unwrap().iter();
        results.map(|it| it["text"].as_str().unwrap().len()).sum()
    };
    let (whole, best) = (bytes(&full), bytes(&answer));
    assert!(whole > best * 5 / 4, "{whole} {best}");
}

#[test]
fn facts_of_a_document_come_once() {
    let fixture = manual(6);
    for (tool, results, title, of_first) in [
        ("search_docs", "/results", "documentTitle", "uri"),
        ("search", "/data/results", "title", "doc_handle"),
    ] {
        let given = json!({"query": "walrus crew lashes barrel", "scope": "chunks", "limit": 20, "max_tokens": 9000});
        let answer = fixture.answer(tool, given);
        let whole = Value::Object(answer.structured);
        let found = whole.pointer(results).unwrap().as_array().unwrap();
        // S0-07, S3-11
        assert!(
            found.len() > 8 && found.iter().all(|result| result.get(title).is_some()),
            "{tool}"
        );
        let with_it = found.iter().filter(|result| result.get(of_first).is_some());
        assert_eq!(with_it.count(), 4);
        assert!(
            found
                .iter()
                .all(|result| result.get("index_name").is_none())
        );
    }
}

#[test]
fn irrelevant_results_are_few_and_short() {
    let fixture = manual(6);
    for (tool, results, text) in [
        ("search_docs", "/results", "text"),
        ("search", "/data/results", "preview"),
    ] {
        let given =
            json!({"query": "quarterly tax filing deadline", "scope": "chunks", "full": true});
        let answer = fixture.answer(tool, given);
        assert!(answer.text.contains("NOTHING_RELEVANT"), "{}", answer.text);
        let whole = Value::Object(answer.structured);
        let found = whole.pointer(results).unwrap().as_array().unwrap();
        assert!((1..=3).contains(&found.len()), "{tool}");
        for result in found {
            assert!(result[text].as_str().unwrap().lines().count() <= 3);
        }
        let more = whole.pointer("/continuation/has_more");
        assert!(more.is_none_or(|more| more == false));
        assert!(
            larger_form(&fixture.answer(tool, json!({"query": "quarterly tax filing"}))) < 2400
        );
    }
}

#[test]
fn small_budgets_hold_in_both_forms() {
    let fixture = manual(6);
    fixture.add(
        "src/mast.rs",
        &"fn lash_walrus_barrel(mast: u32) -> u32 {\n    mast + 1\n}\n".repeat(90),
    );
    let document = "manual/volume-1.md";
    for max_tokens in [100, 130, 200, 300, 399, 400, 500] {
        for (tool, given) in [
            ("search", json!({"query": "walrus crew"})),
            ("search", json!({"query": "walrus crew", "scope": "chunks"})),
            ("search_docs", json!({"query": "walrus crew"})),
            (
                "search_code",
                json!({"query": "lash walrus barrel", "index_name": "manual"}),
            ),
            ("get_document_data", json!({"document_id": document})),
            ("search", json!({"query": "walrus crew", "full": true})),
            ("search_docs", json!({"query": "walrus crew", "full": true})),
            (
                "search_code",
                json!({"query": "lash walrus barrel", "index_name": "manual", "full": true}),
            ),
            ("get_document_outline", json!({"document_id": document})),
            ("list_documents", json!({"recursive": true})),
        ] {
            let mut given = given;
            given["max_tokens"] = max_tokens.into();
            let answer = fixture.answer(tool, given);
            let size = larger_form(&answer);
            assert!(
                size <= max_tokens * 5,
                "{tool} {max_tokens}: {size}\n{}",
                answer.text
            );
        }
    }
}

fn has_two_pages(fixture: &Fixture) -> bool {
    let answer = fixture.answer("get_pages", json!({"document_id": "a/long.md"}));
    answer.structured["data"]["total_pages"].as_u64() > Some(1)
}
