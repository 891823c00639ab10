//! The best rows of one segment: block-max MaxScore over windows of rows (MaxScore: Turtle and
//! Flood 1995, "Query evaluation: strategies and optimizations"; block-max indexes: Ding and Suel
//! 2011, "Faster Top-k Document Retrieval Using Block-Max Indexes"; windows with dense sums as in
//! Lucene's `MaxScoreBulkScorer`).
//!
//! In each window every term has an upper bound from the impacts of its blocks. Terms whose bounds
//! together do not exceed the worst row kept so far are non-essential: no row is among the best by
//! them alone. So the essential terms are added up first, and the others are only looked up for
//! rows that can still be among the best. Blocks and windows whose bounds are too small are skipped
//! without being decoded. Windows with the greatest bounds come first, because good rows found
//! early allow more skipping. Scores are whole numbers, so the order of additions does not matter.

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use kb_types::error::Result;

use super::kernels;
use super::term_scorer::{TermScorer, TermScorers};
use crate::bitset::BitSet;
use crate::index::keyword::postings::encoding::BLOCK_POSTINGS;

/// Rows of a window. Tests use a small one, so that few rows make several windows.
// The sums of 16,384 rows take 64 KB, which an L2 cache holds. Entering a window costs as much as
// adding up some thousand rows: windows of 4,096 rows, whose sums fit the L1 cache, take a third
// more time at a million rows (docs/decisions/07-keyword-index.md).
const WINDOW_ROWS: u32 = if cfg!(test) { 1 << 12 } else { 1 << 14 };

/// Windows of a batch, whose bounds are computed together.
// 1,024 windows are 2^24 rows, the most that a segment has: all its windows are ordered by their
// bounds, so good rows are found soonest.
const BATCH_WINDOWS: u32 = if cfg!(test) { 128 } else { 1024 };

/// One of this many windows of a batch, those with the greatest bounds, is searched before the
/// others. The others ascend, so that a block is decoded once for all the windows it reaches.
// Ordering all windows by bounds would decode a block again for each window that it reaches.
// Descending order of all windows gained nothing (docs/decisions/07-keyword-index.md).
const PROMISING: usize = 8;

/// A window of which at most one row in this many may answer is searched row by row.
// Below it most sums of a window would be of rows that cannot answer. Only the speed depends on it.
const SPARSE: u32 = 16;

/// Seeking a row costs about as much as reading this many postings in order.
// Lower than in `deletes`: rows of a window are near each other, so most seeks stay in the loaded
// block. Other costs gained nothing (docs/decisions/07-keyword-index.md).
const SEEK_COST: u64 = 8;

/// The best rows so far.
struct TopRows {
    /// Worst first: score, then complement of the row, in one number.
    heap: BinaryHeap<Reverse<u64>>,
    /// The number of rows to keep.
    k: usize,
    /// Rows with this score or less are not kept.
    threshold: i32,
    /// The least requested score, less one.
    floor: i32,
    /// End of the current window.
    end: u32,
}

fn key(row: u32, units: i32) -> u64 {
    // The complement makes the lower row the better one at equal scores, with one comparison.
    u64::from(units as u32) << 32 | u64::from(!row)
}

fn row_and_units(key: u64) -> (u32, i32) {
    (!(key as u32), (key >> 32) as i32)
}

impl TopRows {
    fn new(k: usize, least: i32) -> TopRows {
        TopRows {
            heap: BinaryHeap::new(),
            k,
            threshold: least - 1,
            floor: least - 1,
            end: 0,
        }
    }

    /// Starts a window. Windows may come in any order; rows within one ascend.
    fn enter_window(&mut self, end: u32) {
        self.end = end;
        self.find_threshold();
    }

    /// A row that ties with the worst kept row replaces it only if that row is of a later window.
    #[inline]
    fn find_threshold(&mut self) {
        if self.heap.len() == self.k
            && let Some(Reverse(worst)) = self.heap.peek()
        {
            let (row, units) = row_and_units(*worst);
            self.threshold = self.floor.max(units - i32::from(row >= self.end));
        }
    }

