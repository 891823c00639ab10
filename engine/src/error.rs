//! The one error type of the engine. A variant holds facts; `Display` says what happened, then what
//! to do; [`Error::code`] is the contract for exit status, C results, Python classes and MCP text.

use std::io;
use std::path::{Path, PathBuf};

/// Result of every engine call.
pub type Result<T> = std::result::Result<T, Error>;

/// Everything that can go wrong in the engine.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A path that was given does not exist.
    #[error("{} does not exist", path.display())]
    PathNotFound {
        /// The path as given.
        path: PathBuf,
    },
    /// A path leads out of [`crate::IndexOptions::within`].
    #[error("{} lies outside the folders that may be indexed", path.display())]
    PathNotAllowed {
        /// The path as given.
        path: PathBuf,
    },
    /// The operating system refused an operation on a file.
    #[error("cannot {action} {}: {source}{}", path.display(), remedy_of(Some(source)))]
    Io {
        /// What was tried, as a verb: "read", "create", "rename".
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The reason given by the system.
        source: io::Error,
    },
    /// The storage under an open .kb failed. [`Error::system_error`] tells a full disk from others.
    #[error(
        "storage failed: {reason}{}; nothing of this change was kept, the last commit stands",
        remedy_of(source.as_ref())
    )]
    Storage {
        /// What redb or the system said.
        reason: String,
        /// The error of the system; `None` when the storage failed for another reason.
        source: Option<io::Error>,
    },
    /// The bytes are something else than a .kb.
    #[error("not a .kb file: {reason}; `kb index PATH -o FILE.kb` makes one")]
    NotAKb {
        /// What was missing or different.
        reason: &'static str,
    },
    /// A .kb of a format that this program does not read.
    #[error(
        "this .kb needs {needs}; this program reads {reads}: update the program, or index again"
    )]
    FormatUnsupported {
        /// What the file asks for: a version or a feature bit.
        needs: String,
        /// What this program offers.
        reads: String,
    },
    /// Bytes of a .kb contradict its format or their checksum.
    #[error("the .kb is damaged: {what}; restore a copy, or index the sources again")]
    Damaged {
        /// Which structure, and what is wrong with it.
        what: String,
    },
    /// Another process writes this .kb.
    #[error("the .kb is being written by {holder}; wait for it, or stop it")]
    IndexLocked {
        /// Program, process id, host and start time, as far as known.
        holder: String,
    },
    /// The file that a writer has open no longer has the name that it was opened by. Nothing is
    /// written to either file.
    #[error(
        "{} while it was open for writing; nothing of this change was written, and the file that was opened keeps its last commit: look what happened to it, then repeat the change",
        replaced(path, *is_gone)
    )]
    FileReplaced {
        /// The name that the writer was given.
        path: PathBuf,
        /// Whether nothing has that name now; else another file has it.
        is_gone: bool,
    },
    /// A file is where the output shall be, and replacing it would lose something.
    #[error("{} is not replaced: {reason}", path.display())]
    NotReplaceable {
        /// The file that is there.
        path: PathBuf,
        /// What would be lost, and what to do.
        reason: String,
    },
    /// Another .kb is where a new one shall be written, and nobody asked for it to be replaced.
    #[error("{} is another .kb, whose documents would be lost", path.display())]
    OutputExists {
        /// The file that is there.
        path: PathBuf,
    },
    /// A process that was forked from the one which opened the writer used it.
    #[error(
        "this writer belongs to process {process_id}, from which this one was forked; open the .kb again in this process"
    )]
    ForkedWriter {
        /// The process that opened the file.
        process_id: u32,
    },
    /// The file changed faster than the answer could be made.
    #[error("the .kb changed faster than the answer could be made; ask again")]
    SnapshotExpired,
    /// The writer failed earlier and refuses more work.
    #[error("an earlier write failed; close this writer and open the .kb again")]
    WriterFailed,
    /// A request argument is empty, out of range or of the wrong kind.
    #[error("{argument}: {reason}")]
    InvalidArgument {
        /// Name of the argument.
        argument: &'static str,
        /// What was given and what is allowed.
        reason: String,
    },
    /// No document of that name.
    #[error("no document {name:?}{}", nearest_hint(nearest))]
    DocumentNotFound {
        /// The name as given.
        name: String,
        /// Paths that look like it, best first, at most five.
        nearest: Vec<String>,
    },
    /// Several documents answer to that name.
    #[error("{name:?} names several documents: {}; give the whole path", candidates.join(", "))]
    AmbiguousDocument {
        /// The name as given.
        name: String,
        /// Their paths, at most five.
        candidates: Vec<String>,
    },
    /// No section of that number or title, or several of that title.
    #[error("{path} has no one section {section:?}{}", nearest_hint(nearest))]
    SectionNotFound {
        /// The number or title as given.
        section: String,
        /// The document.
        path: String,
        /// Number and title of those that look like it or have this title too, at most five.
        nearest: Vec<String>,
    },
    /// No folder of that name.
    #[error("no folder {name:?}{}", nearest_hint(nearest))]
    FolderNotFound {
        /// The name as given.
        name: String,
        /// Folders that look like it, best first, at most five.
        nearest: Vec<String>,
    },
    /// A document of this path is already there.
    #[error("a document {path:?} is already in the .kb")]
    DocumentExists {
        /// Its path.
        path: String,
    },
    /// Line numbers outside a document.
    #[error("lines {asked} of {path:?}: the document has {lines} lines")]
    InvalidRange {
        /// The range as asked for.
        asked: String,
        /// The document.
        path: String,
        /// How many lines it has.
        lines: u32,
    },
    /// Page numbers outside a document.
    #[error("pages {asked} of {path:?}: the document has {total} page{}", if *total == 1 { "" } else { "s" })]
    InvalidPages {
        /// The pages as asked for.
        asked: String,
        /// The document.
        path: String,
        /// How many pages it has.
        total: u32,
    },
    /// A continuation that no answer to this question gave.
    #[error("the continuation is not valid here: {reason}; ask again without it")]
    InvalidCursor {
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The file changed since the answer that is to be continued.
    #[error(
        "the .kb changed since the answer that is to be continued; ask again without the continuation"
    )]
    StaleCursor,
    /// The file names an embedding model that this program cannot reproduce.
    #[error(
        "this .kb was made with the embedding model {needs}, which this program does not have; `--mode keyword` works"
    )]
    EmbeddingModelUnavailable {
        /// Id of the model.
        needs: String,
    },
    /// Nothing is left of a folder that the .kb has documents of.
    #[error(
        "no file is left in {}, and the .kb has {documents} document{} from it: is it mounted? nothing was changed; --prune removes them",
        root.display(),
        if *documents == 1 { "" } else { "s" }
    )]
    RootVanished {
        /// The folder.
        root: PathBuf,
        /// Documents that came from it.
        documents: u64,
    },
    /// One document or value is larger than the format can hold.
    #[error("{what} has {size} bytes, more than {limit}")]
    TooLarge {
        /// What is too large.
        what: String,
        /// Its size in bytes.
        size: u64,
        /// The largest size in bytes.
        limit: u64,
    },
    /// More of something than the format can count.
    #[error("{count} {what}, more than {limit}")]
    TooMany {
        /// What there are too many of.
        what: &'static str,
        /// How many there are or would be.
        count: u64,
        /// How many there may be.
        limit: u64,
    },
    /// The caller asked to stop. The state before the call stands.
    #[error("stopped on request; the file is as it was before")]
    Cancelled,
}

