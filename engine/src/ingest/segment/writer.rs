//! Prepared documents -> one segment.

use std::ops::Range;

use kb_types::error::{Error, Result};
use kb_types::role::TestSpans;
use kb_types::syntax::by_chunk::SymbolsByChunk;
use kb_types::{Class, DocumentId, Role, SegmentId};

use crate::container::Transaction;
use crate::index::trigram::merge_builder::MergeBuilder;
use crate::index::{keyword, vector};
use crate::ingest::prepare::preparer::Prepared;
use crate::ingest::prepare::preserved::PreservedFields;
use crate::ingest::segment::columns::{SegmentColumns, searched_text};
use crate::ingest::segment::more_vectors::MergedVectors;
use crate::store::block_writer::{BlockWriter, Compression};
use crate::store::chunks::ChunkWriter;
use crate::store::documents::{self, DocumentRecord, NO_SEGMENT};
use crate::store::facets::{Facet, FacetsWriter};
use crate::store::fields::columns::stored_values;
use crate::store::fields::columns::writer::FieldsWriter;
use crate::store::segments::SegmentRecord;
use crate::store::{fields, links, outline, parts, symbols};

/// Memory of postings, in bytes, from which on a segment is closed.
// About 400 MB of text. It is most of the memory of an index run; smaller segments would have to be
// merged later.
const POSTINGS_LIMIT_BYTES: usize = 192 << 20;

/// Memory of values of fields, in bytes, from which on a segment is closed.
// Eight million values.
const FIELDS_LIMIT_BYTES: usize = 128 << 20;

/// Most rows of a segment; keeps row numbers and skip tables far from their limits.
const ROWS_LIMIT: u32 = 4_000_000;

/// Writes one segment into a transaction. Documents come in ascending order of path bytes, which
/// makes row order the order of ties.
#[derive(Debug)]
pub(crate) struct SegmentWriter {
    /// Number of the segment.
    segment: SegmentId,
    /// Chunks, text and vectors.
    columns: SegmentColumns<'static>,
    /// Postings, in memory until the segment is closed.
    keyword_index: keyword::Writer,
    /// Rows by file type, language, class, tag and kinds of symbols.
    facets: FacetsWriter,
    /// Values of fields, in memory until the segment is closed.
    fields: FieldsWriter,
    /// Path of the last document.
    last_path: Option<String>,
}

impl SegmentWriter {
    /// An empty segment for vectors of `dim` numbers, quantised with `range`, in rows of `codec`, with or without
    /// trigrams, whose text is compressed so.
    pub(crate) fn new(
        segment: SegmentId,
        codec: u8,
        dim: u32,
        range: f32,
        has_trigrams: bool,
        compression: Compression,
    ) -> Result<SegmentWriter> {
        Ok(SegmentWriter {
            segment,
            columns: SegmentColumns {
                segment,
                chunks: ChunkWriter::new(segment),
                blocks: BlockWriter::new(segment, compression),
                vectors: vector::writer::Writer::new(segment, codec, dim, range),
                more_vectors: MergedVectors::default(),
                trigrams: has_trigrams.then(MergeBuilder::default),
                documents: 0,
                text_bytes: 0,
            },
            keyword_index: keyword::Writer::new(segment),
            facets: FacetsWriter::default(),
            fields: FieldsWriter::default(),
            last_path: None,
        })
    }

    /// Whether the next document, of so many chunks, belongs into a new segment: this one is full, or
    /// the document does not sort after the last. A segment of one document may be larger.
    pub(crate) fn is_full_for(&self, path: &str, chunks: usize) -> bool {
        let rows = self.columns.rows() as usize;
        self.keyword_index.memory_bytes() >= POSTINGS_LIMIT_BYTES
            || self.fields.memory_bytes() >= FIELDS_LIMIT_BYTES
            || rows > 0 && rows.saturating_add(chunks) > ROWS_LIMIT as usize
            // Rows in the order of paths: one folder is one run of rows, which bitmaps and filters
            // by glob hold in few bytes.
            || self.last_path.as_deref().is_some_and(|last| last >= path)
    }

