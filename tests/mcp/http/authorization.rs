//! Which requests the port accepts: origins, hosts, headers, sizes, times, tokens.

use std::io::{Read, Write};

use serde_json::{Value, json};

use super::{Connection, HttpServer};
use crate::mcp::client::{Client, MODERN};
use crate::support::Folder;

const FILE: &[&str] = &["harbour.kb"];

/// A request that every client may send.
fn list() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": Client::meta()}})
}

fn status(server: &HttpServer, more: &[(&str, &str)]) -> u16 {
    let mut connection = Connection::open(server.address);
    connection
        .post(MODERN, more, &list())
        .expect("an answer")
        .status
}

#[test]
fn foreign_origins_and_hosts_are_refused_and_local_ones_are_not() {
    let folder = Folder::indexed();
    let server = HttpServer::start(
        &folder,
        &["harbour.kb", "--allow-origin", "https://app.example"],
    );
    let port = server.address.port();
    let own = format!("http://localhost:{port}");
    for (more, expected) in [
        (vec![], 200),
        (vec![("Origin", &*own)], 200),
        (vec![("Origin", "http://localhost:3000")], 403),
        (vec![("Origin", "https://app.example")], 200),
        (vec![("Origin", "http://evil.example")], 403),
        (vec![("Origin", "null")], 403),
        (vec![("Origin", "http://localhost.evil.example")], 403),
        (vec![("Host", "evil.example")], 403),
    ] {
        assert_eq!(status(&server, &more), expected, "{more:?}");
    }
    assert_eq!(
        status(&server, &[("Host", &format!("localhost:{port}"))]),
        200
    );
}

#[test]
fn requests_of_the_wrong_kind_get_the_status_that_says_so() {
    let folder = Folder::indexed();
    let server = HttpServer::start(&folder, FILE);
    for (more, expected) in [
        (vec![("Content-Type", "text/plain")], 415),
        (vec![("Accept", "text/html")], 406),
        (vec![("Mcp-Method", "prompts/list")], 400),
        (vec![("MCP-Protocol-Version", "1900-01-01")], 400),
    ] {
        assert_eq!(status(&server, &more), expected, "{more:?}");
    }
    let mut connection = Connection::open(server.address);
    connection.send("GET", "/", &[], b"");
    assert_eq!(connection.reply().unwrap().status, 404);
    connection.send(
        "POST",
        "/other",
        &[("Content-Type", "application/json")],
        b"{}",
    );
    assert_eq!(
        Connection::open(server.address)
            .post(MODERN, &[], &list())
            .unwrap()
            .status,
        200
    );
    let mut unknown = list();
    unknown["method"] = "foo/bar".into();
    let reply = Connection::open(server.address)
        .post(MODERN, &[], &unknown)
        .unwrap();
    assert_eq!(
        (reply.status, &reply.messages()[0]["error"]["code"]),
        (404, &json!(-32601))
    );
}

#[test]
fn bodies_that_are_too_large_or_too_slow_are_cut_off() {
    let folder = Folder::indexed();
    let server = HttpServer::start(&folder, FILE);
    let mut connection = Connection::open(server.address);
    let json = [
        ("Content-Type", "application/json"),
        ("Content-Length", "99999999"),
    ];
    connection.send("POST", "/mcp", &json, b"");
    assert_eq!(connection.reply().unwrap().status, 413);
    // The same without saying how long it will be.
    let mut connection = Connection::open(server.address);
    let stream = connection.stream();
    let host = server.address;
    write!(stream, "POST /mcp HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n").unwrap();
    let chunk = vec![b' '; 1 << 20];
    for _ in 0..26 {
        let sent = write!(stream, "{:x}\r\n", chunk.len())
            .and_then(|()| stream.write_all(&chunk))
            .and_then(|()| stream.write_all(b"\r\n"));
        if sent.is_err() {
            break;
        }
    }
    let answer = connection.reply();
    assert!(answer.is_none_or(|reply| reply.status == 413));
    // Headers without end.
    let mut connection = Connection::open(server.address);
    let stream = connection.stream();
    write!(stream, "POST /mcp HTTP/1.1\r\nHost: {host}\r\n").unwrap();
    let filler = format!("X-Filler: {}\r\n", "y".repeat(8000));
    for _ in 0..64 {
        if stream.write_all(filler.as_bytes()).is_err() {
            break;
        }
    }
    let answer = connection.reply();
    assert!(
        answer.is_none_or(|reply| reply.status == 431),
        "headers are bounded"
    );
    assert_eq!(status(&server, &[]), 200);
}

