//! One writer and many readers in separate processes. A reader always sees one whole commit. A killed writer leaves the
//! last commit. A second writer waits, or gets an error that names the first.
//!
//! The file describes itself: every commit replaces all documents, each of which says its number and
//! the generation, and ends in a sum of its text. A reader takes all of them in one request.
//!
//! Where strace is, the system itself refuses one write, sync or growth after another of the real binary.
//!
//! `KB_KILLS=200` sets the number of SIGKILLs, `KB_READERS=64` that of readers, `KB_READ_REQUESTS=1000`
//! how much each reads.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use kb_engine::testing::container::Container;
use kb_engine::{Error, IndexOptions, Kb, KbWriter, Mode, Progress, Request, VerifyOptions};
use xxhash_rust::xxh3::xxh3_64;

use crate::support::{PATIENCE, kb_binary, memory_folder, number_from, wait_until};

/// Documents of a generation.
const DOCUMENTS: usize = 8;

fn text_of(document: usize, generation: u64) -> String {
    let filler: Vec<String> = (0..30 + generation % 40)
        .map(|word| format!("f{}", (word * 31 + generation) % 97))
        .collect();
    let text = format!(
        "everydocument {document} generation {generation} {}",
        filler.join(" ")
    );
    format!("{text} {:016x}\n", xxh3_64(text.as_bytes()))
}

fn name_of(document: usize) -> String {
    format!("d{document}.txt")
}

/// The generation that all documents of the newest commit have; the test fails when they differ.
fn generation(kb: &Kb) -> Result<u64, Error> {
    let request = Request::new("everydocument").mode(Mode::Keyword).k(100);
    let hits = kb.search(&request)?.hits;
    let mut found: Vec<(String, u64)> = hits
        .iter()
        .map(|hit| {
            let (text, sum) = hit.text.trim_end().rsplit_once(' ').expect("a sum");
            assert_eq!(sum, format!("{:016x}", xxh3_64(text.as_bytes())), "{text}");
            let generation = text.split(' ').nth(3).expect("a generation");
            (hit.document.clone(), generation.parse().expect("a number"))
        })
        .collect();
    found.sort();
    let names: Vec<String> = (0..DOCUMENTS).map(name_of).collect();
    let listed: Vec<&String> = found.iter().map(|(name, _)| name).collect();
    assert_eq!(listed, names.iter().collect::<Vec<_>>());
    let generation = found.first().map_or(0, |(_, generation)| *generation);
    assert!(
        found.iter().all(|(_, other)| *other == generation),
        "a mix of commits: {found:?}"
    );
    Ok(generation)
}

fn commit(writer: &mut KbWriter, generation: u64) {
    for document in 0..DOCUMENTS {
        let text = text_of(document, generation);
        let document = kb_engine::document_of(&name_of(document), text.as_bytes());
        writer.replace(document.expect("a text")).expect("replaced");
    }
    writer.commit().expect("committed");
}

/// Runs a test of this program, marked as ignored, in a process of its own.
fn spawn(role: &str, file: &Path, requests: u64) -> Child {
    Command::new(std::env::current_exe().expect("the test knows its own path"))
        .args([
            "--ignored",
            "--exact",
            "--nocapture",
            "--test-threads=1",
            &format!("durability::processes::{role}"),
        ])
        .env("KB_ROLE_FILE", file)
        .env("KB_ROLE_REQUESTS", requests.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a process")
}

/// The file of a role, and how much it does; `None` when a person runs all ignored tests.
fn role() -> Option<(PathBuf, u64)> {
    let file = std::env::var_os("KB_ROLE_FILE")?;
    let requests = std::env::var("KB_ROLE_REQUESTS").ok()?.parse().ok()?;
    Some((file.into(), requests))
}

/// A writer goes on until this file is there.
fn stop_of(file: &Path) -> PathBuf {
    file.with_extension("stop")
}

/// Commits that each reader follows at least.
const FOLLOWED: u64 = 3;

#[test]
#[ignore = "a role of other tests"]
fn a_reader() {
    let Some((file, wanted)) = role() else { return };
    let kb = Kb::open(file).expect("it opens");
    let (mut answers, mut expired, mut newest, mut seen) = (0, 0, 0, 0);
    while answers < wanted || seen < FOLLOWED {
        match generation(&kb) {
            Ok(generation) => {
                assert!(generation >= newest, "a commit that went back");
                seen += u64::from(generation > newest);
                newest = generation;
                answers += 1;
            }
            Err(Error::SnapshotExpired) => expired += 1,
            Err(error) => panic!("{error}"),
        }
    }
    println!("\nREAD {answers} {expired}");
}

#[test]
#[ignore = "a role of other tests"]
fn a_writer() {
    let Some((file, _)) = role() else { return };
    let mut writer = KbWriter::open_or_create(&file).expect("writer");
    let kb = Kb::open(&file).expect("it opens");
    let mut next = generation(&kb).expect("a generation") + 1;
    while !stop_of(&file).exists() {
        commit(&mut writer, next);
        next += 1;
    }
    println!("\nWROTE {next}");
}

fn numbers_after(word: &str, output: &str) -> Vec<u64> {
    let line = output.lines().find_map(|line| line.strip_prefix(word));
    let line = line.unwrap_or_else(|| panic!("no {word} in {output}"));
    line.split_whitespace()
        .map(|number| number.parse().expect("a number"))
        .collect()
}

fn finished(child: Child) -> String {
    let output = child.wait_with_output().expect("it ends");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}\n{errors}");
    text
}

