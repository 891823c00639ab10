//! What every request and answer of the protocol must look like, over both transports.

use std::time::Duration;

use serde_json::{Value, json};

use super::client::{Carrier, Client, MODERN, REVISIONS, text_of};
use super::http::HttpServer;
use super::stdio::Stdio;
use crate::support::{Folder, PATIENCE};

const FILE: &[&str] = &["harbour.kb"];

/// Runs a check with a client of every revision over both transports.
fn everywhere(check: impl Fn(&mut Client, &str)) {
    let folder = Folder::indexed();
    let server = HttpServer::start(&folder, FILE);
    for revision in REVISIONS {
        let stdio = Stdio::start(&folder, FILE);
        let mut client = Client::over(stdio, revision);
        check(&mut client, &format!("stdio {revision}"));
        let mut client = Client::over(server.connect(revision), revision);
        check(&mut client, &format!("http {revision}"));
    }
}

#[test]
fn every_revision_and_transport_answers_the_same() {
    let folder = Folder::indexed();
    let server = HttpServer::start(&folder, FILE);
    let question = json!({"query": "how is the lamp kept", "top_k": 3});
    let mut answers = Vec::new();
    for revision in REVISIONS {
        let stdio = Client::over(Stdio::start(&folder, FILE), revision);
        let http = Client::over(server.connect(revision), revision);
        for mut client in [stdio, http] {
            let (mut answer, text) = client.both("search_docs", question.clone());
            answer.as_object_mut().unwrap().remove("searchTimeMs");
            answers.push((answer, text));
            if !client.is_modern() {
                assert_eq!(client.result("ping", json!({})), json!({}));
            }
        }
    }
    assert_eq!(answers[0].0["results"][0]["path"], "docs/guide.md");
    for (answer, text) in &answers {
        assert_eq!(answer, &answers[0].0);
        assert_eq!(text, &answers[0].1);
    }
}

#[test]
fn discovery_tells_revisions_capabilities_and_instructions() {
    let folder = Folder::indexed();
    let mut client = Client::stdio(&folder, FILE);
    let found = client.result("server/discover", json!({}));
    let versions = found["supportedVersions"].as_array().unwrap();
    for revision in REVISIONS {
        assert!(
            versions.iter().any(|version| version == revision),
            "{found}"
        );
    }
    let capabilities = found["capabilities"].as_object().unwrap();
    let names: Vec<&str> = capabilities.keys().map(String::as_str).collect();
    assert_eq!(names, ["completions", "prompts", "resources", "tools"]);
    let offers = |what: &str, key: &str| capabilities[what][key] == true;
    assert!(offers("resources", "subscribe") && offers("resources", "listChanged"));
    assert!(!offers("tools", "listChanged") && !offers("prompts", "listChanged"));
    assert_eq!(
        (&found["ttlMs"], &found["cacheScope"]),
        (&json!(3_600_000), &json!("public"))
    );
    let instructions = found["instructions"].as_str().unwrap();
    assert!(
        (100..2048).contains(&instructions.chars().count()),
        "{instructions}"
    );

    let mut legacy = Client::over(Stdio::start(&folder, FILE), "2025-06-18");
    let asked = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let again = legacy.ask("initialize", asked);
    // A second handshake is refused or answered; it must not end the server.
    assert!(again.get("result").is_some() || again.get("error").is_some());
    legacy.result("tools/list", json!({}));
}

#[test]
fn discovery_may_be_followed_by_the_handshake_of_an_older_host() {
    let folder = Folder::indexed();
    let mut stdio = Stdio::start(&folder, FILE);
    let discover = json!({"jsonrpc": "2.0", "id": "d", "method": "server/discover", "params": {"_meta": Client::meta()}});
    stdio.send(&discover);
    let answer = stdio.receive(PATIENCE).unwrap();
    assert_eq!(answer["id"], "d");
    let mut client = Client::over(stdio, "2025-11-25");
    assert!(client.result("tools/list", json!({}))["tools"].is_array());
}

#[test]
fn unknown_revisions_are_answered_by_age() {
    let folder = Folder::indexed();
    let mut stdio = Stdio::start(&folder, FILE);
    let asked = json!({"protocolVersion": "1999-01-01", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    stdio.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": asked}));
    let answer = stdio.receive(PATIENCE).unwrap();
    let given = answer["result"]["protocolVersion"].as_str().unwrap();
    assert!(REVISIONS.contains(&given), "{given}");

    let mut client = Client::stdio(&folder, FILE);
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "1900-01-01"});
    let (code, _) = client.refused("tools/list", json!({"_meta": meta}));
    assert_eq!(code, -32022);
}

