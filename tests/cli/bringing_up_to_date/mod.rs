//! `kb index` on an existing file: its report, `--check`, additional folders, folders that vanish, other writers.

mod freshness;
mod git_fields;
mod moved_folders;
mod older_format;
mod secrets;
#[cfg(unix)]
mod selecting;
mod symbols_later;

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use kb_engine::KbWriter;

use crate::support::{Folder, Outcome, outcome};

/// A corpus that is indexed and then has one new file, one changed and one gone.
fn changed() -> Folder {
    let folder = Folder::indexed();
    folder.write("harbour/docs/new.md", "# New\n\nA new pier.\n");
    folder.write("harbour/notes.txt", "Order twice as much paraffin.\n");
    std::fs::remove_file(folder.join("harbour/src/buoy.py")).unwrap();
    folder
}

/// Holds the writer lock of `harbour.kb` from this process until it is dropped.
fn holding(folder: &Folder) -> KbWriter {
    let mut writer = KbWriter::open_or_create(folder.join("harbour.kb")).unwrap();
    writer.tag("notes.txt", &["held"], &[]).unwrap();
    writer
}

#[test]
fn a_second_run_tells_what_changed_and_a_third_that_nothing_did() {
    let folder = changed();
    let told = folder.kb("index harbour -v").expect(0);
    let counts = "\n  added 1, updated 1, removed 1, unchanged 5, skipped 1\n";
    told.stdout_has(counts);
    let paths = "\n  + docs/new.md\n  ~ notes.txt\n  - src/buoy.py\n";
    told.stdout_has(paths);

    let before = std::fs::read(folder.join("harbour.kb")).unwrap();
    let told = folder.kb("index harbour").expect(0);
    let nothing = "\n  nothing changed, skipped 1\n";
    assert!(told.stdout.ends_with(nothing), "{told:#?}");
    let object = &folder
        .kb("index harbour --json --force-hash")
        .expect(0)
        .json_lines()[0];
    for (key, value) in [
        ("added", 0),
        ("updated", 0),
        ("removed", 0),
        ("unchanged", 7),
    ] {
        assert_eq!(object[key], value, "{key}");
    }
    assert!(object["changes"].is_null(), "{object:#}");
    let again = folder.kb("index harbour --rebuild --json").expect(0);
    assert_eq!(again.json_lines()[0]["documents"], 7);
    assert!(!before.is_empty());
}

#[test]
fn check_tells_what_would_change_and_writes_nothing() {
    let folder = Folder::indexed();
    let fresh = folder.kb("index harbour --check").expect(0);
    assert_eq!(fresh.stdout, "harbour.kb  nothing changed, skipped 1\n");

    let folder = changed();
    let before = std::fs::read(folder.join("harbour.kb")).unwrap();
    let stale = folder.kb("index harbour --check").expect(1);
    assert_eq!(
        stale.stdout,
        "harbour.kb  added 1, updated 1, removed 1, unchanged 5, skipped 1\n  \
         + docs/new.md\n  ~ notes.txt\n  - src/buoy.py\n"
    );
    let object = &folder
        .kb("index harbour --check --json")
        .expect(1)
        .json_lines()[0];
    assert_eq!(object["changes"][0]["change"], "added");
    assert_eq!(object["changes"][2]["path"], "src/buoy.py");
    let silent = folder.kb("index harbour --check -q").expect(1);
    assert_eq!((&*silent.stdout, &*silent.stderr), ("", ""));
    assert_eq!(std::fs::read(folder.join("harbour.kb")).unwrap(), before);
    assert_eq!(folder.names(), ["harbour", "harbour.kb"]);
}

#[test]
fn check_of_a_file_that_is_not_there_names_the_remedy() {
    let folder = Folder::with_corpus();
    let told = folder.kb("index harbour --check").expect(2);
    told.stderr_has("harbour.kb does not exist");
    assert!(told.hint().contains("-o harbour.kb"), "{told:#?}");
    assert_eq!(folder.names(), ["harbour"]);
}

#[test]
fn check_lists_twenty_paths_unless_all_are_asked_for() {
    let folder = Folder::indexed();
    for number in 0..30 {
        folder.write(format!("harbour/log/{number:02}.txt"), "calm sea\n");
    }
    let some = folder.kb("index harbour --check").expect(1);
    assert_eq!(some.stdout.lines().count(), 22, "{some:#?}");
    assert!(some.stdout.ends_with("\n  and 10 more\n"), "{some:#?}");
    let all = folder.kb("index harbour --check -v").expect(1);
    assert_eq!(all.stdout.lines().count(), 31, "{all:#?}");
}

