//! The best rows of one segment: block-max MaxScore over windows of rows.
//!
//! For a window every term has a bound from the impacts of its blocks there. Terms whose bounds
//! together do not beat the worst row kept so far are not walked; they are only sought at rows that
//! the other terms make promising. A window whose bounds all together are too small is skipped.
//! Scores are whole numbers, so the order in which they are added does not matter.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::error::Result;

use super::bm25::TermScorer;
use super::cursor::{BlockWalk, Cursor};
use super::lengths::Lengths;
use super::live::Allowed;
use super::postings::BLOCK_POSTINGS;

/// Rows of a window: sums of a window take 16 KB.
const WINDOW_ROWS: u32 = 4096;

/// One term of a query in one segment.
#[derive(Debug)]
pub(super) struct Term<'a> {
    /// Its postings.
    cursor: Cursor<'a>,
    /// Its blocks, ahead of the cursor; `None` when the cursor has the whole list at hand.
    walk: Option<BlockWalk<'a>>,
    /// Number of its postings.
    count: u32,
    /// How they score.
    scorer: TermScorer,
    /// Lengths of rows.
    lengths: Lengths<'a>,
    /// Score of each posting of the block at hand.
    units: [i32; BLOCK_POSTINGS],
    /// Which block `units` is of, as [`Cursor::blocks_read`].
    units_of: u32,
    /// The most that it gives to a row of the window.
    bound: i32,
}

/// The terms of a query in one segment. Every window sorts them, so each is a box: moving their
/// 2 KB would cost more.
pub(super) type Terms<'a> = Vec<Box<Term<'a>>>;

impl<'a> Term<'a> {
    pub(super) fn new(
        cursor: Cursor<'a>,
        count: u32,
        scorer: TermScorer,
        lengths: Lengths<'a>,
    ) -> Term<'a> {
        Term {
            walk: cursor.walk(),
            cursor,
            count,
            scorer,
            lengths,
            units: [0; BLOCK_POSTINGS],
            units_of: 0,
            bound: 0,
        }
    }

    /// Scores the whole block at hand.
    #[inline]
    fn score_block(&mut self) -> Result<()> {
        if self.units_of == self.cursor.blocks_read() {
            return Ok(());
        }
        let (rows, frequencies) = self.cursor.block();
        let mut lengths = [0.0; BLOCK_POSTINGS];
        self.lengths.fill(rows, &mut lengths)?;
        let scorer = self.scorer;
        for ((units, frequency), length) in self.units.iter_mut().zip(frequencies).zip(&lengths) {
            *units = scorer.units(*frequency, *length);
        }
        self.units_of = self.cursor.blocks_read();
        Ok(())
    }

    /// The most that the term gives to a row of `start..end`.
    fn find_bound(&mut self, start: u32, end: u32) -> Result<i32> {
        if let Some(walk) = &mut self.walk {
            let least = walk.least_impact(start, end)?;
            return Ok(least.map_or(0, |impact| self.scorer.most_units(impact)));
        }
        self.score_block()?;
        let (rows, _) = self.cursor.block();
        let first = rows.partition_point(|row| *row < start);
        let rows = rows.get(first..).unwrap_or_default();
        let len = rows.partition_point(|row| *row < end);
        let units = self.units.get(first..first + len).unwrap_or_default();
        Ok(units.iter().copied().max().unwrap_or(0))
    }

    /// A row that no posting at or after `start` comes before; `None` when there is no posting.
    fn next_row(&self, start: u32) -> Option<u32> {
        match &self.walk {
            Some(walk) => walk.next_row(start),
            None => {
                let (rows, _) = self.cursor.block();
                rows.get(rows.partition_point(|row| *row < start)).copied()
            }
        }
    }

    /// A score that at least `k` allowed rows reach by this term alone; 0 if the first block
    /// has fewer.
    fn reached(&mut self, k: usize, allowed: Allowed<'_>) -> Result<i32> {
        if k > BLOCK_POSTINGS || (self.count as usize) < k {
            return Ok(0);
        }
        self.cursor.seek(0)?;
        self.score_block()?;
        let (rows, _) = self.cursor.block();
        let mut units = [0; BLOCK_POSTINGS];
        for ((units, row), there) in units.iter_mut().zip(rows).zip(&self.units) {
            if allowed.contains(*row) {
                *units = *there;
            }
        }
        let (_, kth, _) = units.select_nth_unstable_by_key(k - 1, |units| Reverse(*units));
        Ok(*kth)
    }

    /// Frequency and score at `row`, if the term has it. Rows must not go back.
    pub(super) fn score_row(&mut self, row: u32) -> Result<Option<(u32, i32)>> {
        match self.cursor.seek(row)? {
            Some((there, frequency)) if there == row => {
                if self.units_of == self.cursor.blocks_read() {
                    let units = self.units.get(self.cursor.at()).copied();
                    return Ok(units.map(|units| (frequency, units)));
                }
                let mut length = [0.0];
                self.lengths.fill(&[row], &mut length)?;
                let [length] = length;
                Ok(Some((frequency, self.scorer.units(frequency, length))))
            }
            _ => Ok(None),
        }
    }

    /// Calls `each` with the rows and scores of `start..end`, block by block.
    #[inline(always)]
    fn for_each_block(
        &mut self,
        start: u32,
        end: u32,
        mut each: impl FnMut(&[u32], &[i32]) -> Result<()>,
    ) -> Result<()> {
        let mut next = self.cursor.seek(start)?;
        while next.is_some_and(|(row, _)| row < end) {
            self.score_block()?;
            let at = self.cursor.at();
            let (rows, _) = self.cursor.block();
            let rows = rows.get(at..).unwrap_or_default();
            let last = rows.last().copied().unwrap_or(end);
            let len = if last < end {
                rows.len()
            } else {
                rows.partition_point(|row| *row < end)
            };
            each(
                rows.get(..len).unwrap_or_default(),
                self.units.get(at..at + len).unwrap_or_default(),
            )?;
            if last >= end {
                break;
            }
            next = self.cursor.seek(last + 1)?;
        }
        Ok(())
    }
}

