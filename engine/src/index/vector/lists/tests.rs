//! Segments with inverted lists: what is found, and each lie about them.

use kb_types::SegmentId;
use roaring::RoaringBitmap;

use super::block::{ListBlock, StoredBlock};
use super::check;
use super::layout::{CENTROIDS, LIST_BLOCKS, LISTS, List};
use super::present::PresentRows;
use crate::container::column::{ColumnId, MemoryExtents};
use crate::index::vector::fixture::{RANGE, Segment, unit};
use crate::index::vector::query::Query;
use crate::index::vector::sign_bits::block_bytes;
use crate::index::vector::writer::Writer;
use crate::index::vector::{
    CODEC_I4, CODEC_I8, Effort, KnnSegment, Method, Neighbor, Scan, WHOLE_REACH, knn, knn_batch,
    knn_with_stats,
};

const DIM: usize = 60;

/// Rows around a few directions.
fn clustered(rows: u64) -> Vec<Vec<i8>> {
    (0..rows)
        .map(|row| {
            let (center, own) = (unit(row * 7 % 37, DIM), unit(1000 + row, DIM));
            let mut vector: Vec<f32> = center.iter().zip(&own).map(|(c, o)| c + 0.6 * o).collect();
            let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
            vector.iter_mut().for_each(|x| *x /= norm);
            Writer::row(&vector, RANGE)
        })
        .collect()
}

fn listed(codec: u8, rows: &[Vec<i8>], lists: usize) -> Segment {
    Segment::of(codec, DIM as u32, rows.iter()).with_lists(lists)
}

fn part<'a>(
    reader: &'a crate::index::vector::reader::Reader<'a>,
    filter: Option<&'a RoaringBitmap>,
    deleted: Option<&'a RoaringBitmap>,
) -> KnnSegment<'a> {
    KnnSegment {
        reader,
        filter,
        deleted,
    }
}

fn method(reach: f32, candidates: f32) -> Method {
    let effort = Effort { reach, candidates };
    Method {
        scan: Scan::Rescored,
        effort,
    }
}

fn check(reader: &crate::index::vector::reader::Reader<'_>) -> crate::Result<()> {
    check::check(&PresentRows::all(*reader))
}

#[test]
fn lists_hold_what_verification_expects() {
    for codec in [CODEC_I8, CODEC_I4] {
        for rows in [1, 63, 64, 65, 5000] {
            check(&listed(codec, &clustered(rows), 16).reader()).unwrap();
        }
    }
    // One row a million times, scaled down: one list holds everything.
    let same = vec![clustered(1)[0].clone(); 3000];
    let segment = listed(CODEC_I8, &same, 32);
    check(&segment.reader()).unwrap();
    let query = Query::new(&unit(0, DIM), RANGE).unwrap();
    let reader = segment.reader();
    let found = knn(&[part(&reader, None, None)], &query, 7, method(3.0, 1.0)).unwrap();
    let rows: Vec<u32> = found.iter().map(|near| near.row).collect();
    assert_eq!(rows, [0, 1, 2, 3, 4, 5, 6], "ties by row");
}

#[test]
fn all_lists_find_what_an_exact_scan_finds() {
    let rows = clustered(9000);
    let deleted: RoaringBitmap = (0..9000).filter(|row| row % 5 == 2).collect();
    let filters = [
        None,
        Some(
            (0..9000)
                .filter(|row| row % 2 == 0)
                .collect::<RoaringBitmap>(),
        ),
        Some((2000..2600).collect()),
        Some([17].into_iter().collect()),
        Some(RoaringBitmap::new()),
    ];
    for codec in [CODEC_I8, CODEC_I4] {
        let segment = listed(codec, &rows, 64);
        let reader = segment.reader();
        for filter in &filters {
            let parts = [part(&reader, filter.as_ref(), Some(&deleted))];
            for seed in 0..12 {
                let query = Query::new(&unit(seed, DIM), RANGE).unwrap();
                let exact = knn(&parts, &query, 10, Scan::Exact).unwrap();
                let all = knn(&parts, &query, 10, method(WHOLE_REACH, 20.0)).unwrap();
                assert_eq!(all, exact, "{codec} {seed}");
                let beyond = knn(&parts, &query, 20_000, method(WHOLE_REACH, 1.0)).unwrap();
                let every = knn(&parts, &query, 20_000, Scan::Exact).unwrap();
                assert_eq!(beyond, every);
            }
        }
        let gone: RoaringBitmap = (0..9000).collect();
        let query = Query::new(&unit(1, DIM), RANGE).unwrap();
        let none = knn(
            &[part(&reader, None, Some(&gone))],
            &query,
            10,
            method(4.0, 1.0),
        );
        assert_eq!(none.unwrap(), []);
    }
}

