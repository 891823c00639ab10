use serde_json::json;

use super::*;
use crate::tools::call::budget::larger_form;
use crate::tools::testing::Fixture;

#[test]
fn stored_documents_are_ready() {
    let fixture = Fixture::guides();
    let answer = fixture.answer("get_status", json!({"document_id": "sails.md"}));
    let expected = json!({"status": "ready", "progress": 100, "message": "DOCUMENT_READY"});
    assert_eq!(serde_json::Value::Object(answer.structured), expected);
    let error = fixture.error("get_status", json!({"document_id": "none.md"}));
    assert_eq!(error.code, "DOCUMENT_NOT_FOUND");
    let answer = fixture.answer("get_status", json!({}));
    assert_eq!(answer.structured["status"], "ready");
    assert_eq!(answer.structured["completed_count"], 9);
    assert_eq!(answer.structured["completed"].as_array().unwrap().len(), 9);
}

#[test]
fn programs_whose_symbols_are_pending_are_counted() {
    use kb_engine::{IndexOptions, KbWriter, Stage};
    let fixture = Fixture::of(&[("one", &[("a.md", "walrus")])], true);
    let sources = fixture.path().join("src");
    std::fs::create_dir(&sources).unwrap();
    std::fs::write(sources.join("a.py"), "def seal():\n    pass\n").unwrap();
    let file = fixture.path().join("two.kb");
    let options = IndexOptions::new().symbols_later_bytes(0);
    let stopped =
        KbWriter::open_or_create(&file)
            .unwrap()
            .index(&[sources], &options, &mut |progress| match progress.stage {
                Stage::Symbols => std::ops::ControlFlow::Break(()),
                _ => std::ops::ControlFlow::Continue(()),
            });
    assert!(stopped.is_err());
    let fixture = fixture
        .over(&[("one", fixture.path().join("one.kb")), ("two", file)])
        .unwrap();
    let all = fixture.answer("get_status", json!({}));
    let indexes = &all.structured["indexes"];
    assert!(indexes[0].get("symbols_pending").is_none());
    assert_eq!(indexes[1]["symbols_pending"], 1);
    assert!(all.text.contains("symbols pending 1,"), "{}", all.text);
}

