//! Columns of fields: the values that many documents of a segment have under one name, as conditions ask for them.
//!
//! A field of a kind is a column where a segment has many values of it (see [`writer`]); few values are facets, see
//! [`crate::store::facets`]. Table `fields` has a row for each column of a segment, and the texts and keys lie in one
//! column of extents. Segments never change: the fields of a document that change afterwards are facets, and the facet
//! `edited` says which rows of the columns no longer count.

#[cfg(feature = "ingest")]
pub(crate) mod edit;
pub(crate) mod order;
pub(crate) mod reader;
mod strips;
pub(crate) mod texts;
#[cfg(feature = "ingest")]
pub(crate) mod writer;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use kb_types::SegmentId;
use kb_types::error::{Error, Result};
use wincode::{SchemaRead, SchemaWrite};

#[cfg(feature = "ingest")]
use crate::container::Transaction;
use crate::container::codec::decode_record;
#[cfg(feature = "ingest")]
use crate::container::codec::encode_record;
use crate::container::{Key, Snapshot};
use crate::store::fields::{FieldValue, facet, facets_of, normalized};
use crate::store::tables;
use order::ValueKind;
#[cfg(feature = "testing")]
pub use strips::STRIP_SLOTS;

const FIELD_VERSION: u8 = 1;

/// Rows of a block.
// A block is 2 to 40 KB for most fields, which wastes little of the extents that it shares, and a segment of 2^24 rows
// has 1,024 of them.
pub const BLOCK_ROWS: u32 = 1 << 14;

/// Value of the facet `edited`: the rows whose fields changed since their segment was written.
pub(crate) const EDITED: &str = "fields";

/// The row of a column.
#[derive(Debug, Clone, Default, PartialEq, Eq, SchemaRead, SchemaWrite)]
pub(crate) struct FieldRecord {
    /// Distinct texts; 0 for other kinds.
    texts: u32,
    /// Bytes of each block of these.
    text_blocks: Vec<u32>,
    /// Position of the first block of texts or keys; the others follow without gaps.
    position: u64,
    /// Blocks of keys, by ascending layer and number.
    blocks: Vec<BlockRecord>,
}

/// What is known of a block of keys.
#[derive(Debug, Clone, PartialEq, Eq, SchemaRead, SchemaWrite)]
struct BlockRecord {
    /// Which value of its rows it has: the first, the second.
    layer: u8,
    /// Which rows of the segment, in blocks of [`BLOCK_ROWS`].
    number: u16,
    /// Which of them have a value: see [`reader`].
    form: u8,
    /// Slots of its strips.
    slots: u32,
    /// Its bytes.
    len_bytes: u32,
}

/// All rows of the block have a value.
const FORM_ALL: u8 = 0;
/// A bitmap says which rows have one.
const FORM_BITMAP: u8 = 1;
/// A list says which rows have one.
const FORM_LIST: u8 = 2;

/// The facet of a value, the same for all texts that are read as it.
pub(crate) fn facet_of(name: &str, value: &FieldValue) -> String {
    facet(name, &normalized(&value.to_string()))
}

/// The fields that a document with some metadata is found by: name and value by the facet of both.
pub(crate) fn stored_values(
    metadata: &[(String, String)],
) -> BTreeMap<String, (String, FieldValue)> {
    let mut values = BTreeMap::new();
    for facet in facets_of(metadata) {
        if let Some((name, value)) = facet.split_once('=') {
            let value = FieldValue::of_text(value);
            values.insert(facet_of(name, &value), (name.to_owned(), value));
        }
    }
    values
}

fn key(segment: SegmentId, name: &str, kind: ValueKind) -> Vec<u8> {
    let mut key = segment.0.to_be_bytes().to_vec();
    key.extend_from_slice(name.as_bytes());
    key.extend([b'=', kind as u8]);
    key
}

/// The column of a field in a segment.
fn record(
    snapshot: &Snapshot<'_>,
    segment: SegmentId,
    name: &str,
    kind: ValueKind,
) -> Result<Option<FieldRecord>> {
    let Some(table) = snapshot.table(tables::FIELDS)? else {
        return Ok(None);
    };
    let row = snapshot.get(&table, Key::Bytes(&key(segment, name, kind)))?;
    let decode = |row: Vec<u8>| decode_record("a field", FIELD_VERSION, &row);
    row.map(decode).transpose()
}

/// Which columns a segment has.
///
/// # Errors
/// [`Error::Damaged`] for a key that is none.
pub(crate) fn names(
    snapshot: &Snapshot<'_>,
    segment: SegmentId,
) -> Result<BTreeSet<(String, ValueKind)>> {
    let mut names = BTreeSet::new();
    let Some(table) = snapshot.table(tables::FIELDS)? else {
        return Ok(names);
    };
    let prefix = segment.0.to_be_bytes();
    snapshot.range(&table, Key::Bytes(&prefix), |key, _| {
        let Some(key) = key.strip_prefix(&prefix) else {
            return Ok(ControlFlow::Break(()));
        };
        let name = match key {
            [name @ .., b'=', kind] => {
                let name = str::from_utf8(name).ok();
                name.map(str::to_owned).zip(ValueKind::numbered(*kind))
            }
            _ => None,
        };
        names.insert(name.ok_or_else(|| Error::damaged("a key of table fields"))?);
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(names)
}

/// Whether a column of a segment that is being changed has values of a field.
///
/// # Errors
/// What storage says.
#[cfg(feature = "ingest")]
pub(crate) fn is_column(
    transaction: &mut Transaction<'_>,
    segment: SegmentId,
    name: &str,
    kind: ValueKind,
) -> Result<bool> {
    let row = transaction.get(tables::FIELDS, Key::Bytes(&key(segment, name, kind)))?;
    Ok(row.is_some())
}

#[cfg(feature = "ingest")]
fn put(
    transaction: &mut Transaction<'_>,
    segment: SegmentId,
    (name, kind): (&str, ValueKind),
    record: &FieldRecord,
) -> Result<()> {
    let row = encode_record(FIELD_VERSION, record)?;
    let key = key(segment, name, kind);
    transaction.put(tables::FIELDS, Key::Bytes(&key), &row)
}

/// Removes the rows of a segment.
///
/// # Errors
/// What storage says.
#[cfg(feature = "ingest")]
pub(crate) fn remove_segment(transaction: &mut Transaction<'_>, segment: SegmentId) -> Result<()> {
    let first = segment.0.to_be_bytes();
    let next = segment.0.checked_add(1).map(u32::to_be_bytes);
    let end = next.as_ref().map(<[u8; 4]>::as_slice);
    transaction.remove_range(tables::FIELDS, &first, end)
}