    /// Appends a document with its rows, text, words, vectors and attributes.
    ///
    /// # Errors
    /// [`Error::DocumentExists`] when its path does not sort after the last one; what storage says.
    pub(crate) fn add(
        &mut self,
        transaction: &mut Transaction<'_>,
        id: DocumentId,
        prepared: &Prepared,
        preserved: PreservedFields,
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
        let first_row = self.columns.rows();
        let searched = searched_text(document.parts.first().map(|part| part.content.kind()));
        let is_code = document.class == Class::Code;
        let tests = is_code.then(|| TestSpans::of(&document.text, &document.syntax.symbols));
        for chunk in &prepared.chunks {
            let row = self.columns.rows();
            self.columns.chunks.push(transaction, id, chunk)?;
            let (start, end) = (chunk.span.start as usize, chunk.span.end as usize);
            let text = document.text.get(start..end).unwrap_or_default();
            self.columns.blocks.push(transaction, text)?;
            if tests
                .as_ref()
                .is_some_and(|tests| tests.have(&document.text, chunk.span))
            {
                let name = Role::TestFunction.name();
                self.facets.add(Facet::Role, name, row..row + 1);
            }
            if let Some(trigrams) = &mut self.columns.trigrams {
                trigrams.push(None, id.0, text, searched)?;
            }
        }
        self.keyword_index.add(&prepared.terms)?;
        for row in prepared.vectors.chunks_exact(prepared.stride) {
            self.columns.vectors.push(transaction, row)?;
        }
        let rows = first_row..self.columns.rows();
        self.facets
            .add(Facet::Type, &document.file_type, rows.clone());
        self.facets
            .add(Facet::Language, &document.language, rows.clone());
        self.facets
            .add(Facet::Class, document.class.name(), rows.clone());
        if let Some(role) = Role::of_path(&document.path, document.class) {
            self.facets.add(Facet::Role, role.name(), rows.clone());
        }
        for tag in &preserved.given.tags {
            self.facets.add(Facet::Tag, tag, rows.clone());
        }
        let metadata = fields::with_given(&document.metadata, &preserved.given.fields);
        for (name, value) in stored_values(&metadata).into_values() {
            self.fields.add(&name, &value, rows.clone());
        }
        for link in &prepared.links {
            let link = links::facet_of(link);
            self.facets.add(Facet::Link, &link, rows.clone());
        }
        let symbols = &document.syntax.symbols;
        if !symbols.is_empty() {
            let mut by_chunk = SymbolsByChunk::new(symbols);
            for (row, chunk) in (first_row..).zip(&prepared.chunks) {
                for kind in by_chunk.kinds_of(chunk.span) {
                    self.facets.add(Facet::Kind, kind.name(), row..row + 1);
                }
            }
        }
        let place = Some((self.segment, rows));
        write_document(transaction, id, prepared, preserved, place)?;
        self.columns.documents += 1;
        self.columns.text_bytes += document.text.len() as u64;
        self.last_path = Some(document.path.clone());
        Ok(())
    }

    /// Writes the columns that are left, the facets and the record of the segment.
    pub(crate) fn finish(mut self, transaction: &mut Transaction<'_>) -> Result<SegmentRecord> {
        let keyword_index = self.keyword_index;
        let rows = self.columns.rows();
        let fields = self.fields.finish(transaction, self.segment, rows)?;
        for (value, rows) in fields.facets {
            self.facets.add_rows(Facet::Field, value, rows);
        }
        let mut check = || Ok(());
        let record =
            self.columns
                .finish(transaction, &mut check, fields.column, |transaction| {
                    keyword_index.finish(transaction)
                })?;
        self.facets.finish(transaction, self.segment)?;
        record.write(transaction, self.segment)?;
        Ok(record)
    }
}

/// Writes the record and the outline of a document whose chunks are rows of a segment, or that has no
/// chunks.
///
/// # Errors
/// [`Error::Storage`].
pub(crate) fn write_document(
    transaction: &mut Transaction<'_>,
    id: DocumentId,
    prepared: &Prepared,
    preserved: PreservedFields,
    place: Option<(SegmentId, Range<u32>)>,
) -> Result<()> {
    let document = &prepared.document;
    let (segment, rows) = place.unwrap_or((SegmentId(NO_SEGMENT), 0..0));
    symbols::put(transaction, id, &document.syntax.symbols)?;
    if document.syntax.symbols.is_empty() {
        outline::put(transaction, id, &document.outline)?;
    } else {
        // It follows from the symbols. The document may have had a row from before, when its
        // language had no grammar.
        outline::remove(transaction, id)?;
    }
    parts::put(transaction, id, &document.parts)?;
    let given = preserved.given;
    let record = DocumentRecord {
        path: document.path.clone(),
        root: prepared.source.root,
        title: document.title.clone(),
        suffix: preserved.suffix,
        file_type: document.file_type.clone(),
        language: document.language.clone(),
        class: document.class as u8,
        size_bytes: prepared.source.size_bytes,
        modified_ms: prepared.source.modified_ms,
        added_ms: preserved.added_ms,
        hash: prepared.source.hash,
        text_hash: *blake3::hash(document.text.as_bytes()).as_bytes(),
        metadata: fields::with_given(&document.metadata, &given.fields).into_owned(),
        given: fields::names_of(&given.fields),
        tags: given.tags,
        text_bytes: document.text.len() as u32,
        lines: prepared.lines,
        line_map: prepared.line_map,
        segment: segment.0,
        first_row: rows.start,
        rows: rows.len() as u32,
    };
    documents::put(transaction, id, &record)
}
