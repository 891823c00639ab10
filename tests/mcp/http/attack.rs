//! Malicious clients: their requests are refused or bounded, and other clients are still served.

use std::io::Write;

use serde_json::{Value, json};

use super::authorization::token;
use super::{Connection, HttpServer, Reply, headers_of};
use crate::mcp::client::{Carrier, Client, MODERN};
use crate::mcp::stdio::Stdio;
use crate::support::{Folder, PATIENCE};

const FILE: &[&str] = &["harbour.kb"];

/// The most that a server may ever have taken. It needs about 40 MiB for itself.
const MEMORY_KIB: u64 = 256 << 10;

/// Most memory that a process had at once, where the system tells it; else 0.
fn peak_kib(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().strip_suffix(" kB"))
        .map_or(0, |kib| kib.trim().parse().unwrap())
}

/// A call of a tool, as bytes, with an argument that is inserted as it is.
fn call(tool: &str, argument: &str) -> Vec<u8> {
    let meta = Client::meta();
    format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"_meta":{meta},"name":"{tool}","arguments":{{"query":"lamp",{argument}}}}}}}"#
    )
    .into_bytes()
}

/// Posts bytes as a client of the newest revision, with the method and the name in its headers.
fn post(server: &HttpServer, method: &str, name: &str, body: &[u8]) -> Reply {
    let mut headers = headers_of(MODERN, &json!({"method": method, "params": {"name": name}}));
    headers.retain(|(_, value)| !value.is_empty());
    let headers: Vec<_> = headers
        .iter()
        .map(|(key, value)| (*key, value.as_str()))
        .collect();
    let mut connection = Connection::open(server.address);
    connection.send("POST", "/mcp", &headers, body);
    connection.reply().expect("an answer")
}

fn said(reply: &Reply) -> String {
    String::from_utf8_lossy(&reply.body).into_owned()
}

/// A server that asks for one of these tokens, and what clients send to show them.
fn with_tokens<const N: usize>(folder: &Folder, names: [&str; N]) -> (HttpServer, [String; N]) {
    let bearers = names.map(|name| format!("Bearer {}", token(folder, name, &[])));
    let server = HttpServer::start(folder, &["harbour.kb", "--tokens", "tokens.json"]);
    (server, bearers)
}

fn list() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": Client::meta()}})
}

#[track_caller]
fn is_served(server: &HttpServer, bearer: &str) {
    let mut connection = Connection::open(server.address);
    let reply = connection.post(MODERN, &[("Authorization", bearer)], &list());
    assert_eq!(reply.expect("an answer").status, 200);
}

fn hello(name: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": name, "version": "1"}}})
}