/// Lists near the query hold none of the rows that may answer, or few.
#[test]
fn rows_far_from_the_query_are_found_through_a_filter() {
    let rows = clustered(20_000);
    let segment = listed(CODEC_I8, &rows, 96);
    let reader = segment.reader();
    for far in [3, 18] {
        // The clusters from 20 on; queries are from those before.
        let of_cluster = |row: &u32| (20..20 + far).contains(&(u64::from(*row) * 7 % 37));
        let filter: RoaringBitmap = (0..20_000).filter(of_cluster).collect();
        let parts = [part(&reader, Some(&filter), None)];
        let mut found = 0;
        for seed in 0..20 {
            let query = Query::new(&unit(seed, DIM), RANGE).unwrap();
            let some = knn(&parts, &query, 10, method(3.0, 1.0)).unwrap();
            let exact = knn(&parts, &query, 10, Scan::Exact).unwrap();
            let has = |near: &&Neighbor| some.iter().any(|other| other == *near);
            found += exact.iter().filter(has).count();
        }
        assert!(found >= 190, "{found} of 200 in {far} clusters");
    }
}

/// A segment of which no row may answer, and one whose rows lie far from the query, stand before the one that holds the
/// nearest.
#[test]
fn segments_without_near_rows_hide_none_of_the_others() {
    let rows = clustered(36_000);
    let of_cluster = |row: u32| u64::from(row) * 7 % 37;
    let segments = rows.chunks(12_000).map(|rows| listed(CODEC_I8, rows, 96));
    let segments: Vec<Segment> = segments.collect();
    let readers: Vec<_> = segments.iter().map(Segment::reader).collect();
    let here = |at: u32, keep: &dyn Fn(u64) -> bool| -> RoaringBitmap {
        let all = 0..12_000;
        all.filter(|row| keep(of_cluster(at * 12_000 + row)))
            .collect()
    };
    let mut found = 0;
    for seed in 0..20 {
        let query = Query::new(&unit(seed, DIM), RANGE).unwrap();
        let filters = [
            RoaringBitmap::new(),
            here(1, &|cluster| cluster >= 30 && cluster != seed),
            here(2, &|cluster| cluster.abs_diff(seed) < 2),
        ];
        let parts = readers.iter().zip(&filters);
        let parts: Vec<_> = parts
            .map(|(reader, rows)| part(reader, Some(rows), None))
            .collect();
        let some = knn(&parts, &query, 10, method(4.0, 1.0)).unwrap();
        let exact = knn(&parts, &query, 10, Scan::Exact).unwrap();
        assert_eq!(exact.len(), 10);
        let has = |near: &&Neighbor| some.iter().any(|other| other == *near);
        found += exact.iter().filter(has).count();
    }
    assert!(found >= 195, "{found} of 200");
}

#[test]
fn a_wider_reach_reads_more() {
    let rows = clustered(40_000);
    let segment = listed(CODEC_I8, &rows, 192);
    let reader = segment.reader();
    let parts = [part(&reader, None, None)];
    let mut before = 0;
    for reach in [1.0, 7.0, WHOLE_REACH] {
        let mut read = 0;
        for seed in 0..20 {
            let query = Query::new(&unit(seed, DIM), RANGE).unwrap();
            let (_, stats) = knn_with_stats(&parts, &query, 10, method(reach, 1.0)).unwrap();
            assert_eq!(stats.rows, 40_000);
            read += stats.estimated;
        }
        assert!(read > before, "{read} after {before} with {reach}");
        before = read;
        match reach {
            1.0 => assert!(read < 20 * 6000, "{read}"),
            WHOLE_REACH => assert_eq!(read, 20 * 40_000),
            _ => {}
        }
    }
}

