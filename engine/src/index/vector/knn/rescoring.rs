//! The rescored scan: an estimate of every product from sign bits, then the exact product of the
//! best estimates.
//!
//! The estimate adds up, for each row, the components of the query whose sign bit is set in the
//! row: an asymmetric distance, quantised rows against an unquantised query, looked up in tables of
//! 16 sums (Jegou, Douze and Schmid 2011, "Product quantization for nearest neighbor search";
//! tables in registers as in Andre, Kermarrec and Le Scouarnec 2015, "Cache locality is not
//! enough").
//!
//! Candidates are cut by value: every row whose estimate reaches the c-th best of all segments
//! together. So the answer depends on the rows alone, not on how they are split into segments.

use super::segments::{Neighbor, Segments, keep, ones};
use super::top_k::TopK;
use crate::error::Result;
use crate::index::vector::kernels::detect::kernels;
use crate::index::vector::kernels::layout::BLOCK_ROWS;
use crate::index::vector::query::Query;
use crate::index::vector::sign_bits::blocks;

/// Neighbours that a search asks for at least. Deeper lists find what only the keyword and the vector
/// part together rank high, and all pages of a result come from them.
pub const MIN_CANDIDATES: usize = 100;

/// The number of candidates when `k` rows are requested: `4 k + 200`, at least 400.
///
/// Measured on 114 641 chunks of code and prose, with 126 questions of people and 300 sentences of
/// chunks as queries. For k = 100, recall@10 with 300 candidates is 0.983 and 0.973, with 600 it is
/// 0.994 and 0.988; recall@100 with 600 is 0.957 and 0.914.
pub fn oversample(k: usize) -> usize {
    k.saturating_mul(4).saturating_add(200).max(400)
}

/// One block in this many is read first, to estimate the sum that candidates reach.
pub(super) const SAMPLED_EVERY: usize = 32;

/// The `k` nearest of the `candidates` rows with the best estimates, and how many rows were
/// rescored.
pub(super) fn scan(
    segments: &Segments<'_>,
    query: &Query,
    k: usize,
    candidates: usize,
) -> Result<(Vec<Neighbor>, u64)> {
    let chosen = find_candidates(segments, query, candidates)?;
    let scored = chosen.len() as u64;
    let mut kept = Vec::new();
    let mut floor = query.floor();
    for (segment, reader, _) in segments.iter() {
        let start = chosen.partition_point(|row| row.segment < segment);
        let end = chosen.partition_point(|row| row.segment <= segment);
        let rows = chosen.get(start..end).unwrap_or_default();
        let mut top = TopK::new(k, floor);
        let rows = rows.iter().map(|row| row.row);
        reader.keys(query, rows, |row, key| top.offer(key, row))?;
        floor = keep(&mut kept, segment, top, k, floor);
    }
    Ok((segments.rank(query, k, kept), scored))
}

/// The rows whose sum reaches the `wanted`-th best, by segment and row.
///
/// A sample of the blocks is read first, for a threshold that keeps out most of the rows that would
/// only be candidates as long as few rows were read. When fewer than `wanted` rows reach that
/// threshold, all blocks are read again without it.
fn find_candidates(
    segments: &Segments<'_>,
    query: &Query,
    wanted: usize,
) -> Result<Vec<Candidate>> {
    let sampled: u64 = segments
        .iter()
        .map(|(_, reader, filter)| {
            let some = (0..blocks(reader.rows())).step_by(SAMPLED_EVERY);
            some.map(|block| u64::from(filter.block(block).count_ones()))
                .sum::<u64>()
        })
        .sum();
    let share = wanted as u64 * sampled / segments.rows.max(1);
    let mut least = 0;
    if share > 0 {
        let mut sample = Candidates::new(query, 2 * share as usize + 8, 0);
        offer_blocks(segments, query, SAMPLED_EVERY, &mut sample)?;
        least = sample.threshold;
    }
    let mut candidates = Candidates::new(query, wanted, least);
    offer_blocks(segments, query, 1, &mut candidates)?;
    if candidates.reached < wanted && least > 0 {
        candidates = Candidates::new(query, wanted, 0);
        offer_blocks(segments, query, 1, &mut candidates)?;
    }
    Ok(candidates.finish())
}

