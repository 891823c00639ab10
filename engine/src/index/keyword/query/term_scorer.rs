//! One term of a query in one segment: its postings with their scores, and what it gives at most.

use std::cmp::Reverse;
use std::ops::Range;

use super::kernels;
use crate::error::Result;
use crate::index::bitset::BitSet;
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
    /// Its blocks, ahead of the cursor; `None` when the cursor has the whole list at hand.
    walk: Option<SkipReader<'a>>,
    /// Number of its postings.
    pub(crate) count: u32,
    /// How they score.
    scorer: Bm25Weight,
    /// FieldNormReader of rows.
    lengths: FieldNormReader<'a>,
    /// Score of each posting of the block at hand.
    units: [i32; BLOCK_POSTINGS],
    /// Which block `units` is of, as [`Cursor::blocks_read`].
    units_of: u32,
    /// The most that it gives to a row of the window.
    pub(crate) bound: i32,
    /// That of each window of the batch, and the first block that reaches the window.
    pub(crate) windows: Vec<(i32, BlockPosition)>,
}

/// The terms of a query in one segment. Every window sorts them, so each is a box: moving their
/// 2 KB would cost more.
pub(crate) type TermScorers<'a> = Vec<Box<TermScorer<'a>>>;

impl<'a> TermScorer<'a> {
    pub(crate) fn new(
        cursor: Cursor<'a>,
        count: u32,
        scorer: Bm25Weight,
        lengths: FieldNormReader<'a>,
    ) -> TermScorer<'a> {
        TermScorer {
            walk: cursor.walk(),
            cursor,
            count,
            scorer,
            lengths,
            units: [0; BLOCK_POSTINGS],
            units_of: 0,
            bound: 0,
            windows: Vec::new(),
        }
    }

    /// All rows of the block at hand.
    pub(crate) fn rows(&self) -> &[u32] {
        self.cursor.rows()
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

    /// The most that the term gives to a row of `start..end`, and where its block is. Windows must
    /// ascend.
    pub(crate) fn find_bound(&mut self, start: u32, end: u32) -> Result<(i32, BlockPosition)> {
        if let Some(walk) = &mut self.walk {
            if !walk.skip_to(start)? {
                return Ok((0, walk.mark()));
            }
            let mark = walk.mark();
            let least = walk.least_impact(start, end)?;
            return Ok((
                least.map_or(0, |impact| self.scorer.most_units(impact)),
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

    /// Goes to a window of the batch.
    pub(crate) fn enter_window(&mut self, number: usize) -> Result<()> {
        if let Some((bound, mark)) = self.windows.get(number) {
            self.bound = *bound;
            self.cursor.jump(*mark)?;
        }
        Ok(())
    }

    /// A score that at least `k` allowed rows reach by this term alone; 0 if the first block
    /// has fewer.
    pub(crate) fn reached(&mut self, k: usize, allowed: Option<&BitSet>) -> Result<i32> {
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
    pub(crate) fn units_at(&mut self, row: u32) -> Result<Option<i32>> {
        match self.cursor.has_row(row, |_| true)? {
            true => self.units_of_posting(self.cursor.at(), row).map(Some),
            false => Ok(None),
        }
    }

    /// Score at `row`, 0 if the term does not have it, or its block has nothing that exceeds
    /// `useless`. Rows must not go back.
    #[inline]
    pub(crate) fn units_above(&mut self, row: u32, useless: i32) -> Result<i32> {
        let scorer = self.scorer;
        let worth = |impact| scorer.most_units(impact) > useless;
        match self.cursor.has_row(row, worth)? {
            true => self.units_of_posting(self.cursor.at(), row),
            false => Ok(0),
        }
    }

    /// Score of the posting at that place of the block at hand, which is of `row`.
    #[inline]
    pub(crate) fn units_of_posting(&mut self, at: usize, row: u32) -> Result<i32> {
        if self.units_of == self.cursor.blocks_read() {
            return Ok(self.units.get(at).copied().unwrap_or(0));
        }
        let mut length = [0.0];
        self.lengths.fill(&[row], &mut length)?;
        let [length] = length;
        Ok(self.scorer.units(self.cursor.frequency_at(at)?, length))
    }

    /// Frequency and score at `row`, if the term has it. Rows must not go back.
    pub(crate) fn score_row(&mut self, row: u32) -> Result<Option<(u32, i32)>> {
        match self.units_at(row)? {
            Some(units) => {
                let frequency = self.cursor.frequency_at(self.cursor.at())?;
                Ok(Some((frequency, units)))
            }
            None => Ok(None),
        }
    }

    /// Moves to the block that has the next row of `start..end` and exceeds `useless`, and gives the
    /// places of those rows in it; `None` when there is none.
    #[inline(always)]
    pub(crate) fn next_block(
        &mut self,
        start: u32,
        end: u32,
        useless: i32,
    ) -> Result<Option<Range<usize>>> {
        let scorer = self.scorer;
        let worth = |impact| scorer.most_units(impact) > useless;
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

    /// Calls `each` with the rows and scores of `start..end`, block by block, but for blocks that do
    /// not exceed `useless`.
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

    /// Adds these scores to the sums of the rows from `start` on.
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
