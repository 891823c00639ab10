//! `kb models pull`: a model of a hub, which is a server of the test.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::write_model;
use crate::support::terminal::answer_on_terminal;
use crate::support::{Folder, run};

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

/// A hub with the files of a folder.
struct Hub {
    address: String,
    /// Requests for files.
    downloads: Arc<AtomicUsize>,
    /// Requests for files that are answered by half of the file before all others are refused.
    breaks_after: Arc<Mutex<Option<usize>>>,
}

fn listing(folder: &Path) -> Value {
    let files = fs::read_dir(folder).unwrap().map(|entry| {
        let path = entry.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        let hash = Sha256::digest(&bytes);
        let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        json!({"rfilename": name, "size": bytes.len(), "lfs": {"sha256": hash}})
    });
    let files: Vec<Value> = files.collect();
    json!({"sha": COMMIT, "siblings": files, "tags": ["model2vec"], "cardData": {"license": "mit"}})
}

fn answer(
    mut stream: TcpStream,
    folder: &Path,
    downloads: &AtomicUsize,
    breaks_after: &Mutex<Option<usize>>,
) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let (mut path, mut start) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        if let Some(rest) = line.strip_prefix("GET ") {
            path = rest.split(' ').next()?.to_owned();
        }
        let lower = line.to_ascii_lowercase();
        if let Some(rest) = lower.strip_prefix("range: bytes=") {
            start = rest.split('-').next()?.parse().ok()?;
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut say = |status: &str, length: usize, body: &[u8]| {
        let head =
            format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).ok()?;
        stream.write_all(body).ok()
    };
    if path == "/api/models/minish/Tiny/revision/main?blobs=true" {
        let body = listing(folder).to_string();
        return say("200 OK", body.len(), body.as_bytes());
    }
    let start_of_files = format!("/minish/Tiny/resolve/{COMMIT}/");
    let Some(name) = path.strip_prefix(&start_of_files) else {
        return say("404 Not Found", 0, b"");
    };
    downloads.fetch_add(1, Ordering::Relaxed);
    let bytes = fs::read(folder.join(name)).ok()?;
    let mut left = breaks_after.lock().unwrap();
    match left.as_mut() {
        Some(0) => return say("403 Forbidden", 0, b""),
        Some(left) => *left -= 1,
        None => {}
    }
    let rest = &bytes[start..];
    let range = format!(
        "Content-Range: bytes {start}-{}/{}",
        bytes.len() - 1,
        bytes.len()
    );
    let sent = match *left {
        Some(0) => rest.len() / 2,
        _ => rest.len(),
    };
    say(
        &format!("206 Partial\r\n{range}"),
        rest.len(),
        &rest[..sent],
    )
}

fn hub(folder: PathBuf) -> Hub {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let hub = Hub {
        address: format!("http://{}", listener.local_addr().unwrap()),
        downloads: Arc::default(),
        breaks_after: Arc::default(),
    };
    let (downloads, breaks_after) = (Arc::clone(&hub.downloads), Arc::clone(&hub.breaks_after));
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            answer(stream, &folder, &downloads, &breaks_after);
        }
    });
    hub
}

fn pull(folder: &Folder, hub: &Hub, more: &[&str]) -> Command {
    let mut command = folder.command();
    command.env("KB_MODELS", folder.join("models"));
    command.args(["models", "pull", "minish/Tiny", "--from", &hub.address]);
    command.args(more);
    command
}

fn models(folder: &Folder) -> Vec<String> {
    let entries = fs::read_dir(folder.join("models")).into_iter().flatten();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.collect()
}

