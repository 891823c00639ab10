//! What an agent can do about an error of the engine, with the tools and arguments of this server. The
//! engine states what happened; this table adds the remedy, by the code of the error.

use std::io::ErrorKind;

use kb_engine::{Error, PartKind, PatternFault};

type Remedy = fn(&Error) -> Option<String>;

/// Every [`Error::code`] of the engine with its remedy.
const REMEDIES: [(&str, Remedy); Error::CODES.len()] = [
    ("PATH_NOT_FOUND", no_remedy),
    ("PATH_NOT_ALLOWED", no_remedy),
    ("IO", make_writable),
    ("STORAGE", |error| {
        Some(make_writable(error).unwrap_or_else(unchanged))
    }),
    ("NOT_A_KB", no_remedy),
    ("FORMAT_UNSUPPORTED", |_| {
        text("A newer file needs a newer server; index the sources of an older one into a new file")
    }),
    ("DAMAGED", |_| {
        text("Restore a copy of it, or index its sources again")
    }),
    ("INDEX_LOCKED", |_| text("Try again when it is done")),
    ("FILE_REPLACED", |_| {
        text("Nothing of this change was written; call again to change what is there now")
    }),
    ("NOT_REPLACEABLE", no_remedy),
    ("OUTPUT_EXISTS", no_remedy),
    ("FORKED_WRITER", |_| text("Call again")),
    ("SNAPSHOT_EXPIRED", |_| text("Call again")),
    ("WRITER_FAILED", |_| {
        text("Call again; nothing of this change was kept")
    }),
    ("INVALID_ARGUMENT", no_remedy),
    ("INVALID_REGEX", correct_pattern),
    ("DOCUMENT_NOT_FOUND", |error| match error {
        Error::DocumentNotFound { skipped, .. } if !skipped.is_empty() => {
            text("list_documents with skipped=true lists all files that were not read")
        }
        Error::DocumentNotFound { nearest, .. } => Some(use_nearest(
            nearest,
            "list_documents and search name the documents there are",
        )),
        _ => None,
    }),
    ("AMBIGUOUS_DOCUMENT", |error| match error {
        Error::AmbiguousDocument { candidates, .. } => {
            Some(format!("Give the whole path: {}", candidates.join(", ")))
        }
        _ => None,
    }),
    ("SECTION_NOT_FOUND", |error| match error {
        Error::SectionNotFound { nearest, .. } => Some(use_nearest(
            nearest,
            "get_document_outline lists the sections",
        )),
        Error::AmbiguousSection { candidates, .. } => {
            Some(format!("Give its number: {}", candidates.join(", ")))
        }
        _ => None,
    }),
    ("SHEET_NOT_FOUND", |error| match error {
        Error::SheetNotFound {
            nearest,
            sheets,
            total,
            ..
        } => {
            let more = u64::from(*total).saturating_sub(sheets.len() as u64);
            let there = match more {
                _ if sheets.is_empty() => "It has no sheets: the workbook is empty".to_owned(),
                0 => format!("It has {}", sheets.join(", ")),
                more => format!("It has {} and {more} more", sheets.join(", ")),
            };
            Some(match nearest.first() {
                Some(nearest) => format!("Did you mean {nearest:?}? {there}"),
                None => there,
            })
        }
        _ => None,
    }),
    ("CSV_NO_SHEETS", |_| text("Omit sheet_name parameter")),
    ("UNSUPPORTED_DOCUMENT_TYPE", |error| match error {
        Error::UnsupportedDocumentType { has, .. } => Some(format!(
            "{} reads it",
            match has {
                Some(PartKind::Sheet) => "get_sheet_data",
                Some(PartKind::Slide) => "get_slides",
                Some(PartKind::Page) => "get_pages",
                None => "get_document_data",
            }
        )),
        _ => None,
    }),
    ("FOLDER_NOT_FOUND", |error| match error {
        Error::FolderNotFound { nearest, .. } => Some(use_nearest(
            nearest,
            "list_folders names the folders there are",
        )),
        _ => None,
    }),
    ("DOCUMENT_EXISTS", no_remedy),
    ("INVALID_RANGE", |error| match error {
        Error::InvalidPages { total, .. } => {
            Some(format!("Give pages from 1 to {total}, as 1-3,5 or 3-"))
        }
        Error::InvalidSlides { total, .. } => {
            Some(format!("Give slides from 1 to {total}, as 1-3,5 or 3-"))
        }
        Error::InvalidCells { rows: 0, .. } => text("Omit cell_range"),
        Error::InvalidCells { .. } => text("Write it as A1:D10, A:D or 3:10"),
        Error::InvalidRange { lines: 0, .. } => None,
        Error::InvalidRange { range, .. } if range.contains('+') => {
            text("Give the name as the answer before stated it, or leave out the bytes")
        }
        Error::InvalidRange { lines, .. } => Some(format!(
            "Give lines from 1 to {lines}, the smaller number first"
        )),
        _ => None,
    }),
    ("INVALID_CONTINUATION_TOKEN", |_| {
        text("Repeat all arguments of the first call with it, or call again without it")
    }),
    ("CONTINUATION_STALE", |_| text("Call again without it")),
    ("EMBEDDING_MODEL_UNAVAILABLE", |_| {
        text("search with mode=keyword works; whoever runs this server can index its folder again")
    }),
    ("ROOT_VANISHED", |_| {
        text("Is it mounted? Nothing was changed")
    }),
    ("FILE_TOO_LARGE", no_remedy),
    ("ENCRYPTED", |_| text("Remove the password first")),
    ("EXTRACTION_LIMIT", no_remedy),
    ("EXTRACTION_FAILED", no_remedy),
    ("NO_EXTRACTION_WORKER", |_| {
        text("Whoever runs the server can start it again")
    }),
    ("CANCELLED", |_| text("Nothing was changed")),
];

