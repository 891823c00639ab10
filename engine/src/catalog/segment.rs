//! A segment of one commit: its records, where its columns lie, and readers over a snapshot.

use std::sync::Arc;

use kb_types::SegmentId;
use kb_types::error::{Error, Result};
use roaring::RoaringBitmap;

use crate::catalog::more_vectors::{BoundVectors, MoreVectorIndex};
use crate::container::column::{ColumnId, ColumnView};
use crate::container::{BoundColumn, SegmentExtents, Snapshot};
use crate::index::{keyword, trigram, vector};
use crate::store::blocks::BlockReader;
use crate::store::chunks::{BLOCK_ROWS, ChunkReader, HEAD_BYTES};
use crate::store::decoder::DecoderPool;
use crate::store::deleted::Deleted;
use crate::store::segments::SegmentRecord;
use crate::store::tables;
use crate::store::vector_columns::VectorColumns;

/// One segment with its located columns.
#[derive(Debug)]
pub struct Segment {
    /// Its number.
    pub id: SegmentId,
    /// What never changes of it.
    pub records: Arc<SegmentRecords>,
    /// Where its columns lie.
    pub extents: SegmentExtents,
    /// Its deleted chunks; `None` while there are none.
    pub deleted: Option<Deleted>,
    /// Bytes that no chunk of the file exceeds.
    chunk_limit_bytes: u32,
}

/// The records of a segment; a segment never changes.
#[derive(Debug)]
pub struct SegmentRecords {
    /// Row count, sizes and columns.
    pub segment: SegmentRecord,
    /// Header of its keyword index.
    pub text: keyword::KeywordRecord,
    /// Header of its vector index.
    pub vectors: vector::VectorRecord,
    /// Vectors of other models, by ascending number.
    pub more_vectors: Vec<MoreVectorIndex>,
    /// What decodes its text blocks.
    pub decoders: DecoderPool,
}

impl Segment {
    pub(super) fn load(
        snapshot: &Snapshot<'_>,
        id: SegmentId,
        previous: Option<&Segment>,
        chunk_limit_bytes: u32,
        columns: &VectorColumns,
    ) -> Result<Segment> {
        // An equal number is not enough: `before` may be of another file, or a commit may have
        // changed the vectors of the segment. Extents and record are compared.
        if let Some(previous) = previous
            && let Some(extents) = previous.extents.in_commit(snapshot)?
            && previous.is_as_in(snapshot)?
        {
            let deleted = Deleted::read(snapshot, id, previous.records.segment.rows)?;
            return Ok(Segment {
                id,
                records: Arc::clone(&previous.records),
                extents,
                deleted,
                chunk_limit_bytes,
            });
        }
        let record = SegmentRecord::read(snapshot, id)?;
        let extents =
            SegmentExtents::locate(snapshot, &tables::segment_table(id), id, &record.columns)?;
        let deleted = Deleted::read(snapshot, id, record.rows)?;
        let text = keyword::KeywordRecord::decode(&record.text_index)?;
        let vectors = vector::VectorRecord::decode(&record.vector_index)?;
        let more_vectors = MoreVectorIndex::all_of(&record, id, columns)?;
        // What later steps allocate by rows is bounded by what the file has. The column of heads
        // has a fixed size a block, and extents are checked against the length of the file, so that
        // the number of rows cannot be forged without bytes for it.
        let rows = u64::from(record.rows);
        let heads_bytes = rows.div_ceil(u64::from(BLOCK_ROWS)) * u64::from(HEAD_BYTES);
        let mut columns = record.columns.iter();
        let heads = columns.find(|column| column.column == tables::CHUNK_HEADS.0);
        let has_rows = heads.is_some_and(|heads| heads.len_bytes() == heads_bytes);
        if text.rows != record.rows || vectors.rows != record.rows || !has_rows {
            return Err(Error::damaged(format!(
                "columns and indexes of segment {} differ in rows",
                id.0
            )));
        }
        let records = Arc::new(SegmentRecords {
            segment: record,
            text,
            vectors,
            more_vectors,
            decoders: DecoderPool::default(),
        });
        Ok(Segment {
            id,
            records,
            extents,
            deleted,
            chunk_limit_bytes,
        })
    }

    /// Whether its record is the same in another commit that has the same extents: only which rows have a vector of
    /// another model may differ.
    fn is_as_in(&self, snapshot: &Snapshot<'_>) -> Result<bool> {
        let record = &self.records.segment;
        Ok(record.more_vectors.is_empty() || SegmentRecord::read(snapshot, self.id)? == *record)
    }

    /// Chunk rows, deleted ones included.
    pub fn rows(&self) -> u32 {
        self.records.segment.rows
    }

    /// Chunk rows that are not deleted.
    pub fn live_rows(&self) -> u32 {
        let deleted = self
            .deleted
            .as_ref()
            .map_or(0, |deleted| deleted.rows.len());
        self.rows()
            .saturating_sub(u32::try_from(deleted).unwrap_or(u32::MAX))
    }

    /// Sum of the lengths of these in terms.
    pub(super) fn live_length(&self) -> u64 {
        let deleted = self
            .deleted
            .as_ref()
            .map_or(0, |deleted| deleted.total_length);
        self.records.text.total_length.saturating_sub(deleted)
    }

    /// Bytes of the text of these.
    pub fn live_text_bytes(&self) -> u64 {
        let deleted = self
            .deleted
            .as_ref()
            .map_or(0, |deleted| deleted.text_bytes);
        self.records.segment.text_bytes.saturating_sub(deleted)
    }

    /// Its deleted rows; `None` when there are none.
    pub fn deleted_rows(&self) -> Option<&RoaringBitmap> {
        self.deleted.as_ref().map(|deleted| &deleted.rows)
    }

