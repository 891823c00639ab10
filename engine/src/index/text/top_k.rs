//! The best rows of one segment: block-max MaxScore over windows of rows.
//!
//! For a window every term has a bound from the impacts of its blocks there. Terms whose bounds
//! together do not beat the worst row kept so far are not walked; they are only sought at rows that
//! the other terms make promising. A window whose bounds all together are too small is skipped.
//! The windows with the greatest bounds come first, because good rows kept early spare work later.
//! Scores are whole numbers, so the order in which they are added does not matter.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use crate::error::Result;

use super::bits::RowBits;
use super::bm25::TermScorer;
use super::cursor::{BlockWalk, Cursor};
use super::kernels;
use super::lengths::Lengths;
use super::postings::BLOCK_POSTINGS;

/// Rows of a window: sums of a window take 16 KB.
const WINDOW_ROWS: u32 = 4096;

/// Among so many windows at the start of a segment the most promising ones are searched first.
const WINDOWS_AHEAD: u32 = 128;

/// One of so many of them is searched first.
const PROMISING: usize = 8;

/// A window of which at most one row in so many may answer is searched by these rows.
const SPARSE: u32 = 8;

/// Seeking a row costs about as much as walking over this many postings.
const SEEK_COST: u64 = 16;

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

    /// Moves back before the first posting.
    fn rewind(&mut self) {
        self.cursor.rewind();
        self.walk = self.cursor.walk();
    }

    /// Scores the whole block at hand.
    #[inline]
    fn score_block(&mut self) -> Result<()> {
        if self.units_of == self.cursor.blocks_read() {
            return Ok(());
        }
        let (rows, frequencies) = self.cursor.block()?;
        let mut lengths = [0.0; BLOCK_POSTINGS];
        self.lengths.fill(rows, &mut lengths)?;
        kernels::score(&self.scorer, frequencies, &lengths, &mut self.units);
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
        let rows = self.cursor.rows();
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
                let rows = self.cursor.rows();
                rows.get(rows.partition_point(|row| *row < start)).copied()
            }
        }
    }

    /// A score that at least `k` allowed rows reach by this term alone; 0 if the first block
    /// has fewer.
    fn reached(&mut self, k: usize, allowed: Option<&RowBits>) -> Result<i32> {
        if k > BLOCK_POSTINGS || (self.count as usize) < k {
            return Ok(0);
        }
        self.cursor.seek_row(0)?;
        self.score_block()?;
        let mut units = [0; BLOCK_POSTINGS];
        let there = std::iter::zip(self.cursor.rows(), &self.units);
        for (units, (row, there)) in units.iter_mut().zip(there) {
            if allowed.is_none_or(|allowed| allowed.contains(*row)) {
                *units = *there;
            }
        }
        let (_, kth, _) = units.select_nth_unstable_by_key(k - 1, |units| Reverse(*units));
        Ok(*kth)
    }

    /// Score at `row`, if the term has it. Rows must not go back.
    #[inline]
    fn units_at(&mut self, row: u32) -> Result<Option<i32>> {
        match self.cursor.has_row(row, |_| true)? {
            true => self.units_of_posting(self.cursor.at(), row).map(Some),
            false => Ok(None),
        }
    }

    /// Score at `row`, 0 if the term does not have it, or its block has nothing that exceeds
    /// `useless`. Rows must not go back.
    #[inline]
    fn units_above(&mut self, row: u32, useless: i32) -> Result<i32> {
        let scorer = self.scorer;
        let worth = |impact| scorer.most_units(impact) > useless;
        match self.cursor.has_row(row, worth)? {
            true => self.units_of_posting(self.cursor.at(), row),
            false => Ok(0),
        }
    }

    /// Score of the posting at that place of the block at hand, which is of `row`.
    #[inline]
    fn units_of_posting(&mut self, at: usize, row: u32) -> Result<i32> {
        if self.units_of == self.cursor.blocks_read() {
            return Ok(self.units.get(at).copied().unwrap_or(0));
        }
        let mut length = [0.0];
        self.lengths.fill(&[row], &mut length)?;
        let [length] = length;
        Ok(self.scorer.units(self.cursor.frequency_at(at)?, length))
    }

    /// Frequency and score at `row`, if the term has it. Rows must not go back.
    pub(super) fn score_row(&mut self, row: u32) -> Result<Option<(u32, i32)>> {
        match self.units_at(row)? {
            Some(units) => {
                let frequency = self.cursor.frequency_at(self.cursor.at())?;
                Ok(Some((frequency, units)))
            }
            None => Ok(None),
        }
    }

    /// Moves to the block that has the next row of `start..end`, and gives the places of those rows
    /// in it; `None` when there is none.
    #[inline(always)]
    fn next_block(&mut self, start: u32, end: u32) -> Result<Option<Range<usize>>> {
        let Some(first) = self.cursor.seek_row(start)? else {
            return Ok(None);
        };
        if first >= end {
            return Ok(None);
        }
        let (at, rows) = (self.cursor.at(), self.cursor.rows());
        let to = match rows.last() {
            Some(last) if *last < end => rows.len(),
            _ => {
                let rest = rows.get(at..).unwrap_or_default();
                at + rest.partition_point(|row| *row < end)
            }
        };
        Ok(Some(at..to))
    }

    /// Calls `each` with the rows and scores of `start..end`, block by block.
    #[inline(always)]
    fn for_each_block(
        &mut self,
        mut start: u32,
        end: u32,
        mut each: impl FnMut(&[u32], &[i32]) -> Result<()>,
    ) -> Result<()> {
        while let Some(places) = self.next_block(start, end)? {
            self.score_block()?;
            let rows = self.cursor.rows().get(places.clone()).unwrap_or_default();
            let units = self.units.get(places).unwrap_or_default();
            each(rows, units)?;
            start = rows.last().map_or(end, |last| last + 1);
        }
        Ok(())
    }
}

