//! The symbols that universal-ctags finds in files.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use anyhow::{Context, Result};
use serde_json::Value;

/// Larger files are left out, as programs that write programs make them.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// What ctags calls the symbols that count.
const KINDS: &[&str] = &[
    "alias",
    "annotation",
    "class",
    "enum",
    "func",
    "function",
    "generator",
    "getter",
    "implementation",
    "interface",
    "member",
    "method",
    "module",
    "namespace",
    "property",
    "setter",
    "singletonMethod",
    "struct",
    "subroutine",
    "target",
    "trait",
    "type",
    "typedef",
    "union",
];

/// The same kinds where ctags means something else by them: fields, imports, other names.
const OTHER_KINDS: &[(&str, &[&str])] = &[
    ("bash", &["alias"]),
    ("c", &["member"]),
    ("cpp", &["alias", "member"]),
    ("go", &["alias", "member"]),
    // It takes every object for a class.
    ("javascript", &["class", "property"]),
    ("php", &["alias"]),
    ("python", &["module", "namespace"]),
    ("typescript", &["property"]),
];

/// A symbol that ctags names.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Tag {
    pub(super) path: String,
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) line: u32,
    pub(super) end: Option<u32>,
}

/// The files of a folder at any depth, without long ones and the repository itself.
pub(super) fn list(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    for entry in entries {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() && entry.file_name() != ".git" {
            list(&entry.path(), files)?;
        } else if kind.is_file() && entry.metadata()?.len() <= MAX_FILE_BYTES {
            files.push(entry.path());
        }
    }
    Ok(())
}

/// What ctags finds in files.
pub(super) fn tags(files: &[PathBuf]) -> Result<Vec<Tag>> {
    let mut child = Command::new("ctags")
        .args([
            "--output-format=json",
            "--fields=+neK",
            "-f",
            "-",
            "-L",
            "-",
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut input = child.stdin.take().context("no pipe to ctags")?;
    let names: Vec<&str> = files.iter().filter_map(|file| file.to_str()).collect();
    let names = names.join("\n");
    // It answers while it reads.
    let writer = thread::spawn(move || input.write_all(names.as_bytes()));
    let output = child.wait_with_output()?;
    let _ = writer.join();
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().filter_map(tag).collect())
}

/// A line of ctags; `None` for what is no tag.
fn tag(line: &str) -> Option<Tag> {
    let value: Value = serde_json::from_str(line).ok()?;
    let text = |field: &str| Some(value.get(field)?.as_str()?.to_owned());
    let number = |field: &str| u32::try_from(value.get(field)?.as_u64()?).ok();
    Some(Tag {
        path: text("path")?,
        name: text("name")?,
        kind: text("kind")?,
        line: number("line")?,
        end: number("end"),
    })
}

/// Whether it is a symbol of ours, too.
pub(super) fn counts(tag: &Tag, language: &str) -> bool {
    let others = OTHER_KINDS.iter().find(|(name, _)| *name == language);
    let is_other = others.is_some_and(|(_, kinds)| kinds.contains(&tag.kind.as_str()));
    let name = tag.name.as_str();
    let has_name = !name.starts_with("__anon")
        && !name.starts_with("anonymous")
        && !name.contains("AnonymousFunction")
        // An array that is assigned to, which ctags takes for a function of the shell.
        && !name.ends_with('=');
    KINDS.contains(&tag.kind.as_str()) && !is_other && has_name
}

/// A name without what holds it.
pub(super) fn last_name(name: &str) -> &str {
    let last = name.rsplit(['.', ':', ' ']).next().unwrap_or(name);
    last.trim_start_matches('~')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_counts_where_it_is_a_symbol_of_ours() {
        let line = "{\"_type\": \"tag\", \"name\": \"run\", \"path\": \"a.py\", \"line\": 3, \
                    \"kind\": \"function\", \"end\": 5}";
        let mut read = tag(line).unwrap();
        assert_eq!((read.line, read.end), (3, Some(5)));
        assert!(counts(&read, "python"));
        read.kind = "namespace".to_owned();
        assert!(!counts(&read, "python"));
        assert!(counts(&read, "cpp"));
        read.name = "__anon1".to_owned();
        assert!(!counts(&read, "cpp"));
        assert_eq!(tag("{\"_type\": \"ptag\"}"), None);
    }

    #[test]
    fn names_are_compared_by_their_last_part() {
        for (name, last) in [
            ("a::B::c", "c"),
            ("M.open", "open"),
            ("~A", "A"),
            ("x", "x"),
        ] {
            assert_eq!(last_name(name), last);
        }
    }
}
