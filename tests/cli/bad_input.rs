//! Wrong names, wrong values, damaged files, hostile trees: one clear error that names the thing
//! and the remedy, nothing lost, never a panic.

use std::path::Path;
use std::process::Stdio;

use crate::support::{Folder, documents, outcome, run, wait_until};

/// Every outcome that a damaged file may have: an error of its own, or the right answer.
#[track_caller]
fn refused_or_right(folder: &Folder, file: &str, right: &str) {
    let told = folder.kb(["search", "fog horn", "-f", file, "--json"]);
    match told.code {
        Some(0) => assert_eq!(told.stdout, right),
        _ => {
            let told = told.expect(2);
            let code = told.error_code();
            assert!(
                ["NOT_A_KB", "DAMAGED", "FORMAT_UNSUPPORTED"].contains(&&*code),
                "{told:#?}"
            );
            told.stderr_has(file);
        }
    }
}

#[test]
fn a_missing_path_is_named_and_nothing_is_written() {
    let folder = Folder::with_corpus();
    for arguments in [
        ["index", "harbor", "--json"],
        ["index", "harbor/docs/", "--json"],
    ] {
        assert_eq!(
            folder.kb(arguments).expect(2).error_code(),
            "PATH_NOT_FOUND"
        );
    }
    let among = folder.kb("index harbour gone -o a.kb").expect(2);
    assert!(
        among.stderr.starts_with("error: gone does not exist"),
        "{among:#?}"
    );
    let asked = folder.kb("search lamp -f gone.kb").expect(2);
    asked.stderr_has("gone.kb does not exist");
    assert!(asked.hint().contains("-o gone.kb"), "{asked:#?}");
    assert_eq!(folder.names(), ["harbour"]);
}

#[test]
fn several_paths_without_a_name_get_the_corrected_command() {
    let folder = Folder::with_corpus();
    let told = folder.kb("index harbour/docs harbour/src").expect(2);
    assert_eq!(
        told.hint(),
        "`kb index harbour/docs harbour/src -o NAME.kb`"
    );
    let told = folder.kb("index harbour -o harbour").expect(2);
    assert_eq!(told.hint(), "`kb index harbour -o harbour/harbour.kb`");
    assert_eq!(folder.names(), ["harbour"]);
}

#[test]
fn an_empty_folder_makes_no_file() {
    let folder = Folder::empty();
    std::fs::create_dir(folder.join("empty")).unwrap();
    let told = folder.kb("index empty").expect(1);
    assert!(
        told.stderr.starts_with("nothing to index in empty\n"),
        "{told:#?}"
    );
    folder.write("pictures/a.png", b"\x89PNG\0\0\0");
    let told = folder.kb("index pictures").expect(1);
    told.stderr_has("a.png");
    assert_eq!(folder.names(), ["empty", "pictures"]);
}

#[test]
#[cfg(unix)]
fn an_unreadable_file_is_named_and_the_rest_is_indexed() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::with_corpus();
    let secret = folder.write("harbour/locked.txt", "nobody may read this\n");
    std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::read(&secret).is_ok() {
        eprintln!("skipped: this user may read every file");
        return;
    }
    let told = folder.kb("index harbour").expect(0);
    told.stdout_has("harbour.kb  7 documents, ");
    told.stdout_has("locked.txt");
}

#[test]
#[cfg(unix)]
fn pipes_and_links_to_nothing_do_not_stop_the_run() {
    let folder = Folder::with_corpus();
    let pipe = folder.join("harbour/pipe.txt");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    std::os::unix::fs::symlink("nowhere.md", folder.join("harbour/dangling.md")).unwrap();
    let told = folder.kb("index harbour").expect(0);
    told.stdout_has("harbour.kb  7 documents, ");
}

#[test]
#[cfg(unix)]
fn a_loop_of_links_ends() {
    let folder = Folder::with_corpus();
    std::os::unix::fs::symlink("..", folder.join("harbour/docs/up")).unwrap();
    std::os::unix::fs::symlink("self.md", folder.join("harbour/self.md")).unwrap();
    let told = folder.kb("index harbour").expect(0);
    told.stdout_has("harbour.kb  7 documents, ");
}

