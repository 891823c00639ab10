//! The text of a segment from its first block to its last, each decoded once.

use kb_types::error::{Error, Result};

use crate::container::codec::{u32_at, u64_at};
use crate::container::column::ColumnView;
use crate::store::blocks::BLOCK_LIMIT_BYTES;
use crate::store::decoder::Decoder;

/// Where a block lies, as its row says.
struct Block {
    position: u64,
    frame_bytes: u32,
    text_bytes: u32,
    first_row: u32,
}

/// Gives the text of one chunk after the other.
pub(super) struct BlockTextReader<'a> {
    /// Column `blocks`.
    blocks: ColumnView<'a>,
    /// Column `text`.
    text: ColumnView<'a>,
    /// Has the dictionary; none when that is damaged.
    decoder: Decoder,
    /// Number of the block after the one that is open.
    next: u64,
    /// Where its frame must begin: frames follow one another without gaps.
    position: u64,
    /// Text of the open block; `None` before the first, or when it did not decode.
    open: Option<Vec<u8>>,
    /// How much of it was given out.
    given: usize,
}

impl<'a> BlockTextReader<'a> {
    pub(super) fn new(
        blocks: ColumnView<'a>,
        text: ColumnView<'a>,
        decoder: Decoder,
    ) -> BlockTextReader<'a> {
        BlockTextReader {
            blocks,
            text,
            decoder,
            next: 0,
            position: 0,
            open: None,
            given: 0,
        }
    }

    /// Opens the block that begins with `row`, if one does.
    ///
    /// # Errors
    /// [`Error::Damaged`] when it does not decode, or the block before it has more text than chunks;
    /// the next row can be asked for all the same.
    pub(super) fn enter(&mut self, row: u32) -> Result<()> {
        if self.next >= self.blocks.rows() {
            return match row {
                0 => Err(Error::damaged("there are chunks and no block of text")),
                _ => Ok(()),
            };
        }
        let number = self.next;
        let block = self.block(number)?;
        if block.first_row < row || (row == 0 && block.first_row != 0) {
            self.next += 1;
            return Err(Error::damaged(format!(
                "block {number} begins with row {}, at row {row}",
                block.first_row
            )));
        }
        if block.first_row > row {
            return Ok(());
        }
        let before = self.left();
        // Before anything can fail: after an error the next call goes on with the next block, and
        // the check ends.
        self.next += 1;
        (self.open, self.given) = (None, 0);
        let expected = std::mem::replace(
            &mut self.position,
            block.position.saturating_add(u64::from(block.frame_bytes)),
        );
        if expected != block.position {
            return Err(Error::damaged(format!(
                "block {number} lies at {}, the one before ends at {expected}",
                block.position
            )));
        }
        self.open = Some(self.decode(number, &block)?);
        before
    }

    /// The next `len` bytes; `None` when the block did not decode.
    ///
    /// # Errors
    /// [`Error::Damaged`] when the block has no so many left.
    pub(super) fn take(&mut self, len: usize) -> Result<Option<&[u8]>> {
        let Some(text) = &self.open else {
            return Ok(None);
        };
        let start = self.given;
        let Some(end) = start.checked_add(len).filter(|end| *end <= text.len()) else {
            let left = text.len() - start;
            self.open = None;
            return Err(Error::damaged(format!(
                "it has {len} bytes, and its block has {left} left"
            )));
        };
        self.given = end;
        Ok(self.open.as_ref().and_then(|text| text.get(start..end)))
    }

    /// What must hold after the last row.
    ///
    /// # Errors
    /// [`Error::Damaged`] when blocks or text are left.
    pub(super) fn finish(self) -> Result<()> {
        self.left()?;
        if self.next != self.blocks.rows() || self.position != self.text.len_bytes() {
            return Err(Error::damaged("there are blocks of text without a chunk"));
        }
        Ok(())
    }

    fn left(&self) -> Result<()> {
        match &self.open {
            Some(text) if text.len() != self.given => Err(Error::damaged(format!(
                "block {} has {} bytes more than its chunks",
                self.next.saturating_sub(1),
                text.len() - self.given
            ))),
            _ => Ok(()),
        }
    }

    fn block(&mut self, number: u64) -> Result<Block> {
        let row = self.blocks.row(number).inspect_err(|_| self.next += 1)?;
        Ok(Block {
            position: u64_at(row, 0)?,
            frame_bytes: u32_at(row, 8)?,
            text_bytes: u32_at(row, 12)?,
            first_row: u32_at(row, 16)?,
        })
    }

    fn decode(&mut self, number: u64, block: &Block) -> Result<Vec<u8>> {
        let capacity = block.text_bytes as usize;
        // Before memory is taken for it.
        if capacity > BLOCK_LIMIT_BYTES {
            return Err(Error::damaged(format!(
                "block {number} claims {capacity} bytes of text"
            )));
        }
        let frame = self
            .text
            .bytes(block.position, block.frame_bytes as usize)?;
        let text = self
            .decoder
            .decode(frame, capacity)
            .map_err(|error| Error::damaged(format!("block {number}: {error}")))?;
        if text.len() == capacity {
            Ok(text.to_vec())
        } else {
            Err(Error::damaged(format!(
                "block {number} has {} bytes of text, its row says {capacity}",
                text.len()
            )))
        }
    }
}
