use kb_engine::document_of;
use serde_json::json;

use crate::tools::testing::Fixture;

#[test]
fn an_empty_file_is_an_empty_text() {
    let fixture = Fixture::new("empty", &[("empty.txt", "")]);
    let answer = fixture.answer("get_document_data", json!({"document_id": "empty.txt"}));
    let expected = json!({
        "data": {"content": "", "total_lines": 0, "token_count": 0},
        "status": {"code": "success", "message": "SUCCESS"},
        "continuation": {"has_more": false},
    });
    assert_eq!(serde_json::Value::Object(answer.structured), expected);
    let given = json!({"document_id": "empty.txt", "format": "chunks"});
    assert_eq!(
        fixture.answer("get_document_data", given).structured["data"]["chunks"],
        json!([])
    );
}

#[test]
fn chunks_have_ids_and_lines() {
    let fixture = Fixture::guides();
    let given = json!({"document_id": "guides/sails.md", "format": "chunks"});
    let answer = fixture.answer("get_document_data", given);
    let chunk = &answer.structured["data"]["chunks"][0];
    assert_eq!(chunk["chunk_id"], "guides/sails.md#0");
    assert_eq!(chunk["metadata"]["start_line"], 1);
    let text = long();
    let fixture = Fixture::new("long", &[("long.md", &text)]);
    let sections = |section: &str| {
        let given = json!({"document_id": "long.md", "format": "chunks", "section": section,
            "max_tokens": 20000});
        let answer = fixture.answer("get_document_data", given);
        let chunks = answer.structured["data"]["chunks"]
            .as_array()
            .unwrap()
            .clone();
        let texts = chunks
            .iter()
            .map(|one| one["content"].as_str().unwrap().to_owned());
        texts.collect::<String>()
    };
    let second = sections("2");
    assert!(
        second.contains("# Part 2\n")
            && !second.contains("# Part 3\n")
            && !second.contains("# Part 1\n")
    );
    let given = json!({"document_id": "long.md", "section": "9"});
    let error = fixture.error("get_document_data", given);
    assert_eq!(error.code, "SECTION_NOT_FOUND");
}

