//! Signing in where tokens are required.

use super::{Site, text};
use crate::mcp::http::Reply;
use crate::support::Folder;

fn folder() -> (Folder, String) {
    let folder = Folder::indexed();
    let created = folder
        .kb("token create laptop --tokens tokens.json")
        .expect(0);
    let token = created
        .stdout
        .split_whitespace()
        .find(|word| word.starts_with("kb_"));
    let token = token.unwrap().to_owned();
    (folder, token)
}

fn start(folder: &Folder) -> Site {
    Site::start(folder, &["harbour.kb", "--tokens", "tokens.json"])
}

fn sign_in(site: &Site, token: &str, next: &str) -> Reply {
    let body = format!("token={token}&next={next}");
    let headers = [
        ("content-type", "application/x-www-form-urlencoded"),
        ("accept", "text/html"),
    ];
    site.send("POST", "/sign-in", &headers, body.as_bytes())
}

fn cookie(reply: &Reply) -> String {
    let cookie = reply
        .header("set-cookie")
        .unwrap_or_else(|| panic!("no cookie: {reply:?}"));
    assert!(
        cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"),
        "{cookie}"
    );
    cookie.split(';').next().unwrap().to_owned()
}

#[test]
fn nothing_is_shown_without_a_token_but_the_form() {
    let (folder, token) = folder();
    let site = start(&folder);
    for path in [
        "/",
        "/?q=tides",
        "/d/harbour/docs/guide.md",
        "/b/harbour/",
        "/about/harbour",
        "/find?q=a",
        "/raw/harbour/docs/guide.md",
    ] {
        let reply = site.page(path);
        assert_eq!(reply.status, 303, "{path}");
        assert!(
            reply
                .header("location")
                .unwrap()
                .starts_with("/sign-in?next="),
            "{path}"
        );
        assert!(reply.body.is_empty(), "{path}");
    }
    for path in [
        "/api/v1/search?q=tides",
        "/api/v1/status",
        "/api/v1/documents/harbour",
    ] {
        assert_eq!(site.json(path).0, 401, "{path}");
        let bearer = format!("Bearer {token}");
        let reply = site.send("GET", path, &[("authorization", &bearer)], b"");
        assert_eq!(reply.status, 200, "{path}");
    }
    for path in [
        "/mcp/search",
        "/mcp/get_document",
        "/api/search/docs",
        "/mcp",
    ] {
        assert_eq!(site.send("POST", path, &[], b"{}").status, 401, "{path}");
    }
}

#[test]
fn a_browser_signs_in_with_a_token_and_out_again() {
    let (folder, token) = folder();
    let site = start(&folder);
    assert_eq!(sign_in(&site, "kb_wrong", "/").status, 401);
    let reply = sign_in(&site, &token, "%2F%3Fq%3Dtides");
    assert_eq!(reply.header("location"), Some("/?q=tides"));
    let cookie = cookie(&reply);
    let with = |method: &str, path: &str| {
        let headers = [("accept", "text/html"), ("cookie", cookie.as_str())];
        site.send(method, path, &headers, b"")
    };
    assert_eq!(with("GET", "/").status, 200);
    assert_eq!(with("POST", "/sign-out").status, 303);
    assert_eq!(
        with("GET", "/").status,
        303,
        "the cookie is worth nothing afterwards"
    );
}

#[test]
fn a_browser_is_never_sent_to_another_site() {
    let (folder, token) = folder();
    let site = start(&folder);
    for next in [
        "https%3A%2F%2Fevil.example",
        "%2F%2Fevil.example",
        "%2F%5Cevil.example",
        "x",
        "%2F%0d%0aset-cookie%3Ax",
    ] {
        assert_eq!(
            sign_in(&site, &token, next).header("location"),
            Some("/"),
            "{next}"
        );
    }
}

#[test]
fn the_link_of_the_start_signs_in_once() {
    let (folder, _) = folder();
    let site = start(&folder);
    let line = site.line_with("/sign-in?key=");
    let path = format!("/sign-in?key={}", line.split("key=").nth(1).unwrap());
    let cookie = cookie(&site.page(&path));
    let headers = [("accept", "text/html"), ("cookie", cookie.as_str())];
    assert_eq!(site.send("GET", "/?q=tides", &headers, b"").status, 200);
    let again = site.page(&path);
    assert_eq!(again.status, 401);
    assert!(text(&again).contains("used before"));
}

