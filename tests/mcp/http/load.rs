//! Requests that no host would send, by the thousand.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Connection, HttpServer, headers_of};
use crate::mcp::client::{Carrier, Client, MODERN};
use crate::mcp::stdio::Stdio;
use crate::support::{Folder, PATIENCE};

/// Mutated requests on each transport.
const REQUESTS: u64 = 10_000;

/// A small generator of the same numbers every time (splitmix64, Steele, Lea and Flood 2014).
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        (mixed % limit as u64) as usize
    }
}

/// Requests that are right, of every kind.
fn seeds() -> Vec<Value> {
    let call = |name: &str, arguments: Value| {
        ("tools/call", json!({"name": name, "arguments": arguments}))
    };
    let requests = [
        ("server/discover", json!({})),
        ("tools/list", json!({})),
        (
            "resources/list",
            json!({"cursor": "eyJ2IjoxLCJpbmRleCI6ImhhcmJvdXIiLCJhZnRlciI6bnVsbH0"}),
        ),
        (
            "resources/read",
            json!({"uri": "kb://harbour/lines/1-3/docs/guide.md"}),
        ),
        (
            "prompts/get",
            json!({"name": "answer_from_docs", "arguments": {"question": "tides?"}}),
        ),
        (
            "completion/complete",
            json!({"ref": {"type": "ref/prompt", "name": "explain_code"}, "argument": {"name": "target", "value": "s"}}),
        ),
        call(
            "search",
            json!({"query": "+lamp -wick \"polish the lens\" title:guide", "filters": {"folder": "docs", "tag": "a"}, "limit": 5, "max_tokens": 300}),
        ),
        call(
            "search_docs",
            json!({"query": "opening hours", "top_k": 5, "min_score": 0.1}),
        ),
        call(
            "search_code",
            json!({"query": "predict_high_water", "language": "rust,python", "context_before": 3}),
        ),
        call("get_document", json!({"doc_handle": "docs/guide.md"})),
        call(
            "get_document_data",
            json!({"document_id": "guide.md", "format": "chunks", "continuation_token": "eyJ2IjoxfQ"}),
        ),
        call(
            "get_document_outline",
            json!({"document_id": "guide.md", "max_tokens": 10}),
        ),
        call(
            "get_pages",
            json!({"document_id": "guide.md", "page_range": "1-2,1"}),
        ),
        call(
            "list_documents",
            json!({"folder": "docs", "recursive": true}),
        ),
        call("get_embedding", json!({"text": "fog"})),
        call("get_status", json!({"document_id": "notes.txt"})),
        call(
            "upload_document",
            json!({"fileName": "up/load.md", "content": "IyBVcAoKTG9hZCB0aGUgc2hpcCBiZWZvcmUgbm9vbi4K", "encoding": "auto", "tags": ["a"]}),
        ),
        call(
            "index_codebase",
            json!({"path": "/nowhere", "index_name": "harbour"}),
        ),
    ];
    requests
        .into_iter()
        .map(|(method, mut params)| {
            params["_meta"] = Client::meta();
            json!({"jsonrpc": "2.0", "id": 0, "method": method, "params": params})
        })
        .collect()
}

/// Values that are wrong in most places.
fn strange(dice: &mut Dice) -> Value {
    match dice.below(14) {
        0 => Value::Null,
        1 => json!(-1),
        2 => json!(u64::MAX),
        3 => json!(1e308),
        4 => json!(true),
        5 => json!([]),
        6 => json!({}),
        7 => json!(""),
        8 => json!("\u{0}\u{202e}\u{e0041}\r\n"),
        9 => json!("A".repeat(5000)),
        10 => json!("../../../etc/passwd"),
        11 => json!("\"\"\"((((+++---title:path:tag:"),
        12 => json!([[[[[[[[[[1]]]]]]]]]]),
        _ => json!(
            "eyJ2IjoxLCJ0eXBlIjoic2VhcmNoIiwiaW5kZXgiOiIiLCJnZW4iOjEsInEiOiIiLCJvZmZzZXQiOjE4NDQ2NzQ0MDczNzA5NTUxNjE1fQ"
        ),
    }
}

/// Changes one value somewhere in it, or takes it away.
fn change(value: &mut Value, dice: &mut Dice) {
    match value {
        Value::Object(fields) if !fields.is_empty() && dice.below(8) > 0 => {
            let at = dice.below(fields.len());
            let key = fields.keys().nth(at).unwrap().clone();
            match dice.below(10) {
                0 => drop(fields.remove(&key)),
                1 => drop(fields.insert(format!("{key}_"), strange(dice))),
                _ => change(fields.get_mut(&key).unwrap(), dice),
            }
        }
        Value::Array(items) if !items.is_empty() && dice.below(4) > 0 => {
            let at = dice.below(items.len());
            change(&mut items[at], dice);
        }
        other => *other = strange(dice),
    }
}