#[test]
fn many_values_are_refused_before_they_take_memory() {
    let folder = Folder::indexed();
    let values = format!(r#""x":[{}0]"#, r#"{"a":0},"#.repeat(400_000));
    let small = format!(r#""x":[{}0]"#, r#"{"a":0},"#.repeat(20_000));
    let server = HttpServer::start(&folder, FILE);
    for (argument, status) in [(&values, 413), (&small, 413)] {
        let reply = post(&server, "tools/call", "search", &call("search", argument));
        assert_eq!(reply.status, status, "{:.300}", said(&reply));
    }
    // Nor in the one call that may be long.
    let upload = call("upload_document", &values);
    let reply = post(&server, "tools/call", "upload_document", &upload);
    assert_eq!(reply.status, 413, "{:.300}", said(&reply));
    assert!(said(&reply).contains("10000"), "{}", said(&reply));
    let memory = peak_kib(server.id());
    assert!(memory < MEMORY_KIB, "{memory} KiB over HTTP");
    let mut stdio = Stdio::start(&folder, FILE);
    for tool in ["search", "upload_document"] {
        stdio.send_line(&call(tool, &values));
        let answer = stdio.receive(PATIENCE).expect("an answer");
        assert_eq!(
            (&answer["id"], &answer["error"]["code"]),
            (&json!(7), &json!(-32600)),
            "{answer:.300}"
        );
    }
    let memory = peak_kib(stdio.id());
    assert!(memory < MEMORY_KIB, "{memory} KiB on pipes");
}

#[test]
fn only_an_upload_may_be_long() {
    let folder = Folder::indexed();
    let long = format!(r#""x":"{}""#, "y".repeat(2 << 20));
    let server = HttpServer::start(&folder, FILE);
    let reply = post(&server, "tools/call", "search", &call("search", &long));
    assert_eq!(reply.status, 413);
    assert!(said(&reply).contains("upload_document"), "{}", said(&reply));
    // It may be long, whatever else is wrong with it.
    let upload = call("upload_document", &long);
    let reply = post(&server, "tools/call", "upload_document", &upload);
    assert_eq!(reply.status, 200, "{}", said(&reply));
    let reply = post(
        &server,
        "initialize",
        "",
        hello(&"n".repeat(100 << 10)).to_string().as_bytes(),
    );
    assert_eq!(reply.status, 413, "{:.300}", said(&reply));
    let mut stdio = Stdio::start(&folder, FILE);
    stdio.send_line(&call("search", &long));
    let answer = stdio.receive(PATIENCE).expect("an answer");
    let message = answer["error"]["message"].as_str().unwrap_or_default();
    assert_eq!(answer["id"], 7, "{answer:.300}");
    assert!(message.contains("upload_document"), "{message}");
}

#[test]
fn what_a_client_says_is_not_repeated_at_length() {
    let folder = Folder::indexed();
    let mut client = Client::stdio(&folder, FILE);
    let name = format!("a\u{202e}{}", "b".repeat(100_000));
    let (code, message) = client.refused("tools/call", json!({"name": name}));
    assert_eq!(code, -32602);
    assert!(
        message.starts_with("Unknown tool: a\\u{202e}b"),
        "{message:.60}"
    );
    assert!(message.len() < 300, "{} bytes", message.len());
    let address = format!("kb://harbour/doc/{}", "b".repeat(100_000));
    let answer = client.ask("resources/read", json!({"uri": address}));
    assert_eq!(answer["error"]["code"], -32602);
    assert!(answer.to_string().len() < 1000, "{answer:.300}");
}

#[test]
fn an_address_has_4096_bytes_at_most() {
    let folder = Folder::indexed();
    let mut client = Client::over(Stdio::start(&folder, FILE), "2025-11-25");
    let address = |bytes: usize| format!("kb://harbour/doc/{}", "b".repeat(bytes - 17));
    client.result("resources/subscribe", json!({"uri": address(4096)}));
    let (code, message) = client.refused("resources/subscribe", json!({"uri": address(4097)}));
    assert_eq!(code, -32602);
    assert!(message.contains("4096"), "{message}");
    // As many as have 64 KiB together, the first of which counts.
    let more = (0..40).map(|number| format!("{}{number:02}", address(4094)));
    let refused: Vec<Value> = more
        .map(|uri| client.ask("resources/subscribe", json!({"uri": uri})))
        .filter(|answer| answer.get("error").is_some())
        .collect();
    assert_eq!(refused.len(), 40 - 15, "{:?}", refused.first());
}

#[test]
fn a_request_has_a_number_of_its_own_until_it_is_answered() {
    let folder = Folder::indexed();
    let mut stdio = Stdio::start(&folder, FILE);
    let listen = json!({"jsonrpc": "2.0", "id": 5, "method": "subscriptions/listen", "params": {
        "_meta": Client::meta(), "notifications": {"resourcesListChanged": true}}});
    stdio.send(&listen);
    assert!(stdio.receive(PATIENCE).is_some(), "an acknowledgement");
    for _ in 0..3 {
        stdio.send(&listen);
        let answer = stdio.receive(PATIENCE).expect("an answer");
        assert_eq!(
            (&answer["id"], &answer["error"]["code"]),
            (&json!(5), &json!(-32600)),
            "{answer}"
        );
    }
    let mut list = list();
    list["id"] = json!(6);
    stdio.send(&list);
    assert_eq!(stdio.receive(PATIENCE).expect("an answer")["id"], 6);
    stdio.send(&list);
    assert!(stdio.receive(PATIENCE).expect("an answer")["result"].is_object());
}

#[test]
fn answers_that_nobody_reads_do_not_fill_the_memory() {
    let folder = Folder::empty();
    folder.write("docs/long.md", "a line of text\n".repeat(50_000));
    folder.kb("index docs").expect(0);
    let mut command = folder.command();
    command.args(["mcp", "docs.kb"]);
    command.stdin(std::process::Stdio::piped());
    command.stdout(std::process::Stdio::piped());
    command.stderr(std::process::Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let requests = std::thread::spawn(move || {
        for id in 0..1500 {
            let read = json!({"jsonrpc": "2.0", "id": id, "method": "resources/read", "params": {
                "_meta": Client::meta(), "uri": "kb://docs/doc/long.md"}});
            // It may stop reading, and end before everything is sent.
            if writeln!(input, "{read}").is_err() {
                return;
            }
        }
    });
    // Until it takes no more, or is through with all of them.
    let mut last = u64::MAX;
    let ticks = |pid: u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let fields: Vec<u64> = stat
            .split(' ')
            .filter_map(|field| field.parse().ok())
            .collect();
        fields.get(11..13).map_or(0, |times| times.iter().sum())
    };
    loop {
        std::thread::sleep(std::time::Duration::from_millis(500));
        let now = ticks(child.id());
        if now == last && now > 0 {
            break;
        }
        last = now;
    }
    let memory = peak_kib(child.id());
    child.kill().unwrap();
    child.wait().unwrap();
    requests.join().unwrap();
    assert!(memory < MEMORY_KIB, "{memory} KiB");
}

#[test]
fn the_sessions_of_one_token_end_no_session_of_another() {
    let folder = Folder::indexed();
    let (server, [greedy, other]) = with_tokens(&folder, ["greedy", "other"]);
    let mut connection = Connection::open(server.address);
    let begin = |connection: &mut Connection, bearer: &str| {
        let reply = connection.post("2025-11-25", &[("Authorization", bearer)], &hello("t"));
        let reply = reply.expect("an answer");
        assert_eq!(reply.status, 200);
        reply.header("mcp-session-id").unwrap().to_owned()
    };
    let session = begin(&mut connection, &other);
    let mut of_greedy = Vec::new();
    for _ in 0..300 {
        of_greedy.push(begin(&mut connection, &greedy));
    }
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}});
    let mut status = |bearer: &str, session: &str| {
        let more = [("Authorization", bearer), ("Mcp-Session-Id", session)];
        connection.post("2025-11-25", &more, &list).unwrap().status
    };
    assert_eq!(status(&other, &session), 200);
    // The greedy one ended its own.
    assert_eq!(status(&greedy, &of_greedy[299]), 200);
    assert_eq!(status(&greedy, &of_greedy[0]), 404);
}