/// The best rows so far.
struct Best {
    /// Worst first: lowest score, then highest row.
    heap: BinaryHeap<Reverse<(i32, Reverse<u32>)>>,
    /// How many to keep.
    k: usize,
    /// Rows at or below this score are of no use.
    threshold: i32,
}

impl Best {
    fn new(k: usize, least: i32) -> Best {
        Best {
            heap: BinaryHeap::new(),
            k,
            threshold: least - 1,
        }
    }

    /// Takes a row that scores above the threshold. Rows come in ascending order, so a row that
    /// equals the worst one kept never replaces it.
    fn push(&mut self, row: u32, units: i32) {
        if self.heap.len() == self.k {
            self.heap.pop();
        }
        self.heap.push(Reverse((units, Reverse(row))));
        if self.heap.len() == self.k
            && let Some(Reverse((worst, _))) = self.heap.peek()
        {
            self.threshold = self.threshold.max(*worst);
        }
    }

    fn into_rows(self) -> Vec<(u32, i32)> {
        let worst_last = self.heap.into_sorted_vec();
        worst_last
            .into_iter()
            .map(|Reverse((units, Reverse(row)))| (row, units))
            .collect()
    }
}

/// The `k` best rows with their scores, at least `least`, best first, equal scores by row.
pub(super) fn top_k(
    mut terms: Terms<'_>,
    row_count: u32,
    k: usize,
    allowed: Allowed<'_>,
    least: i32,
) -> Result<Vec<(u32, i32)>> {
    let mut best = Best::new(k, least);
    if k == 0 || terms.is_empty() {
        return Ok(Vec::new());
    }
    if let Some(filter) = allowed.filter {
        let postings: u64 = terms.iter().map(|term| u64::from(term.count)).sum();
        if filter.len() * terms.len() as u64 * SEEK_COST < postings {
            let rows = filter.iter().take_while(|row| *row < row_count);
            let rows: Vec<u32> = rows.filter(|row| allowed.contains(*row)).collect();
            let units = score_rows(&mut terms, &rows)?;
            for (row, units) in rows.into_iter().zip(units) {
                if units > best.threshold {
                    best.push(row, units);
                }
            }
            return Ok(best.into_rows());
        }
    }
    for term in &mut terms {
        let reached = term.reached(k, allowed)?;
        best.threshold = best.threshold.max(reached - 1);
    }
    let mut sums = vec![0i32; WINDOW_ROWS as usize];
    let mut start = 0;
    while start < row_count {
        let end = row_count.min(start + WINDOW_ROWS);
        let mut bounds = 0;
        for term in &mut terms {
            term.bound = term.find_bound(start, end)?;
            bounds += term.bound;
        }
        if bounds == 0 {
            let next = terms.iter().filter_map(|term| term.next_row(end)).min();
            start = next.unwrap_or(row_count).max(end);
            continue;
        }
        if bounds > best.threshold && !allowed.none_within(start..end) {
            search_window(&mut terms, start, end, allowed, &mut sums, &mut best)?;
        }
        start = end;
    }
    Ok(best.into_rows())
}

