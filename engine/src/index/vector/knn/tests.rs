use proptest::prelude::*;
use roaring::RoaringBitmap;

use super::candidates::Candidates;
use super::effort::oversample;
use super::rescoring::SAMPLED_EVERY;
use super::search::{Scan, ScanStats, knn, knn_batch, knn_with_stats};
use super::segments::{KnnSegment, Neighbor};
use crate::index::vector::fixture::{RANGE, Segment, unit};
use crate::index::vector::kernels::detect::all_kernels;
use crate::index::vector::kernels::dispatch::Kernels;
use crate::index::vector::kernels::layout::BLOCK_ROWS;
use crate::index::vector::query::Query;
use crate::index::vector::reader::Reader;
use crate::index::vector::writer::Writer;
use crate::index::vector::{CODEC_I4, CODEC_I8};

/// Rows of a few vectors over and over: there are many ties.
fn rows(count: u32, distinct: u64, dim: usize) -> Vec<Vec<i8>> {
    let vectors: Vec<_> = (0..distinct)
        .map(|seed| Writer::row(&unit(seed, dim), RANGE))
        .collect();
    (0..count as usize)
        .map(|row| vectors[row * 31 % vectors.len()].clone())
        .collect()
}

/// Some of the rows, in runs.
fn some(count: u32, share: u64, run: u32, seed: u64) -> RoaringBitmap {
    let random = |row: u32| {
        let mixed = (u64::from(row / run) ^ seed).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (mixed ^ mixed >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 40
    };
    (0..count)
        .filter(|row| random(*row) % 100 < share)
        .collect()
}

#[test]
fn nearness_is_known_once_there_are_enough_rows() {
    let mut candidates = Candidates::up_to(100, 8, 0).with_near(2, 5);
    // A threshold is raised only as far as it must be: 6, between the sums of the second and the third.
    let sums: [u16; BLOCK_ROWS] = std::array::from_fn(|at| at as u16);
    for (rows, near) in [(0b11_0000, None), (0b11_0000_0000, None), (0b1, Some(6))] {
        candidates.offer(0, rows, &sums, |bit| bit);
        assert_eq!(candidates.near_threshold(), near);
    }
}

/// The rows of one file, split into segments at some places.
struct Split {
    segments: Vec<Segment>,
    firsts: Vec<u32>,
}

impl Split {
    fn new(codec: u8, dim: u32, rows: &[Vec<i8>], pieces: usize) -> Split {
        let mut split = Split {
            segments: Vec::new(),
            firsts: Vec::new(),
        };
        for piece in 0..pieces {
            let first = rows.len() * piece * piece / (pieces * pieces);
            let end = rows.len() * (piece + 1) * (piece + 1) / (pieces * pieces);
            split.firsts.push(first as u32);
            split
                .segments
                .push(Segment::of(codec, dim, rows[first..end].iter()));
        }
        split
    }

    /// The part of a bitmap that is of each segment.
    fn bitmaps(&self, all: Option<&RoaringBitmap>) -> Vec<Option<RoaringBitmap>> {
        let segments = self.segments.iter().zip(&self.firsts);
        segments
            .map(|(segment, first)| {
                let end = first + segment.record.rows;
                let of_segment =
                    |all: &RoaringBitmap| all.range(*first..end).map(|row| row - first).collect();
                all.map(of_segment)
            })
            .collect()
    }

    /// Row numbers as if it were one segment, at most `k`.
    fn ask(
        &self,
        queries: &[Query],
        k: usize,
        how: Scan,
        filter: Option<&RoaringBitmap>,
        deleted: Option<&RoaringBitmap>,
    ) -> Vec<Vec<(u32, f32)>> {
        let readers: Vec<Reader<'_>> = self.segments.iter().map(Segment::reader).collect();
        let (filters, gone) = (self.bitmaps(filter), self.bitmaps(deleted));
        let parts: Vec<KnnSegment<'_>> = readers
            .iter()
            .enumerate()
            .map(|(part, reader)| KnnSegment {
                reader,
                filter: filters[part].as_ref(),
                deleted: gone[part].as_ref(),
            })
            .collect();
        let whole = |near: &Neighbor| (self.firsts[near.segment] + near.row, near.score);
        let lists = knn_batch(&parts, queries, k, how).unwrap();
        for (query, list) in queries.iter().zip(&lists) {
            assert_eq!(&knn(&parts, query, k, how).unwrap(), list);
            for part in 0..parts.len() {
                assert!(list.iter().filter(|near| near.segment == part).count() <= k);
            }
        }
        lists
            .iter()
            .map(|list| list.iter().take(k).map(whole).collect())
            .collect()
    }
}

/// Looks at each row that may answer, with nothing but the reference.
fn expected(
    codec: u8,
    rows: &[Vec<i8>],
    dim: u32,
    query: &Query,
    k: usize,
    rescored: bool,
    may: impl Fn(u32) -> bool,
) -> Vec<(u32, f32)> {
    let segment = Segment::of(codec, dim, rows.iter());
    let reader = segment.reader();
    let mut cursor = reader.code_cursor().unwrap();
    let mut found = Vec::new();
    for row in (0..rows.len() as u32).filter(|row| may(*row)) {
        let codes = &cursor.from(u64::from(row / 64)).unwrap()[..query.tables().len()];
        let mut sums = [0; BLOCK_ROWS];
        let mut product = [0];
        reference().code_sums(query.tables(), codes, 0, &mut sums);
        let bytes = reader.row(row).unwrap();
        reference().products(codec, query.one(), bytes, &mut product);
        found.push((sums[row as usize % 64], product[0], row));
    }
    if rescored {
        let mut sums: Vec<u16> = found.iter().map(|(sum, _, _)| *sum).collect();
        sums.sort_by(|a, b| b.cmp(a));
        let least = sums.get(oversample(k) - 1).copied().unwrap_or(0);
        found.retain(|(sum, _, _)| *sum >= least);
    }
    found.retain(|(_, product, _)| *product > 0);
    found.sort_by_key(|(_, product, row)| (-product, *row));
    found.truncate(k);
    let scored = found.iter();
    scored
        .map(|(_, product, row)| (*row, query.score(codec, *product)))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn results_do_not_depend_on_the_split_into_segments(
        seeds in prop::collection::vec(any::<u64>(), 1..19),
        count in prop_oneof![1u32..300, 1u32..20_000],
        distinct in prop_oneof![Just(97u64), Just(20_000)],
        k in prop_oneof![1usize..30, 1usize..3000],
        codec in prop_oneof![Just(CODEC_I8), Just(CODEC_I4)],
        rescored in any::<bool>(),
        pieces in prop_oneof![Just(1usize), Just(2), Just(3), Just(8)],
        keep in prop::option::of(prop_oneof![Just(1u64), Just(10), Just(50), Just(99), Just(100)]),
        gone in prop::option::of(prop_oneof![Just(0u64), Just(1), Just(50), Just(100)]),
        run in prop_oneof![Just(1u32), 1u32..3000],
    ) {
        let dim = 60;
        let rows = rows(count, distinct, dim);
        let filter = keep.map(|share| some(count, share, run, 1));
        let deleted = gone.map(|share| some(count, share, run, 2));
        let queries: Vec<Query> =
            seeds.iter().map(|seed| Query::new(&unit(*seed, dim), RANGE).unwrap()).collect();
        let how = if rescored { Scan::Rescored } else { Scan::Exact };
        let split = Split::new(codec, dim as u32, &rows, pieces);
        let lists = split.ask(&queries, k, how, filter.as_ref(), deleted.as_ref());
        for (query, list) in queries.iter().zip(&lists).take(2) {
            let may = |row| {
                filter.as_ref().is_none_or(|rows| rows.contains(row))
                    && deleted.as_ref().is_none_or(|rows| !rows.contains(row))
            };
            let expected = expected(codec, &rows, dim as u32, query, k, rescored, may);
            prop_assert_eq!(list, &expected);
        }
    }
}

#[test]
fn ties_with_the_last_are_left_to_the_caller() {
    let row = Writer::row(&unit(1, 64), RANGE);
    let split = Split::new(CODEC_I8, 64, &vec![row; 800], 2);
    let readers: Vec<Reader<'_>> = split.segments.iter().map(Segment::reader).collect();
    let parts: Vec<KnnSegment<'_>> = readers
        .iter()
        .map(|reader| KnnSegment {
            reader,
            filter: None,
            deleted: None,
        })
        .collect();
    let query = Query::new(&unit(1, 64), RANGE).unwrap();
    for how in [Scan::Exact, Scan::Rescored] {
        let list = knn(&parts, &query, 3, how).unwrap();
        let rows: Vec<_> = list.iter().map(|near| (near.segment, near.row)).collect();
        assert_eq!(rows, [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]);
        assert_eq!(knn(&parts, &query, 0, how).unwrap(), []);
    }
}

#[test]
fn of_equal_rows_the_first_are_found_also_in_blocks_of_few() {
    let row = Writer::row(&unit(1, 64), RANGE);
    let split = Split::new(CODEC_I8, 64, &vec![row; 640], 1);
    // The second block and the fourth are read as a whole, the others row by row.
    let filter: RoaringBitmap = [3, 9].into_iter().chain(64..128).chain([130]).collect();
    let filter = filter | RoaringBitmap::from_iter(192..256);
    let queries = [1, 1, 1].map(|seed| Query::new(&unit(seed, 64), RANGE).unwrap());
    for count in [1, 3] {
        for (k, last) in [(2, 9), (5, 66), (67, 130)] {
            let lists = split.ask(&queries[..count], k, Scan::Exact, Some(&filter), None);
            for list in lists {
                let rows: Vec<u32> = list.iter().map(|(row, _)| *row).collect();
                assert!(rows.iter().copied().eq(filter.iter().take(k)));
                assert_eq!(rows.last(), Some(&last));
            }
        }
    }
}

#[test]
fn signs_are_read_first_where_many_rows_may_answer() {
    let split = Split::new(CODEC_I8, 64, &rows(9000, 9000, 64), 3);
    let readers: Vec<Reader<'_>> = split.segments.iter().map(Segment::reader).collect();
    let few: RoaringBitmap = (5..9).collect();
    let query = Query::new(&unit(77, 64), RANGE).unwrap();
    let ask = |filter, how| {
        let part = |reader| KnnSegment {
            reader,
            filter,
            deleted: None,
        };
        let parts: Vec<KnnSegment<'_>> = readers.iter().map(part).collect();
        knn_with_stats(&parts, &query, 10, how).unwrap()
    };
    let (list, facts) = ask(None, Scan::Auto);
    assert!(facts.rescored && facts.rows == 9000);
    assert!(facts.scored >= oversample(10) as u64 && facts.scored < 1500);
    for k in 50..70 {
        let reader = |reader| KnnSegment {
            reader,
            filter: None,
            deleted: None,
        };
        let parts: Vec<KnnSegment<'_>> = readers.iter().map(reader).collect();
        let (_, facts) = knn_with_stats(&parts, &query, k, Scan::Rescored).unwrap();
        assert!(facts.scored >= oversample(k) as u64, "{k}: {facts:?}");
    }
    assert_eq!(
        (list[0].score * 100.0).round(),
        100.0,
        "row 77 is the query"
    );
    let (_, facts) = ask(None, Scan::Exact);
    assert_eq!(
        facts,
        ScanStats {
            rescored: false,
            rows: 9000,
            estimated: 0,
            scored: 9000
        }
    );
    let (_, facts) = ask(Some(&few), Scan::Auto);
    assert_eq!((facts.rescored, facts.scored), (false, 12));
}

#[test]
fn blocks_that_promise_too_much_hide_no_candidate() {
    // Two near rows in each block that is looked at first, none anywhere else.
    let dim = 64;
    let near = Writer::row(&unit(7, dim), RANGE);
    let mut rows = rows(64 * 32 * 20, 5000, dim);
    for block in rows.chunks_mut(64).step_by(SAMPLED_EVERY) {
        block[3] = near.clone();
        block[60] = near.clone();
    }
    let split = Split::new(CODEC_I8, dim as u32, &rows, 1);
    let query = Query::new(&unit(7, dim), RANGE).unwrap();
    let part = KnnSegment {
        reader: &split.segments[0].reader(),
        filter: None,
        deleted: None,
    };
    let (_, facts) = knn_with_stats(&[part], &query, 50, Scan::Rescored).unwrap();
    assert!(facts.scored >= oversample(50) as u64, "{facts:?}");
    let lists = split.ask(std::slice::from_ref(&query), 50, Scan::Rescored, None, None);
    let all = expected(CODEC_I8, &rows, dim as u32, &query, 50, true, |_| true);
    assert_eq!(lists, [all]);
}

#[test]
fn what_does_not_fit_is_refused() {
    let segment = Segment::of(CODEC_I8, 64, rows(10, 10, 64).iter());
    let other = Segment::of(CODEC_I4, 64, rows(10, 10, 64).iter());
    let (reader, other) = (segment.reader(), other.reader());
    let part = |reader, filter, deleted| KnnSegment {
        reader,
        filter,
        deleted,
    };
    let query = Query::new(&unit(3, 64), RANGE).unwrap();
    let wide = Query::new(&unit(3, 65), RANGE).unwrap();
    let beyond: RoaringBitmap = [3, 10, u32::MAX].into_iter().collect();
    for how in [Scan::Auto, Scan::Exact, Scan::Rescored] {
        for (parts, query) in [
            (vec![part(&reader, Some(&beyond), None)], &query),
            (vec![part(&reader, None, None)], &wide),
            (
                vec![part(&reader, None, None), part(&other, None, None)],
                &query,
            ),
        ] {
            assert_eq!(knn(&parts, query, 5, how).unwrap_err().code(), "DAMAGED");
        }
        // Deleted rows beyond the segment hide nothing.
        let best = knn(&[part(&reader, None, Some(&beyond))], &query, 5, how).unwrap();
        assert!(!best.is_empty() && best.iter().all(|near| near.row != 3));
        assert_eq!(knn(&[], &query, 5, how).unwrap(), []);
    }
}

#[test]
fn scores_of_rows_are_those_of_the_search() {
    for codec in [CODEC_I8, CODEC_I4] {
        let segment = Segment::of(codec, 192, rows(9000, 9000, 192).iter());
        let reader = segment.reader();
        let query = Query::new(&unit(4711, 192), RANGE).unwrap();
        let part = KnnSegment {
            reader: &reader,
            filter: None,
            deleted: None,
        };
        let list = knn(&[part], &query, 50, Scan::Exact).unwrap();
        assert!(list[0].score > 0.9, "{}", list[0].score);
        let rows: Vec<u32> = list.iter().map(|near| near.row).collect();
        let scores: Vec<f32> = list.iter().map(|near| near.score).collect();
        assert_eq!(reader.scores(&query, &rows).unwrap(), scores);
        assert_eq!(reader.score(&query, rows[7]).unwrap(), scores[7]);
        assert!(reader.score(&query, 9000).is_err());
        assert!(reader.scores(&query, &[1, 9000]).is_err());
        let again = Query::new(&reader.vector(4711).unwrap(), RANGE).unwrap();
        assert!(reader.score(&again, 4711).unwrap() > 0.9);
    }
}

/// The scalar kernels, which come last.
fn reference() -> Kernels {
    all_kernels().pop().unwrap()
}
