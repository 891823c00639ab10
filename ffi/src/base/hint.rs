//! What a C program can do about an error of the engine.

use kb_engine::{Error, PatternFault};

/// What to do about an error; `None` where the message says it.
pub(crate) fn hint(error: &Error) -> Option<String> {
    let fixed = match error {
        Error::DocumentNotFound { nearest, .. }
        | Error::FolderNotFound { nearest, .. }
        | Error::SectionNotFound { nearest, .. } => {
            return nearest.first().map(|it| format!("did you mean {it:?}?"));
        }
        Error::SheetNotFound {
            nearest, sheets, ..
        } => {
            return match (nearest.first(), sheets.first()) {
                (Some(nearest), _) => Some(format!("did you mean {nearest:?}?")),
                (None, Some(_)) => Some(format!("it has {}", sheets.join(", "))),
                (None, None) => None,
            };
        }
        Error::AmbiguousDocument { .. } => "give the whole path",
        Error::AmbiguousSection { .. } => "give its number, as \"2.1\"",
        Error::PathNotFound { .. } => "kb_writer_open makes a .kb",
        Error::NotAKb { .. } => "kb_writer_open with KB_WRITER_MODE_CREATE makes a .kb",
        Error::FormatUnsupported { .. } => {
            "a newer file needs a newer libkb; of an older one index the sources again"
        }
        Error::Damaged { .. } => "restore a copy, or index the sources again",
        Error::IndexLocked { .. } => "wait for it with lock_timeout_ms, or stop it",
        Error::FileReplaced { .. } => "open the file again",
        Error::SnapshotExpired => "call again: a writer commits very often",
        Error::ForkedWriter { .. } => "open the file in the child process",
        Error::WriterFailed => "close this writer and open the file again",
        Error::DocumentExists { .. } => "set replace to put this in its place",
        Error::OutputExists { .. } => "set replace, or KB_WRITER_MODE_CREATE, to replace it",
        Error::InvalidCursor { .. } | Error::StaleCursor => "search again without cursor",
        Error::EmbeddingModelUnavailable { .. } => {
            "KB_MODE_KEYWORD works without it; kb_features tells whether this build has a model"
        }
        Error::RootVanished { .. } => "is it mounted? prune removes its documents",
        Error::Encrypted { .. } => "save it without a password",
        Error::NoExtractionWorker { .. } => {
            "name a kb program by worker, or set in_process for files that are trusted"
        }
        Error::InvalidPattern { fault, .. } => match fault {
            PatternFault::LookAround => "match what stands around it too, as in `foo(bar|$)`",
            PatternFault::Backreference => "write out what may repeat, as in `(aa|bb)`",
            _ => "put a backslash before a special character, or set \"literal\"",
        },
        Error::NoSheetNames { .. } => "leave the name of the sheet out",
        _ => return None,
    };
    Some(fixed.to_owned())
}