#[test]
fn lines_are_read_by_arguments_or_behind_the_name() {
    let text: String = (1..=300).map(|n| format!("line {n} of many\n")).collect();
    let fixture = Fixture::new("long", &[("a/long.txt", &text), ("b/odd.md:2-3", "odd\n")]);
    let read = |given: serde_json::Value| fixture.answer("get_document_data", given);
    let by_arguments = read(json!({"document_id": "long.txt", "start_line": 9, "end_line": 11}));
    let data = &by_arguments.structured["data"];
    assert_eq!(
        data["content"],
        "line 9 of many\nline 10 of many\nline 11 of many\n"
    );
    assert_eq!(
        json!([data["start_line"], data["end_line"], data["total_lines"]]),
        json!([9, 11, 300])
    );
    let shown = "\n 9  line 9 of many\n10  line 10 of many\n11  line 11 of many\n";
    assert!(by_arguments.text.contains(shown), "{}", by_arguments.text);
    for name in [
        "long.txt:9-11",
        "a/long.txt#L9-L11",
        "kb://long/lines/9-11/a/long.txt",
    ] {
        assert_eq!(read(json!({"document_id": name})), by_arguments, "{name}");
    }
    let content = |given| read(given).structured["data"]["content"].clone();
    assert_eq!(
        content(json!({"document_id": "long.txt:9-11", "start_line": 300})),
        "line 300 of many\n"
    );
    assert_eq!(
        content(json!({"document_id": "long.txt", "start_line": 299, "end_line": 900})),
        "line 299 of many\nline 300 of many\n"
    );
    assert_eq!(
        content(json!({"document_id": "long.txt", "end_line": 1})),
        "line 1 of many\n"
    );
    assert_eq!(content(json!({"document_id": "b/odd.md:2-3"})), "odd\n");
    let given = json!({"document_id": "long.txt:3", "format": "chunks"});
    assert_eq!(
        read(given).structured["data"]["chunks"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    for (given, code) in [
        (json!({"start_line": 301}), "INVALID_RANGE"),
        (json!({"start_line": 5, "end_line": 4}), "INVALID_RANGE"),
        (json!({"start_line": 0}), "INVALID_ARGUMENT"),
        (json!({"start_line": 1, "section": "1"}), "INVALID_ARGUMENT"),
    ] {
        let mut given = given.clone();
        given["document_id"] = "long.txt".into();
        assert_eq!(
            fixture.error("get_document_data", given.clone()).code,
            code,
            "{given}"
        );
    }
}

#[test]
fn lines_are_continued_to_their_end_and_no_further() {
    let text: String = (1..=900).map(|n| format!("line {n} of many\n")).collect();
    let fixture = Fixture::new("long", &[("long.txt", &text)]);
    let mut given = json!({"document_id": "long.txt", "start_line": 100, "end_line": 800,
        "max_tokens": 700});
    let mut all = String::new();
    loop {
        let answer = fixture.answer("get_document_data", given);
        let data = &answer.structured["data"];
        let next = all.lines().count() + 100;
        assert_eq!(data["start_line"], next);
        all.push_str(data["content"].as_str().unwrap());
        let Some(token) = answer.structured["continuation"].get("token") else {
            break;
        };
        given = json!({"document_id": "long.txt", "continuation_token": token});
    }
    let expected: String = (100..=800).map(|n| format!("line {n} of many\n")).collect();
    assert_eq!(all, expected);
}

#[test]
fn a_section_is_named_as_results_name_it() {
    let text = "# A\n\n## Use\n\none\n\n# B\n\n## Use\n\ntwo\n";
    let fixture = Fixture::new("a", &[("a.md", text)]);
    let content = |section: serde_json::Value| {
        let given = json!({"document_id": "a.md", "section": section});
        let answer = fixture.answer("get_document_data", given);
        answer.structured["data"]["content"].clone()
    };
    let second = "## Use\n\ntwo\n";
    for section in [
        json!("2.1"),
        json!("B > Use"),
        json!(["B", "Use"]),
        json!("2.1 B > Use"),
        json!("b > use"),
    ] {
        assert_eq!(content(section.clone()), second, "{section}");
    }
    let given = json!({"document_id": "a.md", "section": "Use"});
    let error = fixture.error("get_document_data", given);
    assert_eq!(
        error.text(),
        "SECTION_NOT_FOUND: \"Use\" matches several sections of a.md. \
         Give its number: 1.1 A > Use, 2.1 B > Use."
    );
}

fn long() -> String {
    let line = "The mate counts every rope on the deck and writes it down. ";
    (1..=4)
        .map(|n| format!("# Part {n}\n\n{}\n\n", line.repeat(120)))
        .collect()
}

#[test]
fn metadata_comes_without_the_text() {
    let text = "---\nauthor: Ada\ndate: 2024-05-02\n---\n# Title\n\ntext\n";
    let fixture = Fixture::new("a", &[("a.md", text)]);
    let given = json!({"document_id": "a.md", "format": "metadata", "max_tokens": 1});
    let answer = fixture.answer("get_document_data", given);
    let known = &answer.structured["data"]["metadata"];
    assert_eq!(
        (&known["author"], &known["created"]),
        (&json!("Ada"), &json!("2024-05-02"))
    );
    assert_eq!(
        (&known["mime_type"], &known["chunks"]),
        (&json!("text/markdown"), &json!(1))
    );
    assert_eq!(answer.structured["status"]["message"], "SUCCESS");
}

#[test]
fn get_all_returns_the_rest_of_a_text() {
    let text = long();
    let fixture = Fixture::new("long", &[("long.md", &text)]);
    let first = fixture.answer(
        "get_document_data",
        json!({"document_id": "long.md", "max_tokens": 600}),
    );
    let actions = first.structured["actions"].as_array().unwrap();
    let all = actions
        .iter()
        .find(|action| action["id"] == "GET_ALL")
        .unwrap();
    // How long a section is, is not known.
    let given = json!({"document_id": "long.md", "section": "1", "max_tokens": 600});
    let section = fixture.answer("get_document_data", given);
    assert!(!section.text.contains("GET_ALL") && section.text.contains("CONTINUE"));
    let mut given = all["params"].clone();
    given["document_id"] = "long.md".into();
    given["continuation_token"] = first.structured["continuation"]["token"].clone();
    let second = fixture.answer("get_document_data", given);
    assert_eq!(second.structured["status"]["message"], "NO_MORE_DATA");
    let content = |answer: &crate::response::ToolResponse| {
        answer.structured["data"]["content"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(content(&first) + &content(&second), text);
}

#[test]
fn lines_are_those_of_the_document_that_is_named() {
    let own = [("a/x.md", "one\ntwo\nthree\n"), ("a/x.md:2-3", "odd\n")];
    let fixture = Fixture::new("own", &own);
    let handle = fixture.answer("get_document", json!({"doc_handle": "a/x.md"}));
    let handle = handle.structured["doc_handle"].as_str().unwrap().to_owned();
    let read = |given| {
        let answer = fixture.answer("get_document_data", given);
        answer.structured["data"]["content"].clone()
    };
    let given = json!({"document_id": "a/x.md", "start_line": 2, "end_line": 3});
    assert_eq!(read(given), "two\nthree\n");
    let name = format!("{handle}:2-3");
    assert_eq!(read(json!({"document_id": name})), "two\nthree\n");
    assert_eq!(read(json!({"document_id": "a/x.md:2-3"})), "odd\n");
    let after = json!({"document_id": format!("{handle}:2-3+4")});
    assert_eq!(read(after), "three\n");

    let whole = fixture.answer("get_document", json!({"doc_handle": name}));
    assert_eq!(whole.structured["body"], "two\nthree\n");
    let given = json!({"documents": [name, "a/x.md:2-3", "a/*.md"]});
    let several = fixture.answer("get_documents", given);
    let several = several.structured["documents"].as_array().unwrap();
    let texts: Vec<&str> = several
        .iter()
        .filter_map(|one| one["content"].as_str())
        .collect();
    assert_eq!(texts, ["two\nthree\n", "odd\n", "one\ntwo\nthree\n"]);
}

#[test]
fn wrong_lines_are_refused_with_what_is_right() {
    let text = "line\n".repeat(40);
    let fixture = Fixture::new("own", &[("dup.md", text.as_str()), ("one.md", "a\n")]);
    for (document, start, end, sentence) in [
        (
            "dup.md",
            json!(9),
            json!(3),
            "lines 9-3 of \"dup.md\": the range ends before it begins; did you mean 3-9?",
        ),
        (
            "dup.md",
            json!(0),
            json!(3),
            "start_line: 0 given; it must be 1 or more",
        ),
        (
            "dup.md",
            json!(41),
            json!(50),
            "lines 41-50 of \"dup.md\": the document has 40 lines",
        ),
        (
            "one.md",
            json!(2),
            json!(3),
            "lines 2-3 of \"one.md\": the document has 1 line",
        ),
        (
            "dup.md",
            json!(-1),
            json!(3),
            "start_line: -1 given; it must be 1 or more",
        ),
        (
            "dup.md",
            json!(4_294_967_299_u64),
            json!(3),
            "start_line: 4294967299 given; at most 4294967295 is allowed",
        ),
        (
            "dup.md",
            json!("x"),
            json!(3),
            "start_line: \"x\" given; an integer of 1 or more is expected",
        ),
    ] {
        let given = json!({"document_id": document, "start_line": start, "end_line": end});
        let error = fixture.error("get_document_data", given);
        assert!(error.sentence.ends_with(sentence), "{}", error.text());
    }
    let answer = fixture.answer("get_document_data", json!({"document_id": "one.md"}));
    assert!(
        answer.text.starts_with("one.md:1-1 of 1 line\n"),
        "{}",
        answer.text
    );
}

#[test]
fn metadata_and_chunks_of_documents_with_parts_name_them() {
    let fixture = Fixture::harbour(&[]);
    let mut letter = document_of("letter.md", b"# Letter\n\nDear harbour master.\n").unwrap();
    for (key, value) in [
        ("author", "Ann"),
        ("created", "2024-01-02T03:04:05Z"),
        ("modified", "2024-02-03"),
    ] {
        letter.metadata.push((key.to_owned(), value.to_owned()));
    }
    fixture.add_documents(vec![letter]);
    let metadata = |document: &str| {
        let given = json!({"document_id": document, "format": "metadata"});
        fixture.answer("get_document_data", given).structured["data"]["metadata"].clone()
    };
    let stated = metadata("letter.md");
    assert_eq!(
        (&stated["author"], &stated["created"], &stated["modified"]),
        (
            &json!("Ann"),
            &json!("2024-01-02T03:04:05Z"),
            &json!("2024-02-03")
        )
    );
    assert_eq!(stated.get("pages"), None);
    assert_eq!(metadata("pilot-book.pdf")["pages"], 4);
    let mime = "application/vnd.openxmlformats-officedocument.presentationml.presentation";
    assert_eq!(metadata("talk.pptx")["mime_type"], mime);
    assert_eq!(
        (
            &metadata("ledger.xlsx")["sheets"],
            &metadata("talk.pptx")["slides"]
        ),
        (&json!(3), &json!(3))
    );
    let chunk = |document: &str, number: usize| {
        let given = json!({"document_id": document, "format": "chunks"});
        let answer = fixture.answer("get_document_data", given);
        answer.structured["data"]["chunks"][number]["metadata"].clone()
    };
    assert_eq!(chunk("talk.pptx", 1)["slide"], 2);
    assert_eq!(chunk("ledger.xlsx", 1)["sheet"], "Corner");
    assert_eq!(chunk("pilot-book.pdf", 2)["page"], 4);
}
