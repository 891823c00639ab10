//! What a caller gives beside the text of a document.

use kb_extract::worker::extraction::Extraction;
use kb_types::Document;
use kb_types::error::Result;

use crate::ingest::clock::now_ms;
use crate::ingest::prepare::preparer::Source;

/// What the .kb stores about the file that a document was made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceInfo {
    /// Bytes of the file.
    pub size_bytes: u64,
    /// When it was changed, milliseconds since 1970.
    pub modified_ms: i64,
    /// blake3 of its bytes.
    pub hash: [u8; 32],
}

impl SourceInfo {
    /// Size and hash of `bytes`, with the time now.
    pub fn of(bytes: &[u8]) -> SourceInfo {
        SourceInfo {
            size_bytes: bytes.len() as u64,
            modified_ms: now_ms(),
            hash: *blake3::hash(bytes).as_bytes(),
        }
    }
}

impl From<SourceInfo> for Source {
    fn from(info: SourceInfo) -> Source {
        Source {
            root: None,
            size_bytes: info.size_bytes,
            modified_ms: info.modified_ms,
            hash: info.hash,
        }
    }
}

/// The document that the bytes of a file are, by [`Extraction::extract`] of the default of this process.
///
/// # Errors
/// As [`Extraction::extract`].
pub fn document_of(path: &str, bytes: &[u8]) -> Result<Document> {
    Extraction::default().extract(path, bytes)
}
