use std::io::{Cursor, Write};
use std::sync::atomic::AtomicBool;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::*;
use crate::tools::testing::Fixture;

#[test]
fn an_upload_is_searchable_at_once() {
    let fixture = Fixture::new("team", &[]);
    let given = json!({"fileName": "guide/notes.md", "content": "# Notes\n\nThe walrus sleeps.",
        "tags": ["Sea"]});
    let answer = fixture.answer("upload_document", given);
    let uploaded = &answer.structured;
    assert_eq!(uploaded["status"], "complete");
    assert_eq!(
        (&uploaded["chunkCount"], &uploaded["replaced"]),
        (&json!(1), &json!(false))
    );
    let found = fixture.answer(
        "search",
        json!({"query": "walrus", "filters": {"tag": "sea"}}),
    );
    assert_eq!(
        found.structured["data"]["results"][0]["doc_handle"],
        uploaded["doc_handle"]
    );
    let again = json!({"file_name": "guide/notes.md", "content": "# Notes\n\nIt swims."});
    let again = fixture.answer("upload_document", again).structured;
    assert_eq!(again["replaced"], true);
    assert_eq!(again["doc_handle"], uploaded["doc_handle"]);
    assert_ne!(again["revisionToken"], uploaded["revisionToken"]);
}

#[test]
fn the_media_type_decides_without_an_ending() {
    let fixture = Fixture::new("team", &[]);
    let html = "<html><head><title>Fish</title></head><body><p>cod</p></body></html>";
    let given = json!({"fileName": "page", "content": html, "mimeType": "text/html"});
    fixture.answer("upload_document", given);
    let given = json!({"document_id": "page", "format": "metadata"});
    let known = fixture.answer("get_document_data", given).structured["data"]["metadata"].clone();
    assert_eq!(
        (&known["title"], &known["mime_type"]),
        (&json!("Fish"), &json!("text/html"))
    );
}

#[test]
fn paths_outside_are_refused() {
    let fixture = Fixture::new("team", &[]);
    for (path, code) in [
        ("/etc/passwd", "PATH_NOT_ALLOWED"),
        ("../a.md", "PATH_NOT_ALLOWED"),
        ("a/../../b.md", "PATH_NOT_ALLOWED"),
        ("a\\..\\b.md", "PATH_NOT_ALLOWED"),
        ("C:\\b.md", "PATH_NOT_ALLOWED"),
        ("c:b.md", "PATH_NOT_ALLOWED"),
        ("C:/b.md", "PATH_NOT_ALLOWED"),
        ("a\\b.md", "INVALID_ARGUMENT"),
        ("", "INVALID_ARGUMENT"),
        ("a//b.md", "INVALID_ARGUMENT"),
        ("a/./b.md", "INVALID_ARGUMENT"),
        ("a\u{0}.md", "INVALID_ARGUMENT"),
        ("a/", "INVALID_ARGUMENT"),
    ] {
        let given = json!({"fileName": path, "content": "x"});
        assert_eq!(fixture.error("upload_document", given).code, code, "{path}");
    }
    let given = json!({"fileName": "a.md", "content": "x", "tags": ["a,b"]});
    let error = fixture.error("upload_document", given);
    assert!(
        error.text().starts_with("INVALID_ARGUMENT: tags: "),
        "{}",
        error.text()
    );
    assert_eq!(
        fixture.answer("index_stats", json!({})).structured["file_count"],
        0
    );
    assert!(fixture.index().jobs().list().is_empty());
}

/// Another program has the file for longer than a call may take.
#[test]
fn an_accepted_upload_waits_for_another_writer() {
    let fixture = Fixture::new("team", &[]);
    let mut other = KbWriter::open_or_create(fixture.path().join("team.kb")).unwrap();
    other.add_bytes("other.md", b"seal").unwrap();
    let given = json!({"fileName": "a.md", "content": "walrus"});
    let started = std::time::Instant::now();
    let answer = fixture.answer("upload_document", given);
    assert_eq!(answer.structured["status"], "processing");
    assert!(started.elapsed() < Duration::from_secs(4));
    let status = || {
        let given = json!({"document_id": "a.md"});
        fixture.answer("get_status", given).structured["status"].clone()
    };
    while started.elapsed() < Duration::from_secs(7) {
        assert_eq!(status(), "processing");
        thread::sleep(Duration::from_millis(100));
    }
    other.commit().unwrap();
    drop(other);
    assert!(
        fixture
            .indexes
            .finish_uploads(Duration::from_secs(60))
            .is_empty()
    );
    assert_eq!(status(), "ready");
    assert_eq!(fixture.index().kb().state().unwrap().documents, 2);
}

