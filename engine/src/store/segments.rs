//! Segment records: what a segment holds and where its columns lie.

use wincode::{SchemaRead, SchemaWrite};

#[cfg(feature = "ingest")]
use crate::container::Transaction;
use crate::container::codec::{decode_record, encode_record};
use crate::container::column::ColumnRecord;
use crate::container::{Key, Snapshot};
use crate::error::{Error, Result};
use crate::store::{deleted, facets, tables};
use crate::types::SegmentId;

const SEGMENT_VERSION: u8 = 2;

/// Version of the records of segments that were written before 0.10: with the rows of chunks in column 1, which is
/// why a program that knows no other shall refuse the newer ones.
const WHOLE_ROWS_VERSION: u8 = 1;

/// Row of table `segs`.
#[derive(Debug, Clone, PartialEq, Eq, SchemaRead, SchemaWrite)]
pub struct SegmentRecord {
    /// Chunk rows.
    pub rows: u32,
    /// Documents with chunks in it.
    pub documents: u32,
    /// Bytes of stored text.
    pub text_bytes: u64,
    /// All columns of the segment, by ascending column number.
    pub columns: Vec<ColumnRecord>,
    /// Record of the text index, in its own versioned form.
    pub text_index: Vec<u8>,
    /// Record of the vector index, in its own versioned form.
    pub vector_index: Vec<u8>,
}

impl SegmentRecord {
    /// Reads the record of a segment that the manifest names.
    ///
    /// # Errors
    /// [`Error::Damaged`] when it is missing or does not decode.
    pub fn read(snapshot: &Snapshot<'_>, segment: SegmentId) -> Result<SegmentRecord> {
        let missing = || Error::damaged(format!("segment {} is named but missing", segment.0));
        let table = snapshot.table(tables::SEGMENTS)?.ok_or_else(missing)?;
        let row = snapshot
            .get(&table, Key::U64(u64::from(segment.0)))?
            .ok_or_else(missing)?;
        let version = match row.first() {
            Some(&WHOLE_ROWS_VERSION) => WHOLE_ROWS_VERSION,
            _ => SEGMENT_VERSION,
        };
        decode_record("a segment", version, &row)
    }

    /// Writes the record.
    #[cfg(feature = "ingest")]
    pub fn write(&self, transaction: &mut Transaction<'_>, segment: SegmentId) -> Result<()> {
        let row = encode_record(SEGMENT_VERSION, self)?;
        transaction.put(tables::SEGMENTS, Key::U64(u64::from(segment.0)), &row)
    }
}

/// Removes a segment with its columns, facets and deleted chunks. Its documents are not looked at.
#[cfg(feature = "ingest")]
pub fn remove(transaction: &mut Transaction<'_>, segment: SegmentId) -> Result<()> {
    transaction.remove(tables::SEGMENTS, Key::U64(u64::from(segment.0)))?;
    transaction.delete_table(&tables::segment_table(segment))?;
    facets::remove_segment(transaction, segment)?;
    deleted::remove(transaction, segment)
}
