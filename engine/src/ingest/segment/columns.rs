//! The columns that every writer of a segment fills in the same way, and the record made of them.

use kb_types::cell_text::ShownRows;
use kb_types::error::Result;
use kb_types::{PartKind, SegmentId};

use crate::container::Transaction;
use crate::container::column::ColumnRecord;
use crate::index::keyword::KeywordRecord;
use crate::index::trigram::builder::SearchedText;
use crate::index::trigram::merge_builder::MergeBuilder;
use crate::index::vector;
use crate::ingest::segment::more_vectors::MergedVectors;
use crate::store::block_writer::BlockWriter;
use crate::store::chunks::ChunkWriter;
use crate::store::segments::SegmentRecord;

/// What regular expressions search in the text of a document with such parts, where that is another text: of sheets,
/// what cells show.
pub(in crate::ingest) fn searched_text(kind: Option<PartKind>) -> Option<SearchedText> {
    (kind == Some(PartKind::Sheet)).then_some(|stored: &str| ShownRows::of(stored).text)
}

/// Chunks, text and vectors of a segment under construction: row n of each belongs to chunk n.
#[derive(Debug)]
pub(super) struct SegmentColumns<'a> {
    /// Number of the segment.
    pub(super) segment: SegmentId,
    /// Chunk rows.
    pub(super) chunks: ChunkWriter,
    /// Text of the chunks.
    pub(super) blocks: BlockWriter,
    /// One vector a chunk.
    pub(super) vectors: vector::writer::Writer,
    /// Vectors of other models; only merges have any.
    pub(super) more_vectors: MergedVectors,
    /// Which trigrams the text has; `None`: the segment gets none.
    pub(super) trigrams: Option<MergeBuilder<'a>>,
    /// Documents so far.
    pub(super) documents: u32,
    /// Bytes of text so far.
    pub(super) text_bytes: u64,
}

impl SegmentColumns<'_> {
    /// Chunk rows so far.
    pub(super) fn rows(&self) -> u32 {
        self.chunks.rows()
    }

    /// Writes what is left of the columns and gives the record of the segment, which the caller
    /// writes. `keyword_index` is called between the columns of text and those of vectors; it writes
    /// the keyword index, unless that is written already, and gives its record. `fields` is the column of fields, which is
    /// written already. Asks `check` now and then whether to
    /// go on.
    pub(super) fn finish(
        self,
        transaction: &mut Transaction<'_>,
        check: &mut dyn FnMut() -> Result<()>,
        fields: Option<ColumnRecord>,
        keyword_index: impl FnOnce(&mut Transaction<'_>) -> Result<KeywordRecord>,
    ) -> Result<SegmentRecord> {
        let rows = self.rows();
        let mut columns = self.chunks.finish(transaction)?.to_vec();
        columns.extend(self.blocks.finish(transaction)?);
        columns.extend(fields);
        let keyword_index = keyword_index(transaction)?;
        columns.extend(keyword_index.columns().map(ColumnRecord::clone));
        let (vector_index, vector_columns) = self.vectors.finish(transaction)?;
        columns.extend(vector_columns);
        let (more_vectors, more_columns) = self.more_vectors.finish(transaction)?;
        columns.extend(more_columns);
        if let Some(trigrams) = self.trigrams {
            let trigram_columns = trigrams.finish(self.segment, transaction, check)?;
            columns.extend(trigram_columns.into_iter().flatten());
        }
        columns.sort_by_key(|column| column.column);
        Ok(SegmentRecord {
            rows,
            documents: self.documents,
            text_bytes: self.text_bytes,
            columns,
            text_index: keyword_index.encode()?,
            vector_index: vector_index.encode()?,
            more_vectors,
        })
    }
}
