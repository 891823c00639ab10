//! The one error type of the engine. A variant holds facts and `Display` states them. What to do about
//! an error depends on the program around the engine: `kb_json::advice` says it for each front.

use std::io;
use std::path::PathBuf;

use crate::PartKind;

#[cfg(feature = "testing")]
#[doc(hidden)]
pub mod samples;
mod wording;

use wording::{has_others, not_read, replaced, wrong_cells, wrong_lines, wrong_position};

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
    /// A path leads out of `IndexOptions::within`.
    #[error("{} is outside the folders that may be indexed", path.display())]
    PathNotAllowed {
        /// The path as given.
        path: PathBuf,
    },
    /// The operating system refused an operation on a file.
    #[error("cannot {action} {}: {source}", path.display())]
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
        "storage failed: {reason}; this change was not saved, and the file keeps its last commit"
    )]
    Storage {
        /// What redb or the system said.
        reason: String,
        /// The error of the system; `None` when the storage failed for another reason.
        source: Option<io::Error>,
    },
    /// The bytes are something else than a .kb.
    #[error("not a .kb file: {reason}")]
    NotAKb {
        /// What was missing or different.
        reason: &'static str,
    },
    /// A .kb of a format that this program does not read.
    #[error("this .kb needs {needs}; this program reads {reads}")]
    FormatUnsupported {
        /// What the file asks for: a version or a feature bit.
        needs: String,
        /// What this program offers.
        reads: String,
    },
    /// Bytes of a .kb contradict its format or their checksum.
    #[error("the .kb is damaged: {what}")]
    Damaged {
        /// Which structure, and what is wrong with it.
        what: String,
    },
    /// Another process writes this .kb.
    #[error("another program is writing the .kb: {holder}")]
    IndexLocked {
        /// Program, process id, host and start time, as far as known.
        holder: String,
    },
    /// The file that a writer has open no longer has the name that it was opened by. Nothing is
    /// written to either file.
    #[error(
        "{} while it was open for writing; this change was not saved, and the file that was opened keeps its last commit",
        replaced(path, *is_gone)
    )]
    FileReplaced {
        /// The name that the writer was given.
        path: PathBuf,
        /// Whether nothing has that name now; else another file has it.
        is_gone: bool,
    },
    /// A file is where the output shall be, and replacing it would lose something.
    #[error("{} was not replaced: {reason}", path.display())]
    NotReplaceable {
        /// The file that is there.
        path: PathBuf,
        /// What would be lost.
        reason: String,
    },
    /// Another .kb is where a new one shall be written, and nobody asked for it to be replaced.
    #[error("{} is another .kb; its documents would be lost", path.display())]
    OutputExists {
        /// The file that is there.
        path: PathBuf,
    },
    /// A process that was forked from the one which opened the writer used it.
    #[error("this writer belongs to process {process_id} and cannot be used after a fork")]
    ForkedWriter {
        /// The process that opened the file.
        process_id: u32,
    },
    /// The file was committed so often that no snapshot lasted long enough to be read.
    #[error("the .kb changed faster than it could be read")]
    SnapshotExpired,
    /// The writer failed earlier and refuses more work.
    #[error("an earlier write of this writer failed, so it refuses further work")]
    WriterFailed,
    /// A request argument is empty, out of range or of the wrong kind.
    #[error("{argument}: {reason}")]
    InvalidArgument {
        /// Name of the argument.
        argument: &'static str,
        /// What was given and what is allowed.
        reason: String,
    },
    /// A pattern that is no regular expression, or none that this program searches for.
    #[error("pattern{}: {reason}", wrong_position(*position))]
    InvalidPattern {
        /// Which character of the pattern is wrong, from 1; `None` where it is the whole.
        position: Option<u32>,
        /// What is wrong with it.
        reason: String,
        /// Of which kind that is.
        fault: PatternFault,
    },
    /// No document of that name.
    #[error("no document {name:?}{}", not_read(skipped))]
    DocumentNotFound {
        /// The name as given.
        name: String,
        /// Files of that name that are in the indexed folders and were skipped, `path: reason`, at most five.
        skipped: Vec<String>,
        /// Paths that look like it, best first, at most five.
        nearest: Vec<String>,
    },
    /// A name matches several documents.
    #[error("{name:?} matches several documents: {}", candidates.join(", "))]
    AmbiguousDocument {
        /// The name as given.
        name: String,
        /// Their paths, at most five.
        candidates: Vec<String>,
    },
    /// No section of that number or title.
    #[error("no section {section:?} in {path}")]
    SectionNotFound {
        /// The number or title as given.
        section: String,
        /// The document.
        path: String,
        /// Number and title of sections that look like it, best first, at most five.
        nearest: Vec<String>,
    },
    /// A title matches several sections of a document.
    #[error("{section:?} matches several sections of {path}: {}", candidates.join(", "))]
    AmbiguousSection {
        /// The name as given.
        section: String,
        /// The document.
        path: String,
        /// Their numbers and paths of titles, at most five.
        candidates: Vec<String>,
    },
    /// No folder of that name.
    #[error("no folder {name:?}")]
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
    #[error("lines {range} of {path:?}: {}", wrong_lines(range, *lines))]
    InvalidRange {
        /// The range as given, `A-B` or `A-`, and `+N` where the bytes that are skipped are wrong.
        range: String,
        /// The document.
        path: String,
        /// How many lines it has.
        lines: u32,
    },
    /// Page numbers outside a document.
    #[error("pages {pages} of {path:?}: the document has {total} page{}", if *total == 1 { "" } else { "s" })]
    InvalidPages {
        /// The pages as given.
        pages: String,
        /// The document.
        path: String,
        /// How many pages it has.
        total: u32,
    },
    /// Slide numbers outside a document.
    #[error("slides {slides} of {path:?}: the document has {total} slide{}", if *total == 1 { "" } else { "s" })]
    InvalidSlides {
        /// The slides as given.
        slides: String,
        /// The document.
        path: String,
        /// How many slides it has.
        total: u32,
    },
    /// Text that is no range of cells, or cells outside a sheet.
    #[error("cells {range:?} of {path:?}: {}", wrong_cells(*rows, *columns))]
    InvalidCells {
        /// The range as given.
        range: String,
        /// The document.
        path: String,
        /// How many rows the sheet has.
        rows: u32,
        /// How many columns it has.
        columns: u32,
    },
    /// No sheet of that name.
    #[error("no sheet {sheet:?} in {path}")]
    SheetNotFound {
        /// The name as given.
        sheet: String,
        /// The document.
        path: String,
        /// The most similar names, best first, at most five.
        nearest: Vec<String>,
        /// The names of its sheets, in order, at most twenty.
        sheets: Box<[String]>,
        /// How many sheets it has.
        total: u32,
    },
    /// A sheet was named of a document that is one table without a name, such as CSV.
    #[error("{path} is one table: it has no sheets with names")]
    NoSheetNames {
        /// The document.
        path: String,
    },
    /// Sheets, slides or pages were asked of a document that has others.
    #[error("{path:?} has no {}{}", wanted.plural(), has_others(*has))]
    UnsupportedDocumentType {
        /// The document.
        path: String,
        /// Its file type.
        file_type: String,
        /// What was asked for.
        wanted: PartKind,
        /// What it has.
        has: Option<PartKind>,
    },
    /// A continuation that does not belong to this request.
    #[error("invalid continuation: {reason}")]
    InvalidCursor {
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The file changed since the result that is to be continued.
    #[error("the .kb has changed since the result to continue")]
    StaleCursor,
    /// The file names an embedding model that this program cannot reproduce.
    #[error(
        "the vectors of this .kb need the embedding model {needs}, which this program does not have"
    )]
    EmbeddingModelUnavailable {
        /// Id of the model.
        needs: String,
    },
    /// Nothing is left of a folder that the .kb has documents of.
    #[error(
        "there are no files in {}, but the .kb has {documents} document{} from it; nothing was changed",
        root.display(),
        if *documents == 1 { "" } else { "s" }
    )]
    RootVanished {
        /// The folder.
        root: PathBuf,
        /// Documents that came from it.
        documents: u64,
    },
    /// A document that is given as a file is encrypted.
    #[error("{path:?}: {reason}")]
    Encrypted {
        /// The name of the file.
        path: String,
        /// Which format it has.
        reason: String,
    },
    /// A file has more than one document may have, or reading it took more time or memory than it may.
    #[error("{path:?}: {reason}")]
    ExtractionLimit {
        /// The name of the file.
        path: String,
        /// What there is too much of, and how much there may be.
        reason: String,
    },
    /// The reader of a file failed, or the worker process that ran it.
    #[error("{path:?}: {reason}")]
    ExtractionFailed {
        /// The name of the file.
        path: String,
        /// How.
        reason: String,
    },
    /// A file of a kind that a worker process reads, and none can be had: the host named no executable by
    /// `Extraction`, nor asked for extraction in its own process, or the executable cannot be started.
    #[error("{path:?}: {reason}")]
    NoExtractionWorker {
        /// The name of the file.
        path: String,
        /// Why.
        reason: String,
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
    #[error("stopped on request; the file is unchanged")]
    Cancelled,
}

