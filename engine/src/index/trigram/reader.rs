//! The columns of a trigram index -> lists.

use std::ops::Range;

use kb_types::error::{Error, Result};

use crate::container::codec::{u32_at, u64_at};
use crate::container::column::ColumnView;
use crate::index::trigram::rice;
use crate::index::trigram::trigrams::Trigram;
use crate::index::trigram::writer::{SHORT_LIST, complement};

/// Reads the trigram index of one segment.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a> {
    units: ColumnView<'a>,
    blocks: ColumnView<'a>,
    lists: ColumnView<'a>,
    /// Chunk rows of the segment.
    rows: u32,
}

impl<'a> Reader<'a> {
    /// Over the three columns of a segment with so many chunk rows.
    ///
    /// # Errors
    /// [`Error::Damaged`] when there are more units than rows.
    pub fn new(
        units: ColumnView<'a>,
        blocks: ColumnView<'a>,
        lists: ColumnView<'a>,
        rows: u32,
    ) -> Result<Reader<'a>> {
        // Each unit has a row. The bound keeps lists of a hostile file from being allocated for
        // more.
        if units.rows() > u64::from(rows) {
            return Err(Error::damaged(
                "there are more units of trigrams than chunks",
            ));
        }
        Ok(Reader {
            units,
            blocks,
            lists,
            rows,
        })
    }

    /// How many units there are.
    pub fn units(&self) -> u32 {
        u32::try_from(self.units.rows()).unwrap_or(u32::MAX)
    }

    /// The chunk rows of a unit.
    ///
    /// # Errors
    /// [`Error::Damaged`] when there is no such unit, or it has no rows.
    pub fn rows_of(&self, unit: u32) -> Result<Range<u32>> {
        let first = self.first_row(unit)?;
        let next = unit.saturating_add(1);
        let end = if next < self.units() {
            self.first_row(next)?
        } else {
            self.rows
        };
        if first >= end || end > self.rows {
            return Err(Error::damaged(format!(
                "unit {unit} of trigrams has no chunks"
            )));
        }
        Ok(first..end)
    }

    fn first_row(&self, unit: u32) -> Result<u32> {
        u32_at(self.units.row(u64::from(unit))?, 0)
    }

    /// The units that have a trigram, ascending.
    ///
    /// # Errors
    /// [`Error::Damaged`].
    pub fn units_with(&self, trigram: Trigram) -> Result<Vec<u32>> {
        let (mut low, mut high) = (0, self.blocks.rows());
        while low < high {
            let middle = low + (high - low) / 2;
            if u32_at(self.blocks.row(middle)?, 0)? <= trigram {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let Some(number) = low.checked_sub(1) else {
            return Ok(Vec::new());
        };
        let mut block = self.block(number)?;
        while let Some(entry) = block.next()? {
            if entry.trigram >= trigram {
                return if entry.trigram == trigram {
                    entry.units(self.units())
                } else {
                    Ok(Vec::new())
                };
            }
        }
        Ok(Vec::new())
    }

    fn block(&self, number: u64) -> Result<BlockIter<'a>> {
        let row = self.blocks.row(number)?;
        let (first, len, position) = (u32_at(row, 0)?, u32_at(row, 4)?, u64_at(row, 8)?);
        Ok(BlockIter {
            bytes: self.lists.bytes(position, len as usize)?,
            universe: self.units(),
            next: Some(first),
        })
    }

    /// All trigrams with their lists, by ascending trigram.
    pub fn iter(&self) -> ListIter<'a> {
        ListIter {
            reader: *self,
            next_block: 0,
            block: None,
            last: None,
        }
    }
}

/// Walks all lists of an index.
#[derive(Debug)]
pub struct ListIter<'a> {
    reader: Reader<'a>,
    next_block: u64,
    block: Option<BlockIter<'a>>,
    last: Option<Trigram>,
}

impl ListIter<'_> {
    /// The next trigram and the units that have it, ascending.
    ///
    /// # Errors
    /// [`Error::Damaged`], also when trigrams do not ascend.
    pub fn advance(&mut self) -> Result<Option<(Trigram, Vec<u32>)>> {
        loop {
            if let Some(block) = &mut self.block
                && let Some(entry) = block.next()?
            {
                if self.last.is_some_and(|last| last >= entry.trigram) {
                    return Err(Error::damaged("trigrams do not ascend"));
                }
                self.last = Some(entry.trigram);
                let units = entry.units(self.reader.units())?;
                return Ok(Some((entry.trigram, units)));
            }
            if self.next_block >= self.reader.blocks.rows() {
                return Ok(None);
            }
            self.block = Some(self.reader.block(self.next_block)?);
            self.next_block += 1;
        }
    }
}

/// Walks the lists of a block.
#[derive(Debug)]
struct BlockIter<'a> {
    bytes: &'a [u8],
    universe: u32,
    /// The trigram that the next one is counted from; `None` behind a fault.
    next: Option<Trigram>,
}

/// A list that is not decoded yet.
#[derive(Debug)]
struct Entry<'a> {
    trigram: Trigram,
    count: u32,
    /// Whether it lists the units that lack the trigram.
    is_inverse: bool,
    bytes: &'a [u8],
}

impl<'a> BlockIter<'a> {
    fn next(&mut self) -> Result<Option<Entry<'a>>> {
        if self.bytes.is_empty() {
            return Ok(None);
        }
        let damaged = || Error::damaged("a block of trigrams does not decode");
        // Taken, so that a fault ends the block: after it the position in the bytes means nothing.
        let before = self.next.take().ok_or_else(damaged)?;
        let gap = take_varint(&mut self.bytes).ok_or_else(damaged)?;
        let trigram = before.checked_add(gap).ok_or_else(damaged)?;
        let count = take_varint(&mut self.bytes).ok_or_else(damaged)?;
        let (count, is_inverse) = (count >> 1, count & 1 == 1);
        let len = if count > SHORT_LIST {
            take_varint(&mut self.bytes).ok_or_else(damaged)? as usize
        } else {
            rice::decode(self.universe, count, self.bytes)?.1
        };
        let (bytes, rest) = self.bytes.split_at_checked(len).ok_or_else(damaged)?;
        self.bytes = rest;
        self.next = Some(trigram);
        Ok(Some(Entry {
            trigram,
            count,
            is_inverse,
            bytes,
        }))
    }
}

impl Entry<'_> {
    fn units(&self, universe: u32) -> Result<Vec<u32>> {
        let (units, _) = rice::decode(universe, self.count, self.bytes)?;
        Ok(if self.is_inverse {
            complement(universe, &units)
        } else {
            units
        })
    }
}

fn take_varint(bytes: &mut &[u8]) -> Option<u32> {
    let (mut value, mut shift) = (0u64, 0);
    loop {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return u32::try_from(value).ok();
        }
        shift += 7;
        // Five groups of seven bits hold 32.
        if shift > 28 {
            return None;
        }
    }
}
