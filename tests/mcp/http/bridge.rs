//! `kb mcp --connect`: a client on pipes, its server over HTTP, every message seen by a raw client.

use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use super::authorization::token;
use super::{Connection, HttpServer};
use crate::mcp::client::{Carrier, Client, MODERN, REVISIONS, text_of};
use crate::mcp::stdio::Stdio;
use crate::support::{Folder, PATIENCE, wait_until};

const FILE: &[&str] = &["harbour.kb"];
const GUIDE: &str = "kb://harbour/doc/docs/guide.md";

fn url(server: &HttpServer) -> String {
    format!("http://{}/mcp", server.address)
}

fn bridge(folder: &Folder, server: &HttpServer) -> Stdio {
    Stdio::start(folder, &["--connect", &url(server)])
}

/// A server at the address of one that is gone.
fn again(folder: &Folder, server: HttpServer) -> HttpServer {
    let address = server.address.to_string();
    drop(server);
    HttpServer::start_command(folder.command(), FILE, &address)
}

fn change(folder: &Folder, number: u32) {
    folder.write(
        "harbour/docs/guide.md",
        format!("# Guide {number}\n\nOther words.\n"),
    );
    folder.kb("index harbour").expect(0);
}

#[test]
fn every_revision_passes_through_the_bridge() {
    let folder = Folder::indexed();
    let server = HttpServer::start(&folder, FILE);
    for revision in REVISIONS {
        let mut client = Client::over(bridge(&folder, &server), revision);
        let mut direct = Client::over(server.connect(revision), revision);
        let tools = client.result("tools/list", json!({}));
        assert_eq!(tools, direct.result("tools/list", json!({})), "{revision}");
        let found = client.tool("search", json!({"query": "trim the wick"}));
        assert_eq!(found["data"]["results"][0]["document_id"], "docs/guide.md");
        let read = client.result("resources/read", json!({"uri": GUIDE}));
        assert_eq!(read["contents"][0]["uri"], GUIDE);
        let error = client.error("get_document", json!({"doc_handle": "none"}));
        assert!(error.starts_with("DOCUMENT_NOT_FOUND: "), "{error}");
        let (code, _) = client.refused("tools/call", json!({"name": "n\u{e9}", "arguments": {}}));
        assert_eq!(code, -32602, "{revision}");
        let (code, _) = client.refused("foo/bar", json!({}));
        assert_eq!(code, -32601, "{revision}");
    }
    // Discovery first, a handshake afterwards, on the same pipe.
    let mut carrier = bridge(&folder, &server);
    let meta = json!({"_meta": Client::meta()});
    carrier
        .send(&json!({"jsonrpc": "2.0", "id": "a", "method": "server/discover", "params": meta}));
    let discovered = carrier.receive(PATIENCE).unwrap();
    assert_eq!(discovered["id"], "a");
    assert!(discovered["result"]["supportedVersions"].is_array());
    let mut client = Client::over(carrier, "2025-11-25");
    client.result("ping", json!({}));
}

#[test]
fn a_bridge_refuses_to_start_without_a_valid_token() {
    let folder = Folder::indexed();
    let valid = token(&folder, "laptop", &[]);
    let server = HttpServer::start(&folder, &["harbour.kb", "--tokens", "tokens.json"]);
    let url = url(&server);
    folder.write("wrong.txt", "kb_wrong\n");
    folder.write("right.txt", format!("{valid}\nmore\n"));
    let start = |arguments: &[&str], variable: Option<&str>| {
        let mut command = folder.command();
        command.args(["mcp", "--connect"]).args(arguments);
        command
            .env_remove("KB_MCP_TOKEN")
            .stdin(std::process::Stdio::null());
        command.envs(variable.map(|token| ("KB_MCP_TOKEN", token)));
        crate::support::run(&mut command)
    };
    for (arguments, variable, code, words) in [
        (vec![&*url], Some("kb_wrong"), 2, "invalid token"),
        (
            vec![&*url, "--token-file", "wrong.txt"],
            Some(&*valid),
            2,
            "invalid token",
        ),
        (vec![&*url], None, 2, "requires one"),
        (vec![&*url], Some("two words"), 2, "spaces"),
        (vec![&*url, "--token-file", "none.txt"], None, 2, "none.txt"),
        (vec!["https://127.0.0.1:1/mcp"], None, 2, "no TLS"),
        (vec!["harbour.kb"], None, 2, "not the URL"),
        (vec!["http://127.0.0.1:1/mcp"], None, 2, "cannot be reached"),
        (vec![&*url, "harbour.kb"], None, 2, "cannot be used with"),
        (vec![&*url], Some(&*valid), 0, ""),
        (vec![&*url, "--token-file", "right.txt"], None, 0, ""),
    ] {
        let told = start(&arguments, variable);
        assert_eq!(told.code, Some(code), "{arguments:?}: {told:?}");
        assert_eq!(told.stdout, "", "{arguments:?}");
        assert!(told.stderr.contains(words), "{arguments:?}: {told:?}");
        assert!(!told.stderr.contains("kb_wrong"), "{told:?}");
        assert!(code > 0 || told.stderr.is_empty(), "{told:?}");
    }
    // S1-34: the variables of Contextor say the same.
    let with_variables = |names: [&str; 2]| {
        let mut command = folder.command();
        command.args(["mcp", "--connect"]);
        command.stdin(std::process::Stdio::null());
        for name in ["KB_MCP_URL", "KB_MCP_TOKEN"] {
            command.env_remove(name);
        }
        command.env(names[0], &url).env(names[1], &valid);
        crate::support::run(&mut command)
    };
    for names in [
        ["KB_MCP_URL", "KB_MCP_TOKEN"],
        ["CONTEXTOR_API_URL", "CONTEXTOR_PAT"],
    ] {
        let told = with_variables(names);
        assert_eq!(
            (told.code, told.stderr.as_str()),
            (Some(0), ""),
            "{names:?}"
        );
    }
    let told = with_variables(["OTHER_URL", "CONTEXTOR_PAT"]);
    assert_eq!(told.code, Some(2));
    told.stderr_has("CONTEXTOR_API_URL");
    // Another path of the server is none of its endpoint.
    let other = url.replace("/mcp", "/other");
    let told = start(&[&other], Some(&valid));
    assert_eq!(told.code, Some(2));
    told.stderr_has("no MCP server");
    // The token opens the door, and a revoked one closes it.
    let command = folder.command();
    let mut bridge = start_bridge(command, &url, &valid);
    assert!(bridge.tool("list_indexes", json!({}))["indexes"].is_array());
    folder
        .kb("token revoke laptop --tokens tokens.json")
        .expect(0);
    let answer = bridge.ask("tools/list", json!({}));
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("invalid token"), "{message}");
}

