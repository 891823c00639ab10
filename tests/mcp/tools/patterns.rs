//! Slow patterns do not delay other calls.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::mcp::client::Client;
use crate::support::Folder;

/// One long line without an upper-case letter, and a short one.
fn long_line() -> String {
    let line: String = (0..60_000u32)
        .map(|n| format!("{}e ", char::from(b'a' + (n % 23) as u8)))
        .collect();
    format!("{line}\nthe tide comes\n")
}

/// A server of a file with the documents.
fn served(folder: &Folder, documents: &[(&str, &str)]) -> Client {
    for (name, text) in documents {
        folder.write(format!("long/{name}"), text);
    }
    folder.kb("index long -o long.kb").expect(0);
    Client::stdio(folder, &["long.kb"])
}

/// Longest that an answer may take: 2 s of search, and what a loaded machine adds.
const PATIENCE: Duration = Duration::from_secs(30);

#[test]
fn patterns_that_take_long_answer_in_parts_and_hold_nobody_up() {
    let folder = Folder::empty();
    let text = long_line();
    let prose = "one two three four five six\n".repeat(16_000);
    let mut client = served(&folder, &[("line.txt", &text), ("prose.txt", &prose)]);
    let heavy = json!({"name": "search_regex", "arguments": {"pattern": "[a-z ]*e[a-z ]{60000}[A-Z]|tide"}});
    let endless = json!({
        "name": "search_regex",
        "arguments": {"pattern": "(?s).*Z|.", "multiline": true, "document_id": "prose.txt"},
    });
    let began = Instant::now();
    let calls: Vec<u64> = (0..4)
        .map(|n| {
            if n % 2 == 0 {
                heavy.clone()
            } else {
                endless.clone()
            }
        })
        .map(|call| client.send("tools/call", call))
        .collect();
    let plain = client.tool("search_regex", json!({"pattern": "tide comes"}));
    assert_eq!(plain["results"][0]["matches"][0]["line"], 2, "{plain}");
    for call in calls {
        // Answers that came before one that was waited for are kept.
        let kept = client.notifications.iter().find(|it| it["id"] == call);
        let answer = match kept.cloned() {
            Some(answer) => answer,
            None => {
                let left = PATIENCE.saturating_sub(began.elapsed());
                let answer = client.answer_within(call, left);
                answer.expect("a pattern was not answered in time")
            }
        };
        assert!(
            answer["result"]["structuredContent"]["results"].is_array(),
            "{answer}"
        );
    }
    // What is left out is said, and the rest follows.
    let mut arguments =
        json!({"pattern": "[a-z ]*e[a-z ]{60000}[A-Z]|tide", "document_id": "line.txt"});
    let (mut found, mut warnings) = (Vec::new(), String::new());
    for _ in 0..5 {
        let answer = client.tool("search_regex", arguments.clone());
        warnings.push_str(&answer["warnings"].to_string());
        for document in answer["results"].as_array().unwrap() {
            found.extend(document["matches"].as_array().unwrap().clone());
        }
        match answer["continuation"]["token"].as_str() {
            Some(token) => arguments["continuation_token"] = token.into(),
            None => break,
        }
    }
    assert!(warnings.contains("line 1 of line.txt"), "{warnings}");
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["line"], 2);
}

#[test]
fn a_cancelled_pattern_ends_within_its_line() {
    let folder = Folder::empty();
    let mut client = served(&folder, &[("line.txt", &long_line())]);
    for _ in 0..20 {
        let call =
            json!({"name": "search_regex", "arguments": {"pattern": "[a-z ]*e[a-z ]{60000}[A-Z]"}});
        let id = client.send("tools/call", call);
        client.notify("notifications/cancelled", json!({"requestId": id}));
    }
    // Twenty searches of 2 s each would be before this one.
    let began = Instant::now();
    let plain = client.tool("search_regex", json!({"pattern": "tide comes"}));
    assert_eq!(plain["results"][0]["matches"][0]["line"], 2, "{plain}");
    assert!(
        began.elapsed() < Duration::from_secs(20),
        "{:?}",
        began.elapsed()
    );
}
