//! A hub that misbehaves.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use sha2::{Digest, Sha256};

use super::*;

/// What the hub does with a request for a file.
#[derive(Clone, Debug)]
enum Deed {
    /// Sends what was asked for.
    Send,
    /// Sends the whole file, whatever was asked for.
    Whole,
    /// Promises all, and sends so many bytes.
    Cut(usize),
    /// Only says something.
    Say(&'static str),
    /// Sends other bytes.
    Wrong,
    /// Says that the file is longer.
    Longer,
    /// Sends more than was asked for.
    More,
    /// Sends the client elsewhere.
    Redirect(String),
}

/// Paths of requests with the start of their range.
type Seen = Mutex<Vec<(String, Option<usize>)>>;

struct Stub {
    address: String,
    deeds: Arc<Mutex<VecDeque<Deed>>>,
    seen: Arc<Seen>,
}

/// The files of the model.
fn files() -> Vec<(&'static str, Vec<u8>)> {
    let graph = (0..1000u32).flat_map(u32::to_le_bytes).collect();
    vec![
        ("tokenizer.json", b"{}".to_vec()),
        ("onnx/model.onnx", graph),
        ("LICENSE", Vec::new()),
    ]
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn listing() -> String {
    let files = files().into_iter().map(|(path, bytes)| {
        let blob = [format!("blob {}\0", bytes.len()).as_bytes(), &bytes].concat();
        let mut file = serde_json::json!({
            "rfilename": path, "size": bytes.len(), "blobId": hex(&sha1::Sha1::digest(blob)),
        });
        if path.ends_with(".onnx") {
            file["lfs"] = serde_json::json!({"sha256": hex(&Sha256::digest(&bytes))});
        }
        file
    });
    let files: Vec<serde_json::Value> = files.collect();
    serde_json::json!({"sha": "1".repeat(40), "siblings": files, "cardData": {"license": "mit"}})
        .to_string()
}

impl Stub {
    fn start(deeds: &[Deed]) -> Stub {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stub = Stub {
            address: format!("http://{}", listener.local_addr().unwrap()),
            deeds: Arc::new(Mutex::new(deeds.iter().cloned().collect())),
            seen: Arc::default(),
        };
        let (deeds, seen) = (Arc::clone(&stub.deeds), Arc::clone(&stub.seen));
        thread::spawn(move || {
            for stream in listener.incoming() {
                // A client may close the connection at any time.
                let _ = respond(stream.unwrap(), &deeds, &seen);
            }
        });
        stub
    }

    fn hub(&self) -> Hub {
        let patience = Patience {
            attempts: 3,
            first_wait: Duration::from_millis(1),
            longest_wait: Duration::from_secs(2),
            request: Duration::from_secs(5),
            whole: Duration::from_secs(5),
            range_bytes: 1500,
        };
        Hub::patient(&self.address, patience).unwrap()
    }

    /// What a download of the model says.
    fn fetch(&self, folder: &Path) -> Result<PathBuf, EmbedError> {
        let hub = self.hub();
        let listing = hub.find("a/b")?;
        hub.fetch(&listing, folder, &mut |_, _| ControlFlow::Continue(()))
    }

    /// Starts of the ranges of the graph that were asked for.
    fn ranges(&self) -> Vec<usize> {
        let seen = self.seen.lock().unwrap();
        let graph = seen.iter().filter(|(path, _)| path.contains("model.onnx"));
        graph.filter_map(|(_, start)| *start).collect()
    }
}

fn respond(mut stream: TcpStream, deeds: &Mutex<VecDeque<Deed>>, seen: &Seen) -> io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let (mut line, mut path, mut range) = (String::new(), String::new(), None);
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        if let Some(rest) = line.strip_prefix("GET ") {
            path = rest.split(' ').next().unwrap().to_owned();
        }
        let lower = line.to_ascii_lowercase();
        if let Some(rest) = lower.strip_prefix("range: bytes=") {
            let (start, end) = rest.trim().split_once('-').unwrap();
            range = Some((start.parse().unwrap(), end.parse::<usize>().unwrap() + 1));
        }
        if line.trim().is_empty() {
            break;
        }
    }
    seen.lock()
        .unwrap()
        .push((path.clone(), range.map(|(start, _)| start)));
    let mut say = |status: &str, headers: &str, length: usize, body: &[u8]| {
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n{headers}\r\n"
        );
        stream.write_all(head.as_bytes())?;
        stream.write_all(body)
    };
    if path.starts_with("/api/") {
        let body = listing();
        return say("200 X", "", body.len(), body.as_bytes());
    }
    let file = files().into_iter().find(|(name, _)| path.ends_with(name));
    let Some((name, bytes)) = file else {
        return say("404 X", "", 0, b"");
    };
    // Only the graph is sent badly.
    let deed = match name.ends_with(".onnx") {
        true => deeds.lock().unwrap().pop_front().unwrap_or(Deed::Send),
        false => Deed::Send,
    };
    let (start, end) = range.unwrap();
    let part = &bytes[start..end];
    let of = |total: usize| format!("Content-Range: bytes {start}-{}/{total}\r\n", end - 1);
    match deed {
        Deed::Send => say("206 X", &of(bytes.len()), part.len(), part),
        Deed::Whole => say("200 X", "", bytes.len(), &bytes),
        Deed::Cut(length) => say("206 X", &of(bytes.len()), part.len(), &part[..length]),
        Deed::Say(status) => say(status, "", 0, b""),
        Deed::Wrong => say("206 X", &of(bytes.len()), part.len(), &vec![7; part.len()]),
        Deed::Longer => say("206 X", &of(bytes.len() + 1), part.len(), part),
        Deed::More => say(
            "206 X",
            &of(bytes.len()),
            part.len() + 1,
            &bytes[start..end + 1],
        ),
        Deed::Redirect(to) => say("302 X", &format!("Location: {to}\r\n"), 0, b""),
    }
}