#[test]
fn a_model_of_a_hub_is_downloaded_checked_and_named() {
    let folder = Folder::empty();
    write_model(&folder.join("of hub"));
    let hub = hub(folder.join("of hub"));
    let refused = run(&mut pull(&folder, &hub, &[])).expect(2);
    refused.stderr_has("minish/Tiny (");
    refused.stderr_has("licence: mit) from http://127.0.0.1:");
    refused.stderr_has("would be downloaded; nothing was");
    assert_eq!(
        refused.hint(),
        "kb models pull minish/Tiny --yes downloads it"
    );
    assert_eq!(hub.downloads.load(Ordering::Relaxed), 0);
    assert!(models(&folder).is_empty());

    let pulled = run(&mut pull(&folder, &hub, &["--yes", "--json"])).expect(0);
    pulled.stderr_has("downloading minish/Tiny (");
    let report = &pulled.json_lines()[0];
    assert_eq!(
        (&report["name"], &report["dimension"]),
        (&"tiny".into(), &2.into())
    );
    // Nothing is left beside the model, and its notice says where it is from.
    assert_eq!(models(&folder), ["tiny"]);
    let notice = fs::read_to_string(folder.join("models/tiny/NOTICE.txt")).unwrap();
    assert!(
        notice.contains(&format!("minish/Tiny at commit {COMMIT}")),
        "{notice}"
    );
    assert!(folder.join("models/tiny/licences/1.txt").is_file());

    let before = hub.downloads.load(Ordering::Relaxed);
    let taken = run(&mut pull(&folder, &hub, &["--yes"])).expect(2);
    taken.stderr_has("there is a model of this name");
    run(&mut pull(&folder, &hub, &["--yes", "--as", "a/b"])).expect(2);
    assert_eq!(hub.downloads.load(Ordering::Relaxed), before);
}

#[test]
fn a_question_on_the_terminal_decides_what_is_downloaded() {
    let folder = Folder::empty();
    write_model(&folder.join("of hub"));
    let hub = hub(folder.join("of hub"));
    for typed in ["\n", "no\n"] {
        let refused = answer_on_terminal(pull(&folder, &hub, &[]), typed);
        assert!(
            refused.stdout.contains("Download minish/Tiny ("),
            "{refused:#?}"
        );
        assert!(refused.stdout.contains("? [y/N] "), "{refused:#?}");
        assert_eq!(refused.code, Some(2), "{refused:#?}");
    }
    assert_eq!(hub.downloads.load(Ordering::Relaxed), 0);
    let pulled = answer_on_terminal(pull(&folder, &hub, &["--as", "mine"]), "y\n");
    assert_eq!(pulled.code, Some(0), "{pulled:#?}");
    assert_eq!(models(&folder), ["mine"]);
}

#[test]
fn a_download_that_broke_off_goes_on() {
    let folder = Folder::empty();
    write_model(&folder.join("of hub"));
    let hub = hub(folder.join("of hub"));
    *hub.breaks_after.lock().unwrap() = Some(2);
    let broken = run(&mut pull(&folder, &hub, &["--yes"])).expect(2);
    broken.stderr_has("status 403: the model is not public");
    assert!(
        broken.hint().starts_with("what was downloaded is kept"),
        "{broken:#?}"
    );
    let kept = models(&folder);
    assert_eq!(kept, [format!(".pull-minish--Tiny-{COMMIT}")]);
    // It has no name yet.
    let mut list = folder.command();
    list.env("KB_MODELS", folder.join("models")).arg("models");
    assert_eq!(run(&mut list).expect(0).stdout.lines().count(), 1);
    *hub.breaks_after.lock().unwrap() = None;
    let before = hub.downloads.load(Ordering::Relaxed);
    run(&mut pull(&folder, &hub, &["--yes"])).expect(0);
    assert_eq!(models(&folder), ["tiny"]);
    // The first file was whole, of the second one the rest was missing, and the third one had not begun.
    assert_eq!(hub.downloads.load(Ordering::Relaxed) - before, 2);
}

#[test]
fn what_cannot_be_downloaded_is_said() {
    let folder = Folder::empty();
    write_model(&folder.join("of hub"));
    let hub = hub(folder.join("of hub"));
    let pull = |words: &[&str]| {
        let mut command = folder.command();
        command.env("KB_MODELS", folder.join("models"));
        run(command.args(["models", "pull"]).args(words)).expect(2)
    };
    pull(&["minish/Other", "--from", &hub.address])
        .stderr_has("status 404: there is no such model");
    pull(&["tiny", "--from", &hub.address]).stderr_has("ORGANISATION/NAME");
    pull(&["minish/Tiny", "--from", "ftp://a"]).stderr_has("http:// or https://");
    fs::remove_file(folder.join("of hub/tokenizer.json")).unwrap();
    pull(&["minish/Tiny", "--from", &hub.address]).stderr_has("tokenizer.json in minish/Tiny");
    if !cfg!(feature = "tls") {
        pull(&["minish/Tiny"]).stderr_has("cargo build --release --features tls");
    }
}
