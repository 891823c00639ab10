//! Keyword indexes of several segments to that of one, without their texts.
//!
//! The dictionaries are walked side by side; the lists of a term are read, their rows renumbered,
//! and written as a [`super::Writer`] would write them. The result is the same to the byte as that
//! of a writer fed with the chunks that are kept, in their new order.

use crate::container::column::ExtentSink;
use crate::error::{Error, Result};
use crate::types::SegmentId;

use super::cursor::Cursor;
use super::dictionary::TermInfo;
use super::dictionary_iter::DictionaryIter;
use super::fieldnorms::FieldNorms;
use super::reader::Reader;
use super::serializer::InvertedIndexSerializer;
use super::{KeywordRecord, MAX_ROWS};

/// The new row of a row that is left out.
pub const DROPPED: u32 = u32::MAX;

/// New rows of which postings are gathered at a time when a list is longer than that.
const WINDOW_ROWS: u32 = 1 << 18;

/// Terms between two looks at whether to stop.
const TERMS_PER_CHECK: u64 = 1 << 12;

/// A segment to be merged.
#[derive(Debug, Clone, Copy)]
pub struct MergeSource<'a> {
    /// Its keyword index.
    pub reader: Reader<'a>,
    /// The first of its rows that may be kept.
    pub first: u32,
    /// The new row of that one and of each after it, ascending, or [`DROPPED`]. Rows before and beyond
    /// are left out.
    pub rows: &'a [u32],
}

impl MergeSource<'_> {
    /// The new row of a row of the source, or [`DROPPED`].
    #[inline]
    fn new_row(&self, row: u32) -> u32 {
        let at = row.checked_sub(self.first);
        let new = at.and_then(|at| self.rows.get(at as usize));
        new.copied().unwrap_or(DROPPED)
    }

    /// One past the last row that may be kept.
    fn end(&self) -> u32 {
        // The mapping is no longer than the segment.
        self.first.saturating_add(self.rows.len() as u32)
    }
}

/// A source and the term it stands on.
struct Head<'a> {
    /// The source.
    source: MergeSource<'a>,
    /// Its terms.
    walk: DictionaryIter<'a>,
    /// Where the postings of the term are; `None` after the last term.
    place: Option<TermInfo>,
    /// The postings of the term from `next_row` on, while it is merged.
    cursor: Option<Cursor<'a>>,
    /// The first row of the source whose posting was not taken.
    next_row: u32,
}

