use proptest::prelude::*;
use serde_json::json;

use super::*;

fn read(tool: &str, given: Value) -> Result<Arguments, ToolError> {
    let Value::Object(given) = given else {
        panic!("{given}");
    };
    read_object(tool, given)
}

fn read_object(tool: &str, given: Object) -> Result<Arguments, ToolError> {
    Arguments::read(crate::tools::find(tool).unwrap().signature(), given)
}

fn refusal(tool: &str, given: Value) -> String {
    read(tool, given).unwrap_err().text()
}

#[test]
fn strings_stand_for_numbers_and_booleans() {
    let given = json!({"query": "a", "top_k": "5", "min_score": " 0.5 "});
    let arguments = read("search_docs", given).unwrap();
    assert_eq!(arguments.values["top_k"], 5);
    assert_eq!(arguments.values["min_score"], 0.5);
    let arguments = read("list_documents", json!({"recursive": "true"})).unwrap();
    assert_eq!(arguments.values["recursive"], true);
    let arguments = read("search", json!({"query": "a", "limit": 7.0})).unwrap();
    assert_eq!(arguments.values["limit"], 7);
    let text = refusal("list_documents", json!({"recursive": "yes"}));
    assert_eq!(
        text,
        "INVALID_ARGUMENT: recursive: \"yes\" given; true or false is expected."
    );
    let text = refusal("search", json!({"query": "a", "limit": "ten"}));
    assert_eq!(
        text,
        "INVALID_ARGUMENT: limit: \"ten\" given; an integer from 1 to 50 is expected."
    );
    assert!(refusal("search", json!({"query": "a", "limit": 1.5})).contains("an integer"));
    let arguments = read("get_pages", json!({"document_id": 1, "page_range": 3})).unwrap();
    assert_eq!(arguments.values["page_range"], "3");
    let arguments = read("get_documents", json!({"documents": [7, "a"]})).unwrap();
    assert_eq!(arguments.values["documents"], json!(["7", "a"]));
}

#[test]
fn a_wrong_type_names_what_is_expected() {
    for (tool, given, text) in [
        (
            "search",
            json!({"query": {"a": 1}}),
            "query: an object given; a text is expected",
        ),
        (
            "search",
            json!({"query": "a", "filters": "docs"}),
            "filters: \"docs\" given; an object is expected",
        ),
        (
            "search_docs",
            json!({"query": "a", "min_score": "high"}),
            "min_score: \"high\" given; a number from 0 to 1 is expected",
        ),
        (
            "get_documents",
            json!({"documents": {"a": 1}}),
            "documents: an object given; a list of texts is expected",
        ),
        (
            "get_documents",
            json!({"documents": ["a", true]}),
            "documents: true in the list; only texts are allowed",
        ),
        (
            "get_document_data",
            json!({"document_id": "a", "start_line": "x"}),
            "start_line: \"x\" given; an integer of 1 or more is expected",
        ),
    ] {
        let expected = format!("INVALID_ARGUMENT: {text}.");
        assert_eq!(refusal(tool, given), expected);
    }
}

#[test]
fn lines_have_a_least_and_a_most() {
    let lines = |first: i64, last: i64| {
        let given = json!({"document_id": "a", "start_line": first, "end_line": last});
        read("get_document_data", given)
    };
    for first in [0, -1] {
        let text = lines(first, 9).unwrap_err().text();
        let expected =
            format!("INVALID_ARGUMENT: start_line: {first} given; it must be 1 or more.");
        assert_eq!(text, expected);
    }
    let text = lines(2, 9_999_999_999).unwrap_err().text();
    assert!(
        text.contains("end_line: 9999999999 given; at most 4294967295"),
        "{text}"
    );
}

#[test]
fn null_is_omitted() {
    let given =
        json!({"query": "a", "limit": null, "index_name": null, "filters": {"folder": null}});
    let arguments = read("search", given).unwrap();
    assert_eq!(Value::Object(arguments.values), json!({"query": "a"}));
    let text = refusal("search", json!({"query": null}));
    assert_eq!(text, "INVALID_ARGUMENT: query: it is required.");
}

#[test]
fn an_empty_continuation_token_begins() {
    let given = json!({"query": "a", "continuation_token": ""});
    let arguments = read("search", given).unwrap();
    assert_eq!(Value::Object(arguments.values), json!({"query": "a"}));
}