#[test]
fn a_server_that_ends_names_uploads_that_are_lost() {
    let fixture = Fixture::new("team", &[]);
    assert!(fixture.indexes.finish_uploads(Duration::ZERO).is_empty());
    let upload = fixture.index().jobs().begin_upload("a.md", None).unwrap();
    let run = fixture.index().jobs().begin("folder", None).unwrap();
    let left = fixture.indexes.finish_uploads(Duration::from_millis(30));
    assert_eq!(left, [("team".to_owned(), 1)]);
    upload.done();
    assert!(fixture.indexes.finish_uploads(Duration::ZERO).is_empty());
    run.done();
}

#[test]
fn keys_and_credentials_are_refused() {
    let fixture = Fixture::new("team", &[]);
    // Made here, so that this repository holds no key.
    let letters = |seed: usize| {
        (0..64).map(move |n| char::from(b'A' + ((n * n + seed * n * 7 + n) % 26) as u8))
    };
    let body: Vec<String> = (1..5).map(|seed| letters(seed).collect()).collect();
    let key = format!(
        "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n",
        body.join("\n")
    );
    let prose = format!("# Keys\n\n```\n{key}```\n");
    for (name, content) in [
        ("notes.txt", key.as_str()),
        ("a.md", prose.as_str()),
        ("deploy/.env", "TOKEN=1\n"),
        ("id_rsa", "x"),
    ] {
        let given = json!({"fileName": name, "content": content});
        let error = fixture.error("upload_document", given);
        assert_eq!(error.code, "INVALID_ARGUMENT", "{name}");
        assert!(
            error.text().contains("may hold a key or credentials"),
            "{name}"
        );
    }
    let short = prose.replace(&body.join("\n"), "MIIE...");
    let given = json!({"fileName": "a.md", "content": short});
    fixture.answer("upload_document", given);
}

#[test]
fn short_base64_is_stored_as_text_with_a_warning() {
    let fixture = Fixture::new("team", &[]);
    let upload = |given| fixture.answer("upload_document", given);
    let given = json!({"fileName": "a.txt", "content": "SGVsbG8gd29ybGQ="});
    let warning = upload(given).structured["warnings"][0].clone();
    assert!(
        warning.as_str().unwrap().contains("encoding=base64"),
        "{warning}"
    );
    let given = json!({"fileName": "a.txt", "content": "SGVsbG8gd29ybGQ=", "encoding": "base64"});
    assert!(upload(given).structured.get("warnings").is_none());
    let body = fixture.answer("get_document", json!({"doc_handle": "a.txt"}));
    assert_eq!(body.structured["body"], "Hello world");
}

#[test]
fn get_status_follows_a_long_upload() {
    let fixture = Fixture::new("team", &[]);
    let given = json!({"fileName": "a.md", "content": "walrus"});
    let cancel = Arc::new(AtomicBool::new(false));
    let cx = Context::for_test(&fixture.indexes, &cancel);
    let params: UploadDocumentParams = serde_json::from_value(given).unwrap();
    // Another writer has the file meanwhile.
    let index = fixture.index();
    let answer = index.write(|_| Ok(within(Duration::from_millis(20), &cx, &params)));
    assert_eq!(answer.unwrap().unwrap().structured["status"], "processing");
    let status = || {
        fixture
            .call("get_status", json!({"document_id": "a.md"}))
            .unwrap()
            .structured
    };
    let mut tries = 0;
    while status()["status"] != "ready" && tries < 12_000 {
        assert_eq!(
            status()["message"].as_str().map(|word| &word[..9]),
            Some("DOCUMENT_")
        );
        thread::sleep(Duration::from_millis(10));
        tries += 1;
    }
    assert_eq!(status()["message"], "DOCUMENT_READY");
}

