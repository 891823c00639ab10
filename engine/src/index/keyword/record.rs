//! The three columns of a keyword index, and what the segment record says about them.

use kb_types::error::Result;
use wincode::{SchemaRead, SchemaWrite};

use super::postings::encoding::MAX_NUMBER;
use crate::container::codec::{decode_record, encode_record};
use crate::container::column::{ColumnId, ColumnRecord};

/// Version of the layout of the three columns.
// Apart from the version of the record, which a new field would raise without a change of the
// columns.
pub(super) const FORMAT_VERSION: u16 = 1;

/// Column of the term dictionary: one item for each part.
pub const DICTIONARY: ColumnId = ColumnId(16);

/// Column of the postings: one item for each list, or for each part of a long list.
pub const POSTINGS: ColumnId = ColumnId(17);

/// Column of chunk lengths in terms: rows of two bytes, or four when a chunk is longer than 65,535.
pub const LENGTHS: ColumnId = ColumnId(18);

/// The most rows that a segment can have.
// Rows are packed in at most 24 bits (docs/limits.md).
pub(crate) const MAX_ROWS: u32 = MAX_NUMBER;

/// Page order of full extents: `4096 << 6` = 256 KiB.
// An extent is checksummed when it is first read, so a smaller one makes the first lookup of a term
// cheaper. But a part of a list, up to 600 KB, must fit one item: `push` puts it into an extent of
// its own, up to 1 MiB.
pub(crate) const COLUMN_ORDER: u8 = 6;

/// What the segment record says about one part of the dictionary.
#[derive(Debug, Clone, PartialEq, Eq, SchemaRead, SchemaWrite)]
pub struct DictionaryPart {
    /// Its first term.
    pub first_term: Vec<u8>,
    /// Logical position of the part in its column.
    pub position: u64,
    /// Bytes of the part.
    pub len_bytes: u32,
}

/// What the segment record says about its keyword index.
#[derive(Debug, Clone, PartialEq, Eq, SchemaRead, SchemaWrite)]
pub struct KeywordRecord {
    /// [`FORMAT_VERSION`] of the columns.
    pub version: u16,
    /// Chunks of the segment.
    pub rows: u32,
    /// Sum of their lengths in terms.
    pub total_length: u64,
    /// Distinct terms.
    pub terms: u64,
    /// Column of the term dictionary.
    pub dictionary: ColumnRecord,
    /// Parts of the dictionary, in the order of their terms.
    pub dictionary_parts: Vec<DictionaryPart>,
    /// Column of the postings.
    pub postings: ColumnRecord,
    /// Column of the chunk lengths.
    pub lengths: ColumnRecord,
}

/// Version of the encoded record.
const RECORD_VERSION: u8 = 1;

impl KeywordRecord {
    /// The bytes stored in the segment record.
    pub fn encode(&self) -> Result<Vec<u8>> {
        encode_record(RECORD_VERSION, self)
    }

    /// Reads the bytes that [`KeywordRecord::encode`] made.
    ///
    /// # Errors
    /// [`crate::Error::FormatUnsupported`] for another version, [`crate::Error::Damaged`] for bytes
    /// that are not a record.
    pub fn decode(bytes: &[u8]) -> Result<KeywordRecord> {
        decode_record("a text index", RECORD_VERSION, bytes)
    }

    /// The columns, by ascending number.
    pub fn columns(&self) -> [&ColumnRecord; 3] {
        [&self.dictionary, &self.postings, &self.lengths]
    }
}
