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
//! together. So the answer depends on the rows alone, not on how they are split into segments, as long
//! as these have no inverted lists, which each has for itself.

use kb_types::error::Result;

use super::candidates::{Candidate, Candidates};
use super::effort::{Effort, MIN_CANDIDATES, oversample};
use super::exact;
use super::lists;
use super::segments::{Neighbor, Segments, keep};
use super::top_k::TopK;
use crate::index::vector::kernels::detect::kernels;
use crate::index::vector::kernels::layout::BLOCK_ROWS;
use crate::index::vector::lists::probe::WHOLE_REACH;
use crate::index::vector::query::Query;
use crate::index::vector::sign_bits::blocks;

/// At most one in this many of the allowed rows of inverted lists is a candidate, beyond [`oversample`].
// Of fewer allowed rows fewer candidates hold as many of the nearest, and each candidate costs some
// 50 ns.
const FILTERED_SHARE: u64 = 32;

/// Least share of the nearest rows that lists are read for, however few rows a filter allows.
// With filters that keep 4 to 13 % of 1.17 million rows, recall@10 is 0.97 to 0.99. Half of this
// share gives 0.96 to 0.98 in a fifth less time.
const LEAST_NEAR: f64 = 0.2;

/// For a starved query: if at most one row in this many is allowed, the allowed rows are compared one by one, otherwise
/// all lists are read.
// An exact product takes about eight times as long as an estimate.
const STARVED_SHARE: u64 = 8;

/// One block in this many is read first, to estimate the sum that candidates reach.
// A sample of 3 % of the blocks gives a threshold near the final one, for 3 % more reading.
pub(super) const SAMPLED_EVERY: usize = 32;

/// The `k` nearest of the rows with the best estimates, and how many rows were rescored and estimated, for
/// each query.
pub(super) fn scan(
    segments: &Segments<'_>,
    queries: &[Query],
    k: usize,
    effort: &Effort,
) -> Result<Vec<(Vec<Neighbor>, Scanned)>> {
    let wanted = effort.candidates(k);
    let mut of_lists = Vec::new();
    if segments.has_lists() {
        // Of fewer rows fewer candidates hold as many of the nearest.
        let enough = segments.rows / FILTERED_SHARE;
        let enough = usize::try_from(enough).unwrap_or(usize::MAX);
        let wanted = wanted.min(enough.max(oversample(k)));
        // Where a filter lets through half of the rows, the 50th of them is as near as the 100th of all: to look for
        // the 100th would take half as much again.
        let share = segments.rows as f64 / segments.all_rows().max(1) as f64;
        let near = k.max(MIN_CANDIDATES) as f64 * share.max(LEAST_NEAR);
        let near = (near.ceil() as usize).max(1);
        of_lists = lists::find_candidates(segments, queries, (wanted, near, k), effort)?;
    }
    let mut of_lists = of_lists.into_iter();
    let mut all = Vec::with_capacity(queries.len());
    for query in queries {
        let of_lists = of_lists.next();
        if let Some(found) = of_lists.as_ref().filter(|found| found.is_starved) {
            let (list, mut scanned) = starved(segments, query, k, effort)?;
            scanned.estimated += found.read;
            all.push((list, scanned));
            continue;
        }
        let (mut chosen, mut estimated) = (Vec::new(), 0);
        if segments.has_flat() {
            chosen = find_candidates(segments, query, wanted)?;
            estimated = segments.flat_rows();
        }
        if let Some(found) = of_lists {
            estimated += found.read;
            chosen.extend(found.candidates);
            // Rows are offered in ascending order; a file that lies may have one in two lists.
            chosen.sort_unstable_by_key(Candidate::place);
            chosen.dedup_by_key(|row| row.place());
        }
        let scanned = Scanned {
            rescored: chosen.len() as u64,
            estimated,
        };
        all.push((rescore(segments, query, k, &chosen)?, scanned));
    }
    Ok(all)
}

/// The `k` nearest of rows that lie far from the query, as those of a folder about something else do: lists near
/// it hold few of them.
fn starved(
    segments: &Segments<'_>,
    query: &Query,
    k: usize,
    effort: &Effort,
) -> Result<(Vec<Neighbor>, Scanned)> {
    if segments.rows * STARVED_SHARE <= segments.all_rows() {
        let scanned = Scanned {
            rescored: segments.rows,
            estimated: 0,
        };
        return Ok((exact::scan(segments, query, k)?, scanned));
    }
    let whole = Effort {
        reach: WHOLE_REACH,
        ..*effort
    };
    let queries = std::slice::from_ref(query);
    let found = scan(segments, queries, k, &whole)?.pop();
    Ok(found.unwrap_or_default())
}

/// How many rows a scan read.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Scanned {
    /// Rows of which the exact product was taken.
    pub(super) rescored: u64,
    /// Rows of which it was estimated.
    pub(super) estimated: u64,
}

/// The `k` nearest of some rows, which ascend by segment and row.
pub(super) fn rescore(
    segments: &Segments<'_>,
    query: &Query,
    k: usize,
    chosen: &[Candidate],
) -> Result<Vec<Neighbor>> {
    let mut kept = Vec::new();
    let mut floor = query.floor();
    for (segment, reader, _) in segments.iter() {
        let place = Candidate::place_of(segment, 0);
        let start = chosen.partition_point(|row| row.place() < place);
        let place = Candidate::place_of(segment, u32::MAX);
        let end = chosen.partition_point(|row| row.place() <= place);
        let rows = chosen.get(start..end).unwrap_or_default();
        let mut top = TopK::new(k, floor);
        reader.will_read(rows.iter().map(Candidate::row));
        let rows = rows.iter().map(Candidate::row);
        reader.keys(query, rows, |row, key| top.offer(key, row))?;
        floor = keep(&mut kept, segment, top, k, floor);
    }
    Ok(segments.rank(query, k, kept))
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
        .flat()
        .map(|(_, reader, filter)| {
            let some = (0..blocks(reader.rows())).step_by(SAMPLED_EVERY);
            some.map(|block| u64::from(filter.block(block).count_ones()))
                .sum::<u64>()
        })
        .sum();
    let share = wanted as u64 * sampled / segments.flat_rows().max(1);
    let mut least = 0;
    if share > 0 {
        // Twice the expected share and some more, so that the threshold is rarely too high: then
        // all blocks are read again.
        let mut sample = Candidates::new(query, 2 * share as usize + 8, 0);
        offer_blocks(segments, query, SAMPLED_EVERY, &mut sample)?;
        least = sample.threshold();
    }
    let mut candidates = Candidates::new(query, wanted, least);
    offer_blocks(segments, query, 1, &mut candidates)?;
    if !candidates.is_full() && least > 0 {
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
    for (segment, reader, filter) in segments.flat() {
        let mut cursor = reader.code_cursor()?;
        for block in (0..blocks(reader.rows())).step_by(every) {
            let allowed = filter.block(block);
            if allowed == 0 {
                continue;
            }
            let codes = cursor.from(u64::from(block))?;
            let codes = codes.get(..tables.len()).unwrap_or_default();
            let reached = kernels().code_sums(tables, codes, candidates.threshold(), &mut sums);
            let first = block * BLOCK_ROWS as u32;
            candidates.offer(segment, reached & allowed, &sums, |bit| first + bit);
        }
    }
    Ok(())
}
