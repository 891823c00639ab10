//! Text blocks: the text of consecutive chunks, one zstd frame each: 4 to 8 KB where the segment has a
//! dictionary, else about 16 KB.
//!
//! Column `blocks` has a row of 24 bytes a block: logical position of its frame in column `text`
//! (u64), bytes of the frame, bytes of its text, first chunk row (u32 each), 4 bytes unused.

use kb_types::error::{Error, Result};

use crate::container::codec::{u32_at, u64_at};
use crate::container::column::ColumnView;
use crate::store::chunks::ChunkReader;
use crate::store::decoder::PooledDecoder;

/// Most text bytes of a block, and so of a chunk.
// The largest item of a column is 1 MiB, so a compressed frame is bounded anyway. This bounds what
// a frame of a hostile file can expand to.
pub const BLOCK_LIMIT_BYTES: usize = 16 << 20;

/// Upper bound of the text bytes of a block before its last chunk.
// A reader decodes a whole block for one chunk. The writer closes blocks at 4 to 16 KB; this leaves
// room for other writers and bounds the work together with the longest chunk of the file.
pub(crate) const BLOCK_FILL_LIMIT_BYTES: usize = 64 << 10;

/// Most chunks of a block.
// A walk over the rows of a block adds up their lengths. Empty chunks of a hostile file could
// otherwise make a block of 2^24 rows.
pub(super) const BLOCK_LIMIT_ROWS: u32 = 1 << 16;

/// Bytes of a row of column `blocks`.
pub const ROW_BYTES: u32 = 24;

/// Where a row has the number of its first chunk.
const FIRST_ROW_AT: usize = 16;

/// A row of column `blocks`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Block {
    position: u64,
    frame_bytes: usize,
    text_bytes: usize,
    first_row: u32,
}

/// Reads text by chunk row; keeps the block it read last.
pub struct BlockReader<'a> {
    /// Column `blocks`.
    rows: ColumnView<'a>,
    /// Column `text`.
    text: ColumnView<'a>,
    /// Column `chunks`.
    chunks: ChunkReader<'a>,
    /// Holds the dictionary of the segment and the text of the last block.
    decoder: PooledDecoder<'a>,
    /// Bytes that no chunk of the file exceeds.
    chunk_limit_bytes: usize,
    /// Bytes of text decoded so far.
    decoded_bytes: u64,
    /// Number of the block whose text the decoder has.
    last: Option<u64>,
    /// The row after the last one read and its offset in the block: rows are mostly read in order.
    cursor: Option<Cursor>,
}

/// Where the text of a row begins in its decoded block.
#[derive(Debug, Clone, Copy)]
struct Cursor {
    /// Number of the block.
    block: u64,
    row: u32,
    offset: usize,
}

impl std::fmt::Debug for BlockReader<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BlockReader")
            .field("rows", &self.rows)
            .finish_non_exhaustive()
    }
}

