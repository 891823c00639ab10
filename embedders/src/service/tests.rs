//! A service that misbehaves.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use super::*;

/// Answers each request with the next of these; the last one goes on.
struct Stub {
    address: Address,
    /// Bodies of the requests.
    seen: Arc<Mutex<Vec<serde_json::Value>>>,
}

/// What the service does with a request.
#[derive(Clone)]
enum Deed {
    /// A status with a body, and headers.
    Say(u16, &'static str, String),
    /// A vector `[1, 2]` for each text, the last first.
    Embed,
    /// The start of an answer.
    Cut,
    /// Nothing, for a second.
    Sleep,
    /// An answer without an end.
    Endless,
}

fn respond(
    mut stream: TcpStream,
    deed: &Deed,
    seen: &Mutex<Vec<serde_json::Value>>,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let (mut line, mut length) = (String::new(), 0);
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        let lower = line.to_ascii_lowercase();
        if let Some(value) = lower.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let body: serde_json::Value = serde_json::from_slice(&body)?;
    let texts = body["input"].as_array().unwrap().len();
    seen.lock().unwrap().push(body);
    let mut say = |status: u16, headers: &str, body: &str, length: usize| {
        let head = format!(
            "HTTP/1.1 {status} X\r\nContent-Length: {length}\r\nConnection: close\r\n{headers}\r\n"
        );
        stream.write_all(head.as_bytes())?;
        stream.write_all(body.as_bytes())
    };
    match deed {
        Deed::Say(status, headers, body) => say(*status, headers, body, body.len()),
        Deed::Embed => {
            let rows: Vec<serde_json::Value> = (0..texts)
                .rev()
                .map(|index| serde_json::json!({"index": index, "embedding": [index + 1, 2.0]}))
                .collect();
            let body = serde_json::json!({"data": rows}).to_string();
            say(200, "", &body, body.len())
        }
        Deed::Cut => say(200, "", "{\"data\": [", 1000),
        Deed::Sleep => {
            thread::sleep(Duration::from_secs(1));
            Ok(())
        }
        Deed::Endless => {
            say(200, "", "", 1 << 40)?;
            // Until the other side has had enough.
            while stream.write_all(&[b' '; 1 << 16]).is_ok() {}
            Ok(())
        }
    }
}

fn stub(deeds: Vec<Deed>) -> Stub {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("m@http://{}", listener.local_addr().unwrap());
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sees = Arc::clone(&seen);
    thread::spawn(move || {
        let mut deeds = deeds.into_iter().peekable();
        let mut deed = Deed::Embed;
        for stream in listener.incoming() {
            deed = deeds.next().unwrap_or(deed);
            let (stream, deed, sees) = (stream.unwrap(), deed.clone(), Arc::clone(&sees));
            // A client may close the connection at any time.
            thread::spawn(move || drop(respond(stream, &deed, &sees)));
        }
    });
    Stub {
        address: Address::parse(&url).unwrap(),
        seen,
    }
}

fn patience() -> Patience {
    Patience {
        passages: Duration::from_millis(400),
        query: Duration::from_millis(400),
        attempts: 3,
        first_wait: Duration::from_millis(1),
        longest_wait: Duration::from_secs(2),
    }
}

fn service(deeds: Vec<Deed>) -> (ServiceEmbedder, Stub) {
    let stub = stub(deeds);
    let service = ServiceEmbedder::new(&stub.address, Some(2), patience()).unwrap();
    (service, stub)
}

fn say(status: u16, body: &str) -> Deed {
    Deed::Say(status, "", body.to_owned())
}

fn rows(rows: &str) -> Deed {
    say(200, &format!("{{\"data\": [{rows}]}}"))
}

#[test]
fn vectors_come_in_the_order_of_the_texts() {
    let (service, stub) = service(vec![Deed::Embed]);
    let vectors = service.passages(&["a", " ", "b"]).unwrap();
    let length = |a: f32| (a * a + 4.0).sqrt();
    let expected = [
        1.0 / length(1.0),
        2.0 / length(1.0),
        0.0,
        0.0,
        2.0 / length(2.0),
        2.0 / length(2.0),
    ];
    for (got, expected) in vectors.iter().zip(expected) {
        assert!((got - expected).abs() < 1e-6, "{vectors:?}");
    }
    let seen = stub.seen.lock().unwrap();
    assert_eq!(seen.len(), 1);
    assert_eq!(seen[0]["input"], serde_json::json!(["a", "b"]));
    assert_eq!(seen[0]["model"], "m");
}

#[test]
fn texts_that_say_nothing_are_not_sent() {
    let (service, stub) = service(vec![Deed::Embed]);
    assert_eq!(service.passages(&["", "\n"]).unwrap(), [0.0; 4]);
    assert!(stub.seen.lock().unwrap().is_empty());
}

#[test]
fn many_and_long_texts_go_in_several_requests() {
    let (service, stub) = service(vec![Deed::Embed]);
    let long = "\u{e9}".repeat(20_000);
    let mut texts = vec!["a"; 100];
    texts.extend([long.as_str(); 20]);
    assert_eq!(service.passages(&texts).unwrap().len(), 240);
    let seen = stub.seen.lock().unwrap();
    let sizes: Vec<usize> = seen
        .iter()
        .map(|body| body["input"].as_array().unwrap().len())
        .collect();
    assert_eq!(sizes, [64, 43, 8, 5]);
    assert!(seen[2]["input"][0].as_str().unwrap().len() <= TEXT_LIMIT_BYTES);
}

#[test]
fn the_dimension_is_that_of_a_word() {
    let stub = stub(vec![Deed::Embed]);
    let service = ServiceEmbedder::new(&stub.address, None, patience()).unwrap();
    assert_eq!(service.card().dimension, 2);
    assert_eq!(service.card().weights, None);
    assert!(service.card().location.starts_with("m@http://127.0.0.1:"));
    assert_eq!(
        stub.seen.lock().unwrap()[0]["input"],
        serde_json::json!(["word"])
    );
}

#[test]
fn a_service_that_is_busy_is_asked_again() {
    let busy = Deed::Say(
        429,
        "Retry-After: 1\r\n",
        "{\"error\": {\"message\": \"slow down\"}}".to_owned(),
    );
    let (service, stub) = service(vec![busy, say(500, ""), Deed::Embed]);
    let start = Instant::now();
    service.passages(&["a"]).unwrap();
    assert!(start.elapsed() >= Duration::from_secs(1));
    assert_eq!(stub.seen.lock().unwrap().len(), 3);
}

#[test]
fn a_connection_that_ends_early_is_tried_again() {
    for deed in [Deed::Cut, Deed::Sleep] {
        let (service, stub) = service(vec![deed, Deed::Embed]);
        service.passages(&["a"]).unwrap();
        assert_eq!(stub.seen.lock().unwrap().len(), 2);
    }
}

#[test]
fn a_service_that_stays_down_is_given_up() {
    for (deed, expected, requests) in [
        (say(503, "{\"error\": \"down\"}"), "status 503: down", 3),
        (
            Deed::Say(429, "Retry-After: 3600\r\n", String::new()),
            "status 429",
            1,
        ),
        (
            say(429, "{\"error\": {\"code\": \"insufficient_quota\"}}"),
            "status 429",
            1,
        ),
        (say(401, "no"), "KB_EMBEDDER_KEY", 1),
        (
            say(404, "{\"error\": {\"message\": \"no model\\u001b[31m m\"}}"),
            "no model[31m m",
            1,
        ),
        (
            Deed::Say(302, "Location: http://127.0.0.1:1/\r\n", String::new()),
            "redirection",
            1,
        ),
    ] {
        let (service, stub) = service(vec![deed]);
        let error = service.passages(&["a"]).unwrap_err();
        assert!(matches!(error, EmbedError::Service { .. }), "{error:?}");
        assert!(error.to_string().contains(expected), "{error}");
        assert_eq!(stub.seen.lock().unwrap().len(), requests, "{error}");
    }
}

#[test]
fn answers_that_are_wrong_are_errors() {
    for (deed, expected) in [
        (
            rows(r#"{"index": 0, "embedding": [1, 2, 3]}, {"index": 1, "embedding": [1, 2]}"#),
            "3 numbers",
        ),
        (
            rows(r#"{"index": 0, "embedding": [1, 2]}"#),
            "1 vectors for 2 texts",
        ),
        (
            rows(r#"{"index": 0, "embedding": [1, 2]}, {"index": 0, "embedding": [1, 2]}"#),
            "two vectors",
        ),
        (
            rows(r#"{"index": 0, "embedding": [1, 2]}, {"index": 2, "embedding": [1, 2]}"#),
            "text 2 of 2",
        ),
        (
            rows(r#"{"index": 0, "embedding": [1, null]}, {"index": 1, "embedding": [1, 2]}"#),
            "null",
        ),
        (
            rows(r#"{"index": 0, "embedding": [1, NaN]}, {"index": 1, "embedding": [1, 2]}"#),
            "without vectors",
        ),
        (
            rows(r#"{"index": 0, "embedding": [1, 1e300]}, {"index": 1, "embedding": [1, 2]}"#),
            "finite",
        ),
        (say(200, "<html>"), "without vectors"),
        (Deed::Endless, "limit"),
    ] {
        let (service, stub) = service(vec![deed]);
        let error = service.passages(&["a", "b"]).unwrap_err().to_string();
        assert!(error.contains(expected), "{expected}: {error}");
        assert_eq!(stub.seen.lock().unwrap().len(), 1, "{error}");
    }
}

#[test]
fn a_search_waits_for_two_requests_at_most() {
    let (service, stub) = service(vec![Deed::Sleep]);
    let start = Instant::now();
    service.query("a").unwrap_err();
    assert!(start.elapsed() < Duration::from_secs(3));
    assert!(stub.seen.lock().unwrap().len() <= 2);
}

#[test]
fn an_address_with_tls_needs_a_build_with_tls() {
    let address = Address::parse("m@https://127.0.0.1:1/v1").unwrap();
    let error = ServiceEmbedder::new(&address, None, patience()).unwrap_err();
    let is_expected = match error {
        EmbedError::Missing { .. } => cfg!(not(feature = "tls")),
        EmbedError::Service { .. } => cfg!(feature = "tls"),
        _ => false,
    };
    assert!(is_expected, "{error}");
}
