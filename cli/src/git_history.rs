//! The last change of files by the history of git, read by `git log`.

use std::collections::{HashMap, HashSet};
use std::io::{BufRead as _, BufReader, ErrorKind, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// Most bytes of `git log` that are read: about ten million names of files.
const OUTPUT_LIMIT_BYTES: u64 = 512 << 20;

/// How long `git log` may take. Git lists the history of Linux, a million commits, in about a minute.
const TIME_LIMIT: Duration = Duration::from_secs(120);

/// How often an interrupt and the limit are looked at.
const LOOK: Duration = Duration::from_millis(50);

/// Longest name of a file or line of a commit.
const TOKEN_LIMIT_BYTES: u64 = 64 << 10;

/// Longest name of an author that is kept, in characters.
const AUTHOR_LIMIT_CHARS: usize = 64;

/// Begins the line of a commit: no name of a file begins with it, but hostile ones, whose lines have no hash.
const COMMIT: u8 = 1;

/// The commit that changed a file last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LastChange {
    /// Its hash in hexadecimal digits.
    pub(crate) commit: String,
    /// The name of its author.
    pub(crate) author: String,
    /// When it was written, milliseconds since 1970; none for a time that is no date.
    pub(crate) time_ms: Option<i64>,
}

/// What was read of a history.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct History {
    /// The last change of each wanted file, by its path below the folder.
    pub(crate) changes: HashMap<String, LastChange>,
    /// Why it may lack some.
    pub(crate) problem: Option<&'static str>,
}

/// Reads the history of the work tree around `folder`, newest commit first, until each of the `wanted` files below the
/// folder was found. `None` once `cancel` is set.
pub(crate) fn history(
    folder: &Path,
    wanted: HashSet<String>,
    cancel: &AtomicBool,
) -> Option<History> {
    let failed = |problem| {
        Some(History {
            problem: Some(problem),
            ..History::default()
        })
    };
    let mut git = match log_of(folder).spawn() {
        Ok(git) => git,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return failed("the program git is not installed");
        }
        Err(_) => return failed("the program git cannot be run"),
    };
    let Some(output) = git.stdout.take() else {
        return failed("the program git cannot be run");
    };
    let (done, history) = mpsc::channel();
    let reading = thread::Builder::new().name("kb-git-log".to_owned());
    // Nobody receives it after the limit.
    let reading = reading.spawn(move || done.send(read(output, wanted, OUTPUT_LIMIT_BYTES)));
    let end = Instant::now() + TIME_LIMIT;
    let mut is_late = false;
    let found = reading.ok().and_then(|_| {
        loop {
            match history.recv_timeout(LOOK) {
                Err(RecvTimeoutError::Timeout) if cancel.load(Ordering::Relaxed) => return None,
                Err(RecvTimeoutError::Timeout) if Instant::now() < end => {}
                // What is read ends with the program.
                Err(RecvTimeoutError::Timeout) => {
                    is_late = true;
                    let _ = git.kill();
                }
                found => return found.ok(),
            }
        }
    });
    let good = ended_well(&mut git);
    let mut found = match found {
        Some(found) => found,
        None if cancel.load(Ordering::Relaxed) => return None,
        None => return failed("the program git cannot be run"),
    };
    if is_late {
        found.problem = Some("git took too long");
    } else if !good && found.changes.is_empty() && found.problem.is_none() {
        found.problem = Some("the folder is in no work tree of git, or has no commit");
    }
    Some(found)
}

/// Ends the program; whether it had ended well by itself.
fn ended_well(git: &mut Child) -> bool {
    let by_itself = git.try_wait().ok().flatten();
    let _ = git.kill();
    let ended = git.wait().ok();
    by_itself.or(ended).is_some_and(|status| status.success())
}

/// `git log` of a folder. Nothing that the repository configures runs a program, and nothing is fetched: a repository
/// may be of someone else.
fn log_of(folder: &Path) -> Command {
    let mut git = Command::new("git");
    for setting in [
        "core.fsmonitor=false",
        "core.hooksPath=/dev/null",
        "core.quotePath=false",
        "log.showSignature=false",
        "protocol.allow=never",
    ] {
        git.args(["-c", setting]);
    }
    git.arg("-C").arg(folder).args([
        "--no-pager",
        "--no-replace-objects",
        "log",
        "-z",
        "--format=%x01%H%x01%at%x01%aN",
        "--name-only",
        "--no-renames",
        "--no-ext-diff",
        "--no-textconv",
        "--no-show-signature",
        "--no-color",
        "--relative",
        "--",
        ".",
    ]);
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_TRACE"] {
        git.env_remove(name);
    }
    git.env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_TERMINAL_PROMPT", "0")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    git
}