#[test]
fn readers_beside_a_writer_see_whole_and_newest_commits() {
    let folder = memory_folder();
    let file = folder.path().join("live.kb");
    let mut writer = KbWriter::open_or_create(&file).expect("writer");
    commit(&mut writer, 1);
    drop(writer);
    let readers = number_from("KB_READERS", 64);
    let requests = number_from("KB_READ_REQUESTS", 20);
    let writer = spawn("a_writer", &file, 0);
    let readers: Vec<Child> = (0..readers)
        .map(|_| spawn("a_reader", &file, requests))
        .collect();
    let (mut answers, mut expired) = (0, 0);
    let count = readers.len();
    for reader in readers {
        let numbers = numbers_after("READ", &finished(reader));
        answers += numbers[0];
        expired += numbers[1];
    }
    std::fs::write(stop_of(&file), "").expect("told to stop");
    let commits = numbers_after("WROTE", &finished(writer))[0];
    println!("processes: {count} readers, {answers} answers, {expired} expired, {commits} commits");
    assert!(commits > FOLLOWED);
}

#[test]
fn a_killed_writer_leaves_the_old_commit_or_the_new_one() {
    let folder = memory_folder();
    let (file, sources) = (folder.path().join("live.kb"), folder.path().join("sources"));
    std::fs::create_dir(&sources).expect("folder");
    let write = |generation: u64| {
        for document in 0..DOCUMENTS {
            let path = sources.join(name_of(document));
            std::fs::write(path, text_of(document, generation)).expect("file");
        }
    };
    write(1);
    let mut writer = KbWriter::open_or_create(&file).expect("writer");
    let options = IndexOptions::default();
    writer
        .index(
            std::slice::from_ref(&sources),
            &options,
            &mut Progress::ignore,
        )
        .expect("indexed");
    drop(writer);
    let stop = AtomicBool::new(false);
    let answered = AtomicU64::new(0);
    let kills = number_from("KB_KILLS", 40);
    let (mut killed, mut rounds, mut kept, mut made) = (0, 0, 0, 0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let kb = Kb::open(&file).expect("it opens");
                while !stop.load(Ordering::Relaxed) {
                    match generation(&kb) {
                        Ok(_) | Err(Error::SnapshotExpired) => {}
                        Err(error) => panic!("{error}"),
                    }
                    answered.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let mut usual = Duration::from_millis(60);
        let mut random = 12345u64;
        for round in 0u64.. {
            if killed == kills {
                break;
            }
            rounds += 1;
            assert!(rounds <= kills * 5, "{killed} of {rounds} runs were killed");
            let before = generation(&Kb::open(&file).expect("it opens")).expect("whole");
            let next = before + 1;
            write(next);
            let mut command = Command::new(kb_binary());
            // Every fifth round a seal is killed instead; it changes no document.
            let seals = round % 5 == 4;
            match seals {
                true => command.arg("seal").arg(&file),
                false => command
                    // After a seal nothing of the folder's content tells that it is the same one.
                    .args(["index", "--force-hash", "--root", "sources", "-o"])
                    .arg(&file)
                    .arg(&sources),
            };
            // The first one is killed in the middle of its run on any machine.
            let held = (round == 0).then(|| folder.path().join("held"));
            if let Some(held) = &held {
                command.env("KB_FAULT_HOLD", held);
            }
            let started = Instant::now();
            let mut child = command
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .expect("kb starts");
            random = random.wrapping_mul(6364136223846793005).wrapping_add(99);
            match &held {
                Some(held) => wait_until("the run writes", || held.exists()),
                None => {
                    let share = (random >> 40) as f64 / (1 << 24) as f64;
                    std::thread::sleep(usual.mul_f64(share * 1.2));
                }
            }
            match child.try_wait().expect("a state") {
                Some(_) => {}
                None => {
                    child.kill().expect("killed");
                    killed += 1;
                }
            }
            let status = child.wait().expect("it ends");
            if status.success() {
                // Kills are spread over the time that a whole run takes.
                usual = (usual + started.elapsed()) / 2;
            } else {
                usual = usual.mul_f64(1.02);
            }
            // At once, with a reader that saw nothing before.
            let after = generation(&Kb::open(&file).expect("it opens")).expect("whole");
            if after == next {
                made += 1
            } else {
                assert_eq!(after, before);
                kept += 1;
            }
            assert!(!status.success() || seals || after == next, "lost: {after}");
        }
        stop.store(true, Ordering::Relaxed);
    });
    println!(
        "kills: {killed} in {rounds} runs, {kept} old, {made} new, {} requests meanwhile",
        answered.load(Ordering::Relaxed)
    );
    assert!(killed > 0 && kept > 0 && answered.load(Ordering::Relaxed) > 0);
    let kb = Kb::open(&file).expect("it opens");
    let report = kb
        .verify(&VerifyOptions::new().deep(true), &mut Progress::ignore)
        .expect("verified");
    assert!(report.problems.is_empty(), "{:?}", report.problems);
}

