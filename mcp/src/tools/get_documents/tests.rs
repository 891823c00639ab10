use serde_json::{Value, json};

use crate::response::ToolResponse;
use crate::tools::testing::Fixture;

fn read(fixture: &Fixture, documents: Value) -> ToolResponse {
    fixture.answer("get_documents", json!({"documents": documents}))
}

fn ids(answer: &ToolResponse) -> Vec<&str> {
    let documents = answer.structured["documents"].as_array().unwrap();
    documents
        .iter()
        .map(|one| one["document_id"].as_str().unwrap())
        .collect()
}

#[test]
fn names_handles_lines_and_globs_are_read_in_order() {
    let fixture = Fixture::guides();
    let given = json!([
        "voyage.txt:2",
        "guides/ropes.md#L1-L3",
        "kb://guides/lines/3-3/guides/stars.md",
        "guides/*.md",
        "guides/ropes.md:1-3"
    ]);
    let answer = read(&fixture, given);
    assert_eq!(
        ids(&answer),
        [
            "logs/voyage.txt",
            "guides/ropes.md",
            "guides/stars.md",
            "guides/flags.md",
            "guides/ropes.md",
            "guides/sails.md",
            "guides/stars.md"
        ]
    );
    let first = &answer.structured["documents"][0];
    assert_eq!(first["content"], "Day 2: calm, no wind at all.\n");
    assert_eq!(
        json!([first["start_line"], first["end_line"], first["total_lines"]]),
        json!([2, 2, 3])
    );
    assert!(answer.text.contains("\n2  Day 2: calm"), "{}", answer.text);
    assert!(answer.structured.get("left_out").is_none());
    let one = read(&fixture, json!("voyage.txt:2"));
    assert_eq!(one.structured["documents"][0], *first);
}

#[test]
fn what_is_not_found_or_does_not_fit_is_named() {
    let long = "a line of a long text\n".repeat(2000);
    let fixture = Fixture::new(
        "a",
        &[("a.md", "# A\n"), ("b.md", "# B\n"), ("long.md", &long)],
    );
    let given = json!({"documents": ["long.md", "a.md", "c.md", "b.md:7", "*.rs", "b.md"],
        "max_tokens": 500});
    let answer = fixture.answer("get_documents", given);
    assert_eq!(ids(&answer), ["a.md", "b.md"]);
    let left = answer.structured["left_out"].as_array().unwrap();
    let named: Vec<_> = left
        .iter()
        .map(|one| {
            let reason = one["reason"].as_str().unwrap();
            let code = reason.split(':').next().unwrap();
            (one["document"].as_str().unwrap(), code)
        })
        .collect();
    assert_eq!(
        named,
        [
            ("c.md", "DOCUMENT_NOT_FOUND"),
            ("*.rs", "NO_MATCH"),
            ("long.md", "OVER_BUDGET"),
            ("b.md:7-7", "INVALID_RANGE"),
        ]
    );
    assert_eq!(left[2]["tokens"], 11_000);
    let error = fixture.error("get_documents", json!({"documents": []}));
    assert_eq!(error.code, "INVALID_ARGUMENT");
}

#[test]
fn a_text_that_does_not_fit_alone_begins_and_goes_on() {
    let long: String = (1..=900).map(|n| format!("line {n} of many\n")).collect();
    let fixture = Fixture::new("a", &[("long.md", &long)]);
    let (mut all, mut name) = (String::new(), "long.md:11-890".to_owned());
    for _ in 0..20 {
        let given = json!({"documents": [name], "max_tokens": 800});
        let answer = fixture.answer("get_documents", given);
        let document = &answer.structured["documents"][0];
        all.push_str(document["content"].as_str().unwrap());
        assert!(crate::tools::call::budget::larger_form(&answer) <= 4000);
        let Some(rest) = document.get("rest") else {
            break;
        };
        rest.as_str().unwrap().clone_into(&mut name);
    }
    let expected: String = (11..=890).map(|n| format!("line {n} of many\n")).collect();
    assert_eq!(all, expected);
}

#[test]
fn a_glob_of_many_documents_stays_within_the_budget() {
    let documents: Vec<(String, String)> = (0..260)
        .map(|n| {
            (
                format!("d/{n:03}.md"),
                format!("# Number {n}\n\n{}", "words ".repeat(40)),
            )
        })
        .collect();
    let documents: Vec<(&str, &str)> = documents
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    let fixture = Fixture::new("many", &documents);
    let given = json!({"documents": ["d/*.md"], "max_tokens": 3000});
    let answer = fixture.answer("get_documents", given);
    assert!(crate::tools::call::budget::larger_form(&answer) <= 15_000);
    let (read, left) = (ids(&answer).len(), 20);
    assert!(read > 10, "{read}");
    assert_eq!(
        answer.structured["left_out"].as_array().unwrap().len(),
        left
    );
    let more = 260 - read - left;
    let warning = format!("{more} more documents were left out and are not listed here");
    assert_eq!(answer.structured["warnings"], json!([warning]));
}

