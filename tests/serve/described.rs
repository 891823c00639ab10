//! The description of the API: it is what the server does.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{Site, read, text};
use crate::support::Folder;

/// What is wrong with an answer by its schema: fields that lack, that are not described, or of another kind.
fn wrong(value: &Value, schema: &Value, document: &Value, at: &str, found: &mut Vec<String>) {
    if let Some(target) = schema["$ref"].as_str() {
        let target = document.pointer(target.trim_start_matches('#')).unwrap();
        return wrong(value, target, document, at, found);
    }
    let is = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let allowed = match &schema["type"] {
        Value::Null => return,
        Value::Array(kinds) => kinds.iter().any(|kind| kind == is),
        kind => kind == is,
    };
    if !allowed {
        found.push(format!("{at} is {is}, not {}", schema["type"]));
    }
    if let Value::Array(items) = value {
        for item in items {
            wrong(item, &schema["items"], document, at, found);
        }
    }
    let (Value::Object(object), Value::Object(properties)) = (value, &schema["properties"]) else {
        return;
    };
    for name in schema["required"].as_array().unwrap() {
        if !object.contains_key(name.as_str().unwrap()) {
            found.push(format!("{at} lacks {name}"));
        }
    }
    for (name, value) in object {
        match properties.get(name) {
            Some(schema) => wrong(value, schema, document, &format!("{at}.{name}"), found),
            None => found.push(format!("{at}.{name} is not described")),
        }
    }
}

#[test]
fn every_answer_has_the_fields_that_are_described() {
    let folder = Folder::indexed();
    let site = Site::start(&folder, &["harbour.kb", "--allow-write"]);
    let (status, document) = site.json("/api/v1/openapi.json");
    assert_eq!((status, &document["openapi"]), (200, &json!("3.1.0")));
    let guide = "harbour/docs/guide.md";
    let get = [
        (
            "search",
            "/api/v1/search?q=wick+%22lamp%22&explain=1&facet=class&lines=3&k=20".to_owned(),
        ),
        ("search", "/api/v1/search?q=zzqqx&mode=keyword".to_owned()),
        (
            "regex",
            "/api/v1/regex?pattern=lamp&ignore_case=1".to_owned(),
        ),
        (
            "regex",
            "/api/v1/regex?pattern=lamp&output=counts".to_owned(),
        ),
        (
            "regex",
            "/api/v1/regex?pattern=lamp&output=documents".to_owned(),
        ),
        ("symbols", "/api/v1/symbols".to_owned()),
        ("find", "/api/v1/find?q=guide".to_owned()),
        ("status", "/api/v1/status".to_owned()),
        ("about", "/api/v1/about/harbour".to_owned()),
        ("documents", "/api/v1/documents/harbour".to_owned()),
        (
            "documents",
            "/api/v1/documents/harbour?recursive=1".to_owned(),
        ),
        ("document", format!("/api/v1/document/{guide}")),
        ("text", format!("/api/v1/text/{guide}")),
        ("outline", format!("/api/v1/outline/{guide}")),
        ("pages", format!("/api/v1/pages/{guide}")),
        ("openapi", "/api/v1/openapi.json".to_owned()),
    ];
    let post = [
        (
            "searchByBody",
            "/api/v1/search".to_owned(),
            json!({"q": "wick", "type": ["markdown"]}),
        ),
        (
            "searchDocs",
            "/api/search/docs".to_owned(),
            json!({"query": "lamp", "projectId": "harbour"}),
        ),
        (
            "uploadDocument",
            "/api/projects/harbour/documents".to_owned(),
            json!({"fileName": "a.md", "content": "x", "mimeType": "text/markdown"}),
        ),
        (
            "searchHandles",
            "/mcp/search".to_owned(),
            json!({"query": "guide"}),
        ),
    ];
    let mut operations: BTreeMap<String, Value> = BTreeMap::new();
    for path in document["paths"].as_object().unwrap().values() {
        for operation in path.as_object().unwrap().values() {
            let id = operation["operationId"].as_str().unwrap();
            operations.insert(id.to_owned(), operation.clone());
        }
    }
    let mut seen: BTreeSet<&str> = ["sheet", "slides"].into();
    let mut check = |id: &'static str, status: u16, answer: &Value| {
        seen.insert(id);
        let content = &operations[id]["responses"][status.to_string()]["content"];
        let schema = &content["application/json"]["schema"];
        assert!(schema.is_object(), "{id}: {status} {answer}");
        let mut found = Vec::new();
        wrong(answer, schema, &document, id, &mut found);
        assert!(found.is_empty(), "{found:#?}");
    };
    for (id, path) in &get {
        let (status, answer) = site.json(path);
        check(id, status, &answer);
    }
    for (id, path, body) in &post {
        let (status, answer) = site.post(path, body);
        check(id, status, &answer);
    }
    let (_, handles) = site.post("/mcp/search", &json!({"query": "guide"}));
    let body = json!({"doc_handle": handles[0]["doc_handle"]});
    let (status, answer) = site.post("/mcp/get_document", &body);
    check("getDocument", status, &answer);
    let written = "/api/v1/document/harbour/new/b.md";
    let (status, answer) = read(&site.send("PUT", written, &[], b"# B"));
    check("putDocument", status, &answer);
    let tags = json!({"add": ["sea"]}).to_string();
    let (status, answer) =
        read(&site.send("PUT", "/api/v1/tags/harbour/new/b.md", &[], tags.as_bytes()));
    check("tag", status, &answer);
    let (kind, form) = super::writing::form(&[
        ("file", Some("c.md"), "# C"),
        ("file", Some("d.pdf"), "%PDF-1.7\n%\u{e9}"),
    ]);
    let headers = [("content-type", &*kind)];
    let (status, answer) = read(&site.send("POST", "/api/v1/upload/harbour", &headers, &form));
    check("upload", status, &answer);
    let (status, answer) = read(&site.send("DELETE", written, &[], b""));
    check("removeDocument", status, &answer);
    let writer = folder
        .kb("token create writer --write --tokens tokens.json")
        .expect(0)
        .stdout;
    let bearer = format!("Bearer {}", writer.trim());
    let closed = Site::start(&folder, &["harbour.kb", "--tokens", "tokens.json"]);
    for (id, method, path, body) in [
        (
            "createToken",
            "POST",
            "/api/v1/tokens",
            r#"{"name": "phone"}"#,
        ),
        ("tokens", "GET", "/api/v1/tokens", ""),
        ("revokeToken", "DELETE", "/api/v1/tokens/phone", ""),
    ] {
        let headers = [
            ("authorization", &*bearer),
            ("content-type", "application/json"),
        ];
        let (status, answer) = read(&closed.send(method, path, &headers, body.as_bytes()));
        check(id, status, &answer);
    }
    let described: BTreeSet<&str> = operations.keys().map(String::as_str).collect();
    assert_eq!(described, seen, "an operation is not tested here");
    let (status, problem) = site.json("/api/v1/text/harbour/none.md");
    let mut found = Vec::new();
    let schema = &document["components"]["schemas"]["Problem"];
    wrong(&problem, schema, &document, "problem", &mut found);
    assert!(status == 404 && found.is_empty(), "{found:?}");
}