#[test]
fn a_request_that_outlasts_its_commit_is_void_or_repeated() {
    let folder = memory_folder();
    let file = folder.path().join("live.kb");
    let mut writer = KbWriter::open_or_create(&file).expect("writer");
    commit(&mut writer, 1);
    drop(writer);
    let writing = spawn("a_writer", &file, 0);
    let (container, other) = (
        Container::open(&file).expect("it opens"),
        Container::open(&file).expect("it opens"),
    );
    let newest = || {
        let commit = other.read(|snapshot| Ok(snapshot.commit()));
        commit.expect("a short request")
    };
    wait_until("the writer starts", || newest() >= 12);
    let mut attempts = 0;
    let answer = container.read(|snapshot| {
        attempts += 1;
        let begun = snapshot.commit();
        if attempts == 1 {
            // A writer keeps what it replaced for two seconds, and drops it in a later commit.
            std::thread::sleep(Duration::from_millis(2500));
            let now = newest();
            wait_until("the writer goes on", || newest() > now + 1);
        }
        Ok((attempts, begun))
    });
    let (attempt, commit) = answer.expect("a later attempt is short");
    assert!(attempt >= 2, "the first attempt cannot have stood");
    assert!(commit <= newest());
    std::fs::write(stop_of(&file), "").expect("told to stop");
    finished(writing);
}

#[test]
fn a_second_writer_is_told_who_writes_and_waits_if_it_may() {
    let folder = memory_folder();
    let file = folder.path().join("live.kb");
    let mut first = KbWriter::open_or_create(&file).expect("writer");
    commit(&mut first, 1);
    first.add_bytes("more.txt", b"locked now").expect("added");
    let mut second = KbWriter::open_or_create(&file).expect("writer");
    let error = second.add_bytes("x.txt", b"x").expect_err("locked");
    assert_eq!(error.code(), "INDEX_LOCKED");
    let text = error.to_string();
    let pid = format!("process {}", std::process::id());
    for part in [pid.as_str(), "kb ", "since", "UTC"] {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
    let mut patient = KbWriter::open_or_create(&file)
        .expect("writer")
        .lock_timeout(PATIENCE);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(move || {
            patient.add_bytes("y.txt", b"y").expect("after a while");
            patient.commit().expect("committed");
        });
        // Long enough that one which does not wait would be done, on most machines.
        std::thread::sleep(Duration::from_millis(300));
        assert!(!waiting.is_finished());
        first.commit().expect("committed");
        drop(first);
        waiting.join().expect("it ends");
    });
    let kb = Kb::open(&file).expect("it opens");
    assert_eq!(kb.info().expect("info").documents as usize, DOCUMENTS + 2);
}