#[test]
fn a_thousand_idle_sessions_do_not_hold_the_server() {
    let folder = Folder::indexed();
    let server = HttpServer::start(&folder, FILE);
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}});
    let mut connection = Connection::open(server.address);
    let mut sessions = Vec::new();
    for _ in 0..1000 {
        let reply = connection.post("2025-11-25", &[], &hello).unwrap();
        assert!([200, 503].contains(&reply.status), "{reply:?}");
        sessions.extend(reply.header("mcp-session-id").map(str::to_owned));
    }
    let memory = resident_kib(server.id());
    assert!(memory < 128 << 10, "{memory} KiB");
    let last = sessions.last().unwrap();
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}});
    assert_eq!(
        connection
            .post("2025-11-25", &[("Mcp-Session-Id", last)], &list)
            .unwrap()
            .status,
        200
    );
    let oldest = connection
        .post("2025-11-25", &[("Mcp-Session-Id", &sessions[0])], &list)
        .unwrap();
    assert_eq!(oldest.status, 404, "the oldest session is forgotten");
}

/// Resident memory of a process, where the system tells it; else 0.
fn resident_kib(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().strip_suffix(" kB"))
        .map_or(0, |kib| kib.trim().parse().unwrap())
}

#[test]
fn a_stop_is_clean_with_clients_connected() {
    let folder = Folder::indexed();
    let server = HttpServer::start(&folder, FILE);
    let mut idle = Connection::open(server.address);
    let mut listening = Connection::open(server.address);
    let wanted = json!({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": {
        "_meta": Client::meta(), "notifications": {"resourcesListChanged": true}}});
    let headers = super::headers_of(MODERN, &wanted);
    let headers: Vec<_> = headers
        .iter()
        .map(|(key, value)| (*key, value.as_str()))
        .collect();
    listening.send("POST", "/mcp", &headers, wanted.to_string().as_bytes());
    assert_eq!(listening.head().unwrap().status, 200);
    assert!(listening.chunk().is_some());
    assert_eq!(server.stop(), Some(0));
    let mut rest = Vec::new();
    let _ = idle.stream().read_to_end(&mut rest);
    assert!(rest.is_empty());
}

/// Makes an access token of that name; gives the secret.
pub(crate) fn token(folder: &Folder, name: &str, more: &[&str]) -> String {
    let mut command = folder.command();
    command
        .args(["token", "create", name, "--tokens", "tokens.json"])
        .args(more);
    let outcome = crate::support::run(&mut command).expect(0);
    let word = outcome
        .stdout
        .split_whitespace()
        .find(|word| word.starts_with("kb_"));
    word.unwrap_or_else(|| panic!("{outcome:?}")).to_owned()
}

