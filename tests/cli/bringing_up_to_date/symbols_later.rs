//! A first run that parses programs after the text of all files is searchable.

#[cfg(unix)]
use std::process::Stdio;

use crate::support::{Folder, Outcome, outcome};

/// Makes `harbour.kb` so that any number of programs is parsed in a second pass.
fn index_in_two_passes(folder: &Folder) -> Outcome {
    let mut command = folder.command();
    command.args(["index", "harbour", "-o", "harbour.kb"]);
    command.env("KB_FAULT_SYMBOLS_LATER", "0");
    outcome(command.output().unwrap())
}

#[test]
fn a_run_in_two_passes_says_when_text_could_be_searched_and_answers_alike() {
    let folder = Folder::with_corpus();
    folder.kb("index harbour -o one.kb").expect(0);
    let told = index_in_two_passes(&folder).expect(0);
    told.stdout_has(
        "\n  added 7, updated 0, removed 0, unchanged 0, skipped 1\n  text searchable after ",
    );
    told.stdout_has(", symbols after ");
    told.stdout_has("\n  symbols of 2 source files added\n");
    for question in [
        "search 'polish the lens' --json",
        "search drift_distance --mode keyword --json",
        "symbols --json",
    ] {
        let ask = |file: &str| {
            let told = folder
                .kb(format!("{question} -f {file}").as_str())
                .expect(0);
            assert_eq!(told.stderr, "");
            told.stdout.replace(file, "")
        };
        assert_eq!(ask("harbour.kb"), ask("one.kb"), "{question}");
    }
    let roots = ["harbour.kb", "one.kb"].map(|file| {
        folder.kb(["seal", file]).expect(0);
        let info = folder.kb(["info", file, "--json"]).expect(0);
        assert_eq!(info.json_lines()[0]["symbols_pending"], 0);
        info.json_lines()[0]["content_root"].to_string()
    });
    assert_eq!(roots[0], roots[1]);
    // A small folder is read in one pass.
    let told = folder.kb("index harbour -o small.kb --json").expect(0);
    let object = &told.json_lines()[0];
    assert!(object["searchable_seconds"].is_null(), "{object:#}");
    assert_eq!(object["parsed"], 0);
}

#[test]
#[cfg(unix)]
fn an_interrupt_between_the_passes_leaves_symbols_to_the_next_run() {
    use rustix::process::{Pid, Signal, kill_process};
    let folder = Folder::with_corpus();
    let held = folder.join("held");
    let mut command = folder.command();
    command
        .args(["index", "harbour"])
        .env("KB_FAULT_SYMBOLS_LATER", "0")
        .env("KB_FAULT_HOLD", &held)
        .env("KB_FAULT_HOLD_SYMBOLS", "1")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    crate::support::wait_until("the second pass begins", || held.exists());
    // While it runs, others are answered from the text, and are told so.
    let told = folder.kb("search drift_distance --mode keyword").expect(0);
    told.stderr_has(
        "symbols pending: 2 source files of harbour.kb are indexed as text only so far",
    );
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let told = outcome(child.wait_with_output().unwrap()).expect(130);
    told.stderr_has("stopped; harbour.kb has 7 documents so far, symbols of 2 are pending");
    std::fs::remove_file(&held).unwrap();

    let told = folder.kb("info").expect(0);
    told.stdout_has("symbols of 2 source files; `kb index` parses them");
    let told = folder.kb("info --json").expect(0);
    assert_eq!(told.json_lines()[0]["symbols_pending"], 2);
    folder.kb("verify --deep").expect(0);
    let told = folder.kb("symbols --name drift_distance --json").expect(1);
    let object = &told.json_lines()[0];
    assert_eq!(object["symbols_pending"], "harbour.kb", "{object:#}");
    assert_eq!(object["documents"], 2);
    let told = folder
        .kb("search drift --where symbols_pending=true")
        .expect(0);
    assert!(told.stdout.starts_with("src/buoy.py:"), "{told:#?}");
    // Nothing is out of date for it, and an answer does not wait for the parser.
    folder.kb("index harbour --check").expect(0);
    let told = folder
        .kb("symbols --name drift_distance --refresh")
        .expect(1);
    told.stderr_has("symbols pending: 2 source files");

    let told = folder.kb("index harbour").expect(0);
    told.stdout_has("\n  nothing changed, skipped 1\n  symbols of 2 source files added\n");
    let told = folder.kb("symbols --name drift_distance").expect(0);
    assert!(told.stdout.starts_with("src/buoy.py:"), "{told:#?}");
    assert_eq!(told.stderr, "");
    let told = folder.kb("info").expect(0);
    assert!(!told.stdout.contains("pending"), "{told:#?}");
    // Parsed once.
    let told = folder.kb("index harbour --json").expect(0);
    assert_eq!(told.json_lines()[0]["parsed"], 0);
}
