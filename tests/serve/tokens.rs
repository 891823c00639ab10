//! Managing tokens by a page and by programs, and what an agent needs.

use serde_json::{Value, json};

use super::{Site, read, text};
use crate::mcp::http::Reply;
use crate::support::Folder;

/// A folder with the tokens `reader` and `writer`.
fn folder() -> (Folder, String, String) {
    let folder = Folder::indexed();
    let created = |arguments: &str| {
        let said = folder.kb(&*format!("token create {arguments} --tokens tokens.json"));
        let said = said.expect(0).stdout;
        let token = said.split_whitespace().find(|word| word.starts_with("kb_"));
        token.unwrap().to_owned()
    };
    let (reader, writer) = (created("reader"), created("writer --write"));
    (folder, reader, writer)
}

fn start(folder: &Folder) -> Site {
    Site::start(folder, &["harbour.kb", "--tokens", "tokens.json"])
}

const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");

fn cookie(site: &Site, token: &str) -> String {
    let body = format!("token={token}");
    let reply = site.send("POST", "/sign-in", &[FORM], body.as_bytes());
    let cookie = reply.header("set-cookie").expect("a cookie");
    cookie.split(';').next().unwrap().to_owned()
}

fn sent(site: &Site, method: &str, path: &str, cookie: &str, body: &str) -> Reply {
    let origin = format!("http://{}", site.address);
    let headers = [
        FORM,
        ("accept", "text/html"),
        ("cookie", cookie),
        ("origin", &*origin),
    ];
    site.send(method, path, &headers, body.as_bytes())
}

#[test]
fn a_page_creates_a_token_that_is_shown_once_and_revokes_it() {
    let (folder, _, writer) = folder();
    let site = start(&folder);
    let cookie = cookie(&site, &writer);
    let page = text(&sent(&site, "GET", "/tokens", &cookie, ""));
    assert!(page.contains("reader") && page.contains("never"), "{page}");
    assert!(!page.contains(&writer));
    let key = page.split("name=\"key\" value=\"").nth(1).unwrap();
    let key = key.split('"').next().unwrap();
    let form = format!("key={key}&name=%3Cphone%3E");
    let page = text(&sent(&site, "POST", "/tokens", &cookie, &form));
    let token = page.split("id=\"token\">").nth(1).unwrap();
    let token = token.split('<').next().unwrap();
    assert!(
        token.starts_with("kb_") && page.contains("&lt;phone&gt;"),
        "{page}"
    );
    assert!(page.contains("not shown again"));
    // It reads, and does not manage.
    let bearer = format!("Bearer {token}");
    let with_it = |path: &str| {
        site.send("GET", path, &[("authorization", bearer.as_str())], b"")
            .status
    };
    assert_eq!(
        (with_it("/api/v1/status"), with_it("/api/v1/tokens")),
        (200, 403)
    );
    let page = text(&sent(&site, "GET", "/tokens", &cookie, ""));
    assert!(!page.contains(token) && page.contains("&lt;phone&gt;"));
    let form = format!("key={key}&name=%3Cphone%3E");
    assert_eq!(
        sent(&site, "POST", "/tokens/revoke", &cookie, &form).status,
        303
    );
    assert_eq!(with_it("/api/v1/status"), 401);
    for (path, form, status) in [
        ("/tokens", "name=x", 403),
        ("/tokens", "key=wrong&name=x", 403),
        ("/tokens/revoke", "key=wrong&name=reader", 403),
    ] {
        assert_eq!(
            sent(&site, "POST", path, &cookie, form).status,
            status,
            "{form}"
        );
    }
    for (name, status) in [("", 400), ("reader", 409)] {
        let form = format!("key={key}&name={name}");
        assert_eq!(
            sent(&site, "POST", "/tokens", &cookie, &form).status,
            status
        );
    }
    let form = format!("key={key}&name=none");
    assert_eq!(
        sent(&site, "POST", "/tokens/revoke", &cookie, &form).status,
        404
    );
}

