//! A model embeds in the background while an agent searches.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::mcp::client::{Client, MODERN};
use crate::mcp::stdio::Stdio;
use crate::support::{Folder, PATIENCE};

/// Texts that come while an agent searches.
const DOCUMENTS: usize = 300;

/// How long the service takes for a request of several texts.
const TAKES: Duration = Duration::from_millis(150);

/// A vector of a text: perusal is reading.
fn vector(text: &str) -> Vec<f32> {
    let means_reading = text.contains("reader") || text.contains("perusal");
    vec![1.0, if means_reading { 5.0 } else { 0.0 }, 0.5]
}

fn answer(mut stream: TcpStream) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let line = line.trim().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let asked: Value = serde_json::from_slice(&body).ok()?;
    let texts = asked["input"].as_array()?;
    if texts.len() > 1 {
        std::thread::sleep(TAKES);
    }
    let rows = texts.iter().enumerate().map(|(index, text)| {
        json!({"index": index, "embedding": vector(text.as_str().unwrap_or_default())})
    });
    let body = json!({"data": rows.collect::<Vec<Value>>()}).to_string();
    let length = body.len();
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(format!("{head}{body}").as_bytes()).ok()
}

/// A slow service; its address.
fn service() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(move || answer(stream));
        }
    });
    format!("words@http://{address}/v1")
}

#[test]
fn a_server_embeds_what_changed_while_an_agent_searches() {
    let location = service();
    let folder = Folder::empty();
    folder.write("docs/first.md", "a word");
    folder.kb("index docs -o docs.kb").expect(0);
    let embedder = format!("openai:{location}");
    let reembed = ["reembed", "docs.kb", "--embedder", &embedder, "--yes"];
    folder.kb(reembed).expect(0);
    let allowed = [("KB_EMBEDDER_SERVICE", location.as_str())];
    let server = Stdio::start_with(&folder, &["docs.kb", "--allow-write"], &allowed);
    let mut client = Client::over(server, MODERN);
    let waiting = |client: &mut Client| {
        let status = client.tool("get_status", json!({}));
        let index = &status["indexes"][0];
        let documents = index["documents"].as_u64();
        let waiting = index["models"][0]["waiting"].as_u64();
        (
            documents.unwrap_or(0),
            waiting.unwrap_or_else(|| panic!("{status:#}")),
        )
    };
    assert_eq!(waiting(&mut client).1, 0);
    for number in 0..DOCUMENTS {
        let text = match number {
            250 => "the reader".to_owned(),
            _ => format!("a word, and number {number}"),
        };
        folder.write(format!("docs/{number}.md"), text);
    }
    let begun = Instant::now();
    let (mut beside, mut slowest) = (0, Duration::ZERO);
    loop {
        assert!(begun.elapsed() < PATIENCE, "{beside} searches beside");
        let asked = Instant::now();
        let found = client.tool("search", json!({"query": "a word"}));
        assert!(!found["data"]["results"].as_array().unwrap().is_empty());
        slowest = slowest.max(asked.elapsed());
        let (documents, waiting) = waiting(&mut client);
        if waiting > 0 {
            beside += 1;
        } else if documents > DOCUMENTS as u64 {
            break;
        }
    }
    println!(
        "{beside} searches while {DOCUMENTS} documents were embedded, the slowest in {} ms",
        slowest.as_millis()
    );
    assert!(beside > 0);
    let found = client.tool("search", json!({"query": "perusal"}));
    assert_eq!(found["data"]["results"][0]["document_id"], "250.md");
}
