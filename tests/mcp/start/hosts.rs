//! The server in the configuration of hosts, and which tools it offers there.

use std::process::Command;

use serde_json::{Value, json};

use crate::mcp::client::{Client, MODERN};
use crate::mcp::stdio::Stdio;
use crate::support::{Folder, Outcome, run};

const HOSTS: [&str; 7] = [
    "claude", "cursor", "vscode", "codex", "gemini", "zed", "opencode",
];

/// A command of a user whose home is the folder `home`.
fn command(folder: &Folder, arguments: &[&str]) -> Command {
    let mut command = folder.command();
    command.args(arguments).env("HOME", folder.join("home"));
    command
        .env_remove("XDG_CONFIG_HOME")
        .env_remove("CODEX_HOME");
    command
}

fn kb(folder: &Folder, arguments: &[&str]) -> Outcome {
    run(&mut command(folder, arguments))
}

#[cfg(unix)]
#[test]
fn a_server_is_installed_into_every_host_and_taken_out_again() {
    for host in HOSTS {
        for more in [&[][..], &["--project"]] {
            let folder = Folder::indexed();
            let install = [&["mcp", "harbour.kb", "--install", host], more].concat();
            let uninstall = [&["mcp", "--uninstall", host], more].concat();
            let dry = [&install[..], &["--dry-run"]].concat();
            let before = folder.names();
            let shown = kb(&folder, &dry).expect(0).stdout;
            assert!(
                shown.contains("harbour.kb") && folder.names() == before,
                "{shown}"
            );
            let said = kb(&folder, &install).expect(0);
            let file = said
                .stdout
                .trim()
                .strip_prefix("changed ")
                .unwrap()
                .to_owned();
            let text = std::fs::read_to_string(&file).unwrap();
            assert!(text.contains("harbour=") && text.contains("mcp"), "{text}");
            assert_eq!(file.contains("/home/"), more.is_empty(), "{file}");
            let again = kb(&folder, &install).expect(0);
            again.stderr_has("already");
            kb(&folder, &uninstall).expect(0);
            let text = std::fs::read_to_string(&file).unwrap();
            assert!(!text.contains("harbour"), "{text}");
            kb(&folder, &uninstall).expect(1);
            let backup = std::fs::read_to_string(format!("{file}.kb-backup")).unwrap();
            assert!(backup.contains("harbour="), "{backup}");
        }
    }
}

#[test]
fn another_server_and_a_broken_file_stay() {
    let folder = Folder::indexed();
    let theirs =
        "{\n  // Mine.\n  \"mcpServers\": {\n    \"other\": {\"command\": \"other\"},\n  },\n}\n";
    folder.write(".mcp.json", theirs);
    let install = ["mcp", "harbour.kb", "--install", "claude", "--project"];
    kb(&folder, &install).expect(0);
    let text = std::fs::read_to_string(folder.join(".mcp.json")).unwrap();
    for line in theirs.lines() {
        assert!(text.contains(line), "{text}");
    }
    assert!(text.contains("harbour="), "{text}");
    let other = [
        "mcp",
        "other=harbour.kb",
        "--install",
        "claude",
        "--project",
    ];
    let refused = kb(&folder, &other).expect(2);
    assert!(
        refused.hint().contains("--server-name"),
        "{}",
        refused.stderr
    );
    kb(
        &folder,
        &[&other[..], &["--server-name", "second"]].concat(),
    )
    .expect(0);
    folder.write(".mcp.json", "{\"mcpServers\": ");
    let refused = kb(&folder, &install).expect(2);
    refused.stderr_has(".mcp.json");
    let text = std::fs::read_to_string(folder.join(".mcp.json")).unwrap();
    assert_eq!(text, "{\"mcpServers\": ");
    kb(&folder, &["mcp", "harbour.kb", "--dry-run"]).expect(2);
}

