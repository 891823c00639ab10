//! Iterates over the block entries of a postings list without decoding the blocks: what Lucene and
//! tantivy call skip data.

use kb_types::error::{Error, Result};

use super::block::{BlockShape, ENTRY_BYTES, PART_BLOCKS, decode_impact};
use super::encoding::{BLOCK_POSTINGS, take_bytes};
use super::list::{Postings, PostingsKind};
use crate::container::column::ColumnView;

/// Reads the entry of one block of a list after the other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SkipReader<'a> {
    /// The postings column.
    column: ColumnView<'a>,
    /// Rows of the segment.
    row_limit: u32,
    /// Postings of the list.
    count: u32,
    /// Last row and bytes of each part; empty when there is only one.
    directory: &'a [[u8; 8]],
    /// Number of the open part.
    part: usize,
    /// Logical position of the first part.
    first_part: u64,
    /// Logical position after the open part.
    part_end: u64,
    /// Entries of the open part.
    entries: &'a [[u8; ENTRY_BYTES]],
    /// Blocks of the open part.
    blocks: &'a [u8],
    /// First byte of the current block in `blocks`.
    offset: usize,
    /// Number of the current block in the list.
    pub(super) index: usize,
    /// The smallest row that the current block can have.
    pub(super) next_row: u32,
    /// Entry of the current block.
    pub(super) entry: Entry,
}

/// The location of a block, to come back to. The default is the first block of any list.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct BlockPosition {
    /// Its number in the list.
    pub(super) index: u32,
    /// Its first byte among the blocks of its part, less than 600 KB.
    offset: u32,
    /// The smallest row that it can have.
    pub(super) next_row: u32,
}

/// The decoded entry of a block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    /// Its last row.
    pub(super) last_row: u32,
    /// The least impact of its postings, rounded down.
    pub(super) impact: f32,
    /// How the block is encoded.
    pub(super) form: BlockForm,
}

/// How a block is encoded.
#[derive(Debug, Clone, Copy)]
pub(super) enum BlockForm {
    /// 128 packed postings.
    Packed(BlockShape),
    /// Fewer, as varints.
    Tail { count: usize, len_bytes: usize },
}

impl BlockForm {
    fn len_bytes(self) -> usize {
        match self {
            BlockForm::Packed(shape) => shape.len_bytes(),
            BlockForm::Tail { len_bytes, .. } => len_bytes,
        }
    }
}

pub(super) fn beyond() -> Error {
    Error::damaged("a posting names a row beyond the segment")
}