#[test]
#[cfg(target_os = "linux")]
fn a_name_that_is_not_utf_8_is_indexed_under_an_escaped_name() {
    use std::os::unix::ffi::OsStrExt;
    let folder = Folder::with_corpus();
    let name = std::ffi::OsStr::from_bytes(b"harbour/caf\xe9.md");
    folder.write(Path::new(name), "# Coffee\n\nThe harbour coffee house.\n");
    folder.kb("index harbour").expect(0);
    let found = folder
        .kb("search 'coffee house' --json")
        .expect(0)
        .json_lines();
    let path = documents(&found)[0].to_owned();
    assert!(
        path.starts_with("caf") && path.ends_with(".md") && path.is_ascii(),
        "{path}"
    );
    assert!(
        folder
            .kb(["get", &path])
            .expect(0)
            .stdout
            .starts_with("# Coffee")
    );
}

#[test]
fn something_else_than_a_kb_file_is_refused() {
    let folder = Folder::with_corpus();
    folder.write("text.kb", "just some text\n".repeat(1000));
    folder.write("empty.kb", "");
    for file in ["text.kb", "empty.kb", "harbour/notes.txt"] {
        let told = folder
            .kb(["search", "lamp", "-f", file, "--json"])
            .expect(2);
        assert_eq!(told.error_code(), "NOT_A_KB");
        told.stderr_has(file);
    }
    let told = folder.kb("search lamp -f harbour").expect(2);
    told.stderr_has("harbour is a folder");
}

#[test]
fn a_file_of_another_kind_is_never_written_over() {
    let folder = Folder::with_corpus();
    folder.write("thesis.txt", "years of work\n");
    let told = folder.kb("index harbour -o thesis.txt").expect(2);
    assert_eq!(told.hint(), "`kb index harbour -o thesis-2.kb`");
    assert_eq!(
        std::fs::read(folder.join("thesis.txt")).unwrap(),
        b"years of work\n"
    );
    assert_eq!(folder.names(), ["harbour", "thesis.txt"]);
}

#[test]
fn a_truncated_file_is_refused_or_answers_right() {
    let folder = Folder::indexed();
    let right = folder.kb("search 'fog horn' --json").expect(0).stdout;
    let bytes = std::fs::read(folder.join("harbour.kb")).unwrap();
    for length in [
        1,
        511,
        512,
        1024,
        4095,
        4096,
        bytes.len() / 2,
        bytes.len() - 1,
    ] {
        folder.write("cut.kb", &bytes[..length]);
        refused_or_right(&folder, "cut.kb", &right);
    }
}

#[test]
fn a_flipped_bit_is_refused_or_changes_nothing() {
    let folder = Folder::indexed();
    let right = folder.kb("search 'fog horn' --json").expect(0).stdout;
    let bytes = std::fs::read(folder.join("harbour.kb")).unwrap();
    // Spread over the whole file with a step that is no divisor of a page.
    let step = (bytes.len() / 60).max(1) | 1;
    for position in (0..bytes.len()).step_by(step) {
        let mut flipped = bytes.clone();
        flipped[position] ^= 1 << (position % 8);
        folder.write("flipped.kb", &flipped);
        refused_or_right(&folder, "flipped.kb", &right);
    }
}

#[test]
fn questions_without_words_are_refused() {
    let folder = Folder::indexed();
    for query in ["", "   ", "\n\t"] {
        let told = folder.kb(["search", query]).expect(2);
        assert!(told.stderr.starts_with("error: query: "), "{told:#?}");
    }
    let told = folder.kb("search").expect(2);
    told.stderr_has("<QUERY>");
    folder.kb_with_input(["search", "-"], b"").expect(2);
}

#[test]
fn a_question_of_a_megabyte_is_answered_from_its_start() {
    let folder = Folder::indexed();
    let long = "polish the lens ".repeat(1 << 16);
    let told = folder
        .kb_with_input(["search", "-", "--json"], long.as_bytes())
        .expect(0);
    assert_eq!(documents(&told.json_lines())[0], "docs/guide.md");
    assert!(told.stderr.starts_with("warning: "), "{told:#?}");

    // One argument holds at most 128 KiB on Linux: the same question as many words.
    let words: Vec<&str> = long.split_whitespace().take(100_000).collect();
    let told = run(folder.command().args(["search", "--json"]).args(words)).expect(0);
    assert!(told.stderr.starts_with("warning: "), "{told:#?}");

    let unbroken = "a".repeat(1 << 20);
    let told = folder.kb_with_input(["search", "-", "--mode", "keyword"], unbroken.as_bytes());
    told.expect(1);
    let binary: Vec<u8> = (0..1 << 20)
        .map(|number: u32| (number % 251) as u8)
        .collect();
    let told = folder.kb_with_input(["search", "-"], &binary);
    assert!(
        matches!(told.code, Some(0 | 1)) && !told.stderr.contains("panicked"),
        "{told:#?}"
    );
}

