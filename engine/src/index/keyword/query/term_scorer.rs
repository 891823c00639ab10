//! Scores of one term of a query in one segment, and upper bounds of them.

use std::cmp::Reverse;
use std::ops::Range;

use kb_types::error::Result;

use super::kernels;
use crate::bitset::BitSet;
use crate::index::keyword::bm25::Bm25Weight;
use crate::index::keyword::postings::cursor::Cursor;
use crate::index::keyword::postings::encoding::BLOCK_POSTINGS;
use crate::index::keyword::postings::fieldnorms::FieldNormReader;
use crate::index::keyword::postings::skip_reader::{BlockPosition, SkipReader};

/// One term of a query in one segment.
#[derive(Debug)]
pub(crate) struct TermScorer<'a> {
    /// Its postings.
    cursor: Cursor<'a>,
    /// The entries of its blocks, ahead of the cursor; `None` for a list without blocks.
    skips: Option<SkipReader<'a>>,
    /// The number of its postings.
    pub(crate) count: u32,
    /// The weight of the term.
    weight: Bm25Weight,
    /// Lengths of rows.
    lengths: FieldNormReader<'a>,
    /// Score of each posting of the loaded block.
    // Scores as integers: sums do not depend on the order of terms, so answers are the same on
    // every machine and for every number of threads.
    units: [i32; BLOCK_POSTINGS],
    /// The block that `units` is of, as [`Cursor::blocks_read`].
    units_of: u32,
    /// The highest score of a row of the current window.
    pub(crate) bound: i32,
    /// The bound of each window of the batch, and the first block that reaches the window.
    pub(crate) windows: Vec<(i32, BlockPosition)>,
}

/// The terms of a query in one segment. They are sorted for every window; boxes spare moving 2 KB
/// each.
pub(crate) type TermScorers<'a> = Vec<Box<TermScorer<'a>>>;

