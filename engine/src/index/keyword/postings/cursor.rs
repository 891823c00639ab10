//! Iterates over the postings of one term in ascending rows, skipping blocks without decoding them.

use kb_types::error::{Error, Result};

use super::block::{PackedFrequencies, read_rows, take_posting};
use super::encoding::{BLOCK_POSTINGS, Block};
use super::list::{Postings, PostingsKind};
use super::skip_reader::{BlockForm, BlockPosition, SkipReader, beyond};
use crate::container::column::ColumnView;

/// A position in the postings of one term.
#[derive(Debug, Clone)]
pub struct Cursor<'a> {
    /// Rows of the loaded block.
    rows: Block,
    /// Frequencies of the loaded block, unless they are still packed.
    frequencies: Block,
    /// The packed frequencies, until all of them are needed.
    packed: Option<PackedFrequencies<'a>>,
    /// Postings of the loaded block.
    len: usize,
    /// Index of the current posting in the loaded block; `len` when there is none.
    at: usize,
    /// Number of blocks loaded so far, by which callers notice a change.
    blocks_read: u32,
    /// Whether the loaded block is the one that `skips` is at.
    loaded: bool,
    /// The entries of the blocks; `None` for a list without blocks, which is always loaded.
    skips: Option<SkipReader<'a>>,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(
        column: ColumnView<'a>,
        row_limit: u32,
        postings: &Postings<'a>,
    ) -> Result<Cursor<'a>> {
        let mut cursor = Cursor {
            rows: [0; BLOCK_POSTINGS],
            frequencies: [0; BLOCK_POSTINGS],
            packed: None,
            len: 0,
            at: 0,
            blocks_read: 0,
            loaded: true,
            skips: None,
        };
        match postings.kind {
            PostingsKind::Single { row, frequency } => {
                // Filled whole: code that reads full blocks sees no row that is not there.
                cursor.rows = [row; BLOCK_POSTINGS];
                cursor.frequencies = [frequency; BLOCK_POSTINGS];
                cursor.len = 1;
                cursor.blocks_read = 1;
            }
            PostingsKind::Short(bytes) => {
                cursor.read_tail(bytes, postings.count as usize, 0)?;
                if cursor.last_loaded() >= row_limit {
                    return Err(beyond());
                }
            }
            PostingsKind::Blocks { .. } => {
                cursor.skips = Some(SkipReader::new(column, row_limit, postings)?);
                cursor.loaded = false;
            }
        }
        Ok(cursor)
    }

    /// Moves to the first posting whose row is `row` or above, never back; returns its row and
    /// frequency.
    ///
    /// # Errors
    /// [`Error::Damaged`] when a block contradicts the format.
    #[inline]
    #[cfg(any(test, feature = "testing"))]
    pub fn seek(&mut self, row: u32) -> Result<Option<(u32, u32)>> {
        match self.seek_row(row)? {
            Some(there) => Ok(Some((there, self.frequency_at(self.at)?))),
            None => Ok(None),
        }
    }

    /// As [`Cursor::seek`], without the frequency.
    ///
    /// # Errors
    /// As [`Cursor::seek`].
    #[inline]
    pub(crate) fn seek_row(&mut self, row: u32) -> Result<Option<u32>> {
        if !self.loaded || self.last_loaded() < row {
            self.seek_block(row)?;
        }
        // Rows ascend and seeks never go back, so the search begins at the current posting.
        let rest = self.rows.get(self.at..self.len).unwrap_or_default();
        self.at += lower(rest, row);
        Ok(self
            .rows
            .get(..self.len)
            .and_then(|rows| rows.get(self.at))
            .copied())
    }

    /// Whether the list has `row`; rows must not descend. A block is only loaded if the row can be
    /// in it and `worth` accepts its least impact; otherwise the answer is false.
    ///
    /// # Errors
    /// As [`Cursor::seek`].
    #[inline]
    pub(crate) fn has_row(&mut self, row: u32, worth: impl FnOnce(f32) -> bool) -> Result<bool> {
        let is_ahead = !self.loaded || self.last_loaded() < row;
        if let Some(skips) = self.skips.as_mut().filter(|_| is_ahead) {
            let before = skips.index;
            if skips.skip_to(row)? {
                // The loaded block stays valid unless the skip moved on.
                self.loaded &= skips.index == before;
                // Before decoding: most blocks that a pruned query meets cannot reach the
                // threshold.
                if !self.loaded && (row < skips.next_row || !worth(skips.entry.impact)) {
                    return Ok(false);
                }
            }
        }
        Ok(self.seek_row(row)? == Some(row))
    }

    /// As [`Cursor::seek_row`], but skips blocks whose least impact `worth` rejects. `None` also
    /// when the next block begins at or after `end`.
    ///
    /// # Errors
    /// As [`Cursor::seek`].
    #[inline]
    pub(crate) fn seek_worth(
        &mut self,
        mut row: u32,
        end: u32,
        worth: impl Fn(f32) -> bool,
    ) -> Result<Option<u32>> {
        while row < end {
            let is_ahead = !self.loaded || self.last_loaded() < row;
            let Some(skips) = self.skips.as_mut().filter(|_| is_ahead) else {
                return self.seek_row(row);
            };
            let before = skips.index;
            if !skips.skip_to(row)? {
                return self.seek_row(row);
            }
            self.loaded &= skips.index == before;
            if skips.next_row >= end {
                break;
            }
            if worth(skips.entry.impact) {
                return self.seek_row(row);
            }
            row = skips.entry.last_row + 1;
        }
        Ok(None)
    }

    /// The frequency of the posting at an index of the loaded block.
    ///
    /// # Errors
    /// [`Error::Damaged`] when there is no posting or its bytes contradict the format.
    #[inline]
    pub(crate) fn frequency_at(&self, at: usize) -> Result<u32> {
        match &self.packed {
            Some(packed) => packed.one(at),
            None => self
                .frequencies
                .get(at)
                .copied()
                .ok_or_else(|| Error::damaged("a posting after the last one is read")),
        }
    }

    /// Moves to the first posting of a block, forwards or backwards.
    ///
    /// # Errors
    /// [`Error::Damaged`] when the entry of the block contradicts the format.
    pub(crate) fn jump(&mut self, to: BlockPosition) -> Result<()> {
        if let Some(skips) = &mut self.skips {
            // Nothing is loaded after the end of the list.
            self.loaded &= skips.index == to.index as usize && self.len > 0;
            if !self.loaded {
                self.len = 0;
                skips.jump(to)?;
            }
        }
        self.at = 0;
        Ok(())
    }

    /// Last row of the loaded block; 0 when it is empty.
    fn last_loaded(&self) -> u32 {
        match self.rows.get(..self.len) {
            Some([.., last]) => *last,
            _ => 0,
        }
    }

    /// Loads the first block whose last row is not below `row`.
    #[cold]
    fn seek_block(&mut self, row: u32) -> Result<()> {
        let Some(skips) = &mut self.skips else {
            self.at = self.len;
            return Ok(());
        };
        let before = skips.index;
        let found = skips.skip_to(row)?;
        if !found {
            self.loaded = true;
            self.len = 0;
            self.at = 0;
        } else if !self.loaded || skips.index != before {
            self.load()?;
        }
        Ok(())
    }

    fn load(&mut self) -> Result<()> {
        let Some(skips) = &self.skips else {
            return Ok(());
        };
        let (bytes, entry, next_row) = (skips.block_bytes()?, skips.entry, skips.next_row);
        match entry.form {
            BlockForm::Packed(shape) => {
                // A damaged block must not leave the postings of the previous one.
                self.len = 0;
                let packed = read_rows(bytes, shape, next_row, entry.last_row, &mut self.rows)?;
                self.packed = Some(packed);
                self.len = BLOCK_POSTINGS;
                self.at = 0;
                self.blocks_read += 1;
            }
            BlockForm::Tail { count, .. } => {
                self.read_tail(bytes, count, next_row)?;
                if self.last_loaded() != entry.last_row {
                    return Err(Error::damaged("a block of postings contradicts its entry"));
                }
            }
        }
        self.loaded = true;
        Ok(())
    }

    /// Reads `count` pairs of varints; fewer than a block.
    fn read_tail(&mut self, mut bytes: &[u8], count: usize, mut next_row: u32) -> Result<()> {
        // `take` bounds the loop by `count`, which is below 128, however many bytes follow.
        let numbers = std::iter::zip(&mut self.rows, &mut self.frequencies);
        for (row, frequency) in numbers.take(count) {
            let (distance, there) = take_posting(&mut bytes)?;
            // Rows and distances stay below 2^24 each, and there are fewer than 128 of them.
            *row = next_row + distance;
            *frequency = there;
            next_row = *row + 1;
        }
        if !bytes.is_empty() {
            return Err(Error::damaged("a postings list goes on after its last row"));
        }
        self.packed = None;
        self.len = count;
        self.at = 0;
        self.blocks_read += 1;
        Ok(())
    }

    /// Calls `each` with the rows and frequencies of every block in order, and with the impact in
    /// the entry of the block, if it has one.
    ///
    /// # Errors
    /// [`Error::Damaged`] when a block contradicts the format; errors of `each`.
    pub(crate) fn for_each_block(
        mut self,
        mut each: impl FnMut(&[u32], &[u32], Option<f32>) -> Result<()>,
    ) -> Result<()> {
        let mut next = 0;
        while self.seek_row(next)?.is_some() {
            let claimed = self.skips.as_ref().map(|skips| skips.entry.impact);
            let (rows, frequencies) = self.block()?;
            each(rows, frequencies, claimed)?;
            next = self.last_loaded() + 1;
        }
        Ok(())
    }

    /// Moves to the block with the first row from `next` on and returns all its rows and
    /// frequencies, also those before `next`; empty after the last block.
    ///
    /// # Errors
    /// [`Error::Damaged`] when a block contradicts the format.
    pub(crate) fn block_from(&mut self, next: u32) -> Result<(&[u32], &[u32])> {
        match self.seek_row(next)? {
            Some(_) => self.block(),
            None => Ok((&[], &[])),
        }
    }

    /// Calls `each` with the rows of every block in order. Takes a third of the time of
    /// [`Cursor::for_each_block`].
    ///
    /// # Errors
    /// [`Error::Damaged`] when a block contradicts the format.
    pub(crate) fn for_each_rows(mut self, mut each: impl FnMut(&[u32])) -> Result<()> {
        let mut next = 0;
        while self.seek_row(next)?.is_some() {
            each(self.rows());
            next = self.last_loaded() + 1;
        }
        Ok(())
    }

    /// The entries of the blocks from the current one on; `None` for a list without blocks.
    pub(crate) fn skips(&self) -> Option<SkipReader<'a>> {
        self.skips
    }

    /// Number of blocks loaded so far: when it changes, another block is loaded.
    pub(crate) fn blocks_read(&self) -> u32 {
        self.blocks_read
    }

    /// All rows of the loaded block.
    #[inline]
    pub(crate) fn rows(&self) -> &[u32] {
        self.rows.get(..self.len).unwrap_or_default()
    }

    /// All rows and frequencies of the loaded block.
    ///
    /// # Errors
    /// [`Error::Damaged`] when frequencies contradict the format.
    pub(crate) fn block(&mut self) -> Result<(&[u32], &[u32])> {
        if let Some(packed) = self.packed.take() {
            packed.read(&mut self.frequencies)?;
        }
        Ok((
            self.rows.get(..self.len).unwrap_or_default(),
            self.frequencies.get(..self.len).unwrap_or_default(),
        ))
    }

    /// Index of the current posting in the loaded block.
    pub(crate) fn at(&self) -> usize {
        self.at
    }
}

/// The number of ascending rows below `row`. The result is mostly small, so that a linear search
/// that compares eight rows at once is faster than a binary search.
#[inline]
fn lower(rows: &[u32], row: u32) -> usize {
    let mut below = 0;
    // Eight u32 fill one AVX2 register.
    for eight in rows.chunks(8) {
        let more: usize = eight.iter().map(|there| usize::from(*there < row)).sum();
        below += more;
        if more < 8 {
            break;
        }
    }
    below
}
