use proptest::prelude::*;

use super::*;
use crate::container::column::MemoryExtents;
use crate::index::keyword::fixture::{Index, prose, word};
use crate::index::keyword::{Analyser, DocumentTerms, DocumentTermsBuilder};

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
fn lists_of_several_parts_merge_to_the_same_bytes() {
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
