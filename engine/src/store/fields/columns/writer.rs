//! The values of fields of a segment that is written: columns where there are many, else facets.

use std::collections::BTreeMap;
use std::ops::Range;

use kb_types::SegmentId;
use kb_types::error::{Error, Result};
use roaring::RoaringBitmap;
use rustc_hash::FxHashMap;

use super::order::{ValueKind, key_of};
use super::strips::{self, STRIP_SLOTS};
use super::{
    BLOCK_ROWS, BlockRecord, FORM_ALL, FORM_BITMAP, FORM_LIST, FieldRecord, facet_of, put, texts,
};
use crate::container::Transaction;
use crate::container::column::{ColumnRecord, ColumnWriter, ExtentSink};
use crate::store::fields::FieldValue;
use crate::store::tables;

/// Values of a field from which on a segment has a column of them. Fewer are facets: the extents of a column need a
/// page of 4 KB at least, and a few bitmaps are read as fast.
const MIN_VALUES: usize = if cfg!(test) { 4 } else { 64 };

/// Distinct texts of a field from which on a segment has a column of them. Fewer are facets: one bitmap answers what is
/// mostly asked, which documents have a text.
const MIN_TEXTS: usize = if cfg!(test) { 3 } else { 64 };

/// Longest name of a column, in bytes; fields with longer ones are facets.
const NAME_LIMIT_BYTES: usize = 1024;

/// Largest page order of the extents of columns: `4096 << 6` = 256 KiB.
// Blocks of keys have up to 40 KB. In extents of 64 KiB a third of the last page would be empty.
const EXTENT_ORDER: u8 = 6;

/// Bytes of memory that a row with a value takes.
const PAIR_BYTES: usize = size_of::<(u32, u64)>();

/// The values of fields of some rows, while a segment is written.
#[derive(Debug, Default)]
pub(crate) struct FieldsWriter {
    columns: BTreeMap<(String, ValueKind), Values>,
    /// Rows of values that no column has.
    facets: BTreeMap<String, RoaringBitmap>,
    /// Rough bytes of memory.
    memory_bytes: usize,
}

/// The values of one kind that some rows have under one name.
#[derive(Debug, Default)]
pub(crate) struct Values {
    /// Rows by text, while these are few.
    few: BTreeMap<String, RoaringBitmap>,
    /// Numbers of texts, in the order in which they came.
    numbers: FxHashMap<String, u32>,
    /// Rows with keys; of texts their numbers.
    pairs: Vec<(u32, u64)>,
}

impl FieldsWriter {
    /// Says that rows have a value of a field.
    pub(crate) fn add(&mut self, name: &str, value: &FieldValue, rows: Range<u32>) {
        match ValueKind::of(value) {
            Some(kind) if name.len() <= NAME_LIMIT_BYTES => {
                let values = match self.columns.get_mut(&(name.to_owned(), kind)) {
                    Some(values) => values,
                    None => self.columns.entry((name.to_owned(), kind)).or_default(),
                };
                self.memory_bytes += PAIR_BYTES * rows.len();
                values.add(value, rows);
            }
            _ => {
                let rows_of = self.facets.entry(facet_of(name, value)).or_default();
                rows_of.insert_range(rows);
            }
        }
    }

    /// Says that the rows of a bitmap have the value of a facet `name=value`.
    pub(crate) fn add_facet(&mut self, of_field: &str, rows: &RoaringBitmap) {
        if let Some((name, value)) = of_field.split_once('=') {
            let value = FieldValue::of_text(value);
            for row in rows {
                self.add(name, &value, row..row.saturating_add(1));
            }
        }
    }

    /// Rough bytes of memory that the values take.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.memory_bytes
    }

    /// The names and kinds so far.
    pub(crate) fn names(&self) -> impl Iterator<Item = &(String, ValueKind)> {
        self.columns.keys()
    }

    /// What has no kind that columns have.
    pub(crate) fn into_facets(self) -> BTreeMap<String, RoaringBitmap> {
        self.facets
    }

    /// Takes the values of a field.
    pub(crate) fn take(&mut self, name: &(String, ValueKind)) -> Values {
        self.columns.remove(name).unwrap_or_default()
    }

    /// Writes all columns and gives the record of the extents, if there are any, and what becomes facets.
    ///
    /// # Errors
    /// What storage says.
    pub(crate) fn finish(
        mut self,
        transaction: &mut Transaction<'_>,
        segment: SegmentId,
        rows: u32,
    ) -> Result<WrittenFields> {
        let mut columns = ColumnsWriter::new(segment, rows);
        while let Some(((name, kind), values)) = self.columns.pop_first() {
            columns.put(transaction, (&name, kind), values)?;
        }
        columns.finish(transaction, self.facets)
    }
}