#[test]
fn few_lists_find_most_and_batches_find_the_same() {
    let rows = clustered(20_000);
    let (first, second) = rows.split_at(14_000);
    let (first, second) = (listed(CODEC_I8, first, 96), listed(CODEC_I8, second, 48));
    let third = Segment::of(CODEC_I8, DIM as u32, clustered(500).iter());
    let readers = [first.reader(), second.reader(), third.reader()];
    let parts = readers.each_ref().map(|reader| part(reader, None, None));
    let queries: Vec<Query> = (0..40)
        .map(|seed| Query::new(&unit(seed % 37, DIM), RANGE).unwrap())
        .collect();
    let (mut found, mut wanted) = (0, 0);
    let batch = knn_batch(&parts, &queries, 10, method(4.0, 1.0)).unwrap();
    for (query, of_batch) in queries.iter().zip(&batch) {
        let some = knn(&parts, query, 10, method(4.0, 1.0)).unwrap();
        assert_eq!(&some, of_batch);
        let exact = knn(&parts, query, 10, Scan::Exact).unwrap();
        let has = |near: &&Neighbor| some.iter().any(|other| other == *near);
        found += exact.iter().filter(has).count();
        wanted += exact.len();
    }
    assert!(found * 100 >= wanted * 90, "{found} of {wanted}");
}

/// The rows of a column in which one chunk in ten has a vector: the others are zeros, as they are stored.
fn one_in_ten(codec: u8, rows: usize) -> (Segment, RoaringBitmap) {
    let present: RoaringBitmap = (0..rows as u32).filter(|row| row % 10 == 3).collect();
    let mut sink = MemoryExtents::default();
    let mut writer = Writer::new(SegmentId(1), codec, DIM as u32, RANGE);
    let mut vectors = clustered(present.len()).into_iter();
    for row in 0..rows as u32 {
        match present.contains(row) {
            true => writer.push(&mut sink, &vectors.next().unwrap()),
            false => writer.push_absent(&mut sink),
        }
        .unwrap();
    }
    let (record, columns) = writer.finish(&mut sink).unwrap();
    (Segment::new(sink, record, columns.to_vec()), present)
}

#[test]
fn rows_without_a_vector_are_in_no_list() {
    for codec in [CODEC_I8, CODEC_I4] {
        let (segment, present) = one_in_ten(codec, 100_000);
        let segment = segment.with_lists_of(64, Some(&present));
        let reader = segment.reader();
        check::check(&PresentRows::some(reader, &present)).unwrap();
        let lists = reader.lists().unwrap().lists().unwrap();
        let listed: u64 = lists.iter().map(|list| u64::from(list.rows)).sum();
        assert_eq!(listed, present.len());
        let parts = [part(&reader, Some(&present), None)];
        let (mut found, mut wanted) = (0, 0);
        for seed in 0..37 {
            let query = Query::new(&unit(seed, DIM), RANGE).unwrap();
            let exact = knn(&parts, &query, 10, Scan::Exact).unwrap();
            let some = knn(&parts, &query, 10, method(3.0, 1.0)).unwrap();
            let has = |near: &&Neighbor| some.iter().any(|other| other == *near);
            found += exact.iter().filter(has).count();
            wanted += exact.len();
        }
        assert!(found * 100 >= wanted * 95, "{codec}: {found} of {wanted}");
    }
}

#[test]
fn verification_knows_which_rows_have_a_vector() {
    let (segment, mut present) = one_in_ten(CODEC_I8, 3000);
    let segment = segment.with_lists_of(16, Some(&present));
    let told = |present: &RoaringBitmap| {
        let rows = PresentRows::some(segment.reader(), present);
        check::check(&rows).unwrap_err().to_string()
    };
    let last = present.max().unwrap();
    present.remove(last);
    assert!(told(&present).contains("a row without a vector"));
    present.insert(last);
    present.insert(last + 1);
    assert!(told(&present).contains("do not have all rows with a vector"));
}