#[test]
fn lists_are_sorted_and_the_same_every_time_and_have_one_page() {
    everywhere(|client, whom| {
        for (method, key) in [("tools/list", "tools"), ("prompts/list", "prompts")] {
            let list = client.result(method, json!({}));
            let again = client.result(method, json!({}));
            assert_eq!(list[key], again[key], "{whom}");
            let names = list[key].as_array().unwrap().iter();
            let names: Vec<&str> = names.map(|item| item["name"].as_str().unwrap()).collect();
            assert!(!names.is_empty() && names.is_sorted(), "{whom}: {names:?}");
            assert!(list.get("nextCursor").is_none());
        }
        for method in [
            "tools/list",
            "prompts/list",
            "resources/list",
            "resources/templates/list",
        ] {
            for cursor in ["", "no-cursor", "eyJ2IjoxfQ"] {
                let (code, message) = client.refused(method, json!({"cursor": cursor}));
                assert_eq!(code, -32602, "{whom} {method}: {message}");
            }
        }
    });
}

#[test]
fn what_is_not_there_is_refused_with_its_name() {
    everywhere(|client, whom| {
        let (code, message) = client.refused(
            "tools/call",
            json!({"name": "no_such_tool", "arguments": {}}),
        );
        assert_eq!(code, -32602, "{whom}");
        assert!(message.contains("no_such_tool"), "{message}");
        let (code, message) = client.refused("prompts/get", json!({"name": "no_such_prompt"}));
        assert_eq!(code, -32602, "{whom}");
        assert!(message.contains("no_such_prompt"), "{message}");
        let missing = if client.is_modern() { -32602 } else { -32002 };
        for uri in [
            "kb://harbour/doc/none.md",
            "kb://harbour/doc/guide.md",
            "kb://other/doc/docs/guide.md",
            "kb://harbour/doc/../../etc/passwd",
            "kb://harbour/lines/0-4/docs/guide.md",
            "file:///etc/passwd",
        ] {
            let (code, _) = client.refused("resources/read", json!({"uri": uri}));
            assert_eq!(code, missing, "{whom} {uri}");
        }
        let (code, _) = client.refused("foo/bar", json!({}));
        assert_eq!(code, -32601, "{whom}");
    });
}

#[test]
fn newest_results_name_the_server_and_their_lifetime() {
    let folder = Folder::indexed();
    let mut client = Client::stdio(&folder, FILE);
    let public = (json!(3_600_000), json!("public"));
    let private = (json!(10_000), json!("private"));
    let prompt = json!({"name": "answer_from_docs", "arguments": {"question": "tides"}});
    let completed = json!({"ref": {"type": "ref/prompt", "name": "answer_from_docs"}, "argument": {"name": "index_name", "value": "h"}});
    for (method, params, hints) in [
        ("tools/list", json!({}), Some(&public)),
        ("prompts/list", json!({}), Some(&public)),
        ("resources/templates/list", json!({}), Some(&public)),
        ("resources/list", json!({}), Some(&private)),
        (
            "resources/read",
            json!({"uri": "kb://harbour"}),
            Some(&private),
        ),
        ("prompts/get", prompt, None),
        ("completion/complete", completed, None),
        (
            "tools/call",
            json!({"name": "list_indexes", "arguments": {}}),
            None,
        ),
        (
            "tools/call",
            json!({"name": "get_document", "arguments": {"doc_handle": "none"}}),
            None,
        ),
    ] {
        let result = client.result(method, params);
        let server = &result["_meta"]["io.modelcontextprotocol/serverInfo"];
        assert_eq!(server["name"], "kb", "{method}: {result}");
        assert_eq!(server["version"], env!("CARGO_PKG_VERSION"));
        if let Some((ttl, scope)) = hints {
            assert_eq!(
                (&result["ttlMs"], &result["cacheScope"]),
                (ttl, scope),
                "{method}"
            );
        }
        assert_eq!(result["resultType"], "complete", "{method}: {result}");
    }
    let mut legacy = Client::over(Stdio::start(&folder, FILE), "2025-11-25");
    let list = legacy.result("tools/list", json!({}));
    assert!(list.get("resultType").is_none(), "{list}");
}