#[test]
fn the_streams_of_one_token_lock_no_other_out() {
    let folder = Folder::indexed();
    let (server, [greedy, other]) = with_tokens(&folder, ["greedy", "other"]);
    let listen = json!({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": {
        "_meta": Client::meta(), "notifications": {"resourcesListChanged": true}}});
    let headers = headers_of(MODERN, &listen);
    let headers = headers.iter().map(|(key, value)| (*key, value.as_str()));
    let headers: Vec<_> = headers
        .chain([("Authorization", greedy.as_str())])
        .collect();
    let (mut open, mut refused) = (Vec::new(), Vec::new());
    for _ in 0..256 {
        let mut connection = Connection::open(server.address);
        connection.send("POST", "/mcp", &headers, listen.to_string().as_bytes());
        let reply = connection.head().expect("an answer");
        match reply.status {
            200 => open.push(connection),
            _ => refused.push(connection.body_of(reply).unwrap()),
        }
    }
    is_served(&server, &other);
    let reply = refused.first().expect("a limit on streams");
    assert_eq!(reply.status, 503, "{reply:?}");
    assert!(said(reply).contains("stream"), "{}", said(reply));
    assert!(open.len() >= 32, "{} streams", open.len());
    // The greedy one is served as well, and may have a stream again when one is over.
    is_served(&server, &greedy);
    open.clear();
    let mut connection = Connection::open(server.address);
    crate::support::wait_until("there is room for a stream", || {
        connection = Connection::open(server.address);
        connection.send("POST", "/mcp", &headers, listen.to_string().as_bytes());
        connection.head().is_some_and(|reply| reply.status == 200)
    });
}