impl Error {
    /// The stable name of this kind of error. Names are never reused for another meaning.
    pub fn code(&self) -> &'static str {
        match self {
            Error::PathNotFound { .. } => "PATH_NOT_FOUND",
            Error::PathNotAllowed { .. } => "PATH_NOT_ALLOWED",
            Error::Io { .. } => "IO",
            Error::Storage { .. } => "STORAGE",
            Error::NotAKb { .. } => "NOT_A_KB",
            Error::FormatUnsupported { .. } => "FORMAT_UNSUPPORTED",
            Error::Damaged { .. } => "DAMAGED",
            Error::IndexLocked { .. } => "INDEX_LOCKED",
            Error::FileReplaced { .. } => "FILE_REPLACED",
            Error::NotReplaceable { .. } => "NOT_REPLACEABLE",
            Error::OutputExists { .. } => "OUTPUT_EXISTS",
            Error::ForkedWriter { .. } => "FORKED_WRITER",
            Error::SnapshotExpired => "SNAPSHOT_EXPIRED",
            Error::WriterFailed => "WRITER_FAILED",
            Error::InvalidArgument { .. } => "INVALID_ARGUMENT",
            Error::DocumentNotFound { .. } => "DOCUMENT_NOT_FOUND",
            Error::AmbiguousDocument { .. } => "AMBIGUOUS_DOCUMENT",
            Error::SectionNotFound { .. } => "SECTION_NOT_FOUND",
            Error::FolderNotFound { .. } => "FOLDER_NOT_FOUND",
            Error::DocumentExists { .. } => "DOCUMENT_EXISTS",
            Error::InvalidRange { .. } | Error::InvalidPages { .. } => "INVALID_RANGE",
            Error::InvalidCursor { .. } => "INVALID_CONTINUATION_TOKEN",
            Error::StaleCursor => "CONTINUATION_STALE",
            Error::EmbeddingModelUnavailable { .. } => "EMBEDDING_MODEL_UNAVAILABLE",
            Error::RootVanished { .. } => "ROOT_VANISHED",
            Error::TooLarge { .. } | Error::TooMany { .. } => "FILE_TOO_LARGE",
            Error::Cancelled => "CANCELLED",
        }
    }

    /// A [`Error::Damaged`] that names the structure.
    pub(crate) fn damaged(what: impl Into<String>) -> Error {
        Error::Damaged { what: what.into() }
    }

    /// The error of the operating system behind this one, if there is one. Its kind tells a full disk
    /// ([`io::ErrorKind::StorageFull`]), an exhausted quota ([`io::ErrorKind::QuotaExceeded`]) and a
    /// read-only file system ([`io::ErrorKind::ReadOnlyFilesystem`]) from other failures.
    pub fn system_error(&self) -> Option<&io::Error> {
        match self {
            Error::Io { source, .. } => Some(source),
            Error::Storage { source, .. } => source.as_ref(),
            _ => None,
        }
    }

    /// A [`Error::Storage`] of the operating system. An engine error that travelled inside it, because
    /// it came from below redb, is unpacked.
    pub(crate) fn storage(source: io::Error) -> Error {
        if source.get_ref().is_some_and(|inner| inner.is::<Error>()) {
            let inner = source.into_inner().map(|inner| inner.downcast::<Error>());
            return match inner {
                Some(Ok(error)) => *error,
                _ => Error::WriterFailed,
            };
        }
        Error::Storage {
            reason: source.to_string(),
            source: Some(source),
        }
    }

    /// A [`Error::Io`]; a missing file becomes [`Error::PathNotFound`].
    pub(crate) fn io(action: &'static str, path: impl Into<PathBuf>, source: io::Error) -> Error {
        let path = path.into();
        if source.kind() == io::ErrorKind::NotFound && action == "open" {
            return Error::PathNotFound { path };
        }
        Error::Io {
            action,
            path,
            source,
        }
    }
}

