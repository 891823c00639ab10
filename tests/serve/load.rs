//! Many clients at once beside a writer: `cargo xtask trials load` runs it for a minute with 64 clients.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use kb_engine::KbWriter;

use super::Site;
use crate::mcp::http::Connection;
use crate::support::{Folder, number_from};

/// Between two requests of one client: 20 a second.
const INTERVAL: Duration = Duration::from_millis(50);

/// From this many seconds on the clients are as many as the long form has.
const LONG_SECONDS: u64 = 10;

/// What clients ask for, one after another, each beginning elsewhere.
const ASKED: [&str; 8] = [
    "/?q=fog+horn",
    "/d/harbour/docs/guide.md",
    "/api/v1/search?q=where+is+the+buoy&k=5",
    "/b/harbour/",
    "/?q=paraffin&part=results",
    "/d/harbour/src/buoy.py",
    "/find?q=guide&part=list",
    "/api/v1/text/harbour/docs/guide.md?lines=1-3",
];

/// What a client saw: how long each answer took from when its request was due, and what was wrong.
#[derive(Default)]
struct Seen {
    took: Vec<Duration>,
    wrong: Vec<String>,
}

fn client(address: SocketAddr, number: usize, seconds: u64) -> Seen {
    let mut seen = Seen::default();
    let mut connection = Connection::open(address);
    // Not all at the same moment.
    let begin = Instant::now() + INTERVAL.mul_f64(number as f64 / 64.0);
    let end = begin + Duration::from_secs(seconds);
    for round in 0.. {
        let due = begin + INTERVAL * round;
        if due >= end {
            return seen;
        }
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        let path = ASKED[(number + round as usize) % ASKED.len()];
        connection.send("GET", path, &[("accept", "text/html")], b"");
        match connection.reply() {
            Some(reply) if reply.status == 200 => seen.took.push(due.elapsed()),
            Some(reply) => seen.wrong.push(format!("{path}: {}", reply.status)),
            None => {
                seen.wrong.push(format!("{path}: no answer"));
                connection = Connection::open(address);
            }
        }
    }
    seen
}

/// Memory of a process that it shares with none, in MiB; `None` where the system does not tell.
fn private_mib(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("RssAnon:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib / 1024)
}

#[test]
fn many_clients_are_answered_beside_a_writer() {
    let seconds = number_from("KB_TRIAL_ROUNDS", 2);
    let clients = if seconds >= LONG_SECONDS { 64 } else { 8 };
    let folder = Folder::indexed();
    let site = Site::start(&folder, &["harbour.kb"]);
    let is_over = AtomicBool::new(false);
    let file = folder.join("harbour.kb");
    let (mut seen, commits, memory) = std::thread::scope(|scope| {
        let writing = scope.spawn(|| {
            let mut commits = 0;
            while !is_over.load(Ordering::Relaxed) {
                let mut writer = KbWriter::open(&file).unwrap();
                let text = format!("# Note {commits}\n\nThe tide of round {commits}.\n");
                writer
                    .add_bytes(&format!("new/{commits}.md"), text.as_bytes())
                    .unwrap();
                writer.commit().unwrap();
                commits += 1;
                std::thread::sleep(Duration::from_millis(200));
            }
            commits
        });
        let address = site.address;
        let asking: Vec<_> = (0..clients)
            .map(|number| scope.spawn(move || client(address, number, seconds)))
            .collect();
        let mut all = Seen::default();
        for one in asking {
            let one = one.join().unwrap();
            all.took.extend(one.took);
            all.wrong.extend(one.wrong);
        }
        let memory = private_mib(site.child.id());
        is_over.store(true, Ordering::Relaxed);
        (all, writing.join().unwrap(), memory)
    });
    seen.took.sort();
    let at = |share: f64| {
        let position = (seen.took.len() as f64 * share) as usize;
        seen.took[position.min(seen.took.len() - 1)]
    };
    println!(
        "{clients} clients, {} answers in {seconds} s beside {commits} commits: p50 {:.1?}, p99 {:.1?}, worst {:.1?}, \
         private memory {memory:?} MiB",
        seen.took.len(),
        at(0.5),
        at(0.99),
        at(1.0),
    );
    assert!(
        seen.wrong.is_empty(),
        "{} wrong: {:?}",
        seen.wrong.len(),
        &seen.wrong[..seen.wrong.len().min(5)]
    );
    assert!(seen.took.len() as u64 >= seconds * 20 * clients as u64 / 2);
    assert!(commits > 1);
}
