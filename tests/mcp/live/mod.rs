//! Files that change while they are served.

mod embedding;
mod freshness;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use super::client::{Client, MODERN};
use super::http::HttpServer;
use super::stdio::Stdio;
use crate::support::{Folder, PATIENCE};

const FILE: &[&str] = &["harbour.kb"];

#[test]
fn changes_by_other_processes_are_served_at_once() {
    let folder = Folder::indexed();
    let mut client = Client::stdio(&folder, FILE);
    let mut first = |query: &str| {
        let found = client.tool("search", json!({"query": query}));
        found["data"]["results"][0]["document_id"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(first("trim the wick"), "docs/guide.md");
    folder.write(
        "harbour/rope.md",
        "# Rope\n\nSplice the hawser with a fid.\n",
    );
    folder.kb("index harbour").expect(0);
    assert_eq!(first("splice the hawser"), "rope.md");
    folder.write(
        "harbour/sail.md",
        "# Sail\n\nReef the mainsail before the squall.\n",
    );
    folder.kb("index harbour --rebuild").expect(0);
    assert_eq!(first("reef the mainsail"), "sail.md");
    folder.kb("rm harbour.kb sail.md").expect(0);
    folder.kb("seal harbour.kb").expect(0);
    assert_ne!(first("reef the mainsail"), "sail.md");
}

#[test]
fn whoever_subscribed_hears_of_a_commit_within_seconds() {
    let folder = Folder::indexed();
    let guide = "kb://harbour/doc/docs/guide.md";
    let change = |n: u32| {
        folder.write(
            "harbour/docs/guide.md",
            format!("# Guide {n}\n\nOther words.\n"),
        );
        folder.kb("index harbour").expect(0);
    };
    // The newest revision: one request that stays open.
    let mut client = Client::over(Stdio::start(&folder, FILE), MODERN);
    let wanted = json!({"notifications": {"resourcesListChanged": true, "resourceSubscriptions": [guide, "kb://harbour/doc/notes.txt"]}});
    client.send("subscriptions/listen", wanted);
    assert!(
        client
            .notified("notifications/subscriptions/acknowledged", PATIENCE)
            .is_some()
    );
    change(1);
    let updated = client
        .notified("notifications/resources/updated", PATIENCE)
        .expect("updated");
    assert_eq!(updated["params"]["uri"], guide);
    assert!(
        client
            .notified("notifications/resources/list_changed", PATIENCE)
            .is_some()
    );
    // The older ones: a session that remembers.
    let mut client = Client::over(Stdio::start(&folder, FILE), "2025-11-25");
    client.result("resources/subscribe", json!({"uri": guide}));
    change(2);
    let updated = client
        .notified("notifications/resources/updated", PATIENCE)
        .expect("updated");
    assert_eq!(updated["params"]["uri"], guide);
    client.result(
        "resources/subscribe",
        json!({"uri": "kb://harbour/doc/notes.txt"}),
    );
    client.result("resources/unsubscribe", json!({"uri": guide}));
    client.notifications.clear();
    change(3);
    assert!(
        client
            .notified("notifications/resources/list_changed", PATIENCE)
            .is_some()
    );
    assert!(
        client
            .notifications
            .iter()
            .all(|message| message["method"] != "notifications/resources/updated")
    );
}

#[test]
fn a_server_that_watches_follows_its_sources() {
    let folder = Folder::indexed();
    let mut client = Client::stdio(&folder, &["harbour.kb", "--allow-write", "--watch"]);
    client.tool("list_indexes", json!({}));
    folder.write("harbour/knots.md", "# Knots\n\nA bowline does not slip.\n");
    let asked = Instant::now();
    loop {
        let found = client.tool("search", json!({"query": "bowline knots"}));
        if found["data"]["results"][0]["document_id"] == "knots.md" {
            break;
        }
        assert!(asked.elapsed() < PATIENCE, "the new file was not followed");
        std::thread::sleep(Duration::from_millis(50));
    }
    // Another writer is not locked out by a server that only watches.
    folder
        .kb("tag -f harbour.kb knots.md --add rope --wait")
        .expect(0);
}

/// One reader less when this is dropped.
struct Left<'l>(&'l AtomicUsize);

impl Drop for Left<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[test]
fn each_answer_to_many_clients_is_of_one_commit() {
    let folder = Folder::indexed();
    let server = HttpServer::start(&folder, &["harbour.kb", "--allow-write"]);
    // Every client asks as often as this, and the writer goes on until all have.
    const ROUNDS: usize = 8;
    let readers_left = AtomicUsize::new(64);
    std::thread::scope(|scope| {
        let writing = scope.spawn(|| {
            let mut client = Client::http(&server);
            let mut commits = 0u32;
            while readers_left.load(Ordering::Relaxed) > 0 || commits < 2 {
                // Both documents of one commit, so that an answer of half a commit would show.
                let pair = format!("# Pair {commits}\n\nThe herring gull counts to {commits}.\n");
                client.tool(
                    "upload_document",
                    json!({"fileName": "pair.md", "content": pair}),
                );
                commits += 1;
            }
            commits
        });
        let readers: Vec<_> = (0..64)
            .map(|n| {
                let (server, readers_left) = (&server, &readers_left);
                scope.spawn(move || {
                    // Also where the test fails, so that it ends.
                    let _left = Left(readers_left);
                    let mut client = Client::http(server);
                    for _ in 0..ROUNDS {
                        let found = client.tool(
                            "search_docs",
                            json!({"query": "trim the wick of the lamp", "top_k": 3}),
                        );
                        let first = &found["results"][0];
                        assert_eq!(first["path"], "docs/guide.md", "client {n}: {found}");
                        assert!(first["text"].as_str().unwrap().contains("Trim the wick"));
                        let found = client.tool(
                            "search_docs",
                            json!({"query": "herring gull counts", "top_k": 1}),
                        );
                        if let Some(hit) = found["results"]
                            .get(0)
                            .filter(|hit| hit["path"] == "pair.md")
                        {
                            // Title and text come from one state of the document.
                            let count = hit["documentTitle"]
                                .as_str()
                                .unwrap()
                                .strip_prefix("Pair ")
                                .unwrap();
                            let said = format!("counts to {count}.");
                            assert!(hit["text"].as_str().unwrap().contains(&said), "{hit}");
                        }
                    }
                })
            })
            .collect();
        for reader in readers {
            reader.join().unwrap();
        }
        assert!(writing.join().unwrap() > 1);
    });
    let mut client = Client::http(&server);
    assert_eq!(client.tool("index_stats", json!({}))["file_count"], 8);
    drop(server);
    folder.kb("verify harbour.kb --deep").expect(0);
}

#[test]
fn a_watching_server_follows_index_and_clear() {
    let folder = Folder::with_corpus();
    let arguments = ["new.kb", "--allow-write", "--watch"];
    let mut client = Client::stdio(&folder, &arguments);
    let path = folder.join("harbour").display().to_string();
    client.tool("index_codebase", json!({"path": path, "index_name": "new"}));
    let count = |client: &mut Client| {
        client.tool("index_stats", json!({}))["file_count"]
            .as_u64()
            .unwrap()
    };
    assert_eq!(count(&mut client), 7);
    // Files keep coming until the server has noticed that there is a folder to watch.
    let asked = Instant::now();
    let mut n = 0;
    while count(&mut client) == 7 {
        assert!(asked.elapsed() < PATIENCE, "nobody follows the new folder");
        n += 1;
        folder.write(
            format!("harbour/later/{n}.md"),
            "# Later\n\nA file that came later.\n",
        );
        std::thread::sleep(Duration::from_millis(300));
    }
    client.tool("clear_index", json!({"index_name": "new"}));
    folder.write(
        "harbour/after.md",
        "# After\n\nA file that came after the end.\n",
    );
    std::thread::sleep(Duration::from_secs(4));
    assert_eq!(count(&mut client), 0, "what was cleared is back");
}

/// A sealed file names its folder without its place; one of that name in the working folder is another.
#[test]
fn a_watching_server_ignores_a_folder_of_the_same_name() {
    let folder = Folder::empty();
    folder.write("p1/docs/a.md", "# Anchor\n\nDrop it.\n");
    folder.write("p2/docs/g.md", "# Gull\n\nIt was never named.\n");
    folder.kb("index p1/docs -o n.kb").expect(0);
    folder.kb("seal n.kb").expect(0);
    let mut command = folder.command();
    command.current_dir(folder.join("p2"));
    let arguments = ["../n.kb", "--allow-write", "--watch"];
    let server = Stdio::start_command(command, &arguments);
    crate::support::wait_until("the folder was looked at", || {
        server.said().contains("is not watched")
    });
    let found = folder.kb("ls -f n.kb -r").expect(0).stdout;
    assert_eq!(found, "a.md\n");
    assert!(server.end().stderr.contains("kb watch FOLDER"));
}
