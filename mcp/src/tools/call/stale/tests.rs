use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use kb_engine::{IndexOptions, KbWriter, Progress};
use serde_json::{Value, json};

use super::*;
use crate::tools::testing::Fixture;

#[test]
fn the_age_of_an_index_is_in_days() {
    let said = |age_days, changes| out_of_date("a", &Stale { age_days, changes });
    let changes = |names: &[&str], updated, added| Changes {
        updated,
        added,
        names: names.iter().map(|name| (*name).to_owned()).collect(),
        ..Changes::default()
    };
    assert_eq!(
        said(9.7, Some(changes(&["x", "y", "z", "v"], 5, 0))),
        "a was indexed 9 days ago; 5 files changed or deleted since then: x, y, z and 2 more."
    );
    assert_eq!(
        said(1.2, Some(changes(&["x"], 1, 2))),
        "a was indexed 1 day ago; 1 file changed or deleted since then (x), and 2 files are new."
    );
    assert_eq!(
        said(8.0, Some(Changes::default())),
        "a was indexed 8 days ago; its sources have not changed since then."
    );
    let unknown = "a was indexed today; it is unknown whether its sources changed since then.";
    assert_eq!(said(0.3, None), unknown);
}

/// A server that was just started over a file made from a folder `src` beside it.
fn indexed(files: &[(&str, &str)]) -> Fixture {
    let fixture = Fixture::new("empty", &[]);
    let folder = fixture.path().join("src");
    fs::create_dir(&folder).unwrap();
    for (name, text) in files {
        fs::write(folder.join(name), text).unwrap();
    }
    let path = fixture.path().join("one.kb");
    let mut writer = KbWriter::open_or_create(&path).unwrap();
    let options = IndexOptions::new();
    writer
        .index(&[folder], &options, &mut Progress::ignore)
        .unwrap();
    drop(writer);
    fixture
}

fn started(fixture: &Fixture) -> Fixture {
    let path = fixture.path().join("one.kb");
    fixture.over(&[("one", path)]).unwrap()
}

fn change(folder: &Path, name: &str, text: &str) {
    fs::write(folder.join("src").join(name), text).unwrap();
}

fn warnings(answer: &crate::response::ToolResponse) -> Vec<String> {
    let warnings = answer.structured.get("warnings").and_then(Value::as_array);
    let texts = warnings.into_iter().flatten().filter_map(Value::as_str);
    texts.map(str::to_owned).collect()
}

const FILES: &[(&str, &str)] = &[
    ("tides.md", "# Tides\n\nThe walrus waits for the tide.\n"),
    ("moon.md", "# Moon\n\nThe walrus sleeps under the moon.\n"),
    ("main.rs", "fn walrus() {}\n"),
];

#[test]
fn the_first_answer_names_stale_results() {
    let made = indexed(FILES);
    change(made.path(), "tides.md", "# Tides\n\nNo animal waits.\n");
    fs::remove_file(made.path().join("src/main.rs")).unwrap();
    let state_of = |results: &Value, key: &str, name: &str| {
        let mut all = results.as_array().unwrap().iter();
        let one = all.find(|one| one[key] == name).unwrap();
        one.get("stale").cloned()
    };
    let docs = started(&made).answer("search_docs", json!({"query": "walrus"}));
    let results = &docs.structured["results"];
    assert_eq!(
        state_of(results, "path", "tides.md"),
        Some(json!("changed"))
    );
    assert_eq!(state_of(results, "path", "moon.md"), None);
    let said = warnings(&docs).join("\n");
    assert!(said.contains("tides.md (changed)"), "{said}");
    assert!(
        said.contains("2 files changed or deleted since then: tides.md, main.rs"),
        "{said}"
    );
    let line = docs.text.lines().find(|line| line.contains("tides.md:"));
    assert!(line.unwrap().contains("STALE"), "{}", docs.text);
    let code = started(&made).answer("search_code", json!({"query": "walrus"}));
    let results = &code.structured["results"];
    assert_eq!(
        state_of(results, "file_path", "main.rs"),
        Some(json!("deleted"))
    );
    let search = started(&made).answer("search", json!({"query": "walrus"}));
    let results = &search.structured["data"]["results"];
    assert_eq!(
        state_of(results, "document_id", "tides.md"),
        Some(json!("changed"))
    );
    assert!(warnings(&search).join("\n").contains("main.rs (deleted)"));
}

#[test]
fn a_new_file_is_known_to_the_first_answer() {
    let made = indexed(FILES);
    change(made.path(), "new.md", "# New\n");
    let answer = started(&made).answer("search_docs", json!({"query": "moon"}));
    let said = warnings(&answer).join("\n");
    assert!(said.contains("indexed today; 1 file is new."), "{said}");
}

#[test]
fn a_document_not_found_may_be_a_file_not_indexed_yet() {
    let made = indexed(FILES);
    let ask = |name: &str| {
        let asked = json!({"doc_handle": name});
        started(&made).error("get_document", asked).text()
    };
    assert!(!ask("brandnew.md").contains("new file"));
    change(made.path(), "brandnew.md", "# New\n");
    let said = ask("brandnew.md");
    assert!(
        said.contains("1 new file in the indexed folders of one"),
        "{said}"
    );
    // The answer does not say which file it is.
    assert!(ask("other.md").contains("1 new file"));
}

