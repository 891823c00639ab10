//! Output beside the results: verdict and warnings in JSON, links, narrow terminals, long errors.

use crate::support::terminal::run_on_terminal_of;
use crate::support::{Folder, run};

#[test]
fn json_carries_the_verdict_and_the_warnings() {
    let folder = Folder::indexed();
    let told = folder.kb("search 'fog horn' --json").expect(0);
    let hits = told.json_lines();
    assert!(
        hits.iter().all(|hit| hit["verdict"] == "relevant"),
        "{hits:#?}"
    );
    assert!(
        hits.iter().all(|hit| hit["document"].is_string()),
        "no summary: {hits:#?}"
    );
    let other = Folder::with_corpus();
    other.kb("index harbour/docs/guide.md -o g.kb").expect(0);
    let told = other.kb("search 'tax return deadline for freelancers' --json");
    let lines = told.expect(0).json_lines();
    let summary = &lines.last().unwrap()["summary"];
    assert_eq!(summary["verdict"], "nothing relevant", "{lines:#?}");
    assert!(
        summary["warnings"][0]
            .as_str()
            .unwrap()
            .contains("nothing relevant")
    );
    let told = folder.kb("search zzyzx --mode keyword --json").expect(1);
    let lines = told.json_lines();
    assert_eq!(lines.len(), 1, "{lines:#?}");
    assert_eq!(lines[0]["summary"]["warnings"], serde_json::json!([]));
    assert!(lines[0]["summary"]["verdict"].is_string(), "{lines:#?}");
    let told = folder.kb("search 'lamp path:nowhere' --json").expect(0);
    let lines = told.json_lines();
    let warning = lines.last().unwrap()["summary"]["warnings"][0].to_string();
    assert!(
        told.stderr.contains("nowhere") && warning.contains("nowhere"),
        "{warning}"
    );
    let told = folder.kb("symbols Nothing::here --json").expect(1);
    assert!(
        told.json_lines()[0]["summary"]["warnings"].is_array(),
        "{told:#?}"
    );
}

#[test]
fn a_corrected_word_is_told_with_how_to_search_it() {
    let folder = Folder::indexed();
    folder.write("harbour/keys.md", "Keep separate tables for keys.\n");
    folder.kb("index harbour").expect(0);
    let search = |flags: &[&str]| {
        let arguments = ["search", "tables: seperate ADR-086", "--mode", "keyword"];
        run(folder.command().args(arguments).args(flags))
    };
    let told = search(&[]).expect(0);
    let said = "showing results for separate; search instead for seperate with --exact";
    told.stderr_has(said);
    let told = search(&["--json"]).expect(0);
    let summary = &told.json_lines().pop().unwrap()["summary"];
    let correction =
        serde_json::json!({"from": "seperate", "to": "separate", "start_byte": 8, "end_byte": 16});
    assert_eq!(summary["corrections"], serde_json::json!([correction]));
    assert_eq!(summary["missing"], serde_json::json!(["ADR-086"]));
    let told = search(&["--json", "--exact"]).expect(0);
    let summary = &told.json_lines().pop().unwrap()["summary"];
    assert_eq!(summary["corrections"], serde_json::json!([]), "{told:#?}");
    let told = folder.kb("search --mode regex --exact keys");
    assert!(told.expect(2).stderr.contains("--exact"));
}

#[test]
fn documents_are_linked_on_a_terminal_only() {
    let folder = Folder::indexed();
    let source = folder.join("harbour").canonicalize().unwrap();
    let on_terminal = |arguments: &[&str]| {
        let mut command = folder.command();
        command.env("TERM", "xterm").args(arguments);
        run_on_terminal_of(command, 100).expect(0).stdout
    };
    let link = |scheme: &str, path: &str, rest: &str| {
        format!(
            "\u{1b}]8;;{scheme}{}/{path}{rest}\u{1b}\\",
            source.display()
        )
    };
    let flag = "--hyperlink-format";
    for arguments in [
        &["search", "fog horn", flag, "vscode"][..],
        &["search", "--mode", "regex", "-F", "horn", flag, "vscode"],
        &["symbols", flag, "vscode"],
    ] {
        let shown = on_terminal(arguments);
        assert!(
            shown.contains("\u{1b}]8;;vscode://file/"),
            "{arguments:?} {shown:?}"
        );
        assert_eq!(
            shown.matches("\u{1b}]8;;").count() % 2,
            0,
            "each link ends: {shown:?}"
        );
    }
    let shown = on_terminal(&["ls", "-r", flag, "file"]);
    assert!(
        shown.contains(&link("file://", "notes.txt", "")),
        "{shown:?}"
    );
    let shown = on_terminal(&["symbols", "predict_high_water", flag, "vscode"]);
    assert!(
        shown.contains(&link("vscode://file", "src/tide.rs", ":4:1")),
        "{shown:?}"
    );
    assert!(
        !on_terminal(&["ls"]).contains("]8;;"),
        "none is the default"
    );
    assert!(!on_terminal(&["ls", flag, "file", "--color", "never"]).contains("]8;;"));
    let piped = folder
        .kb(["ls", "-r", "--color", "always", flag, "file"])
        .expect(0);
    assert!(!piped.stdout.contains("]8;;"), "{piped:#?}");
    let mut command = folder.command();
    command
        .env("TERM", "xterm")
        .env("KB_HYPERLINK_FORMAT", "file");
    command.arg("ls");
    assert!(
        run_on_terminal_of(command, 100)
            .stdout
            .contains("]8;;file://")
    );
    let wrong = folder.kb(["ls", flag, "file://{line}"]).expect(2);
    wrong.stderr_has("needs {path}");
}