/// What is wrong with a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PatternFault {
    /// It does not parse.
    Syntax,
    /// It has look-ahead or look-behind, which cannot be searched in linear time.
    LookAround,
    /// It refers to what a group matched, which cannot be searched in linear time.
    Backreference,
    /// It could match bytes that are no UTF-8, and texts are UTF-8.
    InvalidUtf8,
    /// It needs a line end where each line is searched by itself.
    LineEnd,
    /// It is too long, nested too deep, or its automaton is too large.
    TooLarge,
}

impl Error {
    /// Every [`Error::code`], for programs that keep a table of them.
    pub const CODES: [&'static str; 35] = [
        "PATH_NOT_FOUND",
        "PATH_NOT_ALLOWED",
        "IO",
        "STORAGE",
        "NOT_A_KB",
        "FORMAT_UNSUPPORTED",
        "DAMAGED",
        "INDEX_LOCKED",
        "FILE_REPLACED",
        "NOT_REPLACEABLE",
        "OUTPUT_EXISTS",
        "FORKED_WRITER",
        "SNAPSHOT_EXPIRED",
        "WRITER_FAILED",
        "INVALID_ARGUMENT",
        "INVALID_REGEX",
        "DOCUMENT_NOT_FOUND",
        "AMBIGUOUS_DOCUMENT",
        "SECTION_NOT_FOUND",
        "SHEET_NOT_FOUND",
        "CSV_NO_SHEETS",
        "UNSUPPORTED_DOCUMENT_TYPE",
        "FOLDER_NOT_FOUND",
        "DOCUMENT_EXISTS",
        "INVALID_RANGE",
        "INVALID_CONTINUATION_TOKEN",
        "CONTINUATION_STALE",
        "EMBEDDING_MODEL_UNAVAILABLE",
        "ROOT_VANISHED",
        "FILE_TOO_LARGE",
        "ENCRYPTED",
        "EXTRACTION_LIMIT",
        "EXTRACTION_FAILED",
        "NO_EXTRACTION_WORKER",
        "CANCELLED",
    ];