#[test]
fn a_change_between_two_answers_is_in_the_second() {
    let made = indexed(FILES);
    let server = started(&made);
    let ask = || server.answer("search_docs", json!({"query": "walrus moon"}));
    assert_eq!(warnings(&ask()), [""; 0]);
    change(made.path(), "moon.md", "# Moon\n\nEmpty.\n");
    let said = warnings(&ask()).join("\n");
    assert!(said.contains("moon.md (changed)"), "{said}");
}

#[test]
fn a_file_that_was_only_touched_is_not_stale() {
    let made = indexed(FILES);
    let file = fs::File::options()
        .write(true)
        .open(made.path().join("src/moon.md"));
    let later = SystemTime::now() + Duration::from_secs(60);
    file.unwrap().set_modified(later).unwrap();
    let answer = started(&made).answer("search_docs", json!({"query": "walrus moon"}));
    assert_eq!(warnings(&answer), [""; 0]);
}

#[test]
fn reading_a_stale_document_has_a_warning() {
    let made = indexed(FILES);
    let server = started(&made);
    let tools = [
        ("get_document", json!({"doc_handle": "tides.md"})),
        ("get_document_data", json!({"document_id": "tides.md"})),
        ("get_document_outline", json!({"document_id": "tides.md"})),
        ("get_pages", json!({"document_id": "tides.md"})),
    ];
    for (tool, given) in &tools {
        let answer = server.answer(tool, given.clone());
        assert_eq!(warnings(&answer), [""; 0], "{tool}");
    }
    change(made.path(), "tides.md", "# Tides\n\nGone.\n");
    for (tool, given) in &tools {
        let answer = server.answer(tool, given.clone());
        let said = warnings(&answer).join("\n");
        assert!(
            said.contains("the file of tides.md changed"),
            "{tool}: {said}"
        );
        assert!(answer.text.contains("STALE: "), "{tool}");
    }
    fs::remove_file(made.path().join("src/tides.md")).unwrap();
    let answer = server.answer("get_document", tools[0].1.clone());
    assert!(warnings(&answer)[0].contains("was deleted"));
}

#[test]
fn answers_say_that_the_file_of_the_index_is_gone() {
    let fixture = Fixture::guides();
    let file = fixture.path().join("guides.kb");
    let calls = [
        ("search", json!({"query": "sails"})),
        ("search_docs", json!({"query": "sails"})),
        ("get_document", json!({"document_id": "sails.md"})),
        ("get_documents", json!({"documents": ["sails.md"]})),
        ("get_status", json!({})),
    ];
    let gone = |name: &str, arguments: &Value| {
        let answer = fixture.answer(name, arguments.clone());
        let warnings = answer.structured.get("warnings").map(Value::to_string);
        warnings.is_some_and(|warnings| warnings.contains("FILE_GONE: the file of index guides"))
    };
    for (name, arguments) in &calls {
        assert!(!gone(name, arguments), "{name}");
    }
    fs::remove_file(&file).unwrap();
    for (name, arguments) in &calls {
        assert!(gone(name, arguments), "{name}");
    }
    // Another file in its place is read.
    let mut writer = KbWriter::open_or_create(&file).unwrap();
    writer.add_bytes("sails.md", b"Other sails.").unwrap();
    writer.commit().unwrap();
    for (name, arguments) in &calls {
        assert!(!gone(name, arguments), "{name}");
    }
    let answer = fixture.answer("get_document", json!({"document_id": "sails.md"}));
    assert!(answer.text.contains("Other sails."), "{}", answer.text);
}

/// What was just written is not missed without a word.
#[test]
fn an_answer_that_found_nothing_says_what_changed() {
    let made = indexed(FILES);
    let server = started(&made);
    server.answer("find_symbols", json!({"name": "walrus"}));
    for (number, (tool, given)) in [
        ("find_symbols", json!({"name": "added"})),
        ("search_regex", json!({"pattern": "fn added"})),
        ("search_docs", json!({"query": "zeppelin"})),
        (
            "search",
            json!({"query": "added zeppelin", "mode": "title"}),
        ),
        ("search_code", json!({"query": "zeppelin"})),
        ("list_documents", json!({"skipped": true})),
    ]
    .into_iter()
    .enumerate()
    {
        let text = format!("fn walrus() {{}}\n\nfn added() {{}} // {number}\n");
        change(made.path(), "main.rs", &text);
        let answer = server.answer(tool, given);
        let said = warnings(&answer).join("\n");
        assert!(
            said.contains(
                "STALE: one was indexed today; 1 file changed or deleted since then: main.rs"
            ),
            "{tool}: {}",
            answer.text
        );
        assert!(answer.text.contains("main.rs"), "{tool}: {}", answer.text);
    }
    change(made.path(), "new.md", "# New\n");
    let error = server.error("list_documents", json!({"folder": "docs"}));
    assert!(
        error.text().contains("STALE: ") && error.text().contains("1 file is new"),
        "{}",
        error.text()
    );
}

#[test]
fn an_answer_that_found_nothing_in_a_fresh_index_says_nothing_of_it() {
    let made = indexed(FILES);
    let answer = started(&made).answer("search_regex", json!({"pattern": "fn added"}));
    assert!(warnings(&answer).is_empty(), "{}", answer.text);
}
