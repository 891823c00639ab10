//! What goes to which stream, in which form: colour, pipes, help, completions, the manual.

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::support::{Folder, run};

#[test]
fn colour_is_for_terminals_unless_asked_for_or_forbidden() {
    let folder = Folder::indexed();
    let colored = |variables: &[(&str, &str)], arguments: &[&str]| {
        let mut command = folder.command();
        command
            .envs(variables.iter().copied())
            .args(["search", "lens"])
            .args(arguments);
        run(&mut command).expect(0).stdout.contains('\u{1b}')
    };
    assert!(!colored(&[], &[]), "a pipe gets no colour");
    assert!(colored(&[("CLICOLOR_FORCE", "1")], &[]));
    assert!(!colored(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], &[]));
    assert!(colored(&[("NO_COLOR", "1")], &["--color", "always"]));
    assert!(!colored(&[("CLICOLOR_FORCE", "1")], &["--color", "never"]));
    assert!(
        !colored(&[("CLICOLOR_FORCE", "1")], &["--json"]),
        "JSON has no colour"
    );
}

#[test]
fn a_matched_word_is_bold_when_there_is_colour() {
    let folder = Folder::indexed();
    let told = folder.kb("search vinegar --color always").expect(0);
    told.stdout_has("\u{1b}[1;31mvinegar\u{1b}[0m");
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let folder = Folder::empty();
    folder.write(
        "log/big.txt",
        "the same long line of a log file\n".repeat(100_000),
    );
    folder.kb("index log").expect(0);
    let mut child = folder
        .command()
        .args(["get", "big.txt"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    assert_eq!(line, "the same long line of a log file\n");
    drop(reader);
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&ended.stderr), "");
}

#[test]
#[cfg(target_os = "linux")]
fn an_answer_that_cannot_be_written_is_an_error() {
    let folder = Folder::indexed();
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = folder.command();
    let child = command
        .arg("ls")
        .stdout(full)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&ended.stderr).contains("cannot write the output"));
}

#[test]
fn control_characters_reach_a_pipe_untouched() {
    let folder = Folder::empty();
    let text = "a \u{1b}[31mred\u{1b}[0m word\r\nand a bell \u{7}\r\n";
    folder.write("raw/raw.txt", text);
    folder.kb("index raw").expect(0);
    assert_eq!(folder.kb("get raw.txt").expect(0).stdout, text);
}

#[test]
fn help_teaches_every_verb_and_ends_well() {
    let folder = Folder::empty();
    let top = folder.kb("--help").expect(0).stdout;
    for verb in [
        "index",
        "search",
        "get",
        "outline",
        "ls",
        "add",
        "rm",
        "tag",
        "import",
        "vectors",
        "watch",
        "info",
        "bench",
        "verify",
        "seal",
        "completions",
        "man",
    ] {
        assert!(
            top.contains(&format!("\n  {verb} ")),
            "{verb} is missing:\n{top}"
        );
        let long = folder.kb([verb, "--help"]).expect(0).stdout;
        let short = folder.kb([verb, "-h"]).expect(0).stdout;
        assert!(
            long.contains("Usage: kb ") && short.contains("Usage: kb "),
            "{long}\n{short}"
        );
    }
    let version = folder.kb("--version").expect(0).stdout;
    assert!(
        version.starts_with("kb 0.") && version.contains("(format 0."),
        "{version}"
    );
}

#[test]
fn completions_and_manual_come_from_the_same_definitions() {
    let folder = Folder::empty();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = folder.kb(["completions", shell]).expect(0).stdout;
        assert!(script.contains("max-file-size"), "{shell}: {script}");
    }
    let page = folder.kb("man").expect(0).stdout;
    assert!(page.contains(".TH kb 1"), "{page}");
    let verb = folder.kb("man search").expect(0).stdout;
    assert!(
        verb.contains(".TH kb-search 1") && verb.contains("explain"),
        "{verb}"
    );
    let unknown = folder.kb("man fly").expect(2);
    assert!(unknown.hint().contains("search"), "{unknown:#?}");
}
