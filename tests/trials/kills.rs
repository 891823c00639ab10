//! Processes that are killed at any moment while they add, seal, follow a folder or take uploads, with
//! readers beside: the file opens, is whole, holds what was acknowledged, and the next writer goes on.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use kb_engine::{Error, Kb, KbWriter, PageOptions};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::{assert_sound, begin, seeds, word};
use crate::mcp::client::{Client, MODERN};
use crate::mcp::http::HttpServer;
use crate::mcp::stdio::Stdio as Server;
use crate::support::{Folder, Random, number_from};

fn text_of(number: usize) -> String {
    format!("{} is the word of this document\n", word(number)).repeat(1 + number % 50)
}

/// Numbers of the documents; each must have its text. `None`: the state went away while it was read.
fn numbers(kb: &Kb) -> Option<BTreeSet<usize>> {
    let read = || -> kb_engine::Result<BTreeSet<usize>> {
        let documents = kb.documents(None, true, &PageOptions::default())?;
        let mut numbers = BTreeSet::new();
        for document in documents {
            let name = document.path.trim_start_matches("sources/");
            let number = name.trim_end_matches(".txt").parse().expect("a number");
            match kb.text(&document.path, None) {
                Ok(found) => assert_eq!(found.text, text_of(number), "{}", document.path),
                // A list and a text are two requests: it was removed in between.
                Err(Error::DocumentNotFound { .. }) => continue,
                Err(error) => return Err(error),
            }
            numbers.insert(number);
        }
        Ok(numbers)
    };
    match read() {
        Ok(numbers) => Some(numbers),
        Err(Error::SnapshotExpired) => None,
        Err(error) => panic!("{error}"),
    }
}

/// Reads until it is told to stop. No document is ever removed, so none may be missing later.
fn read_on(file: &Path, stop: &AtomicBool, answers: &AtomicU64) {
    let kb = Kb::open(file).expect("it opens");
    let mut seen = BTreeSet::new();
    while !stop.load(Ordering::Relaxed) {
        if let Some(now) = numbers(&kb) {
            assert!(seen.is_subset(&now), "a reader went back");
            seen = now;
        }
        answers.fetch_add(1, Ordering::Relaxed);
    }
}

/// How long a command of one kind takes when nobody kills it: kills are spread over it.
struct Pace(Duration);

impl Pace {
    fn share(&self, random: &mut Random) -> Duration {
        self.0.mul_f64(random.below(1200) as f64 / 1000.0)
    }

    /// Runs a command and kills it at a moment; whether it ended well before.
    fn run_and_kill(&mut self, mut command: Command, random: &mut Random) -> bool {
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let started = Instant::now();
        let mut child = command.spawn().expect("kb starts");
        std::thread::sleep(self.share(random));
        let _ = child.kill();
        let status = child.wait().expect("it ends");
        if status.success() {
            self.0 = (self.0 + started.elapsed()) / 2
        } else {
            self.0 = self.0.mul_f64(1.02)
        }
        status.success()
    }
}

/// What was acknowledged, and what may be there beside.
#[derive(Default)]
struct Known {
    acknowledged: BTreeSet<usize>,
    tried: BTreeSet<usize>,
    next: usize,
}

impl Known {
    fn take(&mut self) -> usize {
        self.next += 1;
        self.tried.insert(self.next);
        self.next
    }

    #[track_caller]
    fn check(&self, file: &Path) {
        let kb = assert_sound(file);
        let found = numbers(&kb).expect("nobody writes");
        let lost: Vec<_> = self.acknowledged.difference(&found).collect();
        assert!(lost.is_empty(), "lost: {lost:?}");
        assert!(found.is_subset(&self.tried), "documents of nobody");
    }
}