/// Answers every request on a port with the same bytes; the URL of it.
fn same_answer(status: &str, kind: &str, body: &str) -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut stream = stream;
            let mut request = [0; 4096];
            let _ = std::io::Read::read(&mut stream, &mut request);
            let _ = std::io::Write::write_all(&mut stream, answer.as_bytes());
        }
    });
    url
}

#[test]
fn a_bridge_refuses_what_is_no_mcp_server() {
    let folder = Folder::indexed();
    let start = |url: &str| {
        let mut command = folder.command();
        command.args(["mcp", "--connect", url]);
        command.stdin(std::process::Stdio::null());
        crate::support::run(&mut command)
    };
    for (status, kind, body) in [
        ("200 OK", "text/html; charset=utf-8", "<html>Welcome</html>"),
        ("404 Not Found", "text/html", "<html>Not found</html>"),
        (
            "404 Not Found",
            "application/json",
            "{\"error\": \"no such page\"}",
        ),
        ("405 Method Not Allowed", "text/plain", "no"),
        ("500 Internal Server Error", "text/plain", "oops"),
        ("200 OK", "application/json", "{\"ok\": true}"),
        ("301 Moved Permanently", "text/html", ""),
    ] {
        let told = start(&same_answer(status, kind, body));
        assert_eq!(told.code, Some(2), "{status} {kind}: {told:?}");
        assert_eq!(told.stdout, "");
        told.stderr_has("no MCP server");
        told.stderr_has("/mcp");
    }
    // A server of an older revision refuses the first question, and has a session.
    let session = "{\"jsonrpc\": \"2.0\", \"id\": \"kb-connect\", \"error\": {\"code\": -32000, \"message\": \"no\"}}";
    let told = start(&same_answer("400 Bad Request", "application/json", session));
    assert_eq!((told.code, told.stderr.as_str()), (Some(0), ""));
}

fn start_bridge(mut command: Command, url: &str, token: &str) -> Client {
    command.env("KB_MCP_TOKEN", token);
    let carrier = Stdio::start_command(command, &["--connect", url]);
    Client::over(carrier, MODERN)
}

#[test]
fn progress_and_cancellation_pass_through_the_bridge() {
    let folder = Folder::indexed();
    for number in 0..200 {
        let text = format!("# Number {number}\n\n{}\n", "A line of text. ".repeat(60));
        folder.write(format!("harbour/many/{number}.md"), text);
    }
    let path = folder.join("harbour").display().to_string();
    let call = json!({"name": "index_codebase", "arguments": {"path": path},
        "_meta": {"progressToken": "p"}});
    // A run is held once it has written the first document, and goes on when it is cancelled.
    let held = folder.join("held");
    let hold = [("KB_FAULT_HOLD", held.to_str().unwrap())];
    // A server that follows the folder would index it before the client does.
    let arguments = [
        "harbour.kb",
        "--allow-write",
        "--allow-root",
        ".",
        "--no-watch",
    ];
    let server = HttpServer::start_with(&folder, &arguments, &hold);
    for revision in ["2025-11-25", MODERN] {
        let _ = std::fs::remove_file(&held);
        let mut client = Client::over(bridge(&folder, &server), revision);
        let id = client.send("tools/call", call.clone());
        let progress = client.notified("notifications/progress", PATIENCE).unwrap();
        assert_eq!(progress["params"]["progressToken"], "p", "{revision}");
        wait_until("the run writes", || held.exists());
        client.notify("notifications/cancelled", json!({"requestId": id}));
        // Another write waits until the run is over.
        let other = json!({"fileName": format!("{revision}.md"), "content": "# Other\n"});
        let uploaded = client.call("upload_document", other);
        assert_ne!(uploaded["isError"], true, "{uploaded}");
        let answer = client.answer_within(id, Duration::from_millis(300));
        assert!(answer.is_none(), "{answer:?}");
    }
    drop(server);
    let server = HttpServer::start(&folder, &arguments);
    let mut client = Client::over(bridge(&folder, &server), MODERN);
    let result = client.result("tools/call", call);
    assert_eq!(result["structuredContent"]["stats"]["files_added"], 200);
}

