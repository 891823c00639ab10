//! Warnings about changed sources, and when the server updates its files.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::mcp::client::Client;
use crate::support::{Folder, PATIENCE};

fn project() -> Folder {
    let folder = Folder::empty();
    folder.write("src/main.py", "def walrus():\n    return 1\n");
    folder.kb("index src -o src.kb").expect(0);
    folder
}

const ADDED: &str = "def walrus():\n    return 1\n\n\ndef seal():\n    return 2\n";

#[test]
fn a_server_that_only_reads_names_the_file_that_changed_where_it_finds_nothing() {
    let folder = project();
    let mut client = Client::stdio(&folder, &["src.kb"]);
    assert_eq!(
        client.tool("find_symbols", json!({"name": "walrus"}))["total"],
        1
    );
    folder.write("src/main.py", ADDED);
    for (tool, given) in [
        ("find_symbols", json!({"name": "seal"})),
        ("search_regex", json!({"pattern": "def seal"})),
    ] {
        let (found, text) = client.both(tool, given);
        assert_eq!(found["results"], json!([]));
        let warning = found["warnings"][0].as_str().unwrap();
        assert!(
            warning.starts_with("STALE: ") && warning.contains("main.py"),
            "{warning}"
        );
        assert!(text.contains(warning), "{text}");
    }
    let before = std::fs::read(folder.join("src.kb")).unwrap();
    std::thread::sleep(Duration::from_secs(2));
    assert!(before == std::fs::read(folder.join("src.kb")).unwrap());
}

#[test]
fn a_server_that_may_write_follows_its_sources() {
    let folder = project();
    let mut client = Client::stdio(&folder, &["src.kb", "--allow-write"]);
    client.tool("list_indexes", json!({}));
    folder.write("src/main.py", ADDED);
    let asked = Instant::now();
    while client.tool("find_symbols", json!({"name": "seal"}))["total"] != 1 {
        assert!(asked.elapsed() < PATIENCE, "the change was not followed");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn sealed_files_and_those_of_other_folders_stay_as_they_are() {
    let folder = project();
    folder.kb("seal src.kb -o sealed.kb").expect(0);
    folder.write("other/a.md", "# A\n");
    for arguments in [
        &["sealed.kb", "--allow-write"][..],
        &["src.kb", "--allow-write", "--no-watch"],
        &["src.kb", "--allow-write", "--allow-root", "other"],
    ] {
        let before = std::fs::read(folder.join(arguments[0])).unwrap();
        let mut client = Client::stdio(&folder, arguments);
        client.tool("list_indexes", json!({}));
        folder.write("src/main.py", ADDED);
        std::thread::sleep(Duration::from_secs(3));
        assert_eq!(
            client.tool("find_symbols", json!({"name": "seal"}))["total"],
            0
        );
        let after = std::fs::read(folder.join(arguments[0])).unwrap();
        assert!(before == after, "{arguments:?}");
    }
}
