//! How a server starts, and its messages if it cannot.

mod hosts;

use serde_json::{Value, json};

use super::client::{Carrier, Client};
use super::stdio::Stdio;
use crate::support::older::{make_older, older_version};
use crate::support::{Folder, run};

#[test]
fn a_server_that_cannot_start_says_why_on_stderr() {
    let folder = Folder::indexed();
    folder.write("broken.kb", "this is no index");
    for (arguments, words) in [
        (vec!["mcp", "none.kb"], "none.kb does not exist"),
        (vec!["mcp", "broken.kb"], "not a .kb file"),
        (vec!["mcp", "harbour.kb", "--http", "nowhere"], "nowhere"),
        (
            vec![
                "mcp",
                "harbour.kb",
                "--http",
                "0.0.0.0:0",
                "--tokens",
                "t.json",
            ],
            "kb token create",
        ),
        (vec!["mcp", "harbour.kb", "--watch"], "--allow-write"),
        (
            vec!["mcp", "a=harbour.kb", "a=harbour.kb"],
            "two files are called",
        ),
        (
            vec!["mcp", "harbour.kb", "--allow-write", "--allow-root", "none"],
            "none",
        ),
    ] {
        let outcome = crate::support::run(folder.command().args(&arguments)).expect(2);
        assert_eq!(outcome.stdout, "", "{arguments:?}");
        assert!(
            outcome.stderr.contains("error: "),
            "{arguments:?}: {}",
            outcome.stderr
        );
        let said = &outcome.stderr;
        assert!(said.contains(words), "{arguments:?}: {said}");
    }
}

#[test]
fn without_a_file_the_one_of_the_folder_is_served() {
    let folder = Folder::indexed();
    let mut client = Client::stdio(&folder, &[]);
    let list = client.tool("list_indexes", json!({}));
    assert_eq!(list["indexes"][0]["name"], "harbour");
    assert_eq!(list["indexes"][0]["table_name"], "harbour.kb");
    assert_eq!(list["indexes"][0]["writable"], false);
    let mut server = Stdio::start(&folder, &[]);
    let meta = json!({"_meta": Client::meta()});
    server.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": meta}));
    assert!(server.receive(crate::support::PATIENCE).is_some());
    let said = server.end().stderr;
    let file = folder.join("harbour.kb").display().to_string();
    assert_eq!(said, format!("serving {file} as \"harbour\"\n"));
    // One that was named need not be told.
    assert_eq!(Stdio::start(&folder, &["harbour.kb"]).end().stderr, "");
}

#[test]
fn several_files_are_told_apart_by_name_and_searched_together() {
    let folder = Folder::indexed();
    folder.write("more/tools.md", "# Tools\n\nA marlinspike opens knots.\n");
    folder.kb("index more").expect(0);
    let mut client = Client::stdio(&folder, &["harbour.kb", "ship=more.kb"]);
    let given = json!({"query": "marlinspike knots", "full": true});
    let found = client.tool("search", given);
    let first = &found["data"]["results"][0];
    assert_eq!(
        (&first["index_name"], &first["document_id"]),
        (&json!("ship"), &json!("tools.md"))
    );
    assert_eq!(first["uri"], "kb://ship/doc/tools.md");
    let text = client.error("list_documents", json!({}));
    assert!(
        text.starts_with("INDEX_AMBIGUOUS: ") && text.contains("harbour or ship"),
        "{text}"
    );
    let text = client.error("list_documents", json!({"index_name": "none"}));
    assert!(
        text.starts_with("INDEX_NOT_FOUND: ") && text.contains("harbour and ship"),
        "{text}"
    );
    let stats = client.tool("index_stats", json!({}));
    assert_eq!(stats["indexes"][1]["file_count"], 1);
    let id = client.tool("list_indexes", json!({}))["indexes"][1]["id"].take();
    let listed = client.tool("list_documents", json!({"index_name": id}));
    assert_eq!(listed["data"]["documents"][0]["document_id"], "tools.md");
    // An error about a part of a document says whose document it is.
    for (tool, arguments) in [
        (
            "get_document_data",
            json!({"document_id": "tools.md", "section": "none"}),
        ),
        (
            "get_pages",
            json!({"document_id": "tools.md", "section": "none"}),
        ),
        (
            "list_documents",
            json!({"index_name": "ship", "folder": "none"}),
        ),
    ] {
        let text = client.error(tool, arguments);
        assert!(text.contains("(index_name ship)"), "{tool}: {text}");
    }
    // Documents are found wherever they are, by path, name, handle and address.
    for name in ["tools.md", "kb://ship/doc/tools.md"] {
        assert_eq!(
            client.tool("get_document", json!({"doc_handle": name}))["title"],
            "Tools"
        );
    }
}