#[test]
fn subscriptions_outlive_a_server_that_was_started_again() {
    let folder = Folder::indexed();
    let server = HttpServer::start(&folder, FILE);
    let mut modern = Client::over(bridge(&folder, &server), MODERN);
    let wanted =
        json!({"notifications": {"resourcesListChanged": true, "resourceSubscriptions": [GUIDE]}});
    modern.send("subscriptions/listen", wanted);
    let acknowledged = "notifications/subscriptions/acknowledged";
    assert!(modern.notified(acknowledged, PATIENCE).is_some());
    let mut legacy = Client::over(bridge(&folder, &server), "2025-11-25");
    legacy.result("resources/subscribe", json!({"uri": GUIDE}));
    let updated = "notifications/resources/updated";
    let all_hear = |modern: &mut Client, legacy: &mut Client| {
        for client in [modern, legacy] {
            let heard = client.notified(updated, PATIENCE).expect("updated");
            assert_eq!(heard["params"]["uri"], GUIDE);
            client.notifications.clear();
        }
    };
    change(&folder, 1);
    all_hear(&mut modern, &mut legacy);
    let server = again(&folder, server);
    // Requests of either era are answered by the new server, without a word of the client.
    for client in [&mut modern, &mut legacy] {
        let found = client.tool("search", json!({"query": "trim the wick"}));
        assert!(found["data"]["results"].is_array());
    }
    // Both streams are made again within some seconds.
    let mut number = 1;
    wait_until("the streams are back", || {
        number += 1;
        change(&folder, number);
        let short = Duration::from_secs(3);
        modern.notified(updated, short).is_some() && legacy.notified(updated, short).is_some()
    });
    let again = modern.notifications.iter();
    assert!(!again.into_iter().any(|one| one["method"] == acknowledged));
    let address = server.address.to_string();
    drop(server);
    // Without a server a request is an error that says so, at once.
    for client in [&mut modern, &mut legacy] {
        for _ in 0..2 {
            let answer = client.ask("tools/list", json!({}));
            let message = answer["error"]["message"].as_str().unwrap_or_default();
            assert!(message.contains(&address), "{answer}");
        }
    }
}

#[test]
fn nothing_but_messages_is_written_and_the_end_of_input_ends_it() {
    let folder = Folder::indexed();
    folder.write(
        "harbour/odd.md",
        "# Odd\n\nlens \u{85}\u{2028}\u{2029}\u{9b} end\n",
    );
    folder.kb("index harbour").expect(0);
    let server = HttpServer::start(&folder, FILE);
    let mut carrier = bridge(&folder, &server);
    for line in ["", "no json", "[1,2", "{\"jsonrpc\":\"2.0\",\"id\":5}", "{"] {
        carrier.send_line(line.as_bytes());
    }
    let codes: Vec<Value> = (0..3)
        .map(|_| carrier.receive(PATIENCE).unwrap()["error"]["code"].take())
        .collect();
    assert_eq!(codes, [-32700, -32600, -32700]);
    // What was sent before the end is answered, in whatever order.
    let meta = Client::meta();
    for id in 10..20 {
        let params = json!({"name": "search", "arguments": {"query": "lens"}, "_meta": meta});
        carrier
            .send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}));
    }
    let wanted = json!({"notifications": {"resourcesListChanged": true}, "_meta": meta});
    carrier.send(
        &json!({"jsonrpc": "2.0", "id": 20, "method": "subscriptions/listen", "params": wanted}),
    );
    let mut answered: Vec<u64> = Vec::new();
    while answered.len() < 10 {
        let message = carrier.receive(PATIENCE).unwrap();
        if let Some(id) = message["id"].as_u64() {
            assert!(text_of(&message["result"]).contains("odd.md"));
            answered.push(id);
        }
    }
    let ended = carrier.end();
    assert_eq!((ended.code, &*ended.stderr), (Some(0), ""));
    assert!(ended.stray.is_empty(), "{:?}", ended.stray);
    assert!(ended.after < Duration::from_secs(2), "{:?}", ended.after);
    // A session ends with its client.
    let mut legacy = Client::over(bridge(&folder, &server), "2025-11-25");
    legacy.result("ping", json!({}));
    drop(legacy);
    assert_eq!(
        Connection::open(server.address)
            .post(
                MODERN,
                &[],
                &json!({"jsonrpc": "2.0",
        "id": 1, "method": "tools/list", "params": {"_meta": meta}})
            )
            .unwrap()
            .status,
        200
    );
}
