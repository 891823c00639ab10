//! Statuses: the codes of the engine as numbers, which are fixed for ever.

use std::ffi::{CStr, c_char};

use kb_engine::Error;

use crate::base::panic::infallible;

/// Result of a call: `KB_OK`, or a negative number for each kind of error. A number is never reused for another kind.
/// Later versions add numbers, so treat unknown ones as errors.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(non_camel_case_types)]
pub enum kb_status {
    /// Success.
    Ok = 0,
    /// A path does not exist.
    PathNotFound = -1,
    /// A path is outside the folders that may be indexed. This library never returns it.
    PathNotAllowed = -2,
    /// The operating system refused an operation on a file; the message has its reason.
    Io = -3,
    /// The storage of an open file failed, for example because the disk is full. The file keeps its last commit.
    Storage = -4,
    /// The file is not a .kb file.
    NotAKb = -5,
    /// The file has a format that this library does not read.
    FormatUnsupported = -6,
    /// Bytes of the file contradict its format or their checksum.
    Damaged = -7,
    /// Another process, or another writer in this process, is writing the file.
    IndexLocked = -8,
    /// The file was moved or replaced while it was written.
    FileReplaced = -9,
    /// Replacing the file would lose data: it has several hard links, may belong to another program, or is of an older
    /// format and holds what no folder has.
    NotReplaceable = -10,
    /// The output exists and is another .kb: see `replace` of `kb_seal_options`.
    OutputExists = -11,
    /// A writer was used in a child process after a fork: open the file there.
    ForkedWriter = -12,
    /// Other commits overtook every attempt to read the file. Call again.
    SnapshotExpired = -13,
    /// An earlier write of this writer failed: close it and open another one.
    WriterFailed = -14,
    /// An argument is NULL, empty, not UTF-8, out of range or of the wrong kind.
    InvalidArgument = -15,
    /// A pattern is not a supported regular expression.
    InvalidRegex = -16,
    /// No document of that name.
    DocumentNotFound = -17,
    /// Several documents of that name.
    AmbiguousDocument = -18,
    /// No section of that name, or several.
    SectionNotFound = -19,
    /// No sheet of that name.
    SheetNotFound = -20,
    /// A sheet was named, but the document is one table without sheets.
    CsvNoSheets = -21,
    /// The document has no pages, sheets or slides.
    UnsupportedDocumentType = -22,
    /// No folder of that name.
    FolderNotFound = -23,
    /// A document with this path already exists.
    DocumentExists = -24,
    /// Lines, pages, slides or cells outside a document.
    InvalidRange = -25,
    /// The cursor does not belong to this request.
    InvalidContinuationToken = -26,
    /// The file changed after the cursor was returned: search again from the start.
    ContinuationStale = -27,
    /// This library does not have the embedding model of the file.
    EmbeddingModelUnavailable = -28,
    /// A folder that was indexed before has no files: see `prune` of `kb_index_options`.
    RootVanished = -29,
    /// More bytes or items than the format can hold.
    FileTooLarge = -30,
    /// The document is encrypted.
    Encrypted = -31,
    /// The document exceeds a limit of size, time or memory.
    ExtractionLimit = -32,
    /// The reader of the document failed.
    ExtractionFailed = -33,
    /// The document is read in a worker process only, and there is none: see `worker` of `kb_writer_options`.
    NoExtractionWorker = -34,
    /// A progress callback stopped the call.
    Cancelled = -35,
    /// A bug in this library: a panic was caught. Please report it.
    Panic = -100,
    /// The handle is in use: another thread is in a call with it, or this call comes from one of its callbacks.
    InUse = -101,
    /// This build of the library lacks the requested feature: see `kb_features`.
    NotBuilt = -102,
}

/// Statuses of this library alone, and their names.
const OWN: [(kb_status, &CStr); 4] = [
    (kb_status::Ok, c"OK"),
    (kb_status::Panic, c"PANIC"),
    (kb_status::InUse, c"IN_USE"),
    (kb_status::NotBuilt, c"NOT_BUILT"),
];

