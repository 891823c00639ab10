//! What to do about an error of the engine: one table for all fronts. An [`Error`] states what happened;
//! `sentence` says what helps; `words` has what each front calls the flags, tools and functions in it.

use std::ffi::OsStr;
use std::io::{self, ErrorKind};
use std::path::Path;

use kb_engine::escape::shell_word;
use kb_engine::{Error, PartKind, PatternFault};

use crate::numbers::count;

mod words;

/// The front that shows an error, with what it knows of the call.
#[derive(Debug, Clone, Copy)]
pub enum Front<'a> {
    /// The command `kb`.
    CommandLine {
        /// The command as far as its file, to be completed: `kb get -f notes.kb`.
        command: &'a str,
        /// The .kb that it is about.
        file: &'a Path,
    },
    /// The tools of the MCP server.
    Mcp,
    /// The Python module.
    Python,
    /// The C library.
    C,
}

/// What to do about an error, without a full stop, with the names that the front has for it. `None` where nothing
/// helps or the message of the error says it.
#[must_use]
pub fn advice(error: &Error, front: Front<'_>) -> Option<String> {
    if front.silence(error.code()).is_some() {
        return None;
    }
    let text = Call { error, front }.fill(sentence(error, front))?;
    Some(match front {
        Front::Mcp => capitalised(&text),
        _ => text,
    })
}

/// The table: clauses with `; ` between them, of facts of the error and words of the front in `<>`. A clause with a
/// word that the front does not have, or a fact that the error does not have, is left out.
fn sentence(error: &Error, front: Front<'_>) -> &'static str {
    match error {
        Error::PathNotFound { path } if front.is_file(path) => "<create>",
        Error::Io { .. } | Error::Storage { .. } => {
            match error.system_error().map(io::Error::kind) {
                Some(ErrorKind::StorageFull) => "free some space on its disk and try again",
                Some(ErrorKind::QuotaExceeded) => {
                    "free some of your quota or have it raised, and try again"
                }
                Some(ErrorKind::ReadOnlyFilesystem) => "<remount>",
                Some(ErrorKind::PermissionDenied) => "<permit>",
                _ => "",
            }
        }
        Error::NotAKb { .. } => "<create_new>",
        Error::FormatUnsupported { .. } => "a newer file needs a newer <program>; <index_anew>",
        Error::Damaged { .. } => "restore a copy of it, or <reindex>",
        Error::IndexLocked { .. } => "<wait>",
        Error::FileReplaced { .. } => "<reopen>",
        Error::NotReplaceable { .. } => "if it may be lost, remove it first",
        Error::OutputExists { .. } => "<replace_output> replaces it",
        Error::ForkedWriter { .. } => "<reopen_in_child>",
        Error::SnapshotExpired => "<again>",
        Error::WriterFailed => "<reopen_writer>",
        Error::InvalidArgument { argument, .. } => match *argument {
            "type" | "types" | "lang" | "language" | "languages" => {
                "<types> lists the types and languages of this file"
            }
            "vector" | "vector_column" => "<columns> lists the columns with their dimensions",
            "vectors" if front.is_command("kb seal") => {
                "<rebuild> writes the file anew from its sources, without imported columns"
            }
            "vectors" => {
                "<seal_as_i4> turns i8 into i4 and keeps imported columns; \
                 <rebuild> writes the file anew, without them"
            }
            "root" => "<root> takes one of its roots",
            _ => "",
        },
        Error::InvalidPattern { fault, .. } => sentence_on_pattern(*fault),
        Error::DocumentNotFound { skipped, .. } if !skipped.is_empty() => "<unread>",
        Error::DocumentNotFound { name, .. }
            if name.contains(['*', '?']) && front.is_command("kb") =>
        {
            "<paths>"
        }
        Error::DocumentNotFound { nearest, .. } if nearest.is_empty() => "<documents>",
        Error::FolderNotFound { nearest, .. } if nearest.is_empty() => "<folders>",
        Error::FolderNotFound { .. } if front.is_command("kb search") => "<first_folder>",
        Error::DocumentNotFound { .. } | Error::FolderNotFound { .. } => "<first_name>",
        Error::AmbiguousDocument { .. } => "give the whole path: <whole_path>",
        Error::SectionNotFound { nearest, .. } if nearest.is_empty() => {
            "<sections> lists the sections"
        }
        Error::SectionNotFound { .. } => "<first_section>",
        Error::AmbiguousSection { .. } => "give its number: <names>",
        Error::SheetNotFound { sheets, .. } if sheets.is_empty() => {
            "it has no sheets: the workbook is empty"
        }
        Error::SheetNotFound { .. } => "<first_sheet>; it has <sheets>",
        Error::NoSheetNames { .. } => "<without_sheet>",
        Error::UnsupportedDocumentType { has, .. } => match has {
            Some(PartKind::Sheet) => "<read_sheet> reads it",
            Some(PartKind::Slide) => "<read_slide> reads it",
            Some(PartKind::Page) => "<read_page> reads it",
            None => "<read_text> reads it",
        },
        Error::DocumentExists { .. } => "<replace> puts this in its place",
        Error::InvalidRange { range, .. } if range.contains('+') => "<more_bytes>",
        Error::InvalidRange { .. } => "<lines>",
        Error::InvalidPages { .. } => "<pages>",
        Error::InvalidSlides { .. } => "<slides>",
        Error::InvalidCells { rows: 0, .. } => "<no_cells>",
        Error::InvalidCells { .. } => "<cells>",
        Error::InvalidCursor { .. } => {
            "repeat all arguments of the first call with it, or <without_cursor>"
        }
        Error::StaleCursor => "<without_cursor>",
        Error::EmbeddingModelUnavailable { .. } => "<keyword_mode> works without it; <embed_again>",
        Error::RootVanished { .. } => "is it mounted?; <prune> removes its documents",
        Error::TooMany { what, .. } if what.starts_with("columns of vectors") => {
            "<seal> numbers the columns that are left anew"
        }
        Error::Encrypted { .. } => "save it without a password, then <again>",
        Error::NoExtractionWorker { .. } => "<worker>",
        _ => "",
    }
}

/// What to do about a regular expression that cannot be searched for.
fn sentence_on_pattern(fault: PatternFault) -> &'static str {
    match fault {
        PatternFault::Syntax => {
            "put a backslash before a special character, or <literal> takes the pattern as plain text"
        }
        PatternFault::LookAround => {
            r"match what stands around it too, as in `foo(bar|$)`; `\b`, `^` and `$` are allowed"
        }
        PatternFault::Backreference => "write out what may repeat, as in `(aa|bb)`",
        PatternFault::InvalidUtf8 => {
            r"texts are UTF-8: write `\u{ff}` for a character, not `(?-u)` bytes"
        }
        PatternFault::LineEnd => "<multi_line> lets matches reach over several lines",
        PatternFault::TooLarge => {
            r"use smaller repetitions, or several patterns; `(?-u:\w)` is smaller than `\w`"
        }
        _ => "",
    }
}

