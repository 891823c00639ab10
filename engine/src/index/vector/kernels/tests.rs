//! Every form against the reference.

use proptest::prelude::*;
use simsimd::SpatialSimilarity;

use super::detect::all_kernels;
use super::dispatch::Kernels;
use super::layout::{BLOCK_ROWS, Best, Estimate, LANES, Lanes, OneQuery};
use super::scalar;
use crate::index::vector::quantise::as_signed;
use crate::index::vector::query::Query;
use crate::index::vector::{CODEC_I4, CODEC_I8};

/// All forms but the reference.
fn forms() -> Vec<Kernels> {
    let mut all = all_kernels();
    assert_eq!(all.pop().map(|last| last.name), Some("scalar"));
    all
}

/// `len` values of one seed (splitmix64, Steele, Lea and Flood 2014). A strategy for each value
/// takes a hundred times as long as the kernels do.
fn values<T: std::fmt::Debug>(len: usize, one: fn(u64) -> T) -> impl Strategy<Value = Vec<T>> {
    any::<u64>().prop_map(move |seed| {
        let mixed = (1..=len as u64).map(|step| {
            let mut x = seed.wrapping_add(step.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            x ^ (x >> 31)
        });
        mixed.map(one).collect()
    })
}

/// Bytes that are extreme more often than not.
fn bytes(len: usize) -> impl Strategy<Value = Vec<u8>> {
    values(len, |x| match x % 6 {
        0 => 0x7f,
        1 => 0x81,
        2 => 0x80,
        3 => 0,
        4 => 0xff,
        _ => (x >> 8) as u8,
    })
}

fn query_row(width: usize) -> impl Strategy<Value = Vec<i8>> {
    values(width, |x| match x % 3 {
        0 => 127,
        1 => -127,
        _ => (((x >> 8) % 255) as i16 - 127) as i8,
    })
}

/// A query whose bytes are given: its largest component is 127 units.
fn query_of(row: &[i8]) -> Query {
    let mut vector: Vec<f32> = row.iter().map(|byte| f32::from(*byte)).collect();
    vector[0] = 127.0;
    Query::new(&vector, 1.0).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn products_equal_the_reference(
        (query, rows) in (1usize..6, 0usize..23).prop_flat_map(|(chunks, rows)| {
            (query_row(64 * chunks), bytes(64 * chunks * rows))
        }),
        cut in 0usize..70,
    ) {
        let query = query_of(&query);
        let rows = &rows[..rows.len().saturating_sub(cut)];
        for codec in [CODEC_I8, CODEC_I4] {
            let mut expected = vec![7; 50];
            let count = scalar::KERNELS.products(codec, query.one(), rows, &mut expected);
            for form in forms() {
                let mut products = vec![7; 50];
                let told = form.products(codec, query.one(), rows, &mut products);
                prop_assert_eq!((form.name, told, &products), (form.name, count, &expected));
            }
        }
    }

    #[test]
    fn products_of_lanes_equal_those_of_each_query(
        (queries, rows) in (1usize..4, 0usize..20, 1usize..17).prop_flat_map(|(chunks, rows, n)| {
            (prop::collection::vec(query_row(64 * chunks), n), bytes(64 * chunks * rows))
        }),
    ) {
        let queries: Vec<Query> = queries.iter().map(|row| query_of(row)).collect();
        let lanes = Lanes::new(&queries.iter().map(Query::one).collect::<Vec<_>>());
        for codec in [CODEC_I8, CODEC_I4] {
            for form in all_kernels() {
                let mut products = vec![[7; LANES]; 45];
                let count = form.products_of_lanes(codec, &lanes, &rows, &mut products);
                for (lane, query) in queries.iter().enumerate() {
                    let mut expected = vec![7; 45];
                    let same = scalar::KERNELS.products(codec, query.one(), &rows, &mut expected);
                    prop_assert_eq!(count, same);
                    let of_lane: Vec<i32> =
                        products[..count].iter().map(|products| products[lane]).collect();
                    prop_assert_eq!((form.name, &of_lane[..]), (form.name, &expected[..count]));
                }
            }
        }
    }

    #[test]
    fn sums_of_codes_equal_the_reference(
        (tables, block) in (1usize..9).prop_flat_map(|groups| {
            (values(16 * 8 * groups, |x| (x % 64) as u8), bytes(256 * groups))
        }),
        share in 0u32..=4,
    ) {
        let tables: Vec<u8> = tables.chunks(16).flat_map(|table| [table, table].concat()).collect();
        let threshold = (tables.len() as u32 * share / 4) as u16;
        let mut expected = [0; BLOCK_ROWS];
        let reached = scalar::KERNELS.code_sums(&tables, &block, threshold, &mut expected);
        for form in forms() {
            let mut sums = [1; BLOCK_ROWS];
            let told = form.code_sums(&tables, &block, threshold, &mut sums);
            prop_assert_eq!((form.name, told, sums), (form.name, reached, expected));
        }
    }

    #[test]
    fn estimates_equal_a_plain_formula(
        (tables, block) in (1usize..9).prop_flat_map(|groups| {
            (values(16 * 8 * groups, |x| (x % 64) as u8), bytes(256 * groups))
        }),
        factors in bytes(BLOCK_ROWS),
        (base, bias, shift) in (-20_000i32..90_000, -5000i32..70_000, 0u32..25),
        threshold in any::<u16>(),
    ) {
        let tables: Vec<u8> = tables.chunks(16).flat_map(|table| [table, table].concat()).collect();
        let factors: [u8; BLOCK_ROWS] = factors.try_into().unwrap();
        let how = Estimate { base, bias, shift };
        let mut sums = [0; BLOCK_ROWS];
        scalar::KERNELS.code_sums(&tables, &block, 0, &mut sums);
        let expected: Vec<u16> = sums.iter().zip(&factors).map(|(sum, factor)| {
            let more = (i64::from(*sum) - i64::from(bias)) * i64::from(*factor);
            (i64::from(base) + (more >> shift)).clamp(0, 65_535) as u16
        }).collect();
        let reached: Vec<bool> = expected.iter().map(|estimate| *estimate >= threshold).collect();
        for form in all_kernels() {
            let mut estimates = [1; BLOCK_ROWS];
            let told = form.estimates(&tables, [&block, &[]], &factors, how, threshold, &mut estimates);
            prop_assert_eq!((form.name, &estimates[..]), (form.name, &expected[..]));
            let told: Vec<bool> = (0..64).map(|row| told >> row & 1 == 1).collect();
            prop_assert_eq!((form.name, &told), (form.name, &reached));
        }
    }

    #[test]
    fn the_nearest_of_all_forms_are_those_of_a_plain_comparison(
        (centroids, rows) in (1usize..4, 0usize..30).prop_flat_map(|(chunks, rows)| {
            let centroids = prop::collection::vec(query_row(64 * chunks), 32);
            (centroids, bytes(64 * chunks * rows))
        }),
    ) {
        let width = centroids[0].len();
        let one = |row: &'_ [i8]| -> i32 { row.iter().map(|byte| i32::from(*byte)).sum() };
        let square = |row: &[i8]| -> i32 {
            row.iter().map(|byte| i32::from(*byte) * i32::from(*byte)).sum()
        };
        let count = rows.len() / width;
        for form in all_kernels() {
            let mut best = vec![Best::NONE; count];
            for (group, some) in (0..).zip(centroids.chunks(LANES)) {
                let queries: Vec<OneQuery<'_>> = some
                    .iter()
                    .map(|row| OneQuery { row, sum: one(row) })
                    .collect();
                let mut norms = [0; LANES];
                norms.iter_mut().zip(some).for_each(|(norm, row)| *norm = square(row));
                form.nearest(&Lanes::new(&queries), &norms, group, &rows, &mut best);
            }
            for (row, best) in rows.chunks(width).zip(&best) {
                let distance = |centroid: &Vec<i8>| -> i64 {
                    let pairs = as_signed(row).iter().zip(centroid);
                    pairs.map(|(x, c)| (i64::from(*x) - i64::from(*c)).pow(2)).sum()
                };
                let nearest = centroids.iter().map(distance).zip(0u32..).min().unwrap();
                prop_assert_eq!((form.name, best.centroid()), (form.name, nearest.1));
            }
        }
    }

    #[test]
    fn the_reference_equals_the_pairwise_oracle(
        (query, row) in (1usize..6).prop_flat_map(|chunks| {
            (query_row(64 * chunks), bytes(64 * chunks))
        }),
    ) {
        let query = query_of(&query);
        let mut product = [0];
        scalar::KERNELS.products(CODEC_I8, query.one(), &row, &mut product);
        let oracle = i8::dot(query.row(), as_signed(&row)).unwrap();
        prop_assert_eq!(f64::from(product[0]), oracle);
    }
}

#[test]
fn the_widest_rows_of_extremes_do_not_overflow() {
    let width = 8192;
    for sign in [127.0, -127.0] {
        let query = Query::new(&vec![sign; width], 1.0).unwrap();
        let lanes = Lanes::new(&[query.one()]);
        for byte in [0x7f, 0x80, 0x81, 0xff, 0] {
            let rows = vec![byte; width];
            for codec in [CODEC_I8, CODEC_I4] {
                let mut expected = [0; 2];
                scalar::KERNELS.products(codec, query.one(), &rows, &mut expected);
                for form in forms() {
                    let mut products = [0; 2];
                    form.products(codec, query.one(), &rows, &mut products);
                    assert_eq!(products, expected, "{} {byte}", form.name);
                    let mut products = [[0; LANES]; 1];
                    form.products_of_lanes(codec, &lanes, &rows, &mut products);
                    assert_eq!(products[0][0], expected[0], "{} {byte}", form.name);
                }
            }
        }
        let block = vec![0xff; 32 * width / 4];
        let mut expected = [0; BLOCK_ROWS];
        scalar::KERNELS.code_sums(query.tables(), &block, 1, &mut expected);
        for form in forms() {
            // Sums this great have their highest bit.
            for threshold in [expected[0] / 2, expected[0]] {
                let mut sums = [1; BLOCK_ROWS];
                let told = form.code_sums(query.tables(), &block, threshold, &mut sums);
                assert_eq!((told, sums), (u64::MAX, expected), "{}", form.name);
            }
        }
    }
}

#[test]
fn lengths_that_do_not_fit_are_no_rows() {
    for form in all_kernels() {
        let row = [1i8; 60];
        let query = OneQuery { row: &row, sum: 60 };
        assert_eq!(form.products(CODEC_I8, query, &[0; 600], &mut [0; 4]), 0);
        let none = OneQuery { row: &[], sum: 0 };
        assert_eq!(form.products(CODEC_I8, none, &[0; 600], &mut [0; 4]), 0);
        let mut sums = [0; BLOCK_ROWS];
        assert_eq!(form.code_sums(&[0; 256], &[0; 512], 0, &mut sums), 0);
        assert_eq!(form.code_sums(&[0; 288], &[0; 288], 0, &mut sums), 0);
    }
}