/// Offers the rows of every `every`-th block.
fn offer_blocks(
    segments: &Segments<'_>,
    query: &Query,
    every: usize,
    candidates: &mut Candidates,
) -> Result<()> {
    let tables = query.tables();
    let mut sums = [0; BLOCK_ROWS];
    for (segment, reader, filter) in segments.iter() {
        let mut cursor = reader.code_cursor();
        for block in (0..blocks(reader.rows())).step_by(every) {
            let allowed = filter.block(block);
            if allowed == 0 {
                continue;
            }
            let codes = cursor.from(u64::from(block))?;
            let codes = codes.get(..tables.len()).unwrap_or_default();
            let reached = kernels().code_sums(tables, codes, candidates.threshold, &mut sums);
            candidates.offer(segment, block * BLOCK_ROWS as u32, reached & allowed, &sums);
        }
    }
    Ok(())
}

/// A row and its sum.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    sum: u16,
    segment: usize,
    row: u32,
}

/// All rows whose sum reaches the c-th best sum so far.
struct Candidates {
    /// How many rows are wanted (c).
    wanted: usize,
    /// Rows of each sum from the threshold up.
    counts: Vec<u32>,
    /// The c-th best sum so far, or a lower bound of it.
    threshold: u16,
    /// Number of rows whose sum reaches the threshold.
    reached: usize,
    /// Rows that reached the threshold when they were offered.
    rows: Vec<Candidate>,
    /// When there are this many rows, those below the threshold are dropped.
    trim_at: usize,
}

impl Candidates {
    /// Rows whose sum is below `least` are never candidates.
    fn new(query: &Query, wanted: usize, least: u16) -> Candidates {
        let tables = query.tables().as_chunks::<32>().0.iter();
        let most: usize = tables
            .map(|table| usize::from(table.iter().max().copied().unwrap_or(0)))
            .sum();
        let wanted = wanted.max(1);
        Candidates {
            wanted,
            counts: vec![0; most + 1],
            threshold: least,
            reached: 0,
            rows: Vec::with_capacity(4 * wanted.min(1 << 16)),
            trim_at: wanted.saturating_mul(4),
        }
    }

    /// Offers rows of a block whose sums reach the threshold.
    #[inline]
    fn offer(&mut self, segment: usize, first: u32, rows: u64, sums: &[u16; BLOCK_ROWS]) {
        if rows == 0 {
            return;
        }
        for bit in ones(rows) {
            let sum = sums.get(bit as usize).copied().unwrap_or_default();
            if let Some(count) = self.counts.get_mut(usize::from(sum)) {
                *count += 1;
            }
            let row = first + bit;
            self.rows.push(Candidate { sum, segment, row });
        }
        self.reached += rows.count_ones() as usize;
        // The threshold only rises, so all rises together are one pass over the counts.
        while self.reached > self.wanted
            && let Some(lowest) = self.counts.get(usize::from(self.threshold))
            && self.reached - *lowest as usize >= self.wanted
        {
            self.reached -= *lowest as usize;
            self.threshold += 1;
        }
        if self.rows.len() >= self.trim_at {
            self.trim();
            // When most rows tie, trimming must not dominate the cost.
            self.trim_at = 2 * self.rows.len().max(self.wanted);
        }
    }

    /// Drops rows below the threshold. Copies without branches: about half of the rows are dropped,
    /// in no order, so that branches would be mispredicted.
    fn trim(&mut self) {
        let mut kept = 0;
        for at in 0..self.rows.len() {
            let row = self.rows.get(at).copied();
            if let (Some(row), Some(place)) = (row, self.rows.get_mut(kept)) {
                *place = row;
                kept += usize::from(row.sum >= self.threshold);
            }
        }
        self.rows.truncate(kept);
    }

    /// The candidates, by segment and row.
    fn finish(mut self) -> Vec<Candidate> {
        self.trim();
        self.rows
    }
}
