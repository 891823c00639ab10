//! The rows with the best estimates so far.

use super::segments::ones;
use crate::index::vector::kernels::layout::BLOCK_ROWS;
use crate::index::vector::query::Query;

/// A row and its sum.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate {
    /// Segment, an index into those that are searched, and row: one number, which is compared at once.
    place: u64,
    sum: u16,
}

impl Candidate {
    /// Its segment and the row in that.
    pub(super) fn place(&self) -> u64 {
        self.place
    }

    /// The place of a row.
    pub(super) fn place_of(segment: usize, row: u32) -> u64 {
        (segment as u64) << 32 | u64::from(row)
    }

    /// The row in its segment.
    pub(super) fn row(&self) -> u32 {
        (self.place & u64::from(u32::MAX)) as u32
    }
}

/// A rank, and the sum that has it so far.
#[derive(Debug, Clone, Copy)]
struct Rank {
    /// The rank, from 1.
    wanted: usize,
    /// The sum of that rank so far, or a lower bound of it.
    threshold: u16,
    /// Number of rows whose sum reaches the threshold.
    reached: usize,
}

impl Rank {
    /// Raises the threshold as far as enough rows reach it. `counts` has the rows of each sum from the threshold up.
    /// All rises together are one pass over it.
    #[inline]
    fn rise(&mut self, counts: &[u32]) {
        while self.reached > self.wanted
            && let Some(lowest) = counts.get(usize::from(self.threshold))
            && self.reached - *lowest as usize >= self.wanted
        {
            self.reached -= *lowest as usize;
            self.threshold += 1;
        }
    }

    fn is_full(&self) -> bool {
        self.reached >= self.wanted
    }
}

/// All rows whose sum reaches the c-th best sum so far.
pub(super) struct Candidates {
    /// Of the last candidate.
    last: Rank,
    /// Of the last of the rows that are near, whose candidates are looked for.
    near: Rank,
    /// So many rows are found first, however near they are.
    least: usize,
    /// Rows of each sum from the threshold up.
    counts: Vec<u32>,
    /// Rows that reached the threshold when they were offered.
    rows: Vec<Candidate>,
    /// When there are this many rows, those below the threshold are dropped.
    trim_at: usize,
}

impl Candidates {
    /// Rows whose sum is below `least` are never candidates.
    pub(super) fn new(query: &Query, wanted: usize, least: u16) -> Candidates {
        let tables = query.tables().as_chunks::<32>().0.iter();
        let most: usize = tables
            .map(|table| usize::from(table.iter().max().copied().unwrap_or(0)))
            .sum();
        Candidates::up_to(most, wanted, least)
    }

    /// As [`Candidates::new`], for sums up to `most`; higher ones count as that.
    pub(super) fn up_to(most: usize, wanted: usize, least: u16) -> Candidates {
        let wanted = wanted.max(1);
        let last = Rank {
            wanted,
            threshold: least,
            reached: 0,
        };
        Candidates {
            last,
            near: last,
            least: 0,
            counts: vec![0; most + 1],
            // Bounded: `wanted` follows from the caller's `k`.
            rows: Vec::with_capacity(4 * wanted.min(1 << 16)),
            // Rarely enough that trimming costs little, and often enough that the rows stay in the
            // cache.
            trim_at: wanted.saturating_mul(4),
        }
    }

    /// The same candidates, of which there are to be `least`, `near` of them the nearest rows.
    pub(super) fn with_near(mut self, near: usize, least: usize) -> Candidates {
        self.near.wanted = near.clamp(1, self.last.wanted);
        self.least = least.min(self.last.wanted);
        self
    }

    /// What rows must reach to be offered.
    #[inline]
    pub(super) fn threshold(&self) -> u16 {
        self.last.threshold
    }

    /// What rows must reach to be among the best that are near; `None` before there are as many, and as many as are to
    /// be found.
    pub(super) fn near_threshold(&self) -> Option<u16> {
        let is_enough = self.near.is_full() && self.last.reached >= self.least;
        is_enough.then_some(self.near.threshold)
    }

    /// Offers rows of a block whose sums reach the threshold.
    #[inline]
    pub(super) fn offer(
        &mut self,
        segment: usize,
        rows: u64,
        sums: &[u16; BLOCK_ROWS],
        row: impl Fn(u32) -> u32,
    ) {
        if rows == 0 {
            return;
        }
        for bit in ones(rows) {
            let sum = sums.get(bit as usize).copied().unwrap_or_default();
            // Estimates can exceed the range that the counts have room for; these rows are best in
            // any case.
            let highest = self.counts.len() - 1;
            if let Some(count) = self.counts.get_mut(usize::from(sum).min(highest)) {
                *count += 1;
            }
            self.near.reached += usize::from(sum >= self.near.threshold);
            let place = Candidate::place_of(segment, row(bit));
            self.rows.push(Candidate { place, sum });
        }
        self.last.reached += rows.count_ones() as usize;
        self.last.rise(&self.counts);
        self.near.rise(&self.counts);
        if self.rows.len() >= self.trim_at {
            self.trim();
            // When most rows tie, trimming must not dominate the cost.
            self.trim_at = 2 * self.rows.len().max(self.last.wanted);
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
                kept += usize::from(row.sum >= self.last.threshold);
            }
        }
        self.rows.truncate(kept);
    }

    /// Whether as many rows as are wanted reach the threshold.
    pub(super) fn is_full(&self) -> bool {
        self.last.is_full()
    }

    /// The candidates, in the order in which they were offered.
    pub(super) fn finish(mut self) -> Vec<Candidate> {
        self.trim();
        self.rows
    }
}