#[test]
fn a_token_opens_the_door_and_nothing_like_it_does() {
    let folder = Folder::indexed();
    let reading = token(&folder, "reader", &[]);
    let writing = token(&folder, "writer", &["--write"]);
    let stored = std::fs::read_to_string(folder.join("tokens.json")).unwrap();
    assert!(!stored.contains(&reading[3..]) && !stored.contains(&writing[3..]));
    use std::os::unix::fs::PermissionsExt;
    let mode = folder
        .join("tokens.json")
        .metadata()
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    let server = HttpServer::start(
        &folder,
        &["harbour.kb", "--allow-write", "--tokens", "tokens.json"],
    );
    let with = |header: &str| {
        let mut connection = Connection::open(server.address);
        connection
            .post(MODERN, &[("Authorization", header)], &list())
            .unwrap()
    };
    assert_eq!(with(&format!("Bearer {reading}")).status, 200);
    assert_eq!(with(&format!("bearer {reading}")).status, 200);
    for wrong in [
        String::new(),
        reading.clone(),
        format!("Bearer {}", &reading[..reading.len() - 1]),
        format!("Bearer {reading}x"),
        format!("Basic {reading}"),
        "Bearer ".to_owned(),
        "Bearer kb_".to_owned(),
        format!("Bearer {}", reading.to_uppercase()),
    ] {
        let reply = with(&wrong);
        assert_eq!(reply.status, 401, "{wrong}");
        assert!(
            reply
                .header("www-authenticate")
                .unwrap()
                .starts_with("Bearer"),
            "{reply:?}"
        );
    }
    let mut connection = Connection::open(server.address);
    let headers = super::headers_of(MODERN, &list());
    let headers: Vec<_> = headers
        .iter()
        .map(|(key, value)| (*key, value.as_str()))
        .collect();
    connection.send(
        "POST",
        &format!("/mcp?token={reading}"),
        &headers,
        list().to_string().as_bytes(),
    );
    assert_eq!(
        connection.reply().unwrap().status,
        401,
        "tokens in addresses do not count"
    );
    let client = |token: &str| {
        let mut http = server.connect(MODERN);
        http.token = Some(token.to_owned());
        Client::over(http, MODERN)
    };
    let upload = json!({"fileName": "a.md", "content": "# A\n\nText.\n"});
    let text = client(&reading).error("upload_document", upload.clone());
    assert!(text.starts_with("INDEX_READ_ONLY: "), "{text}");
    let offers_writing = |token: &str| {
        let tools = client(token).definitions().to_vec();
        tools.iter().any(|tool| tool["name"] == "upload_document")
    };
    assert!(!offers_writing(&reading) && offers_writing(&writing));
    // The instructions name no tool that the client does not see.
    for revision in ["2025-11-25", MODERN] {
        let told = |token: &str| {
            let (method, params) = match revision {
                MODERN => ("server/discover", json!({"_meta": Client::meta()})),
                _ => (
                    "initialize",
                    json!({"protocolVersion": revision, "capabilities": {},
                    "clientInfo": {"name": "t", "version": "1"}}),
                ),
            };
            let ask = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
            let bearer = format!("Bearer {token}");
            let mut connection = Connection::open(server.address);
            let reply = connection
                .post(revision, &[("Authorization", &bearer)], &ask)
                .unwrap();
            assert_eq!(reply.status, 200, "{reply:?}");
            String::from_utf8(reply.body).unwrap()
        };
        for tool in ["upload_document", "index_codebase", "clear_index"] {
            assert!(!told(&reading).contains(tool), "{revision} {tool}");
            assert!(told(&writing).contains(tool), "{revision} {tool}");
        }
        assert!(told(&reading).contains("search_docs"));
    }
    client(&writing).tool("upload_document", upload);
    // Revoking works at once.
    folder
        .kb("token revoke reader --tokens tokens.json")
        .expect(0);
    assert_eq!(with(&format!("Bearer {reading}")).status, 401);
    assert_eq!(with(&format!("Bearer {writing}")).status, 200);
    server.stop();
    let listed = folder
        .kb("token list --tokens tokens.json --json")
        .expect(0)
        .json_lines();
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert!(
        listed[0]["last_used_ms"].as_i64().unwrap() > 0,
        "{listed:?}"
    );
    assert_eq!(listed[0]["scope"], "write");
}

#[test]
fn at_most_ten_tokens_with_unique_names_in_a_private_file() {
    let folder = Folder::indexed();
    for n in 0..10 {
        token(&folder, &format!("host {n}"), &[]);
    }
    let outcome = folder
        .kb("token create eleventh --tokens tokens.json")
        .expect(2);
    outcome.stderr_has("10");
    folder
        .kb("token revoke 'host 3' --tokens tokens.json")
        .expect(0);
    folder
        .kb("token create 'host 4' --tokens tokens.json")
        .expect(2);
    folder
        .kb("token revoke 'host 3' --tokens tokens.json")
        .expect(2);
    let printed = folder
        .kb("token list --tokens tokens.json")
        .expect(0)
        .stdout;
    assert!(
        printed.contains("host 9") && !printed.contains("kb_"),
        "{printed}"
    );
    use std::os::unix::fs::PermissionsExt;
    let open = std::fs::Permissions::from_mode(0o644);
    std::fs::set_permissions(folder.join("tokens.json"), open).unwrap();
    let outcome = folder.kb("token list --tokens tokens.json").expect(2);
    outcome.stderr_has("600");
}
