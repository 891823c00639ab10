//! `kb search -f http://HOST:PORT/`.

use super::Site;
use crate::support::{Folder, outcome};

#[test]
fn a_search_asks_a_server_as_it_asks_a_file() {
    let folder = Folder::indexed();
    let site = Site::start(&folder, &["harbour.kb", "--base-path", "/kb"]);
    let url = format!("http://{}/kb/", site.address);
    let asked = |arguments: &[&str]| {
        let mut command = folder.command();
        outcome(
            command
                .args(["search", "-f", &url])
                .args(arguments)
                .output()
                .unwrap(),
        )
    };
    let local = folder
        .kb("search -f harbour.kb 'fog horn' --json")
        .expect(0)
        .json_lines();
    let remote = asked(&["fog horn", "--json"]).expect(0).json_lines();
    let places = |lines: &[serde_json::Value]| -> Vec<String> {
        let hits = lines.iter().filter(|line| line["document"].is_string());
        hits.map(|hit| format!("{}:{}", hit["document"], hit["start_line"]))
            .collect()
    };
    assert!(!places(&remote).is_empty());
    assert_eq!(places(&remote), places(&local));
    let told = asked(&[
        "fog horn", "-k", "1", "--class", "doc", "--where", "size > 0",
    ])
    .expect(0);
    assert!(
        told.stdout.contains("harbour") && told.stdout.contains(".md:"),
        "{told:?}"
    );
    asked(&["--tag", "none-such"]).expect(2);
    asked(&["fog", "--where", "yaer > 1"])
        .expect(2)
        .stderr_has("yaer");
    asked(&["fog", "--explain"])
        .expect(2)
        .stderr_has("--explain needs a file");
    asked(&["fog", "-f", "harbour.kb"])
        .expect(2)
        .stderr_has("searched alone");
}

#[test]
fn a_server_that_refuses_or_is_none_is_said_to() {
    let folder = Folder::indexed();
    let token = folder
        .kb("token create a --tokens tokens.json")
        .expect(0)
        .stdout;
    let site = Site::start(&folder, &["harbour.kb", "--tokens", "tokens.json"]);
    let url = format!("http://{}", site.address);
    let asked = |url: &str, token: Option<&str>| {
        let mut command = folder.command();
        command
            .args(["search", "-f", url, "fog"])
            .env_remove("KB_MCP_TOKEN");
        if let Some(token) = token {
            command.env("KB_MCP_TOKEN", token);
        }
        outcome(command.output().unwrap())
    };
    asked(&url, None).expect(2).stderr_has("KB_MCP_TOKEN");
    asked(&url, Some("kb_wrong")).expect(2);
    asked(&url, Some("a\r\nX: y"))
        .expect(2)
        .stderr_has("is not a token");
    asked(&url, Some(token.trim())).expect(0);
    asked("http://127.0.0.1:9/", None)
        .expect(2)
        .stderr_has("does not answer");
    asked("https://127.0.0.1:9/", None)
        .expect(2)
        .stderr_has("speaks http");
    asked("http://a b/", None)
        .expect(2)
        .stderr_has("not the address");
}
