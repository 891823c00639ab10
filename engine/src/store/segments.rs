//! Segment records: what a segment holds and where its columns lie.

use kb_types::SegmentId;
use kb_types::error::{Error, Result};
use wincode::{SchemaRead, SchemaWrite};

#[cfg(feature = "ingest")]
use crate::container::Transaction;
use crate::container::codec::{decode_record, encode_record};
use crate::container::column::ColumnRecord;
use crate::container::{Key, Snapshot};
#[cfg(feature = "ingest")]
use crate::store::fields;
use crate::store::{deleted, facets, tables};

const SEGMENT_VERSION: u8 = 3;

/// Version of the records of segments without vectors of other models.
// Still written where it says all, so a file without such vectors has the bytes that it had before there were any.
const BARE_VERSION: u8 = 2;

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
    /// Vectors of other models, by ascending number; only those that some row has.
    pub more_vectors: Vec<MoreVectors>,
}

/// The vectors of one column in a segment.
#[derive(Debug, Clone, PartialEq, Eq, SchemaRead, SchemaWrite)]
pub struct MoreVectors {
    /// Number of the column.
    pub number: u16,
    /// Record of their vector index, in its own versioned form.
    pub vector_index: Vec<u8>,
    /// Rows with a vector: a roaring bitmap, portable format.
    pub present: Vec<u8>,
}

/// Version 2 of the row.
#[derive(Debug, SchemaRead, SchemaWrite)]
struct BareRecord {
    rows: u32,
    documents: u32,
    text_bytes: u64,
    columns: Vec<ColumnRecord>,
    text_index: Vec<u8>,
    vector_index: Vec<u8>,
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
        SegmentRecord::decode(&row)
    }

    fn decode(row: &[u8]) -> Result<SegmentRecord> {
        if row.first() != Some(&BARE_VERSION) {
            return decode_record("a segment", SEGMENT_VERSION, row);
        }
        let bare: BareRecord = decode_record("a segment", BARE_VERSION, row)?;
        Ok(SegmentRecord {
            rows: bare.rows,
            documents: bare.documents,
            text_bytes: bare.text_bytes,
            columns: bare.columns,
            text_index: bare.text_index,
            vector_index: bare.vector_index,
            more_vectors: Vec::new(),
        })
    }

    /// The row: in version 2 where that says all.
    fn encode(&self) -> Result<Vec<u8>> {
        if !self.more_vectors.is_empty() {
            return encode_record(SEGMENT_VERSION, self);
        }
        let bare = BareRecord {
            rows: self.rows,
            documents: self.documents,
            text_bytes: self.text_bytes,
            columns: self.columns.clone(),
            text_index: self.text_index.clone(),
            vector_index: self.vector_index.clone(),
        };
        encode_record(BARE_VERSION, &bare)
    }

    /// Writes the record.
    #[cfg(feature = "ingest")]
    pub fn write(&self, transaction: &mut Transaction<'_>, segment: SegmentId) -> Result<()> {
        let row = self.encode()?;
        transaction.put(tables::SEGMENTS, Key::U64(u64::from(segment.0)), &row)
    }
}

/// Removes a segment with its columns, facets and deleted chunks. Its documents are not looked at.
#[cfg(feature = "ingest")]
pub(crate) fn remove(transaction: &mut Transaction<'_>, segment: SegmentId) -> Result<()> {
    transaction.remove(tables::SEGMENTS, Key::U64(u64::from(segment.0)))?;
    transaction.delete_table(&tables::segment_table(segment))?;
    facets::remove_segment(transaction, segment)?;
    fields::columns::remove_segment(transaction, segment)?;
    deleted::remove(transaction, segment)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_vectors_of_other_models_need_the_new_version() {
        let mut record = SegmentRecord {
            rows: 3,
            documents: 1,
            text_bytes: 900,
            columns: Vec::new(),
            text_index: vec![1, 2],
            vector_index: vec![3],
            more_vectors: Vec::new(),
        };
        let bare = record.encode().unwrap();
        assert_eq!(bare.first(), Some(&BARE_VERSION));
        assert_eq!(SegmentRecord::decode(&bare).unwrap(), record);
        record.more_vectors.push(MoreVectors {
            number: 7,
            vector_index: vec![4],
            present: vec![5, 6],
        });
        let row = record.encode().unwrap();
        assert_eq!(row.first(), Some(&SEGMENT_VERSION));
        assert_eq!(SegmentRecord::decode(&row).unwrap(), record);
        // What version 2 has comes first, as it was.
        assert_eq!(row[1..bare.len()], bare[1..]);
        for len in 0..row.len() {
            assert!(SegmentRecord::decode(&row[..len]).is_err(), "{len}");
        }
        for version in [BARE_VERSION - 1, SEGMENT_VERSION + 1] {
            let other = [&[version], &row[1..]].concat();
            let error = SegmentRecord::decode(&other).unwrap_err();
            assert_eq!(error.code(), "FORMAT_UNSUPPORTED");
        }
    }
}