#[test]
fn a_row_in_another_list_than_the_nearest_is_named() {
    let mut segment = listed(CODEC_I8, &clustered(500), 16);
    let (blocks, lists) = {
        let reader = segment.reader();
        let of = reader.lists().unwrap();
        let mut all = of.lists().unwrap();
        let mut cursor = of.block_cursor();
        let mut rows: Vec<Vec<u32>> = Vec::new();
        for list in &all {
            let numbers = (0..list.rows).map(|at| {
                let place = u64::from(list.first_block + at / 64);
                let stored = cursor.from(place).unwrap();
                StoredBlock::of(stored, DIM as u32).unwrap().row(at % 64)
            });
            rows.push(numbers.collect());
        }
        // Two rows change places, and all that is stored beside them is right.
        let mut filled = (0..rows.len()).filter(|at| !rows[*at].is_empty());
        let (a, b) = (filled.next().unwrap(), filled.next().unwrap());
        let (of_a, of_b) = (rows[a][0], rows[b][0]);
        (rows[a][0], rows[b][0]) = (of_b, of_a);
        let (mut blocks, mut block) = (Vec::new(), ListBlock::new(DIM as u32));
        let centroids = of.centroid_bytes().unwrap();
        for ((list, rows), centroid) in all.iter_mut().zip(&mut rows).zip(centroids.chunks(64)) {
            rows.sort_unstable();
            let mut squared = 0;
            for some in rows.chunks(64) {
                block.clear();
                for row in some {
                    let mut bytes = [0; 64];
                    reader.signed_row(*row, &mut bytes).unwrap();
                    squared += block.push(*row, &bytes, centroid, DIM);
                }
                blocks.extend_from_slice(block.bytes());
            }
            list.radius = (squared / rows.len().max(1) as u64).isqrt() as u32;
        }
        let lists: Vec<u8> = all.iter().flat_map(|list| list.to_bytes()).collect();
        (blocks, lists)
    };
    for (column, bytes) in [(LIST_BLOCKS, blocks), (LISTS, lists)] {
        segment.sink.columns.get_mut(&column).unwrap()[0] = bytes;
    }
    let told = check(&segment.reader()).unwrap_err().to_string();
    assert!(
        told.contains("not in the list of its nearest centroid"),
        "{told}"
    );
}

/// A segment of 500 rows in 16 lists, with one change in a column.
fn changed(column: ColumnId, change: impl FnOnce(&mut Vec<u8>)) -> Segment {
    let mut segment = listed(CODEC_I8, &clustered(500), 16);
    change(&mut segment.sink.columns.get_mut(&column).unwrap()[0]);
    segment
}

#[test]
fn each_lie_about_lists_is_named() {
    let signs = block_bytes(DIM as u32) as usize;
    let expect = |segment: Segment, what: &str| {
        let error = check(&segment.reader()).expect_err(what);
        assert_eq!(error.code(), "DAMAGED");
        assert!(error.to_string().contains(what), "{what}: {error}");
    };
    let other = "signs or factors of other rows or another centroid";
    expect(changed(CENTROIDS, |bytes| bytes[3] ^= 0x40), other);
    expect(
        changed(CENTROIDS, |bytes| bytes[63] = 1),
        "a centroid that is not one",
    );
    expect(
        changed(CENTROIDS, |bytes| bytes[5] = 0x80),
        "a centroid that is not one",
    );
    expect(changed(LIST_BLOCKS, |bytes| bytes[0] ^= 1), other);
    expect(changed(LIST_BLOCKS, |bytes| bytes[signs] ^= 1), other);
    let row = "a row that is not there, not in its place, or twice";
    expect(changed(LIST_BLOCKS, |bytes| bytes[signs + 64 + 1] = 9), row);
    expect(
        changed(LIST_BLOCKS, |bytes| {
            let second = signs + 64 + 4;
            bytes.copy_within(second - 4..second, second);
        }),
        row,
    );
    let list = |at: usize, change: fn(&mut List)| {
        move |bytes: &mut Vec<u8>| {
            let stored = bytes[12 * at..][..12].first_chunk_mut::<12>().unwrap();
            let mut list = List::from_bytes(stored);
            change(&mut list);
            *stored = list.to_bytes();
        }
    };
    expect(
        changed(LISTS, list(1, |list| list.radius += 1)),
        "another radius",
    );
    let begins = "does not begin where the list before ends";
    expect(
        changed(LISTS, list(1, |list| list.first_block += 1)),
        begins,
    );
    let fewer = changed(LISTS, list(0, |list| list.rows -= 1));
    assert_eq!(check(&fewer.reader()).unwrap_err().code(), "DAMAGED");
}