/// A client that starts a server often hides why it does not start.
#[test]
fn a_server_that_would_not_start_is_not_installed() {
    let folder = Folder::indexed();
    folder.write("notes.kb", "no .kb");
    for (file, says) in [
        ("gone.kb", "gone.kb does not exist"),
        ("notes.kb", "not a .kb file"),
    ] {
        let install = ["mcp", file, "--install", "cursor", "--project"];
        let served = run(folder.command().args(["mcp", file])).expect(2);
        for more in [&[][..], &["--dry-run"]] {
            let before = folder.names();
            let refused = kb(&folder, &[&install[..], more].concat()).expect(2);
            assert_eq!(refused.stderr, served.stderr);
            assert!(
                refused.stderr.contains(says) && folder.names() == before,
                "{refused:#?}"
            );
        }
    }
    // It creates the file.
    let install = ["mcp", "gone.kb", "--install", "cursor", "--project"];
    kb(&folder, &[&install[..], &["--allow-write"]].concat()).expect(0);
    // The other end of the connection has the files.
    let remote = ["--http", "127.0.0.1:8765", "--server-name", "remote"];
    kb(&folder, &[&install[..], &remote].concat()).expect(0);
}

#[test]
fn an_installed_server_answers() {
    let folder = Folder::indexed();
    let install = [
        "mcp",
        "harbour.kb",
        "--tools",
        "docs",
        "--install",
        "cursor",
        "--project",
    ];
    kb(&folder, &install).expect(0);
    let text = std::fs::read_to_string(folder.join(".cursor/mcp.json")).unwrap();
    let value: Value = serde_json::from_str(&text).unwrap();
    let server = &value["mcpServers"]["kb"];
    let words = server["args"].as_array().unwrap();
    let words: Vec<&str> = words.iter().map(|word| word.as_str().unwrap()).collect();
    assert_eq!(
        server["command"],
        json!(crate::support::kb_binary().to_str().unwrap())
    );
    let elsewhere = Folder::empty();
    let mut client = Client::over(Stdio::start(&elsewhere, &words[1..]), MODERN);
    let found = client.tool("search_docs", json!({"query": "trim the wick"}));
    assert_eq!(found["results"][0]["path"], "docs/guide.md");
}

#[test]
fn a_prefix_stands_before_every_name_in_both_eras() {
    let folder = Folder::indexed();
    for revision in [MODERN, "2025-06-18"] {
        let arguments = ["harbour.kb", "--tool-prefix", "notes"];
        let mut client = Client::over(Stdio::start(&folder, &arguments), revision);
        let names: Vec<String> = client
            .definitions()
            .iter()
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect();
        assert!(names.len() == 18 && names.iter().all(|name| name.starts_with("notes_")));
        let texts = Value::from(client.definitions().to_vec()).to_string();
        assert!(
            texts.contains("notes_get_pages") && !texts.contains(" get_pages"),
            "{texts}"
        );
        let found = client.tool("notes_search_docs", json!({"query": "trim the wick"}));
        assert_eq!(found["results"][0]["path"], "docs/guide.md");
        let plain = json!({"name": "search_docs", "arguments": {"query": "wick"}});
        assert_eq!(client.refused("tools/call", plain).0, -32602);
        let error = client.error(
            "notes_get_pages",
            json!({"document_id": "docs/guide.md", "page_range": "x"}),
        );
        assert!(error.starts_with("INVALID_RANGE"), "{error}");
        let error = client.error(
            "notes_upload_document",
            json!({"fileName": "a", "content": "a"}),
        );
        assert!(error.starts_with("INDEX_READ_ONLY"), "{error}");
    }
}

#[test]
fn a_set_of_tools_halves_the_list() {
    let folder = Folder::indexed();
    let size = |tools: &str| {
        let mut client = Client::stdio(&folder, &["harbour.kb", "--tools", tools]);
        let sent = client.definitions().iter().map(|tool| {
            json!({"name": tool["name"], "description": tool["description"],
                "inputSchema": tool["inputSchema"]})
        });
        let characters: usize = sent.map(|tool| tool.to_string().chars().count()).sum();
        let left_out = json!({"name": "get_embedding", "arguments": {"text": "a"}});
        if tools != "all" {
            assert_eq!(client.refused("tools/call", left_out).0, -32602);
        }
        characters / 4
    };
    let (all, code, docs) = (size("all"), size("code"), size("docs"));
    assert!(
        code * 100 <= all * 55 && docs * 100 <= all * 60,
        "{all} {code} {docs}"
    );
    let wrong = folder.kb("mcp harbour.kb --tools find").expect(2);
    wrong.stderr_has("search_docs");
}
