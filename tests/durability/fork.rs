//! A process that forks while it has a .kb open for writing: the child changes nothing and unlocks
//! nothing.

use std::path::Path;
use std::process::Command;

use kb_engine::{IndexOptions, Kb, KbWriter, Progress, SealOptions, VerifyOptions};

use crate::support::memory_folder;

/// Runs `child` in a forked process and returns its exit status; `None` when a signal ended it.
#[expect(unsafe_code, reason = "the system call under test")]
fn forked(child: impl FnOnce() -> i32) -> Option<i32> {
    // SAFETY: the child runs on the only thread that it has, with the allocator that the C library
    // makes usable after a fork, and ends by `_exit`, without the destructors of this process. A lock
    // that another thread held in the moment of the fork would block it: the alarm ends it then.
    let process = unsafe { libc::fork() };
    assert!(process >= 0, "fork");
    if process == 0 {
        // SAFETY: no handler is installed, so the signal ends the child.
        unsafe { libc::alarm(60) };
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(child));
        // SAFETY: ends the child without running anything else.
        unsafe { libc::_exit(ended.unwrap_or(99)) };
    }
    let mut status = 0;
    // SAFETY: waits for the child that was just made, with a place for its status.
    let waited = unsafe { libc::waitpid(process, &raw mut status, 0) };
    assert_eq!(waited, process);
    libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status))
}

/// Forks in a process of its own, where no other test runs beside it.
fn in_process(role: &str) {
    let folder = memory_folder();
    let output = Command::new(std::env::current_exe().expect("the test knows its own path"))
        .args(["--ignored", "--exact", "--nocapture", "--test-threads=1"])
        .arg(format!("durability::fork::{role}"))
        .env("KB_FORK_FOLDER", folder.path())
        .output()
        .expect("a process");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}\n{output:?}");
    assert!(text.contains("1 passed"), "{text}");
}

fn role() -> Option<std::path::PathBuf> {
    std::env::var_os("KB_FORK_FOLDER").map(Into::into)
}

fn documents(path: &Path) -> u64 {
    let kb = Kb::open(path).expect("it opens");
    let report = kb
        .verify(&VerifyOptions::new().deep(true), &mut Progress::ignore)
        .expect("a report");
    assert!(report.problems.is_empty(), "{report:?}");
    report.documents
}

/// Whether another writer is refused, in a process that has inherited nothing.
fn is_locked(path: &Path) -> bool {
    let mut writer = KbWriter::open_or_create(path).expect("writer");
    match writer.add_bytes("other.txt", b"other") {
        Ok(()) => false,
        Err(error) => {
            assert_eq!(error.code(), "INDEX_LOCKED", "{error}");
            true
        }
    }
}

#[test]
fn a_forked_child_commits_and_unlocks_nothing() {
    in_process("drop_in_the_child");
}

#[test]
#[ignore = "a role of another test"]
fn drop_in_the_child() {
    let Some(folder) = role() else { return };
    let path = folder.join("a.kb");
    let mut writer = KbWriter::open_or_create(&path).expect("writer");
    writer.add_bytes("one.txt", b"one").expect("added");
    writer.commit().expect("committed");
    writer.add_bytes("two.txt", b"two").expect("added");
    let before = std::fs::read(&path).expect("bytes");
    let mut writer = Some(writer);
    let status = forked(|| {
        drop(writer.take());
        0
    });
    assert_eq!(status, Some(0));
    assert!(std::fs::read(&path).expect("bytes") == before, "written");
    assert!(is_locked(&path), "the child released the lock");
    let mut writer = writer.expect("the parent's");
    writer.commit().expect("the parent goes on");
    drop(writer);
    assert_eq!(documents(&path), 2);
    assert!(!is_locked(&path));
}

#[test]
fn a_child_that_drops_a_writer_of_a_new_file_removes_nothing() {
    in_process("drop_a_new_file_in_the_child");
}

#[test]
#[ignore = "a role of another test"]
fn drop_a_new_file_in_the_child() {
    let Some(folder) = role() else { return };
    let path = folder.join("a.kb");
    let mut writer = KbWriter::open_or_create(&path).expect("writer");
    writer.add_bytes("one.txt", b"one").expect("added");
    assert!(folder.join(".a.kb.tmp").exists());
    let mut writer = Some(writer);
    let status = forked(|| {
        drop(writer.take());
        0
    });
    assert_eq!(status, Some(0));
    assert!(folder.join(".a.kb.tmp").exists(), "the child removed it");
    writer.expect("the parent's").commit().expect("committed");
    assert_eq!(documents(&path), 1);
}

#[test]
fn every_method_of_a_writer_in_a_child_is_refused() {
    in_process("use_in_the_child");
}

#[test]
#[ignore = "a role of another test"]
fn use_in_the_child() {
    let Some(folder) = role() else { return };
    let path = folder.join("a.kb");
    let mut writer = KbWriter::open_or_create(&path).expect("writer");
    writer.add_bytes("one.txt", b"one").expect("added");
    writer.commit().expect("committed");
    writer.add_bytes("two.txt", b"two").expect("added");
    let before = std::fs::read(&path).expect("bytes");
    let status = forked(|| {
        let options = IndexOptions::default();
        let refused = [
            writer.add_bytes("three.txt", b"three").err(),
            writer.remove("one.txt").err(),
            writer.tag("one.txt", &["x"], &[]).err(),
            writer.commit().err(),
            writer
                .index(
                    std::slice::from_ref(&folder),
                    &options,
                    &mut Progress::ignore,
                )
                .err(),
            writer
                .seal(None, &SealOptions::new(), &mut Progress::ignore)
                .err(),
            writer.clear().err(),
        ];
        let codes = refused
            .iter()
            .map(|error| error.as_ref().map(kb_engine::Error::code));
        i32::from(!codes.into_iter().all(|code| code == Some("FORKED_WRITER")))
    });
    assert_eq!(status, Some(0), "a method went through");
    assert!(std::fs::read(&path).expect("bytes") == before);
    writer.commit().expect("the parent goes on");
    drop(writer);
    assert_eq!(documents(&path), 2);
}
