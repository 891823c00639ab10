//! What to do about an error of the engine, with the commands and flags of `kb`. The engine states what
//! happened; this table adds the remedy, by the code of the error.

use std::io::ErrorKind;
use std::path::Path;

use kb_engine::{Error, PartKind, PatternFault};

use crate::output::format::{count, no_parts, shell_word};

/// The command that failed.
struct Command<'c> {
    /// As far as its file, to be completed: `kb get -f notes.kb`.
    verb: &'c str,
    /// The .kb that it is about.
    file: &'c Path,
}

type Remedy = fn(&Error, &Command<'_>) -> Option<String>;

/// Every [`Error::code`] with its remedy.
const REMEDIES: [(&str, Remedy); Error::CODES.len()] = [
    ("PATH_NOT_FOUND", create_file),
    ("PATH_NOT_ALLOWED", no_remedy),
    ("IO", make_writable),
    ("STORAGE", make_writable),
    ("NOT_A_KB", |_, _| {
        Some("`kb index PATH -o FILE.kb` makes one".to_owned())
    }),
    ("FORMAT_UNSUPPORTED", |_, _| {
        Some(
            "a newer file needs a newer `kb`; `kb index FOLDER -o NEW.kb` makes an older one anew"
                .to_owned(),
        )
    }),
    ("DAMAGED", replace_damaged),
    ("INDEX_LOCKED", |_, _| {
        Some("wait for it, or stop it".to_owned())
    }),
    ("FILE_REPLACED", |_, _| {
        Some("see what happened to it, then run the command again".to_owned())
    }),
    ("NOT_REPLACEABLE", |_, _| {
        Some("if it may be lost, remove it first".to_owned())
    }),
    // Commands with `--force` name it themselves.
    ("OUTPUT_EXISTS", no_remedy),
    ("FORKED_WRITER", run_again),
    ("SNAPSHOT_EXPIRED", run_again),
    ("WRITER_FAILED", run_again),
    ("INVALID_ARGUMENT", for_argument),
    ("INVALID_REGEX", correct_pattern),
    ("DOCUMENT_NOT_FOUND", use_nearest),
    ("AMBIGUOUS_DOCUMENT", use_whole_path),
    ("SECTION_NOT_FOUND", list_sections),
    ("SHEET_NOT_FOUND", use_sheet),
    ("CSV_NO_SHEETS", |_, _| {
        Some("run the command without --sheet".to_owned())
    }),
    ("UNSUPPORTED_DOCUMENT_TYPE", read_as_it_is),
    ("FOLDER_NOT_FOUND", use_nearest),
    // `kb add` offers `--replace`.
    ("DOCUMENT_EXISTS", no_remedy),
    ("INVALID_RANGE", use_whole_range),
    ("INVALID_CONTINUATION_TOKEN", |_, _| {
        Some("run the command without --continue".to_owned())
    }),
    ("CONTINUATION_STALE", |_, _| {
        Some("run the command without --continue".to_owned())
    }),
    ("EMBEDDING_MODEL_UNAVAILABLE", |_, command| {
        let file = shell_word(command.file);
        Some(format!(
            "`--mode keyword` works without it; `kb index FOLDER -o {file}` reads its folder again, `kb seal {file}` \
             embeds the text that it holds"
        ))
    }),
    ("ROOT_VANISHED", |_, _| {
        Some("is it mounted? --prune removes its documents".to_owned())
    }),
    ("FILE_TOO_LARGE", renumber_columns),
    ("ENCRYPTED", |_, _| {
        Some("save it without a password, then run the command again".to_owned())
    }),
    ("EXTRACTION_LIMIT", no_remedy),
    ("EXTRACTION_FAILED", no_remedy),
    ("NO_EXTRACTION_WORKER", |_, _| {
        Some("is this program still where it was started from? start it again".to_owned())
    }),
    ("CANCELLED", no_remedy),
];

/// What to do about an error of `verb`, the command as far as its file, on `file`.
pub(crate) fn remedy(error: &Error, verb: &str, file: &Path) -> Option<String> {
    let (_, remedy) = REMEDIES.iter().find(|(code, _)| *code == error.code())?;
    remedy(error, &Command { verb, file })
}

fn no_remedy(_: &Error, _: &Command<'_>) -> Option<String> {
    None
}

fn run_again(_: &Error, _: &Command<'_>) -> Option<String> {
    Some("run the command again".to_owned())
}

fn correct_pattern(error: &Error, _: &Command<'_>) -> Option<String> {
    let Error::InvalidPattern { fault, .. } = error else {
        return None;
    };
    let remedy = match fault {
        PatternFault::Syntax => {
            "put a backslash before a special character, or `-F` takes the pattern as plain text"
        }
        PatternFault::LookAround => {
            "match what stands around it too, as in `foo(bar|$)`; `\\b`, `^` and `$` are allowed"
        }
        PatternFault::Backreference => "write out what may repeat, as in `(aa|bb)`",
        PatternFault::InvalidUtf8 => {
            "texts are UTF-8: write `\\u{ff}` for a character, not `(?-u)` bytes"
        }
        PatternFault::LineEnd => "`-U` lets matches reach over several lines",
        PatternFault::TooLarge => {
            "use smaller repetitions, or several patterns; `(?-u:\\w)` is smaller than `\\w`"
        }
        _ => return None,
    };
    Some(remedy.to_owned())
}

fn create_file(error: &Error, command: &Command<'_>) -> Option<String> {
    match error {
        Error::PathNotFound { path } if path == command.file => {
            let file = shell_word(command.file);
            Some(format!("`kb index FOLDER -o {file}` makes it"))
        }
        _ => None,
    }
}

/// Failures of the disk that a user can end.
fn make_writable(error: &Error, _: &Command<'_>) -> Option<String> {
    let remedy = match error.system_error()?.kind() {
        ErrorKind::StorageFull => "free some space on its disk and try again",
        ErrorKind::QuotaExceeded => "free some of your quota or have it raised, and try again",
        ErrorKind::ReadOnlyFilesystem => {
            "work on a copy elsewhere, or mount the file system for writing"
        }
        _ => return None,
    };
    Some(remedy.to_owned())
}

fn replace_damaged(_: &Error, command: &Command<'_>) -> Option<String> {
    let file = shell_word(command.file);
    Some(format!(
        "restore a copy; or, if it is a .kb, remove it, and `kb index FOLDER -o {file}` makes it anew"
    ))
}

fn for_argument(error: &Error, command: &Command<'_>) -> Option<String> {
    match error {
        Error::InvalidArgument {
            argument: "type" | "types" | "lang" | "language" | "languages",
            ..
        } => {
            let file = shell_word(command.file);
            Some(format!(
                "`kb info {file}` lists the types and languages of this file"
            ))
        }
        Error::InvalidArgument {
            argument: "vector" | "vector_column",
            ..
        } => {
            let file = shell_word(command.file);
            Some(format!(
                "`kb vectors {file}` lists the columns with their dimensions"
            ))
        }
        Error::InvalidArgument {
            argument: "vectors",
            ..
        } if command.verb.starts_with("kb seal") => Some(
            "`kb index --rebuild` writes the file anew from its sources, without imported columns"
                .to_owned(),
        ),
        Error::InvalidArgument {
            argument: "vectors",
            ..
        } => {
            let file = shell_word(command.file);
            Some(format!(
                "`kb seal {file} --vectors i4` turns i8 into i4 and keeps imported columns; --rebuild writes the file anew, without them"
            ))
        }
        Error::InvalidArgument {
            argument: "root", ..
        } => Some("`--root NAME` takes one of its roots".to_owned()),
        _ => None,
    }
}

/// Numbers of columns are never given twice, but in a file that is written anew.
fn renumber_columns(error: &Error, command: &Command<'_>) -> Option<String> {
    match error {
        Error::TooMany { what, .. } if what.starts_with("columns of vectors") => {
            let file = shell_word(command.file);
            Some(format!(
                "`kb seal {file}` numbers the columns that are left anew"
            ))
        }
        _ => None,
    }
}

/// The command with the nearest name, and the others, if there are any.
fn use_nearest(error: &Error, command: &Command<'_>) -> Option<String> {
    if let Error::DocumentNotFound { skipped, .. } = error
        && !skipped.is_empty()
    {
        let file = shell_word(command.file);
        return Some(format!(
            "`kb ls --skipped -f {file}` lists all files that were not read"
        ));
    }
    if let Error::DocumentNotFound { name, .. } = error
        && name.contains(['*', '?'])
    {
        let file = shell_word(command.file);
        return Some(format!(
            "`kb ls -r -f {file}` lists the paths of all documents"
        ));
    }
    let (Error::DocumentNotFound { nearest, .. } | Error::FolderNotFound { nearest, .. }) = error
    else {
        return None;
    };
    Some(match nearest.as_slice() {
        [] => format!(
            "`kb ls -f {}` lists what is there",
            shell_word(command.file)
        ),
        [name] => corrected(error, command, name),
        [name, ..] => format!(
            "{}; the nearest: {}",
            corrected(error, command, name),
            nearest.join(", ")
        ),
    })
}

/// What to give instead: of a search, the folder is that of a flag beside the query.
fn corrected(error: &Error, command: &Command<'_>, name: &str) -> String {
    match error {
        Error::FolderNotFound { .. } if command.verb.starts_with("kb search") => {
            format!("`--folder {}`", shell_word(name))
        }
        _ => with_name(command, name),
    }
}

fn use_whole_path(error: &Error, command: &Command<'_>) -> Option<String> {
    match error {
        Error::AmbiguousDocument { candidates, .. } => {
            let example = with_name(command, candidates.first()?);
            Some(format!("give the whole path: {example}"))
        }
        _ => None,
    }
}

fn with_name(command: &Command<'_>, name: &str) -> String {
    format!("`{} {}`", command.verb, shell_word(name))
}

fn list_sections(error: &Error, command: &Command<'_>) -> Option<String> {
    let lists = |path: &str| {
        let (file, path) = (shell_word(command.file), shell_word(path));
        format!("`kb outline -f {file} {path}` lists the sections")
    };
    match error {
        Error::SectionNotFound { path, nearest, .. } if nearest.is_empty() => Some(lists(path)),
        Error::SectionNotFound { path, nearest, .. } => Some(format!(
            "{}; the nearest: {}",
            lists(path),
            nearest.join(", ")
        )),
        Error::AmbiguousSection { candidates, .. } => {
            Some(format!("give its number: {}", candidates.join(", ")))
        }
        _ => None,
    }
}

/// The command for the nearest sheet, and all there are.
fn use_sheet(error: &Error, command: &Command<'_>) -> Option<String> {
    let Error::SheetNotFound {
        path,
        nearest,
        sheets,
        total,
        ..
    } = error
    else {
        return None;
    };
    let more = u64::from(*total).saturating_sub(sheets.len() as u64);
    let there = match more {
        _ if sheets.is_empty() => no_parts("it", PartKind::Sheet),
        0 => format!("it has {}", sheets.join(", ")),
        more => format!("it has {} and {} more", sheets.join(", "), count(more)),
    };
    Some(match nearest.first() {
        Some(nearest) => format!(
            "{} --sheet {}`; {there}",
            with_name(command, path).trim_end_matches('`'),
            shell_word(nearest)
        ),
        None => there,
    })
}

/// Names the command for what a document has.
fn read_as_it_is(error: &Error, command: &Command<'_>) -> Option<String> {
    let Error::UnsupportedDocumentType { path, has, .. } = error else {
        return None;
    };
    let verb = match has {
        Some(PartKind::Sheet) => "sheet",
        Some(PartKind::Slide) => "slides",
        Some(PartKind::Page) => "pages",
        None => "get",
    };
    let (file, path) = (shell_word(command.file), shell_word(path));
    Some(format!("`kb {verb} -f {file} {path}` reads it"))
}

fn use_whole_range(error: &Error, command: &Command<'_>) -> Option<String> {
    let (path, flag, last) = match error {
        Error::InvalidRange { path, lines, .. } if *lines > 0 => (path, "--lines", lines),
        Error::InvalidPages { path, total, .. } => (path, "--pages", total),
        Error::InvalidSlides { path, total, .. } if *total > 0 => (path, "--slides", total),
        Error::InvalidCells { path, rows, .. } if *rows > 0 => {
            let path = shell_word(path);
            return Some(format!(
                "`{} {path} --range A1:D10` is a range",
                command.verb
            ));
        }
        _ => return None,
    };
    let path = shell_word(path);
    let whole = if *last == 1 {
        "1".to_owned()
    } else {
        format!("1-{last}")
    };
    Some(format!("`{} {path} {flag} {whole}`", command.verb))
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn every_code_has_an_entry() {
        let codes: Vec<&str> = REMEDIES.iter().map(|(code, _)| *code).collect();
        assert_eq!(codes, Error::CODES);
    }

    #[test]
    fn failures_of_the_disk_have_a_remedy() {
        for (kind, expected) in [
            (ErrorKind::StorageFull, "free some space"),
            (ErrorKind::QuotaExceeded, "free some of your quota"),
            (ErrorKind::ReadOnlyFilesystem, "work on a copy"),
        ] {
            let error = Error::Io {
                action: "create",
                path: PathBuf::from("a.kb"),
                source: io::Error::from(kind),
            };
            let remedy = remedy(&error, "kb index", Path::new("a.kb")).unwrap();
            assert!(remedy.starts_with(expected), "{remedy}");
        }
    }

    #[test]
    fn an_unknown_document_offers_the_command_for_the_nearest() {
        let remedy = |nearest: &[&str]| {
            let error = Error::DocumentNotFound {
                name: "gide.md".to_owned(),
                skipped: Vec::new(),
                nearest: nearest.iter().map(|name| (*name).to_owned()).collect(),
            };
            remedy(&error, "kb get", Path::new("a.kb")).unwrap()
        };
        assert_eq!(remedy(&["the guide.md"]), "`kb get 'the guide.md'`");
        let glob = Error::DocumentNotFound {
            name: "zzz/*.py:1-2".to_owned(),
            skipped: Vec::new(),
            nearest: vec!["a.py".to_owned()],
        };
        let told = super::remedy(&glob, "kb get", Path::new("a.kb")).unwrap();
        assert!(told.starts_with("`kb ls -r -f a.kb`"), "{told}");
        let folder = Error::FolderNotFound {
            name: "nope".to_owned(),
            nearest: vec!["src".to_owned()],
        };
        let told = super::remedy(&folder, "kb search -f a.kb", Path::new("a.kb"));
        assert_eq!(told.unwrap(), "`--folder src`");
        assert_eq!(remedy(&["a", "b"]), "`kb get a`; the nearest: a, b");
        assert_eq!(remedy(&[]), "`kb ls -f a.kb` lists what is there");
    }

    #[test]
    fn a_file_out_of_columns_and_another_codec_offer_kb_seal() {
        let full = Error::TooMany {
            what: "columns of vectors that were ever imported",
            count: 127,
            limit: 126,
        };
        let verb = "kb import vectors a.kb";
        let told = remedy(&full, verb, Path::new("a.kb")).unwrap();
        assert!(told.starts_with("`kb seal a.kb`"), "{told}");
        let codec = Error::InvalidArgument {
            argument: "vectors",
            reason: "the file has i8 and not i4".to_owned(),
        };
        let told = remedy(&codec, "kb index", Path::new("a.kb")).unwrap();
        assert!(told.starts_with("`kb seal a.kb --vectors i4`"), "{told}");
        assert!(told.contains("--rebuild"), "{told}");
    }

    #[test]
    fn a_misspelled_sheet_is_told_how_many_there_are() {
        let remedy = |sheets: &[&str], total: u32| {
            let error = Error::SheetNotFound {
                sheet: "q".to_owned(),
                path: "a.xlsx".to_owned(),
                nearest: Vec::new(),
                sheets: sheets.iter().map(|name| (*name).to_owned()).collect(),
                total,
            };
            remedy(&error, "kb sheet", Path::new("a.kb")).unwrap()
        };
        assert_eq!(remedy(&["A", "B"], 2), "it has A, B");
        assert_eq!(remedy(&["A", "B"], 3002), "it has A, B and 3 000 more");
        assert_eq!(remedy(&[], 0), "it has no sheets: the workbook is empty");
    }
}
