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
    let warning = format!("{more} more documents are left out, not named here");
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
        let warning = format!("{others} more documents are left out, not named here");
        assert_eq!(answer.structured["warnings"], json!([warning]));
        if max_tokens >= 200 {
            assert_eq!(answer.structured["left_out"][0]["document"], "zzz");
        }
    }
}