    /// The columns of the segment over a snapshot.
    ///
    /// # Errors
    /// [`Error::Damaged`] when a column is missing, or there are not as many chunks as rows.
    pub fn bind<'s>(&'s self, snapshot: &'s Snapshot<'_>) -> Result<BoundSegment<'s>> {
        let column = |id: ColumnId| {
            self.extents.column(snapshot, id).ok_or_else(|| {
                Error::damaged(format!("segment {} has no column {}", self.id.0, id.0))
            })
        };
        let chunk_heads = column(tables::CHUNK_HEADS)?;
        let wanted = u64::from(self.rows()).div_ceil(u64::from(BLOCK_ROWS));
        // All that counts up to the number of rows is bounded by the size of the file.
        if view(&chunk_heads).rows() != wanted {
            return Err(Error::damaged(format!(
                "segment {} claims other rows than it has",
                self.id.0
            )));
        }
        Ok(BoundSegment {
            segment: self,
            chunk_heads,
            chunk_blocks: column(tables::CHUNK_BLOCKS)?,
            blocks: column(tables::BLOCKS)?,
            text: column(tables::TEXT)?,
            text_dictionary: column(tables::TEXT_DICTIONARY)?,
            dictionary: column(keyword::DICTIONARY)?,
            postings: column(keyword::POSTINGS)?,
            lengths: column(keyword::LENGTHS)?,
            rows: column(vector::ROWS)?,
            codes: self.extents.column(snapshot, vector::CODES),
            lists: match self.extents.column(snapshot, vector::CENTROIDS) {
                Some(centroids) => Some([
                    centroids,
                    column(vector::LISTS)?,
                    column(vector::LIST_BLOCKS)?,
                ]),
                None => None,
            },
            trigrams: match self.extents.column(snapshot, trigram::UNITS) {
                Some(units) => Some([units, column(trigram::BLOCKS)?, column(trigram::LISTS)?]),
                None => None,
            },
            more_vectors: {
                let more = self.records.more_vectors.iter();
                let bound = more.map(|index| BoundVectors::bind(index, &self.extents, snapshot));
                bound.collect::<Result<Vec<_>>>()?
            },
        })
    }
}

/// The columns of one segment over one snapshot.
#[derive(Debug)]
pub struct BoundSegment<'s> {
    /// The segment.
    pub segment: &'s Segment,
    chunk_heads: BoundColumn<'s>,
    chunk_blocks: BoundColumn<'s>,
    blocks: BoundColumn<'s>,
    text: BoundColumn<'s>,
    text_dictionary: BoundColumn<'s>,
    dictionary: BoundColumn<'s>,
    postings: BoundColumn<'s>,
    lengths: BoundColumn<'s>,
    rows: BoundColumn<'s>,
    /// `None` where there are inverted lists.
    codes: Option<BoundColumn<'s>>,
    /// Centroids, lists and blocks; `None` in a segment without inverted lists.
    lists: Option<[BoundColumn<'s>; 3]>,
    /// Units, blocks and lists; `None` in a segment without trigrams.
    trigrams: Option<[BoundColumn<'s>; 3]>,
    /// Vectors of other models, by ascending number.
    more_vectors: Vec<BoundVectors<'s>>,
}

impl<'s> BoundSegment<'s> {
    /// Chunk rows.
    pub fn chunks(&self) -> ChunkReader<'_> {
        let (heads, blocks) = (view(&self.chunk_heads), view(&self.chunk_blocks));
        ChunkReader::new(heads, blocks, self.segment.rows())
    }

    /// Text of chunks.
    pub fn blocks(&self) -> Result<BlockReader<'_>> {
        let records = &self.segment.records;
        let dictionary = view(&self.text_dictionary);
        let decoder = records.decoders.acquire(dictionary)?;
        let (blocks, text) = (view(&self.blocks), view(&self.text));
        Ok(BlockReader::new(
            blocks,
            text,
            self.chunks(),
            decoder,
            self.segment.chunk_limit_bytes as usize,
        ))
    }

    /// The keyword index.
    pub fn keyword_index(&self) -> Result<keyword::Reader<'_>> {
        keyword::Reader::new(
            &self.segment.records.text,
            view(&self.dictionary),
            view(&self.postings),
            view(&self.lengths),
        )
    }

    /// Which trigrams the text has; `None` where that was not written.
    ///
    /// # Errors
    /// [`Error::Damaged`].
    pub fn trigrams(&self) -> Result<Option<trigram::Reader<'_>>> {
        let Some([units, blocks, lists]) = &self.trigrams else {
            return Ok(None);
        };
        let rows = self.segment.rows();
        trigram::Reader::new(view(units), view(blocks), view(lists), rows).map(Some)
    }

    /// The vectors of all columns of other models, by ascending number.
    pub fn all_more_vectors(&self) -> &[BoundVectors<'s>] {
        &self.more_vectors
    }

    /// The vectors of a column of another model; `None` where no chunk has one.
    pub fn more_vectors(&self, number: u16) -> Option<&BoundVectors<'s>> {
        let mut more = self.more_vectors.iter();
        more.find(|bound| bound.index.number == number)
    }

    /// The vector index.
    pub fn vectors(&self) -> Result<vector::reader::Reader<'_>> {
        let record = &self.segment.records.vectors;
        let lists = self.lists.as_ref().map(|lists| lists.each_ref().map(view));
        vector::reader::Reader::new(
            record,
            view(&self.rows),
            self.codes.as_ref().map(view),
            lists,
        )
    }
}

fn view<'b>(column: &'b BoundColumn<'_>) -> ColumnView<'b> {
    column.view()
}
