//! The records of one commit: loaded once, shared by all that read it until the next commit.
//!
//! Search, merges and checks stand on it. It ranks nothing and reads no text.

mod directory;

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use roaring::RoaringBitmap;

use crate::container::column::{ColumnId, ColumnRecord, ColumnView};
use crate::container::{BoundColumn, SegmentExtents};
use crate::container::{SlotIdentity, Snapshot};
use crate::error::{Error, Result};
use crate::index::{keyword, vector};
use crate::store::blocks::BlockReader;
use crate::store::chunks::{self, ChunkReader};
use crate::store::decoder::DecoderPool;
use crate::store::deleted::Deleted;
use crate::store::documents::{DocumentRecord, Documents};
use crate::store::meta::{Manifest, Meta};
use crate::store::outline::Outlines;
use crate::store::segments::SegmentRecord;
use crate::store::tables;
use crate::types::SegmentId;

pub use directory::{Directory, DirectoryEntry};

/// The records of one commit.
#[derive(Debug)]
pub struct Catalog {
    /// Facts about the file.
    pub meta: Meta,
    /// Live segments and next numbers.
    pub manifest: Manifest,
    /// Document tables.
    pub documents: Documents,
    /// Outline table.
    pub outlines: Outlines,
    /// Live segments, by ascending number.
    pub segments: Vec<Segment>,
    /// Statistics of all live chunks, for BM25.
    pub statistics: keyword::Statistics,
    /// Its documents, once someone asked for all of them.
    directory: OnceLock<Directory>,
}

/// The catalog of the commit that was read last. A writer asks for it at every look-up, and pays for
/// what a commit changed only.
#[derive(Debug, Default)]
pub struct CatalogCache {
    cached: Mutex<Option<(SlotIdentity, Arc<Catalog>)>>,
}

impl CatalogCache {
    /// The catalog of a commit: the one that is kept, or loaded after it. All calls must read one
    /// container.
    ///
    /// # Errors
    /// As [`Catalog::load`].
    pub fn get(&self, snapshot: &Snapshot<'_>) -> Result<Arc<Catalog>> {
        let identity = snapshot.identity();
        let mut cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        let before = match cached.as_ref() {
            Some((of, catalog)) if *of == identity => return Ok(Arc::clone(catalog)),
            before => before.map(|(_, catalog)| Arc::clone(catalog)),
        };
        let catalog = Arc::new(Catalog::load_after(snapshot, before.as_deref())?);
        *cached = Some((identity, Arc::clone(&catalog)));
        Ok(catalog)
    }
}

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
    /// What decodes its text blocks.
    pub decoders: DecoderPool,
}

impl Catalog {
    /// Reads the records of a commit. Touches rows and branch pages only, no extent.
    ///
    /// # Errors
    /// [`Error::Damaged`] and [`Error::FormatUnsupported`].
    pub fn load(snapshot: &Snapshot<'_>) -> Result<Catalog> {
        Catalog::load_after(snapshot, None)
    }

    /// As [`Catalog::load`]; segments that `before`, an earlier commit of the same file, has too are
    /// taken from there, so that following commits costs what has changed.
    ///
    /// # Errors
    /// As [`Catalog::load`].
    pub fn load_after(snapshot: &Snapshot<'_>, before: Option<&Catalog>) -> Result<Catalog> {
        let meta = Meta::read(snapshot)?;
        vector::check_codec(meta.embedder.codec)?;
        // Its segments ascend strictly: none is loaded twice, or a million times.
        let manifest = Manifest::read(snapshot)?;
        let documents = Documents::locate(snapshot)?;
        let outlines = Outlines::locate(snapshot)?;
        let mut segments = Vec::new();
        let mut statistics = keyword::Statistics::default();
        for number in &manifest.segments {
            let id = SegmentId(*number);
            let previous = before.and_then(|before| before.segment(id).ok());
            let chunk_limit_bytes = meta.chunker.cap_bytes;
            let segment = Segment::load(snapshot, id, previous, chunk_limit_bytes)?;
            if segment.records.vectors.codec != meta.embedder.codec {
                return Err(Error::damaged(format!(
                    "the vectors of segment {number} are stored in another way than the file says"
                )));
            }
            statistics.chunks += u64::from(segment.live_rows());
            statistics.total_length = statistics
                .total_length
                .saturating_add(segment.live_length());
            segments.push(segment);
        }
        Ok(Catalog {
            meta,
            manifest,
            documents,
            outlines,
            segments,
            statistics,
            directory: OnceLock::new(),
        })
    }

