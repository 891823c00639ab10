//! Uploads, index runs and clearing: what changes a file, and what must not.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::{Client, MODERN};
use super::http::HttpServer;
use super::stdio::Stdio;
use crate::support::{Folder, PATIENCE, wait_until};

/// Writes are those of clients alone.
const WRITABLE: &[&str] = &["harbour.kb", "--allow-write", "--no-watch"];

/// Standard base64, with padding.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let bits = group
            .iter()
            .fold(0u32, |bits, byte| bits << 8 | u32::from(*byte));
        let bits = bits << (8 * (3 - group.len()));
        for digit in 0..4 {
            let at = bits >> (18 - 6 * digit) & 63;
            text.push(if digit <= group.len() {
                char::from(DIGITS[at as usize])
            } else {
                '='
            });
        }
    }
    text
}

#[track_caller]
fn uploaded(client: &mut Client, arguments: Value) -> Value {
    let name = arguments["fileName"].clone();
    let mut answer = client.tool("upload_document", arguments);
    let asked = Instant::now();
    while answer["status"] == "processing" {
        assert!(asked.elapsed() < PATIENCE, "{answer}");
        std::thread::sleep(Duration::from_millis(50));
        let status = client.tool("get_status", json!({"document_id": name}));
        if status["status"] == "ready" {
            answer["status"] = "complete".into();
        }
        assert_ne!(status["status"], "failed", "{status}");
    }
    answer
}

#[test]
fn tools_that_write_are_there_only_where_writing_is_allowed() {
    let folder = Folder::indexed();
    let mut reading = Client::stdio(&folder, &["harbour.kb"]);
    for tool in ["upload_document", "index_codebase", "clear_index"] {
        let is_offered = reading.definitions().iter().any(|one| one["name"] == tool);
        assert!(!is_offered, "{tool}");
    }
    let mut writing = Client::stdio(&folder, WRITABLE);
    assert_eq!(
        writing.tool("list_indexes", json!({}))["indexes"][0]["writable"],
        true
    );
    for tool in ["upload_document", "index_codebase", "clear_index"] {
        let text = writing.error(tool, json!({"no_such": 1}));
        assert!(text.starts_with("INVALID_ARGUMENT: "), "{text}");
    }
    let text = writing.error(
        "clear_index",
        json!({"index_name": "harbour", "force": true}),
    );
    assert!(
        text.contains("force"),
        "unknown arguments stop a write: {text}"
    );
    assert_eq!(writing.tool("index_stats", json!({}))["file_count"], 7);
}

#[test]
fn an_upload_is_found_at_once_replaced_and_told_by_its_bytes() {
    let folder = Folder::indexed();
    let server = HttpServer::start(&folder, WRITABLE);
    for mut client in [Client::stdio(&folder, WRITABLE), Client::http(&server)] {
        let text = "# Sextant\n\nThe sextant measures the height of a star over the horizon.\n";
        let answer = uploaded(
            &mut client,
            json!({"fileName": "tools/sextant.md", "content": text, "tags": ["optics"]}),
        );
        assert_eq!(
            (&answer["status"], &answer["documentId"]),
            (&json!("complete"), &json!("tools/sextant.md"))
        );
        let found = client.tool("search_docs", json!({"query": "height of a star"}));
        assert_eq!(found["results"][0]["path"], "tools/sextant.md");
        let tagged = client.tool(
            "search",
            json!({"query": "sextant", "filters": {"tag": "optics"}}),
        );
        assert_eq!(tagged["data"]["results"].as_array().unwrap().len(), 1);
        let before = answer["revisionToken"].clone();
        let encoded = base64(text.replace("star", "planet").as_bytes());
        let again = uploaded(
            &mut client,
            json!({"fileName": "tools/sextant.md", "content": encoded}),
        );
        assert_eq!(again["replaced"], true, "{again}");
        assert_ne!(again["revisionToken"], before);
        let body =
            client.tool("get_document", json!({"doc_handle": "tools/sextant.md"}))["body"].take();
        assert!(
            body.as_str().unwrap().contains("height of a planet"),
            "{body}"
        );
        // What is said in doubt: text that is base64 too.
        let plain = json!({"fileName": "key.txt", "content": encoded, "encoding": "text"});
        uploaded(&mut client, plain);
        let body = client.tool("get_document", json!({"doc_handle": "key.txt"}))["body"].take();
        assert_eq!(body, encoded);
        client.tool("list_documents", json!({"folder": "tools"}));
        folder
            .kb("rm harbour.kb tools/sextant.md key.txt")
            .expect(0);
    }
}

