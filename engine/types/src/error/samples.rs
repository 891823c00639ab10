//! An error of each kind, for tests of what fronts say of them.

use std::io::{self, ErrorKind};
use std::path::PathBuf;

use super::{Error, PatternFault};
use crate::PartKind;

/// At least one error of every variant, and so of every code.
pub fn samples() -> Vec<Error> {
    let io = |kind| Error::Io {
        action: "create",
        path: PathBuf::from("/x.kb"),
        source: io::Error::from(kind),
    };
    let name = || "a".to_owned();
    let mut samples = vec![
        Error::PathNotFound {
            path: PathBuf::from("/gone.kb"),
        },
        Error::PathNotAllowed {
            path: PathBuf::from("/etc"),
        },
        io(ErrorKind::PermissionDenied),
        io(ErrorKind::StorageFull),
        Error::Storage {
            reason: name(),
            source: Some(io::Error::from(ErrorKind::QuotaExceeded)),
        },
        Error::NotAKb { reason: "no" },
        Error::FormatUnsupported {
            needs: name(),
            reads: name(),
        },
        Error::Damaged { what: name() },
        Error::IndexLocked { holder: name() },
        Error::FileReplaced {
            path: PathBuf::from("/x.kb"),
            is_gone: true,
        },
        Error::NotReplaceable {
            path: PathBuf::from("/x.kb"),
            reason: name(),
        },
        Error::OutputExists {
            path: PathBuf::from("/x.kb"),
        },
        Error::ForkedWriter { process_id: 7 },
        Error::SnapshotExpired,
        Error::WriterFailed,
        Error::InvalidArgument {
            argument: "type",
            reason: name(),
        },
        Error::InvalidPattern {
            position: None,
            reason: name(),
            fault: PatternFault::Syntax,
        },
        Error::DocumentNotFound {
            name: name(),
            skipped: Vec::new(),
            nearest: Vec::new(),
        },
        Error::AmbiguousDocument {
            name: name(),
            candidates: vec![name()],
        },
        Error::SectionNotFound {
            section: name(),
            path: name(),
            nearest: Vec::new(),
        },
        Error::AmbiguousSection {
            section: name(),
            path: name(),
            candidates: vec![name()],
        },
        Error::FolderNotFound {
            name: name(),
            nearest: vec![name()],
        },
        Error::DocumentExists { path: name() },
        Error::InvalidRange {
            range: name(),
            path: name(),
            lines: 3,
        },
    ];
    samples.extend(samples_of_selections());
    samples
}

/// Of what is selected in a document, and of limits.
fn samples_of_selections() -> Vec<Error> {
    let name = || "a".to_owned();
    vec![
        Error::InvalidPages {
            pages: name(),
            path: name(),
            total: 3,
        },
        Error::InvalidSlides {
            slides: name(),
            path: name(),
            total: 3,
        },
        Error::InvalidCells {
            range: name(),
            path: name(),
            rows: 3,
            columns: 2,
        },
        Error::SheetNotFound {
            sheet: name(),
            path: name(),
            nearest: vec![name()],
            sheets: Box::new([name()]),
            total: 1,
        },
        Error::NoSheetNames { path: name() },
        Error::UnsupportedDocumentType {
            path: name(),
            file_type: name(),
            wanted: PartKind::Sheet,
            has: None,
        },
        Error::InvalidCursor {
            reason: "it is malformed",
        },
        Error::StaleCursor,
        Error::EmbeddingModelUnavailable { needs: name() },
        Error::RootVanished {
            root: PathBuf::from("/r"),
            documents: 2,
        },
        Error::TooLarge {
            what: name(),
            size: 2,
            limit: 1,
        },
        Error::TooMany {
            what: "columns of vectors that were ever imported",
            count: 2,
            limit: 1,
        },
        Error::Encrypted {
            path: name(),
            reason: name(),
        },
        Error::ExtractionLimit {
            path: name(),
            reason: name(),
        },
        Error::ExtractionFailed {
            path: name(),
            reason: name(),
        },
        Error::NoExtractionWorker {
            path: name(),
            reason: "/usr/bin/kb --worker".to_owned(),
        },
        Error::Cancelled,
    ]
}
