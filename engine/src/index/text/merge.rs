//! Keyword indexes of several segments to that of one, without their texts.
//!
//! The dictionaries are walked side by side; the lists of a term are read, their rows renumbered,
//! and written as a [`super::Writer`] would write them. The result is the same to the byte as that
//! of a writer fed with the chunks that are kept, in their new order.

use crate::container::column::ExtentSink;
use crate::error::{Error, Result};
use crate::types::SegmentId;

use super::columns::ColumnsWriter;
use super::dictionary::Place;
use super::reader::Reader;
use super::term_walk::TermWalk;
use super::{MAX_ROWS, TextRecord};

/// The new row of a row that is left out.
pub const DROPPED: u32 = u32::MAX;

/// A segment to be merged.
#[derive(Debug, Clone, Copy)]
pub struct MergeSource<'a> {
    /// Its keyword index.
    pub reader: Reader<'a>,
    /// The new row of each of its rows, ascending, or [`DROPPED`].
    pub rows: &'a [u32],
}

/// A source and the term it stands on.
struct Head<'a> {
    /// The source.
    source: MergeSource<'a>,
    /// Its terms.
    walk: TermWalk<'a>,
    /// Where the postings of the term are; `None` after the last term.
    place: Option<Place>,
}

impl<'a> Head<'a> {
    fn new(source: MergeSource<'a>) -> Result<Head<'a>> {
        let mut walk = source.reader.terms();
        let place = walk.advance()?;
        Ok(Head {
            source,
            walk,
            place,
        })
    }

    fn term(&self) -> Option<&[u8]> {
        self.place.map(|_| self.walk.term())
    }

    /// Appends the postings of the term that are kept, new row in the upper half, frequency in the
    /// lower, and moves to the next term.
    fn take(&mut self, postings: &mut Vec<u64>) -> Result<()> {
        let Some(place) = self.place else {
            return Ok(());
        };
        let (reader, new_rows) = (&self.source.reader, self.source.rows);
        let cursor = reader.cursor(&reader.open(place)?)?;
        cursor.for_each_block(|rows, frequencies, _| {
            for (row, frequency) in std::iter::zip(rows, frequencies) {
                // Cursors refuse rows beyond the segment, and the mapping has as many.
                let new = new_rows.get(*row as usize).copied().unwrap_or(DROPPED);
                if new != DROPPED {
                    postings.push(u64::from(new) << 32 | u64::from(*frequency));
                }
            }
            Ok(())
        })?;
        self.place = self.walk.advance()?;
        Ok(())
    }
}

/// Writes the columns of a segment of `rows` rows, each of them a row of one of the `sources`.
///
/// Reads every source once. Takes memory for one list at a time (16 bytes a posting) and for the
/// lengths (5 bytes a row).
///
/// # Errors
/// [`Error::Damaged`] when a mapping has another length than its segment has rows, does not ascend,
/// or all of them together do not give every new row once; or when bytes of a source contradict the
/// format. [`Error::TooMany`] for more than [`MAX_ROWS`] rows. What the sink says.
pub fn merge(
    segment: SegmentId,
    sources: &[MergeSource<'_>],
    rows: u32,
    sink: &mut dyn ExtentSink,
) -> Result<TextRecord> {
    let lengths = merged_lengths(segment, sources, rows)?;
    let mut columns = ColumnsWriter::new(segment, &lengths);
    let heads = sources.iter().map(|source| Head::new(*source));
    let mut heads = heads.collect::<Result<Vec<_>>>()?;
    let (mut term, mut postings) = (Vec::new(), Vec::new());
    let (mut rows, mut frequencies) = (Vec::new(), Vec::new());
    while let Some(least) = heads.iter().filter_map(Head::term).min() {
        term.clear();
        term.extend_from_slice(least);
        postings.clear();
        let mut lists = 0;
        for head in &mut heads {
            if head.term() == Some(&term) {
                head.take(&mut postings)?;
                lists += 1;
            }
        }
        if lists > 1 {
            // Each list ascends, and this sort merges runs instead of starting over.
            postings.sort();
        }
        rows.clear();
        rows.extend(postings.iter().map(|posting| (posting >> 32) as u32));
        frequencies.clear();
        frequencies.extend(postings.iter().map(|posting| *posting as u32));
        columns.push(sink, &term, &rows, &frequencies)?;
    }
    columns.finish(sink)
}

/// Lengths of the new rows, the mappings checked on the way.
fn merged_lengths(segment: SegmentId, sources: &[MergeSource<'_>], rows: u32) -> Result<Vec<u32>> {
    let damaged =
        |what: &str| Error::damaged(format!("merging into segment {}: {what}", segment.0));
    if rows > MAX_ROWS {
        return Err(Error::TooMany {
            what: "chunks of one segment",
            count: u64::from(rows),
            limit: u64::from(MAX_ROWS),
        });
    }
    let mut new_lengths = vec![0; rows as usize];
    let mut taken = vec![false; rows as usize];
    let mut kept = 0;
    for source in sources {
        if source.rows.len() != source.reader.rows() as usize {
            return Err(damaged("a mapping has another length than its segment"));
        }
        let mut next = 0;
        for (new, length) in source.rows.iter().zip(source.reader.lengths().all()?) {
            if *new == DROPPED {
                continue;
            }
            if *new < next {
                return Err(damaged("a mapping does not ascend"));
            }
            let at = *new as usize;
            let (Some(taken), Some(to)) = (taken.get_mut(at), new_lengths.get_mut(at)) else {
                return Err(damaged("a mapping names a row beyond the segment"));
            };
            if std::mem::replace(taken, true) {
                return Err(damaged("two rows are mapped to one"));
            }
            *to = length;
            next = *new + 1;
            kept += 1;
        }
    }
    if kept != rows {
        return Err(damaged("a new row comes from nowhere"));
    }
    Ok(new_lengths)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::container::column::MemoryExtents;
    use crate::index::text::fixture::{Index, prose, word};
    use crate::index::text::{Analyser, DocumentTerms, DocumentTermsBuilder};
    use proptest::prelude::*;

    /// A split of documents over segments: what each segment holds, and where its rows go.
    struct Split {
        sources: Vec<Index>,
        mappings: Vec<Vec<u32>>,
        fresh: Index,
    }

    /// Puts each document into the segment that `placed` names for it; those with `None` there are
    /// deleted: they are in segment 0 and are dropped.
    fn split(documents: Vec<DocumentTerms>, segments: usize, placed: &[(usize, bool)]) -> Split {
        let mut parts: Vec<Vec<DocumentTerms>> = vec![Vec::new(); segments];
        let mut mappings = vec![Vec::new(); segments];
        let (mut live, mut next) = (Vec::new(), 0);
        for (document, (segment, keep)) in documents.into_iter().zip(placed.iter().cycle()) {
            let segment = segment % segments;
            for _ in document.chunks() {
                mappings[segment].push(if *keep { next } else { DROPPED });
                next += u32::from(*keep);
            }
            if *keep {
                live.push(document.clone());
            }
            parts[segment].push(document);
        }
        Split {
            sources: parts.iter().map(|part| Index::of(part)).collect(),
            mappings,
            fresh: Index::of(&live),
        }
    }

    impl Split {
        fn merge(&self) -> Result<(MemoryExtents, TextRecord)> {
            let mut sources = Vec::new();
            for (index, rows) in self.sources.iter().zip(&self.mappings) {
                let reader = index.try_reader()?;
                sources.push(MergeSource { reader, rows });
            }
            let mut sink = MemoryExtents::default();
            let record = merge(SegmentId(9), &sources, self.fresh.record.rows, &mut sink)?;
            Ok((sink, record))
        }

        fn assert_equals_fresh(&self) {
            let (sink, record) = self.merge().unwrap();
            let merged = Index::from_written(sink, record);
            assert_eq!(merged.record, self.fresh.record);
            assert!(merged.extents == self.fresh.extents);
        }
    }

    #[test]
    fn lists_of_several_parts_and_extreme_frequencies_merge_to_the_same_bytes() {
        let mut analyser = Analyser::new();
        let documents: Vec<DocumentTerms> = (0..160_000u32)
            .map(|i| {
                let mut builder = DocumentTermsBuilder::new(&mut analyser);
                builder.add_text("always", 1 + i % 3);
                if i % 2000 == 7 {
                    builder.add_text("always", 1 << 26);
                }
                if i % 7919 == 3 {
                    builder.add_text(&word(i), (1 << 24) + i % 2);
                }
                if i % 9 == 0 {
                    builder.add_text("rare", 1);
                }
                builder.end_chunk();
                builder.finish()
            })
            .collect();
        let turns: Vec<(usize, bool)> = (0..1000).map(|i| (i / 7 + i % 3, i % 11 != 5)).collect();
        let split = split(documents, 3, &turns);
        assert_eq!(split.fresh.record.lengths.width, 4);
        split.assert_equals_fresh();
    }

    #[test]
    fn a_segment_whose_long_chunks_are_dropped_gets_short_lengths() {
        let mut analyser = Analyser::new();
        let documents: Vec<DocumentTerms> = [70_000, 3, 9]
            .into_iter()
            .map(|times| {
                let mut builder = DocumentTermsBuilder::new(&mut analyser);
                builder.add_text("word only", times);
                builder.end_chunk();
                builder.finish()
            })
            .collect();
        let split = split(documents, 2, &[(0, false), (0, true), (1, true)]);
        assert_eq!(split.sources[0].record.lengths.width, 4);
        assert_eq!(split.fresh.record.lengths.width, 2);
        split.assert_equals_fresh();
    }

    #[test]
    fn nothing_merges_to_an_empty_segment() {
        let split = split(prose(1, 30, 20), 2, &[(0, false), (1, false)]);
        assert_eq!(split.fresh.record.rows, 0);
        split.assert_equals_fresh();
        let mut sink = MemoryExtents::default();
        let record = merge(SegmentId(9), &[], 0, &mut sink).unwrap();
        assert_eq!(record, split.fresh.record);
    }

    #[test]
    fn mappings_that_lie_are_refused() {
        let index = Index::of(&prose(2, 4, 20));
        let reader = index.reader();
        let refused = |mappings: &[&[u32]], rows: u32, what: &str| {
            let sources = mappings.iter().map(|rows| MergeSource { reader, rows });
            let sources: Vec<MergeSource<'_>> = sources.collect();
            let mut sink = MemoryExtents::default();
            let error = merge(SegmentId(9), &sources, rows, &mut sink).unwrap_err();
            assert!(error.to_string().contains(what), "{error}");
            error
        };
        refused(&[&[0, 1, 2]], 3, "length");
        refused(&[&[0, 1, 2, 3, 4]], 5, "length");
        refused(&[&[0, 2, 1, 3]], 4, "ascend");
        refused(&[&[0, 1, 1, 2]], 3, "ascend");
        refused(&[&[0, 1, 2, 4]], 4, "beyond");
        refused(&[&[0, 1, 2, 3], &[4, 5, 3, 6]], 7, "ascend");
        refused(&[&[0, 1, 2, 3], &[3, 4, 5, 6]], 7, "mapped to one");
        refused(&[&[0, 1, 2, DROPPED]], 4, "nowhere");
        let error = refused(&[], MAX_ROWS + 1, "chunks of one segment");
        assert_eq!(error.code(), "FILE_TOO_LARGE");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn merged_segments_are_those_of_a_writer_to_the_byte(
            seed in any::<u64>(),
            chunks in 1u32..4000,
            words in 2u32..3000,
            segments in 1usize..7,
            placed in prop::collection::vec((0usize..6, prop::bool::weighted(0.8)), 1..300),
        ) {
            split(prose(seed, chunks, words), segments, &placed).assert_equals_fresh();
        }

        #[test]
        fn changed_bytes_give_an_error_or_a_record(
            seed in 0u64..4,
            changes in prop::collection::vec(
                (0..3usize, any::<prop::sample::Index>(), any::<u8>()), 1..4,
            ),
        ) {
            let mut split = split(prose(seed, 900, 300), 3, &[(0, true), (1, false), (2, true)]);
            for (column, at, value) in changes {
                let extent = &mut split.sources[0].extents[column][0];
                let at = at.index(extent.len());
                extent[at] = value;
            }
            if let Ok((_, record)) = split.merge() {
                prop_assert_eq!(record.rows, split.fresh.record.rows);
            }
        }
    }
}