impl<'a> SkipReader<'a> {
    pub(super) fn new(
        column: ColumnView<'a>,
        row_limit: u32,
        postings: &Postings<'a>,
    ) -> Result<SkipReader<'a>> {
        let PostingsKind::Blocks {
            directory,
            first_part,
            first_part_bytes,
        } = postings.kind
        else {
            return Err(Error::damaged("a postings list has no blocks"));
        };
        let mut reader = SkipReader {
            column,
            row_limit,
            count: postings.count,
            directory,
            part: 0,
            first_part,
            part_end: first_part,
            entries: &[],
            blocks: &[],
            offset: 0,
            index: 0,
            next_row: 0,
            entry: Entry {
                last_row: 0,
                impact: 0.0,
                form: BlockForm::Tail {
                    count: 0,
                    len_bytes: 0,
                },
            },
        };
        reader.open_part(first_part_bytes)?;
        reader.read_entry()?;
        Ok(reader)
    }

    /// The number of blocks of the list.
    fn block_count(&self) -> usize {
        (self.count as usize).div_ceil(BLOCK_POSTINGS)
    }

    /// Opens the part that starts at `part_end`.
    fn open_part(&mut self, len_bytes: usize) -> Result<()> {
        let mut bytes = self.column.bytes(self.part_end, len_bytes)?;
        let blocks = (self.block_count() - self.part * PART_BLOCKS).min(PART_BLOCKS);
        self.entries = take_bytes(&mut bytes, blocks * ENTRY_BYTES)?.as_chunks().0;
        self.blocks = bytes;
        self.offset = 0;
        self.part_end += len_bytes as u64;
        Ok(())
    }

    fn read_entry(&mut self) -> Result<()> {
        let entry = self.entries.get(self.index - self.part * PART_BLOCKS);
        let [a, b, c, d, impact @ .., x, y, z] =
            entry.ok_or_else(|| Error::damaged("a part of postings has too few blocks"))?;
        let last_row = u32::from_le_bytes([*a, *b, *c, *d]);
        let tail = self.count as usize - self.index * BLOCK_POSTINGS;
        let (form, count) = if tail < BLOCK_POSTINGS {
            let len_bytes = usize::from(u16::from_le_bytes([*x, *y]));
            let form = BlockForm::Tail {
                count: tail,
                len_bytes,
            };
            (form, tail)
        } else {
            let shape = BlockShape {
                row_width: *x,
                frequency_width: *y,
                exception_bytes: *z,
            };
            (BlockForm::Packed(shape), BLOCK_POSTINGS)
        };
        let ascends = last_row.checked_sub(self.next_row);
        // 128 ascending rows need a range of at least 128. Checked for entries, because blocks are
        // skipped by them without being decoded.
        if last_row >= self.row_limit || ascends.is_none_or(|rows| (rows as usize) + 1 < count) {
            return Err(beyond());
        }
        self.entry = Entry {
            last_row,
            impact: decode_impact(u16::from_le_bytes(*impact)),
            form,
        };
        Ok(())
    }

    /// Moves to the next block; false when there is none.
    fn step(&mut self) -> Result<bool> {
        if self.index + 1 >= self.block_count() {
            return Ok(false);
        }
        self.offset += self.entry.form.len_bytes();
        self.next_row = self.entry.last_row + 1;
        self.index += 1;
        if self.index / PART_BLOCKS > self.part {
            self.next_part()?;
        }
        self.read_entry()?;
        Ok(true)
    }

    /// Opens the part after the current one.
    #[cold]
    fn next_part(&mut self) -> Result<()> {
        self.part += 1;
        self.open_part(self.part_bytes(self.part)?)
    }

    /// Bytes of one of several parts.
    fn part_bytes(&self, part: usize) -> Result<usize> {
        let [_, _, _, _, len @ ..] = self
            .directory
            .get(part)
            .ok_or_else(|| Error::damaged("a postings list has too few parts"))?;
        Ok(u32::from_le_bytes(*len) as usize)
    }

    /// The location of the current block.
    pub(crate) fn mark(&self) -> BlockPosition {
        BlockPosition {
            index: self.index as u32,
            offset: self.offset as u32,
            next_row: self.next_row,
        }
    }

    /// Moves to a block that [`SkipReader::mark`] gave the location of.
    pub(super) fn jump(&mut self, to: BlockPosition) -> Result<()> {
        let part = to.index as usize / PART_BLOCKS;
        if part != self.part {
            self.part_end = self.first_part;
            // Directories have few parts: a list of 2^24 postings has 256.
            for before in 0..part {
                self.part_end += self.part_bytes(before)? as u64;
            }
            self.part = part;
            self.open_part(self.part_bytes(part)?)?;
        }
        self.index = to.index as usize;
        self.offset = to.offset as usize;
        self.next_row = to.next_row;
        self.read_entry()
    }

    /// Moves to the first block whose last row is not below `row`; false when there is none.
    pub(crate) fn skip_to(&mut self, row: u32) -> Result<bool> {
        // Linear: an entry has 9 bytes, so one cache line has seven of them, and jumps are mostly
        // short.
        while self.entry.last_row < row {
            if !self.step()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The least impact of the blocks that can have rows of `start..end`; `None` when no block can.
    /// Moves to the last of these blocks, so `start` must not be below an earlier `end`.
    pub(crate) fn least_impact(&mut self, start: u32, end: u32) -> Result<Option<f32>> {
        if !self.skip_to(start)? || self.next_row >= end {
            return Ok(None);
        }
        let mut least = self.entry.impact;
        while self.entry.last_row + 1 < end && self.step()? {
            if self.next_row >= end {
                break;
            }
            least = least.min(self.entry.impact);
        }
        Ok(Some(least))
    }

    pub(super) fn block_bytes(&self) -> Result<&'a [u8]> {
        self.offset
            .checked_add(self.entry.form.len_bytes())
            .and_then(|end| self.blocks.get(self.offset..end))
            .ok_or_else(|| Error::damaged("a part of postings ends too early"))
    }
}
