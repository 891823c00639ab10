//! Attribute value -> rows that have it: table `facets`.
//!
//! Key: segment as four bytes big-endian (so that keys of a segment lie together in order), facet
//! number as one byte, value as UTF-8. Value: a roaring bitmap of rows in the portable format.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::OnceLock;

use kb_types::SegmentId;
use kb_types::error::{Error, Result};
use roaring::RoaringBitmap;

#[cfg(feature = "ingest")]
use crate::container::Transaction;
use crate::container::{Key, Snapshot, codec};
use crate::store::tables;

/// An attribute of documents that filters know. Numbers are in the registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Facet {
    /// File type.
    Type = 1,
    /// Language.
    Language = 2,
    /// Class.
    Class = 3,
    /// Tag.
    Tag = 4,
    /// Kind of a symbol: a chunk has those of the symbols whose names begin in it, and of the innermost symbol that its
    /// first byte lies in.
    Kind = 5,
    /// What a chunk is for: tests, a changelog, examples. Ordinary chunks have none.
    Role = 6,
    /// What a document states of itself: `name=value`.
    Field = 7,
    /// A document that it links to (see [`crate::store::links`]).
    Link = 8,
    /// What of a document changed since its segment was written (see [`crate::store::fields::columns`]).
    Edited = 9,
}

impl Facet {
    /// All facets, in the order of their numbers.
    pub const ALL: [Facet; 9] = [
        Facet::Type,
        Facet::Language,
        Facet::Class,
        Facet::Tag,
        Facet::Kind,
        Facet::Role,
        Facet::Field,
        Facet::Link,
        Facet::Edited,
    ];
}

/// The facets of one segment while it is written.
#[derive(Debug, Default)]
pub(crate) struct FacetsWriter {
    /// Rows by facet and value.
    rows: BTreeMap<(Facet, String), RoaringBitmap>,
}

impl FacetsWriter {
    /// Says that `rows` have `value`; an empty value says nothing.
    pub(crate) fn add(&mut self, facet: Facet, value: &str, rows: std::ops::Range<u32>) {
        if value.is_empty() || rows.is_empty() {
            return;
        }
        match self.rows.get_mut(&(facet, value.to_owned())) {
            Some(bitmap) => {
                bitmap.insert_range(rows);
            }
            None => {
                let bitmap = RoaringBitmap::from_iter(rows);
                self.rows.insert((facet, value.to_owned()), bitmap);
            }
        }
    }

    /// Says that the rows of a bitmap have `value`.
    #[cfg(feature = "ingest")]
    pub(crate) fn add_rows(&mut self, facet: Facet, value: String, rows: RoaringBitmap) {
        *self.rows.entry((facet, value)).or_default() |= rows;
    }

    /// Writes the rows of the table.
    #[cfg(feature = "ingest")]
    pub(crate) fn finish(
        self,
        transaction: &mut Transaction<'_>,
        segment: SegmentId,
    ) -> Result<()> {
        for ((facet, value), bitmap) in self.rows {
            put(transaction, &key(segment, facet, &value), bitmap)?;
        }
        Ok(())
    }
}

#[cfg(feature = "ingest")]
fn put(transaction: &mut Transaction<'_>, key: &[u8], mut bitmap: RoaringBitmap) -> Result<()> {
    // Runs: documents of one type or tag mostly lie side by side, as rows are in the order of
    // paths.
    bitmap.optimize();
    let mut bytes = Vec::with_capacity(bitmap.serialized_size());
    bitmap.serialize_into(&mut bytes).map_err(Error::storage)?;
    transaction.put(tables::FACETS, Key::Bytes(key), &bytes)
}

/// Says that `rows` of a written segment have the value now, or no longer.
///
/// # Errors
/// [`Error::Damaged`] when the bitmap that is there does not decode; what storage says.
#[cfg(feature = "ingest")]
pub fn change(
    transaction: &mut Transaction<'_>,
    segment: SegmentId,
    facet: Facet,
    value: &str,
    rows: std::ops::Range<u32>,
    have: bool,
) -> Result<()> {
    let key = key(segment, facet, value);
    let before = transaction.get(tables::FACETS, Key::Bytes(&key))?;
    let mut after = before.map_or_else(
        || Ok(RoaringBitmap::new()),
        |bytes| codec::decode_rows(WHAT, &bytes),
    )?;
    if have {
        after.insert_range(rows);
    } else {
        after.remove_range(rows);
    }
    // A key without rows would be named as a value of the file, in messages and completions.
    if after.is_empty() {
        return transaction
            .remove(tables::FACETS, Key::Bytes(&key))
            .map(|_| ());
    }
    put(transaction, &key, after)
}