#[test]
fn check_needs_neither_the_lock_nor_the_right_to_write() {
    let folder = Folder::indexed();
    let file = folder.join("harbour.kb");
    let _writer = holding(&folder);
    let mut permissions = file.metadata().unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&file, permissions).unwrap();
    folder.kb("index harbour --check").expect(0);
}

#[test]
fn another_folder_becomes_a_further_root_of_the_file() {
    let folder = Folder::indexed();
    folder.write("tales/ghost.md", "# The ghost\n\nA spectre walks.\n");
    let told = folder.kb("index tales -o harbour.kb").expect(0);
    assert!(
        told.stdout.starts_with("harbour.kb  8 documents, "),
        "{told:#?}"
    );
    told.stdout_has("\n  added 1, updated 0, removed 0, ");
    folder.kb("get tales/ghost.md").expect(0);
    folder.kb("get docs/guide.md").expect(0);
    let info = &folder.kb("info --json").expect(0).json_lines()[0];
    assert_eq!(info["roots"].as_array().unwrap().len(), 2);
    folder
        .kb("index harbour tales -o harbour.kb --check")
        .expect(0);
}

#[test]
fn a_vanished_folder_keeps_its_documents_unless_pruned() {
    let folder = Folder::indexed();
    std::fs::rename(folder.join("harbour"), folder.join("elsewhere")).unwrap();
    std::fs::create_dir(folder.join("harbour")).unwrap();
    let told = folder.kb("index harbour --json").expect(2);
    assert_eq!(told.error_code(), "ROOT_VANISHED");
    let checked = folder.kb("index harbour --check").expect(2);
    checked.stderr_has("--prune");
    folder.kb("get notes.txt").expect(0);

    std::fs::remove_dir(folder.join("harbour")).unwrap();
    let told = folder.kb("index harbour -o harbour.kb").expect(2);
    assert_eq!(
        told.hint(),
        "`kb index harbour -o harbour.kb --prune` removes its documents"
    );
    let pruned = folder.kb("index harbour -o harbour.kb --prune").expect(0);
    pruned.stdout_has("removed 7");
    folder.kb("get notes.txt").expect(2);
}

#[track_caller]
fn names_this_process(told: &Outcome) {
    let process = format!(", process {} on ", std::process::id());
    for part in [
        "harbour.kb: ",
        "is writing the .kb: kb 0.",
        &process,
        ", since 2",
    ] {
        assert!(told.stderr.contains(part), "{part:?} is missing: {told:#?}");
    }
}

#[test]
fn a_second_writer_is_refused_with_the_name_of_the_first() {
    let folder = changed();
    let _writer = holding(&folder);
    for arguments in [
        ["index", "harbour", "--threads=1", "--wait=0"],
        ["rm", "harbour.kb", "notes.txt", "--wait=0"],
        ["tag", "notes.txt", "--add=late", "--wait=0"],
        ["add", "harbour/logo.md", "--path=logo.md", "--wait=0"],
        ["seal", "harbour.kb", "--wait=0", "--vectors=i8"],
    ] {
        folder.write("harbour/logo.md", "# Logo\n\nA blue anchor.\n");
        let told = folder.kb(arguments).expect(2);
        names_this_process(&told);
        let mut json = folder.command();
        let told = crate::support::run(json.args(arguments).arg("--json")).expect(2);
        assert_eq!(told.error_code(), "INDEX_LOCKED");
    }
    // Readers are not held up.
    folder.kb("search 'fog horn'").expect(0);
}

