//! Deleted rows: they are no results, and the statistics do not count them.

use kb_types::error::Result;
use roaring::RoaringBitmap;

use crate::bitset::BitSet;
use crate::index::keyword::postings::list::Postings;
use crate::index::keyword::postings::reader::Reader;

/// Cost of seeking a row, in postings read in order.
// A seek may decode a whole block of 128 postings, but often stays in the loaded one. Only the
// choice of the faster way depends on it, not the result.
const SEEK_COST: u64 = 32;

/// The deleted rows of a segment.
#[derive(Debug)]
pub(crate) struct DeletedRows<'a> {
    /// The rows as a compressed bitmap.
    rows: &'a RoaringBitmap,
    /// One bit for each row of the segment.
    bits: BitSet,
}

impl<'a> DeletedRows<'a> {
    /// # Errors
    /// As [`BitSet::from_roaring`].
    pub(crate) fn new(rows: &'a RoaringBitmap, of: &Reader<'_>) -> Result<DeletedRows<'a>> {
        Ok(DeletedRows {
            rows,
            bits: BitSet::from_roaring(rows, of.rows())?,
        })
    }

    /// Whether a row is deleted.
    pub(crate) fn contains(&self, row: u32) -> bool {
        self.bits.contains(row)
    }

    /// The number of postings of a list that are of deleted rows.
    ///
    /// Seeks each deleted row when they are few; else reads the list, about a nanosecond a posting.
    ///
    /// # Errors
    /// [`crate::Error::Damaged`] when a block contradicts the format.
    pub(crate) fn count(&self, reader: &Reader<'_>, list: &Postings<'_>) -> Result<u32> {
        let mut cursor = reader.cursor(list)?;
        let mut count = 0;
        if self.rows.len() * SEEK_COST < u64::from(list.count()) {
            let mut deleted = self.rows.iter();
            while let Some(row) = deleted.next() {
                match cursor.seek_row(row)? {
                    None => break,
                    Some(there) if there == row => count += 1,
                    Some(there) => deleted.advance_to(there),
                }
            }
            return Ok(count);
        }
        cursor.for_each_rows(|rows| {
            let gone = rows.iter().map(|row| u32::from(self.bits.contains(*row)));
            count += gone.sum::<u32>();
        })?;
        Ok(count)
    }
}

/// The rows of a segment that may answer: those of `filter` that are not deleted. `None`: all.
///
/// # Errors
/// As [`BitSet::from_roaring`].
pub(crate) fn allowed(
    rows: u32,
    filter: Option<&RoaringBitmap>,
    deleted: Option<&DeletedRows<'_>>,
) -> Result<Option<BitSet>> {
    let mut bits = match (filter, deleted) {
        (None, None) => return Ok(None),
        (Some(filter), _) => BitSet::from_roaring(filter, rows)?,
        (None, Some(_)) => BitSet::all(rows),
    };
    if let Some(deleted) = deleted {
        bits.remove(&deleted.bits);
    }
    Ok(Some(bits))
}

/// Sum of the lengths of some rows in terms: what deleting them subtracts from
/// [`Statistics::total_length`](crate::index::keyword::Statistics::total_length). Some nanoseconds
/// a row.
///
/// # Errors
/// [`crate::Error::Damaged`] when there is no such row or its bytes fail their checks.
pub(crate) fn total_length_of(reader: &Reader<'_>, rows: &RoaringBitmap) -> Result<u64> {
    let mut lengths = reader.fieldnorms();
    let mut total = 0;
    for row in rows {
        total += u64::from(lengths.exact(row)?);
    }
    Ok(total)
}

#[cfg(test)]
mod tests;
