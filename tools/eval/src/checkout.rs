//! Lines of the files of a checkout, and the build of `kb` that is asked about it.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use serde_json::Value;

/// Lines of a document, first and last counted from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lines {
    pub(crate) path: String,
    pub(crate) first: u64,
    pub(crate) last: u64,
}

impl Lines {
    /// Reads `path:A-B`.
    pub(crate) fn parse(text: &str) -> Result<Lines> {
        let parts = text.rsplit_once(':').and_then(|(path, lines)| {
            let (first, last) = lines.split_once('-')?;
            Some((path, first.parse().ok()?, last.parse().ok()?))
        });
        let (path, first, last) = parts.ok_or_else(|| anyhow!("{text:?} is not path:A-B"))?;
        Ok(Lines {
            path: path.to_owned(),
            first,
            last,
        })
    }

    /// Whether both share a line.
    pub(crate) fn overlaps(&self, other: &Lines) -> bool {
        self.path == other.path && self.first <= other.last && other.first <= self.last
    }

    /// An error when a text does not have these lines.
    pub(crate) fn check_against(&self, text: &str) -> Result<()> {
        let count = text.lines().count() as u64;
        if self.first == 0 || self.last < self.first || self.last > count {
            bail!("{} has {count} lines, not {self:?}", self.path);
        }
        Ok(())
    }

    /// Number of lines.
    pub(crate) fn len(&self) -> u64 {
        (self.last + 1).saturating_sub(self.first)
    }
}

/// `kb` beside this program.
pub(crate) fn default_program() -> PathBuf {
    let name = format!("kb{}", env::consts::EXE_SUFFIX);
    let own = env::current_exe().unwrap_or_default();
    own.with_file_name(name)
}

/// An error when there is no such build.
pub(crate) fn require_program(program: &Path) -> Result<()> {
    if !program.is_file() {
        bail!(
            "no program {}; build it with cargo build --release -p kb-cli, or name one with --kb",
            program.display()
        );
    }
    Ok(())
}

/// Writes figures to the file that the caller named, if any.
pub(crate) fn write_json(path: Option<&Path>, figures: &Value) -> Result<()> {
    let Some(path) = path else {
        return Ok(());
    };
    let text = serde_json::to_string_pretty(figures)? + "\n";
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Lines {
        Lines::parse(text).unwrap()
    }

    #[test]
    fn a_citation_is_right_when_it_shares_a_line() {
        let answer = lines("src/a.rs:10-20");
        assert!(answer.overlaps(&lines("src/a.rs:20-40")));
        assert!(!answer.overlaps(&lines("src/a.rs:21-40")));
        assert!(!answer.overlaps(&lines("src/b.rs:10-20")));
        assert_eq!(answer.len(), 11);
        assert!(Lines::parse("src/a.rs:10").is_err());
    }

    #[test]
    fn lines_that_a_text_does_not_have_are_an_error() {
        let text = "one\ntwo\n";
        assert!(lines("a:1-2").check_against(text).is_ok());
        for wrong in ["a:0-1", "a:2-1", "a:2-3"] {
            assert!(lines(wrong).check_against(text).is_err(), "{wrong}");
        }
    }
}
