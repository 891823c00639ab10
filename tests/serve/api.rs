//! The HTTP API, and the routes of the systems that it replaces.

use serde_json::json;

use super::Site;
use crate::support::Folder;

#[test]
fn a_program_searches_and_reads() {
    let folder = Folder::indexed();
    let site = Site::start(&folder, &["harbour.kb"]);
    let (status, found) = site.json("/api/v1/search?q=trim+the+wick&k=2");
    assert_eq!(status, 200);
    let hits = found["hits"].as_array().unwrap();
    assert!(!hits.is_empty() && hits.len() <= 2, "{found}");
    assert!(
        found["paging"].is_object() && found["summary"].is_object(),
        "{found}"
    );
    let (_, counted) =
        site.json("/api/v1/search?q=wick&sort=-size&facet=class&group_by=type&where=size+%3E+1");
    assert_eq!(counted["facets"][0]["field"], "class", "{counted}");
    let body = json!({"q": "trim the wick", "k": 2});
    assert_eq!(
        site.post("/api/v1/search", &body),
        (200, found.clone()),
        "both forms are one search"
    );
    let document = hits[0]["document"].as_str().unwrap();
    let (status, text) = site.json(&format!("/api/v1/text/harbour/{document}?lines=1-2"));
    assert_eq!((status, &text["document"]), (200, &json!(document)));
    let (status, metadata) = site.json(&format!("/api/v1/document/harbour/{document}"));
    assert_eq!((status, &metadata["document"]), (200, &json!(document)));
    let (status, outline) = site.json(&format!("/api/v1/outline/harbour/{document}"));
    assert!(status == 200 && outline["sections"].is_array(), "{outline}");
    let (_, status) = site.json("/api/v1/status");
    assert_eq!(status["files"][0]["file"], "harbour");
    let (_, all) = site.json("/api/v1/documents/harbour?recursive=1");
    assert_eq!(
        all["entries"].as_array().unwrap().len() as u64,
        status["files"][0]["documents"].as_u64().unwrap()
    );
    let (_, symbols) = site.json("/api/v1/symbols?kind=function");
    assert!(
        !symbols["symbols"].as_array().unwrap().is_empty(),
        "{symbols}"
    );
}

#[test]
fn a_wrong_request_is_a_problem_that_says_what_is_wrong() {
    let folder = Folder::indexed();
    let site = Site::start(&folder, &["harbour.kb"]);
    for (path, status, code) in [
        ("/api/v1/search", 400, "INVALID_ARGUMENT"),
        ("/api/v1/search?q=x&k=0", 400, "INVALID_ARGUMENT"),
        ("/api/v1/search?q=x&k=many", 400, "INVALID_ARGUMENT"),
        ("/api/v1/search?q=x&file=other", 404, "NOT_FOUND"),
        (
            "/api/v1/search?q=x&cursor=nonsense",
            400,
            "INVALID_CONTINUATION_TOKEN",
        ),
        ("/api/v1/text/harbour/none.md", 404, "DOCUMENT_NOT_FOUND"),
        ("/api/v1/search?q=x&class=nonsense", 400, "INVALID_ARGUMENT"),
        ("/api/v1/search?q=x&mode=nonsense", 400, "INVALID_ARGUMENT"),
        (
            "/api/v1/search?q=x&since=yesterday",
            400,
            "INVALID_ARGUMENT",
        ),
        ("/api/v1/search?q=x&filter=y", 400, "INVALID_ARGUMENT"),
        ("/api/v1/search?q=x&min_score=high", 400, "INVALID_ARGUMENT"),
        ("/api/v1/search?q=x&sort=szie", 400, "INVALID_ARGUMENT"),
        (
            "/api/v1/search?q=x&where=szie+%3E+1",
            400,
            "INVALID_ARGUMENT",
        ),
        ("/api/v1/symbols?kind=nonsense", 400, "INVALID_ARGUMENT"),
        ("/api/v1/nothing", 404, "NOT_FOUND"),
    ] {
        let (got, problem) = site.json(path);
        assert_eq!(
            (got, problem["code"].as_str()),
            (status, Some(code)),
            "{path}: {problem}"
        );
        assert_eq!(problem["status"], status, "{path}");
        assert!(!problem["detail"].as_str().unwrap().is_empty(), "{path}");
    }
    for wrong in [
        &b"{not json"[..],
        b"[]",
        b"{\"q\": {\"a\": 1}}",
        b"{\"q\": [\"a\"]}",
        b"{\"q\": \"x\", \"k\": true}",
    ] {
        let reply = site.send("POST", "/api/v1/search", &[], wrong);
        assert_eq!(reply.status, 400, "{}", String::from_utf8_lossy(wrong));
    }
}

