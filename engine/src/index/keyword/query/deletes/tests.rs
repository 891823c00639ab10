use proptest::prelude::*;

use super::*;
use crate::index::keyword::fixture::{Index, prose, word};
use crate::index::keyword::{Analyser, DocumentTerms, Query, QuerySegment, Statistics};

#[test]
fn lengths_of_some_rows_add_up() {
    let index = Index::of(&prose(3, 5000, 300));
    let rows: RoaringBitmap = (0..5000).filter(|row| row % 3 == 1).collect();
    let expected: u64 = rows
        .iter()
        .map(|row| u64::from(index.lengths[row as usize]))
        .sum();
    let reader = index.reader();
    assert_eq!(total_length_of(&reader, &rows).unwrap(), expected);
    assert_eq!(total_length_of(&reader, &RoaringBitmap::new()).unwrap(), 0);
    let all = total_length_of(&reader, &(0..5000).collect()).unwrap();
    assert_eq!(all, reader.total_length());
    let error = total_length_of(&reader, &(4999..5001).collect()).unwrap_err();
    assert_eq!(error.code(), "DAMAGED");
}

#[test]
fn deleted_postings_are_counted_right_in_each_way() {
    let index = Index::of(&prose(5, 9000, 60));
    let reader = index.reader();
    for step in [1, 2, 17, 400, 4000] {
        let deleted: RoaringBitmap = (1..9000).step_by(step).collect();
        for common_first in [true, false] {
            let mut terms: Vec<(&String, &Vec<(u32, u32)>)> = index.lists.iter().collect();
            terms.sort_by_key(|(_, list)| list.len());
            if common_first {
                terms.reverse();
            }
            let counter = DeletedRows::new(&deleted, &reader).unwrap();
            for (term, list) in terms {
                let gone = list.iter().filter(|(row, _)| deleted.contains(*row));
                let postings = reader.postings(term).unwrap().unwrap();
                let counted = counter.count(&reader, &postings).unwrap();
                assert_eq!(counted as usize, gone.count(), "{term} {step}");
            }
        }
    }
}

#[test]
fn a_segment_of_deleted_rows_only_answers_nothing() {
    let index = Index::of(&prose(4, 9000, 300));
    let deleted: RoaringBitmap = (0..9000).collect();
    let segment = QuerySegment {
        reader: index.reader(),
        deleted: Some(&deleted),
    };
    let mut analyser = Analyser::new();
    let text = format!("{} {}", word(0), word(7));
    let query = Query::new(&mut analyser, &text, &[segment], Statistics::default()).unwrap();
    assert!(query.terms().iter().all(|term| term.chunks == 0));
    assert_eq!(query.top_k(0, 10, None, 0.0).unwrap(), []);
    assert_eq!(query.top_k(0, 10, Some(&deleted), 0.0).unwrap(), []);
}

/// A segment with deleted rows, the same one without them, and the rows that it has left.
struct Part {
    index: Index,
    deleted: RoaringBitmap,
    fresh: Index,
    live: Vec<u32>,
}

fn part(documents: Vec<DocumentTerms>, keep: &[bool]) -> Part {
    let (mut kept, mut live) = (Vec::new(), Vec::new());
    let (mut deleted, mut row) = (RoaringBitmap::new(), 0);
    for (document, keep) in documents.iter().zip(keep.iter().cycle()) {
        let end = row + document.chunks().count() as u32;
        if *keep {
            kept.push(document.clone());
            live.extend(row..end);
        } else {
            deleted.extend(row..end);
        }
        row = end;
    }
    Part {
        index: Index::of(&documents),
        deleted,
        fresh: Index::of(&kept),
        live,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn deleted_rows_are_as_if_they_had_never_been_there(
        seed in any::<u64>(),
        sizes in prop::collection::vec(1u32..5000, 1..6),
        words in 2u32..2000,
        share in prop_oneof![Just(0.0), Just(0.005), Just(0.05), Just(0.5), Just(0.97), Just(1.0)],
        turns in prop::collection::vec(0f64..1.0, 1..400),
        asked in prop::collection::vec(0u32..300, 1..5),
        k in prop_oneof![Just(1usize), 1..30usize, 1..10_000usize],
        filter in prop::option::of((1u32..300, 0u32..3000, 1u32..9000)),
    ) {
        let keep: Vec<bool> = turns.iter().map(|turn| *turn >= share).collect();
        let parts: Vec<Part> = (seed..)
            .zip(&sizes)
            .map(|(seed, size)| part(prose(seed, *size, words), &keep))
            .collect();
        let mut statistics = Statistics::default();
        for part in &parts {
            let fresh = part.fresh.statistics();
            let gone = total_length_of(&part.index.reader(), &part.deleted).unwrap();
            let left = part.index.record.total_length - gone;
            prop_assert_eq!(left, fresh.total_length);
            statistics.chunks += fresh.chunks;
            statistics.total_length += left;
        }
        let text: Vec<String> = asked.iter().map(|i| word(*i)).collect();
        let text = text.join(" ");
        let mut analyser = Analyser::new();
        let with: Vec<QuerySegment<'_>> = parts
            .iter()
            .map(|part| QuerySegment {
                reader: part.index.reader(),
                deleted: Some(&part.deleted),
            })
            .collect();
        let without: Vec<QuerySegment<'_>> = parts
            .iter()
            .map(|part| QuerySegment { reader: part.fresh.reader(), deleted: None })
            .collect();
        let query = Query::new(&mut analyser, &text, &with, statistics).unwrap();
        let expected = Query::new(&mut analyser, &text, &without, statistics).unwrap();
        prop_assert_eq!(query.terms(), expected.terms());
        prop_assert_eq!(query.idf_sum(), expected.idf_sum());
        let filter = filter.map(|(step, first, last)| {
            (first..last.max(first)).step_by(step as usize).collect::<RoaringBitmap>()
        });
        for (at, part) in parts.iter().enumerate() {
            let fresh_filter = filter.as_ref().map(|filter| {
                (0..).zip(&part.live).filter(|(_, row)| filter.contains(**row))
                    .map(|(fresh, _)| fresh).collect::<RoaringBitmap>()
            });
            let best = query.top_k(at, k, filter.as_ref(), 0.0).unwrap();
            let mut same = expected.top_k(at, k, fresh_filter.as_ref(), 0.0).unwrap();
            for hit in &mut same {
                hit.row = part.live[hit.row as usize];
            }
            prop_assert_eq!(best, same);
            let fresh_rows: Vec<u32> = (0..part.live.len() as u32).collect();
            prop_assert_eq!(
                query.score_rows(at, &part.live).unwrap(),
                expected.score_rows(at, &fresh_rows).unwrap()
            );
        }
    }
}
