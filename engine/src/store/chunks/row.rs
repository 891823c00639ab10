//! What a row of chunks says.

use kb_types::{DocumentId, Lines};

/// A chunk without the byte at which it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkRow {
    /// The document it belongs to.
    pub document: DocumentId,
    /// Where its bytes end.
    pub end: u32,
    /// Its lines.
    pub lines: Lines,
}