#[test]
fn the_text_comes_before_the_names_of_what_is_left_out() {
    let code = "\"\"\"Item of a spider: \\ fields and their \"values\".\"\"\"\n".repeat(3)
        + &"    def get(self, name):\n        return self._values[name]\n".repeat(200);
    let paths: Vec<String> = (0..25)
        .map(|n| format!("scrapy/extensions/deep/module_{n:02}.py"))
        .collect();
    let mut documents: Vec<(&str, &str)> =
        paths.iter().map(|path| (path.as_str(), &*code)).collect();
    documents.push(("scrapy/item.py", &code));
    let fixture = Fixture::new("scrapy", &documents);
    for max_tokens in [100, 120, 150, 200, 300, 399, 400, 600, 1000, 2000, 8000] {
        let names = json!(["scrapy/item.py:1-3", "zzz", "scrapy/**/*.py"]);
        let given = json!({"documents": names, "max_tokens": max_tokens});
        let answer = fixture.answer("get_documents", given);
        let larger = crate::tools::call::budget::larger_form(&answer);
        assert!(larger <= max_tokens * 5, "{max_tokens}: {larger}");
        let document = &answer.structured["documents"][0];
        assert_eq!(document["document_id"], "scrapy/item.py");
        let is_whole = document["end_line"] == 3 && document.get("rest").is_none();
        assert!(
            is_whole || max_tokens < 200,
            "{max_tokens}: {}",
            answer.text
        );
        assert_eq!(document.get("uri").is_some(), max_tokens >= 400);
        let read = ids(&answer).len();
        let left = answer.structured.get("left_out");
        let left = left.map_or(0, |left| left.as_array().unwrap().len());
        // The document is left out as a whole, too.
        let others = 1 + 26 + 1 - read - left;
        let warning = format!("{others} more documents were left out and are not listed here");
        assert_eq!(answer.structured["warnings"], json!([warning]));
        if max_tokens >= 200 {
            assert_eq!(answer.structured["left_out"][0]["document"], "zzz");
        }
    }
}

#[test]
fn a_line_longer_than_the_budget_is_read_to_its_end() {
    let line = |n: u32| {
        format!(
            "{n} {}\n",
            "words \u{1f30a} of a \"very\" long line, ".repeat(200)
        )
    };
    let long: String = (1..=3).map(line).collect();
    let html = format!("<p>{}</p>", "The moon pulls\nthe sea. ".repeat(400));
    let fixture = Fixture::new("a", &[("long.md", &long), ("moon.html", &html)]);
    let whole = fixture.answer("get_document", json!({"doc_handle": "moon.html"}));
    let moon = whole.structured["body"].as_str().unwrap();
    for max_tokens in [100, 150, 399, 1000] {
        for (name, expected) in [
            ("long.md:1-2", &long[..line(1).len() * 2]),
            ("moon.html", moon),
        ] {
            let (mut all, mut name) = (String::new(), name.to_owned());
            for _ in 0..1000 {
                let given = json!({"documents": [name], "max_tokens": max_tokens});
                let answer = fixture.answer("get_documents", given);
                assert!(crate::tools::call::budget::larger_form(&answer) <= max_tokens * 5);
                let document = &answer.structured["documents"][0];
                all.push_str(document["content"].as_str().unwrap());
                let Some(rest) = document.get("rest") else {
                    break;
                };
                rest.as_str().unwrap().clone_into(&mut name);
            }
            assert_eq!(all, expected, "{max_tokens}");
        }
    }
    // Other tools take the name as well.
    for (tool, argument, text) in [
        ("get_document", "doc_handle", "/body"),
        ("get_document_data", "document_id", "/data/content"),
    ] {
        let mut given = json!({"max_tokens": 9000});
        given[argument] = "long.md:2-2+5000".into();
        if tool == "get_document" {
            given.as_object_mut().unwrap().remove("max_tokens");
        }
        let answer = fixture.answer(tool, given);
        let whole = serde_json::Value::Object(answer.structured);
        assert_eq!(whole.pointer(text).unwrap(), &line(2)[5000..]);
    }
}

#[test]
fn globs_may_be_addresses_and_have_lines() {
    let fixture = Fixture::of(
        &[
            (
                "one",
                &[("docs/a.md", "# A\n\nwords\n"), ("docs/b.md", "# B\n")],
            ),
            ("two", &[("docs/c.md", "# C\n")]),
        ],
        false,
    );
    let names = |glob: &str| {
        let answer = fixture.answer("get_documents", json!({"documents": [glob]}));
        let read = answer.structured["documents"].as_array().unwrap();
        let named = |one: &Value| {
            let (id, last) = (one["document_id"].as_str().unwrap(), &one["end_line"]);
            format!("{}/{id} {last}", one["index_name"].as_str().unwrap())
        };
        let read: Vec<String> = read.iter().map(named).collect();
        (read.join(", "), answer)
    };
    assert_eq!(
        names("kb://one/doc/docs/*.md").0,
        "one/docs/a.md 3, one/docs/b.md 1"
    );
    assert_eq!(names("kb://two/docs/*.md").0, "two/docs/c.md 1");
    assert_eq!(names("kb://one/lines/1-1/docs/a*").0, "one/docs/a.md 1");
    assert_eq!(
        names("docs/*.md:1").0,
        "one/docs/a.md 1, one/docs/b.md 1, two/docs/c.md 1"
    );
    let (read, answer) = names("docs/{a,b}.md#L3");
    assert_eq!(read, "one/docs/a.md 3");
    let left = &answer.structured["left_out"];
    assert_eq!(left[0]["document"], "docs/b.md:3-3");
    for none in ["kb://one/doc/*.rs", "docs/*.rs:1-3", "kb://one/docs/c*"] {
        let (read, answer) = names(none);
        assert_eq!(read, "");
        let left = &answer.structured["left_out"][0];
        assert_eq!(left["document"], none);
        assert!(left["reason"].as_str().unwrap().starts_with("NO_MATCH"));
    }
}