#[test]
fn host_configurations_have_absolute_paths() {
    let folder = Folder::indexed();
    let binary = crate::support::kb_binary().display().to_string();
    let file = folder
        .join("harbour.kb")
        .canonicalize()
        .unwrap()
        .display()
        .to_string();
    for host in [
        "claude", "cursor", "vscode", "codex", "gemini", "zed", "opencode",
    ] {
        let outcome = folder
            .kb(["mcp", "harbour.kb", "--print-config", host])
            .expect(0);
        let snippet = &outcome.stdout;
        assert!(
            snippet.contains(&binary) && snippet.contains(&file),
            "{host}: {snippet}"
        );
        if host == "codex" {
            assert!(snippet.contains("[mcp_servers.kb]"), "{snippet}");
            continue;
        }
        let parsed: Value = serde_json::from_str(snippet)
            .unwrap_or_else(|error| panic!("{host}: {error}: {snippet}"));
        let key = match host {
            "vscode" => "servers",
            "zed" => "context_servers",
            "opencode" => "mcp",
            _ => "mcpServers",
        };
        let entry = &parsed[key]["kb"];
        let command = if host == "opencode" {
            &entry["command"][0]
        } else {
            &entry["command"]
        };
        assert_eq!(*command, binary, "{host}: {snippet}");
    }
    // The same for a server that runs already; no file is needed for that.
    let remote = |more: &[&str]| {
        let mut command = folder.command();
        command.args(["mcp", "--print-config", "cursor"]).args(more);
        let outcome = crate::support::run(&mut command);
        let told = (outcome.code, outcome.stderr.clone());
        let parsed: Value = serde_json::from_str(&outcome.stdout).unwrap_or_default();
        (parsed["mcpServers"]["kb"].clone(), told)
    };
    let (local, _) = remote(&["--http", "127.0.0.1:8765"]);
    assert_eq!(local, json!({"url": "http://127.0.0.1:8765/mcp"}));
    let (public, _) = remote(&["--http", "0.0.0.0:8765", "--allow-host", "kb.example"]);
    let header = json!({"Authorization": "Bearer ${env:KB_MCP_TOKEN}"});
    assert_eq!(
        public,
        json!({"url": "http://kb.example:8765/mcp", "headers": header})
    );
    let (bridge, _) = remote(&["--connect", "http://127.0.0.1:8765/mcp"]);
    assert_eq!(
        bridge["args"],
        json!(["mcp", "--connect", "http://127.0.0.1:8765/mcp"])
    );
    for (more, words) in [
        (["--http", "127.0.0.1:0"], "needs a fixed port"),
        (["--http", "0.0.0.0:80"], "--allow-host"),
    ] {
        let (_, (code, told)) = remote(&more);
        assert!(code == Some(2) && told.contains(words), "{told}");
    }
    let outcome = folder.kb("mcp harbour.kb --print-config emacs").expect(2);
    outcome.stderr_has("claude");
}

#[test]
fn a_damaged_file_is_told_and_does_not_end_the_server() {
    let folder = Folder::indexed();
    let whole = std::fs::read(folder.join("harbour.kb")).unwrap();
    let (mut served, mut told) = (0, 0);
    for n in 1..40 {
        let mut damaged = whole.clone();
        let at = n * (whole.len() / 40);
        damaged[at..at + 512]
            .iter_mut()
            .for_each(|byte| *byte ^= 0x5a);
        folder.write("damaged.kb", damaged);
        if folder.kb("info damaged.kb").code != Some(0) {
            continue;
        }
        served += 1;
        let mut client = Client::stdio(&folder, &["damaged.kb"]);
        for (tool, arguments) in [
            ("search", json!({"query": "trim the wick"})),
            ("search_code", json!({"query": "predict high water"})),
            ("get_document", json!({"doc_handle": "docs/guide.md"})),
            (
                "get_document_outline",
                json!({"document_id": "docs/guide.md"}),
            ),
            ("get_pages", json!({"document_id": "src/tide.rs"})),
            ("list_documents", json!({"recursive": true})),
            ("list_folders", json!({})),
        ] {
            let result = client.call(tool, arguments);
            if result["isError"] == true {
                let text = super::client::text_of(&result);
                assert!(text.starts_with("INDEX_CORRUPT: "), "{at}: {text}");
                told += 1;
            }
        }
        client.result("tools/list", json!({}));
    }
    assert!(served > 5 && told > 0, "{served} served, {told} told");
}

#[test]
fn a_file_of_an_older_format_is_not_served_and_stays() {
    let folder = Folder::indexed();
    let path = folder.join("harbour.kb");
    let current = std::fs::read(&path).unwrap();
    let older = make_older(&path);
    for more in [&[][..], &["--allow-write"]] {
        let refused = run(folder.command().args(["mcp", "harbour.kb"]).args(more)).expect(2);
        refused.stderr_has(&older_version());
        assert!(refused.hint().contains("-o harbour.kb"), "{refused:#?}");
        assert!(std::fs::read(&path).unwrap() == older);
    }
    // One that takes the place of a served file is refused by each call.
    std::fs::write(&path, current).unwrap();
    let mut client = Client::stdio(&folder, &["harbour.kb", "--allow-write", "--no-watch"]);
    client.tool("search_docs", json!({"query": "trim the wick"}));
    folder.write("older.kb", older.clone());
    std::fs::rename(folder.join("older.kb"), &path).unwrap();
    let upload = json!({"filename": "new.md", "content": "# New\n"});
    for (tool, arguments) in [
        ("search_docs", json!({"query": "trim the wick"})),
        ("upload_document", upload),
    ] {
        let text = client.error(tool, arguments);
        assert!(
            text.contains(&older_version()) && text.contains("index its folders again"),
            "{text}"
        );
    }
    assert!(std::fs::read(&path).unwrap() == older);
}