/// Starts a command, does `then` once it says that it waits, and gives how it ended.
fn once_it_waits(folder: &Folder, arguments: &[&str], then: impl FnOnce()) -> Outcome {
    let mut command = folder.command();
    command.args(arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut said = String::new();
    let mut lines = BufReader::new(child.stderr.take().unwrap());
    lines.read_line(&mut said).unwrap();
    assert!(said.starts_with("waiting for kb 0."), "{said}");
    then();
    outcome(child.wait_with_output().unwrap())
}

#[test]
fn a_writer_that_waits_writes_once_the_file_is_free() {
    let folder = changed();
    let mut writer = holding(&folder);
    let index = ["index", "harbour", "--wait", "600"];
    // The writer lets go of the file when it is dropped.
    let told = once_it_waits(&folder, &index, move || writer.commit().unwrap()).expect(0);
    told.stdout_has("added 1, updated 1, removed 1");
    let tags = folder.kb("tag notes.txt").expect(0);
    assert_eq!(tags.stdout, "notes.txt  held\n");

    let mut writer = holding(&folder);
    let tag = ["tag", "notes.txt", "--add", "late", "--wait"];
    once_it_waits(&folder, &tag, || writer.abandon()).expect(0);
    drop(writer);
    let _writer = holding(&folder);
    let told = folder.kb("rm harbour.kb notes.txt --wait 0.2").expect(2);
    names_this_process(&told);
    let told = folder.kb("index --wait harbour").expect(2);
    told.stderr_has("--wait=5");
}

#[test]
fn a_command_waits_for_a_short_write_without_being_told() {
    let folder = changed();
    let mut writer = holding(&folder);
    // It says that it waits only after a second.
    let told = once_it_waits(&folder, &["index", "harbour"], move || {
        writer.commit().unwrap();
    });
    let told = told.expect(0);
    told.stdout_has("added 1, updated 1, removed 1");
    let tags = folder.kb("tag notes.txt").expect(0);
    assert_eq!(tags.stdout, "notes.txt  held\n");
}

#[test]
#[cfg(unix)]
fn a_folder_that_nobody_may_write_to_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::with_corpus();
    std::fs::create_dir(folder.join("fixed")).unwrap();
    let mode = |mode| std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(folder.join("fixed"), mode(0o555)).unwrap();
    if std::fs::write(folder.join("fixed/probe"), "").is_ok() {
        eprintln!("skipped: this user may write to every folder");
        return;
    }
    let told = folder.kb("index harbour -o fixed/a.kb").expect(2);
    told.stderr_has("fixed");
    assert!(told.hint().contains("elsewhere with -o"), "{told:#?}");
    std::fs::set_permissions(folder.join("fixed"), mode(0o755)).unwrap();
    folder.kb("index harbour -o fixed/a.kb").expect(0);
    std::fs::set_permissions(folder.join("fixed/a.kb"), mode(0o444)).unwrap();
    folder.write("harbour/late.md", "# Late\n");
    for (arguments, remedy) in [
        (
            ["index", "harbour", "-o", "fixed/a.kb"],
            "elsewhere with -o",
        ),
        (
            ["add", "harbour/late.md", "-f", "fixed/a.kb"],
            "elsewhere with -f",
        ),
        (
            ["rm", "fixed/a.kb", "notes.txt", "guide.md"],
            "change a copy",
        ),
        (
            ["tag", "notes.txt", "--add=x", "-ffixed/a.kb"],
            "change a copy",
        ),
    ] {
        let told = folder.kb(arguments).expect(2);
        assert!(told.hint().contains(remedy), "{told:#?}");
    }
}

/// A file in place keeps its largest size, and nothing said how to get rid of that.
#[test]
fn a_file_that_grew_by_edits_says_that_sealing_helps() {
    let folder = Folder::empty();
    for number in 0..400 {
        let text = crate::support::random_letters(9000, number);
        folder.write(format!("d/{number}.txt"), text);
    }
    let told = folder.kb("index d -o g.kb").expect(0);
    assert!(!told.stderr.contains("unused"), "{told:#?}");
    for number in 0..300 {
        folder.write(format!("d/{number}.txt"), "one line instead\n");
    }
    let told = folder.kb("index d -o g.kb").expect(0);
    told.stderr_has("are unused space");
    assert!(told.hint().starts_with("`kb seal g.kb`"), "{told:#?}");
    let before = std::fs::metadata(folder.join("g.kb")).unwrap().len();
    folder.kb("seal g.kb").expect(0);
    let after = std::fs::metadata(folder.join("g.kb")).unwrap().len();
    assert!(after * 10 < before * 7, "{after} of {before}");
}

/// redb doubles a file that needs room: 200 such edits took one of 4.6 MB to 12 MB. When segments are merged, the new one
/// is written before the room of the old ones is free, so a small file may double once.
#[test]
fn a_file_grows_little_by_edits() {
    let folder = Folder::empty();
    let mut numbers = crate::support::Random(7);
    let mut text = |words: usize| {
        let word = |_| format!("w{:x}", numbers.below(50_000));
        (0..words).map(word).collect::<Vec<_>>().join(" ")
    };
    for number in 0..60 {
        folder.write(
            format!("d/{number}.md"),
            format!("# {number}\n\n{}\n", text(2000)),
        );
    }
    folder.kb("index d -o n.kb").expect(0);
    let len = || std::fs::metadata(folder.join("n.kb")).unwrap().len();
    let before = len();
    for edit in 0..25 {
        let path = folder.join(format!("d/{}.md", edit % 12));
        let edited = format!(
            "{}\nEdit {edit}.\n",
            std::fs::read_to_string(&path).unwrap()
        );
        std::fs::write(&path, edited).unwrap();
        folder.kb("index d -o n.kb").expect(0);
        assert!(
            len() * 4 <= before * 9,
            "{} after {before}, edit {edit}",
            len()
        );
    }
    folder.kb("verify n.kb --deep").expect(0);
}
