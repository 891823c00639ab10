//! Documents that are written again as they are, and what a changed one keeps.

use kb_types::{Document, DocumentId};

use crate::ingest::prepare::preparer::{Chunking, Source};

/// What people give a document beside its content.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Given {
    /// Its tags, ascending; those that it states among them.
    pub tags: Vec<String>,
    /// Pairs of metadata, in the place of what it states under their names.
    pub fields: Vec<(String, String)>,
}

impl Given {
    /// The tags alone, ascending.
    pub(crate) fn of_tags(tags: Vec<String>) -> Given {
        Given {
            tags,
            fields: Vec::new(),
        }
    }
}

/// What stays of a document when its content changes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PreservedFields {
    /// Last part of its handle.
    pub suffix: String,
    /// What people gave it.
    pub given: Given,
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
