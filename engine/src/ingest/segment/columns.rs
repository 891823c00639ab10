//! The columns that every writer of a segment fills in the same way, and the record made of them.

use crate::container::Transaction;
use crate::container::column::ColumnRecord;
use crate::error::Result;
use crate::index::keyword::KeywordRecord;
use crate::index::vector;
use crate::store::block_writer::BlockWriter;
use crate::store::chunks::ChunkWriter;
use crate::store::segments::SegmentRecord;

/// Chunks, text and vectors of a segment under construction: row n of each belongs to chunk n.
#[derive(Debug)]
pub(super) struct SegmentColumns {
    /// Chunk rows.
    pub(super) chunks: ChunkWriter,
    /// Text of the chunks.
    pub(super) blocks: BlockWriter,
    /// One vector a chunk.
    pub(super) vectors: vector::writer::Writer,
    /// Documents so far.
    pub(super) documents: u32,
    /// Bytes of text so far.
    pub(super) text_bytes: u64,
}

impl SegmentColumns {
    /// Chunk rows so far.
    pub(super) fn rows(&self) -> u32 {
        self.chunks.rows()
    }

    /// Writes what is left of the columns and gives the record of the segment, which the caller
    /// writes. `keyword_index` is called between the columns of text and those of vectors; it writes
    /// the keyword index, unless that is written already, and gives its record.
    pub(super) fn finish(
        self,
        transaction: &mut Transaction<'_>,
        keyword_index: impl FnOnce(&mut Transaction<'_>) -> Result<KeywordRecord>,
    ) -> Result<SegmentRecord> {
        let rows = self.rows();
        let mut columns = vec![self.chunks.finish(transaction)?];
        columns.extend(self.blocks.finish(transaction)?);
        let keyword_index = keyword_index(transaction)?;
        columns.extend(keyword_index.columns().map(ColumnRecord::clone));
        let (vector_index, vector_columns) = self.vectors.finish(transaction)?;
        columns.extend(vector_columns);
        columns.sort_by_key(|column| column.column);
        Ok(SegmentRecord {
            rows,
            documents: self.documents,
            text_bytes: self.text_bytes,
            columns,
            text_index: keyword_index.encode()?,
            vector_index: vector_index.encode()?,
        })
    }
}