/// A request with its number that is wrong somewhere; sometimes its bytes are too.
fn mutated(seeds: &[Value], number: u64, dice: &mut Dice) -> Vec<u8> {
    let mut message = seeds[dice.below(seeds.len())].clone();
    for _ in 0..=dice.below(3) {
        change(&mut message, dice);
    }
    if dice.below(4) > 0 && message.is_object() {
        message["id"] = number.into();
    }
    let mut bytes = message.to_string().into_bytes();
    if dice.below(5) == 0 {
        for _ in 0..=dice.below(4) {
            let at = dice.below(bytes.len());
            bytes[at] = dice.below(256) as u8;
        }
    }
    bytes.retain(|byte| *byte != b'\n');
    bytes
}

#[test]
fn ten_thousand_wrong_requests_on_pipes_harm_nothing() {
    let folder = Folder::indexed();
    let mut stdio = Stdio::start(&folder, &["harbour.kb", "--allow-write"]);
    let hello = json!({"jsonrpc": "2.0", "id": "hello", "method": "server/discover", "params": {"_meta": Client::meta()}});
    stdio.send(&hello);
    assert!(stdio.receive(PATIENCE).is_some());
    let seeds = seeds();
    let mut dice = Dice(4);
    let mut answered = 0u64;
    for number in 1..=REQUESTS {
        stdio.send_line(&mutated(&seeds, number, &mut dice));
        while stdio.receive(Duration::ZERO).is_some() {
            answered += 1;
        }
        if number % 500 == 0 {
            let probe = json!({"jsonrpc": "2.0", "id": format!("probe {number}"), "method": "tools/list", "params": {"_meta": Client::meta()}});
            stdio.send(&probe);
            loop {
                let answer = stdio.receive(PATIENCE).expect("the server lives");
                answered += 1;
                if answer["id"] == probe["id"] {
                    break;
                }
            }
        }
    }
    assert!(answered > REQUESTS / 2, "{answered} answers");
    assert!(stdio.is_running());
    let ended = stdio.end();
    assert_eq!(
        (ended.code, ended.stray.len()),
        (Some(0), 0),
        "{:.500} {:?}",
        ended.stderr,
        ended.stray
    );
    assert!(!ended.stderr.contains("panicked"), "{:.2000}", ended.stderr);
    folder.kb("verify harbour.kb --deep").expect(0);
}

#[test]
fn ten_thousand_wrong_requests_over_http_harm_nothing() {
    let folder = Folder::indexed();
    let mut server = HttpServer::start(&folder, &["harbour.kb", "--allow-write"]);
    let seeds = seeds();
    let mut dice = Dice(8);
    let mut connection = Connection::open(server.address);
    for number in 1..=REQUESTS {
        let body = mutated(&seeds, number, &mut dice);
        let message: Value = serde_json::from_slice(&body).unwrap_or_default();
        let headers = headers_of(MODERN, &message);
        // A header cannot hold everything that a name may be.
        let is_plain =
            |text: &str| text.bytes().all(|byte| (0x20..0x7f).contains(&byte)) && text.len() < 4000;
        let headers: Vec<(&str, &str)> = headers
            .iter()
            .map(|(key, value)| (*key, value.as_str()))
            .filter(|(_, value)| is_plain(value))
            .collect();
        connection.send("POST", "/mcp", &headers, &body);
        match connection.head() {
            // A request that became one for a stream of events: leave it.
            Some(head)
                if head
                    .header("content-type")
                    .is_some_and(|kind| kind.starts_with("text/event-stream")) =>
            {
                connection = Connection::open(server.address);
            }
            Some(head) if head.header("connection") == Some("close") => {
                connection = Connection::open(server.address)
            }
            Some(head) => {
                assert!(
                    head.status != 500,
                    "{head:?} to {}",
                    String::from_utf8_lossy(&body)
                );
                connection.body_of(head).expect("a whole body");
            }
            None => connection = Connection::open(server.address),
        }
    }
    assert!(server.is_running());
    let mut client = Client::http(&server);
    client.tool("list_indexes", json!({}));
    assert_eq!(server.stop(), Some(0));
    folder.kb("verify harbour.kb --deep").expect(0);
}
