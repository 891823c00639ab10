//! Trials: hostile trees, moves, permissions, texts and kills, made from a seed. Every test run makes a
//! few rounds of each; `cargo xtask trials [NAME] [--rounds N] [--seed S]` makes as many as wanted
//! (`KB_TRIAL_ROUNDS`, `KB_TRIAL_SEED`). No outcome depends on how fast the machine is.

mod attacks;
mod budget;
mod kills;
mod moves;
mod permissions;
mod trees;
mod words;

use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use kb_engine::{Kb, PageOptions, Progress, VerifyOptions};

use crate::support::{Folder, Outcome, Random, kb_binary, number_from, wait_until};

/// The seeds of the rounds of one trial.
fn seeds(usual: u64) -> Range<u64> {
    let first = number_from("KB_TRIAL_SEED", 1);
    first..first + number_from("KB_TRIAL_ROUNDS", usual)
}

/// A round of its own: the seed is in the output of a trial that fails.
fn begin(trial: &str, seed: u64) -> Random {
    println!("{trial}: seed {seed}");
    Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15))
}

/// A word that only this number gives. Letters alone: digits would be parts of a word, and no stem is
/// shared.
fn word(number: usize) -> String {
    const SYLLABLES: [&str; 10] = ["ba", "ke", "di", "fo", "gu", "ma", "pe", "ri", "to", "vu"];
    let digits = format!("{number:05}");
    let syllables = digits
        .bytes()
        .map(|digit| SYLLABLES[usize::from(digit - b'0')]);
    format!("zu{}k", syllables.collect::<String>())
}

/// Runs a command that must come to an end. Its output goes to files: a pipe that nobody reads would
/// stop it.
#[track_caller]
fn ended(folder: &Folder, mut command: Command) -> Outcome {
    let (stdout, stderr) = (folder.join(".stdout"), folder.join(".stderr"));
    command
        .stdin(Stdio::null())
        .stdout(File::create(&stdout).expect("a file"))
        .stderr(File::create(&stderr).expect("a file"));
    let mut child = command.spawn().expect("kb starts");
    let mut status: Option<ExitStatus> = None;
    wait_until("kb ends", || {
        status = child.try_wait().expect("a state");
        status.is_some()
    });
    let text = |path: &Path| {
        let text = String::from_utf8_lossy(&std::fs::read(path).expect("output")).into_owned();
        std::fs::remove_file(path).expect("removed");
        text
    };
    Outcome {
        code: status.and_then(|status| status.code()),
        stdout: text(&stdout),
        stderr: text(&stderr),
    }
}

/// Path and text of every document.
fn texts(kb: &Kb) -> Vec<(String, String)> {
    let documents = kb
        .documents(None, true, &PageOptions::default())
        .expect("a list");
    assert!(documents.next.is_none());
    let text = |path: &str| kb.text(path, None).expect("a text").text;
    let documents = documents.into_iter();
    documents
        .map(|document| (document.path.clone(), text(&document.path)))
        .collect()
}

/// The file is whole to the last byte.
#[track_caller]
fn assert_sound(file: &Path) -> Kb {
    let kb = Kb::open(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let report = kb
        .verify(&VerifyOptions::new().deep(true), &mut Progress::ignore)
        .expect("verified");
    assert!(report.problems.is_empty(), "{:?}", report.problems);
    kb
}

/// The user that may nothing.
const NOBODY: &str = "65534";

/// `kb` as that user, in this folder; `None` where this process cannot become it, which is said.
fn as_nobody(folder: &Folder) -> Option<Command> {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: only root can become another user");
        return None;
    }
    let become_nobody = |program: &Path| {
        let mut command = folder.sealed(Command::new("setpriv"));
        command
            .args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"])
            .arg(program);
        command
    };
    let mut try_it = become_nobody(kb_binary());
    try_it
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    if !try_it.status().is_ok_and(|status| status.success()) {
        println!("skipped: setpriv is not here, or {NOBODY} may not run kb");
        return None;
    }
    Some(become_nobody(kb_binary()))
}