fn package(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in parts {
        let options = SimpleFileOptions::default();
        writer.start_file(*name, options).unwrap();
        writer.write_all(text.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// The relationship that leads to the main part of an office file.
fn relationship(to: &str) -> String {
    let kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument";
    format!("<Relationships><Relationship Id='a' Type='{kind}' Target='{to}'/></Relationships>")
}

fn docx() -> Vec<u8> {
    let page = |text: &str| format!("<w:p><w:r><w:t>{text}</w:t></w:r></w:p>");
    let body = format!(
        "{}<w:p><w:r><w:br w:type='page'/></w:r></w:p>{}",
        page("Of the approaches"),
        page("Of the anchorage")
    );
    package(&[
        ("_rels/.rels", &relationship("word/document.xml")),
        (
            "word/document.xml",
            &format!("<w:document><w:body>{body}</w:body></w:document>"),
        ),
    ])
}

fn xlsx() -> Vec<u8> {
    let kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet";
    let cell =
        |at: &str, text: &str| format!("<c r='{at}' t='inlineStr'><is><t>{text}</t></is></c>");
    let rows = format!(
        "<row r='1'>{}{}</row><row r='2'>{}<c r='B2'><v>12</v></c></row>",
        cell("A1", "Vessel"),
        cell("B1", "Dues"),
        cell("A2", "Kittiwake")
    );
    package(&[
        ("[Content_Types].xml", "<Types/>"),
        ("_rels/.rels", &relationship("xl/workbook.xml")),
        (
            "xl/workbook.xml",
            "<workbook xmlns:r='http://schemas.openxmlformats.org/officeDocument/2006/relationships'>\
             <sheets><sheet name='Dues' sheetId='1' r:id='s'/></sheets></workbook>",
        ),
        (
            "xl/_rels/workbook.xml.rels",
            &format!(
                "<Relationships><Relationship Id='s' Type='{kind}' Target='worksheets/sheet1.xml'/></Relationships>"
            ),
        ),
        (
            "xl/worksheets/sheet1.xml",
            &format!("<worksheet><sheetData>{rows}</sheetData></worksheet>"),
        ),
    ])
}

/// Whatever the media type and the name say, an office file is stored with its parts.
#[test]
fn an_office_file_is_stored_as_what_it_is() {
    let fixture = Fixture::new("up", &[]);
    let rtf = b"{\\rtf1\\ansi Of the bar\\par\\page Of the beacon\\par}".to_vec();
    for (name, bytes) in [
        ("a.docx", docx()),
        ("b", docx()),
        ("c.rtf", rtf.clone()),
        ("d.txt", rtf),
    ] {
        for mime in [None, Some("text/plain")] {
            let given =
                json!({"fileName": name, "content": STANDARD.encode(&bytes), "mimeType": mime});
            fixture.answer("upload_document", given);
            let pages = fixture.answer("get_pages", json!({"document_id": name}));
            let data = &pages.structured["data"];
            assert_eq!(data["total_pages"], 2, "{name} {mime:?}");
            assert_eq!(data["pages"][1]["source"], "explicit");
            let content = data["pages"][1]["content"].as_str().unwrap();
            assert!(content.starts_with("Of the "), "{content}");
        }
    }
    let types = fixture.answer("list_documents", json!({}));
    let types: Vec<&str> = types.structured["data"]["documents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["type"].as_str().unwrap())
        .collect();
    assert_eq!(types, ["docx", "docx", "rtf", "rtf"]);
    let mime = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
    for mime in [None, Some("text/plain"), Some(mime)] {
        let given =
            json!({"fileName": "dues.xlsx", "content": STANDARD.encode(xlsx()), "mimeType": mime});
        fixture.answer("upload_document", given);
        let rows = fixture.answer("get_sheet_data", json!({"document_id": "dues.xlsx"}));
        let data = &rows.structured["data"];
        assert_eq!(
            (&data["headers"], &data["rows"]),
            (&json!(["Vessel", "Dues"]), &json!([["Kittiwake", "12"]]))
        );
    }
    let error = fixture.error(
        "upload_document",
        json!({"fileName": "a.docx", "content": STANDARD.encode(docx()), "mimeType": mime}),
    );
    assert_eq!(error.code, "UNSUPPORTED_MIME_TYPE");
    let mut cut = docx();
    cut.truncate(cut.len() / 2);
    let error = fixture.error(
        "upload_document",
        json!({"fileName": "cut.docx", "content": STANDARD.encode(cut)}),
    );
    assert_eq!(error.code, "UNSUPPORTED_MIME_TYPE", "{}", error.text());
}