#[test]
fn bodies_that_do_not_come_lock_nobody_out() {
    let folder = Folder::indexed();
    let (server, [greedy, other]) = with_tokens(&folder, ["greedy", "other"]);
    let headers = headers_of(MODERN, &list());
    let headers = headers.iter().map(|(key, value)| (*key, value.as_str()));
    let more = [
        ("Authorization", greedy.as_str()),
        ("Content-Length", "1000"),
    ];
    let headers: Vec<_> = headers.chain(more).collect();
    let mut stalled = Vec::new();
    for _ in 0..256 {
        let mut connection = Connection::open(server.address);
        connection.send("POST", "/mcp", &headers, b"{");
        stalled.push(connection);
    }
    is_served(&server, &other);
    // Those that are more than its share are not waited for.
    let last = stalled.last_mut().unwrap();
    assert_eq!(last.reply().expect("an answer").status, 503);
}

#[test]
fn a_revoked_client_that_does_not_read_is_cut_off() {
    let folder = Folder::empty();
    folder.write("docs/long.md", "a line of text\n".repeat(50_000));
    folder.kb("index docs -o harbour.kb").expect(0);
    let (server, [deaf, other]) = with_tokens(&folder, ["deaf", "other"]);
    let read = json!({"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {
        "_meta": Client::meta(), "uri": "kb://harbour/doc/long.md"}});
    let headers = headers_of(MODERN, &read);
    let headers = headers.iter().map(|(key, value)| (*key, value.as_str()));
    let headers: Vec<_> = headers.chain([("Authorization", deaf.as_str())]).collect();
    let mut connection = Connection::open(server.address);
    connection.send("POST", "/mcp", &headers, read.to_string().as_bytes());
    let reply = connection.reply().expect("an answer");
    assert!(
        reply.status == 200 && reply.body.len() > 500_000,
        "{:.300}",
        said(&reply)
    );
    // Answers to more than the system keeps for somebody who does not read.
    for _ in 0..100 {
        connection.send("POST", "/mcp", &headers, read.to_string().as_bytes());
    }
    // Until no more of them comes: the server waits for this client.
    let mut seen = vec![0; 64 << 20];
    let (mut last, mut now) = (0, 1);
    while now > last {
        std::thread::sleep(std::time::Duration::from_millis(500));
        last = now;
        now = connection.stream().peek(&mut seen).unwrap();
    }
    is_served(&server, &other);
    let revoke = ["token", "revoke", "deaf", "--tokens", "tokens.json"];
    folder.kb(revoke).expect(0);
    let pause = std::time::Duration::from_millis(100);
    connection.stream().set_write_timeout(Some(pause)).unwrap();
    crate::support::wait_until("the server closes the connection", || {
        std::thread::sleep(pause);
        let sent = connection.stream().write(b" ");
        sent.is_err_and(|error| {
            use std::io::ErrorKind::{BrokenPipe, ConnectionReset};
            [BrokenPipe, ConnectionReset].contains(&error.kind())
        })
    });
    is_served(&server, &other);
}