/// The best rows so far.
struct Best {
    /// Worst first: score, then complement of the row, in one number.
    heap: BinaryHeap<Reverse<u64>>,
    /// How many to keep.
    k: usize,
    /// Rows at or below this score are of no use.
    threshold: i32,
    /// The least score asked for, less one.
    floor: i32,
    /// End of the window that is searched.
    end: u32,
}

fn key(row: u32, units: i32) -> u64 {
    u64::from(units as u32) << 32 | u64::from(!row)
}

fn row_and_units(key: u64) -> (u32, i32) {
    (!(key as u32), (key >> 32) as i32)
}

impl Best {
    fn new(k: usize, least: i32) -> Best {
        Best {
            heap: BinaryHeap::new(),
            k,
            threshold: least - 1,
            floor: least - 1,
            end: 0,
        }
    }

    /// Windows may come in any order, the rows within one ascending.
    fn enter_window(&mut self, end: u32) {
        self.end = end;
        self.find_threshold();
    }

    /// A row that equals the worst one kept replaces it only if that one is of a later window.
    #[inline]
    fn find_threshold(&mut self) {
        if self.heap.len() == self.k
            && let Some(Reverse(worst)) = self.heap.peek()
        {
            let (row, units) = row_and_units(*worst);
            self.threshold = self.floor.max(units - i32::from(row >= self.end));
        }
    }

    /// Takes a row of the window that scores above the threshold.
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

/// The `k` best rows with their scores, at least `least`, best first, equal scores by row. Only
/// rows of `allowed`, if given.
pub(super) fn top_k(
    mut terms: Terms<'_>,
    row_count: u32,
    k: usize,
    allowed: Option<&RowBits>,
    least: i32,
) -> Result<Vec<(u32, i32)>> {
    if k == 0 || terms.is_empty() {
        return Ok(Vec::new());
    }
    let mut search = Search {
        row_count,
        allowed,
        best: Best::new(k, least),
        sums: vec![0; row_count.min(WINDOW_ROWS) as usize],
        found: vec![(0, 0); (WINDOW_ROWS as usize).max(BLOCK_POSTINGS)],
        rows: Vec::new(),
    };
    for term in &mut terms {
        let reached = term.reached(k, allowed)?;
        search.best.floor = search.best.floor.max(reached - 1);
    }
    let promising = search.promising(&mut terms)?;
    for start in &promising {
        search.search_window(&mut terms, *start)?;
    }
    terms.iter_mut().for_each(|term| term.rewind());
    let mut done = promising.into_iter().peekable();
    let mut start = 0;
    while start < row_count {
        let empty = match done.next_if_eq(&start) {
            Some(_) => false,
            None => search.search_window(&mut terms, start)?,
        };
        start = search.end(start);
        if empty {
            let next = terms.iter().filter_map(|term| term.next_row(start)).min();
            let Some(next) = next else {
                break;
            };
            start = start.max(next / WINDOW_ROWS * WINDOW_ROWS);
        }
    }
    Ok(search.best.into_rows())
}

/// A search in one segment. Windows begin at multiples of their size.
struct Search<'b> {
    /// Rows of the segment.
    row_count: u32,
    /// Rows that may answer; `None`: all.
    allowed: Option<&'b RowBits>,
    /// What was found.
    best: Best,
    /// Sum of the scores of each row of a window; zero between windows.
    sums: Vec<i32>,
    /// Places and sums of promising rows of a window.
    found: Vec<(u32, i32)>,
    /// Rows of a window that may answer.
    rows: Vec<u32>,
}

