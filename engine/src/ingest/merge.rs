//! Several segments -> one: what is left of them, in the order of paths, without analysing or
//! embedding anything again.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use crate::catalog::{BoundSegment, Catalog};
use crate::container::column::ColumnRecord;
use crate::container::{Snapshot, Transaction};
use crate::error::{Error, Result};
use crate::index::{text, vector};
use crate::store::block_writer::{BlockWriter, Compression, DICTIONARY_FROM_BYTES};
use crate::store::blocks::BlockReader;
use crate::store::chunks::ChunkWriter;
use crate::store::dictionary::SAMPLE_BYTES;
use crate::store::documents::DocumentRecord;
use crate::store::facets::{Facet, FacetsWriter};
use crate::store::segments::SegmentRecord;
use crate::types::{DocumentId, SegmentId};

/// Segments of one size that are merged when there are so many: every byte is written anew once for
/// each factor of eight that the file grows.
const FAN_OUT: usize = 8;

/// Text bytes up to which segments count as equally small.
const SMALLEST_BYTES: u64 = 64 << 10;

/// Most text bytes that one merge, and so one commit, writes anew. A larger merge is left to seal.
const BUDGET_BYTES: u64 = 64 << 20;

/// How much of a segment is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// The segment.
    pub segment: SegmentId,
    /// Bytes of text of live chunks.
    pub live_bytes: u64,
    /// Bytes of text of deleted ones.
    pub dead_bytes: u64,
}

impl Size {
    /// Segments of one tier differ in size by less than the factor of the fan-out.
    fn tier(&self) -> u32 {
        (self.live_bytes / SMALLEST_BYTES)
            .max(1)
            .ilog(FAN_OUT as u64)
    }
}

/// Which segments are to be merged next, ascending; none: all is well. A segment of which more is
/// deleted than left is written anew alone.
pub fn choose(sizes: &[Size]) -> Option<Vec<SegmentId>> {
    let half_dead = sizes
        .iter()
        .find(|size| size.dead_bytes > size.live_bytes && size.live_bytes <= BUDGET_BYTES);
    if let Some(size) = half_dead {
        return Some(vec![size.segment]);
    }
    let mut tiers: BTreeMap<u32, Vec<&Size>> = BTreeMap::new();
    for size in sizes {
        tiers.entry(size.tier()).or_default().push(size);
    }
    tiers.into_values().find_map(|mut tier| {
        tier.sort_by_key(|size| (size.live_bytes, size.segment));
        tier.truncate(FAN_OUT);
        let bytes: u64 = tier.iter().map(|size| size.live_bytes).sum();
        let worth_it = tier.len() == FAN_OUT && bytes <= BUDGET_BYTES;
        worth_it.then(|| {
            let mut segments: Vec<_> = tier.iter().map(|size| size.segment).collect();
            segments.sort();
            segments
        })
    })
}