/// Uploads until the server is killed; the numbers that it acknowledged.
fn upload(folder: &Folder, known: &mut Known, over_http: bool, random: &mut Random) {
    let arguments = ["live.kb", "--allow-write"];
    let (id, mut client, _server) = if over_http {
        let server = HttpServer::start(folder, &arguments);
        (server.id(), Client::http(&server), Some(server))
    } else {
        let server = Server::start(folder, &arguments);
        (server.id(), Client::over(server, MODERN), None)
    };
    let before = random.below(4);
    for round in 0..=before {
        let number = known.take();
        let content = json!({"fileName": format!("{number}.txt"), "content": text_of(number)});
        let asked = json!({"name": "upload_document", "arguments": content});
        if round < before {
            let told = client.result("tools/call", asked);
            assert_ne!(told["isError"], true, "{told}");
            if told["structuredContent"]["status"] == "complete" {
                known.acknowledged.insert(number);
            }
            continue;
        }
        if !over_http {
            client.send("tools/call", asked);
            std::thread::sleep(Duration::from_micros(random.below(30_000) as u64));
        }
    }
    let pid = Pid::from_raw(id.cast_signed()).expect("a process");
    let _ = kill_process(pid, Signal::KILL);
}

#[test]
fn a_process_that_is_killed_loses_nothing_that_it_acknowledged() {
    let folder = Folder::empty();
    let file = folder.join("live.kb");
    let mut known = Known::default();
    let mut writer = KbWriter::open_or_create(&file).expect("writer");
    for _ in 0..20 {
        let number = known.take();
        let name = format!("{number}.txt");
        writer
            .add_bytes(&name, text_of(number).as_bytes())
            .expect("added");
        known.acknowledged.insert(number);
    }
    writer.commit().expect("committed");
    drop(writer);
    let mut paces = [(); 4].map(|()| Pace(Duration::from_millis(60)));
    let (stop, answers) = (AtomicBool::new(false), AtomicU64::new(0));
    let readers = number_from("KB_TRIAL_READERS", 2);
    let (mut killed, mut ended) = (0, 0);
    std::thread::scope(|scope| {
        let stop_at_the_end = StopAtTheEnd(&stop);
        for _ in 0..readers {
            scope.spawn(|| read_on(&file, &stop, &answers));
        }
        for seed in seeds(20) {
            let mut random = begin("kills", seed);
            let random = &mut random;
            let mut command = folder.command();
            match seed % 5 {
                0 | 1 => {
                    let number = known.take();
                    let source = folder.write(format!("spare/{number}.txt"), text_of(number));
                    command.args(["add", "-f", "live.kb"]).arg(source);
                    command.args(["--path", &format!("{number}.txt")]);
                    if paces[0].run_and_kill(command, random) {
                        known.acknowledged.insert(number);
                        ended += 1;
                    } else {
                        killed += 1;
                    }
                }
                2 => {
                    command.args(["seal", "live.kb"]);
                    if paces[1].run_and_kill(command, random) {
                        ended += 1
                    } else {
                        killed += 1
                    }
                }
                3 => {
                    for _ in 0..3 {
                        let number = known.take();
                        folder.write(format!("sources/{number}.txt"), text_of(number));
                    }
                    command.args(["watch", "sources", "-o", "live.kb"]);
                    paces[2].run_and_kill(command, random);
                    killed += 1;
                }
                _ => {
                    upload(&folder, &mut known, seed % 2 == 0, random);
                    killed += 1;
                }
            }
            known.check(&file);
        }
        drop(stop_at_the_end);
    });
    println!(
        "kills: {killed} killed, {ended} ended before, {} answers meanwhile",
        answers.load(Ordering::Relaxed)
    );
    folder.kb("index sources -o live.kb").expect(0);
    let mut names = folder.names();
    names.retain(|name| !["live.kb", "sources", "spare"].contains(&name.as_str()));
    println!("left over: {names:?}");
    assert!(
        names.iter().all(|name| name.starts_with('.')),
        "{names:?} is left"
    );
    known.check(&file);
}

/// Also when the trial fails: the readers of the scope would be waited for.
struct StopAtTheEnd<'a>(&'a AtomicBool);

impl Drop for StopAtTheEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
