//! Several segments -> one: what is left of them, in the order of paths, without analysing or
//! embedding anything again.
//!
//! Memory does not grow with the number of documents: one record a segment, 4 bytes a row for where it
//! goes, and what the writers of the columns hold.

use kb_types::error::{Error, Result};
use kb_types::{DocumentId, PartKind, SegmentId};
use roaring::RoaringBitmap;

use crate::catalog::BoundSegment;
use crate::container::{Snapshot, Transaction};
use crate::index::trigram::merge_builder::{MergeBuilder, OldRow};
use crate::index::{keyword, vector};
use crate::ingest::segment::columns::{SegmentColumns, searched_text};
use crate::ingest::segment::merge_fields::{FieldSource, is_of_fields, merge_fields};
use crate::ingest::segment::more_vectors::{ColumnMove, MergedVectors};
use crate::progress::Reporter;
use crate::store::block_writer::{BlockWriter, Compression, TextSample};
use crate::store::blocks::BlockReader;
use crate::store::chunks::ChunkWriter;
use crate::store::dictionary::SAMPLE_BYTES;
use crate::store::documents::{DocumentRecord, NO_SEGMENT};
use crate::store::facets::{self, FacetIter};
use crate::store::segments::SegmentRecord;

/// Pieces of text from all over some segments, for the dictionary of one made from them; none when
/// they have too little for one.
///
/// # Errors
/// [`Error::Damaged`].
pub(crate) fn dictionary_sample(bound: &[BoundSegment<'_>]) -> Result<Option<TextSample>> {
    let segments = bound.iter().map(|bound| bound.segment);
    let text_bytes: u64 = segments.map(|segment| segment.live_text_bytes()).sum();
    let Some(every) = TextSample::step(text_bytes) else {
        return Ok(None);
    };
    let mut pieces = String::with_capacity(SAMPLE_BYTES);
    let mut live_row = 0;
    for bound in bound {
        let deleted = bound.segment.deleted_rows();
        let mut blocks = bound.blocks()?;
        for row in 0..bound.segment.rows() {
            if deleted.is_some_and(|deleted| deleted.contains(row)) {
                continue;
            }
            // Every n-th chunk, not the first ones: paths ascend, and the first folder is not like
            // the others.
            if live_row % every == 0 {
                blocks.append(row, 1, &mut pieces)?;
            }
            live_row += 1;
        }
    }
    Ok(Some(TextSample { pieces, text_bytes }))
}

/// How a merged segment is stored.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SegmentEncoding<'e> {
    /// Compression of the text.
    pub compression: Compression,
    /// Codec of the vectors: that of the segments, or nibbles for signed bytes.
    pub codec: u8,
    /// Whether it gets trigrams.
    pub has_trigrams: bool,
    /// Whether it gets sign bits: not where inverted lists are made of it next.
    pub has_codes: bool,
    /// Columns of vectors of other models that are taken along, by ascending number in the new segment; their codec
    /// as that of the others.
    pub more_vectors: &'e [ColumnMove],
}

/// Writes one segment from documents of others.
pub(crate) struct MergeWriter<'b> {
    segment: SegmentId,
    /// Segments that are merged, by ascending number.
    inputs: Vec<MergeInput<'b>>,
    /// Chunks, text and vectors.
    columns: SegmentColumns<'b>,
    /// Text of one chunk, kept for its memory.
    chunk_text: String,
}

/// A segment that is merged.
struct MergeInput<'b> {
    bound: &'b BoundSegment<'b>,
    blocks: BlockReader<'b>,
    /// Number of its index of trigrams among those that are merged; `None`: it has none.
    trigrams: Option<usize>,
    vectors: vector::reader::Reader<'b>,
    /// Its first row that was taken.
    first: u32,
    /// Where that row and each after it go, up to the last that was taken.
    new_rows: Vec<u32>,
}

impl MergeInput<'_> {
    /// Makes room for a document; returns false when it is not after the last or beyond the segment.
    fn enter(&mut self, first: u32, rows: u32) -> bool {
        if self.new_rows.is_empty() {
            self.first = first;
        }
        // As long as what was taken, which lies within the segment.
        let taken = self.new_rows.len() as u32;
        let gap = first
            .checked_sub(self.first)
            .and_then(|at| at.checked_sub(taken));
        let is_inside = first
            .checked_add(rows)
            .is_some_and(|end| end <= self.bound.segment.rows());
        match gap.filter(|_| is_inside) {
            Some(gap) => {
                let len = self.new_rows.len() + gap as usize;
                self.new_rows.resize(len, keyword::DROPPED);
                true
            }
            None => false,
        }
    }
}