#[test]
fn only_a_token_that_may_write_manages_tokens() {
    let (folder, reader, _) = folder();
    let site = start(&folder);
    let cookie = cookie(&site, &reader);
    let page = sent(&site, "GET", "/tokens", &cookie, "");
    assert_eq!(page.status, 403);
    assert!(text(&page).contains("created with --write"));
    assert_eq!(
        sent(&site, "POST", "/tokens", &cookie, "name=x").status,
        403
    );
    // Neither does the browser of the link.
    let line = site.line_with("/sign-in?key=");
    let path = format!("/sign-in?key={}", line.split("key=").nth(1).unwrap());
    let reply = site.page(&path);
    let by_link = reply
        .header("set-cookie")
        .unwrap()
        .split(';')
        .next()
        .unwrap();
    assert_eq!(sent(&site, "GET", "/tokens", by_link, "").status, 403);
    // A server without tokens says so.
    let open = Site::start(&folder, &["harbour.kb"]);
    let page = open.page("/tokens");
    assert_eq!(page.status, 403);
    assert!(text(&page).contains("requires no tokens"));
}

#[test]
fn a_program_manages_tokens() {
    let (folder, _, writer) = folder();
    let site = start(&folder);
    let bearer = format!("Bearer {writer}");
    let asked = |method: &str, path: &str, body: &Value| {
        let headers = [
            ("authorization", bearer.as_str()),
            ("content-type", "application/json"),
        ];
        read(&site.send(method, path, &headers, body.to_string().as_bytes()))
    };
    let (status, created) = asked(
        "POST",
        "/api/v1/tokens",
        &json!({"name": "a b", "may_write": true}),
    );
    assert_eq!(status, 201);
    assert!(created["token"].as_str().unwrap().starts_with("kb_"));
    let (_, listed) = asked("GET", "/api/v1/tokens", &Value::Null);
    let names: Vec<&str> = listed["tokens"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["reader", "writer", "a b"]);
    assert!(listed["tokens"][0]["last_used_ms"].is_null());
    let used = listed["tokens"][1]["last_used_ms"].as_i64();
    assert!(used.is_some_and(|used| used > 0), "{listed}");
    assert!(!listed.to_string().contains("kb_"));
    assert_eq!(
        asked("DELETE", "/api/v1/tokens/a%20b", &Value::Null),
        (200, json!({"revoked": "a b"}))
    );
    for (body, code) in [
        (json!({"name": ""}), "INVALID_ARGUMENT"),
        (json!({}), "INVALID_ARGUMENT"),
        (json!({"name": "x", "scope": 1}), "INVALID_ARGUMENT"),
        (json!({"name": "x", "may_write": 1}), "INVALID_ARGUMENT"),
        (json!({"name": "reader"}), "TOKEN_EXISTS"),
    ] {
        assert_eq!(
            asked("POST", "/api/v1/tokens", &body).1["code"],
            code,
            "{body}"
        );
    }
    let (status, problem) = asked("DELETE", "/api/v1/tokens/none", &Value::Null);
    assert_eq!((status, &problem["code"]), (404, &json!("TOKEN_NOT_FOUND")));
}

#[test]
fn the_page_for_agents_has_the_address_that_the_browser_used() {
    let (folder, _, writer) = folder();
    let open = Site::start(&folder, &["harbour.kb", "--base-path", "/kb"]);
    let page = text(&open.page("/kb/agents"));
    let url = format!("http://{}/mcp", open.address);
    for piece in ["mcpServers", "[mcp_servers.kb]", "context_servers", &url] {
        assert!(page.contains(piece), "{piece}: {page}");
    }
    assert!(!page.contains("KB_MCP_TOKEN"));
    let closed = start(&folder);
    let page = text(&sent(
        &closed,
        "GET",
        "/agents",
        &cookie(&closed, &writer),
        "",
    ));
    assert!(
        page.contains("Bearer ${KB_MCP_TOKEN}") && !page.contains(&writer),
        "{page}"
    );
}