#[test]
fn the_routes_of_the_document_service_are_here() {
    let folder = Folder::indexed();
    let site = Site::start(&folder, &["harbour.kb", "--allow-write"]);
    let (_, status) = site.json("/api/v1/status");
    let project = status["files"][0]["uuid"].as_str().unwrap().to_owned();
    let body = json!({"query": "how is the lamp maintained", "projectId": project, "minScore": 0.0, "topK": 3});
    let (status, found) = site.post("/api/search/docs", &body);
    assert_eq!(status, 200, "{found}");
    let first = &found["results"][0];
    for field in ["content", "documentTitle", "chunkIndex", "score"] {
        assert!(!first[field].is_null(), "{field}: {found}");
    }
    let upload = json!({"fileName": "eclipse.md", "content": "# Eclipse\n\nThe moon hides the sun.", "mimeType": "text/markdown"});
    let (status, stored) = site.post(&format!("/api/projects/{project}/documents"), &upload);
    assert_eq!(
        (status, &stored["fileName"]),
        (201, &json!("eclipse.md")),
        "{stored}"
    );
    for field in ["documentId", "status"] {
        assert!(stored[field].is_string(), "{field}: {stored}");
    }
    let (status, problem) = site.post("/api/projects/nobody/documents", &upload);
    assert_eq!(status, 404);
    assert!(
        problem["detail"]
            .as_str()
            .unwrap()
            .contains("project not found"),
        "{problem}"
    );
}

#[test]
fn the_routes_of_the_workspace_are_here() {
    let folder = Folder::indexed();
    let site = Site::start(&folder, &["harbour.kb"]);
    let (status, found) = site.post(
        "/mcp/search",
        &json!({"query": "guide", "limit": 3, "sort": "recency"}),
    );
    assert_eq!(status, 200, "{found}");
    let first = &found.as_array().unwrap()[0];
    for field in ["doc_handle", "title", "updated", "approx_size"] {
        assert!(!first[field].is_null(), "{field}: {found}");
    }
    let (status, text) = site.post(
        "/mcp/get_document",
        &json!({"doc_handle": first["doc_handle"]}),
    );
    assert_eq!(status, 200, "{text}");
    assert!(
        text["body"].is_string() && text["is_truncated"] == false,
        "{text}"
    );
    for wrong in [
        json!({"query": "x", "limit": 11}),
        json!({"query": "x", "limit": 0}),
        json!({"qery": "x"}),
        json!({}),
    ] {
        assert_eq!(site.post("/mcp/search", &wrong).0, 400, "{wrong}");
    }
}

#[test]
fn without_permission_nothing_is_written() {
    let folder = Folder::indexed();
    let site = Site::start(&folder, &["harbour.kb"]);
    let before = std::fs::read(folder.join("harbour.kb")).unwrap();
    let upload = json!({"fileName": "x.md", "content": "x", "mimeType": "text/markdown"});
    let (status, problem) = site.post("/api/projects/harbour/documents", &upload);
    assert!((400..500).contains(&status), "{problem}");
    let hint = problem["hint"].as_str().unwrap();
    assert!(hint.contains("kb serve FILE.kb --allow-write"), "{hint}");
    assert_eq!(std::fs::read(folder.join("harbour.kb")).unwrap(), before);
}