#[test]
fn numbers_out_of_range_are_refused() {
    let folder = Folder::indexed();
    for k in ["0", "10001"] {
        let told = folder.kb(["search", "lamp", "-k", k, "--json"]).expect(2);
        assert_eq!(told.error_code(), "INVALID_ARGUMENT");
    }
    for k in ["-1", "many", "99999999999999999999"] {
        folder.kb(["search", "lamp", "-k", k]).expect(2);
    }
    for size in ["lots", "-5", "16X"] {
        folder
            .kb(["index", "harbour", "--max-file-size", size])
            .expect(2);
    }
    let past = folder.kb("get notes.txt --lines 50-60").expect(2);
    past.stderr_has("notes.txt");
    assert_eq!(past.hint(), "`kb get notes.txt --lines 1`");
    for range in ["0-5", "9-3", "x"] {
        folder.kb(["get", "notes.txt", "--lines", range]).expect(2);
        folder.kb(["get", "notes.txt", "--pages", range]).expect(2);
    }
    let past = folder.kb("get notes.txt --pages 1,2").expect(2);
    assert_eq!(past.hint(), "`kb get notes.txt --pages 1`");
}

#[test]
fn unknown_filter_values_are_refused_with_what_is_known() {
    let folder = Folder::indexed();
    let class = folder.kb("search lamp --class prose").expect(2);
    class.stderr_has("code, doc, data");
    let mode = folder.kb("search lamp --mode hybird").expect(2);
    mode.stderr_has("hybrid");
    for (flag, value) in [
        ("--type", "markdwon"),
        ("--lang", "klingon"),
        ("--path", "docs/["),
    ] {
        let told = folder.kb(["search", "lamp", flag, value]).expect(2);
        told.stderr_has(value);
        let json = folder
            .kb(["search", "lamp", flag, value, "--json"])
            .expect(2);
        assert_eq!(json.error_code(), "INVALID_ARGUMENT");
    }
}

#[test]
fn mistakes_in_the_command_line_are_told_in_the_form_asked_for() {
    let folder = Folder::indexed();
    let flag = folder.kb("search lamp --jsn").expect(2);
    assert!(
        flag.stderr
            .starts_with("error: unexpected argument '--jsn' found\n"),
        "{flag:#?}"
    );
    assert!(flag.hint().contains("--json"), "{flag:#?}");
    assert!(folder.kb("serch lamp").expect(2).hint().contains("search"));
    let json = folder.kb("search lamp --json --mode all").expect(2);
    assert_eq!(json.error_code(), "USAGE");
    folder.kb([]).expect(2);
}

#[test]
fn unknown_documents_and_folders_get_the_nearest_name() {
    let folder = Folder::indexed();
    let told = folder.kb("get docs/giude.md").expect(2);
    assert_eq!(told.hint(), "`kb get docs/guide.md`");
    assert!(folder.kb("get docs/giude.md --json").expect(2).error_code() == "DOCUMENT_NOT_FOUND");
    let told = folder.kb("outline instal.rst -f harbour.kb").expect(2);
    assert_eq!(told.hint(), "`kb outline -f harbour.kb docs/install.rst`");
    let told = folder.kb("ls dosc").expect(2);
    assert_eq!(told.hint(), "`kb ls docs`");
    folder.write(
        "harbour/site/guide.md",
        "# Another guide\n\nOf the same name.\n",
    );
    folder.kb("index harbour").expect(0);
    let told = folder.kb("get guide.md --json").expect(2);
    assert_eq!(told.error_code(), "AMBIGUOUS_DOCUMENT");
}

#[test]
fn an_output_that_cannot_be_written_is_named() {
    let folder = Folder::with_corpus();
    let told = folder.kb("index harbour -o no/such/folder/a.kb").expect(2);
    told.stderr_has("no/such/folder");
    told.stderr_has("`mkdir -p no/such/folder`");
    let told = folder
        .kb("index harbour -o harbour/notes.txt/a.kb")
        .expect(2);
    told.stderr_has("harbour/notes.txt");
    #[cfg(target_os = "linux")]
    {
        let told = folder.kb("index harbour -o /proc/kb-tests.kb").expect(2);
        told.stderr_has("/proc");
        told.stderr_has("elsewhere with -o");
    }
    assert_eq!(folder.names(), ["harbour"]);
}