#[test]
fn content_decides_what_an_upload_is_whatever_its_type_says() {
    let folder = Folder::indexed();
    let mut client = Client::stdio(&folder, WRITABLE);
    let pdf = base64(b"%PDF-1.7\n1 0 obj\n<< /Type /Catalog >>\nendobj\ntrailer\n%%EOF\n");
    for kind in [json!(null), json!("text/plain"), json!("application/pdf")] {
        let text = client.error(
            "upload_document",
            json!({"fileName": "a.pdf", "content": pdf, "mimeType": kind}),
        );
        assert!(
            text.starts_with("UNSUPPORTED_MIME_TYPE: ") && text.contains("PDF"),
            "{text}"
        );
    }
    let text = client.error(
        "upload_document",
        json!({"fileName": "a.png", "content": "not base64", "mimeType": "image/png"}),
    );
    let expected = "UNSUPPORTED_MIME_TYPE: mimeType says image/png, but the content is plain text";
    assert!(text.starts_with(expected), "{text}");
    let text = client.error(
        "upload_document",
        json!({"fileName": "a.md", "content": "*", "encoding": "base64"}),
    );
    assert!(text.starts_with("INVALID_BASE64: "), "{text}");
    for name in [
        "/etc/passwd",
        "../a.md",
        "a/../../b.md",
        "C:\\a.md",
        "",
        "a//b.md",
        "a\u{0}.md",
        "./a.md",
    ] {
        let text = client.error(
            "upload_document",
            json!({"fileName": name, "content": "text"}),
        );
        let code = text.split(':').next().unwrap();
        assert!(
            ["PATH_NOT_ALLOWED", "INVALID_ARGUMENT"].contains(&code),
            "{name:?}: {text}"
        );
    }
    assert_eq!(client.tool("index_stats", json!({}))["file_count"], 7);
    let named = uploaded(
        &mut client,
        json!({"fileName": "notes", "content": "# A title\n\nText.\n", "mimeType": "text/markdown"}),
    );
    let read = client.tool("get_document", json!({"doc_handle": named["documentId"]}));
    assert_eq!(read["title"], "A title");
}

#[test]
fn ten_megabytes_pass_and_one_byte_more_does_not() {
    let folder = Folder::indexed();
    let server = HttpServer::start(&folder, WRITABLE);
    let line = "Ten megabytes of the same sentence, more or less, line by line.\n";
    let mut full = line.repeat((10 << 20) / line.len());
    while full.len() < 10 << 20 {
        full.push('x');
    }
    for mut client in [Client::stdio(&folder, WRITABLE), Client::http(&server)] {
        let answer = uploaded(
            &mut client,
            json!({"fileName": "full.txt", "content": full}),
        );
        assert_eq!(answer["status"], "complete");
        let size =
            client.tool("get_document", json!({"doc_handle": "full.txt"}))["full_size"].take();
        assert_eq!(size, 10 << 20);
        let over = format!("{full}y");
        let encoded = base64(&vec![b'z'; 11 << 20]);
        for (content, size) in [(&over, "10485761"), (&encoded, "11534336")] {
            let text = client.error(
                "upload_document",
                json!({"fileName": "over.txt", "content": content}),
            );
            assert!(text.starts_with("FILE_TOO_LARGE: "), "{text}");
            let digits: String = text
                .chars()
                .filter(|letter| letter.is_alphanumeric())
                .collect();
            assert!(
                digits.contains(size) && digits.contains("10485760"),
                "{text}"
            );
        }
        let text = client.error("get_document", json!({"doc_handle": "over.txt"}));
        assert!(text.starts_with("DOCUMENT_NOT_FOUND: "), "{text}");
    }
}