    /// Keeps a row of the window whose score is above the threshold.
    fn push(&mut self, row: u32, units: i32) {
        let new = Reverse(key(row, units));
        if self.heap.len() < self.k {
            self.heap.push(new);
        } else if let Some(mut worst) = self.heap.peek_mut() {
            *worst = new;
        }
        self.find_threshold();
    }

    fn into_rows(self) -> Vec<(u32, i32)> {
        let best_first = self.heap.into_sorted_vec();
        best_first
            .into_iter()
            .map(|Reverse(key)| row_and_units(key))
            .collect()
    }
}

/// The `k` best rows of `allowed` (`None`: of all rows) with a score of at least `least`, best
/// first, equal scores by row.
pub(crate) fn top_k(
    mut terms: TermScorers<'_>,
    row_count: u32,
    k: usize,
    allowed: Option<&BitSet>,
    least: i32,
) -> Result<Vec<(u32, i32)>> {
    if k == 0 || terms.is_empty() {
        return Ok(Vec::new());
    }
    let mut search = Search {
        row_count,
        allowed,
        best: TopRows::new(k, least),
        room: ROOM.take(),
    };
    search.room.make(row_count.min(WINDOW_ROWS) as usize);
    for term in &mut terms {
        let reached = term.reached(k, allowed)?;
        // A score that `k` rows are known to reach prunes from the first window on.
        search.best.floor = search.best.floor.max(reached - 1);
    }
    let mut start = 0;
    while start < row_count {
        let end = row_count.min(start.saturating_add(WINDOW_ROWS * BATCH_WINDOWS));
        search.search_batch(&mut terms, start, end)?;
        start = end;
    }
    // After an error sums are left, so then the room is not used again.
    ROOM.set(search.room);
    Ok(search.best.into_rows())
}

thread_local! {
    /// The room of the last search of this thread: 192 KB that need not be cleared again.
    static ROOM: Cell<Room> = const {
        Cell::new(Room {
            sums: Vec::new(),
            promising: Vec::new(),
            rows: Vec::new(),
        })
    };
}

/// Memory for a window.
#[derive(Default)]
struct Room {
    /// Sum of the scores of each row; all zero between windows.
    sums: Vec<i32>,
    /// Promising rows: offset in the window, and sum.
    promising: Vec<(u32, i32)>,
    /// Rows that may answer.
    rows: Vec<u32>,
}

impl Room {
    /// Makes room for a window of so many rows.
    fn make(&mut self, rows: usize) {
        if self.sums.len() < rows {
            self.sums.resize(rows, 0);
        }
        let rows = rows.max(BLOCK_POSTINGS);
        if self.promising.len() < rows {
            self.promising.resize(rows, (0, 0));
        }
    }
}

/// A window of a batch.
struct Window {
    /// Sum of the bounds of all terms in it.
    bounds: i32,
    /// Its first row.
    start: u32,
    /// Its index in [`TermScorer::windows`].
    number: usize,
}

/// A search in one segment. Windows begin at multiples of [`WINDOW_ROWS`].
struct Search<'b> {
    /// Rows of the segment.
    row_count: u32,
    /// Rows that may answer; `None`: all.
    allowed: Option<&'b BitSet>,
    /// The best rows so far.
    best: TopRows,
    /// Memory for a window.
    room: Room,
}