/// What [`ColumnsWriter`] wrote, and what is to be written as facets.
pub(crate) struct WrittenFields {
    /// The extents; `None` where no field is a column.
    pub(crate) column: Option<ColumnRecord>,
    /// Facets `name=value`.
    pub(crate) facets: BTreeMap<String, RoaringBitmap>,
}

impl Values {
    /// Says that rows have a value, which is of the kind of the others.
    pub(crate) fn add(&mut self, value: &FieldValue, rows: Range<u32>) {
        let FieldValue::Text(text) = value else {
            // Booleans are not values of columns.
            let key = key_of(value).unwrap_or_default();
            return self.pairs.extend(rows.map(|row| (row, key)));
        };
        if let Some(of_text) = self.few.get_mut(text) {
            of_text.insert_range(rows);
            return;
        }
        let is_few = self.numbers.is_empty() && self.few.len() < MIN_TEXTS;
        if is_few {
            let of_text = RoaringBitmap::from_iter(rows);
            self.few.insert(text.clone(), of_text);
            return;
        }
        for (text, rows) in std::mem::take(&mut self.few) {
            let number = self.number(&text);
            self.pairs.extend(rows.into_iter().map(|row| (row, number)));
        }
        let number = self.number(text);
        self.pairs.extend(rows.map(|row| (row, number)));
    }

    fn number(&mut self, text: &str) -> u64 {
        if let Some(number) = self.numbers.get(text) {
            return u64::from(*number);
        }
        // Each has a row, of which there are less than 2^32.
        let number = self.numbers.len() as u32;
        self.numbers.insert(text.to_owned(), number);
        u64::from(number)
    }

    /// The texts in their order; the numbers of the pairs are their places then.
    fn sorted_texts(&mut self) -> Vec<String> {
        let mut texts: Vec<(String, u32)> = std::mem::take(&mut self.numbers).into_iter().collect();
        texts.sort_unstable();
        let mut places = vec![0u64; texts.len()];
        for ((_, number), place) in texts.iter().zip(0..) {
            if let Some(of_number) = places.get_mut(*number as usize) {
                *of_number = place;
            }
        }
        for (_, key) in &mut self.pairs {
            let place = usize::try_from(*key).ok().and_then(|at| places.get(at));
            *key = place.copied().unwrap_or_default();
        }
        texts.into_iter().map(|(text, _)| text).collect()
    }
}

/// Writes the columns of fields one after the other.
#[derive(Debug)]
pub(crate) struct ColumnsWriter {
    segment: SegmentId,
    /// Rows of the segment.
    rows: u32,
    column: ColumnWriter,
    /// Values that are few.
    facets: BTreeMap<String, RoaringBitmap>,
}

impl ColumnsWriter {
    /// For a segment of so many rows.
    pub(crate) fn new(segment: SegmentId, rows: u32) -> ColumnsWriter {
        ColumnsWriter {
            segment,
            rows,
            column: ColumnWriter::items(segment, tables::FIELD_VALUES, EXTENT_ORDER),
            facets: BTreeMap::new(),
        }
    }

    /// Writes the values of one field, or keeps them as facets.
    ///
    /// # Errors
    /// What storage says.
    pub(crate) fn put(
        &mut self,
        transaction: &mut Transaction<'_>,
        (name, kind): (&str, ValueKind),
        mut values: Values,
    ) -> Result<()> {
        for (text, rows) in std::mem::take(&mut values.few) {
            let of_facet = facet_of(name, &FieldValue::Text(text));
            *self.facets.entry(of_facet).or_default() |= rows;
        }
        let texts = match kind {
            ValueKind::Text => values.sorted_texts(),
            _ => Vec::new(),
        };
        values.pairs.sort_unstable();
        values.pairs.dedup();
        if kind != ValueKind::Text && values.pairs.len() < MIN_VALUES {
            for (row, key) in values.pairs {
                if let Some(value) = kind.value(key) {
                    let of_facet = facet_of(name, &value);
                    self.facets.entry(of_facet).or_default().insert(row);
                }
            }
            return Ok(());
        }
        if values.pairs.is_empty() {
            return Ok(());
        }
        let record = encode(
            &mut self.column,
            transaction,
            self.rows,
            (texts, values.pairs),
        )?;
        put(transaction, self.segment, (name, kind), &record)
    }