#[test]
fn a_revoked_token_signs_its_browsers_out() {
    let (folder, token) = folder();
    let site = start(&folder);
    let cookie = cookie(&sign_in(&site, &token, "/"));
    let headers = [("accept", "text/html"), ("cookie", cookie.as_str())];
    assert_eq!(site.send("GET", "/", &headers, b"").status, 200);
    folder
        .kb("token revoke laptop --tokens tokens.json")
        .expect(0);
    crate::support::wait_until("the browser is signed out", || {
        site.send("GET", "/", &headers, b"").status == 303
    });
}

#[test]
fn pages_of_other_sites_cannot_use_the_server() {
    let folder = Folder::indexed();
    let site = Site::start(&folder, &["harbour.kb"]);
    let origin = [("origin", "https://evil.example"), ("accept", "text/html")];
    assert_eq!(site.send("POST", "/mcp/search", &origin, b"{}").status, 403);
    assert_eq!(site.send("GET", "/?q=tides", &origin, b"").status, 403);
    let mut connection = crate::mcp::http::Connection::open(site.address);
    connection.send("GET", "/", &[("host", "evil.example")], b"");
    assert_eq!(connection.reply().unwrap().status, 403);
}

#[test]
fn a_page_of_another_port_changes_nothing_with_the_cookie_of_a_browser() {
    let folder = Folder::indexed();
    let created = folder
        .kb("token create ci --write --tokens tokens.json")
        .expect(0);
    let token = created
        .stdout
        .split_whitespace()
        .find(|word| word.starts_with("kb_"))
        .unwrap();
    let site = Site::start(
        &folder,
        &["harbour.kb", "--allow-write", "--tokens", "tokens.json"],
    );
    let cookie = cookie(&sign_in(&site, token, "/"));
    let own = format!("http://{}", site.address);
    let body = br#"{"fileName":"x.md","content":"x","mimeType":"text/markdown"}"#;
    let upload = |origin: Option<&str>| {
        let mut headers = vec![("cookie", cookie.as_str()), ("content-type", "text/plain")];
        headers.extend(origin.map(|origin| ("origin", origin)));
        site.send("POST", "/api/projects/harbour/documents", &headers, body)
            .status
    };
    let other_port = "http://127.0.0.1:3000";
    for origin in [
        Some(other_port),
        Some("http://localhost:3000"),
        Some("null"),
        None,
    ] {
        assert_eq!(upload(origin), 403, "{origin:?}");
    }
    assert_eq!(upload(Some(&own)), 201);
    let form = [
        ("content-type", "application/x-www-form-urlencoded"),
        ("origin", other_port),
    ];
    let signed_in = site.send(
        "POST",
        "/sign-in",
        &form,
        format!("token={token}").as_bytes(),
    );
    assert_eq!(signed_in.status, 403, "nobody is signed in by another page");
}

#[test]
fn a_token_that_is_revoked_before_its_browser_asks_again_is_worth_nothing() {
    let (folder, token) = folder();
    let site = start(&folder);
    let cookie = cookie(&sign_in(&site, &token, "/"));
    folder
        .kb("token revoke laptop --tokens tokens.json")
        .expect(0);
    let headers = [("accept", "text/html"), ("cookie", cookie.as_str())];
    assert_eq!(site.send("GET", "/", &headers, b"").status, 303);
}

#[test]
fn strangers_see_no_name_of_a_file_and_load_styles_however_many_they_are() {
    let (folder, token) = folder();
    let site = start(&folder);
    assert!(!text(&site.page("/sign-in")).contains("harbour"));
    for _ in 0..200 {
        assert_eq!(site.page("/assets/none.css").status, 404);
    }
    assert!(!text(&site.page("/assets/none.css")).contains("harbour"));
    assert_eq!(sign_in(&site, &token, "/").status, 303);
}

#[test]
fn the_link_of_the_start_is_below_the_base_path() {
    let (folder, _) = folder();
    let site = Site::start(
        &folder,
        &[
            "harbour.kb",
            "--tokens",
            "tokens.json",
            "--base-path",
            "/kb",
        ],
    );
    let line = site.line_with("/sign-in?key=");
    let path = line.split(&site.address.to_string()).nth(1).unwrap();
    assert!(path.starts_with("/kb/sign-in?key="), "{line}");
    let reply = site.page(path);
    assert_eq!(reply.header("location"), Some("/kb/"));
    let set = reply.header("set-cookie").unwrap();
    assert!(set.contains("; Path=/kb;"), "{set}");
    let cookie = cookie(&reply);
    let headers = [("accept", "text/html"), ("cookie", cookie.as_str())];
    for path in ["/kb", "/kb/", "/kb/?q=lamp"] {
        assert_eq!(site.send("GET", path, &headers, b"").status, 200, "{path}");
    }
}
