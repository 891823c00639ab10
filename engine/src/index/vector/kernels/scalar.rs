//! The reference kernels: one number after the other. Tests compare all others with them.

use super::dispatch::Kernels;
use super::layout::{
    BLOCK_ROWS, Best, Estimate, GROUP_BYTES, LANES, Lanes, OneQuery, reached, scale_sums,
};
use crate::index::vector::quantise::{I4_OFFSET, nibbles};

/// Runs everywhere.
pub(super) const KERNELS: Kernels = Kernels {
    name: "scalar",
    i8_rows,
    i8_lanes,
    i4_rows,
    i4_lanes,
    codes,
    scale,
    best,
};

fn i8_rows(query: OneQuery<'_>, rows: &[u8], products: &mut [i32]) {
    for (row, product) in rows.chunks_exact(query.row.len()).zip(products) {
        let pairs = row.iter().zip(query.row);
        *product = pairs
            .map(|(byte, q)| i32::from(byte.cast_signed()) * i32::from(*q))
            .sum();
    }
}

pub(super) fn i8_lanes(lanes: &Lanes, rows: &[u8], products: &mut [[i32; LANES]]) {
    for (row, products) in rows.chunks_exact(lanes.width()).zip(products) {
        *products = lane_sums(lanes, row.iter().map(|byte| i32::from(byte.cast_signed())));
    }
}

fn i4_rows(query: OneQuery<'_>, rows: &[u8], products: &mut [i32]) {
    for (row, product) in rows.chunks_exact(query.row.len() / 2).zip(products) {
        let pairs = nibbles(row).zip(query.row);
        let sum: i32 = pairs
            .map(|(nibble, q)| i32::from(nibble) * i32::from(*q))
            .sum();
        *product = 2 * sum - I4_OFFSET * query.sum;
    }
}

pub(super) fn i4_lanes(lanes: &Lanes, rows: &[u8], products: &mut [[i32; LANES]]) {
    for (row, products) in rows.chunks_exact(lanes.width() / 2).zip(products) {
        *products = lane_sums(lanes, nibbles(row).map(i32::from));
        for (product, sum) in products.iter_mut().zip(&lanes.sums) {
            *product = 2 * *product - I4_OFFSET * sum;
        }
    }
}

/// The sum of products of each lane with the numbers of a row.
fn lane_sums(lanes: &Lanes, row: impl Iterator<Item = i32>) -> [i32; LANES] {
    let mut sums = [0; LANES];
    for (dim, number) in row.enumerate() {
        let group = lanes.packed.chunks_exact(4 * LANES).nth(dim / 4);
        let bytes = group.unwrap_or_default().iter().skip(dim % 4).step_by(4);
        for (sum, byte) in sums.iter_mut().zip(bytes) {
            *sum += number * i32::from(*byte);
        }
    }
    sums
}

fn codes(
    tables: &[u8],
    block: &[u8],
    _next: *const u8,
    threshold: u16,
    sums: &mut [u16; BLOCK_ROWS],
) -> u64 {
    sums.fill(0);
    let groups = tables.chunks_exact(GROUP_BYTES);
    for (table, codes) in groups.zip(block.chunks_exact(GROUP_BYTES)) {
        let number = |code: u8| u16::from(table.get(usize::from(code)).copied().unwrap_or(0));
        let low = codes.iter().map(|byte| number(byte & 15));
        let high = codes.iter().map(|byte| number(byte >> 4));
        for (sum, number) in sums.iter_mut().zip(low.chain(high)) {
            *sum = sum.wrapping_add(number);
        }
    }
    reached(sums, threshold)
}

pub(super) fn scale(
    sums: &[u16; BLOCK_ROWS],
    factors: &[u8; BLOCK_ROWS],
    how: Estimate,
    threshold: u16,
    estimates: &mut [u16; BLOCK_ROWS],
) -> u64 {
    scale_sums(sums, factors, how, estimates);
    reached(estimates, threshold)
}

pub(super) fn best(products: &[[i32; LANES]], norms: &[i32; LANES], group: i32, best: &mut [Best]) {
    for (products, best) in products.iter().zip(best) {
        let lanes = products.iter().zip(norms);
        for ((product, norm), (score, of)) in lanes.zip(best.score.iter_mut().zip(&mut best.group))
        {
            let new = 2 * product - norm;
            let is_nearer = new > *score;
            *of = if is_nearer { group } else { *of };
            *score = if is_nearer { new } else { *score };
        }
    }
}