    /// Writes what is left of the extents; `facets` are more of what becomes facets.
    ///
    /// # Errors
    /// What storage says.
    pub(crate) fn finish(
        self,
        transaction: &mut Transaction<'_>,
        mut facets: BTreeMap<String, RoaringBitmap>,
    ) -> Result<WrittenFields> {
        for (value, rows) in self.facets {
            *facets.entry(value).or_default() |= rows;
        }
        let is_empty = self.column.position() == 0;
        let column = self.column.finish(transaction)?;
        Ok(WrittenFields {
            column: (!is_empty).then_some(column),
            facets,
        })
    }
}

/// Writes the texts and the blocks of a column: sorted pairs of rows and keys.
pub(super) fn encode(
    column: &mut ColumnWriter,
    sink: &mut dyn ExtentSink,
    rows: u32,
    (texts, pairs): (Vec<String>, Vec<(u32, u64)>),
) -> Result<FieldRecord> {
    let mut record = FieldRecord {
        texts: u32::try_from(texts.len()).map_err(|_| too_many())?,
        position: column.position(),
        ..FieldRecord::default()
    };
    let shown: Vec<&str> = texts.iter().map(String::as_str).collect();
    for block in texts::pack(&shown) {
        column.push(sink, &block)?;
        record.text_blocks.push(len_of(&block)?);
    }
    drop(shown);
    drop(texts);
    for (layer, pairs) in (0u8..=u8::MAX).zip(layers(&pairs)) {
        for pairs in pairs.chunk_by(|a, b| a.0 / BLOCK_ROWS == b.0 / BLOCK_ROWS) {
            let number = pairs.first().map_or(0, |(row, _)| row / BLOCK_ROWS);
            let rows = rows.saturating_sub(number * BLOCK_ROWS).min(BLOCK_ROWS);
            let (form, slots, block) = pack(rows as usize, pairs);
            column.push(sink, &block)?;
            record.blocks.push(BlockRecord {
                layer,
                number: u16::try_from(number).map_err(|_| too_many())?,
                form,
                slots: u32::try_from(slots).map_err(|_| too_many())?,
                len_bytes: len_of(&block)?,
            });
        }
    }
    Ok(record)
}

fn len_of(block: &[u8]) -> Result<u32> {
    u32::try_from(block.len()).map_err(|_| too_many())
}

fn too_many() -> Error {
    Error::TooLarge {
        what: "the values of a field".to_owned(),
        size: u64::from(u32::MAX),
        limit: u64::from(u32::MAX),
    }
}

/// Sorted pairs by layer: the first value of each row, the second, and so on.
fn layers(pairs: &[(u32, u64)]) -> Vec<Vec<(u32, u64)>> {
    let mut layers: Vec<Vec<(u32, u64)>> = Vec::new();
    for of_row in pairs.chunk_by(|a, b| a.0 == b.0) {
        for (pair, layer) in of_row.iter().zip(0usize..) {
            match layers.get_mut(layer) {
                Some(layer) => layer.push(*pair),
                None => layers.push(vec![*pair]),
            }
        }
    }
    layers
}

/// The form, the slots and the bytes of a block of so many rows, of which some have keys.
fn pack(rows: usize, pairs: &[(u32, u64)]) -> (u8, usize, Vec<u8>) {
    let keys = || pairs.iter().map(|(_, key)| *key);
    let span = keys().max().unwrap_or(0) - keys().min().unwrap_or(0);
    let width = (64 - span.leading_zeros()) as usize;
    let row_in = |row: u32| (row % BLOCK_ROWS) as usize;
    let mut block = Vec::new();
    let slots: Vec<u64>;
    let form = if pairs.len() == rows {
        slots = keys().collect();
        FORM_ALL
    } else if pairs.len() * (16 + width) < rows * (1 + width) {
        for (row, _) in pairs {
            // Below 2^14.
            block.extend((row_in(*row) as u16).to_le_bytes());
        }
        slots = keys().collect();
        FORM_LIST
    } else {
        block.resize(rows.div_ceil(8), 0);
        // A row without a value takes the key before it, which needs no bits of its own.
        let mut filled = vec![None; rows];
        for (row, key) in pairs {
            let row = row_in(*row);
            if let (Some(byte), Some(slot)) = (block.get_mut(row / 8), filled.get_mut(row)) {
                *byte |= 1 << (row % 8);
                *slot = Some(*key);
            }
        }
        let mut last = keys().next().unwrap_or(0);
        let fill = |slot: Option<u64>| {
            last = slot.unwrap_or(last);
            last
        };
        slots = filled.into_iter().map(fill).collect();
        FORM_BITMAP
    };
    for strip in slots.chunks(STRIP_SLOTS) {
        strips::put(strip, &mut block);
    }
    (form, slots.len(), block)
}