#[test]
fn every_document_is_a_readable_resource() {
    let folder = Folder::indexed();
    let mut client = Client::stdio(&folder, FILE);
    let list = client.result("resources/list", json!({}));
    let resources = list["resources"].as_array().unwrap();
    assert_eq!(resources[0]["uri"], "kb://harbour");
    let names: Vec<&str> = resources
        .iter()
        .skip(1)
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    assert_eq!(names.len(), crate::support::CORPUS.len());
    assert!(names.is_sorted(), "{names:?}");
    for resource in resources {
        assert!(
            resource["annotations"]["lastModified"]
                .as_str()
                .unwrap()
                .ends_with('Z')
        );
        let read = client.result("resources/read", json!({"uri": resource["uri"]}));
        let content = &read["contents"][0];
        assert_eq!(content["uri"], resource["uri"]);
        assert_eq!(content["mimeType"], resource["mimeType"]);
        let text = content["text"].as_str().unwrap();
        if let Some(size) = resource["size"].as_u64() {
            assert_eq!(text.len() as u64, size, "{resource}");
        }
    }
    let guide = client.result(
        "resources/read",
        json!({"uri": "kb://harbour/doc/docs/guide.md"}),
    );
    assert_eq!(guide["contents"][0]["text"], crate::support::CORPUS[0].1);
    let lines = client.result(
        "resources/read",
        json!({"uri": "kb://harbour/lines/5-5/docs/guide.md"}),
    );
    assert_eq!(lines["contents"][0]["text"], "## Lamp maintenance\n");
    let outline = client.result(
        "resources/read",
        json!({"uri": "kb://harbour/outline/docs/guide.md"}),
    );
    let outline = outline["contents"][0]["text"].as_str().unwrap();
    assert!(
        outline.contains("1.1 Lamp maintenance (lines 5-"),
        "{outline}"
    );
    let overview = client.result("resources/read", json!({"uri": "kb://harbour"}));
    let overview: Value =
        serde_json::from_str(overview["contents"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(overview["documents"], crate::support::CORPUS.len());
    assert_eq!(overview["folders"], json!(["data", "docs", "site", "src"]));
    let templates = client.result("resources/templates/list", json!({}));
    let uris = templates["resourceTemplates"].as_array().unwrap().iter();
    let uris: Vec<&str> = uris
        .map(|one| one["uriTemplate"].as_str().unwrap())
        .collect();
    assert_eq!(
        uris,
        [
            "kb://{index_name}/doc/{+path}",
            "kb://{index_name}/outline/{+path}",
            "kb://{index_name}/lines/{start}-{end}/{+path}",
        ]
    );
}

#[test]
fn many_resources_come_in_pages_that_survive_a_change() {
    let folder = Folder::empty();
    for n in 0..250 {
        folder.write(
            format!("many/{n:03}.md"),
            format!("# Note {n}\n\nText {n}.\n"),
        );
    }
    folder.kb("index many").expect(0);
    let mut client = Client::stdio(&folder, &["many.kb"]);
    let mut names = Vec::new();
    let mut params = json!({});
    let mut pages = 0;
    loop {
        let page = client.result("resources/list", params);
        let resources = page["resources"].as_array().unwrap();
        assert!(resources.len() <= 100);
        names.extend(
            resources
                .iter()
                .map(|one| one["name"].as_str().unwrap().to_owned()),
        );
        pages += 1;
        let Some(cursor) = page.get("nextCursor") else {
            break;
        };
        params = json!({"cursor": cursor});
        if pages == 1 {
            folder.kb("rm many.kb 000.md").expect(0);
        }
    }
    assert_eq!((pages, names.len()), (3, 251));
    assert!(names[1..].is_sorted());
}

#[test]
fn prompts_and_their_arguments_are_filled_in_and_completed() {
    let folder = Folder::indexed();
    let mut client = Client::stdio(&folder, FILE);
    let list = client.result("prompts/list", json!({}));
    let names: Vec<&str> = list["prompts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        ["answer_from_docs", "explain_code", "summarize_document"]
    );
    let given = client.result(
        "prompts/get",
        json!({"name": "summarize_document", "arguments": {"document_id": "docs/guide.md"}}),
    );
    let text = given["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(
        text.contains("docs/guide.md") && text.contains("get_document_outline"),
        "{text}"
    );
    let (code, message) = client.refused("prompts/get", json!({"name": "summarize_document"}));
    assert!(
        code == -32602 && message.contains("document_id"),
        "{message}"
    );
    let mut completed = |reference: Value, name: &str, typed: &str| {
        let params = json!({"ref": reference, "argument": {"name": name, "value": typed}});
        client.result("completion/complete", params)["completion"].take()
    };
    let template = json!({"type": "ref/resource", "uri": "kb://{index_name}/doc/{+path}"});
    let found = completed(template.clone(), "path", "docs/");
    assert_eq!(
        found["values"],
        json!(["docs/guide.md", "docs/install.rst"])
    );
    assert_eq!(
        (&found["total"], &found["hasMore"]),
        (&json!(2), &json!(false))
    );
    assert_eq!(
        completed(template.clone(), "path", "TIDE")["values"],
        json!(["src/tide.rs"])
    );
    assert_eq!(
        completed(template, "index_name", "har")["values"],
        json!(["harbour"])
    );
    let prompt = json!({"type": "ref/prompt", "name": "summarize_document"});
    assert_eq!(
        completed(prompt, "document_id", "notes")["values"],
        json!(["notes.txt"])
    );
    let unknown = json!({"ref": {"type": "ref/prompt", "name": "none"}, "argument": {"name": "a", "value": ""}});
    assert_eq!(client.refused("completion/complete", unknown).0, -32602);
}

#[test]
fn fifty_calls_sent_at_once_are_all_answered() {
    let folder = Folder::indexed();
    let mut client = Client::stdio(&folder, FILE);
    let call = json!({"name": "search_docs", "arguments": {"query": "lamp", "top_k": 1}});
    let ids: Vec<u64> = (0..50)
        .map(|_| client.send("tools/call", call.clone()))
        .collect();
    let mut waiting: std::collections::BTreeSet<u64> = ids.into_iter().collect();
    // Answers come in any order.
    while !waiting.is_empty() {
        let answer = client.next_message();
        let id = answer["id"].as_u64().unwrap();
        assert!(waiting.remove(&id), "{id} was answered twice");
        assert!(text_of(&answer["result"]).contains("docs/guide.md"));
    }
}

#[test]
fn stdout_has_only_messages_and_ends_with_the_input() {
    let folder = Folder::indexed();
    let ended_after = |listens: bool| {
        let mut stdio = Stdio::start(&folder, FILE);
        let mut ask = |id: u64, method: &str, mut params: Value| {
            params["_meta"] = Client::meta();
            stdio.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
            stdio.receive(PATIENCE).unwrap()
        };
        ask(1, "server/discover", json!({}));
        ask(
            2,
            "tools/call",
            json!({"name": "search", "arguments": {"query": "buoy"}}),
        );
        if listens {
            let wanted = json!({"notifications": {"resourcesListChanged": true}});
            let first = ask(3, "subscriptions/listen", wanted);
            assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
        }
        let ended = stdio.end();
        assert_eq!(
            (ended.code, &ended.stray),
            (Some(0), &Vec::new()),
            "{}",
            ended.stderr
        );
        assert!(
            !ended.stderr.to_lowercase().contains("error"),
            "{}",
            ended.stderr
        );
        ended.after
    };
    for listens in [false, true] {
        // rmcp itself waits five seconds for a subscription. Whatever else holds the machine up does
        // not do so every time.
        let is_soon = |_| ended_after(listens) < Duration::from_secs(5);
        assert!((0..5).any(is_soon), "the end of the input is waited out");
    }
    let ended = Stdio::start(&folder, FILE).end();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
}

#[test]
fn lines_that_are_no_messages_do_not_end_the_server() {
    let folder = Folder::indexed();
    let mut stdio = Stdio::start(&folder, FILE);
    for line in [
        // Before any request: a notification, an answer to nothing, no JSON at all.
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":99,"result":{}}"#,
        "this is no message",
        "",
        r#"{"jsonrpc":"2.0","id":30"#,
        "[]",
        "null",
        "\u{feff}",
    ] {
        stdio.send_line(line.as_bytes());
    }
    stdio.send_line(b"\xff\xfe\x00");
    let mut client = Client::over(stdio, MODERN);
    client.result("tools/list", json!({}));
}

#[test]
fn an_overlong_line_is_refused_and_the_next_answered() {
    let folder = Folder::indexed();
    let mut stdio = Stdio::start(&folder, FILE);
    stdio.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": Client::meta()}}));
    stdio.receive(PATIENCE).unwrap();
    stdio.send_line(&vec![b'x'; 25 << 20]);
    let refused = stdio.receive(PATIENCE).unwrap();
    assert_eq!(refused["error"]["code"], -32600, "{refused}");
    let mut client = Client::over(stdio, MODERN);
    client.result("tools/list", json!({}));
}

#[test]
fn a_panic_in_a_tool_is_answered_and_the_server_lives_on() {
    let folder = Folder::indexed();
    let fault = [("KB_FAULT_PANIC", "index_stats")];
    let server = HttpServer::start_with(&folder, FILE, &fault);
    let stdio = Client::over(Stdio::start_with(&folder, FILE, &fault), MODERN);
    for mut client in [stdio, Client::http(&server)] {
        let text = client.error("index_stats", json!({}));
        assert!(text.starts_with("INTERNAL: "), "{text}");
        client.tool("list_indexes", json!({}));
    }
}