/// Whether a row of a segment that is being changed has the value.
///
/// # Errors
/// As [`change`].
#[cfg(feature = "ingest")]
pub(crate) fn has_row(
    transaction: &mut Transaction<'_>,
    segment: SegmentId,
    facet: Facet,
    value: &str,
    row: u32,
) -> Result<bool> {
    let rows = transaction.get(tables::FACETS, Key::Bytes(&key(segment, facet, value)))?;
    let rows = rows.map(|bytes| codec::decode_rows(WHAT, &bytes));
    Ok(rows.transpose()?.is_some_and(|rows| rows.contains(row)))
}

/// Removes all facets of a segment.
///
/// # Errors
/// What storage says.
#[cfg(feature = "ingest")]
pub(crate) fn remove_segment(transaction: &mut Transaction<'_>, segment: SegmentId) -> Result<()> {
    let first = segment.0.to_be_bytes();
    let next = segment.0.checked_add(1).map(u32::to_be_bytes);
    transaction.remove_range(
        tables::FACETS,
        &first,
        next.as_ref().map(<[u8; 4]>::as_slice),
    )
}

/// Iterates over the facets of a segment in key order, with one bitmap in memory at a time.
#[derive(Debug)]
pub(crate) struct FacetIter {
    segment: SegmentId,
    /// The current facet; `None` after the last.
    at: Option<(FacetValue, RoaringBitmap)>,
}

/// Number of a facet and a value of it as they stand in a key, behind the segment.
pub(crate) type FacetValue = Vec<u8>;

impl FacetIter {
    /// Starts at the first facet of a segment.
    ///
    /// # Errors
    /// [`Error::Damaged`] when a bitmap does not decode.
    pub(crate) fn start(snapshot: &Snapshot<'_>, segment: SegmentId) -> Result<FacetIter> {
        let at = seek(snapshot, segment, &[])?;
        Ok(FacetIter { segment, at })
    }

    /// The current facet and value.
    pub(crate) fn value(&self) -> Option<&FacetValue> {
        self.at.as_ref().map(|(value, _)| value)
    }

    /// The rows that have it, deleted rows included.
    pub(crate) fn rows(&self) -> &RoaringBitmap {
        static NONE: OnceLock<RoaringBitmap> = OnceLock::new();
        match &self.at {
            Some((_, rows)) => rows,
            None => NONE.get_or_init(RoaringBitmap::new),
        }
    }

    /// Moves to the next facet.
    ///
    /// # Errors
    /// [`Error::Damaged`] when its bitmap does not decode.
    pub(crate) fn advance(&mut self, snapshot: &Snapshot<'_>) -> Result<()> {
        if let Some((mut value, _)) = self.at.take() {
            // The smallest key behind this one. A zero byte, the least that a key can go on with.
            value.push(0);
            self.at = seek(snapshot, self.segment, &value)?;
        }
        Ok(())
    }
}

/// The first facet of a segment from a value on.
fn seek(
    snapshot: &Snapshot<'_>,
    segment: SegmentId,
    value: &[u8],
) -> Result<Option<(FacetValue, RoaringBitmap)>> {
    let Some(table) = snapshot.table(tables::FACETS)? else {
        return Ok(None);
    };
    let prefix = segment.0.to_be_bytes();
    let from = [prefix.as_slice(), value].concat();
    let mut found = None;
    snapshot.range(&table, Key::Bytes(&from), |key, bytes| {
        if let Some(value) = key.strip_prefix(prefix.as_slice()) {
            found = Some((value.to_vec(), codec::decode_rows(WHAT, bytes)?));
        }
        Ok(ControlFlow::Break(()))
    })?;
    Ok(found)
}

/// Says that `rows` of a new segment have a value that [`FacetIter`] gave; none says nothing.
///
/// # Errors
/// What storage says.
#[cfg(feature = "ingest")]
pub(crate) fn put_merged(
    transaction: &mut Transaction<'_>,
    segment: SegmentId,
    value: &FacetValue,
    rows: RoaringBitmap,
) -> Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let key = [segment.0.to_be_bytes().as_slice(), value].concat();
    put(transaction, &key, rows)
}

