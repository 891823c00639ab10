//! The exact scan: the product of the query with every row that may answer.

use super::segments::{Kept, Neighbor, Segments, keep, ones};
use super::top_k::TopK;
use crate::error::Result;
use crate::index::vector::kernels::layout::{BLOCK_ROWS, LANES, Lanes};
use crate::index::vector::query::Query;

/// A block with fewer rows that may answer is read row by row.
const DENSE: u32 = 16;

/// The `k` nearest rows of all segments.
pub(super) fn scan(segments: &Segments<'_>, query: &Query, k: usize) -> Result<Vec<Neighbor>> {
    let mut kept = Vec::new();
    let mut floor = 0;
    let mut products = [0; BLOCK_ROWS];
    for (segment, reader, filter) in segments.iter() {
        let mut top = TopK::new(k, floor);
        let mut cursor = reader.row_cursor();
        let mut sparse: Vec<u32> = Vec::new();
        for block in 0..reader.rows().div_ceil(BLOCK_ROWS as u32) {
            let allowed = filter.block(block);
            let first = block * BLOCK_ROWS as u32;
            if allowed.count_ones() < DENSE {
                sparse.extend(ones(allowed).map(|bit| first + bit));
                continue;
            }
            // Rows are offered in ascending order.
            let rows = sparse.drain(..);
            reader.products(query, rows, |row, product| top.offer(product, row))?;
            reader.block_products(&mut cursor, query, block, &mut products)?;
            for (bit, product) in (0..).zip(&products) {
                if *product > top.threshold() && allowed >> bit & 1 == 1 {
                    top.offer(*product, first + bit);
                }
            }
        }
        let rows = sparse.drain(..);
        reader.products(query, rows, |row, product| top.offer(product, row))?;
        floor = keep(&mut kept, segment, top, k, floor);
    }
    Ok(segments.rank(query, k, kept))
}

/// As [`scan`] for up to sixteen queries, each row read once for all of them.
pub(super) fn scan_batch(
    segments: &Segments<'_>,
    queries: &[Query],
    k: usize,
) -> Result<Vec<Vec<Neighbor>>> {
    let rows: Vec<_> = queries.iter().map(Query::one).collect();
    let lanes = Lanes::new(&rows);
    let mut kept: Vec<Vec<Kept>> = vec![Vec::new(); queries.len()];
    let mut products = [[0; LANES]; BLOCK_ROWS];
    for (segment, reader, filter) in segments.iter() {
        let mut tops: Vec<TopK> = queries.iter().map(|_| TopK::new(k, 0)).collect();
        let mut cursor = reader.row_cursor();
        // What a product must exceed; in lanes without a query none does.
        let mut floors = [i32::MAX; LANES];
        for (floor, top) in floors.iter_mut().zip(&tops) {
            *floor = top.threshold();
        }
        for block in 0..reader.rows().div_ceil(BLOCK_ROWS as u32) {
            let allowed = filter.block(block);
            if allowed == 0 {
                continue;
            }
            reader.block_products_of_lanes(&mut cursor, &lanes, block, &mut products)?;
            let first = block * BLOCK_ROWS as u32;
            for (bit, products) in (0..).zip(&products) {
                let pairs = products.iter().zip(&floors);
                let above = pairs.fold(false, |any, (product, floor)| any | (product > floor));
                if !above || allowed >> bit & 1 == 0 {
                    continue;
                }
                let lanes = tops.iter_mut().zip(products).zip(&mut floors);
                for ((top, product), floor) in lanes {
                    top.offer(*product, first + bit);
                    *floor = top.threshold();
                }
            }
        }
        for (kept, top) in kept.iter_mut().zip(tops) {
            keep(kept, segment, top, k, 0);
        }
    }
    let lists = queries.iter().zip(kept);
    Ok(lists
        .map(|(query, kept)| segments.rank(query, k, kept))
        .collect())
}