fn downloaded(home: &Path) -> bool {
    files()
        .into_iter()
        .all(|(path, bytes)| fs::read(home.join(path)).unwrap() == bytes)
}

#[test]
fn a_model_is_downloaded_in_parts_and_only_once() {
    let stub = Stub::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join(".pull-a--b-older")).unwrap();
    let home = stub.fetch(folder.path()).unwrap();
    assert!(downloaded(&home));
    assert_eq!(stub.ranges(), [0, 1500, 3000]);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    let origin = fs::read_to_string(home.join(ORIGIN)).unwrap();
    assert!(origin.starts_with("a/b at commit 1111") && origin.contains("licence: mit"));
    // What is there and right is not asked for again; what was changed is.
    stub.fetch(folder.path()).unwrap();
    assert_eq!(stub.ranges().len(), 3);
    fs::write(home.join("onnx/model.onnx"), vec![1; 4000]).unwrap();
    assert!(downloaded(&stub.fetch(folder.path()).unwrap()));
    assert_eq!(stub.ranges().len(), 6);
}

#[test]
fn a_download_goes_on_where_it_ended() {
    let deeds = [
        Deed::Cut(1000),
        Deed::Say("429 X\r\nRetry-After: 1"),
        Deed::Say("503 X"),
        Deed::Cut(10),
        Deed::Say("500 X"),
        Deed::Cut(0),
    ];
    let stub = Stub::start(&deeds);
    let folder = tempfile::tempdir().unwrap();
    assert!(downloaded(&stub.fetch(folder.path()).unwrap()));
    assert_eq!(stub.ranges(), [0, 1000, 1000, 1000, 1010, 1010, 1010, 2510]);
}