#[test]
fn tables_and_slides_are_read_by_programs() {
    let folder = Folder::empty();
    folder.write("ports.csv", "port,height\nBrest,6.1\nDover,5.9\n");
    folder.kb("index . -o ports.kb").expect(0);
    let site = Site::start(&folder, &["ports.kb"]);
    let (status, rows) = site.json("/api/v1/sheet/ports/ports.csv?cells=A2:B3");
    assert_eq!(status, 200, "{rows}");
    let (_, document) = site.json("/api/v1/openapi.json");
    let mut found = Vec::new();
    let schema = &document["components"]["schemas"]["Rows"];
    wrong(&rows, schema, &document, "rows", &mut found);
    assert!(found.is_empty(), "{found:#?}");
    let shown: Vec<&Value> = rows["rows"].as_array().unwrap().iter().collect();
    assert!(
        shown.iter().any(|row| row["cells"]["A"] == "Dover"),
        "{rows}"
    );
    let (status, problem) = site.json("/api/v1/slides/ports/ports.csv");
    assert_eq!(status, 400, "{problem}");
}

#[test]
fn a_page_is_to_be_had_as_json() {
    let folder = Folder::indexed();
    let site = Site::start(&folder, &["harbour.kb"]);
    for (page, other) in [
        ("/?q=wick&k=2", "/api/v1/search?q=wick&k=2"),
        (
            "/d/harbour/docs/guide.md?lines=1-2",
            "/api/v1/document/harbour/docs/guide.md",
        ),
        ("/b/harbour/", "/api/v1/documents/harbour"),
        ("/b/harbour/docs", "/api/v1/documents/harbour?folder=docs"),
        ("/about/harbour", "/api/v1/about/harbour"),
        ("/find?q=guide", "/api/v1/find?q=guide"),
        ("/api", "/api/v1/openapi.json"),
    ] {
        let with = if page.contains('?') { '&' } else { '?' };
        let (status, answer) = site.json(&format!("{page}{with}format=json"));
        assert_eq!((status, answer), (200, site.json(other).1), "{page}");
    }
    assert_eq!(site.json("/?q=wick&from=10&format=json").0, 400);
    assert!(text(&site.page("/b/harbour/?format=xml")).starts_with("<!DOCTYPE html>"));
}

#[test]
fn the_operations_are_shown() {
    let folder = Folder::indexed();
    let site = Site::start(&folder, &["harbour.kb", "--base-path", "/kb"]);
    let page = text(&site.page("/kb/api"));
    let (_, document) = site.json("/kb/api/v1/openapi.json");
    assert_eq!(document["servers"][0]["url"], "/kb");
    for path in document["paths"].as_object().unwrap().keys() {
        assert!(page.contains(&format!("/kb{path}<")), "{path}");
    }
}