impl Search<'_> {
    /// End of the window that begins at `start`.
    fn end(&self, start: u32) -> u32 {
        self.row_count.min(start.saturating_add(WINDOW_ROWS))
    }

    /// The number of rows of a window that may answer.
    fn allowed_rows(&self, start: u32, end: u32) -> u32 {
        match self.allowed {
            Some(allowed) => allowed.count(start, end),
            None => end - start,
        }
    }

    /// Searches the windows of `first..last`, those with the greatest bounds first.
    fn search_batch(&mut self, terms: &mut TermScorers<'_>, first: u32, last: u32) -> Result<()> {
        let starts = (first..last).step_by(WINDOW_ROWS as usize);
        let starts = starts.filter(|start| self.allowed_rows(*start, self.end(*start)) > 0);
        let mut windows: Vec<Window> = starts
            .zip(0..)
            .map(|(start, number)| Window {
                bounds: 0,
                start,
                number,
            })
            .collect();
        for term in terms.iter_mut() {
            term.windows.clear();
            for Window { bounds, start, .. } in &mut windows {
                let (bound, mark) = term.find_bound(*start, self.end(*start))?;
                *bounds += bound;
                term.windows.push((bound, mark));
            }
        }
        windows.sort_unstable_by_key(|window| (Reverse(window.bounds), window.number));
        let ahead = windows.len() / PROMISING;
        let (_, others) = windows.split_at_mut(ahead);
        others.sort_unstable_by_key(|window| window.number);
        for Window {
            bounds,
            start,
            number,
        } in &windows
        {
            let end = self.end(*start);
            self.best.enter_window(end);
            if *bounds <= self.best.threshold {
                continue;
            }
            for term in terms.iter_mut() {
                term.enter_window(*number)?;
            }
            self.search_window(terms, *start, end, *bounds)?;
        }
        Ok(())
    }

    /// Searches the window `start..end`, which the terms have entered; `bounds` is the sum of their
    /// bounds.
    fn search_window(
        &mut self,
        terms: &mut [Box<TermScorer<'_>>],
        start: u32,
        end: u32,
        bounds: i32,
    ) -> Result<()> {
        let rows = self.allowed_rows(start, end);
        // The order may differ between windows; sums of whole numbers do not depend on it.
        terms.sort_unstable_by_key(|term| term.bound);
        let mut rest_bound = 0;
        let mut split = 0;
        for term in terms.iter() {
            if rest_bound + term.bound > self.best.threshold {
                break;
            }
            rest_bound += term.bound;
            split += 1;
        }
        let (rest, essential) = terms.split_at_mut(split);
        // A row must have one of the essential terms to exceed the threshold.
        let limit = (self.best.threshold - rest_bound).max(0);
        // A block counts only if its bound and those of all other terms exceed the threshold.
        let slack = self.best.threshold - bounds;
        let mut count = match self.allowed {
            Some(allowed) if rows.saturating_mul(SPARSE) <= end - start => {
                self.gather_rows(essential, start, end, allowed, limit, slack)?
            }
            _ => self.gather(essential, start, end, limit, slack)?,
        };
        let mut added = false;
        // When many rows are left, reading a term in order is faster than seeking each row in it.
        for term in rest.iter_mut().rev() {
            let postings = u64::from(term.count) * u64::from(end - start);
            let seeks = count as u64 * SEEK_COST;
            if seeks * u64::from(self.row_count) <= postings {
                break;
            }
            term.add_to(&mut self.room.sums, start, end, slack + term.bound)?;
            added = true;
            rest_bound -= term.bound;
            let least = self.best.threshold - rest_bound;
            let sums = &mut self.room.sums;
            count = keep(&mut self.room.promising, count, |place, units| {
                let more = sums.get_mut(place as usize).map_or(0, std::mem::take);
                Some(units + more).filter(|units| *units > least)
            });
            split -= 1;
        }
        if added {
            self.clear(start, end);
        }
        let best = &mut self.best;
        for (place, units) in self.room.promising.iter().take(count) {
            let (row, mut units) = (start + place, *units);
            let mut bound = rest_bound;
            for term in rest.iter_mut().take(split).rev() {
                if units + bound <= best.threshold {
                    break;
                }
                bound -= term.bound;
                // A skipped block leaves a sum that the next check rejects.
                units += term.units_above(row, best.threshold - units - bound)?;
            }
            if units > best.threshold {
                best.push(row, units);
            }
        }
        Ok(())
    }

    /// Resets the sums of the window to zero.
    fn clear(&mut self, start: u32, end: u32) {
        let sums = self.room.sums.get_mut(..(end - start) as usize);
        sums.unwrap_or_default().fill(0);
    }

    /// Adds up the terms, without blocks whose bound does not exceed `slack` and the bound of their
    /// term, and collects the allowed rows above `limit`; returns how many.
    fn gather(
        &mut self,
        terms: &mut [Box<TermScorer<'_>>],
        start: u32,
        end: u32,
        limit: i32,
        slack: i32,
    ) -> Result<usize> {
        let mut count = 0;
        if let [only] = terms {
            let found = &mut self.room.promising;
            only.for_each_block(start, end, slack + only.bound, |rows, units| {
                let found = found.get_mut(count..).unwrap_or_default();
                let more = kernels::above(units, limit, found);
                for (place, _) in found.iter_mut().take(more) {
                    *place = rows.get(*place as usize).map_or(0, |row| row - start);
                }
                count += more;
            })?;
        } else {
            for term in terms {
                term.add_to(&mut self.room.sums, start, end, slack + term.bound)?;
            }
            let sums = self.room.sums.get(..(end - start) as usize);
            count = kernels::above(sums.unwrap_or_default(), limit, &mut self.room.promising);
            self.clear(start, end);
        }
        if let Some(allowed) = self.allowed {
            count = keep(&mut self.room.promising, count, |place, units| {
                allowed.contains(start + place).then_some(units)
            });
        }
        Ok(count)
    }

    /// As [`Search::gather`], for windows in which few rows may answer.
    fn gather_rows(
        &mut self,
        terms: &mut [Box<TermScorer<'_>>],
        start: u32,
        end: u32,
        allowed: &BitSet,
        limit: i32,
        slack: i32,
    ) -> Result<usize> {
        self.room.rows.clear();
        allowed.rows_within(start, end, &mut self.room.rows);
        for term in terms {
            let postings = u64::from(term.count) * u64::from(end - start);
            let seeks = self.room.rows.len() as u64 * SEEK_COST;
            if seeks * u64::from(self.row_count) < postings {
                for row in &self.room.rows {
                    let units = term.units_above(*row, slack + term.bound)?;
                    if let Some(sum) = self.room.sums.get_mut((row - start) as usize) {
                        *sum += units;
                    }
                }
                continue;
            }
            let mut next = start;
            while let Some(places) = term.next_block(next, end, slack + term.bound)? {
                for at in places {
                    let Some(row) = term.rows().get(at).copied() else {
                        break;
                    };
                    next = row + 1;
                    if allowed.contains(row)
                        && let Some(sum) = self.room.sums.get_mut((row - start) as usize)
                    {
                        *sum += term.units_of_posting(at, row)?;
                    }
                }
            }
        }
        let mut slots = self.room.promising.iter_mut();
        let mut count = 0;
        for row in &self.room.rows {
            let place = row - start;
            let sum = self.room.sums.get_mut(place as usize);
            let sum = sum.map_or(0, std::mem::take);
            if sum > limit
                && let Some(slot) = slots.next()
            {
                *slot = (place, sum);
                count += 1;
            }
        }
        Ok(count)
    }
}

/// Keeps those of the first `count` rows for which `units` returns a number; returns how many.
fn keep(
    found: &mut [(u32, i32)],
    count: usize,
    mut units: impl FnMut(u32, i32) -> Option<i32>,
) -> usize {
    let found = Cell::from_mut(found).as_slice_of_cells();
    let mut slots = found.iter();
    let mut kept = 0;
    for there in found.iter().take(count) {
        let (place, before) = there.get();
        if let Some(now) = units(place, before)
            && let Some(slot) = slots.next()
        {
            slot.set((place, now));
            kept += 1;
        }
    }
    kept
}

/// Scores of ascending rows; 0 for rows without any of the terms.
pub(crate) fn score_rows(terms: &mut [Box<TermScorer<'_>>], rows: &[u32]) -> Result<Vec<i32>> {
    let mut scores = vec![0; rows.len()];
    for term in terms {
        for (score, row) in scores.iter_mut().zip(rows) {
            if let Some(units) = term.units_at(*row)? {
                *score += units;
            }
        }
    }
    Ok(scores)
}