    /// All documents of this commit. Read when it is first asked for, 0.5 microseconds a document,
    /// and kept as long as the catalog is.
    ///
    /// # Errors
    /// [`Error::Damaged`] when a record does not decode.
    pub fn directory(&self, snapshot: &Snapshot<'_>) -> Result<&Directory> {
        if let Some(directory) = self.directory.get() {
            return Ok(directory);
        }
        let read = Directory::read(snapshot, &self.documents, &self.segments)?;
        Ok(self.directory.get_or_init(|| read))
    }

    /// Whether [`Catalog::directory`] has been read.
    pub fn has_directory(&self) -> bool {
        self.directory.get().is_some()
    }

    /// The segment that holds the chunks of a document, over a snapshot; `None` when it has none.
    ///
    /// # Errors
    /// [`Error::Damaged`] when the document names a segment that is not live.
    pub fn bind_document<'s>(
        &'s self,
        snapshot: &'s Snapshot<'_>,
        record: &DocumentRecord,
    ) -> Result<Option<BoundSegment<'s>>> {
        if record.rows == 0 {
            return Ok(None);
        }
        self.segment(record.segment())?.bind(snapshot).map(Some)
    }

    /// The segment of that number.
    ///
    /// # Errors
    /// [`Error::Damaged`] when a row names a segment that is not live.
    pub fn segment(&self, id: SegmentId) -> Result<&Segment> {
        let at = self
            .segments
            .binary_search_by_key(&id, |segment| segment.id);
        at.ok()
            .and_then(|at| self.segments.get(at))
            .ok_or_else(|| Error::damaged(format!("segment {} is named but not live", id.0)))
    }
}

impl Segment {
    fn load(
        snapshot: &Snapshot<'_>,
        id: SegmentId,
        previous: Option<&Segment>,
        chunk_limit_bytes: u32,
    ) -> Result<Segment> {
        if let Some(previous) = previous
            && let Some(extents) = previous.extents.in_commit(snapshot)?
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
        // What later steps allocate by rows is bounded by what the file has.
        let chunk_bytes = record
            .columns
            .iter()
            .find(|column| column.column == tables::CHUNKS.0)
            .map_or(0, ColumnRecord::len_bytes);
        if text.rows != record.rows
            || vectors.rows != record.rows
            || chunk_bytes != u64::from(record.rows) * u64::from(chunks::ROW_BYTES)
        {
            return Err(Error::damaged(format!(
                "columns and indexes of segment {} differ in rows",
                id.0
            )));
        }
        let records = Arc::new(SegmentRecords {
            segment: record,
            text,
            vectors,
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
    fn live_length(&self) -> u64 {
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
        let chunks = column(tables::CHUNKS)?;
        // All that counts up to the number of rows is bounded by the size of the file.
        if view(&chunks).rows() != u64::from(self.rows()) {
            return Err(Error::damaged(format!(
                "segment {} claims other rows than it has",
                self.id.0
            )));
        }
        Ok(BoundSegment {
            segment: self,
            chunks,
            blocks: column(tables::BLOCKS)?,
            text: column(tables::TEXT)?,
            text_dictionary: column(tables::TEXT_DICTIONARY)?,
            dictionary: column(keyword::DICTIONARY)?,
            postings: column(keyword::POSTINGS)?,
            lengths: column(keyword::LENGTHS)?,
            rows: column(vector::ROWS)?,
            codes: column(vector::CODES)?,
        })
    }
}

/// The columns of one segment over one snapshot.
#[derive(Debug)]
pub struct BoundSegment<'s> {
    /// The segment.
    pub segment: &'s Segment,
    chunks: BoundColumn<'s>,
    blocks: BoundColumn<'s>,
    text: BoundColumn<'s>,
    text_dictionary: BoundColumn<'s>,
    dictionary: BoundColumn<'s>,
    postings: BoundColumn<'s>,
    lengths: BoundColumn<'s>,
    rows: BoundColumn<'s>,
    codes: BoundColumn<'s>,
}

impl BoundSegment<'_> {
    /// Chunk rows.
    pub fn chunks(&self) -> ChunkReader<'_> {
        ChunkReader::new(view(&self.chunks))
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

    /// The vector index.
    pub fn vectors(&self) -> Result<vector::reader::Reader<'_>> {
        let record = &self.segment.records.vectors;
        vector::reader::Reader::new(record, view(&self.rows), view(&self.codes))
    }
}

fn view<'b>(column: &'b BoundColumn<'_>) -> ColumnView<'b> {
    column.view()
}
