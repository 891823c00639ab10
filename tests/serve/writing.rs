//! Changing files by forms and by programs.

use serde_json::{Value, json};

use super::{Site, read, text};
use crate::mcp::http::Reply;
use crate::support::Folder;

/// The Content-Type and the body of a form: names, names of files, contents.
pub(super) fn form(parts: &[(&str, Option<&str>, &str)]) -> (String, Vec<u8>) {
    let mut body = Vec::new();
    for (name, file_name, content) in parts {
        let file_name = file_name.map(|name| format!("; filename=\"{name}\""));
        let file_name = file_name.unwrap_or_default();
        body.extend_from_slice(
            format!("--between\r\nContent-Disposition: form-data; name=\"{name}\"{file_name}\r\n\r\n{content}\r\n")
                .as_bytes(),
        );
    }
    body.extend_from_slice(b"--between--\r\n");
    ("multipart/form-data; boundary=between".to_owned(), body)
}

/// The secret of the forms of a page.
#[track_caller]
fn key(page: &str) -> String {
    let after = page.split("name=\"key\" value=\"").nth(1);
    after
        .unwrap_or_else(|| panic!("no form: {page}"))
        .split('"')
        .next()
        .unwrap()
        .to_owned()
}

fn post_form(site: &Site, path: &str, body: &str) -> Reply {
    let headers = [
        ("content-type", "application/x-www-form-urlencoded"),
        ("accept", "text/html"),
    ];
    site.send("POST", path, &headers, body.as_bytes())
}

#[test]
fn a_form_uploads_files_without_a_script() {
    let folder = Folder::indexed();
    let site = Site::start(&folder, &["harbour.kb", "--allow-write"]);
    let page = text(&site.page("/upload/harbour?folder=new"));
    let key = key(&page);
    assert!(page.contains("name=\"folder\" value=\"new\""), "{page}");
    let files = [
        ("key", None, key.as_str()),
        ("folder", None, "new/"),
        ("tags", None, "sea, moon"),
        (
            "file",
            Some("C:\\eclipse.md"),
            "# Eclipse\n\nThe moon hides the sun.",
        ),
        ("file", Some("<b>.md"), "# Bold"),
        ("file", Some("broken.pdf"), "%PDF-1.7\n%\u{e9}\u{e9}"),
    ];
    let (kind, body) = form(&files);
    let headers = [("content-type", &*kind), ("accept", "text/html")];
    let reply = site.send("POST", "/upload/harbour", &headers, &body);
    let page = text(&reply);
    assert_eq!(reply.status, 200, "{page}");
    assert!(
        page.contains("new/eclipse.md</a> <span class=\"quiet\">1\u{a0}chunk"),
        "{page}"
    );
    assert!(
        page.contains("new/&lt;b&gt;.md") && !page.contains("<b>.md"),
        "{page}"
    );
    assert!(
        page.contains("new/broken.pdf <span class=\"wrong\">"),
        "{page}"
    );
    let (_, stored) = site.json("/api/v1/document/harbour/new/eclipse.md");
    assert_eq!(stored["tags"], json!(["moon", "sea"]), "{stored}");
    for (parts, status) in [(&files[1..], 403), (&files[..3], 400)] {
        let (kind, body) = form(parts);
        let headers = [("content-type", &*kind), ("accept", "text/html")];
        assert_eq!(
            site.send("POST", "/upload/harbour", &headers, &body).status,
            status
        );
    }
    for wrong in [
        "multipart/form-data",
        "text/plain",
        "multipart/form-data; boundary=x",
    ] {
        let headers = [("content-type", wrong)];
        assert_eq!(
            site.send("POST", "/upload/harbour", &headers, &body).status,
            400,
            "{wrong}"
        );
    }
}