#[test]
fn an_interrupted_download_is_taken_up_by_the_next_one() {
    let deeds = [Deed::Cut(1200), Deed::Say("404 X")];
    let stub = Stub::start(&deeds);
    let folder = tempfile::tempdir().unwrap();
    let error = stub.fetch(folder.path()).unwrap_err().to_string();
    assert!(error.contains("status 404: there is no such"), "{error}");
    let home = stub.fetch(folder.path()).unwrap();
    assert!(downloaded(&home));
    assert_eq!(stub.ranges(), [0, 1200, 1200, 2700]);
    // The user may stop, too.
    fs::remove_dir_all(&home).unwrap();
    let hub = stub.hub();
    let listing = hub.find("a/b").unwrap();
    let (mut calls, mut totals) = (0, Vec::new());
    let stopped = hub.fetch(&listing, folder.path(), &mut |done, total| {
        calls += 1;
        totals.push((done, total));
        match calls < 4 {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    });
    assert!(matches!(stopped, Err(EmbedError::Stopped)));
    assert_eq!(
        totals,
        [(2, 4002), (1502, 4002), (3002, 4002), (4002, 4002)]
    );
    assert!(!home.join("onnx/model.onnx").exists());
}

#[test]
fn a_hub_that_sends_whole_files_or_redirects_is_fine() {
    let other = Stub::start(&[]);
    let elsewhere = format!("{}/cdn/onnx/model.onnx", other.address);
    let deeds = [Deed::Redirect(elsewhere), Deed::Whole];
    let stub = Stub::start(&deeds);
    let folder = tempfile::tempdir().unwrap();
    assert!(downloaded(&stub.fetch(folder.path()).unwrap()));
    assert_eq!(other.ranges(), [0]);
    assert_eq!(stub.ranges(), [0, 1500]);
    let circle = Stub::start(&[]);
    let to = format!("{}/cdn/onnx/model.onnx", circle.address);
    circle
        .deeds
        .lock()
        .unwrap()
        .extend(vec![Deed::Redirect(to); 9]);
    let folder = tempfile::tempdir().unwrap();
    let error = circle.fetch(folder.path()).unwrap_err().to_string();
    assert!(error.contains("redirect"), "{error}");
}

#[test]
fn bytes_that_are_not_those_of_the_list_are_never_kept() {
    for (deeds, expected, kept) in [
        (vec![Deed::Wrong], "checksum", 0),
        (vec![Deed::Longer], "another length", 0),
        (vec![Deed::Send, Deed::More], "another length", 1),
        (vec![Deed::Say("403 X")], "not public", 0),
        (vec![Deed::Say("301 X")], "location", 0),
        (vec![Deed::Say("503 X"); 3], "503", 0),
        (vec![Deed::Say("429 X\r\nRetry-After: 9")], "429", 0),
        (vec![Deed::Cut(0); 3], "", 0),
    ] {
        let stub = Stub::start(&deeds);
        let folder = tempfile::tempdir().unwrap();
        let error = stub.fetch(folder.path()).unwrap_err();
        assert!(matches!(error, EmbedError::Service { .. }), "{error}");
        assert!(error.to_string().contains(expected), "{deeds:?}: {error}");
        let home = folder.path().join(format!(".pull-a--b-{}", "1".repeat(40)));
        assert!(!home.join("onnx/model.onnx").exists());
        let part = fs::metadata(home.join("onnx/model.onnx.part"));
        assert_eq!(part.map_or(0, |part| part.len().min(1)), kept, "{deeds:?}");
    }
}

#[test]
fn addresses_without_sense_and_a_second_download_are_refused() {
    for address in [
        "huggingface.co",
        "ftp://a",
        "http://",
        "http://user@a",
        "http://a?b",
    ] {
        let error = Hub::new(address).unwrap_err();
        assert!(matches!(error, EmbedError::Specification { .. }), "{error}");
    }
    let secure = Hub::new(Hub::ADDRESS);
    match cfg!(feature = "tls") {
        true => drop(secure.unwrap()),
        false => assert!(secure.unwrap_err().to_string().contains("feature \"tls\"")),
    }
    let stub = Stub::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let home = stub.fetch(folder.path()).unwrap();
    let lock = fs::File::create(home.join("lock")).unwrap();
    lock.lock().unwrap();
    let error = stub.fetch(folder.path()).unwrap_err().to_string();
    assert!(error.contains("another process"), "{error}");
}