impl Front<'_> {
    /// Its own lines, then those of all fronts.
    fn words(self) -> [&'static str; 2] {
        let own = match self {
            Front::CommandLine { .. } => words::COMMAND_LINE,
            Front::Mcp => words::MCP,
            Front::Python => words::PYTHON,
            Front::C => words::C,
        };
        [own, words::COMMON]
    }

    fn line(self, start: &str) -> Option<&'static str> {
        let mut lines = self.words().into_iter().flat_map(str::lines);
        lines.find_map(|line| line.strip_prefix(start)?.strip_prefix(" = "))
    }

    /// Why it says nothing about a code.
    fn silence(self, code: &str) -> Option<&'static str> {
        self.line(&format!("! {code}"))
    }

    fn is_command(self, start: &str) -> bool {
        matches!(self, Front::CommandLine { command, .. } if command.starts_with(start))
    }

    /// Whether a path is the one of the .kb, and of no source.
    fn is_file(self, path: &Path) -> bool {
        match self {
            Front::CommandLine { file, .. } => path == file,
            _ => path.extension().is_some_and(|it| it == "kb"),
        }
    }

    /// A name as a caller can give it again.
    fn quoted(self, name: impl AsRef<OsStr>) -> String {
        match self {
            Front::CommandLine { .. } => shell_word(name),
            _ => format!("{:?}", name.as_ref()),
        }
    }
}

