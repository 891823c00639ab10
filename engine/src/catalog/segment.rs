//! A segment of one commit: its records, where its columns lie, and readers over a snapshot.

use std::sync::Arc;

use kb_types::SegmentId;
use kb_types::error::{Error, Result};
use roaring::RoaringBitmap;

use crate::catalog::bound_columns::{BoundColumns, Wanted};
use crate::catalog::columns::{Column, Facts};
use crate::catalog::more_vectors::{BoundVectors, MoreVectorIndex, bound_vectors};
use crate::container::column::ColumnId;
use crate::container::{SegmentExtents, Snapshot};
use crate::index::{keyword, trigram, vector};
use crate::metric::Metric;
use crate::store::blocks::BlockReader;
use crate::store::chunks::{BLOCK_ROWS, ChunkReader, HEAD_BYTES};
use crate::store::decoder::DecoderPool;
use crate::store::deleted::Deleted;
use crate::store::fields::columns::reader as fields;
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

    /// What its columns depend on; of those of vectors, the ones of the built-in model.
    pub fn facts(&self) -> Facts<'_> {
        let records = &self.records;
        let columns = &records.segment.columns;
        let has = |id: ColumnId| columns.iter().any(|column| column.column == id.0);
        Facts {
            rows: self.rows(),
            keyword: &records.text,
            vectors: &records.vectors,
            metric: Metric::Cosine,
            has_trigrams: has(trigram::UNITS),
            has_fields: has(tables::FIELD_VALUES),
        }
    }

    /// The columns of the segment over a snapshot.
    ///
    /// # Errors
    /// [`Error::Damaged`] when a column is missing, or there are not as many chunks as rows.
    pub fn bind<'s>(&'s self, snapshot: &'s Snapshot<'_>) -> Result<BoundSegment<'s>> {
        let facts = self.facts();
        // While a file is sealed, a segment has no sign bits until its inverted lists are made.
        let wanted = |column: &Column| match column.id {
            vector::CODES => Wanted::IfThere,
            _ => Wanted::Always,
        };
        let columns = BoundColumns::bind(&self.extents, snapshot, &facts, wanted, |id| id)?;
        let wanted = u64::from(self.rows()).div_ceil(u64::from(BLOCK_ROWS));
        // All that counts up to the number of rows is bounded by the size of the file.
        if columns.view(tables::CHUNK_HEADS).rows() != wanted {
            return Err(Error::damaged(format!(
                "segment {} claims other rows than it has",
                self.id.0
            )));
        }
        let more = self.records.more_vectors.iter();
        let more = more.map(|index| BoundVectors::bind(index, &facts, &self.extents, snapshot));
        Ok(BoundSegment {
            segment: self,
            columns,
            more_vectors: more.collect::<Result<Vec<_>>>()?,
        })
    }
}

/// The columns of one segment over one snapshot.
#[derive(Debug)]
pub struct BoundSegment<'s> {
    /// The segment.
    pub segment: &'s Segment,
    /// Those of the built-in model, and all that are not of vectors.
    columns: BoundColumns<'s>,
    /// Vectors of other models, by ascending number.
    more_vectors: Vec<BoundVectors<'s>>,
}

impl<'s> BoundSegment<'s> {
    /// Chunk rows.
    pub fn chunks(&self) -> ChunkReader<'_> {
        let heads = self.columns.view(tables::CHUNK_HEADS);
        let blocks = self.columns.view(tables::CHUNK_BLOCKS);
        ChunkReader::new(heads, blocks, self.segment.rows())
    }

    /// Text of chunks.
    pub fn blocks(&self) -> Result<BlockReader<'_>> {
        let records = &self.segment.records;
        let dictionary = self.columns.view(tables::TEXT_DICTIONARY);
        let decoder = records.decoders.acquire(dictionary)?;
        Ok(BlockReader::new(
            self.columns.view(tables::BLOCKS),
            self.columns.view(tables::TEXT),
            self.chunks(),
            decoder,
            self.segment.chunk_limit_bytes as usize,
        ))
    }

    /// The keyword index.
    pub fn keyword_index(&self) -> Result<keyword::Reader<'_>> {
        keyword::Reader::new(
            &self.segment.records.text,
            self.columns.view(keyword::DICTIONARY),
            self.columns.view(keyword::POSTINGS),
            self.columns.view(keyword::LENGTHS),
        )
    }

    /// Which trigrams the text has; `None` where that was not written.
    ///
    /// # Errors
    /// [`Error::Damaged`].
    pub fn trigrams(&self) -> Result<Option<trigram::Reader<'_>>> {
        let columns = [trigram::UNITS, trigram::BLOCKS, trigram::LISTS];
        let Some([units, blocks, lists]) = self.columns.all_or_none(columns) else {
            return Ok(None);
        };
        trigram::Reader::new(units, blocks, lists, self.segment.rows()).map(Some)
    }

    /// The columns of fields; `None` where the segment has none.
    pub(crate) fn fields(&'s self, snapshot: &'s Snapshot<'s>) -> Option<fields::Reader<'s>> {
        let column = self.columns.get(tables::FIELD_VALUES)?;
        let of = (self.segment.id, self.segment.rows());
        Some(fields::Reader::new(snapshot, of, column))
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
        bound_vectors(&self.segment.records.vectors, &self.columns)
    }
}
