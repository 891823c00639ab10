//! The columns of fields of a segment -> rows.
//!
//! ```text
//! block     rows of the block that have a value: nothing (form 0: all), one bit a row, low bits first, up to whole bytes
//!           (form 1), or their distances u16 from the first row of the block, ascending (form 2); then strips of 512
//!           slots, the last one of the rest
//! slot      of form 0 and 1 one for each row of the block, of form 2 one for each row that has a value
//! ```

use std::ops::RangeInclusive;

use kb_types::SegmentId;
use kb_types::error::{Error, Result};

use super::order::ValueKind;
use super::strips::{Bits, STRIP_SLOTS, Strip, words};
use super::texts::{BLOCK_TEXTS, Texts};
use super::{BLOCK_ROWS, BlockRecord, FORM_ALL, FORM_BITMAP, FORM_LIST, FieldRecord, record};
use crate::bitset::BitSet;
use crate::container::Snapshot;
use crate::container::column::ColumnView;
use crate::store::fields::FieldValue;

/// Most ranges of keys that are looked for one by one. For more, the key of each row is looked up in the ranges.
const MAX_SCANS: usize = 8;

/// Finds the columns of a segment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reader<'a> {
    snapshot: &'a Snapshot<'a>,
    segment: SegmentId,
    rows: u32,
    column: ColumnView<'a>,
}

impl<'a> Reader<'a> {
    /// Over the column of extents of a segment with so many rows.
    pub(crate) fn new(
        snapshot: &'a Snapshot<'a>,
        (segment, rows): (SegmentId, u32),
        column: ColumnView<'a>,
    ) -> Reader<'a> {
        Reader {
            snapshot,
            segment,
            rows,
            column,
        }
    }

    /// The column with the values of a kind; `None` where the segment has none.
    ///
    /// # Errors
    /// [`Error::Damaged`].
    pub(crate) fn field(&self, name: &str, kind: ValueKind) -> Result<Option<Field<'a>>> {
        let record = record(self.snapshot, self.segment, name, kind)?;
        let field = record.map(|record| Field::new(record, kind, self.rows, self.column));
        field.transpose()
    }
}

/// A column of one field.
#[derive(Debug)]
pub(crate) struct Field<'a> {
    kind: ValueKind,
    rows: u32,
    column: ColumnView<'a>,
    texts: Texts<'a>,
    blocks: Vec<Block>,
}

#[derive(Debug)]
struct Block {
    position: u64,
    record: BlockRecord,
}