impl<'b> MergeWriter<'b> {
    /// An empty segment, to be filled from `bound`, which ascends. `sample` is from all over its text:
    /// [`dictionary_sample`], or what [`TextSample::step`] says.
    ///
    /// # Errors
    /// [`Error::Damaged`]; [`Error::Storage`] when zstd cannot be set up.
    pub(crate) fn new(
        segment: SegmentId,
        bound: &'b [BoundSegment<'b>],
        encoding: SegmentEncoding<'_>,
        sample: Option<&TextSample>,
        reporter: &Reporter<'_>,
    ) -> Result<MergeWriter<'b>> {
        let Some(first) = bound.first().map(|bound| &bound.segment.records.vectors) else {
            return Err(Error::damaged("a merge of no segments"));
        };
        let mut inputs = Vec::with_capacity(bound.len());
        let mut trigrams = Vec::new();
        for bound in bound {
            let of_input = bound.trigrams()?.filter(|_| encoding.has_trigrams);
            let number = of_input.is_some().then_some(trigrams.len());
            trigrams.extend(of_input);
            inputs.push(MergeInput {
                trigrams: number,
                blocks: bound.blocks()?,
                vectors: bound.vectors()?,
                first: 0,
                new_rows: Vec::new(),
                bound,
            });
        }
        let vectors = vector::writer::Writer::new(segment, encoding.codec, first.dim, first.range);
        Ok(MergeWriter {
            segment,
            inputs,
            columns: SegmentColumns {
                segment,
                trigrams: encoding.has_trigrams.then(|| MergeBuilder::new(trigrams)),
                chunks: ChunkWriter::new(segment),
                blocks: match sample {
                    // Trains a dictionary, which takes up to seconds.
                    Some(sample) => reporter.wait_for(|| {
                        BlockWriter::with_sample(segment, encoding.compression, sample)
                    })?,
                    None => BlockWriter::new(segment, encoding.compression),
                },
                vectors: match encoding.has_codes {
                    true => vectors,
                    false => vectors.without_codes(),
                },
                more_vectors: MergedVectors::new(encoding.more_vectors),
                documents: 0,
                text_bytes: 0,
            },
            chunk_text: String::new(),
        })
    }

    /// Number of the segment that is written.
    pub(crate) fn segment(&self) -> SegmentId {
        self.segment
    }

    /// Rows so far.
    pub(crate) fn rows(&self) -> u32 {
        self.columns.rows()
    }

    /// Appends a document, whose path sorts after the last, under the number `new`; `parts` is the kind of its
    /// pages, sheets or slides. Its record is changed to say where it lies; the caller writes it. One without chunks is in no segment.
    ///
    /// # Errors
    /// [`Error::Damaged`] when rows, columns and records contradict each other; what storage says;
    /// [`Error::Cancelled`].
    pub(crate) fn push(
        &mut self,
        transaction: &mut Transaction<'_>,
        old: DocumentId,
        new: DocumentId,
        record: &mut DocumentRecord,
        parts: Option<PartKind>,
        reporter: &Reporter<'_>,
    ) -> Result<()> {
        if record.rows == 0 {
            (record.segment, record.first_row) = (NO_SEGMENT, 0);
            return Ok(());
        }
        let id = record.segment();
        let at = self
            .inputs
            .binary_search_by_key(&id, |source| source.bound.segment.id);
        let source = at.ok().and_then(|at| self.inputs.get_mut(at));
        let source = source.ok_or_else(|| Error::damaged("a document of another segment"))?;
        if !source.enter(record.first_row, record.rows) {
            return Err(Error::damaged(format!(
                "rows of document {:?} are not in their place",
                record.path
            )));
        }
        let first_row = self.columns.rows();
        let searched = searched_text(parts);
        for row in record.first_row..record.first_row.saturating_add(record.rows) {
            let chunk = source.bound.chunks().get(row)?;
            // Rows are copied without another look at them, so that a wrong one would answer under
            // the name of another document for ever.
            if chunk.document != old {
                return Err(Error::damaged(format!(
                    "row {row} of segment {} is not of document {:?}",
                    id.0, record.path
                )));
            }
            // One document may be compressed for seconds.
            reporter.tick()?;
            source.new_rows.push(self.columns.rows());
            self.columns.chunks.push(transaction, new, &chunk.at)?;
            // One buffer for all chunks, instead of an allocation for each of millions.
            self.chunk_text.clear();
            source.blocks.append(row, 1, &mut self.chunk_text)?;
            self.columns.blocks.push(transaction, &self.chunk_text)?;
            if let Some(trigrams) = &mut self.columns.trigrams {
                let old = source.trigrams.map(|source| OldRow { source, row });
                trigrams.push(old, new.0, &self.chunk_text, searched)?;
            }
            self.columns
                .vectors
                .copy(transaction, &source.vectors, row)?;
            let more = &mut self.columns.more_vectors;
            more.copy(transaction, self.segment, source.bound, row)?;
        }
        (record.segment, record.first_row) = (self.segment.0, first_row);
        self.columns.documents += 1;
        self.columns.text_bytes += u64::from(record.text_bytes);
        Ok(())
    }

    /// Writes what is left: the words, the facets and the record of the segment. Asks `check` now and
    /// then whether to go on.
    ///
    /// # Errors
    /// [`Error::Damaged`]; what storage and `check` say.
    pub(crate) fn finish(
        self,
        snapshot: &Snapshot<'_>,
        transaction: &mut Transaction<'_>,
        check: &mut dyn FnMut() -> Result<()>,
    ) -> Result<SegmentRecord> {
        let rows = self.columns.rows();
        let taken = self
            .inputs
            .iter()
            .filter(|source| !source.new_rows.is_empty());
        let mut merged = Vec::with_capacity(self.inputs.len());
        for source in taken {
            merged.push(keyword::MergeSource {
                reader: source.bound.keyword_index()?,
                first: source.first,
                rows: &source.new_rows,
            });
        }
        let keyword_index = keyword::merge(self.segment, &merged, rows, transaction, check)?;
        merge_facets(snapshot, transaction, self.segment, &self.inputs)?;
        let taken = self
            .inputs
            .iter()
            .filter(|source| !source.new_rows.is_empty());
        let taken = taken.map(|source| FieldSource {
            bound: source.bound,
            first: source.first,
            new_rows: &source.new_rows,
        });
        let sources: Vec<FieldSource<'_>> = taken.collect();
        let fields = merge_fields(snapshot, transaction, (self.segment, rows), &sources, check)?;
        let record = self
            .columns
            .finish(transaction, check, fields, |_| Ok(keyword_index))?;
        record.write(transaction, self.segment)?;
        Ok(record)
    }
}

