//! Deleted chunks of a segment: table `deleted`.
//!
//! Segments are never changed. A document that goes or is written anew leaves its rows behind; they
//! are named here, and nothing answers from them, until a merge leaves them out.

use kb_types::SegmentId;
use kb_types::error::{Error, Result};
use roaring::RoaringBitmap;
use wincode::{SchemaRead, SchemaWrite};

#[cfg(feature = "ingest")]
use crate::container::Transaction;
use crate::container::codec::{decode_record, decode_rows_below, encode_record};
use crate::container::{Key, Snapshot};
use crate::store::tables;

const DELETED_VERSION: u8 = 1;

/// What of a segment is deleted.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Deleted {
    /// The rows.
    pub rows: RoaringBitmap,
    /// Documents that they belonged to.
    pub documents: u32,
    /// Bytes of their text.
    pub text_bytes: u64,
    /// Sum of their lengths in terms.
    pub total_length: u64,
}

#[derive(Debug, SchemaRead, SchemaWrite)]
struct DeletedRecord {
    // Sums beside the rows: a catalog needs them at each opening, and without them would have to
    // read the chunks.
    documents: u32,
    text_bytes: u64,
    total_length: u64,
    rows: Vec<u8>,
}

impl Deleted {
    /// Reads what is deleted of a segment with so many rows; `None`: nothing.
    ///
    /// # Errors
    /// [`Error::Damaged`] when the record does not decode or names rows beyond the segment.
    pub fn read(snapshot: &Snapshot<'_>, segment: SegmentId, rows: u32) -> Result<Option<Deleted>> {
        let Some(table) = snapshot.table(tables::DELETED)? else {
            return Ok(None);
        };
        let key = Key::U64(u64::from(segment.0));
        match snapshot.get(&table, key)? {
            Some(row) => decode(&row, rows).map(Some),
            None => Ok(None),
        }
    }

    /// Writes the record; none when no document is deleted.
    #[cfg(feature = "ingest")]
    pub fn write(&self, transaction: &mut Transaction<'_>, segment: SegmentId) -> Result<()> {
        // A segment without a row is the common case, and then costs no look at a bitmap.
        if self.documents == 0 {
            return remove(transaction, segment);
        }
        let mut rows = self.rows.clone();
        // Runs: documents are deleted whole, and their rows lie together.
        rows.optimize();
        let mut bytes = Vec::with_capacity(rows.serialized_size());
        rows.serialize_into(&mut bytes).map_err(Error::storage)?;
        let record = DeletedRecord {
            documents: self.documents,
            text_bytes: self.text_bytes,
            total_length: self.total_length,
            rows: bytes,
        };
        let row = encode_record(DELETED_VERSION, &record)?;
        transaction.put(tables::DELETED, Key::U64(u64::from(segment.0)), &row)
    }
}

/// Forgets what was deleted of a segment that is no more.
#[cfg(feature = "ingest")]
pub(crate) fn remove(transaction: &mut Transaction<'_>, segment: SegmentId) -> Result<()> {
    transaction
        .remove(tables::DELETED, Key::U64(u64::from(segment.0)))
        .map(|_| ())
}

fn decode(row: &[u8], limit: u32) -> Result<Deleted> {
    let record: DeletedRecord = decode_record("deleted chunks", DELETED_VERSION, row)?;
    // Rows beyond the segment would be subtracted from its live rows, and make these fewer than
    // none.
    let rows = decode_rows_below("the bitmap of deleted chunks", &record.rows, limit)?;
    Ok(Deleted {
        rows,
        documents: record.documents,
        text_bytes: record.text_bytes,
        total_length: record.total_length,
    })
}