/// Statuses of the codes of the engine.
const OF_CODES: [(kb_status, &CStr); Error::CODES.len()] = [
    (kb_status::PathNotFound, c"PATH_NOT_FOUND"),
    (kb_status::PathNotAllowed, c"PATH_NOT_ALLOWED"),
    (kb_status::Io, c"IO"),
    (kb_status::Storage, c"STORAGE"),
    (kb_status::NotAKb, c"NOT_A_KB"),
    (kb_status::FormatUnsupported, c"FORMAT_UNSUPPORTED"),
    (kb_status::Damaged, c"DAMAGED"),
    (kb_status::IndexLocked, c"INDEX_LOCKED"),
    (kb_status::FileReplaced, c"FILE_REPLACED"),
    (kb_status::NotReplaceable, c"NOT_REPLACEABLE"),
    (kb_status::OutputExists, c"OUTPUT_EXISTS"),
    (kb_status::ForkedWriter, c"FORKED_WRITER"),
    (kb_status::SnapshotExpired, c"SNAPSHOT_EXPIRED"),
    (kb_status::WriterFailed, c"WRITER_FAILED"),
    (kb_status::InvalidArgument, c"INVALID_ARGUMENT"),
    (kb_status::InvalidRegex, c"INVALID_REGEX"),
    (kb_status::DocumentNotFound, c"DOCUMENT_NOT_FOUND"),
    (kb_status::AmbiguousDocument, c"AMBIGUOUS_DOCUMENT"),
    (kb_status::SectionNotFound, c"SECTION_NOT_FOUND"),
    (kb_status::SheetNotFound, c"SHEET_NOT_FOUND"),
    (kb_status::CsvNoSheets, c"CSV_NO_SHEETS"),
    (
        kb_status::UnsupportedDocumentType,
        c"UNSUPPORTED_DOCUMENT_TYPE",
    ),
    (kb_status::FolderNotFound, c"FOLDER_NOT_FOUND"),
    (kb_status::DocumentExists, c"DOCUMENT_EXISTS"),
    (kb_status::InvalidRange, c"INVALID_RANGE"),
    (
        kb_status::InvalidContinuationToken,
        c"INVALID_CONTINUATION_TOKEN",
    ),
    (kb_status::ContinuationStale, c"CONTINUATION_STALE"),
    (
        kb_status::EmbeddingModelUnavailable,
        c"EMBEDDING_MODEL_UNAVAILABLE",
    ),
    (kb_status::RootVanished, c"ROOT_VANISHED"),
    (kb_status::FileTooLarge, c"FILE_TOO_LARGE"),
    (kb_status::Encrypted, c"ENCRYPTED"),
    (kb_status::ExtractionLimit, c"EXTRACTION_LIMIT"),
    (kb_status::ExtractionFailed, c"EXTRACTION_FAILED"),
    (kb_status::NoExtractionWorker, c"NO_EXTRACTION_WORKER"),
    (kb_status::Cancelled, c"CANCELLED"),
];

// The table follows the engine: another number of codes does not compile, another name neither.
const _: () = {
    let (mut ours, mut theirs) = (OF_CODES.as_slice(), Error::CODES.as_slice());
    while let ([(_, name), more @ ..], [code, others @ ..]) = (ours, theirs) {
        let (mut name, mut code) = (name.to_bytes(), code.as_bytes());
        assert!(name.len() == code.len());
        while let ([one, names @ ..], [other, codes @ ..]) = (name, code) {
            assert!(*one == *other);
            (name, code) = (names, codes);
        }
        (ours, theirs) = (more, others);
    }
};

impl kb_status {
    /// The status of a code of the engine.
    pub(crate) fn of_code(code: &str) -> kb_status {
        let found = OF_CODES
            .iter()
            .find(|(_, name)| name.to_bytes() == code.as_bytes());
        found.map_or(kb_status::Panic, |(status, _)| *status)
    }

    /// Its stable name, the code of the engine.
    pub(crate) fn name(self) -> &'static CStr {
        let mut all = OWN.iter().chain(&OF_CODES);
        all.find(|(status, _)| *status == self)
            .map_or(c"", |(_, name)| name)
    }
}

/// The stable name of a status: "DOCUMENT_NOT_FOUND". Static and NUL-terminated. Empty for an unknown number.
#[unsafe(no_mangle)]
pub extern "C" fn kb_status_name(status: i32) -> *const c_char {
    infallible(c"".as_ptr(), || {
        let mut all = OWN.iter().chain(&OF_CODES);
        all.find(|(known, _)| *known as i32 == status)
            .map_or(c"", |(_, name)| name)
            .as_ptr()
    })
}
