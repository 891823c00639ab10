//! Chunk rows: which document, which bytes, which lines.
//!
//! A row is 16 bytes: document, end of the span, first line, last line, each u32. The start is the
//! end of the row before when that belongs to the same document, else 0: the chunks of a document
//! are consecutive rows and contiguous bytes. Rows of a segment are in the order of (document path
//! bytes, start), which makes row order the order of ties.

use crate::container::codec::u32_at;
use crate::container::column::{
    ColumnRecord, ColumnView, ColumnWriter, ExtentSink, SCATTERED_ORDER,
};
use crate::error::{Error, Result};
use crate::store::tables;
use crate::types::{ChunkSpan, DocumentId, Lines, SegmentId, Span};

/// Bytes of a row.
pub const ROW_BYTES: u32 = 16;

/// Writes the chunk rows of a segment.
#[derive(Debug)]
pub struct ChunkWriter {
    /// The column.
    column: ColumnWriter,
    /// Rows written.
    rows: u32,
}

impl ChunkWriter {
    /// An empty column.
    pub fn new(segment: SegmentId) -> ChunkWriter {
        ChunkWriter {
            column: ColumnWriter::rows(segment, tables::CHUNKS, ROW_BYTES, SCATTERED_ORDER),
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
        let mut row = [0; ROW_BYTES as usize];
        let numbers = [
            document.0,
            chunk.span.end,
            chunk.lines.first,
            chunk.lines.last,
        ];
        for (bytes, number) in row.chunks_exact_mut(4).zip(numbers) {
            bytes.copy_from_slice(&number.to_le_bytes());
        }
        self.column.push(sink, &row)?;
        self.rows += 1;
        Ok(())
    }

    /// Rows so far.
    pub fn rows(&self) -> u32 {
        self.rows
    }

    /// Writes what is left.
    pub fn finish(self, sink: &mut dyn ExtentSink) -> Result<ColumnRecord> {
        self.column.finish(sink)
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
    /// The column.
    column: ColumnView<'a>,
}

impl<'a> ChunkReader<'a> {
    /// Over a column written by [`ChunkWriter`].
    pub fn new(column: ColumnView<'a>) -> ChunkReader<'a> {
        ChunkReader { column }
    }

    /// The chunk of a row.
    ///
    /// # Errors
    /// [`Error::Damaged`] when there is no such row or its span runs backwards.
    pub fn get(&self, row: u32) -> Result<Chunk> {
        let bytes = self.column.row(u64::from(row))?;
        let document = u32_at(bytes, 0)?;
        let end = u32_at(bytes, 4)?;
        let start = match row.checked_sub(1) {
            Some(before) => {
                let before = self.column.row(u64::from(before))?;
                if u32_at(before, 0)? == document {
                    u32_at(before, 4)?
                } else {
                    0
                }
            }
            None => 0,
        };
        if start > end {
            return Err(Error::damaged(format!("chunk {row} ends before it starts")));
        }
        let lines = Lines {
            first: u32_at(bytes, 8)?,
            last: u32_at(bytes, 12)?,
        };
        let at = ChunkSpan {
            span: Span { start, end },
            lines,
        };
        Ok(Chunk {
            document: DocumentId(document),
            at,
        })
    }

    /// The document of a row, without the rest.
    pub fn document(&self, row: u32) -> Result<DocumentId> {
        Ok(DocumentId(u32_at(self.column.row(u64::from(row))?, 0)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::container::column::{MemoryExtents, extent_starts};

    #[test]
    fn a_chunk_starts_where_the_one_before_it_in_its_document_ends() {
        let mut sink = MemoryExtents::default();
        let mut writer = ChunkWriter::new(SegmentId(1));
        let chunk = |start, end, first, last| ChunkSpan {
            span: Span { start, end },
            lines: Lines { first, last },
        };
        let rows = [
            (DocumentId(4), chunk(0, 10, 1, 2)),
            (DocumentId(4), chunk(10, 25, 3, 3)),
            (DocumentId(9), chunk(0, 7, 1, 1)),
        ];
        for (document, at) in &rows {
            writer.push(&mut sink, *document, at).unwrap();
        }
        let record = writer.finish(&mut sink).unwrap();
        let starts = extent_starts(&record);
        let view = ColumnView::new(&starts, ROW_BYTES, &sink.columns[&tables::CHUNKS]);
        let reader = ChunkReader::new(view);
        for (row, (document, at)) in rows.iter().enumerate() {
            let chunk = reader.get(row as u32).unwrap();
            assert_eq!((chunk.document, chunk.at), (*document, *at));
        }
        assert!(reader.get(3).is_err());
    }
}