fn replaced(path: &Path, is_gone: bool) -> String {
    let path = path.display();
    match is_gone {
        true => format!("{path} was moved or removed"),
        false => format!("another file took the place of {path}"),
    }
}

/// What to do about a failure of the disk, for those that a user can end.
fn remedy_of(error: Option<&io::Error>) -> &'static str {
    match error.map(io::Error::kind) {
        Some(io::ErrorKind::StorageFull) => "; free some space on its disk and try again",
        Some(io::ErrorKind::QuotaExceeded) => {
            "; free some of your quota or have it raised, and try again"
        }
        Some(io::ErrorKind::ReadOnlyFilesystem) => {
            "; work on a copy elsewhere, or mount the file system for writing"
        }
        _ => "",
    }
}

fn nearest_hint(nearest: &[String]) -> String {
    match nearest {
        [] => "; `kb ls` lists what is there".to_owned(),
        some => format!("; the nearest: {}", some.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_of_the_disk_are_told_apart_with_a_remedy() {
        let of = |kind: io::ErrorKind| Error::storage(io::Error::from(kind));
        let cases = [
            (io::ErrorKind::StorageFull, "free some space"),
            (io::ErrorKind::QuotaExceeded, "free some of your quota"),
            (io::ErrorKind::ReadOnlyFilesystem, "work on a copy"),
        ];
        for (kind, remedy) in cases {
            let error = of(kind);
            assert_eq!(error.code(), "STORAGE");
            assert_eq!(error.system_error().map(io::Error::kind), Some(kind));
            assert!(error.to_string().contains(remedy), "{error}");
        }
        // EIO has no kind of its own, but its number is kept.
        let error = Error::storage(io::Error::from_raw_os_error(5));
        let raw = error.system_error().and_then(io::Error::raw_os_error);
        assert_eq!(raw, Some(5));
        let source = std::error::Error::source(&error);
        assert!(source.is_some_and(|source| source.is::<io::Error>()));
    }

    #[test]
    fn an_error_of_ours_that_redb_carried_is_itself_again() {
        let carried = io::Error::other(Error::damaged("a page"));
        assert_eq!(Error::storage(carried).code(), "DAMAGED");
    }
}