#[test]
fn tags_are_edited_and_a_document_is_removed_once_that_is_confirmed() {
    let folder = Folder::indexed();
    let site = Site::start(&folder, &["harbour.kb", "--allow-write"]);
    let page = text(&site.page("/d/harbour/docs/guide.md"));
    let key = key(&page);
    let path = "/tags/harbour/docs/guide.md";
    assert_eq!(post_form(&site, path, "tags=x").status, 403);
    let body = format!("key={key}&tags=sea%2C+%22quoted%22&shown=");
    let reply = post_form(&site, path, &body);
    let shown = text(&reply);
    assert!(matches!(reply.status, 303 | 400), "{shown}");
    let reply = post_form(&site, path, &format!("key={key}&tags=sea%2C+moon&shown="));
    assert_eq!(reply.header("location"), Some("/d/harbour/docs/guide.md"));
    post_form(&site, path, &format!("key={key}&tags=star&shown=moon"));
    let (_, stored) = site.json("/api/v1/document/harbour/docs/guide.md");
    let tags: Vec<&str> = stored["tags"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    assert!(
        tags.contains(&"sea") && tags.contains(&"star") && !tags.contains(&"moon"),
        "{tags:?}"
    );
    let path = "/remove/harbour/docs/guide.md";
    assert_eq!(post_form(&site, path, "").status, 403);
    assert_eq!(site.page("/d/harbour/docs/guide.md").status, 200);
    assert!(text(&site.page(path)).contains("Remove this document?"));
    let reply = post_form(&site, path, &format!("key={key}"));
    assert_eq!(reply.status, 303, "{}", text(&reply));
    assert!(reply.header("location").unwrap().starts_with("/b/harbour/"));
    assert_eq!(site.page("/d/harbour/docs/guide.md").status, 404);
    assert_eq!(post_form(&site, path, &format!("key={key}")).status, 404);
}

#[test]
fn programs_store_tag_and_remove_documents() {
    let folder = Folder::indexed();
    let site = Site::start(&folder, &["harbour.kb", "--allow-write"]);
    let path = "/api/v1/document/harbour/new/caf\u{e9}.md".replace('\u{e9}', "%C3%A9");
    let plain = [("content-type", "application/x-www-form-urlencoded")];
    let (status, stored) =
        read(&site.send("PUT", &format!("{path}?tag=sea"), &plain, b"# Caf\xc3\xa9"));
    assert_eq!(
        (status, &stored["documentId"]),
        (201, &json!("new/caf\u{e9}.md")),
        "{stored}"
    );
    let (_, text) = site.json(&path.replace("/document/", "/text/"));
    assert_eq!(
        (&text["text"], &text["tags"]),
        (&json!("# Caf\u{e9}"), &json!(["sea"]))
    );
    let change = json!({"add": ["moon"], "remove": ["sea"]}).to_string();
    let tags = path.replace("/document/", "/tags/");
    let (status, tagged) = read(&site.send("PUT", &tags, &[], change.as_bytes()));
    assert_eq!(
        (status, &tagged["tags"]),
        (200, &json!(["moon"])),
        "{tagged}"
    );
    for wrong in [
        "{}x",
        "[]",
        "{\"add\": \"x\"}",
        "{\"add\": [1]}",
        "{\"ad\": []}",
    ] {
        assert_eq!(
            site.send("PUT", &tags, &[], wrong.as_bytes()).status,
            400,
            "{wrong}"
        );
    }
    let (status, removed) = read(&site.send("DELETE", &path, &[], b""));
    assert_eq!(
        (status, &removed["removed"]),
        (200, &json!("new/caf\u{e9}.md")),
        "{removed}"
    );
    assert_eq!(site.send("DELETE", &path, &[], b"").status, 404);
    // A part of a path finds a document to be read, and changes none.
    let part = "/api/v1/document/harbour/guide.md";
    assert_eq!(site.json(part).0, 200);
    assert_eq!(site.send("DELETE", part, &[], b"").status, 404);
    for wrong in [
        "/api/v1/document/harbour/../x.md",
        "/api/v1/document/harbour/%2Fetc%2Fx.md",
        "/api/v1/document/nobody/x.md",
    ] {
        let status = site.send("PUT", wrong, &[], b"x").status;
        assert!((400..500).contains(&status), "{wrong}: {status}");
    }
}

#[test]
fn a_server_that_does_not_write_shows_no_forms_and_takes_none() {
    let folder = Folder::indexed();
    let site = Site::start(&folder, &["harbour.kb"]);
    let before = std::fs::read(folder.join("harbour.kb")).unwrap();
    for path in ["/d/harbour/docs/guide.md", "/b/harbour/docs"] {
        let page = text(&site.page(path));
        assert!(
            !page.contains("Edit tags") && !page.contains("/upload/") && !page.contains("/remove/"),
            "{page}"
        );
    }
    for path in ["/upload/harbour", "/remove/harbour/docs/guide.md"] {
        assert_eq!(site.page(path).status, 403, "{path}");
    }
    let (kind, body) = form(&[("key", None, ""), ("file", Some("x.md"), "x")]);
    let headers = [("content-type", &*kind)];
    for path in ["/upload/harbour", "/api/v1/upload/harbour"] {
        let reply = site.send("POST", path, &headers, &body);
        assert!(matches!(reply.status, 403 | 201), "{path}");
        assert!(!text(&reply).contains("\"complete\""), "{path}");
    }
    assert_eq!(
        post_form(&site, "/remove/harbour/docs/guide.md", "key=").status,
        403
    );
    assert_eq!(
        post_form(&site, "/tags/harbour/docs/guide.md", "key=&tags=x").status,
        403
    );
    assert_eq!(
        site.send("PUT", "/api/v1/document/harbour/x.md", &[], b"x")
            .status,
        403
    );
    assert_eq!(
        site.send("DELETE", "/api/v1/document/harbour/docs/guide.md", &[], b"")
            .status,
        403
    );
    let tags = site.send(
        "PUT",
        "/api/v1/tags/harbour/docs/guide.md",
        &[],
        b"{\"add\": [\"x\"]}",
    );
    assert_eq!(tags.status, 403);
    assert_eq!(std::fs::read(folder.join("harbour.kb")).unwrap(), before);
}

#[test]
fn a_token_for_reading_changes_nothing_and_a_form_of_another_browser_neither() {
    let folder = Folder::indexed();
    let token = |name: &str, write: &str| {
        let line = format!("token create {name} {write} --tokens tokens.json");
        let created = folder.kb(line.as_str()).expect(0);
        let mut words = created.stdout.split_whitespace().map(str::to_owned);
        words.find(|word| word.starts_with("kb_")).unwrap()
    };
    let (reader, writer) = (token("reader", ""), token("writer", "--write"));
    let site = Site::start(
        &folder,
        &["harbour.kb", "--allow-write", "--tokens", "tokens.json"],
    );
    let bearer = format!("Bearer {reader}");
    let headers = [("authorization", &*bearer)];
    assert_eq!(
        site.send("PUT", "/api/v1/document/harbour/x.md", &headers, b"x")
            .status,
        403
    );
    assert_eq!(
        site.send(
            "DELETE",
            "/api/v1/document/harbour/docs/guide.md",
            &headers,
            b""
        )
        .status,
        403
    );
    let sign_in = |token: &str| {
        let reply = post_form(&site, "/sign-in", &format!("token={token}"));
        reply
            .header("set-cookie")
            .unwrap()
            .split(';')
            .next()
            .unwrap()
            .to_owned()
    };
    let own = format!("http://{}", site.address);
    let document = "/d/harbour/docs/guide.md";
    let page_of = |cookie: &str| {
        let headers = [("accept", "text/html"), ("cookie", cookie)];
        text(&site.send("GET", document, &headers, b""))
    };
    let change = |cookie: &str, key: &str| {
        let headers = [
            ("content-type", "application/x-www-form-urlencoded"),
            ("accept", "text/html"),
            ("cookie", cookie),
            ("origin", &*own),
        ];
        let body = format!("key={key}&tags=sea&shown=");
        site.send(
            "POST",
            "/tags/harbour/docs/guide.md",
            &headers,
            body.as_bytes(),
        )
        .status
    };
    let (one, other, reading) = (sign_in(&writer), sign_in(&writer), sign_in(&reader));
    assert!(!page_of(&reading).contains("Edit tags"));
    let (key_of_one, key_of_other) = (key(&page_of(&one)), key(&page_of(&other)));
    assert_eq!(change(&one, &key_of_other), 403);
    assert_eq!(change(&reading, &key_of_one), 403);
    assert_eq!(change(&one, &key_of_one), 303);
}