#[test]
fn what_the_server_says_of_its_folders_names_its_own_command() {
    let folder = Folder::indexed();
    std::fs::create_dir(folder.join("elsewhere")).unwrap();
    let arguments = ["harbour.kb", "--allow-write", "--allow-root", "elsewhere"];
    let site = Site::start(&folder, &arguments);
    let said = site.before.iter();
    let mut early = said.filter(|line| line.contains("is not watched"));
    let line = early.next().cloned();
    let line = line.unwrap_or_else(|| site.line_with("is not watched"));
    assert!(line.contains("`kb serve --allow-root`"), "{line}");
}

#[test]
fn an_answer_that_the_client_has_is_not_sent_again_until_a_commit() {
    let folder = Folder::indexed();
    let site = Site::start(&folder, &["harbour.kb", "--allow-write"]);
    let paths = [
        "/",
        "/?q=wick",
        "/d/harbour/docs/guide.md",
        "/raw/harbour/docs/guide.md",
        "/b/harbour/",
        "/about/harbour",
        "/find?q=guide",
        "/api/v1/status",
        "/api/v1/search?q=wick",
        "/api/v1/text/harbour/docs/guide.md",
    ];
    let get = |path: &str, tag: &str| site.send("GET", path, &[("if-none-match", tag)], b"");
    // The tags of searches change with the minute.
    let again = |path: &str, tag: &str| {
        let reply = get(path, tag);
        let tag = reply.header("etag").unwrap().to_owned();
        if reply.status == 304 {
            return reply;
        }
        get(path, &tag)
    };
    let mut tags = Vec::new();
    for path in paths {
        let first = site.send("GET", path, &[], b"");
        let tag = first.header("etag").unwrap().to_owned();
        assert!(
            first.status == 200 && tag.starts_with("W/\""),
            "{path}: {tag}"
        );
        let again = again(path, &tag);
        assert_eq!((again.status, again.body.len()), (304, 0), "{path}");
        assert_eq!(again.header("content-type"), None, "{path}");
        let head = site.head(path);
        let length = first.body.len().to_string();
        assert_eq!(
            (head.status, head.header("content-length")),
            (200, Some(length.as_str())),
            "{path}"
        );
        assert!(head.header("etag").is_some(), "{path}");
        assert_eq!(get(path, "\"other\"").status, 200, "{path}");
        tags.push((path, tag));
    }
    let upload = json!({"fileName": "eclipse.md", "content": "The moon hides the sun.", "mimeType": "text/markdown"});
    assert_eq!(site.post("/api/projects/harbour/documents", &upload).0, 201);
    for (path, tag) in tags {
        assert_eq!(get(path, &tag).status, 200, "{path}");
    }
    for path in [
        "/sign-in",
        "/d/harbour/none.md",
        "/api/v1/text/harbour/none.md",
    ] {
        let reply = site.send("GET", path, &[], b"");
        assert_eq!(reply.header("etag"), None, "{path}");
    }
    let body = json!({"q": "wick"}).to_string();
    let any = [("if-none-match", "*"), ("content-type", "application/json")];
    let posted = site.send("POST", "/api/v1/search", &any, body.as_bytes());
    assert_eq!(posted.status, 200);
}

#[test]
fn a_cross_encoder_orders_what_is_found() {
    let folder = Folder::with_corpus();
    folder.write(
        "harbour/z.md",
        "They asked about the wick, and he said yes.\n",
    );
    folder.kb("index harbour -o harbour.kb").expect(0);
    let model = concat!(
        "onnx:",
        env!("CARGO_MANIFEST_DIR"),
        "/../tests/corpus/models/cross-encoder"
    );
    let best = |arguments: &[&str]| {
        let (_, found) =
            Site::start(&folder, arguments).json("/api/v1/search?q=trim+the+wick&k=3&explain=1");
        found["hits"][0]["document"].clone()
    };
    assert_eq!(best(&["harbour.kb"]), "docs/guide.md");
    assert_eq!(best(&["harbour.kb", "--rerank", model]), "z.md");
}
