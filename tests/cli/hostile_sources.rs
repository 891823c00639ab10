//! `kb index` over trees that somebody made to do harm: ignore files that are no files, or that no
//! matcher can hold.

use serde_json::Value;

use crate::support::{Folder, run};

/// What one run says it left out, as path and reason.
fn left_out(folder: &Folder) -> Vec<(String, String)> {
    let told = folder.kb("index harbour --json").expect(0);
    let report = &told.json_lines()[0];
    assert_eq!(report["documents"], 7, "{report:#}");
    let skipped = report["skipped"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    skipped
        .map(|skipped| (text(&skipped["path"]), text(&skipped["reason"])))
        .filter(|(path, _)| path != "logo.png")
        .collect()
}

/// The reason of the only thing that was left out, which is `path`.
#[track_caller]
fn reason(folder: &Folder, path: &str) -> String {
    let left_out = left_out(folder);
    let [(of, reason)] = left_out.as_slice() else {
        panic!("{left_out:#?}");
    };
    assert_eq!(of, path);
    reason.clone()
}

fn make_fifo(folder: &Folder, name: &str) {
    let made = std::process::Command::new("mkfifo")
        .arg(folder.join(name))
        .status();
    assert!(made.unwrap().success());
}

#[test]
fn nested_braces_in_an_ignore_file_end_no_run() {
    let folder = Folder::with_corpus();
    let braces = format!("{}a{}\n*.log\n", "{".repeat(25_000), "}".repeat(25_000));
    folder.write("harbour/docs/.gitignore", &braces);
    folder.write(
        "harbour/docs/a.log",
        "left out by the line that is a pattern\n",
    );
    let reason = reason(&folder, "docs/.gitignore");
    assert!(reason.contains("line 1 "), "{reason}");
}

#[test]
#[cfg(target_os = "linux")]
fn an_ignore_file_of_many_wildcards_takes_little_memory() {
    let folder = Folder::empty();
    // 60 KB for which a set of regular expressions takes gigabytes once it has seen enough names.
    let lines: Vec<String> = (0..6_000).map(|number| format!("f*{number}*b")).collect();
    folder.write("harbour/.gitignore", lines.join("\n"));
    folder.write("harbour/f-7-b", "left out by the eighth line\n");
    for number in 0..1_000 {
        let name = format!("harbour/file-aaaa-{number}-bbbbbbbbbbbb.txt");
        folder.write(name, "a buoy\n");
    }
    let mut shell = std::process::Command::new("sh");
    let limited = "ulimit -v 2000000; exec \"$0\" index harbour --threads 1";
    shell.current_dir(folder.path()).args(["-c", limited]);
    let told = run(shell.arg(folder.command().get_program())).expect(0);
    told.stdout_has("added 1000,");
}

#[test]
#[cfg(unix)]
fn a_pipe_in_the_place_of_an_ignore_file_is_not_waited_for() {
    for name in [".gitignore", "docs/.kbignore"] {
        let folder = Folder::with_corpus();
        make_fifo(&folder, &format!("harbour/{name}"));
        let reason = reason(&folder, name);
        assert!(reason.contains("not a regular file"), "{reason}");
    }
}

#[test]
#[cfg(unix)]
fn no_ignore_file_is_read_through_a_link() {
    let secret = "{\"token\": \"[z-a]-swordfish\"}\n";
    for (name, target) in [
        ("docs/.gitignore", "/dev/zero"),
        (".gitignore", "docs/guide.md"),
        ("src/.kbignore", "../../secret.json"),
    ] {
        let folder = Folder::with_corpus();
        folder.write("secret.json", secret);
        let link = folder.join("harbour").join(name);
        std::os::unix::fs::symlink(target, link).unwrap();
        let reason = reason(&folder, name);
        assert!(reason.contains("symbolic link"), "{reason}");
    }
}

#[test]
fn a_line_that_is_no_pattern_is_named_by_its_number_only() {
    let folder = Folder::with_corpus();
    folder.write("harbour/src/.kbignore", "# note\n[z-a]-swordfish\n*.log\n");
    folder.write("harbour/src/a.log", "left out by the third line\n");
    let told = folder.kb("index harbour -v").expect(0);
    told.stdout_has("src/.kbignore");
    told.stdout_has("line 2 ");
    assert!(!told.stdout.contains("swordfish"), "{told:#?}");
    assert!(!told.stderr.contains("swordfish"), "{told:#?}");
}

#[test]
#[cfg(unix)]
fn a_tree_deeper_than_a_path_may_be_is_left_out_from_there_on() {
    let folder = Folder::with_corpus();
    // 2700 levels of two bytes, put together from pieces that have paths which can be named.
    let levels = "d/".repeat(900);
    for (name, file) in [
        ("harbour", "deep.txt"),
        ("two", ""),
        ("three", "deeper.txt"),
    ] {
        let last = folder.join(name).join(&levels);
        std::fs::create_dir_all(&last).unwrap();
        if !file.is_empty() {
            std::fs::write(last.join(file), "a buoy\n").unwrap();
        }
    }
    for (from, to) in [("three", "two"), ("two", "harbour")] {
        let to = folder.join(to).join(&levels).join("d");
        std::fs::rename(folder.join(from).join("d"), to).unwrap();
    }
    let told = folder.kb("index harbour --json").expect(0);
    let report = &told.json_lines()[0];
    let skipped = report["skipped"].to_string();
    // Before it is asserted: what removes the folder of a test holds each level open.
    let removed = std::process::Command::new("rm")
        .args(["-rf", "harbour/d"])
        .current_dir(folder.path())
        .status();
    assert!(removed.unwrap().success());
    assert_eq!(report["documents"], 8, "{skipped}");
    assert!(skipped.contains("File name too long"), "{skipped}");
    assert!(!skipped.contains("deeper.txt"), "{skipped}");
    let again = folder.kb("index harbour --json").expect(0);
    assert_eq!(again.json_lines()[0]["removed"], 1);
}

#[test]
#[cfg(unix)]
fn what_is_no_regular_file_is_named_and_not_opened() {
    let folder = Folder::with_corpus();
    make_fifo(&folder, "harbour/docs/pipe.md");
    let socket = folder.join("harbour/socket.txt");
    let _socket = std::os::unix::net::UnixListener::bind(socket).unwrap();
    std::os::unix::fs::symlink("/dev/zero", folder.join("harbour/zero.txt")).unwrap();
    assert_eq!(
        left_out(&folder),
        [
            ("docs/pipe.md", "not a regular file"),
            ("socket.txt", "not a regular file"),
            ("zero.txt", "symbolic link"),
        ]
        .map(|(path, reason)| (path.to_owned(), reason.to_owned()))
    );
}