impl Search<'_> {
    /// End of the window that begins at `start`.
    fn end(&self, start: u32) -> u32 {
        self.row_count.min(start.saturating_add(WINDOW_ROWS))
    }

    /// How many rows of a window may answer.
    fn allowed_rows(&self, start: u32, end: u32) -> u32 {
        match self.allowed {
            Some(allowed) => allowed.count(start, end),
            None => end - start,
        }
    }

    /// Starts of the windows to search first, ascending.
    fn promising(&self, terms: &mut Terms<'_>) -> Result<Vec<u32>> {
        let ahead = self.row_count.div_ceil(WINDOW_ROWS).min(WINDOWS_AHEAD);
        let mut windows = Vec::with_capacity(ahead as usize);
        for start in (0..ahead).map(|number| number * WINDOW_ROWS) {
            let end = self.end(start);
            if self.allowed_rows(start, end) == 0 {
                continue;
            }
            let mut bounds = 0;
            for term in terms.iter_mut() {
                bounds += term.find_bound(start, end)?;
            }
            windows.push((Reverse(bounds), start));
        }
        let first = windows.len().div_ceil(PROMISING);
        if windows.len() == first {
            return Ok(Vec::new());
        }
        windows.select_nth_unstable(first);
        let mut starts: Vec<u32> = windows
            .iter()
            .take(first)
            .map(|(_, start)| *start)
            .collect();
        starts.sort_unstable();
        terms.iter_mut().for_each(|term| term.rewind());
        Ok(starts)
    }

    /// Searches the window that begins at `start`; true when no term has a row in it. Windows must
    /// ascend but for rewinding.
    fn search_window(&mut self, terms: &mut [Box<Term<'_>>], start: u32) -> Result<bool> {
        let end = self.end(start);
        let rows = self.allowed_rows(start, end);
        if rows == 0 {
            return Ok(false);
        }
        let mut bounds = 0;
        for term in terms.iter_mut() {
            term.bound = term.find_bound(start, end)?;
            bounds += term.bound;
        }
        self.best.enter_window(end);
        if bounds > self.best.threshold {
            match self.allowed {
                Some(allowed) if rows.saturating_mul(SPARSE) <= end - start => {
                    self.search_rows(terms, start, end, allowed)?;
                }
                _ => self.search_all(terms, start, end)?,
            }
        }
        Ok(bounds == 0)
    }

    /// Scores the few rows of a window that may answer.
    fn search_rows(
        &mut self,
        terms: &mut [Box<Term<'_>>],
        start: u32,
        end: u32,
        allowed: &RowBits,
    ) -> Result<()> {
        self.rows.clear();
        allowed.rows_within(start, end, &mut self.rows);
        for term in terms {
            let postings = u64::from(term.count) * u64::from(end - start);
            let seeks = self.rows.len() as u64 * SEEK_COST;
            if seeks * u64::from(self.row_count) < postings {
                for row in &self.rows {
                    if let Some(units) = term.units_at(*row)?
                        && let Some(sum) = self.sums.get_mut((row - start) as usize)
                    {
                        *sum += units;
                    }
                }
                continue;
            }
            let mut next = start;
            while let Some(places) = term.next_block(next, end)? {
                for at in places {
                    let Some(row) = term.cursor.rows().get(at).copied() else {
                        break;
                    };
                    next = row + 1;
                    if allowed.contains(row)
                        && let Some(sum) = self.sums.get_mut((row - start) as usize)
                    {
                        *sum += term.units_of_posting(at, row)?;
                    }
                }
            }
        }
        for row in &self.rows {
            let sum = self.sums.get_mut((row - start) as usize);
            let units = sum.map_or(0, std::mem::take);
            if units > self.best.threshold {
                self.best.push(*row, units);
            }
        }
        Ok(())
    }

    /// Adds up the terms that matter in a window, and looks closer at the rows that they make
    /// promising.
    fn search_all(&mut self, terms: &mut [Box<Term<'_>>], start: u32, end: u32) -> Result<()> {
        terms.sort_unstable_by_key(|term| term.bound);
        let best = &mut self.best;
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
        let allowed = self.allowed;
        let mut candidate = |row: u32, units: i32, best: &mut Best| -> Result<()> {
            if allowed.is_some_and(|allowed| !allowed.contains(row)) {
                return Ok(());
            }
            let (mut units, mut bound) = (units, rest_bound);
            for term in rest.iter_mut().rev() {
                if units + bound <= best.threshold {
                    return Ok(());
                }
                bound -= term.bound;
                // What the others can add at most decides whether this one is worth a look. One
                // that is not leaves a sum that the next check refuses.
                units += term.units_above(row, best.threshold - units - bound)?;
            }
            if units > best.threshold {
                best.push(row, units);
            }
            Ok(())
        };
        let found = &mut self.found;
        if let [only] = walked {
            return only.for_each_block(start, end, |rows, units| {
                let count = kernels::above(units, best.threshold - rest_bound, found);
                for (place, units) in found.iter().take(count) {
                    if let Some(row) = rows.get(*place as usize) {
                        candidate(*row, *units, best)?;
                    }
                }
                Ok(())
            });
        }
        let sums = self
            .sums
            .get_mut(..(end - start) as usize)
            .unwrap_or_default();
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
        // A row without any of these terms has no score worth a closer look.
        let limit = (best.threshold - rest_bound).max(0);
        let count = kernels::above(sums, limit, found);
        sums.fill(0);
        for (place, units) in found.iter().take(count) {
            if units + rest_bound > best.threshold {
                candidate(start + place, *units, best)?;
            }
        }
        Ok(())
    }
}

/// Scores of ascending rows, 0 for rows without any term.
pub(super) fn score_rows(terms: &mut [Box<Term<'_>>], rows: &[u32]) -> Result<Vec<i32>> {
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