/// What to do about an error of the engine, as a sentence without a full stop.
pub(super) fn remedy(error: &Error) -> Option<String> {
    let (_, remedy) = REMEDIES.iter().find(|(code, _)| *code == error.code())?;
    remedy(error)
}

fn correct_pattern(error: &Error) -> Option<String> {
    let Error::InvalidPattern { fault, .. } = error else {
        return None;
    };
    text(match fault {
        PatternFault::Syntax => "Put a backslash before a special character, or pass literal=true",
        PatternFault::LookAround => {
            "There is no look-around: match what stands around it too, as in foo(bar|$)"
        }
        PatternFault::Backreference => {
            "There are no backreferences: write out what may repeat, as in (aa|bb)"
        }
        PatternFault::InvalidUtf8 => {
            "Texts are UTF-8: write \\u{ff} for a character, not (?-u) bytes"
        }
        PatternFault::LineEnd => "Pass multiline=true for matches over several lines",
        PatternFault::TooLarge => "Use smaller repetitions, or several patterns",
        _ => return None,
    })
}

fn no_remedy(_: &Error) -> Option<String> {
    None
}

fn text(remedy: &str) -> Option<String> {
    Some(remedy.to_owned())
}

/// For failures of the disk that whoever runs the server can end.
fn make_writable(error: &Error) -> Option<String> {
    match error.system_error()?.kind() {
        ErrorKind::PermissionDenied => {
            text("The server needs permission to write the file and its folder")
        }
        ErrorKind::ReadOnlyFilesystem => text(
            "The server needs a file system that it is allowed to write: whoever runs it can mount \
             this one for writing, or serve a copy elsewhere",
        ),
        ErrorKind::StorageFull => text(
            "Free some space on its disk and try again; the knowledge base is as it was before",
        ),
        ErrorKind::QuotaExceeded => text(
            "Free some of the quota, or have it raised, and try again; the knowledge base is as it \
             was before",
        ),
        _ => None,
    }
}

fn unchanged() -> String {
    "Nothing of this change was kept; the knowledge base is as it was before".to_owned()
}

/// The nearest names, or where to look them up.
fn use_nearest(nearest: &[String], otherwise: &str) -> String {
    match nearest {
        [] => otherwise.to_owned(),
        [one] => format!("The nearest is {one}"),
        some => format!("The nearest are {}", some.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_an_entry() {
        let codes: Vec<&str> = REMEDIES.iter().map(|(code, _)| *code).collect();
        assert_eq!(codes, Error::CODES);
    }
}