/// Writes the facets of the new segment, one bitmap after the other.
fn merge_facets(
    snapshot: &Snapshot<'_>,
    transaction: &mut Transaction<'_>,
    segment: SegmentId,
    inputs: &[MergeInput<'_>],
) -> Result<()> {
    let mut walks = Vec::with_capacity(inputs.len());
    for source in inputs.iter().filter(|source| !source.new_rows.is_empty()) {
        let walk = FacetIter::start(snapshot, source.bound.segment.id)?;
        walks.push((source, walk));
    }
    while let Some(least) = walks.iter().filter_map(|(_, walk)| walk.value()).min() {
        let value = least.clone();
        let mut rows = RoaringBitmap::new();
        for (source, walk) in &mut walks {
            if walk.value() == Some(&value) {
                add_new_rows(source, walk.rows(), &mut rows);
                walk.advance(snapshot)?;
            }
        }
        // Those of fields may become columns.
        if !is_of_fields(&value) {
            facets::put_merged(transaction, segment, &value, rows)?;
        }
    }
    Ok(())
}

/// Adds where `old` rows of a source go to `rows`, whole runs at a time.
fn add_new_rows(source: &MergeInput<'_>, old: &RoaringBitmap, rows: &mut RoaringBitmap) {
    let end = source.first.saturating_add(source.new_rows.len() as u32);
    let mut run = 0..0;
    for row in old.range(source.first..end) {
        let new = source.new_rows.get((row - source.first) as usize).copied();
        let new = new.unwrap_or(keyword::DROPPED);
        if new == run.end && !run.is_empty() {
            run.end += 1;
        } else if new != keyword::DROPPED {
            rows.insert_range(run);
            run = new..new.saturating_add(1);
        }
    }
    rows.insert_range(run);
}