#[test]
fn an_upload_that_was_acknowledged_survives_a_kill() {
    let folder = Folder::indexed();
    for n in 0..5 {
        let stdio = Stdio::start(&folder, WRITABLE);
        let pid = stdio.id().to_string();
        let mut client = Client::over(stdio, MODERN);
        let name = format!("kept/{n}.md");
        let answer = client.tool(
            "upload_document",
            json!({"fileName": name, "content": format!("# Kept {n}\n\nDurable.\n")}),
        );
        assert_eq!(answer["status"], "complete");
        let killed = std::process::Command::new("kill")
            .args(["-9", &pid])
            .status();
        assert!(killed.unwrap().success());
        drop(client);
        let read = folder.kb(["get", "-f", "harbour.kb", &name]).expect(0);
        read.stdout_has("Durable");
    }
    folder.kb("verify harbour.kb --deep").expect(0);
}

#[test]
fn only_folders_below_the_roots_are_indexed() {
    let folder = Folder::empty();
    for name in ["a.md", "b.md", "c.md"] {
        folder.write(
            format!("project/{name}"),
            format!("# {name}\n\nThe words of {name}.\n"),
        );
    }
    folder.write("other/e.md", "# e\n\nOf another folder.\n");
    folder.write("secret/key.md", "# Key\n\nNot for everybody.\n");
    let link = folder.join("project/link");
    std::os::unix::fs::symlink(folder.join("secret"), &link).unwrap();
    let project = folder.join("project").display().to_string();
    let mut client = Client::stdio(
        &folder,
        &[
            "project.kb",
            "--allow-write",
            "--allow-root",
            "project",
            "--allow-root",
            "other",
        ],
    );
    assert_eq!(client.tool("index_stats", json!({}))["file_count"], 0);
    let first = client.tool(
        "index_codebase",
        json!({"path": project, "index_name": "project"}),
    );
    assert_eq!(first["success"], true);
    let counts = |answer: &Value| {
        ["files_added", "files_updated", "files_removed"]
            .map(|key| answer["stats"][key].as_u64().unwrap())
    };
    assert_eq!(counts(&first), [3, 0, 0], "{first}");
    folder.write("project/b.md", "# b.md\n\nOther words altogether.\n");
    let second = client.tool("index_codebase", json!({"path": project}));
    assert_eq!(counts(&second), [0, 1, 0], "{second}");
    for (path, code) in [
        (
            folder.join("secret").display().to_string(),
            "PATH_NOT_ALLOWED",
        ),
        (link.display().to_string(), "PATH_NOT_ALLOWED"),
        (format!("{project}/../secret"), "PATH_NOT_ALLOWED"),
        ("/".to_owned(), "PATH_NOT_ALLOWED"),
        (
            folder.join("project/none").display().to_string(),
            "PATH_NOT_FOUND",
        ),
        (String::new(), "PATH_NOT_FOUND"),
    ] {
        let text = client.error("index_codebase", json!({"path": path}));
        assert!(text.starts_with(code), "{path}: {text}");
    }
    assert_eq!(client.tool("index_stats", json!({}))["file_count"], 3);
    // A name that nobody has makes a new file beside the first one; one of another folder does not.
    folder.write("project/part/d.md", "# d\n\nA part of it.\n");
    let part = client.tool(
        "index_codebase",
        json!({"path": format!("{project}/part"), "index_name": "part"}),
    );
    assert_eq!(part["stats"]["files_added"], 1, "{part}");
    assert!(folder.join("part.kb").is_file());
    assert_eq!(
        client.tool("list_indexes", json!({}))["indexes"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    let other = folder.join("other").display().to_string();
    let text = client.error(
        "index_codebase",
        json!({"path": other, "index_name": "project"}),
    );
    assert!(text.starts_with("INDEX_NAME_TAKEN: "), "{text}");
    let text = client.error(
        "index_codebase",
        json!({"path": project, "index_name": "../evil"}),
    );
    assert!(text.starts_with("INVALID_ARGUMENT: "), "{text}");
}

/// Documents of a folder that takes a while.
const DOCUMENTS: usize = 500;

#[test]
fn an_index_run_reports_and_a_cancelled_one_changes_nothing() {
    let folder = Folder::indexed();
    for n in 0..DOCUMENTS {
        folder.write(
            format!("harbour/many/{n}.md"),
            format!("# Note {n}\n\n{}\n", "Words of a note. ".repeat(60)),
        );
    }
    let path = folder.join("harbour").display().to_string();
    let call = |token: &str| json!({"name": "index_codebase", "arguments": {"path": path}, "_meta": {"progressToken": token}});
    // The run is held once it has written the first document, and goes on when it is cancelled.
    let held = folder.join("held");
    let hold = [("KB_FAULT_HOLD", held.to_str().unwrap())];
    let mut client = Client::over(Stdio::start_with(&folder, WRITABLE, &hold), MODERN);
    let id = client.send("tools/call", call("p1"));
    assert!(
        client
            .notified("notifications/progress", PATIENCE)
            .is_some()
    );
    wait_until("the run writes", || held.exists());
    client.notify("notifications/cancelled", json!({"requestId": id}));
    // Another write waits until the run is over.
    let other = json!({"fileName": "other.md", "content": "# Other\n"});
    uploaded(&mut client, other);
    let stats = client.tool("index_stats", json!({}));
    assert_eq!(stats["file_count"], 8, "a cancelled run changed the file");
    drop(client);
    let mut client = Client::stdio(&folder, WRITABLE);
    let id = client.send("tools/call", call("p2"));
    let answer = client.answer(id);
    assert_eq!(
        answer["result"]["structuredContent"]["stats"]["files_added"], DOCUMENTS,
        "{answer}"
    );
    let told: Vec<f64> = client
        .notifications
        .iter()
        .filter(|message| message["params"]["progressToken"] == "p2")
        .map(|message| message["params"]["progress"].as_f64().unwrap())
        .collect();
    assert!(told.is_sorted_by(|a, b| a < b), "{told:?}");
}

#[test]
fn clearing_empties_a_file_that_keeps_its_name_and_identity() {
    let folder = Folder::indexed();
    let mut client = Client::stdio(&folder, WRITABLE);
    let before = client.tool("list_indexes", json!({}));
    let text = client.error("clear_index", json!({}));
    assert!(text.contains("index_name"), "{text}");
    let answer = client.tool("clear_index", json!({"index_name": "harbour"}));
    assert_eq!(answer["message"], "Index 'harbour' cleared successfully");
    let after = client.tool("list_indexes", json!({}));
    assert_eq!(after["indexes"][0]["id"], before["indexes"][0]["id"]);
    assert_eq!(after["indexes"][0]["documents"], 0);
    let found = client.tool("search", json!({"query": "lamp"}));
    assert_eq!(found["data"]["results"], json!([]));
    client.tool("clear_index", json!({"index_name": "harbour"}));
    folder.kb("verify harbour.kb --deep").expect(0);
    uploaded(
        &mut client,
        json!({"fileName": "new.md", "content": "# New\n\nA beginning.\n"}),
    );
    assert_eq!(client.tool("index_stats", json!({}))["file_count"], 1);
}

#[test]
fn an_accepted_upload_waits_for_another_process() {
    let folder = Folder::indexed();
    let mut writer = kb_engine::KbWriter::open_or_create(folder.join("harbour.kb")).unwrap();
    writer.add_bytes("held.md", b"# Held\n").unwrap();
    let mut client = Client::stdio(&folder, WRITABLE);
    let asked = Instant::now();
    let answer = client.tool(
        "upload_document",
        json!({"fileName": "late.md", "content": "# Late\n"}),
    );
    assert_eq!(answer["status"], "processing");
    let all = client.tool("get_status", json!({}));
    assert_eq!(all["indexes"][0]["status"], "processing");
    let program = all["indexes"][0]["writer"].as_str().unwrap();
    assert!(program.starts_with("kb "), "{all}");
    let mut status = || {
        let status = client.tool("get_status", json!({"document_id": "late.md"}));
        status["status"].clone()
    };
    // Other writes give up after 5 s.
    while asked.elapsed() < Duration::from_secs(7) {
        assert_eq!(status(), "processing");
        std::thread::sleep(Duration::from_millis(200));
    }
    writer.commit().unwrap();
    drop(writer);
    wait_until("the upload was stored", || status() == "ready");
    assert_eq!(client.tool("index_stats", json!({}))["file_count"], 9);
}

/// A sealed file has no places: its own folder used to be refused.
#[test]
fn a_sealed_file_takes_its_own_folder_again() {
    let folder = Folder::indexed();
    folder.kb("seal harbour.kb").expect(0);
    let arguments = ["harbour.kb", "--allow-write", "--allow-root", "harbour"];
    let mut client = Client::stdio(&folder, &arguments);
    let path = folder.join("harbour").display().to_string();
    folder.write("harbour/knots.md", "# Knots\n\nA bowline does not slip.\n");
    for given in [
        json!({"path": path, "index_name": "harbour"}),
        json!({"path": path}),
    ] {
        let answer = client.tool("index_codebase", given);
        assert_eq!(answer["index_name"], "harbour");
    }
    assert_eq!(client.tool("index_stats", json!({}))["file_count"], 8);
    assert_eq!(folder.names(), ["harbour", "harbour.kb"]);
}

/// A write used to make a new, empty file where the served one had been, which then answered.
#[test]
fn a_served_file_that_is_moved_away_is_not_made_again() {
    let folder = Folder::indexed();
    let arguments = [
        "harbour.kb",
        "--allow-write",
        "--allow-root",
        "harbour",
        "--watch",
    ];
    let mut client = Client::stdio(&folder, &arguments);
    client.tool("list_indexes", json!({}));
    std::fs::rename(folder.join("harbour.kb"), folder.join("elsewhere.kb")).unwrap();
    let path = folder.join("harbour").display().to_string();
    folder.write("harbour/knots.md", "# Knots\n\nA bowline does not slip.\n");
    for (tool, given) in [
        (
            "upload_document",
            json!({"fileName": "a.md", "content": base64(b"# A\n")}),
        ),
        (
            "index_codebase",
            json!({"path": path, "index_name": "harbour"}),
        ),
        ("clear_index", json!({"index_name": "harbour"})),
    ] {
        let told = client.error(tool, given);
        assert!(told.starts_with("INDEX_NOT_FOUND: "), "{tool}: {told}");
        assert!(told.contains("moved or removed"), "{tool}: {told}");
        assert!(!told.contains(folder.path().to_str().unwrap()), "{told}");
        assert_eq!(folder.names(), ["elsewhere.kb", "harbour"], "{tool}");
    }
    // Where it is back it is served and written as before.
    std::fs::rename(folder.join("elsewhere.kb"), folder.join("harbour.kb")).unwrap();
    uploaded(
        &mut client,
        json!({"fileName": "a.md", "content": base64(b"# A\n")}),
    );
}

/// A tool that is not offered because nothing may be written says so, and what to do.
#[test]
fn a_server_that_only_reads_says_how_to_let_it_write() {
    let folder = Folder::indexed();
    let mut client = Client::stdio(&folder, &["harbour.kb"]);
    for (tool, given) in [
        (
            "upload_document",
            json!({"fileName": "a.md", "content": "a"}),
        ),
        ("clear_index", json!({"index_name": "harbour"})),
        ("index_codebase", json!({"path": "harbour"})),
    ] {
        let text = client.error(tool, given);
        assert!(
            text.starts_with("INDEX_READ_ONLY: ") && text.contains("--allow-write"),
            "{text}"
        );
    }
    let unknown = json!({"name": "delete_document", "arguments": {}});
    assert_eq!(client.refused("tools/call", unknown).0, -32602);
}
