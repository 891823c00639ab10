//! The commands of the README, one after the other, on a small project.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::support::{Folder, kb_binary, run};

const README: &str = include_str!("../../../README.md");

/// The lines of the first block of shell commands below a heading.
fn block(heading: &str) -> Vec<&'static str> {
    let (_, section) = README.split_once(heading).expect("the heading");
    let (_, block) = section.split_once("```sh\n").expect("a block");
    let (block, _) = block.split_once("```").expect("its end");
    let lines = block.lines().map(|line| match line.split_once("  #") {
        Some((command, _)) => command.trim(),
        None => line.trim(),
    });
    lines.filter(|line| !line.is_empty()).collect()
}

/// A home with a project in `src/project`, as the commands speak of it.
fn home() -> Folder {
    let folder = Folder::empty();
    let body: String = (1..=60)
        .map(|n| format!("    let wait_{n} = {n};\n"))
        .collect();
    let retry = format!(
        "//! Retries are configured here.\n\npub fn parse_header(text: &str) -> usize {{\n    text.len()\n}}\n\n\
         pub fn retry() {{\n    parse_header(\"x\");\n{body}}}\n"
    );
    folder.write("src/project/src/net/retry.rs", retry);
    folder.write("src/project/src/main.rs", "fn main() {\n    retry();\n}\n");
    folder.write(
        "src/project/README.md",
        "# Project\n\nWhere retries are configured.\n",
    );
    let report = include_bytes!("../../corpus/documents/page-breaks.docx");
    folder.write("src/project/report.docx", report);
    folder.write("minutes.md", "# Minutes\n\nThe retries were discussed.\n");
    folder
}

/// A file of NumPy with a vector for each chunk.
fn vectors(rows: usize) -> Vec<u8> {
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, 4), }}\n");
    let length = u16::try_from(header.len()).unwrap().to_le_bytes();
    let mut bytes = [b"\x93NUMPY\x01\0".as_slice(), &length, header.as_bytes()].concat();
    for row in 0..rows {
        let numbers = [1.0, row as f32, 0.5, 2.0];
        bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    }
    bytes
}

#[test]
#[cfg(unix)]
fn every_command_of_the_readme_works_after_those_before_it() {
    let folder = home();
    let mut here = folder.path().to_owned();
    let command = |line: &str, here: &PathBuf| {
        let mut command = folder.sealed(Command::new("sh"));
        let path = std::env::var("PATH").unwrap_or_default();
        let own = kb_binary().parent().unwrap().display();
        command.env("PATH", format!("{own}:{path}"));
        command.env("HOME", folder.path()).current_dir(here);
        command.args(["-c", line]);
        command
    };
    let lines = block("\n## A tour in 60 seconds\n");
    assert!(lines.len() > 15, "{lines:#?}");
    for line in lines {
        if line.starts_with("cargo ") {
            continue;
        }
        if let Some(path) = line.strip_prefix("cd ~/") {
            here = folder.join(path);
            continue;
        }
        if line.starts_with("kb watch") {
            follow(command(&format!("exec {line}"), &here), "watching");
            continue;
        }
        if line.starts_with("kb serve") {
            let line = format!("exec {line} --listen 127.0.0.1:0");
            follow(command(&line, &here), "http://");
            continue;
        }
        if line.starts_with("kb import vectors") {
            let told = run(&mut command("kb info --json", &here)).expect(0);
            let chunks = told.json_lines()[0]["chunks"].as_u64().unwrap();
            std::fs::write(here.join("e5.npy"), vectors(chunks as usize)).unwrap();
        }
        let told = run(&mut command(line, &here));
        assert_eq!(told.code, Some(0), "{line}: {told:#?}");
        assert!(!told.stdout.is_empty(), "{line}: {told:#?}");
        assert!(!told.stdout.contains("null"), "{line}: {told:#?}");
        if line.starts_with("kb import vectors") {
            // A file that came since the last run is worth a warning, which is not what is asked below.
            std::fs::remove_file(here.join("e5.npy")).unwrap();
        }
    }
    // The sealed file lies beside the other one now.
    for line in [
        "kb ls",
        "kb search retries",
        "kb get README.md",
        "kb add ~/minutes.md --replace",
        "cd src && kb ls src/net",
        "cd ~ && mkdir elsewhere && mv src/project/*.kb elsewhere && cd elsewhere && kb ls",
    ] {
        let told = run(&mut command(line, &here)).expect(0);
        assert_eq!(told.stderr, "", "{line}");
    }
}

/// Starts a command that goes on, and interrupts it once it says that it waits.
fn follow(mut command: Command, says: &str) {
    use rustix::process::{Pid, Signal, kill_process};
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let stderr = BufReader::new(child.stderr.take().unwrap());
    let mut lines = stderr.lines().map(|line| line.unwrap());
    let waits = lines.any(|line| line.contains(says));
    assert!(waits, "{:?}", child.wait());
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
}