#[test]
fn searches_of_lies_end_in_an_error_or_an_answer() {
    let far = |list: &mut List| list.first_block = u32::MAX - 3;
    let many = |list: &mut List| list.rows = u32::MAX;
    let changes: [fn(&mut List); 3] = [far, many, |list| list.radius = u32::MAX];
    for change in changes {
        let segment = changed(LISTS, |bytes| {
            for stored in bytes.as_chunks_mut::<12>().0 {
                let mut list = List::from_bytes(stored);
                change(&mut list);
                *stored = list.to_bytes();
            }
        });
        ask(&segment);
    }
    let rows = block_bytes(DIM as u32) as usize + 64;
    for bytes in [[0xff; 4], [0, 0, 1, 0], [0; 4]] {
        let segment = changed(LIST_BLOCKS, |column| {
            let block = rows + 256;
            for block in column.chunks_mut(block) {
                block[rows..].as_chunks_mut::<4>().0.fill(bytes);
            }
        });
        ask(&segment);
    }
    ask(&changed(CENTROIDS, |bytes| bytes.fill(0x80)));
    // Every list has all rows: to read them would take as long as they are many, and as much memory.
    let segment = changed(LISTS, |column| {
        for list in column.chunks_mut(12) {
            list[..8].copy_from_slice(&[0, 0, 0, 0, 0xf4, 1, 0, 0]);
        }
    });
    let query = Query::new(&unit(1, DIM), RANGE).unwrap();
    let reader = segment.reader();
    let parts = [part(&reader, None, None)];
    let error = knn(&parts, &query, 20, method(7.0, 1.0)).unwrap_err();
    assert_eq!(error.code(), "DAMAGED");
}

/// Asks some questions; a row comes at most once.
fn ask(segment: &Segment) {
    let reader = segment.reader();
    let deleted: RoaringBitmap = (0..300).collect();
    let filter: RoaringBitmap = (350..500).collect();
    for (reach, filter, deleted) in [
        (WHOLE_REACH, None, None),
        (WHOLE_REACH, None, Some(&deleted)),
        (7.0, None, None),
        (1.0, Some(&filter), Some(&deleted)),
    ] {
        for seed in 0..5 {
            let query = Query::new(&unit(seed, DIM), RANGE).unwrap();
            let parts = [part(&reader, filter, deleted)];
            match knn(&parts, &query, 20, method(reach, 1.0)) {
                Ok(list) => {
                    let mut rows: Vec<u32> = list.iter().map(|near| near.row).collect();
                    rows.sort_unstable();
                    rows.dedup();
                    assert_eq!(rows.len(), list.len());
                    assert!(rows.iter().all(|row| *row < 500));
                }
                Err(error) => assert_eq!(error.code(), "DAMAGED"),
            }
        }
    }
}

#[test]
fn columns_of_other_lengths_are_refused() {
    let refused = |segment: &Segment| segment.try_reader().unwrap_err().code();
    for lists in [0, 15, 32, 1 << 20] {
        let mut segment = listed(CODEC_I8, &clustered(500), 16);
        segment.record.lists = lists;
        assert_eq!(refused(&segment), "DAMAGED", "{lists}");
    }
    let mut segment = Segment::of(CODEC_I8, DIM as u32, clustered(500).iter());
    segment.record.lists = 16;
    assert_eq!(refused(&segment), "DAMAGED");
    let mut segment = listed(CODEC_I8, &clustered(500), 16);
    segment.record.rows = 501;
    assert_eq!(refused(&segment), "DAMAGED");
}