#[test]
fn fields_of_an_object_are_nested_again() {
    let given = json!({"query": "a", "folder": "x", "filters": {"tag": "t"}});
    let (params, _) = read("search", given).unwrap().params::<Value>().unwrap();
    assert_eq!(
        params,
        json!({"query": "a", "filters": {"folder": "x", "tag": "t"}})
    );
}

#[test]
fn out_of_range_names_the_range() {
    for (given, text) in [
        (
            json!({"query": "a", "limit": 51}),
            "limit: 51 given; allowed are 1 to 50",
        ),
        (
            json!({"query": "a", "limit": "0"}),
            "limit: 0 given; allowed are 1 to 50",
        ),
        (
            json!({"query": "a", "mode": "fuzzy"}),
            "mode: \"fuzzy\" given; allowed are hybrid, semantic, keyword, regex, title",
        ),
    ] {
        assert_eq!(
            refusal("search", given),
            format!("INVALID_ARGUMENT: {text}.")
        );
    }
    let text = refusal("search_docs", json!({"query": "a", "minScore": 1.5}));
    assert_eq!(
        text,
        "INVALID_ARGUMENT: min_score: 1.5 given; allowed are 0 to 1."
    );
}

#[test]
fn the_name_of_an_index_has_a_longest_length() {
    let name = "\u{1f600}".repeat(crate::options::NAME_LIMIT);
    read("index_stats", json!({"index_name": name})).unwrap();
    let text = refusal("index_stats", json!({"index_name": format!("{name}x")}));
    let expected = "INVALID_ARGUMENT: index_name: 65 characters given; at most 64 are allowed.";
    assert_eq!(text, expected);
}

#[test]
fn max_tokens_is_clamped() {
    for (given, expected) in [
        (json!(0), 1),
        (json!(-5), 1),
        (json!(1e9), 20_000),
        (json!("300"), 300),
    ] {
        let arguments = read("search", json!({"query": "a", "max_tokens": given})).unwrap();
        assert_eq!(arguments.values["max_tokens"], expected);
    }
    assert!(refusal("search", json!({"query": "a", "max_tokens": "many"})).contains("an integer"));
}

#[test]
fn unknown_arguments_warn_on_reads_and_stop_writes() {
    let given = json!({"query": "a", "colour": 1, "filters": {"shape": "round"}});
    let warnings = read("search", given).unwrap().read.warnings;
    assert!(
        warnings[0].starts_with("colour, filters.shape ignored: search takes "),
        "{warnings:?}"
    );
    assert!(
        warnings[0]
            .ends_with("; filters takes field, fileType, folder, links_to, path, tag, where"),
        "{warnings:?}"
    );
    let given = json!({"query": "a", "filters": {"shape": "round", "size": 1}});
    let warnings = read("search", given).unwrap().read.warnings;
    let expected =
        "filters.shape, filters.size ignored: filters takes field, fileType, folder, links_to, path, tag, where".to_owned();
    assert_eq!(warnings, [expected]);
    let given = json!({"query": "a", "query.x": 1});
    let warnings = read("search", given).unwrap().read.warnings;
    assert!(
        warnings[0].starts_with("query.x ignored: search takes "),
        "{warnings:?}"
    );
    let given = json!({"index_name": "a", "colour": 1});
    let text = refusal("clear_index", given);
    let expected = "INVALID_ARGUMENT: colour: no such argument. clear_index takes index_name.";
    assert_eq!(text, expected);
    let warnings = read("list_indexes", json!({"x": 1})).unwrap().read.warnings;
    assert_eq!(
        warnings,
        ["x ignored: list_indexes takes continuation_token, max_tokens"]
    );
}

#[test]
fn many_unknown_arguments_make_one_short_warning() {
    let many = (0..30).map(|n| (format!("{n}{}", "x".repeat(500)), json!(1)));
    let mut given: Object = many.collect();
    let error = read_object("clear_index", given.clone()).unwrap_err();
    assert!(error.text().len() < 1000, "{}", error.text());
    assert!(Value::Object(error.facts).to_string().len() < 1000);
    given.insert("query".to_owned(), "a".into());
    let warnings = read_object("search", given).unwrap().read.warnings;
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].len() < 1200, "{warnings:?}");
    assert!(
        warnings[0].contains(" and 20 more ignored: "),
        "{warnings:?}"
    );
}

