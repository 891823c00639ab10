//! The exact scan: the product of the query with every row that may answer.

use kb_types::error::Result;

use super::runs::Window;
use super::segments::{Kept, Neighbor, Segments, keep};
use super::top_k::TopK;
use crate::index::vector::kernels::layout::{BLOCK_ROWS, LANES, Lanes};
use crate::index::vector::query::Query;
use crate::metric::Metric;

/// The `k` nearest rows of all segments.
pub(super) fn scan(segments: &Segments<'_>, query: &Query, k: usize) -> Result<Vec<Neighbor>> {
    let mut kept = Vec::new();
    let mut floor = query.floor();
    for (segment, reader, filter) in segments.iter() {
        let mut top = TopK::new(k, floor);
        let mut window = Window::new(reader, query);
        for block in 0..reader.rows().div_ceil(BLOCK_ROWS as u32) {
            window.push(block, filter.block(block));
            if window.is_full() {
                window.read(&mut top)?;
            }
        }
        window.read(&mut top)?;
        floor = keep(&mut kept, segment, top, k, floor);
    }
    Ok(segments.rank(query, k, kept))
}

/// As [`scan`] for up to sixteen queries by cosine, each row read once for all of them; by other metrics one after the
/// other.
pub(super) fn scan_batch(
    segments: &Segments<'_>,
    queries: &[Query],
    k: usize,
) -> Result<Vec<Vec<Neighbor>>> {
    if queries.iter().any(|query| query.metric() != Metric::Cosine) {
        let lists = queries.iter().map(|query| scan(segments, query, k));
        return lists.collect();
    }
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
            *floor = floor_of(top);
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
                    *floor = floor_of(top);
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

/// What products must exceed. By cosine keys are products.
fn floor_of(top: &TopK) -> i32 {
    i32::try_from(top.threshold()).unwrap_or(i32::MAX)
}