/// Rows of a segment of `rows` rows that have the value; none when no row has it.
///
/// # Errors
/// [`Error::Damaged`] when the bitmap does not decode or names rows beyond the segment.
pub(crate) fn rows_with(
    snapshot: &Snapshot<'_>,
    segment: SegmentId,
    rows: u32,
    facet: Facet,
    value: &str,
) -> Result<Option<RoaringBitmap>> {
    let Some(table) = snapshot.table(tables::FACETS)? else {
        return Ok(None);
    };
    let row = snapshot.get(&table, Key::Bytes(&key(segment, facet, value)))?;
    let Some(bytes) = row else {
        return Ok(None);
    };
    // Bounded here, so that no later step meets a row that the segment does not have.
    codec::decode_rows_below(WHAT, &bytes, rows).map(Some)
}

/// All values of a facet in a segment, in byte order.
pub(crate) fn values(
    snapshot: &Snapshot<'_>,
    segment: SegmentId,
    facet: Facet,
) -> Result<Vec<String>> {
    values_from(snapshot, segment, facet, "")
}

/// The values of a facet in a segment that begin so, in byte order.
pub(crate) fn values_from(
    snapshot: &Snapshot<'_>,
    segment: SegmentId,
    facet: Facet,
    start: &str,
) -> Result<Vec<String>> {
    let before = key(segment, facet, "").len();
    let prefix = key(segment, facet, start);
    let mut values = Vec::new();
    each_key(snapshot, &prefix, |key, _| {
        let value = key.get(before..).unwrap_or_default();
        let value =
            std::str::from_utf8(value).map_err(|_| Error::damaged("a facet value is not UTF-8"))?;
        values.push(value.to_owned());
        Ok(())
    })?;
    Ok(values)
}

/// Visits the values of a facet in a segment of `rows` rows that begin so, with the rows that have each, in byte order.
///
/// # Errors
/// As [`rows_with`]; what `visit` says.
pub(crate) fn each_value(
    snapshot: &Snapshot<'_>,
    (segment, rows): (SegmentId, u32),
    facet: Facet,
    start: &str,
    mut visit: impl FnMut(&str, RoaringBitmap) -> Result<()>,
) -> Result<()> {
    let before = key(segment, facet, "").len();
    let prefix = key(segment, facet, start);
    each_key(snapshot, &prefix, |key, bitmap| {
        let value = key.get(before..).unwrap_or_default();
        let value =
            std::str::from_utf8(value).map_err(|_| Error::damaged("a facet value is not UTF-8"))?;
        visit(value, codec::decode_rows_below(WHAT, bitmap, rows)?)
    })
}

/// The rows of a segment of `rows` rows that have any value of a facet which begins so and passes.
///
/// # Errors
/// As [`rows_with`].
pub(crate) fn rows_of_values(
    snapshot: &Snapshot<'_>,
    (segment, rows): (SegmentId, u32),
    facet: Facet,
    start: &str,
    passes: impl Fn(&str) -> bool,
) -> Result<RoaringBitmap> {
    let before = key(segment, facet, "").len();
    let prefix = key(segment, facet, start);
    let mut all = RoaringBitmap::new();
    each_key(snapshot, &prefix, |key, bitmap| {
        let value = key.get(before..).unwrap_or_default();
        let value =
            std::str::from_utf8(value).map_err(|_| Error::damaged("a facet value is not UTF-8"))?;
        if passes(value) {
            all |= codec::decode_rows_below(WHAT, bitmap, rows)?;
        }
        Ok(())
    })?;
    Ok(all)
}

/// What errors call a stored bitmap.
const WHAT: &str = "a facet bitmap";

fn each_key(
    snapshot: &Snapshot<'_>,
    prefix: &[u8],
    mut visit: impl FnMut(&[u8], &[u8]) -> Result<()>,
) -> Result<()> {
    let Some(table) = snapshot.table(tables::FACETS)? else {
        return Ok(());
    };
    snapshot.range(&table, Key::Bytes(prefix), |key, value| {
        if !key.starts_with(prefix) {
            return Ok(ControlFlow::Break(()));
        }
        visit(key, value)?;
        Ok(ControlFlow::Continue(()))
    })
}

fn key(segment: SegmentId, facet: Facet, value: &str) -> Vec<u8> {
    let mut key = segment.0.to_be_bytes().to_vec();
    key.push(facet as u8);
    key.extend_from_slice(value.as_bytes());
    key
}
