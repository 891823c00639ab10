//! Documents that are written again as they are, and what a changed one keeps.

use kb_types::{Document, DocumentId};

use crate::ingest::prepare::preparer::{Chunking, Source};

/// What stays of a document when its content changes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PreservedFields {
    /// Last part of its handle.
    pub suffix: String,
    /// Its tags, ascending.
    pub tags: Vec<String>,
    /// When it came into the file, milliseconds since 1970.
    pub added_ms: i64,
}

/// A document that was read and cut before.
#[derive(Debug)]
pub(crate) struct PreservedDocument {
    /// Number of the document, which stays.
    pub id: DocumentId,
    /// What stays of it.
    pub fields: PreservedFields,
    /// Document path.
    pub path: String,
    /// It, until it is prepared.
    pub parts: Option<(Document, Source, Chunking)>,
}