/// Whether this machine lets a process be traced.
#[cfg(target_os = "linux")]
fn strace_works() -> bool {
    let mut strace = Command::new("strace");
    strace.args(["-o", "/dev/null", "true"]);
    let status = strace.stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// What `kb` does when the system refuses the `nth` call: its status, and whether it came that far.
#[cfg(target_os = "linux")]
fn refused(folder: &Path, call: &str, error: &str, nth: usize, kb: &[&str]) -> (Option<i32>, bool) {
    let log = folder.join("strace.log");
    let status = Command::new("strace")
        .args(["-f", "-qq", "-o"])
        .arg(&log)
        .args(["-e", &format!("trace={call}"), "-e"])
        .arg(format!("inject={call}:error={error}:when={nth}"))
        .arg(kb_binary())
        .args(kb)
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .expect("strace starts");
    let log = std::fs::read_to_string(&log).expect("a log");
    (status.code(), log.contains("INJECTED"))
}

#[cfg(target_os = "linux")]
#[test]
fn refused_system_calls_leave_the_old_or_the_new_state() {
    if !strace_works() {
        println!("skipped: strace is not here or may not trace");
        return;
    }
    let folder = memory_folder();
    let at = |name: &str| folder.path().join(name);
    std::fs::create_dir(at("sources")).expect("folder");
    let write = |generation| {
        for document in 0..DOCUMENTS {
            let path = at("sources").join(name_of(document));
            std::fs::write(path, text_of(document, generation)).expect("file");
        }
    };
    write(1);
    let mut writer = KbWriter::open_or_create(at("before.kb")).expect("writer");
    let options = IndexOptions::default();
    let indexed = writer.index(&[at("sources")], &options, &mut Progress::ignore);
    indexed.expect("indexed");
    drop(writer);
    write(2);
    let before = std::fs::read(at("before.kb")).expect("bytes");
    let is_long = std::env::var("KB_CRASH_STATES").is_ok();
    let stride = if is_long { 1 } else { 9 };
    let commands = [
        ["index", "--force-hash", "-o", "live.kb", "sources"].as_slice(),
        &["seal", "live.kb"],
    ];
    let (mut tried, mut failed) = (0, 0);
    for kb in commands {
        for (call, error) in [
            ("pwrite64", "ENOSPC"),
            ("pwrite64", "EIO"),
            ("ftruncate", "ENOSPC"),
            ("fdatasync", "EIO"),
            ("fsync", "EIO"),
            ("rename", "EIO"),
        ] {
            for nth in (1..).step_by(stride) {
                std::fs::write(at("live.kb"), &before).expect("file");
                let (status, came) = refused(folder.path(), call, error, nth, kb);
                if !came {
                    break;
                }
                tried += 1;
                let place = format!("{kb:?}: {call} {nth} refused with {error}, {status:?}");
                let kb = Kb::open(at("live.kb")).unwrap_or_else(|error| panic!("{place}: {error}"));
                let found = generation(&kb).unwrap_or_else(|error| panic!("{place}: {error}"));
                assert!([1, 2].contains(&found), "{place}");
                match status {
                    Some(0) => assert!(found == 2 || kb_is_sealed(&kb), "{place}"),
                    Some(2) => failed += 1,
                    _ => panic!("{place}"),
                }
                drop(kb);
                let mut writer = KbWriter::open_or_create(at("live.kb")).expect("writer");
                writer.add_bytes("again.txt", b"again").expect("added");
                writer
                    .commit()
                    .unwrap_or_else(|error| panic!("{place}, then: {error}"));
            }
        }
    }
    println!("strace: {tried} calls refused, {failed} runs ended with an error");
    assert!(tried > 10 && failed > 5, "{tried} {failed}");
}

#[cfg(target_os = "linux")]
fn kb_is_sealed(kb: &Kb) -> bool {
    kb.info().expect("info").content_root.is_some()
}
