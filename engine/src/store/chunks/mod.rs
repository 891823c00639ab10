//! Chunk rows: which document, which bytes, which lines.
//!
//! A row has a document, the end of the span, first and last line. The start is the end of the row before
//! when that belongs to the same document, else 0: the chunks of a document are consecutive rows and
//! contiguous bytes. Rows of a segment are in the order of (document path bytes, start), which makes row
//! order the order of ties. They are stored in [`packed`] blocks, about 4 bytes a row.

use kb_types::error::{Error, Result};
use kb_types::{ChunkSpan, DocumentId, SegmentId, Span};

use crate::container::column::{
    ColumnRecord, ColumnView, ColumnWriter, ExtentSink, SCATTERED_ORDER,
};
use crate::store::tables;

mod packed;
mod row;

use packed::PackedRows;
pub use packed::{BLOCK_ROWS, HEAD_BYTES};
pub(crate) use row::ChunkRow;

/// Writes the chunk rows of a segment.
#[derive(Debug)]
pub struct ChunkWriter {
    /// Column 5: a head for each block.
    heads: ColumnWriter,
    /// Column 6: the numbers of the blocks, back to back.
    blocks: ColumnWriter,
    /// The row before those that wait.
    before: Option<ChunkRow>,
    /// Rows of no block yet, less than one has.
    waiting: Vec<ChunkRow>,
    /// Rows written.
    rows: u32,
}

impl ChunkWriter {
    /// Without rows so far; nothing is written before a block is full.
    pub fn new(segment: SegmentId) -> ChunkWriter {
        let (heads, blocks) = (tables::CHUNK_HEADS, tables::CHUNK_BLOCKS);
        ChunkWriter {
            heads: ColumnWriter::rows(segment, heads, HEAD_BYTES, SCATTERED_ORDER),
            blocks: ColumnWriter::items(segment, blocks, SCATTERED_ORDER),
            before: None,
            waiting: Vec::with_capacity(BLOCK_ROWS as usize),
            rows: 0,
        }
    }

    /// Appends the next chunk of a document.
    pub fn push(
        &mut self,
        sink: &mut dyn ExtentSink,
        document: DocumentId,
        chunk: &ChunkSpan,
    ) -> Result<()> {
        self.waiting.push(ChunkRow {
            document,
            end: chunk.span.end,
            lines: chunk.lines,
        });
        self.rows += 1;
        if self.waiting.len() == BLOCK_ROWS as usize {
            self.close_block(sink)?;
        }
        Ok(())
    }

    fn close_block(&mut self, sink: &mut dyn ExtentSink) -> Result<()> {
        // 2^24 rows of at most 16 bytes: a position fits.
        let position = u32::try_from(self.blocks.position()).unwrap_or(u32::MAX);
        let (head, block) = packed::pack(position, self.before.as_ref(), &self.waiting);
        self.heads.push(sink, &head)?;
        self.blocks.push(sink, &block)?;
        self.before = self.waiting.last().copied();
        self.waiting.clear();
        Ok(())
    }

    /// Rows so far.
    pub fn rows(&self) -> u32 {
        self.rows
    }

    /// Writes what is left: records of the columns 5 and 6.
    pub fn finish(mut self, sink: &mut dyn ExtentSink) -> Result<[ColumnRecord; 2]> {
        if !self.waiting.is_empty() {
            self.close_block(sink)?;
        }
        Ok([self.heads.finish(sink)?, self.blocks.finish(sink)?])
    }
}

/// A chunk as its row says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chunk {
    /// The document it belongs to.
    pub document: DocumentId,
    /// Its bytes and lines.
    pub at: ChunkSpan,
}

/// Reads chunk rows.
#[derive(Debug, Clone, Copy)]
pub struct ChunkReader<'a> {
    /// The columns 5 and 6 of the segment: heads and blocks of packed rows.
    packed: PackedRows<'a>,
}

impl<'a> ChunkReader<'a> {
    /// Over the columns 5 and 6 of [`ChunkWriter`] with so many rows.
    pub fn new(heads: ColumnView<'a>, blocks: ColumnView<'a>, rows: u32) -> ChunkReader<'a> {
        let packed = PackedRows::new(heads, blocks, rows);
        ChunkReader { packed }
    }

    /// The chunk of a row. Costs some tens of nanoseconds.
    ///
    /// # Errors
    /// [`Error::Damaged`] when there is no such row or its span runs backwards.
    pub fn get(&self, row: u32) -> Result<Chunk> {
        let (stored, start) = self.packed.get(row)?;
        if start > stored.end {
            return Err(Error::damaged(format!("chunk {row} ends before it starts")));
        }
        let at = ChunkSpan {
            span: Span {
                start,
                end: stored.end,
            },
            lines: stored.lines,
        };
        Ok(Chunk {
            document: stored.document,
            at,
        })
    }

    /// The row as it is stored; whether its span runs backwards is not looked at.
    ///
    /// # Errors
    /// [`Error::Damaged`] when there is no such row.
    pub fn row(&self, row: u32) -> Result<ChunkRow> {
        Ok(self.packed.get(row)?.0)
    }

    /// The document of a row, without the rest.
    pub fn document(&self, row: u32) -> Result<DocumentId> {
        self.packed.document(row)
    }

    /// The first rows of the documents all of whose rows are among these ascending ones. Reads the heads of their
    /// blocks only.
    ///
    /// # Errors
    /// [`Error::Damaged`].
    pub fn first_rows_of_whole(&self, rows: &[u32]) -> Result<Vec<u32>> {
        let mut firsts = None;
        let mut is_first = |row: u32| -> Result<bool> {
            // Behind the last document.
            if row >= self.packed.rows {
                return Ok(true);
            }
            let block = row / BLOCK_ROWS;
            let bits = match firsts {
                Some((of, bits)) if of == block => bits,
                _ => self.packed.firsts(block)?,
            };
            firsts = Some((block, bits));
            Ok((bits >> (row % BLOCK_ROWS)) & 1 == 1)
        };
        let mut found = Vec::new();
        // The first row of the document at hand, if all of its rows so far are there.
        let mut whole = None;
        let mut next = 0;
        for row in rows {
            if *row != next
                && let Some(first) = whole.take()
                && is_first(next)?
            {
                found.push(first);
            }
            if is_first(*row)? {
                found.extend(whole.replace(*row));
            }
            next = row.saturating_add(1);
        }
        if let Some(first) = whole
            && is_first(next)?
        {
            found.push(first);
        }
        Ok(found)
    }

    /// Whether the columns have the bytes that a writer makes of their rows, and no others. Linear in the number
    /// of rows.
    ///
    /// # Errors
    /// [`Error::Damaged`].
    pub fn is_canonical(&self) -> Result<bool> {
        self.packed.is_canonical()
    }
}

#[cfg(test)]
mod tests;