#[test]
fn a_sealed_file_has_no_links() {
    let folder = Folder::indexed();
    folder.kb("seal harbour.kb").expect(0);
    let mut command = folder.command();
    command.env("TERM", "xterm");
    command.args(["ls", "-r", "--hyperlink-format", "file"]);
    assert!(
        !run_on_terminal_of(command, 100)
            .expect(0)
            .stdout
            .contains("]8;;")
    );
}

#[test]
fn lines_fit_a_terminal_of_forty_columns() {
    let folder = Folder::indexed();
    for arguments in [
        &["search", "fog horn harbour"][..],
        &["search", "fog horn harbour", "--full"],
        &["symbols"],
        &["ls"],
        &["ls", "-lr"],
        &["outline", "docs/guide.md"],
        &["outline", "src/tide.rs"],
        &["--help"],
        &["search", "--help"],
        &["symbols", "-h"],
    ] {
        let mut command = folder.command();
        command
            .env("TERM", "xterm")
            .env("NO_COLOR", "1")
            .args(arguments);
        let shown = run_on_terminal_of(command, 40).expect(0).stdout;
        for line in shown.lines() {
            // A word that is longer cannot be broken: a path, an example.
            let is_long = line.chars().count() > 40;
            let words = line.trim_start().split("  ").next().unwrap_or_default();
            let is_example = line.trim_start().starts_with("kb ");
            let is_word = words.chars().count() > 30 || is_example;
            assert!(!is_long || is_word, "{arguments:?}: {line:?}");
        }
        assert!(!shown.contains("panicked"), "{arguments:?}");
    }
}

#[test]
fn texts_of_errors_are_short() {
    let folder = Folder::indexed();
    let long = format!("begin{}", "/very-long-name".repeat(2000));
    for arguments in [
        &["get", &long][..],
        &["outline", &long],
        &["ls", &long],
        &["get", "notes.txt", "--section", &long],
        &["search", "x", "--path", &long],
        &["search", "x", "--folder", &long],
        &["search", "x", "--type", &long],
        &["search", "x", "--lang", &long],
        &["search", "x", "-f", &long],
        &["search", "x", "--mode", &long],
        &["search", "x", "--mode", "regex", "--document", &long],
        &["search", "--mode", "regex", &format!("({long}")],
        &["symbols", &long],
        &["symbols", "--kind", &long],
        &["tag", &long, "--add", "x"],
        &["rm", &long],
        &["sheet", &long],
        &["help", &long],
        &[&long],
        &["index", &long],
        &["mcp", &long],
        &["verify", &long],
        &["get", "notes.txt", "--continue", &long],
    ] {
        for json in [false, true] {
            let mut command = folder.command();
            command.args(arguments);
            if json {
                command.arg("--json");
            }
            let told = run(&mut command);
            let shown: Vec<&str> = arguments
                .iter()
                .map(|word| &word[..word.len().min(12)])
                .collect();
            assert!(
                told.stderr.chars().count() <= 2000,
                "{shown:?}: {}",
                told.stderr.len()
            );
        }
    }
}

#[test]
fn help_of_a_verb_is_a_verb() {
    let folder = Folder::indexed();
    for verb in ["search", "index", "token"] {
        let help = folder.kb(["help", verb]).expect(0).stdout;
        assert_eq!(help, folder.kb([verb, "--help"]).expect(0).stdout, "{verb}");
    }
    let all = folder.kb("help").expect(0).stdout;
    assert_eq!(all, folder.kb("--help").expect(0).stdout);
    assert!(all.contains("\n  help"), "{all}");
    let told = folder.kb("help serach").expect(2);
    told.stderr_has("serach");
}

#[test]
fn a_bare_word_of_symbols_is_a_name() {
    let folder = Folder::indexed();
    let by_flag = folder.kb("symbols --name predict_*").expect(0).stdout;
    assert!(!by_flag.is_empty());
    assert_eq!(folder.kb("symbols predict_*").expect(0).stdout, by_flag);
    for arguments in [
        &["symbols", "predict_*", "-f", "harbour.kb"][..],
        &["symbols", "-f", "harbour.kb", "predict_*"],
        &["symbols", "harbour.kb", "predict_*"],
        &[
            "symbols",
            "harbour.kb",
            "--name",
            "predict_*",
            "--limit",
            "5",
        ],
    ] {
        let told = run(folder.command().args(arguments)).expect(0);
        assert_eq!(told.stdout, by_flag, "{arguments:?}");
    }
    let all = folder.kb("symbols -f harbour.kb").expect(0).stdout;
    assert_eq!(folder.kb("symbols harbour.kb").expect(0).stdout, all);
    let told = folder.kb("symbols one two").expect(2);
    told.stderr_has("only one name is allowed");
}

#[test]
fn limit_is_another_name_of_k() {
    let folder = Folder::indexed();
    let one = folder.kb("search harbour -k 1").expect(0).stdout;
    assert_eq!(folder.kb("search harbour --limit 1").expect(0).stdout, one);
}

#[test]
fn rm_takes_the_file_as_others_do() {
    let folder = Folder::indexed();
    let told = folder.kb("rm notes.txt -f harbour.kb").expect(0);
    assert_eq!(told.stdout, "notes.txt\n");
    assert_eq!(folder.kb("rm buoy.py").expect(0).stdout, "src/buoy.py\n");
    let told = folder.kb("rm harbour.kb tide.rs").expect(0);
    assert_eq!(told.stdout, "src/tide.rs\n");
    folder.kb("rm gone.kb docs/guide.md").expect(2);
    folder.kb("rm harbour.kb").expect(2);
}