#[test]
fn aliases_are_accepted() {
    let given = json!({"query": "a", "folder": "x", "file_type": "md", "project": "p"});
    let arguments = read("search", given).unwrap();
    assert_eq!(arguments.values["filters.folder"], "x");
    assert_eq!(arguments.values["filters.fileType"], "md");
    assert_eq!(arguments.values["index_name"], "p");
    let filters = json!({"type": "py", "tags": ["draft"], "path": "src"});
    let arguments = read("search", json!({"query": "a", "filters": filters})).unwrap();
    assert_eq!(arguments.read.warnings, Vec::<String>::new());
    assert_eq!(arguments.values["filters.fileType"], "py");
    assert_eq!(arguments.values["filters.tag"], "draft");
    assert_eq!(arguments.values["filters.path"], "src");
    let filters = json!({"path": ["src/**", "!src/tests/**"]});
    let arguments = read("search", json!({"query": "a", "filters": filters})).unwrap();
    assert_eq!(arguments.values["filters.path"], "src/**,!src/tests/**");
    let both = json!({"query": "a", "filters": {"type": "py", "fileType": "md"}});
    let arguments = read("search", both).unwrap();
    assert_eq!(arguments.values["filters.fileType"], "md");
    let two = json!({"query": "a", "filters": {"tags": ["a", "b"]}});
    assert!(refusal("search", two).contains("filters.tag: a list given; a text"));
    let arguments = read("search_docs", json!({"query": "a", "topK": 3})).unwrap();
    assert_eq!(arguments.values["top_k"], 3);
    let both = json!({"query": "a", "topK": 3, "top_k": 4});
    assert_eq!(read("search_docs", both).unwrap().values["top_k"], 4);
    let spelled = &arguments.read.spelled;
    assert!(spelled.contains("topK") && !spelled.contains("top_k"));
    let arguments = read(
        "search_code",
        json!({"query": "a", "language": ["rs", "py"]}),
    )
    .unwrap();
    assert_eq!(arguments.values["language"], "rs,py");
    let given = json!({"file_name": "a", "content": "b", "tags": "t"});
    let arguments = read("upload_document", given).unwrap();
    assert_eq!(arguments.values["tags"], json!(["t"]));
}

/// A continuation of `search` with these arguments, as anybody may forge it.
fn token(arguments: Value) -> String {
    let Value::Object(arguments) = arguments else {
        panic!("{arguments}");
    };
    super::cursor::tests::token("search", arguments)
}

#[test]
fn a_token_fills_in_omitted_arguments() {
    let token = token(json!({"limit": 3, "filters.folder": "x"}));
    let given = json!({"query": "a", "limit": 4, "continuation_token": token});
    let arguments = read("search", given).unwrap();
    assert_eq!(arguments.values["limit"], 4);
    assert_eq!(arguments.values["filters.folder"], "x");
    // S3-67: what is required may be in it, too.
    let token = self::token(json!({"query": "tide"}));
    let arguments = read("search", json!({"continuation_token": token})).unwrap();
    assert_eq!(arguments.values["query"], "tide");
}

#[test]
fn a_forged_token_is_checked_like_arguments() {
    for forged in [
        json!({"limit": 51}),
        json!({"nothing": 1}),
        json!({"continuation_token": "x"}),
    ] {
        let given = json!({"query": "a", "continuation_token": token(forged)});
        let text = refusal("search", given);
        assert!(text.starts_with("INVALID_CONTINUATION_TOKEN: "), "{text}");
    }
}

proptest! {
    #[test]
    fn any_value_is_accepted_or_refused(
        name in "(query|limit|mode|filters|max_tokens|tags|continuation_token|[a-z]{1,5})",
        text in "\\PC{0,20}",
        number in any::<f64>(),
        integer in any::<i64>(),
    ) {
        for value in [json!(text), json!(number), json!(integer), json!([text]), json!({"folder": integer})] {
            for tool in ["search", "upload_document", "get_pages"] {
                let mut given = Object::new();
                given.insert("query".to_owned(), "a".into());
                given.insert(name.clone(), value.clone());
                if let Err(error) = read_object(tool, given) {
                    prop_assert!(error.code.starts_with("INVALID_"), "{:?}", error);
                }
            }
        }
    }
}