/// Reads what `git log` writes: for each commit its line, then the names of its files, all ended by a zero byte.
fn read(output: impl Read, mut wanted: HashSet<String>, limit: u64) -> History {
    let mut found = History::default();
    let mut output = BufReader::new(output.take(limit));
    let mut commit: Option<LastChange> = None;
    let mut token = Vec::new();
    let mut total = 0;
    while !wanted.is_empty() {
        token.clear();
        let mut one = output.by_ref().take(TOKEN_LIMIT_BYTES);
        let Ok(length @ 1..) = one.read_until(0, &mut token) else {
            if total == limit {
                found.problem = Some("its history is too long");
            }
            break;
        };
        total += length as u64;
        if token.pop_if(|end| *end == 0).is_none() && length as u64 == TOKEN_LIMIT_BYTES {
            found.problem = Some("git wrote a line that is too long");
            break;
        }
        // An empty line stands between a commit and its files.
        let name = token.strip_prefix(b"\n").unwrap_or(&token);
        if let Some(next) = commit_of(name) {
            commit = Some(next);
            continue;
        }
        let name = std::str::from_utf8(name).ok();
        if let (Some(commit), Some(path)) = (&commit, name.and_then(|name| wanted.take(name))) {
            found.changes.insert(path, commit.clone());
        }
    }
    found
}

fn commit_of(line: &[u8]) -> Option<LastChange> {
    let line = String::from_utf8_lossy(line.strip_prefix(&[COMMIT])?);
    let mut parts = line.splitn(3, char::from(COMMIT));
    let (commit, time, author) = (parts.next()?, parts.next()?, parts.next()?);
    let is_hash =
        matches!(commit.len(), 40 | 64) && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_hash {
        return None;
    }
    // The last second of the year 9999: beyond it there are no dates.
    let seconds = time
        .parse()
        .ok()
        .filter(|time| (0..253_402_300_800_i64).contains(time));
    let author = author.chars().filter(|c| !c.is_control());
    Some(LastChange {
        commit: commit.to_owned(),
        author: author
            .take(AUTHOR_LIMIT_CHARS)
            .collect::<String>()
            .trim()
            .to_owned(),
        time_ms: seconds.map(|seconds| seconds * 1000),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(names: &[&str]) -> HashSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn line(hash: &str, time: &str, author: &str) -> String {
        format!("\u{1}{}\u{1}{time}\u{1}{author}\0", hash.repeat(40))
    }

    #[test]
    fn the_first_commit_that_names_a_file_is_its_last_change() {
        let log = [
            line("a", "1700000000", "Kim\u{7}"),
            "\na.md\0b/c.md\0\0".to_owned(),
            line("b", "99999999999999", ""),
            "\na.md\0\n\u{1}d.md\0".to_owned(),
        ];
        let found = read(
            log.concat().as_bytes(),
            wanted(&["a.md", "\u{1}d.md", "e.md"]),
            1 << 20,
        );
        assert_eq!(found.problem, None);
        let of = |name: &str| {
            let change = found.changes.get(name)?;
            Some((&change.commit[..1], &*change.author, change.time_ms))
        };
        assert_eq!(of("a.md"), Some(("a", "Kim", Some(1_700_000_000_000))));
        // A time that is no date, an author without a name, a file that is called as a line begins.
        assert_eq!(of("\u{1}d.md"), Some(("b", "", None)));
        assert_eq!((of("b/c.md"), of("e.md")), (None, None));
    }

    #[test]
    fn output_without_end_is_refused() {
        let endless = std::io::repeat(b'x');
        let found = read(endless, wanted(&["a.md"]), 1 << 20);
        assert_eq!(found.problem, Some("git wrote a line that is too long"));
        let zeros = std::io::repeat(0);
        let found = read(zeros, wanted(&["a.md"]), 1 << 20);
        assert_eq!(found.problem, Some("its history is too long"));
    }
}