impl<'a> TermScorer<'a> {
    pub(crate) fn new(
        cursor: Cursor<'a>,
        count: u32,
        weight: Bm25Weight,
        lengths: FieldNormReader<'a>,
    ) -> TermScorer<'a> {
        TermScorer {
            skips: cursor.skips(),
            cursor,
            count,
            weight,
            lengths,
            units: [0; BLOCK_POSTINGS],
            units_of: 0,
            bound: 0,
            windows: Vec::new(),
        }
    }

    /// All rows of the loaded block.
    pub(crate) fn rows(&self) -> &[u32] {
        self.cursor.rows()
    }

    /// Scores the whole loaded block.
    #[inline]
    fn score_block(&mut self) -> Result<()> {
        if self.units_of == self.cursor.blocks_read() {
            return Ok(());
        }
        let (rows, frequencies) = self.cursor.block()?;
        let mut lengths = [0.0; BLOCK_POSTINGS];
        self.lengths.fill(rows, &mut lengths)?;
        kernels::score(&self.weight, frequencies, &lengths, &mut self.units);
        // Set only after the block was scored: a failed read leaves the old state.
        self.units_of = self.cursor.blocks_read();
        Ok(())
    }

    /// An upper bound of the scores of `start..end`, and the location of the first block that
    /// reaches it. Windows must ascend.
    pub(crate) fn find_bound(&mut self, start: u32, end: u32) -> Result<(i32, BlockPosition)> {
        // Bounds come from the entries of blocks, without unpacking any; a list without blocks is
        // so short that it is scored.
        if let Some(skips) = &mut self.skips {
            if !skips.skip_to(start)? {
                return Ok((0, skips.mark()));
            }
            let mark = skips.mark();
            let least = skips.least_impact(start, end)?;
            return Ok((
                least.map_or(0, |impact| self.weight.most_units(impact)),
                mark,
            ));
        }
        self.score_block()?;
        let rows = self.cursor.rows();
        let first = rows.partition_point(|row| *row < start);
        let rows = rows.get(first..).unwrap_or_default();
        let len = rows.partition_point(|row| *row < end);
        let units = self.units.get(first..first + len).unwrap_or_default();
        let most = units.iter().copied().max().unwrap_or(0);
        Ok((most, BlockPosition::default()))
    }

    /// Moves to a window of the batch.
    pub(crate) fn enter_window(&mut self, number: usize) -> Result<()> {
        if let Some((bound, mark)) = self.windows.get(number) {
            self.bound = *bound;
            self.cursor.jump(*mark)?;
        }
        Ok(())
    }

    /// A score that at least `k` allowed rows reach by this term alone; 0 when the first block has
    /// fewer.
    pub(crate) fn reached(&mut self, k: usize, allowed: Option<&BitSet>) -> Result<i32> {
        // One block is scored; it proves nothing about more rows than it has.
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

    /// The score of `row`, if it has the term. Rows must not descend.
    #[inline]
    pub(crate) fn units_at(&mut self, row: u32) -> Result<Option<i32>> {
        if self.cursor.has_row(row, |_| true)? {
            self.units_of_posting(self.cursor.at(), row).map(Some)
        } else {
            Ok(None)
        }
    }

    /// The score of `row`; 0 when it does not have the term, or no score of its block exceeds
    /// `useless`. Rows must not descend.
    #[inline]
    pub(crate) fn units_above(&mut self, row: u32, useless: i32) -> Result<i32> {
        let weight = self.weight;
        let worth = |impact| weight.most_units(impact) > useless;
        if self.cursor.has_row(row, worth)? {
            self.units_of_posting(self.cursor.at(), row)
        } else {
            Ok(0)
        }
    }

    /// The score of the posting at index `at` of the loaded block, which is of `row`.
    #[inline]
    pub(crate) fn units_of_posting(&mut self, at: usize, row: u32) -> Result<i32> {
        if self.units_of == self.cursor.blocks_read() {
            return Ok(self.units.get(at).copied().unwrap_or(0));
        }
        let mut length = [0.0];
        self.lengths.fill(&[row], &mut length)?;
        let [length] = length;
        Ok(self.weight.units(self.cursor.frequency_at(at)?, length))
    }

    /// Frequency and score of `row`, if it has the term. Rows must not descend.
    pub(crate) fn score_row(&mut self, row: u32) -> Result<Option<(u32, i32)>> {
        match self.units_at(row)? {
            Some(units) => {
                let frequency = self.cursor.frequency_at(self.cursor.at())?;
                Ok(Some((frequency, units)))
            }
            None => Ok(None),
        }
    }

    /// Moves to the next block with rows of `start..end` and a bound above `useless`, and returns
    /// the indices of these rows in it; `None` when there is none.
    #[inline(always)]
    pub(crate) fn next_block(
        &mut self,
        start: u32,
        end: u32,
        useless: i32,
    ) -> Result<Option<Range<usize>>> {
        let weight = self.weight;
        let worth = |impact| weight.most_units(impact) > useless;
        let Some(first) = self.cursor.seek_worth(start, end, worth)? else {
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

    /// Calls `each` with the rows and scores of `start..end`, block by block, without blocks whose
    /// bound does not exceed `useless`.
    #[inline(always)]
    pub(crate) fn for_each_block(
        &mut self,
        mut start: u32,
        end: u32,
        useless: i32,
        mut each: impl FnMut(&[u32], &[i32]),
    ) -> Result<()> {
        while let Some(places) = self.next_block(start, end, useless)? {
            self.score_block()?;
            let rows = self.cursor.rows().get(places.clone()).unwrap_or_default();
            let units = self.units.get(places).unwrap_or_default();
            each(rows, units);
            start = rows.last().map_or(end, |last| last + 1);
        }
        Ok(())
    }

    /// Adds these scores to `sums`, whose first one is that of row `start`.
    pub(crate) fn add_to(
        &mut self,
        sums: &mut [i32],
        start: u32,
        end: u32,
        useless: i32,
    ) -> Result<()> {
        self.for_each_block(start, end, useless, |rows, units| {
            for (row, units) in std::iter::zip(rows, units) {
                if let Some(sum) = sums.get_mut((row - start) as usize) {
                    *sum += units;
                }
            }
        })
    }
}
