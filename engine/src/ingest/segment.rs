//! Prepared documents -> one segment: where text, words and vectors meet for writing.

use std::ops::Range;

use crate::container::Transaction;
use crate::container::column::ColumnRecord;
use crate::error::{Error, Result};
use crate::index::{keyword, vector};
use crate::ingest::prepare::Prepared;
use crate::store::block_writer::{BlockWriter, Compression};
use crate::store::chunks::ChunkWriter;
use crate::store::documents::{self, DocumentRecord, NO_SEGMENT};
use crate::store::facets::{Facet, FacetsWriter};
use crate::store::outline;
use crate::store::segments::SegmentRecord;
use crate::types::{DocumentId, SegmentId};

/// A segment is closed when its postings take that much memory: about 400 MB of text.
const POSTINGS_LIMIT_BYTES: usize = 192 << 20;

/// Most rows of a segment; keeps row numbers and skip tables far from their limits.
const ROWS_LIMIT: u32 = 4_000_000;

/// What stays of a document when its content changes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PreservedFields {
    /// Last part of its handle.
    pub suffix: String,
    /// Its tags, ascending.
    pub tags: Vec<String>,
    /// When it came into the file, milliseconds since 1970.
    pub added_ms: i64,
}

/// Writes one segment into a transaction. Documents come in ascending order of path bytes, which
/// makes row order the order of ties.
#[derive(Debug)]
pub struct SegmentWriter {
    /// Its number.
    segment: SegmentId,
    /// Chunk rows.
    chunks: ChunkWriter,
    /// Text.
    blocks: BlockWriter,
    /// Words.
    words: keyword::Writer,
    /// Vectors.
    vectors: vector::writer::Writer,
    /// Attributes.
    facets: FacetsWriter,
    /// Documents so far.
    documents: u32,
    /// Bytes of text so far.
    text_bytes: u64,
    /// Path of the last document.
    last_path: Option<String>,
}

impl SegmentWriter {
    /// An empty segment for vectors of `dim` numbers, quantised with `range`, in rows of `codec`.
    pub fn new(segment: SegmentId, codec: u8, dim: u32, range: f32) -> Result<SegmentWriter> {
        Ok(SegmentWriter {
            segment,
            chunks: ChunkWriter::new(segment),
            blocks: BlockWriter::new(segment, Compression::Fast),
            words: keyword::Writer::new(segment),
            vectors: vector::writer::Writer::new(segment, codec, dim, range),
            facets: FacetsWriter::default(),
            documents: 0,
            text_bytes: 0,
            last_path: None,
        })
    }

    /// Whether the next document, of so many chunks, belongs into a new segment: this one is full, or
    /// the document does not sort after the last. A segment of one document may be larger.
    pub fn is_full_for(&self, path: &str, chunks: usize) -> bool {
        let rows = self.chunks.rows() as usize;
        self.words.memory_bytes() >= POSTINGS_LIMIT_BYTES
            || rows > 0 && rows.saturating_add(chunks) > ROWS_LIMIT as usize
            || self.last_path.as_deref().is_some_and(|last| last >= path)
    }

    /// Chunk rows so far.
    pub fn rows(&self) -> u32 {
        self.chunks.rows()
    }

    /// Appends a document with its rows, text, words, vectors and attributes.
    ///
    /// # Errors
    /// [`Error::DocumentExists`] when its path does not sort after the last one; what storage says.
    pub fn add(
        &mut self,
        transaction: &mut Transaction<'_>,
        id: DocumentId,
        prepared: &Prepared,
        fields: PreservedFields,
    ) -> Result<()> {
        let document = &prepared.document;
        if self
            .last_path
            .as_ref()
            .is_some_and(|last| *last >= document.path)
        {
            return Err(Error::DocumentExists {
                path: document.path.clone(),
            });
        }
        let first_row = self.chunks.rows();
        for chunk in &prepared.chunks {
            self.chunks.push(transaction, id, chunk)?;
            let (start, end) = (chunk.span.start as usize, chunk.span.end as usize);
            let text = document.text.get(start..end).unwrap_or_default();
            self.blocks.push(transaction, text)?;
        }
        self.words.add(&prepared.terms)?;
        for row in prepared.vectors.chunks_exact(prepared.stride) {
            self.vectors.push(transaction, row)?;
        }
        let rows = first_row..self.chunks.rows();
        self.facets
            .add(Facet::Type, &document.file_type, rows.clone());
        self.facets
            .add(Facet::Language, &document.language, rows.clone());
        self.facets
            .add(Facet::Class, document.class.name(), rows.clone());
        for tag in &fields.tags {
            self.facets.add(Facet::Tag, tag, rows.clone());
        }
        let place = Some((self.segment, rows));
        write_document(transaction, id, prepared, fields, place)?;
        self.documents += 1;
        self.text_bytes += document.text.len() as u64;
        self.last_path = Some(document.path.clone());
        Ok(())
    }

    /// Writes the columns that are left, the facets and the record of the segment.
    pub fn finish(self, transaction: &mut Transaction<'_>) -> Result<SegmentRecord> {
        let rows = self.chunks.rows();
        let mut columns = vec![self.chunks.finish(transaction)?];
        columns.extend(self.blocks.finish(transaction)?);
        let words = self.words.finish(transaction)?;
        columns.extend(words.columns().map(ColumnRecord::clone));
        let (vectors, vector_columns) = self.vectors.finish(transaction)?;
        columns.extend(vector_columns);
        columns.sort_by_key(|column| column.column);
        self.facets.finish(transaction, self.segment)?;
        let record = SegmentRecord {
            rows,
            documents: self.documents,
            text_bytes: self.text_bytes,
            columns,
            text_index: words.encode()?,
            vector_index: vectors.encode()?,
        };
        record.write(transaction, self.segment)?;
        Ok(record)
    }
}

/// Writes the record and the outline of a document whose chunks are rows of a segment, or that has no
/// chunks.
///
/// # Errors
/// What storage says.
pub fn write_document(
    transaction: &mut Transaction<'_>,
    id: DocumentId,
    prepared: &Prepared,
    fields: PreservedFields,
    place: Option<(SegmentId, Range<u32>)>,
) -> Result<()> {
    let document = &prepared.document;
    let (segment, rows) = place.unwrap_or((SegmentId(NO_SEGMENT), 0..0));
    outline::put(transaction, id, &document.outline)?;
    let record = DocumentRecord {
        path: document.path.clone(),
        root: prepared.source.root,
        title: document.title.clone(),
        suffix: fields.suffix,
        file_type: document.file_type.clone(),
        language: document.language.clone(),
        class: document.class as u8,
        size_bytes: prepared.source.size_bytes,
        modified_ms: prepared.source.modified_ms,
        added_ms: fields.added_ms,
        hash: prepared.source.hash,
        text_hash: *blake3::hash(document.text.as_bytes()).as_bytes(),
        metadata: document.metadata.clone(),
        tags: fields.tags,
        text_bytes: document.text.len() as u32,
        lines: prepared.lines,
        line_map: prepared.line_map,
        segment: segment.0,
        first_row: rows.start,
        rows: rows.len() as u32,
    };
    documents::put(transaction, id, &record)
}