#[test]
fn each_index_has_a_status_of_its_own() {
    let fixture = Fixture::of(&[("one", &[("a.md", "walrus")]), ("two", &[])], true);
    let folder = fixture.path().join("src");
    std::fs::create_dir(&folder).unwrap();
    for name in ["a.md", "b.md"] {
        std::fs::write(folder.join(name), "seal").unwrap();
    }
    let given = json!({"path": folder.to_str().unwrap(), "index_name": "two"});
    fixture.answer("index_codebase", given);
    std::fs::write(folder.join("a.md"), "another seal").unwrap();
    std::fs::write(folder.join("c.md"), "new").unwrap();
    let fixture = fixture
        .over(&[
            ("one", fixture.path().join("one.kb")),
            ("two", fixture.path().join("two.kb")),
        ])
        .unwrap();
    let all = fixture.answer("get_status", json!({})).structured;
    let one = &all["indexes"][0];
    assert_eq!(one["status"], "ready");
    assert_eq!((&one["documents"], &one["skipped"]), (&json!(1), &json!(0)));
    assert!(one.get("stale_count").is_none(), "{one}");
    let two = &all["indexes"][1];
    assert_eq!(
        (&two["stale_count"], &two["new_files"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(two["stale"], json!(["a.md"]));
    let given = json!({"document_id": "a.md", "index_name": "two"});
    let status = fixture.answer("get_status", given).structured;
    assert!(
        status["warnings"][0]
            .as_str()
            .unwrap()
            .contains("STALE: the file of a.md changed")
    );
}

#[test]
fn models_say_what_they_have_embedded_and_what_is_missing() {
    let fixture = Fixture::guides();
    let status = || fixture.answer("get_status", json!({})).structured;
    assert!(status()["indexes"][0].get("models").is_none());
    fixture.embed("words");
    fixture.embed("unknown");
    fixture.add("new.md", "a new wharf");
    let models = status()["indexes"][0]["models"].clone();
    let embedded = fixture.index().kb().state().unwrap().chunks - 1;
    for (model, column) in [(&models[0], "words"), (&models[1], "unknown")] {
        assert_eq!(model["vector_column"], column);
        assert_eq!(model["model"], format!("toy:{column}"));
        assert_eq!(
            (&model["embedded"], &model["waiting"]),
            (&json!(embedded), &json!(1))
        );
    }
    assert!(models[0].get("missing").is_none(), "{models}");
    let missing = models[1]["missing"].as_str().unwrap();
    assert!(missing.contains("/toys/unknown is missing"), "{missing}");
}

#[test]
fn many_indexes_come_in_pages() {
    let names: Vec<String> = (0..40).map(|n| format!("index-{n:02}")).collect();
    let long = format!("{}a.md", "folder/".repeat(100));
    let documents: &[(&str, &str)] = &[(&long, "walrus")];
    let files: Vec<_> = names
        .iter()
        .map(|name| (name.as_str(), documents))
        .collect();
    let fixture = Fixture::of(&files, false);
    for (tool, key) in [
        ("get_status", "index_name"),
        ("list_indexes", "name"),
        ("index_stats", "index_name"),
    ] {
        let mut seen = Vec::new();
        let mut given = json!({"max_tokens": 500});
        loop {
            let answer = fixture.answer(tool, given);
            assert!(larger_form(&answer) <= 2500, "{tool}: {}", answer.text);
            for index in answer.structured["indexes"].as_array().unwrap() {
                seen.push(index[key].as_str().unwrap().to_owned());
            }
            let Some(continuation) = answer.structured.get("continuation") else {
                break;
            };
            given = json!({"continuation_token": continuation["token"]});
        }
        assert_eq!(seen, names, "{tool}");
    }
}

#[test]
fn running_and_failed_jobs_are_reported() {
    let fixture = Fixture::guides();
    let index = fixture.index();
    let big = index.jobs().begin("big.md", None).unwrap();
    big.progress(74);
    let bad = index.jobs().begin("bad.md", None).unwrap();
    bad.failed("no text".to_owned());
    let answer = fixture.answer("get_status", json!({"document_id": "big.md"}));
    let expected =
        json!({"status": "processing", "progress": 74, "message": "DOCUMENT_PROCESSING"});
    assert_eq!(serde_json::Value::Object(answer.structured), expected);
    let answer = fixture.answer("get_status", json!({"document_id": "bad.md"}));
    assert_eq!(answer.structured["status"], "failed");
    assert_eq!(answer.structured["detail"], "no text");
    let answer = fixture.answer("get_status", json!({}));
    assert_eq!(answer.structured["processing"], json!(["big.md"]));
    assert_eq!(answer.structured["status"], "processing");
    assert!(answer.text.contains("bad.md: no text"));
}
#[test]
fn a_job_is_found_by_the_uri_of_its_document() {
    let fixture = Fixture::guides();
    let bad = fixture.index().jobs().begin("bad.md", None).unwrap();
    bad.failed("no text".to_owned());
    let given = json!({"document_id": uri::of_document("guides", "bad.md")});
    assert_eq!(
        fixture.answer("get_status", given).structured["status"],
        "failed"
    );
}

#[test]
fn a_failure_ends_when_the_document_is_stored() {
    let fixture = Fixture::guides();
    let bad = fixture.index().jobs().begin("bad.md", None).unwrap();
    bad.failed("no text".to_owned());
    fixture.add("bad.md", "text");
    let status = fixture.answer("get_status", json!({"document_id": "bad.md"}));
    assert_eq!(status.structured["status"], "ready");
    let all = fixture.answer("get_status", json!({}));
    assert!(all.structured.get("detail").is_none());
}

#[test]
fn a_failed_index_is_reported_until_it_is_open() {
    let fixture = Fixture::guides();
    let told = || {
        let answer = fixture.answer("get_status", json!({}));
        answer.structured.get("detail").cloned()
    };
    drop(fixture.indexes.making().begin("new", None).unwrap());
    assert_eq!(told(), Some(json!("failed: new: it stopped unexpectedly")));
    let place = fixture.indexes.reserve("new").unwrap();
    let path = fixture.path().join("guides.kb");
    place.open(&path, |_| Ok(true)).unwrap().unwrap();
    assert_eq!(told(), None);
}