impl<'a> Head<'a> {
    fn new(source: MergeSource<'a>) -> Result<Head<'a>> {
        let mut walk = source.reader.terms();
        let place = walk.advance()?;
        Ok(Head {
            source,
            walk,
            place,
            cursor: None,
            next_row: 0,
        })
    }

    fn term(&self) -> Option<&[u8]> {
        self.place.map(|_| self.walk.term())
    }

    /// Opens the postings of the term and says how many there are, left out ones included.
    fn open(&mut self) -> Result<u64> {
        let Some(place) = self.place else {
            return Ok(0);
        };
        let postings = self.source.reader.open(place)?;
        self.cursor = Some(self.source.reader.cursor(&postings)?);
        self.next_row = self.source.first;
        Ok(u64::from(postings.count()))
    }

    /// Appends the postings that are kept and whose new rows are below `end`, new row in the upper
    /// half, frequency in the lower. True when there may be more.
    fn take(&mut self, end: u32, postings: &mut Vec<u64>) -> Result<bool> {
        let Some(cursor) = &mut self.cursor else {
            return Ok(false);
        };
        while self.next_row < self.source.end() {
            let (rows, frequencies) = cursor.block_from(self.next_row)?;
            let Some(last) = rows.last().copied() else {
                return Ok(false);
            };
            let before = rows.partition_point(|row| *row < self.next_row);
            let postings_of_block = std::iter::zip(rows, frequencies).skip(before);
            for (row, frequency) in postings_of_block {
                let new = self.source.new_row(*row);
                if new == DROPPED {
                    continue;
                }
                if new >= end {
                    self.next_row = *row;
                    return Ok(true);
                }
                postings.push(u64::from(new) << 32 | u64::from(*frequency));
            }
            // Rows stay below 2^24.
            self.next_row = last + 1;
        }
        Ok(false)
    }

    fn advance(&mut self) -> Result<()> {
        self.cursor = None;
        self.place = self.walk.advance()?;
        Ok(())
    }
}

/// Writes the columns of a segment of `rows` rows, each of them a row of one of the `sources`. Asks
/// `check` now and then whether to go on.
///
/// Reads every source once. Takes memory for `WINDOW_ROWS` postings (16 bytes each), the encoded
/// form of one list, and the lengths (2 bytes a row; 4 when a chunk is longer than 65 535 terms),
/// whatever the number of documents and of sources.
///
/// # Errors
/// [`Error::Damaged`] when a mapping does not lie within its segment, does not ascend, or all of them
/// together do not give every new row once; or when bytes of a source contradict the format.
/// [`Error::TooMany`] for more than [`MAX_ROWS`] rows. What the sink and `check` say.
pub fn merge(
    segment: SegmentId,
    sources: &[MergeSource<'_>],
    rows: u32,
    sink: &mut dyn ExtentSink,
    check: &mut dyn FnMut() -> Result<()>,
) -> Result<KeywordRecord> {
    let lengths = merged_lengths(segment, sources, rows)?;
    let mut columns = InvertedIndexSerializer::new(segment, &lengths);
    let heads = sources.iter().map(|source| Head::new(*source));
    let mut heads = heads.collect::<Result<Vec<_>>>()?;
    let mut merger = ListMerger::default();
    let mut term = Vec::new();
    let mut terms = 0u64;
    while let Some(least) = heads.iter().filter_map(Head::term).min() {
        term.clear();
        term.extend_from_slice(least);
        merger.merge(&mut heads, &term, rows, &mut columns)?;
        columns.end_term(sink, &term)?;
        terms += 1;
        if terms.is_multiple_of(TERMS_PER_CHECK) {
            check()?;
        }
    }
    columns.finish(sink)
}

/// Merges the lists of one term; keeps its memory for the next.
#[derive(Default)]
struct ListMerger {
    postings: Vec<u64>,
    rows: Vec<u32>,
    frequencies: Vec<u32>,
}

impl ListMerger {
    /// Gives the lists of all heads that stand on `term` to `columns` and moves these on.
    fn merge(
        &mut self,
        heads: &mut [Head<'_>],
        term: &[u8],
        rows: u32,
        columns: &mut InvertedIndexSerializer<'_>,
    ) -> Result<()> {
        let (mut count, mut lists) = (0, 0);
        for head in heads.iter_mut().filter(|head| head.term() == Some(term)) {
            count += head.open()?;
            lists += 1;
        }
        let window = match count <= u64::from(WINDOW_ROWS) || lists == 0 {
            true => rows,
            false => WINDOW_ROWS,
        };
        let mut end = 0;
        while end < rows {
            end = end.saturating_add(window).min(rows);
            self.postings.clear();
            for head in heads.iter_mut().filter(|head| head.cursor.is_some()) {
                if !head.take(end, &mut self.postings)? {
                    head.advance()?;
                }
            }
            if lists > 1 {
                // Each list ascends, and this sort merges runs instead of starting over.
                self.postings.sort();
            }
            let upper = |posting: &u64| (posting >> 32) as u32;
            self.rows.clear();
            self.rows.extend(self.postings.iter().map(upper));
            let lower = |posting: &u64| *posting as u32;
            self.frequencies.clear();
            self.frequencies.extend(self.postings.iter().map(lower));
            columns.extend(&self.rows, &self.frequencies);
        }
        for head in heads.iter_mut().filter(|head| head.cursor.is_some()) {
            // A posting of a row beyond all new rows; lengths have refused such a mapping.
            head.advance()?;
        }
        Ok(())
    }
}

/// FieldNormReader of the new rows, the mappings checked on the way.
fn merged_lengths(
    segment: SegmentId,
    sources: &[MergeSource<'_>],
    rows: u32,
) -> Result<FieldNorms> {
    let damaged =
        |what: &str| Error::damaged(format!("merging into segment {}: {what}", segment.0));
    if rows > MAX_ROWS {
        return Err(Error::TooMany {
            what: "chunks of one segment",
            count: u64::from(rows),
            limit: u64::from(MAX_ROWS),
        });
    }
    let mut new_lengths = FieldNorms::new(rows as usize);
    let mut taken = vec![0u64; (rows as usize).div_ceil(64)];
    let mut kept = 0;
    for source in sources {
        let end = u64::from(source.first) + source.rows.len() as u64;
        if end > u64::from(source.reader.rows()) {
            return Err(damaged("a mapping is longer than its segment"));
        }
        let mut lengths = source.reader.lengths();
        let mut next = 0;
        for (row, new) in (source.first..).zip(source.rows) {
            if *new == DROPPED {
                continue;
            }
            if *new < next {
                return Err(damaged("a mapping does not ascend"));
            }
            let bit = 1 << (new % 64);
            let Some(word) = taken.get_mut((new / 64) as usize) else {
                return Err(damaged("a mapping names a row beyond the segment"));
            };
            if *word & bit != 0 {
                return Err(damaged("two rows are mapped to one"));
            }
            *word |= bit;
            if !new_lengths.set(*new, lengths.exact(row)?) {
                return Err(damaged("a mapping names a row beyond the segment"));
            }
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
    use crate::index::keyword::fixture::{Index, prose, word};
    use crate::index::keyword::{Analyser, DocumentTerms, DocumentTermsBuilder};
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
        fn merge(&self) -> Result<(MemoryExtents, KeywordRecord)> {
            let mut sources = Vec::new();
            for (index, rows) in self.sources.iter().zip(&self.mappings) {
                let reader = index.try_reader()?;
                // Rows that are dropped at the ends need not be named.
                let first = rows.iter().take_while(|row| **row == DROPPED).count();
                let last = rows.iter().rposition(|row| *row != DROPPED);
                sources.push(MergeSource {
                    reader,
                    first: first as u32,
                    rows: last.map_or(&[], |last| &rows[first..=last]),
                });
            }
            let mut sink = MemoryExtents::default();
            let rows = self.fresh.record.rows;
            let record = merge(SegmentId(9), &sources, rows, &mut sink, &mut || Ok(()))?;
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
    fn a_list_longer_than_a_window_merges_to_the_same_bytes() {
        let mut analyser = Analyser::new();
        let documents: Vec<DocumentTerms> = (0..WINDOW_ROWS * 5 / 2)
            .map(|i| {
                let mut builder = DocumentTermsBuilder::new(&mut analyser);
                builder.add_text("always", 1 + i % 2);
                builder.end_chunk();
                builder.finish()
            })
            .collect();
        // Long runs of one source, and short ones.
        let turns = (0..90_000).map(|i| (i / 30_000 + i % 2, i % 7 != 3));
        let turns: Vec<(usize, bool)> = turns.collect();
        split(documents, 3, &turns).assert_equals_fresh();
    }

    #[test]
    fn a_merge_stops_when_it_is_told_to() {
        let mut analyser = Analyser::new();
        let documents: Vec<DocumentTerms> = (0..5000)
            .map(|i| {
                let mut builder = DocumentTermsBuilder::new(&mut analyser);
                builder.add_text(&word(i), 1);
                builder.end_chunk();
                builder.finish()
            })
            .collect();
        let index = Index::of(&documents);
        let rows: Vec<u32> = (0..index.record.rows).collect();
        let source = MergeSource {
            reader: index.reader(),
            first: 0,
            rows: &rows,
        };
        assert!(
            index.record.terms > TERMS_PER_CHECK,
            "{}",
            index.record.terms
        );
        let mut sink = MemoryExtents::default();
        let mut stop = || Err(Error::Cancelled);
        let error = merge(
            SegmentId(9),
            &[source],
            index.record.rows,
            &mut sink,
            &mut stop,
        );
        assert_eq!(error.unwrap_err().code(), "CANCELLED");
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
        let record = merge(SegmentId(9), &[], 0, &mut sink, &mut || Ok(())).unwrap();
        assert_eq!(record, split.fresh.record);
    }

    #[test]
    fn mappings_that_lie_are_refused() {
        let index = Index::of(&prose(2, 4, 20));
        let reader = index.reader();
        let refused = |mappings: &[&[u32]], rows: u32, what: &str| {
            let sources = mappings.iter().map(|rows| MergeSource {
                reader,
                first: 0,
                rows,
            });
            let sources: Vec<MergeSource<'_>> = sources.collect();
            let mut sink = MemoryExtents::default();
            let error = merge(SegmentId(9), &sources, rows, &mut sink, &mut || Ok(()));
            let error = error.unwrap_err();
            assert!(error.to_string().contains(what), "{error}");
            error
        };
        refused(&[&[0, 1, 2, 3, 4]], 5, "longer than its segment");
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