impl<'a> Field<'a> {
    fn new(
        record: FieldRecord,
        kind: ValueKind,
        rows: u32,
        column: ColumnView<'a>,
    ) -> Result<Field<'a>> {
        let wrong = |what: &str| Error::damaged(format!("the column of a field: {what}"));
        let count = record.texts as usize;
        if record.text_blocks.len() != count.div_ceil(BLOCK_TEXTS)
            || (kind == ValueKind::Text) != (count > 0)
        {
            return Err(wrong("blocks of texts"));
        }
        let mut position = record.position;
        let mut next = |len: u32| {
            let at = position;
            position = position.saturating_add(u64::from(len));
            at
        };
        let text_blocks = record.text_blocks.into_iter();
        let text_blocks = text_blocks.map(|len| (next(len), len as usize)).collect();
        let is_sorted = record
            .blocks
            .is_sorted_by(|a, b| (a.layer, a.number) < (b.layer, b.number));
        if !is_sorted {
            return Err(wrong("blocks do not ascend"));
        }
        let blocks = record.blocks.into_iter();
        let blocks = blocks.map(|record| Block {
            position: next(record.len_bytes),
            record,
        });
        Ok(Field {
            kind,
            rows,
            column,
            blocks: blocks.collect(),
            texts: Texts {
                column,
                blocks: text_blocks,
                count,
            },
        })
    }

    /// The texts of the column; none for other kinds.
    pub(crate) fn texts(&self) -> &Texts<'a> {
        &self.texts
    }

    /// The rows that have a value.
    ///
    /// # Errors
    /// [`Error::Damaged`].
    pub(crate) fn present(&self) -> Result<BitSet> {
        let mut rows = BitSet::none(self.rows);
        for block in self.blocks.iter().take_while(|it| it.record.layer == 0) {
            let bound = self.bound(block)?;
            match bound.present {
                Present::All => rows.insert_range(bound.first..bound.end),
                Present::Bitmap(bits) => {
                    for (bits, strip) in bits.chunks(STRIP_SLOTS / 8).zip(0..) {
                        rows.insert_blocks(bound.strip_block(strip), &words(bits));
                    }
                }
                Present::List(list) => {
                    for at in 0..bound.slots {
                        rows.insert(bound.listed(list, at)?);
                    }
                }
            }
        }
        // The bits behind the last row of a bitmap may be anything.
        rows.clear_from(self.rows);
        Ok(rows)
    }

    /// The rows with a key in any of some ranges, which ascend and do not overlap.
    ///
    /// # Errors
    /// [`Error::Damaged`].
    pub(crate) fn find(&self, ranges: &[RangeInclusive<u64>]) -> Result<BitSet> {
        let mut rows = BitSet::none(self.rows);
        if ranges.is_empty() {
            return Ok(rows);
        }
        let is_in = |key: u64| {
            let before = ranges.partition_point(|range| *range.end() < key);
            ranges.get(before).is_some_and(|range| range.contains(&key))
        };
        for block in &self.blocks {
            let bound = self.bound(block)?;
            bound.each_strip(|number, strip| {
                let mut found = Bits::default();
                if ranges.len() <= MAX_SCANS {
                    for range in ranges {
                        strip.find(range, &mut found);
                    }
                } else {
                    for (key, slot) in strip.keys().into_iter().zip(0usize..) {
                        if let Some(word) = found.get_mut(slot / 64) {
                            *word |= u64::from(is_in(key)) << (slot % 64);
                        }
                    }
                }
                match bound.present {
                    Present::All => {}
                    Present::Bitmap(bits) => {
                        let start = number * (STRIP_SLOTS / 8);
                        let bits = bits.get(start..).unwrap_or_default();
                        let bits = bits.get(..STRIP_SLOTS / 8).unwrap_or(bits);
                        for (found, bits) in found.iter_mut().zip(words(bits)) {
                            *found &= bits;
                        }
                    }
                    Present::List(list) => {
                        return each_bit(&found, |slot| {
                            rows.insert(bound.listed(list, number * STRIP_SLOTS + slot)?);
                            Ok(())
                        });
                    }
                }
                rows.insert_blocks(bound.strip_block(number), &found);
                Ok(())
            })?;
        }
        Ok(rows)
    }

    /// Visits all keys with their rows.
    ///
    /// # Errors
    /// [`Error::Damaged`]; what `visit` says.
    pub(crate) fn each_key(&self, mut visit: impl FnMut(u32, u64) -> Result<()>) -> Result<()> {
        for block in &self.blocks {
            let bound = self.bound(block)?;
            bound.each_strip(|number, strip| {
                let slots = number * STRIP_SLOTS..;
                for (key, slot) in strip.keys().into_iter().zip(slots) {
                    let row = match bound.present {
                        Present::List(list) => bound.listed(list, slot)?,
                        Present::All => bound.row(slot)?,
                        Present::Bitmap(bits) => {
                            let byte = bits.get(slot / 8).copied().unwrap_or(0);
                            if byte >> (slot % 8) & 1 == 0 {
                                continue;
                            }
                            bound.row(slot)?
                        }
                    };
                    visit(row, key)?;
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Visits all values with their rows.
    ///
    /// # Errors
    /// As [`Field::each_key`]; [`Error::Damaged`] for a key that is of no value.
    pub(crate) fn each(&self, mut visit: impl FnMut(u32, &FieldValue) -> Result<()>) -> Result<()> {
        let wrong = || Error::damaged("a key of a field is of no value");
        if self.kind != ValueKind::Text {
            return self.each_key(|row, key| {
                let value = self.kind.value(key).ok_or_else(wrong)?;
                visit(row, &value)
            });
        }
        let mut texts = Vec::new();
        self.texts.each(|text| {
            texts.push(FieldValue::Text(text));
            Ok(())
        })?;
        self.each_key(|row, key| {
            let text = usize::try_from(key).ok().and_then(|at| texts.get(at));
            visit(row, text.ok_or_else(wrong)?)
        })
    }

    /// Checks which rows a block has, and gives its strips.
    fn bound(&self, block: &Block) -> Result<BoundBlock<'a>> {
        let record = &block.record;
        let wrong = || Error::damaged("a block of a field has other rows than it says");
        let first = u32::from(record.number) * BLOCK_ROWS;
        let rows = self.rows.saturating_sub(first).min(BLOCK_ROWS);
        let len = usize::try_from(record.len_bytes).map_err(|_| wrong())?;
        let bytes = self.column.bytes(block.position, len)?;
        let slots = record.slots as usize;
        let is_listed = record.form == FORM_LIST;
        if slots == 0 || record.slots > rows || !is_listed && record.slots != rows {
            return Err(wrong());
        }
        let list_bytes = match record.form {
            FORM_ALL => 0,
            FORM_BITMAP => slots.div_ceil(8),
            FORM_LIST => slots * 2,
            _ => return Err(Error::damaged("a block of a field has an unknown form")),
        };
        let (list, strips) = bytes.split_at_checked(list_bytes).ok_or_else(wrong)?;
        let present = match record.form {
            FORM_ALL => Present::All,
            FORM_BITMAP => Present::Bitmap(list),
            _ => Present::List(list.as_chunks().0),
        };
        Ok(BoundBlock {
            first,
            end: first + rows,
            slots,
            present,
            strips,
        })
    }
}

fn each_bit(bits: &Bits, mut visit: impl FnMut(usize) -> Result<()>) -> Result<()> {
    for (word, first) in bits.iter().zip((0usize..).step_by(64)) {
        let mut rest = *word;
        while rest != 0 {
            visit(first + rest.trailing_zeros() as usize)?;
            rest &= rest - 1;
        }
    }
    Ok(())
}

/// Which rows of a block have a value.
#[derive(Debug, Clone, Copy)]
enum Present<'a> {
    All,
    Bitmap(&'a [u8]),
    List(&'a [[u8; 2]]),
}

struct BoundBlock<'a> {
    /// First row of the segment in it.
    first: u32,
    /// One past the last.
    end: u32,
    slots: usize,
    present: Present<'a>,
    strips: &'a [u8],
}

impl<'a> BoundBlock<'a> {
    fn each_strip(&self, mut visit: impl FnMut(usize, &Strip<'a>) -> Result<()>) -> Result<()> {
        let mut rest = self.strips;
        for (start, number) in (0..self.slots).step_by(STRIP_SLOTS).zip(0..) {
            let slots = (self.slots - start).min(STRIP_SLOTS);
            let (strip, behind) = Strip::take(rest, slots)?;
            visit(number, &strip)?;
            rest = behind;
        }
        if rest.is_empty() {
            return Ok(());
        }
        Err(Error::damaged("a block of a field goes on behind its keys"))
    }

    /// The first block of 64 rows of a strip.
    fn strip_block(&self, strip: usize) -> usize {
        (self.first / 64) as usize + strip * (STRIP_SLOTS / 64)
    }

    fn row(&self, slot: usize) -> Result<u32> {
        let slot = u32::try_from(slot).ok();
        let row = slot.and_then(|slot| self.first.checked_add(slot));
        let row = row.filter(|row| *row < self.end);
        row.ok_or_else(|| Error::damaged("a block of a field names rows beyond it"))
    }

    fn listed(&self, list: &[[u8; 2]], slot: usize) -> Result<u32> {
        let at = list.get(slot).copied().map(u16::from_le_bytes);
        self.row(at.map_or(usize::MAX, usize::from))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;
    use crate::container::column::{ColumnWriter, MemoryExtents, extent_starts};
    use crate::store::fields::columns::writer::encode;
    use crate::store::tables;

    /// A column of some pairs in a segment of so many rows.
    fn written(
        kind: ValueKind,
        rows: u32,
        texts: &[&str],
        pairs: &BTreeSet<(u32, u64)>,
        run: impl FnOnce(FieldRecord, ColumnView<'_>),
    ) {
        let mut column = ColumnWriter::items(SegmentId(1), tables::FIELD_VALUES, 0);
        let mut sink = MemoryExtents::default();
        let texts = texts.iter().map(|text| (*text).to_owned()).collect();
        let pairs = pairs.iter().copied().collect();
        let record = encode(&mut column, &mut sink, rows, (texts, pairs)).unwrap();
        let starts = extent_starts(&column.finish(&mut sink).unwrap());
        let view = ColumnView::new(&starts, 0, &sink.columns[&tables::FIELD_VALUES]);
        assert!(Field::new(record.clone(), kind, rows, view).is_ok());
        run(record, view);
    }

    fn rows_in(bits: &BitSet) -> BTreeSet<u32> {
        bits.to_roaring().iter().collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]
        #[test]
        fn rows_are_those_with_a_key_in_a_range(
            rows in prop::sample::select(vec![1u32, 63, 700, 16_384, 20_000]),
            share in prop::sample::select(vec![1u32, 3, 40, 3000]),
            values in 1..4u64,
            seed in any::<u64>(),
            ranges in prop::collection::vec((0..1200u64, 0..90u64), 1..12),
        ) {
            let mut state = seed;
            let mut next = |below: u64| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(99);
                (state >> 33) % below
            };
            let mut pairs = BTreeSet::from([(rows - 1, 5)]);
            for row in 0..rows {
                for _ in 0..values {
                    if next(u64::from(share)) == 0 {
                        pairs.insert((row, next(1200)));
                    }
                }
            }
            let mut asked: Vec<RangeInclusive<u64>> = Vec::new();
            let mut from = 0;
            for (start, len) in ranges {
                let start = from + start / 4;
                asked.push(start..=start + len);
                from = start + len + 2;
            }
            written(ValueKind::Integer, rows, &[], &pairs, |record, view| {
                let field = Field::new(record, ValueKind::Integer, rows, view).unwrap();
                let having = |key: &dyn Fn(u64) -> bool| -> BTreeSet<u32> {
                    pairs.iter().filter(|(_, it)| key(*it)).map(|(row, _)| *row).collect()
                };
                assert_eq!(rows_in(&field.present().unwrap()), having(&|_| true));
                let in_any = |key: u64| asked.iter().any(|range| range.contains(&key));
                assert_eq!(rows_in(&field.find(&asked).unwrap()), having(&in_any));
                let mut read = BTreeSet::new();
                field.each_key(|row, key| {
                    assert!(read.insert((row, key)));
                    Ok(())
                })
                .unwrap();
                assert_eq!(read, pairs);
            });
        }
    }

    #[test]
    fn hostile_columns_are_refused() {
        let texts = ["ann", "kim", "lee"];
        let pairs: BTreeSet<(u32, u64)> = (0..100).map(|row| (row, u64::from(row % 3))).collect();
        written(ValueKind::Text, 100, &texts, &pairs, |record, view| {
            let read = |record: FieldRecord, rows: u32| -> Result<BTreeMap<u32, String>> {
                let field = Field::new(record, ValueKind::Text, rows, view)?;
                field.present()?;
                field.find(&[0..=1])?;
                let mut read = BTreeMap::new();
                field.each(|row, value| {
                    read.insert(row, value.to_string());
                    Ok(())
                })?;
                Ok(read)
            };
            assert_eq!(read(record.clone(), 100).unwrap()[&1], "kim");
            let lie = |change: &dyn Fn(&mut FieldRecord)| {
                let mut lie = record.clone();
                change(&mut lie);
                read(lie, 100)
            };
            for (at, lie) in [
                lie(&|it| it.texts = 2),
                lie(&|it| it.texts = 200),
                lie(&|it| it.texts = 0),
                lie(&|it| it.text_blocks.push(3)),
                lie(&|it| it.position = u64::MAX),
                lie(&|it| it.blocks.push(it.blocks[0].clone())),
                lie(&|it| it.blocks[0].number = u16::MAX),
                lie(&|it| it.blocks[0].form = 3),
                lie(&|it| it.blocks[0].form = FORM_BITMAP),
                lie(&|it| it.blocks[0].form = FORM_LIST),
                lie(&|it| it.blocks[0].slots = 0),
                lie(&|it| it.blocks[0].slots = 99),
                lie(&|it| it.blocks[0].slots = u32::MAX),
                lie(&|it| it.blocks[0].len_bytes -= 1),
                lie(&|it| it.blocks[0].len_bytes = u32::MAX),
            ]
            .into_iter()
            .enumerate()
            {
                assert!(lie.is_err(), "lie {at}");
            }
            assert!(read(record, 99).is_err(), "another number of rows");
        });
    }
}