/// Starts a verb that is held once it has taken the first document or row, and interrupts it there.
#[cfg(unix)]
fn interrupted(folder: &Folder, arguments: &[&str]) -> crate::support::Outcome {
    use rustix::process::{Pid, Signal, kill_process};
    let mut command = folder.command();
    command
        .args(arguments)
        .env("KB_FAULT_HOLD", folder.join("harbour/.held"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    wait_until("the run writes", || folder.join("harbour/.held").exists());
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let outcome = outcome(child.wait_with_output().unwrap());
    std::fs::remove_file(folder.join("harbour/.held")).unwrap();
    outcome
}

#[cfg(unix)]
fn interrupted_index(folder: &Folder) -> crate::support::Outcome {
    folder.write("harbour/news.md", "# News\n\nA ship has come in.\n");
    interrupted(folder, &["index", "harbour"])
}

#[test]
#[cfg(unix)]
fn an_interrupt_leaves_no_file_where_none_was() {
    let folder = Folder::with_corpus();
    let told = interrupted_index(&folder).expect(130);
    told.stderr_has("stopped; harbour.kb was not written");
    assert_eq!(folder.names(), ["harbour"]);
}

#[test]
#[cfg(unix)]
fn an_interrupt_leaves_the_old_answers_where_a_file_was() {
    let folder = Folder::indexed();
    let right = folder.kb("search 'fog horn' --json").expect(0).stdout;
    let told = interrupted_index(&folder).expect(130);
    told.stderr_has("stopped; harbour.kb is unchanged");
    assert_eq!(folder.names(), ["harbour", "harbour.kb"]);
    // The hits are those of before; behind them stands that the sources changed since.
    let now = folder.kb("search 'fog horn' --json").expect(0).stdout;
    let rest = now.strip_prefix(&right).expect("the same hits");
    assert!(rest.starts_with(r#"{"out_of_date""#), "{rest}");
}

#[test]
#[cfg(unix)]
fn an_interrupted_import_leaves_the_file_as_it_was() {
    let folder = Folder::indexed();
    let row = r#"{"document": "notes.txt", "chunk": 0, "vector": [1, 0]}"#;
    folder.write("own.jsonl", row);
    let before = std::fs::read(folder.join("harbour.kb")).unwrap();
    let import = ["import", "vectors", "harbour.kb", "own.jsonl"];
    let told = interrupted(&folder, &import).expect(130);
    told.stderr_has("stopped; harbour.kb is unchanged");
    assert_eq!(folder.names(), ["harbour", "harbour.kb", "own.jsonl"]);
    assert!(!folder.kb("vectors").expect(0).stdout.contains("own"));
    assert!(std::fs::read(folder.join("harbour.kb")).unwrap().len() >= before.len());
    // The lock is free, and nothing of the import is in the way of the next one.
    folder.kb(import).expect(0);
    assert!(folder.kb("vectors").expect(0).stdout.contains("own"));
}

/// The row of its headings was too large, and the run failed again and again for this one file.
#[test]
fn a_document_of_too_many_long_headings_stops_no_other() {
    let folder = Folder::empty();
    let headings = (0..65_535).map(|number| format!("# {number:05} {}\n", "x".repeat(246)));
    folder.write("notes/big.md", headings.collect::<String>());
    folder.write("notes/good.md", "# Good\n");
    let told = folder.kb("index notes").expect(0);
    told.stdout_has("added 2, ");
    let outline = folder.kb("outline big.md --json").expect(0);
    // The first ones; the text has them all.
    assert!(
        outline.stdout.contains("00000 xxx"),
        "{}",
        outline.stdout.len()
    );
    let last = folder.kb("get big.md:65535").expect(0);
    assert!(last.stdout.starts_with("# 65534 "), "{last:#?}");
}

#[test]
fn an_added_document_over_a_limit_is_refused_with_the_limit() {
    let folder = Folder::indexed();
    let long = "p".repeat(20_000);
    for (flag, value) in [("--path", &long), ("--title", &long)] {
        let told = folder
            .kb([
                "add",
                "harbour/notes.txt",
                flag,
                value,
                "--replace",
                "--json",
            ])
            .expect(2);
        assert_eq!(told.error_code(), "FILE_TOO_LARGE");
        told.stderr_has("has 20000 bytes, more than 16384");
    }
}
