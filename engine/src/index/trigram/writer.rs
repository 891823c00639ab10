//! Units and lists -> the columns of a trigram index.

use kb_types::SegmentId;
use kb_types::error::Result;

use crate::container::column::{ColumnRecord, ColumnWriter, ExtentSink, SCATTERED_ORDER};
use crate::index::trigram::record::{BLOCK_ROW_BYTES, BLOCKS, LISTS, UNIT_ROW_BYTES, UNITS};
use crate::index::trigram::rice;
use crate::index::trigram::trigrams::Trigram;

/// Lists of a full block.
// A lookup reads the lists before the wanted one: half a block on average.
const BLOCK_LISTS: usize = 64;

/// Bytes of a full block, which may come before it has [`BLOCK_LISTS`].
// 8 KiB: two pages of the system. Lists of frequent trigrams are long, and a lookup must pass over
// them.
const BLOCK_BYTES: usize = 8 << 10;

/// Longest list without its length before it.
// Most trigrams are in few units, so their length would be a large part of the list. Passing over
// such a list means decoding at most eight numbers.
pub(super) const SHORT_LIST: u32 = 8;

/// Writes the lists of one segment, by ascending trigram.
#[derive(Debug)]
pub(crate) struct Writer {
    segment: SegmentId,
    /// How many units there are.
    units: u32,
    blocks: ColumnWriter,
    lists: ColumnWriter,
    /// The open block.
    open: Vec<u8>,
    /// Its lists.
    open_lists: usize,
    /// Its first trigram, and the last.
    first: Trigram,
    last: Trigram,
}

impl Writer {
    /// An index without lists, of `units` units.
    pub(crate) fn new(segment: SegmentId, units: u32) -> Writer {
        Writer {
            segment,
            units,
            blocks: ColumnWriter::rows(segment, BLOCKS, BLOCK_ROW_BYTES, SCATTERED_ORDER),
            lists: ColumnWriter::items(segment, LISTS, SCATTERED_ORDER),
            open: Vec::new(),
            open_lists: 0,
            first: 0,
            last: 0,
        }
    }

    /// Appends a trigram, greater than the last, and the units that have it, ascending and at least one.
    ///
    /// # Errors
    /// What the sink says.
    pub(crate) fn push(
        &mut self,
        sink: &mut dyn ExtentSink,
        trigram: Trigram,
        units: &[u32],
    ) -> Result<()> {
        if self.open_lists == 0 {
            (self.first, self.last) = (trigram, trigram);
        }
        put_varint(&mut self.open, trigram.saturating_sub(self.last));
        self.last = trigram;
        self.open_lists += 1;
        let count = u32::try_from(units.len()).unwrap_or(u32::MAX);
        // Of two lists the shorter one: those that have it, or those that lack it.
        let is_inverse = count > self.units / 2;
        let lacking: Vec<u32>;
        let listed = if is_inverse {
            lacking = complement(self.units, units);
            &lacking
        } else {
            units
        };
        let count = u32::try_from(listed.len()).unwrap_or(u32::MAX);
        put_varint(&mut self.open, count << 1 | u32::from(is_inverse));
        let mut bytes = Vec::new();
        rice::encode(self.units, listed, &mut bytes);
        if count > SHORT_LIST {
            put_varint(
                &mut self.open,
                u32::try_from(bytes.len()).unwrap_or(u32::MAX),
            );
        }
        self.open.extend_from_slice(&bytes);
        if self.open_lists >= BLOCK_LISTS || self.open.len() >= BLOCK_BYTES {
            self.close_block(sink)?;
        }
        Ok(())
    }

    fn close_block(&mut self, sink: &mut dyn ExtentSink) -> Result<()> {
        if self.open_lists == 0 {
            return Ok(());
        }
        let position = self.lists.push(sink, &self.open)?;
        let len = u32::try_from(self.open.len()).unwrap_or(u32::MAX);
        let mut row = Vec::with_capacity(BLOCK_ROW_BYTES as usize);
        row.extend_from_slice(&self.first.to_le_bytes());
        row.extend_from_slice(&len.to_le_bytes());
        row.extend_from_slice(&position.to_le_bytes());
        self.blocks.push(sink, &row)?;
        self.open.clear();
        self.open_lists = 0;
        Ok(())
    }

    /// Writes what is left, and the first rows of the units.
    ///
    /// # Errors
    /// What the sink says.
    pub(crate) fn finish(
        mut self,
        sink: &mut dyn ExtentSink,
        first_rows: &[u32],
    ) -> Result<[ColumnRecord; 3]> {
        self.close_block(sink)?;
        let mut units = ColumnWriter::rows(self.segment, UNITS, UNIT_ROW_BYTES, SCATTERED_ORDER);
        for row in first_rows {
            units.push(sink, &row.to_le_bytes())?;
        }
        Ok([
            units.finish(sink)?,
            self.blocks.finish(sink)?,
            self.lists.finish(sink)?,
        ])
    }
}

/// The numbers below `universe` that are not among some ascending ones.
pub(super) fn complement(universe: u32, numbers: &[u32]) -> Vec<u32> {
    let mut others = Vec::with_capacity((universe as usize).saturating_sub(numbers.len()));
    let mut next = 0;
    for number in numbers {
        others.extend(next..*number);
        next = number.saturating_add(1);
    }
    others.extend(next..universe);
    others
}

fn put_varint(bytes: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}
