//! For tests: files whose extraction misbehaves. `%KB-TRIAL hang` and the like; only in a worker, and only with
//! the feature `testing`.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::net::{TcpListener, UdpSocket};
use std::panic::catch_unwind;
use std::process::Command;
use std::thread;
use std::time::Duration;

use kb_types::Document;

use crate::extractor;
use crate::recognise::TRIAL_SIGNATURE;
use crate::worker::protocol::Request;
use crate::worker::refusal::Refusal;

/// What the file asks for; `None` for a file of another kind.
pub(super) fn extract(request: &Request) -> Option<Result<Document, Refusal>> {
    let word = request.content.strip_prefix(TRIAL_SIGNATURE)?;
    let word = String::from_utf8_lossy(word);
    let mut words = word.split_whitespace();
    let text = match words.next().unwrap_or_default() {
        "hang" => loop {
            thread::sleep(Duration::from_secs(1));
        },
        "pause" => {
            let seconds = words.next().and_then(|seconds| seconds.parse().ok());
            thread::sleep(Duration::from_secs(seconds.unwrap_or(1)));
            "rested".to_owned()
        }
        "spin" => spin(),
        "abort" => std::process::abort(),
        "exit" => std::process::exit(3),
        "panic" => panic!("a trial"),
        // As a PDF file with many pages that cannot be read.
        "panics" => {
            for _ in 0..2000 {
                let _ = catch_unwind(|| panic!("a trial"));
            }
            "caught all".to_owned()
        }
        "overflow" => deeper(0).to_string(),
        "allocate" => {
            let most: usize = words
                .next()
                .and_then(|mib| mib.parse().ok())
                .unwrap_or(8 << 10);
            let held: Vec<Vec<u8>> = (0..most).map(|_| vec![0; 1 << 20]).collect();
            format!("{} MiB", held.len())
        }
        // As what earlier documents leave behind.
        "leak" => {
            let mib: usize = words.next().and_then(|mib| mib.parse().ok()).unwrap_or(1);
            std::mem::forget(vec![1u8; mib << 20]);
            format!("leaked {mib} MiB")
        }
        "lie" => {
            let mut output = std::io::stdout().lock();
            let _ = output.write_all(&[b'x'; 100]).and_then(|()| output.flush());
            "a lie".to_owned()
        }
        "escape" => escapes(),
        "process" => std::process::id().to_string(),
        _ => return None,
    };
    Some(extractor::extract("a.txt", text.as_bytes()).map_err(Refusal::from))
}

fn spin() -> String {
    let mut number = 1u64;
    while number != 0 {
        number = std::hint::black_box(number.wrapping_mul(3));
    }
    String::new()
}

#[expect(unconditional_recursion, reason = "it is meant to overflow")]
fn deeper(depth: u64) -> u64 {
    let held = [depth; 64];
    std::hint::black_box(&held);
    deeper(depth + 1) + std::hint::black_box(held.len() as u64)
}

/// What this process can do that a worker must not: one line each.
fn escapes() -> String {
    let folder = std::env::temp_dir();
    let mut done = String::new();
    let tries: [(&str, bool); 7] = [
        ("reads files", File::open("/etc/passwd").is_ok()),
        ("lists folders", std::fs::read_dir("/").is_ok()),
        (
            "writes files",
            File::create(folder.join("kb-trial")).is_ok(),
        ),
        ("listens", TcpListener::bind("127.0.0.1:0").is_ok()),
        ("sends", UdpSocket::bind("127.0.0.1:0").is_ok()),
        ("starts programs", Command::new("true").spawn().is_ok()),
        (
            "starts threads",
            thread::Builder::new().spawn(|| ()).is_ok(),
        ),
    ];
    for (what, _) in tries.iter().filter(|(_, is_done)| *is_done) {
        let _ = writeln!(done, "{what}");
    }
    format!("escapes:\n{done}variables: {}\n", std::env::vars().count())
}