/// A failed call.
struct Call<'a> {
    error: &'a Error,
    front: Front<'a>,
}

impl Call<'_> {
    /// The clauses of a text that can be filled.
    fn fill(&self, text: &str) -> Option<String> {
        let clauses = text.split("; ").filter_map(|clause| self.clause(clause));
        clauses.reduce(|before, clause| match before.ends_with('?') {
            true => format!("{before} {}", capitalised(&clause)),
            false => format!("{before}; {clause}"),
        })
    }

    fn clause(&self, clause: &str) -> Option<String> {
        let mut filled = String::new();
        let mut rest = clause;
        while let Some((before, after)) = rest.split_once('<') {
            let (name, after) = after.split_once('>')?;
            let value = match self.front.line(name) {
                Some(text) => self.fill(text)?,
                None => self.fact(name)?,
            };
            filled.push_str(before);
            filled.push_str(&value);
            rest = after;
        }
        filled.push_str(rest);
        Some(filled).filter(|filled| !filled.is_empty())
    }

    fn fact(&self, name: &str) -> Option<String> {
        let names = self.names();
        match (name, self.front) {
            ("command", Front::CommandLine { command, .. }) => Some(command.to_owned()),
            ("file", Front::CommandLine { file, .. }) => Some(self.front.quoted(file)),
            ("path", _) => self.path().map(|path| self.front.quoted(path)),
            ("first", _) => names.first().map(|first| self.front.quoted(first)),
            ("names", _) => Some(names.join(", ")).filter(|names| !names.is_empty()),
            ("several", _) => (names.len() > 1).then(|| names.join(", ")),
            ("either", _) => {
                let names: Vec<String> = names.iter().map(|name| self.front.quoted(name)).collect();
                let (last, others) = names.split_last()?;
                Some(match others {
                    [] => last.clone(),
                    others => format!("{} or {last}", others.join(", ")),
                })
            }
            ("sheets", _) => self.sheets(),
            ("last", _) => self.last().map(|last| last.to_string()),
            ("range", _) => self.last().map(|last| match last {
                1 => "1".to_owned(),
                last => format!("1-{last}"),
            }),
            _ => None,
        }
    }

    /// The names that may be meant, best first.
    fn names(&self) -> &[String] {
        match self.error {
            Error::DocumentNotFound { nearest, .. }
            | Error::FolderNotFound { nearest, .. }
            | Error::SectionNotFound { nearest, .. }
            | Error::SheetNotFound { nearest, .. } => nearest,
            Error::AmbiguousDocument { candidates, .. }
            | Error::AmbiguousSection { candidates, .. } => candidates,
            _ => &[],
        }
    }

    /// The document.
    fn path(&self) -> Option<&str> {
        match self.error {
            Error::SectionNotFound { path, .. }
            | Error::SheetNotFound { path, .. }
            | Error::UnsupportedDocumentType { path, .. }
            | Error::InvalidRange { path, .. }
            | Error::InvalidPages { path, .. }
            | Error::InvalidSlides { path, .. }
            | Error::InvalidCells { path, .. } => Some(path),
            _ => None,
        }
    }

    /// The number of its last line, page or slide.
    fn last(&self) -> Option<u32> {
        match self.error {
            Error::InvalidRange { lines: last, .. }
            | Error::InvalidPages { total: last, .. }
            | Error::InvalidSlides { total: last, .. } => Some(*last).filter(|last| *last > 0),
            _ => None,
        }
    }

    fn sheets(&self) -> Option<String> {
        let Error::SheetNotFound { sheets, total, .. } = self.error else {
            return None;
        };
        let more = u64::from(*total).saturating_sub(sheets.len() as u64);
        Some(match more {
            0 => sheets.join(", "),
            more => format!("{} and {} more", sheets.join(", "), count(more)),
        })
    }
}

/// A first word of letters begins with a capital; a name, as `list_documents`, stays as it is.
fn capitalised(text: &str) -> String {
    let word = text.split(' ').next().unwrap_or_default();
    match text.split_at_checked(1) {
        Some((first, rest)) if word.bytes().all(|it| it.is_ascii_alphabetic()) => {
            format!("{}{rest}", first.to_ascii_uppercase())
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