/// One name a thing, in every tool.
#[test]
fn common_names_are_taken_by_every_tool() {
    let read = |tool: &str, given: Value| {
        let signature = crate::tools::find(tool).unwrap().signature();
        let read = Arguments::read(signature, crate::response::object(given)).unwrap();
        assert!(read.read.warnings.is_empty(), "{:?}", read.read.warnings);
        Value::Object(read.values)
    };
    for tool in [
        "get_document_data",
        "get_document_outline",
        "get_pages",
        "get_slides",
    ] {
        for name in [
            "path",
            "file_path",
            "doc_handle",
            "documentId",
            "document",
            "uri",
        ] {
            let expected = json!({"document_id": "a.md"});
            assert_eq!(read(tool, json!({name: "a.md"})), expected, "{tool} {name}");
        }
    }
    for (tool, given, expected) in [
        (
            "get_document",
            json!({"path": "a.md"}),
            json!({"doc_handle": "a.md"}),
        ),
        (
            "get_document",
            json!({"path": "a.md", "start_line": 3, "endLine": "9"}),
            json!({"doc_handle": "a.md:3-9"}),
        ),
        (
            "get_pages",
            json!({"document_id": "a.pdf", "start_line": 3}),
            json!({"document_id": "a.pdf:3-"}),
        ),
        (
            "get_document_data",
            json!({"path": "a.md", "startLine": 3}),
            json!({"document_id": "a.md", "start_line": 3}),
        ),
        (
            "search_docs",
            json!({"query": "a", "path": "docs", "max_results": 3}),
            json!({"query": "a", "path": "docs", "top_k": 3}),
        ),
        (
            "search",
            json!({"query": "a", "path": "docs", "top_k": 3}),
            json!({"query": "a", "filters.path": "docs", "limit": 3}),
        ),
        (
            "search_code",
            json!({"query": "a", "topK": 3, "kind": "class", "maxTokens": 500}),
            json!({"query": "a", "limit": 3, "symbol_type": "class", "max_tokens": 500}),
        ),
        (
            "search_regex",
            json!({"pattern": "a", "file": "a.md", "ignoreCase": true}),
            json!({"pattern": "a", "document_id": "a.md", "ignore_case": true}),
        ),
        (
            "find_symbols",
            json!({"name": "a", "top_k": 3, "lang": "rust", "project": "p"}),
            json!({"name": "a", "limit": 3, "language": "rust", "index_name": "p"}),
        ),
        (
            "upload_document",
            json!({"path": "a.md", "content": "a"}),
            json!({"fileName": "a.md", "content": "a"}),
        ),
        (
            "index_codebase",
            json!({"folder": "/a"}),
            json!({"path": "/a"}),
        ),
    ] {
        assert_eq!(read(tool, given), expected, "{tool}");
    }
}

/// Models and hosts send lists and objects as JSON in a text.
#[test]
fn lists_and_objects_may_come_as_json_text() {
    let read = |tool: &str, given: Value| {
        let signature = crate::tools::find(tool).unwrap().signature();
        Arguments::read(signature, crate::response::object(given))
            .map(|read| Value::Object(read.values))
    };
    for (tool, given, expected) in [
        (
            "search",
            json!({"query": "a", "filters": "{\"folder\": \"docs\", \"tag\": null}"}),
            json!({"query": "a", "filters.folder": "docs"}),
        ),
        (
            "get_documents",
            json!({"documents": "[\"a.md\", \"b.md\"]"}),
            json!({"documents": ["a.md", "b.md"]}),
        ),
        (
            "get_documents",
            json!({"documents": "[a].md"}),
            json!({"documents": ["[a].md"]}),
        ),
        (
            "search_code",
            json!({"query": "[\"a\"]", "language": "[\"rust\", \"go\"]"}),
            json!({"query": "[\"a\"]", "language": "rust,go"}),
        ),
        (
            "upload_document",
            json!({"fileName": "a", "content": "[1]", "tags": " [\"x\"] "}),
            json!({"fileName": "a", "content": "[1]", "tags": ["x"]}),
        ),
    ] {
        assert_eq!(read(tool, given).unwrap(), expected, "{tool}");
    }
    for wrong in ["{", "[]", "docs"] {
        let error = read("search", json!({"query": "a", "filters": wrong})).unwrap_err();
        assert!(
            error.text().contains("an object is expected"),
            "{}",
            error.text()
        );
    }
}
