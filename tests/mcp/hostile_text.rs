//! Every message is one line for every client, and its text shows invisible characters.

use kb_engine::KbWriter;
use kb_engine::escape::is_hidden;
use serde_json::json;

use super::client::{Client, REVISIONS};
use super::http::HttpServer;
use crate::support::Folder;

/// Ends of lines for some readers, what a terminal obeys, what nobody sees.
const EVIL: &str = "a\u{85}b\u{2028}c\u{2029}d\u{1b}]0;t\u{7}e\u{9b}6nf\u{202e}g\u{61c}h\u{200b}i\
                    \u{e0041}j\u{7f}k";

fn folder() -> Folder {
    let folder = Folder::empty();
    let file = folder.join("evil.kb");
    let mut writer = KbWriter::open_or_create(&file).unwrap();
    let plain = "Many words that are no more than that.\n".repeat(100);
    let text = format!("# Lens {EVIL}\n\nThe lens {EVIL}\r\nin the lamp.\n\n{plain}");
    writer
        .add_bytes("a\u{202e}\u{2028}b.md", text.as_bytes())
        .unwrap();
    writer.commit().unwrap();
    folder
}

/// What every answer must be is looked at by the client itself, line by line.
fn ask_everything(client: &mut Client) {
    let path = "a\u{202e}\u{2028}b.md";
    for (tool, arguments) in [
        ("search", json!({"query": "lens"})),
        ("search_docs", json!({"query": EVIL})),
        ("get_document", json!({"doc_handle": path})),
        ("get_document_outline", json!({"document_id": path})),
        ("list_documents", json!({"index_name": "evil"})),
        ("get_document", json!({"doc_handle": EVIL})),
        ("search", json!({"query": "lens", "limit": EVIL})),
        ("list_folders", json!({"index_name": EVIL})),
    ] {
        let answer = client.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        let content = answer["result"]["content"].as_array();
        for part in content.into_iter().flatten() {
            let text = part["text"].as_str().unwrap();
            let hidden = text
                .chars()
                .find(|c| *c != '\n' && *c != '\t' && is_hidden(*c));
            assert!(hidden.is_none(), "{tool}: {hidden:?} in {text:?}");
            assert!(
                !text.contains("\\r"),
                "the end of a line is no secret: {text}"
            );
        }
    }
    let structured = client.result(
        "tools/call",
        json!({"name": "get_document", "arguments": {"doc_handle": path}}),
    );
    let whole = structured["structuredContent"].to_string();
    assert!(
        whole.contains("\u{202e}g\u{61c}h"),
        "programs get what stands there: {whole}"
    );
}

#[test]
fn no_answer_on_stdout_breaks_a_line_or_hides_a_character() {
    let folder = folder();
    for revision in REVISIONS {
        let stdio = super::stdio::Stdio::start(&folder, &["evil.kb"]);
        let mut client = Client::over(stdio, revision);
        ask_everything(&mut client);
        client.ask("tools/call", json!({"name": EVIL, "arguments": {}}));
        client.ask("resources/read", json!({"uri": EVIL}));
        client.ask(EVIL, json!({}));
    }
}

#[test]
fn no_answer_over_http_breaks_a_line_or_hides_a_character() {
    let folder = folder();
    let server = HttpServer::start(&folder, &["evil.kb"]);
    ask_everything(&mut Client::http(&server));
}