/// The documents of some segments, by path.
///
/// # Errors
/// [`Error::Damaged`] when rows and records contradict each other.
pub fn documents_of(
    snapshot: &Snapshot<'_>,
    catalog: &Catalog,
    bound: &[BoundSegment<'_>],
) -> Result<Vec<(DocumentId, DocumentRecord)>> {
    let mut found = Vec::new();
    let mut expected = 0;
    for bound in bound {
        let segment = bound.segment;
        let deleted = segment.deleted.as_ref();
        let gone = deleted.map_or(0, |deleted| deleted.documents);
        expected += u64::from(segment.records.segment.documents.saturating_sub(gone));
        let mut last = None;
        for row in 0..segment.rows() {
            if deleted.is_some_and(|deleted| deleted.rows.contains(row)) {
                continue;
            }
            let id = bound.chunks().document(row)?;
            if last != Some(id) {
                last = Some(id);
                found.push((id, catalog.documents.get(snapshot, id)?));
            }
        }
    }
    if found.len() as u64 != expected {
        // Documents without text have no row that names them.
        found.clear();
        let of_segments =
            |record: &DocumentRecord| bound.iter().any(|b| b.segment.id == record.segment());
        catalog.documents.each(snapshot, |id, record| {
            if of_segments(&record) {
                found.push((id, record));
            }
            Ok(ControlFlow::Continue(()))
        })?;
    }
    found.sort_by(|a, b| a.1.path.cmp(&b.1.path));
    Ok(found)
}

/// How a merged segment is stored.
#[derive(Debug, Clone, Copy)]
pub struct Form {
    /// Of its text.
    pub compression: Compression,
    /// Of its vectors: that of the segments, or nibbles for signed bytes.
    pub codec: u8,
}

/// Writes `documents`, in the order of their paths, from the segments that hold them into a new
/// segment. Their records are changed to say so; the caller writes them. `written` hears of each.
///
/// # Errors
/// [`Error::Damaged`] when rows, columns and records contradict each other; what storage says.
pub fn write_segment(
    transaction: &mut Transaction<'_>,
    segment: SegmentId,
    bound: &[BoundSegment<'_>],
    documents: &mut [(DocumentId, DocumentRecord)],
    form: Form,
    written: &mut dyn FnMut(&DocumentRecord),
) -> Result<SegmentRecord> {
    let Some(first) = bound.first().map(|bound| &bound.segment.records.vectors) else {
        return Err(Error::damaged("a merge of no segments"));
    };
    let mut sources = Vec::with_capacity(bound.len());
    for bound in bound {
        sources.push(Source {
            id: bound.segment.id,
            new_rows: vec![text::DROPPED; bound.segment.rows() as usize],
            blocks: bound.blocks()?,
            vectors: bound.vectors()?,
            bound,
        });
    }
    let mut chunks = ChunkWriter::new(segment);
    let mut blocks = block_writer(segment, form.compression, &mut sources, documents)?;
    let mut vectors = vector::writer::Writer::new(segment, form.codec, first.dim, first.range);
    let mut facets = FacetsWriter::default();
    let mut text_bytes = 0;
    let mut piece = String::new();
    for (id, record) in &mut *documents {
        let source = source(&mut sources, record.segment())?;
        let first_row = chunks.rows();
        for row in record.first_row..record.first_row.saturating_add(record.rows) {
            let chunk = source.bound.chunks().get(row)?;
            if let Some(new) = source.new_rows.get_mut(row as usize) {
                *new = chunks.rows();
            }
            chunks.push(transaction, *id, &chunk.at)?;
            piece.clear();
            source.blocks.append(row, 1, &mut piece)?;
            blocks.push(transaction, &piece)?;
            vectors.copy(transaction, &source.vectors, row)?;
        }
        let rows = first_row..chunks.rows();
        facets.add(Facet::Type, &record.file_type, rows.clone());
        facets.add(Facet::Language, &record.language, rows.clone());
        facets.add(Facet::Class, record.class()?.name(), rows.clone());
        for tag in &record.tags {
            facets.add(Facet::Tag, tag, rows.clone());
        }
        (record.segment, record.first_row) = (segment.0, first_row);
        text_bytes += u64::from(record.text_bytes);
        written(record);
    }
    let rows = chunks.rows();
    let mut words = Vec::with_capacity(sources.len());
    for source in &sources {
        words.push(text::MergeSource {
            reader: source.bound.words()?,
            rows: &source.new_rows,
        });
    }
    let words = text::merge(segment, &words, rows, transaction)?;
    let mut columns = vec![chunks.finish(transaction)?];
    columns.extend(blocks.finish(transaction)?);
    columns.extend(words.columns().map(ColumnRecord::clone));
    let (vectors, vector_columns) = vectors.finish(transaction)?;
    columns.extend(vector_columns);
    columns.sort_by_key(|column| column.column);
    facets.finish(transaction, segment)?;
    let record = SegmentRecord {
        rows,
        documents: u32::try_from(documents.len()).unwrap_or(u32::MAX),
        text_bytes,
        columns,
        text_index: words.encode()?,
        vector_index: vectors.encode()?,
    };
    record.write(transaction, segment)?;
    Ok(record)
}

/// A writer whose dictionary, if it has one, knows all of the documents and not only the first.
fn block_writer(
    segment: SegmentId,
    compression: Compression,
    sources: &mut [Source<'_>],
    documents: &[(DocumentId, DocumentRecord)],
) -> Result<BlockWriter> {
    let records = || documents.iter().map(|(_, record)| record);
    let text_bytes: u64 = records().map(|record| u64::from(record.text_bytes)).sum();
    if text_bytes < DICTIONARY_FROM_BYTES {
        return Ok(BlockWriter::new(segment, compression));
    }
    let every = text_bytes.div_ceil(SAMPLE_BYTES as u64) as usize;
    let rows = records().flat_map(|record| {
        let end = record.first_row.saturating_add(record.rows);
        (record.first_row..end).map(|row| (record.segment(), row))
    });
    let mut sample = String::with_capacity(SAMPLE_BYTES);
    for (id, row) in rows.step_by(every) {
        source(sources, id)?.blocks.append(row, 1, &mut sample)?;
    }
    BlockWriter::with_sample(segment, compression, sample.as_bytes())
}

fn source<'s, 'b>(sources: &'s mut [Source<'b>], id: SegmentId) -> Result<&'s mut Source<'b>> {
    let mut sources = sources.iter_mut();
    let source = sources.find(|source| source.id == id);
    source.ok_or_else(|| Error::damaged("a document of another segment"))
}

/// A segment that is merged.
struct Source<'b> {
    id: SegmentId,
    bound: &'b BoundSegment<'b>,
    blocks: BlockReader<'b>,
    vectors: vector::reader::Reader<'b>,
    /// Where each row goes.
    new_rows: Vec<u32>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(list: &[(u64, u64)]) -> Vec<Size> {
        let numbered = list.iter().zip(1..);
        numbered
            .map(|((live, dead), number)| Size {
                segment: SegmentId(number),
                live_bytes: live << 10,
                dead_bytes: dead << 10,
            })
            .collect()
    }

    fn chosen(list: &[(u64, u64)]) -> Vec<u32> {
        let segments = choose(&sizes(list)).unwrap_or_default();
        segments.into_iter().map(|segment| segment.0).collect()
    }

    #[test]
    fn eight_segments_of_one_size_are_merged_and_fewer_are_not() {
        assert!(chosen(&[(5, 0); 7]).is_empty());
        assert_eq!(chosen(&[(5, 0); 8]), [1, 2, 3, 4, 5, 6, 7, 8]);
        let mut mixed = vec![(100_000, 0), (600, 0)];
        mixed.extend([(1, 0); 8]);
        assert_eq!(chosen(&mixed), [3, 4, 5, 6, 7, 8, 9, 10]);
        assert!(chosen(&[(1, 0), (600, 0), (5000, 0), (40_000, 0)]).is_empty());
    }

    #[test]
    fn a_segment_of_which_most_is_deleted_is_written_anew() {
        assert_eq!(chosen(&[(50, 40), (10, 11)]), [2]);
        assert!(chosen(&[(70 << 10, 71 << 10)]).is_empty(), "too large");
    }

    #[test]
    fn one_merge_never_writes_more_than_the_budget() {
        assert!(chosen(&[(9 << 10, 0); 8]).is_empty());
        assert_eq!(chosen(&[(7 << 10, 0); 9]).len(), 8);
    }

    #[test]
    fn any_history_leaves_few_segments() {
        let mut live: Vec<(u32, u64)> = Vec::new();
        let mut next = 1;
        for round in 0..5000u64 {
            live.push((next, 1 + round * 7919 % 90_000));
            next += 1;
            loop {
                let sizes: Vec<_> = live
                    .iter()
                    .map(|(number, live_bytes)| Size {
                        segment: SegmentId(*number),
                        live_bytes: *live_bytes,
                        dead_bytes: 0,
                    })
                    .collect();
                let Some(merged) = choose(&sizes) else { break };
                let goes = |number: u32| merged.contains(&SegmentId(number));
                let bytes = live.iter().filter(|(n, _)| goes(*n)).map(|(_, b)| b).sum();
                live.retain(|(number, _)| !goes(*number));
                live.push((next, bytes));
                next += 1;
            }
            assert!(live.len() <= 40, "{} after {round}", live.len());
        }
    }
}