/// Seeking a row costs about as much as walking over this many postings.
const SEEK_COST: u64 = 8;

fn search_window(
    terms: &mut [Box<Term<'_>>],
    start: u32,
    end: u32,
    allowed: Allowed<'_>,
    sums: &mut [i32],
    best: &mut Best,
) -> Result<()> {
    terms.sort_unstable_by_key(|term| term.bound);
    let mut rest_bound = 0;
    let mut split = 0;
    for term in terms.iter() {
        if rest_bound + term.bound > best.threshold {
            break;
        }
        rest_bound += term.bound;
        split += 1;
    }
    let (rest, walked) = terms.split_at_mut(split);
    let mut candidate = |row: u32, units: i32, best: &mut Best| -> Result<()> {
        if !allowed.contains(row) {
            return Ok(());
        }
        let (mut units, mut bound) = (units, rest_bound);
        for term in rest.iter_mut().rev() {
            if units + bound <= best.threshold {
                return Ok(());
            }
            bound -= term.bound;
            if let Some((_, more)) = term.score_row(row)? {
                units += more;
            }
        }
        if units > best.threshold {
            best.push(row, units);
        }
        Ok(())
    };
    if let [only] = walked {
        return only.for_each_block(start, end, |rows, units| {
            for (row, units) in std::iter::zip(rows, units) {
                if units + rest_bound > best.threshold {
                    candidate(*row, *units, best)?;
                }
            }
            Ok(())
        });
    }
    let sums = sums.get_mut(..(end - start) as usize).unwrap_or_default();
    sums.fill(0);
    for term in walked {
        term.for_each_block(start, end, |rows, units| {
            for (row, units) in std::iter::zip(rows, units) {
                if let Some(sum) = sums.get_mut((row - start) as usize) {
                    *sum += units;
                }
            }
            Ok(())
        })?;
    }
    for (eight, first) in sums.chunks(8).zip((start..).step_by(8)) {
        let limit = best.threshold - rest_bound;
        if !eight.iter().fold(false, |any, sum| any | (*sum > limit)) {
            continue;
        }
        for (sum, row) in eight.iter().zip(first..) {
            if *sum > 0 && sum + rest_bound > best.threshold {
                candidate(row, *sum, best)?;
            }
        }
    }
    Ok(())
}

/// Scores of ascending rows, 0 for rows without any term.
pub(super) fn score_rows(terms: &mut [Box<Term<'_>>], rows: &[u32]) -> Result<Vec<i32>> {
    let mut scores = vec![0; rows.len()];
    for term in terms {
        for (score, row) in scores.iter_mut().zip(rows) {
            if let Some((_, units)) = term.score_row(*row)? {
                *score += units;
            }
        }
    }
    Ok(scores)
}