    /// The stable name of this kind of error, which programs match on. A name is never reused for
    /// another meaning.
    ///
    /// | code | variant | meaning |
    /// |---|---|---|
    /// | `PATH_NOT_FOUND` | [`PathNotFound`](Error::PathNotFound) | a path that was given does not exist |
    /// | `PATH_NOT_ALLOWED` | [`PathNotAllowed`](Error::PathNotAllowed) | a path is outside the folders that may be indexed |
    /// | `IO` | [`Io`](Error::Io) | the system refused an operation on a file |
    /// | `STORAGE` | [`Storage`](Error::Storage) | the storage under an open .kb failed |
    /// | `NOT_A_KB` | [`NotAKb`](Error::NotAKb) | the file is something else than a .kb |
    /// | `FORMAT_UNSUPPORTED` | [`FormatUnsupported`](Error::FormatUnsupported) | a format that this program does not read |
    /// | `DAMAGED` | [`Damaged`](Error::Damaged) | bytes contradict the format or their checksum |
    /// | `INDEX_LOCKED` | [`IndexLocked`](Error::IndexLocked) | another process writes the file |
    /// | `FILE_REPLACED` | [`FileReplaced`](Error::FileReplaced) | the file was moved or replaced while it was written |
    /// | `NOT_REPLACEABLE` | [`NotReplaceable`](Error::NotReplaceable) | replacing the output would lose something else |
    /// | `OUTPUT_EXISTS` | [`OutputExists`](Error::OutputExists) | the output is another .kb |
    /// | `FORKED_WRITER` | [`ForkedWriter`](Error::ForkedWriter) | a writer was used after a fork |
    /// | `SNAPSHOT_EXPIRED` | [`SnapshotExpired`](Error::SnapshotExpired) | the file changed faster than it could be read |
    /// | `WRITER_FAILED` | [`WriterFailed`](Error::WriterFailed) | an earlier write of this writer failed |
    /// | `INVALID_ARGUMENT` | [`InvalidArgument`](Error::InvalidArgument) | an argument is empty, out of range or of the wrong kind |
    /// | `INVALID_REGEX` | [`InvalidPattern`](Error::InvalidPattern) | a pattern does not parse, is too large, or asks for what is not searched |
    /// | `DOCUMENT_NOT_FOUND` | [`DocumentNotFound`](Error::DocumentNotFound) | no document of that name |
    /// | `AMBIGUOUS_DOCUMENT` | [`AmbiguousDocument`](Error::AmbiguousDocument) | several documents of that name |
    /// | `SECTION_NOT_FOUND` | [`SectionNotFound`](Error::SectionNotFound), [`AmbiguousSection`](Error::AmbiguousSection) | no section, or no single one, of that name |
    /// | `SHEET_NOT_FOUND` | [`SheetNotFound`](Error::SheetNotFound) | no sheet of that name |
    /// | `CSV_NO_SHEETS` | [`NoSheetNames`](Error::NoSheetNames) | a sheet was named of one table without sheets |
    /// | `UNSUPPORTED_DOCUMENT_TYPE` | [`UnsupportedDocumentType`](Error::UnsupportedDocumentType) | the document has no pages, sheets or slides |
    /// | `FOLDER_NOT_FOUND` | [`FolderNotFound`](Error::FolderNotFound) | no folder of that name |
    /// | `DOCUMENT_EXISTS` | [`DocumentExists`](Error::DocumentExists) | a document of that path is already there |
    /// | `INVALID_RANGE` | [`InvalidRange`](Error::InvalidRange), [`InvalidPages`](Error::InvalidPages), [`InvalidSlides`](Error::InvalidSlides), [`InvalidCells`](Error::InvalidCells) | lines, pages, slides or cells outside a document |
    /// | `INVALID_CONTINUATION_TOKEN` | [`InvalidCursor`](Error::InvalidCursor) | the continuation does not belong to this request |
    /// | `CONTINUATION_STALE` | [`StaleCursor`](Error::StaleCursor) | the file changed since the continuation was given |
    /// | `EMBEDDING_MODEL_UNAVAILABLE` | [`EmbeddingModelUnavailable`](Error::EmbeddingModelUnavailable) | the embedding model of the file is not available |
    /// | `ROOT_VANISHED` | [`RootVanished`](Error::RootVanished) | nothing is left of a folder that was indexed |
    /// | `FILE_TOO_LARGE` | [`TooLarge`](Error::TooLarge), [`TooMany`](Error::TooMany) | more bytes or items than the format can hold |
    /// | `ENCRYPTED` | [`Encrypted`](Error::Encrypted) | the file is encrypted |
    /// | `EXTRACTION_LIMIT` | [`ExtractionLimit`](Error::ExtractionLimit) | the file is too much for its reader |
    /// | `EXTRACTION_FAILED` | [`ExtractionFailed`](Error::ExtractionFailed) | the reader of the file failed |
    /// | `NO_EXTRACTION_WORKER` | [`NoExtractionWorker`](Error::NoExtractionWorker) | the file needs a worker process, and there is none |
    /// | `CANCELLED` | [`Cancelled`](Error::Cancelled) | the caller stopped the call |
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
            Error::InvalidPattern { .. } => "INVALID_REGEX",
            Error::DocumentNotFound { .. } => "DOCUMENT_NOT_FOUND",
            Error::AmbiguousDocument { .. } => "AMBIGUOUS_DOCUMENT",
            Error::SectionNotFound { .. } | Error::AmbiguousSection { .. } => "SECTION_NOT_FOUND",
            Error::SheetNotFound { .. } => "SHEET_NOT_FOUND",
            Error::NoSheetNames { .. } => "CSV_NO_SHEETS",
            Error::UnsupportedDocumentType { .. } => "UNSUPPORTED_DOCUMENT_TYPE",
            Error::FolderNotFound { .. } => "FOLDER_NOT_FOUND",
            Error::DocumentExists { .. } => "DOCUMENT_EXISTS",
            Error::InvalidRange { .. }
            | Error::InvalidPages { .. }
            | Error::InvalidSlides { .. }
            | Error::InvalidCells { .. } => "INVALID_RANGE",
            Error::InvalidCursor { .. } => "INVALID_CONTINUATION_TOKEN",
            Error::StaleCursor => "CONTINUATION_STALE",
            Error::EmbeddingModelUnavailable { .. } => "EMBEDDING_MODEL_UNAVAILABLE",
            Error::RootVanished { .. } => "ROOT_VANISHED",
            Error::TooLarge { .. } | Error::TooMany { .. } => "FILE_TOO_LARGE",
            Error::Encrypted { .. } => "ENCRYPTED",
            Error::ExtractionLimit { .. } => "EXTRACTION_LIMIT",
            Error::ExtractionFailed { .. } => "EXTRACTION_FAILED",
            Error::NoExtractionWorker { .. } => "NO_EXTRACTION_WORKER",
            Error::Cancelled => "CANCELLED",
        }
    }

    /// A [`Error::Damaged`] that names the structure.
    pub fn damaged(what: impl Into<String>) -> Error {
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
    pub fn storage(source: io::Error) -> Error {
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
    pub fn io(action: &'static str, path: impl Into<PathBuf>, source: io::Error) -> Error {
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn failures_of_the_disk_keep_the_error_of_the_system() {
        for kind in [
            io::ErrorKind::StorageFull,
            io::ErrorKind::QuotaExceeded,
            io::ErrorKind::ReadOnlyFilesystem,
        ] {
            let error = Error::storage(io::Error::from(kind));
            assert_eq!(error.code(), "STORAGE");
            assert_eq!(error.system_error().map(io::Error::kind), Some(kind));
        }
        // EIO has no kind of its own, but its number is kept.
        let error = Error::storage(io::Error::from_raw_os_error(5));
        let raw = error.system_error().and_then(io::Error::raw_os_error);
        assert_eq!(raw, Some(5));
        let source = std::error::Error::source(&error);
        assert!(source.is_some_and(|source| source.is::<io::Error>()));
    }

    /// The match of `code` and the list are written twice: the source of this file has both.
    #[test]
    fn every_code_is_listed_once() {
        let source = include_str!("mod.rs");
        let (_, after) = source.split_once("pub fn code(&self)").unwrap();
        let (body, _) = after.split_once("\n    }\n").unwrap();
        let codes: Vec<&str> = body.split('"').skip(1).step_by(2).collect();
        assert_eq!(codes, Error::CODES);
    }

    /// Fronts test what they say of errors with the samples.
    #[test]
    fn every_code_has_a_sample() {
        let samples: BTreeSet<&str> = samples::samples().iter().map(Error::code).collect();
        assert_eq!(samples, BTreeSet::from(Error::CODES));
    }

    #[test]
    fn an_error_of_ours_that_redb_carried_is_itself_again() {
        let carried = io::Error::other(Error::damaged("a page"));
        assert_eq!(Error::storage(carried).code(), "DAMAGED");
    }
}