impl<'a> BlockReader<'a> {
    /// Over the columns `blocks` and `text`, with the chunk rows that say where chunks end, the
    /// decoder of the segment, and the most bytes that a chunk of the file has. A longer chunk, or a
    /// block that no chunk of that length explains, is refused before its text is decoded.
    pub fn new(
        rows: ColumnView<'a>,
        text: ColumnView<'a>,
        chunks: ChunkReader<'a>,
        decoder: PooledDecoder<'a>,
        chunk_limit_bytes: usize,
    ) -> BlockReader<'a> {
        BlockReader {
            rows,
            text,
            chunks,
            decoder,
            chunk_limit_bytes: chunk_limit_bytes.min(BLOCK_LIMIT_BYTES),
            decoded_bytes: 0,
            last: None,
            cursor: None,
        }
    }

    /// Bytes of text decoded so far: what reading has cost.
    pub fn decoded_bytes(&self) -> u64 {
        self.decoded_bytes
    }

    /// The text of one chunk.
    ///
    /// # Errors
    /// [`Error::Damaged`] when rows, blocks and text contradict each other, or a chunk is longer than the
    /// file allows.
    pub fn chunk(&mut self, row: u32) -> Result<String> {
        let mut text = String::new();
        self.append(row, 1, &mut text)?;
        Ok(text)
    }

    /// Appends the text of `count` chunks of one document from `first` on. Chunks of a document are
    /// contiguous, so the text is never longer than a span can say.
    ///
    /// # Errors
    /// As [`BlockReader::chunk`]; [`Error::Damaged`] when the chunks are of several documents.
    pub fn append(&mut self, first: u32, count: u32, text: &mut String) -> Result<()> {
        let mut row = first;
        let end = first
            .checked_add(count)
            .ok_or_else(|| no_block_for(first))?;
        if row == end {
            return Ok(());
        }
        let document = self.chunks.document(first)?;
        while row < end {
            let number = self.block_number(row)?;
            let block = self.block(number)?;
            let next_first = if number + 1 < self.rows.rows() {
                self.block(number + 1)?.first_row
            } else {
                end
            };
            if next_first <= row {
                return Err(Error::damaged(format!("block {number} holds no chunk")));
            }
            let chunks = self.chunks;
            self.decode(number, block)?;
            let (from, mut offset) = match self.cursor {
                Some(cursor) if cursor.block == number && cursor.row <= row => {
                    (cursor.row, cursor.offset)
                }
                _ => (block.first_row, 0),
            };
            let bytes = self.decoder.text();
            for at in from..next_first.min(end) {
                let chunk = chunks.get(at)?;
                let len = chunk.at.span.len() as usize;
                if len > self.chunk_limit_bytes {
                    return Err(Error::damaged(format!(
                        "chunk {at} has {len} bytes where the file allows {}",
                        self.chunk_limit_bytes
                    )));
                }
                if at >= row {
                    if chunk.document != document {
                        return Err(Error::damaged(format!("chunk {at} is of another document")));
                    }
                    let piece = bytes
                        .get(offset..offset + len)
                        .and_then(|piece| std::str::from_utf8(piece).ok())
                        .ok_or_else(|| Error::damaged(format!("text of chunk {at}")))?;
                    text.push_str(piece);
                }
                offset += len;
            }
            self.cursor = Some(Cursor {
                block: number,
                row: next_first.min(end),
                offset,
            });
            row = next_first;
        }
        if self.decoder.shrink_if_long() {
            (self.last, self.cursor) = (None, None);
        }
        Ok(())
    }

    /// Appends the text of chunks of one document, without a look at those between the first and the last: for
    /// callers that read much. The text is as long as the spans of both say; whether it is UTF-8 is not checked.
    ///
    /// # Errors
    /// [`Error::Damaged`] when rows, blocks and text contradict each other.
    pub fn append_bytes(&mut self, first: u32, count: u32, bytes: &mut Vec<u8>) -> Result<()> {
        let Some(last) = count
            .checked_sub(1)
            .and_then(|more| first.checked_add(more))
        else {
            return Ok(());
        };
        let (start, end) = (
            self.chunks.get(first)?.at.span.start,
            self.chunks.get(last)?.at.span.end,
        );
        let mut left = end.saturating_sub(start) as usize;
        if left as u64 > u64::from(count) * self.chunk_limit_bytes as u64 {
            return Err(Error::damaged(format!(
                "chunks {first} to {last} have too much text"
            )));
        }
        let mut number = self.block_number(first)?;
        let mut offset = self.offset_in_block(number, first)?;
        while left > 0 {
            if number >= self.rows.rows() {
                return Err(no_block_for(last));
            }
            let block = self.block(number)?;
            self.decode(number, block)?;
            let text = self.decoder.text();
            let taken = left.min(text.len().saturating_sub(offset));
            let piece = text
                .get(offset..offset.saturating_add(taken))
                .unwrap_or_default();
            bytes.extend_from_slice(piece);
            left -= piece.len();
            offset += piece.len();
            // The next row begins there, if it is in this block.
            self.cursor = (left == 0).then_some(Cursor {
                block: number,
                row: last.saturating_add(1),
                offset,
            });
            if left > 0 {
                number += 1;
                offset = 0;
            }
        }
        if self.decoder.shrink_if_long() {
            (self.last, self.cursor) = (None, None);
        }
        Ok(())
    }

    /// Where the text of a row begins in its block.
    fn offset_in_block(&self, number: u64, row: u32) -> Result<usize> {
        let (from, mut offset) = match self.cursor {
            Some(cursor) if cursor.block == number && cursor.row <= row => {
                (cursor.row, cursor.offset)
            }
            _ => (self.block(number)?.first_row, 0),
        };
        for at in from..row {
            offset += self.chunks.get(at)?.at.span.len() as usize;
        }
        Ok(offset)
    }

    /// Number of the block that holds a chunk row.
    fn block_number(&self, row: u32) -> Result<u64> {
        // Extent by extent first, so that each is asked for once.
        let (mut low, mut high) = (0, self.rows.extents());
        while low < high {
            let middle = low.midpoint(high);
            let (_, blocks) = self.rows.extent(middle)?;
            if u32_at(blocks, FIRST_ROW_AT)? <= row {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let extent = low.checked_sub(1).ok_or_else(|| no_block_for(row))?;
        let (start, blocks) = self.rows.extent(extent)?;
        let (blocks, _) = blocks.as_chunks::<{ ROW_BYTES as usize }>();
        // As long as a row, so never out of range.
        let before = blocks
            .partition_point(|block| u32_at(block, FIRST_ROW_AT).is_ok_and(|first| first <= row));
        let number = start / u64::from(ROW_BYTES) + before.saturating_sub(1) as u64;
        if row - self.block(number)?.first_row > BLOCK_LIMIT_ROWS {
            return Err(no_block_for(row));
        }
        Ok(number)
    }

    fn block(&self, number: u64) -> Result<Block> {
        let row = self.rows.row(number)?;
        Ok(Block {
            position: u64_at(row, 0)?,
            frame_bytes: u32_at(row, 8)? as usize,
            text_bytes: u32_at(row, 12)? as usize,
            first_row: u32_at(row, FIRST_ROW_AT)?,
        })
    }

    /// Decodes a block, unless it is the one that was decoded last.
    fn decode(&mut self, number: u64, block: Block) -> Result<()> {
        if self.last == Some(number) {
            return Ok(());
        }
        // Before memory is taken: a row of the file claims the length.
        if block.text_bytes > self.chunk_limit_bytes + BLOCK_FILL_LIMIT_BYTES {
            return Err(Error::damaged(format!(
                "block {number} claims too much text"
            )));
        }
        let frame = self.text.bytes(block.position, block.frame_bytes)?;
        // A failed decode leaves other bytes in the buffer.
        self.last = None;
        let text = self
            .decoder
            .decode(frame, block.text_bytes)
            .map_err(|error| Error::damaged(format!("block {number}: {error}")))?;
        // Offsets of chunks are sums of lengths, so a shorter text would shift all that follow.
        if text.len() != block.text_bytes {
            return Err(Error::damaged(format!("block {number} has another length")));
        }
        self.decoded_bytes += text.len() as u64;
        self.last = Some(number);
        Ok(())
    }
}

fn no_block_for(row: u32) -> Error {
    Error::damaged(format!("no text block holds chunk {row}"))
}
