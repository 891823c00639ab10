//! `kb watch`: saves, bursts, renames, deletions and vanished folders are followed.
#![cfg(unix)]

use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use kb_engine::{Kb, KbWriter, Mode, Request};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::support::older::{make_older, older_version};
use crate::support::{Folder, Outcome, PATIENCE, lines_of, wait_until};

/// A running `kb watch`.
struct Watching {
    child: Option<Child>,
    lines: Receiver<String>,
    warnings: Receiver<String>,
}

impl Watching {
    /// Follows `harbour` into `harbour.kb`, and is up to date when this returns.
    fn harbour(folder: &Folder) -> Watching {
        let watching = Watching::start(folder, &["harbour", "-o", "harbour.kb", "--json"]);
        watching.change();
        watching
    }

    fn start(folder: &Folder, arguments: &[&str]) -> Watching {
        let mut command = folder.command();
        command
            .arg("watch")
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        Watching {
            lines: lines_of(child.stdout.take().unwrap()),
            warnings: lines_of(child.stderr.take().unwrap()),
            child: Some(child),
        }
    }

    /// The next change that it tells.
    #[track_caller]
    fn change(&self) -> Value {
        let line = self.lines.recv_timeout(PATIENCE).expect("a line");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    #[track_caller]
    fn warning(&self) -> String {
        self.warnings.recv_timeout(PATIENCE).expect("a warning")
    }

    /// Interrupts it and gives what it said since.
    fn stop(mut self) -> Outcome {
        let mut child = self.child.take().unwrap();
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        let status = child.wait().unwrap();
        let all = |lines: &Receiver<String>| {
            let lines: Vec<String> = lines.iter().collect();
            lines.join("\n")
        };
        Outcome {
            code: status.code(),
            stdout: all(&self.lines),
            stderr: all(&self.warnings),
        }
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Waits until `holds`, and says how long that took.
#[track_caller]
fn until(what: &str, holds: impl FnMut() -> bool) -> Duration {
    let begun = Instant::now();
    wait_until(what, holds);
    begun.elapsed()
}

/// The documents that a word finds now.
fn found(file: &PathBuf, word: &str) -> Vec<String> {
    let mut request = Request::new(word);
    request.mode = Mode::Keyword;
    let hits = Kb::open(file).unwrap().search(&request).unwrap().hits;
    hits.into_iter().map(|hit| hit.document).collect()
}

#[test]
fn a_saved_file_is_searchable_at_once() {
    let folder = Folder::with_corpus();
    let watching = Watching::harbour(&folder);
    let file = folder.join("harbour.kb");
    let mut times = Vec::new();
    // Without digits, which would be parts of their own.
    for word in ["xylograph", "bathyscaph", "ocarina", "zeugma", "quincunx"] {
        folder.write("harbour/docs/guide.md", format!("# Guide\n\nOn {word}.\n"));
        times.push(until("a save", || found(&file, word) == ["docs/guide.md"]));
    }
    println!("saved -> searchable: {times:.0?}");
    assert_eq!(watching.change()["changes"][0]["path"], "docs/guide.md");
    let told = watching.stop().expect(130);
    assert!(!told.stderr.contains("warning"), "{told:#?}");
    assert_eq!(folder.names(), ["harbour", "harbour.kb"]);
}

#[test]
fn a_burst_of_files_takes_few_commits() {
    let folder = Folder::with_corpus();
    let watching = Watching::harbour(&folder);
    let kb = Kb::open(folder.join("harbour.kb")).unwrap();
    let before = kb.info().unwrap().commit;
    for number in 0..200 {
        folder.write(
            format!("harbour/log/{number}.txt"),
            format!("entry {number}\n"),
        );
    }
    let took = until("a burst", || kb.info().unwrap().documents == 207);
    let commits = kb.info().unwrap().commit - before;
    println!("200 files: {commits} commits, {took:.0?}");
    assert!(commits <= 20, "{commits} commits");
    watching.stop().expect(130);
}

#[test]
fn deletions_and_renames_are_followed() {
    let folder = Folder::with_corpus();
    let watching = Watching::harbour(&folder);
    let file = folder.join("harbour.kb");
    std::fs::remove_file(folder.join("harbour/notes.txt")).unwrap();
    let change = watching.change();
    assert_eq!(change["changes"][0]["change"], "removed", "{change:#}");
    assert_eq!(change["changes"][0]["path"], "notes.txt");

    let at = |name: &str| folder.join("harbour").join(name);
    std::fs::rename(at("docs"), at("papers")).unwrap();
    until("a renamed folder", || {
        found(&file, "vinegar") == ["papers/guide.md"]
    });
    // Editors write beside the file and rename over it.
    folder.write("harbour/src/.tide.rs.swp", "//! quicksilver\n");
    std::fs::rename(at("src/.tide.rs.swp"), at("src/tide.rs")).unwrap();
    until("a save by rename", || {
        found(&file, "quicksilver") == ["src/tide.rs"]
    });
    // Out of the tree, and in again with something new in it.
    std::fs::rename(at("papers"), folder.join("away")).unwrap();
    until("a folder moved out", || found(&file, "vinegar").is_empty());
    folder.write("away/deep/er/new.md", "# Sextant\n");
    std::fs::rename(folder.join("away"), at("back")).unwrap();
    until("a folder moved in", || {
        found(&file, "sextant") == ["back/deep/er/new.md"] && !found(&file, "vinegar").is_empty()
    });
    folder.write("harbour/back/deep/er/new.md", "# Astrolabe\n");
    until("a file in it", || {
        found(&file, "astrolabe") == ["back/deep/er/new.md"]
    });
    // A rule hides what was there.
    folder.write("harbour/.kbignore", "ignored/\nback/\n");
    until("a rule", || found(&file, "astrolabe").is_empty());
    watching.stop().expect(130);
}

#[test]
fn a_vanished_folder_is_followed_again_when_it_is_back() {
    let folder = Folder::with_corpus();
    folder.write("tales/ghost.md", "# The ghost\n\nA spectre walks.\n");
    let both = ["harbour", "tales", "-o", "harbour.kb", "--json"];
    let watching = Watching::start(&folder, &both);
    watching.change();
    let file = folder.join("harbour.kb");
    std::fs::rename(folder.join("tales"), folder.join("unmounted")).unwrap();
    let warning = watching.warning();
    assert!(warning.contains("no file is left in tales"), "{warning}");
    // The other one is followed meanwhile.
    folder.write("harbour/notes.txt", "A bathysphere.\n");
    until("the other folder", || {
        found(&file, "bathysphere") == ["harbour/notes.txt"]
    });
    assert_eq!(found(&file, "spectre"), ["tales/ghost.md"]);

    folder.write("unmounted/ghost.md", "# The ghost\n\nA phantom walks.\n");
    std::fs::rename(folder.join("unmounted"), folder.join("tales")).unwrap();
    until("it is back", || {
        found(&file, "phantom") == ["tales/ghost.md"]
    });
    folder.write("tales/ghost.md", "# The ghost\n\nA poltergeist walks.\n");
    until("it is followed", || {
        found(&file, "poltergeist") == ["tales/ghost.md"]
    });

    // Emptied, not removed: as an unmounted disk looks.
    std::fs::remove_file(folder.join("tales/ghost.md")).unwrap();
    let warning = watching.warning();
    assert!(warning.contains("no file is left in tales"), "{warning}");
    assert_eq!(found(&file, "poltergeist"), ["tales/ghost.md"]);
    folder.write("tales/ghost.md", "# The ghost\n\nA wraith walks.\n");
    until("it is filled", || {
        found(&file, "wraith") == ["tales/ghost.md"]
    });
    let told = watching.stop().expect(130);
    assert!(!told.stderr.contains("warning"), "{told:#?}");
}

#[test]
fn others_write_between_two_changes_and_are_waited_for() {
    let folder = Folder::with_corpus();
    let watching = Watching::harbour(&folder);
    let file = folder.join("harbour.kb");
    folder.write("minutes.md", "# Minutes\n\nOf the regatta.\n");
    folder.kb("add minutes.md -f harbour.kb").expect(0);

    let mut writer = KbWriter::open_or_create(&file).unwrap();
    writer.tag("minutes.md", &["held"], &[]).unwrap();
    folder.write("harbour/notes.txt", "A bathysphere.\n");
    let note = watching.warning();
    assert!(note.starts_with("waiting for kb 0."), "{note}");
    writer.commit().unwrap();
    drop(writer);
    until("its turn", || found(&file, "bathysphere") == ["notes.txt"]);
    assert_eq!(found(&file, "regatta"), ["minutes.md"]);
    watching.stop().expect(130);
}

#[test]
fn the_lines_for_people_say_when_and_how_much() {
    let folder = Folder::with_corpus();
    let inside = folder.join("harbour");
    let mut command = folder.command();
    command
        .current_dir(&inside)
        .args(["watch", "."])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let stdout = lines_of(child.stdout.take().unwrap());
    let watching = Watching {
        warnings: lines_of(child.stderr.take().unwrap()),
        lines: std::sync::mpsc::channel().1,
        child: Some(child),
    };
    let line = stdout.recv_timeout(PATIENCE).unwrap();
    let (time, rest) = line.split_once("  ").unwrap();
    assert_eq!((time.len(), &time[2..3]), (9, ":"), "{line}");
    assert!(
        rest.starts_with("+7 ~0 -0  ") && rest.ends_with(" s"),
        "{line}"
    );
    assert_eq!(watching.warning(), "watching; press Ctrl-C to stop");
    // Its own file lies in the watched folder and is no news: the next line is of this change.
    folder.write("harbour/notes.txt", "Changed.\n");
    let line = stdout.recv_timeout(PATIENCE).unwrap();
    assert!(line.contains("  +0 ~1 -0  "), "{line}");
    watching.stop().expect(130);
}

#[test]
fn watch_and_verify_obey_the_size_limit_of_the_index() {
    let folder = Folder::with_corpus();
    let limit = "--max-file-size=60";
    let arguments = ["harbour", "-o", "harbour.kb", "--json", limit];
    let watching = Watching::start(&folder, &arguments);
    let change = watching.change();
    assert_eq!(change["changes"].as_array().unwrap().len(), 1, "{change:#}");
    watching.stop().expect(130);
    let source = ["verify", "harbour.kb", "--source", "harbour"];
    let mut limited = folder.command();
    crate::support::run(limited.args(source).arg(limit)).expect(0);
    folder.kb(source).expect(1);
}

#[test]
fn what_cannot_be_watched_is_named() {
    let folder = Folder::with_corpus();
    let told = folder.kb("watch gone -o a.kb --json").expect(2);
    assert_eq!(told.error_code(), "PATH_NOT_FOUND");
    let told = folder.kb("watch harbour harbour/docs").expect(2);
    assert_eq!(told.hint(), "`kb watch harbour harbour/docs -o NAME.kb`");
    folder.write("thesis.txt", "years of work\n");
    let told = folder.kb("watch harbour -o thesis.txt").expect(2);
    assert_eq!(told.hint(), "`kb watch harbour -o thesis-2.kb`");
    let told = folder.kb("watch harbour -o no/such/a.kb");
    assert!(told.expect(2).hint().contains("mkdir -p no/such"));
    #[cfg(target_os = "linux")]
    {
        let told = folder.kb("watch harbour -o /proc/kb-tests.kb");
        assert!(told.expect(2).hint().contains("elsewhere with -o"));
    }
}

/// It used to make a new file at the old path, and nobody noticed that the first one was no longer
/// followed.
#[test]
fn a_file_that_is_moved_away_is_told_and_not_made_again() {
    let folder = Folder::indexed();
    let mut watching = Watching::harbour(&folder);
    std::fs::rename(folder.join("harbour.kb"), folder.join("elsewhere.kb")).unwrap();
    folder.write("harbour/knots.md", "# Knots\n\nA bowline does not slip.\n");
    let told = watching.warning();
    assert!(told.contains("FILE_REPLACED"), "{told}");
    assert!(told.contains("harbour.kb was moved or removed"), "{told}");
    let status = watching.child.take().unwrap().wait().unwrap();
    assert_eq!(status.code(), Some(2));
    assert!(!folder.join("harbour.kb").exists());
    assert_eq!(folder.names(), ["elsewhere.kb", "harbour"]);
    // The same without a change, and what it says to people.
    std::fs::rename(folder.join("elsewhere.kb"), folder.join("harbour.kb")).unwrap();
    let mut watching = Watching::start(&folder, &["harbour", "-o", "harbour.kb"]);
    watching.lines.recv_timeout(PATIENCE).expect("a line");
    std::fs::remove_file(folder.join("harbour.kb")).unwrap();
    let mut told = watching.warning();
    while !told.starts_with("error: ") {
        told = watching.warning();
    }
    let hint = watching.warning();
    assert!(hint.contains("`kb watch harbour -o harbour.kb`"), "{hint}");
    watching.child.take().unwrap().wait().unwrap();
    assert_eq!(folder.names(), ["harbour"]);
}

#[test]
fn a_file_of_an_older_format_is_rebuilt_with_a_note() {
    let folder = Folder::indexed();
    make_older(&folder.join("harbour.kb"));
    let watching = Watching::harbour(&folder);
    let note = format!("harbour.kb had {} and was rebuilt", older_version());
    assert_eq!(watching.warning(), note);
    assert!(Kb::open(folder.join("harbour.kb")).is_ok());
}

#[test]
fn models_of_columns_embed_what_changed() {
    let folder = Folder::empty();
    super::models::write_model(&folder.join("tiny"));
    folder.write("harbour/one.md", "a word");
    folder
        .kb(["index", "harbour", "-o", "harbour.kb"])
        .expect(0);
    let embedder = ["reembed", "harbour.kb", "--embedder", "model2vec:tiny"];
    folder.kb(embedder).expect(0);
    let vectors = || {
        let columns = Kb::open(folder.join("harbour.kb")).unwrap();
        columns.vector_columns().unwrap()[1].rows
    };
    assert_eq!(vectors(), 1);
    let watching = Watching::harbour(&folder);
    folder.write("harbour/two.md", "a reader");
    watching.change();
    wait_until("the new chunk has a vector", || vectors() == 2);
    let note = watching.warning();
    let told = watching.stop();
    let all = format!("{note}\n{}", told.stderr);
    assert!(
        all.contains("vectors \"tiny\": +1 by model2vec:tiny"),
        "{all}"
    );
}
