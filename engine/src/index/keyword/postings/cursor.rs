//! Walks over the postings of one term, rows ascending, skipping blocks unread.

use super::block::{PackedFrequencies, read_rows, take_posting};
use super::encoding::{BLOCK_POSTINGS, Block};
use super::list::{Postings, PostingsKind};
use super::skip_reader::{BlockForm, BlockPosition, SkipReader, beyond};
use crate::container::column::ColumnView;
use crate::error::{Error, Result};

/// The postings of one term, from the first row to the last.
#[derive(Debug, Clone)]
pub struct Cursor<'a> {
    /// Rows of the block at hand.
    rows: Block,
    /// Their frequencies, unless they are still packed.
    frequencies: Block,
    /// The frequencies while nobody asked for all of them.
    packed: Option<PackedFrequencies<'a>>,
    /// How many of both are filled.
    len: usize,
    /// The current posting among them; `len` when there is none.
    at: usize,
    /// How many blocks were read, to notice a change.
    blocks_read: u32,
    /// Whether the block at hand is the one that `walk` stands on.
    loaded: bool,
    /// The blocks; `None` when the whole list is at hand.
    walk: Option<SkipReader<'a>>,
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
            walk: None,
        };
        match postings.kind {
            PostingsKind::Single { row, frequency } => {
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
                cursor.walk = Some(SkipReader::new(column, row_limit, postings)?);
                cursor.loaded = false;
            }
        }
        Ok(cursor)
    }

    /// Moves to the first posting whose row is `row` or above, never back; returns its row and
    /// frequency.
    ///
    /// # Errors
    /// [`Error::Damaged`] when a block on the way contradicts the format.
    #[inline]
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
        let rest = self.rows.get(self.at..self.len).unwrap_or_default();
        self.at += lower(rest, row);
        Ok(self
            .rows
            .get(..self.len)
            .and_then(|rows| rows.get(self.at))
            .copied())
    }

    /// Whether the list has `row`, which must not go back: a block is only read if the row may be in
    /// it and `worth` says so of its least impact. False also when it was not worth it.
    ///
    /// # Errors
    /// As [`Cursor::seek`].
    #[inline]
    pub(crate) fn has_row(&mut self, row: u32, worth: impl FnOnce(f32) -> bool) -> Result<bool> {
        let is_ahead = !self.loaded || self.last_loaded() < row;
        if let Some(walk) = self.walk.as_mut().filter(|_| is_ahead) {
            let before = walk.index;
            if walk.skip_to(row)? {
                self.loaded &= walk.index == before;
                if !self.loaded && (row < walk.next_row || !worth(walk.entry.impact)) {
                    return Ok(false);
                }
            }
        }
        Ok(self.seek_row(row)? == Some(row))
    }

    /// Moves to the first row from `row` on, as [`Cursor::seek_row`], but passes over blocks unread
    /// of which `worth` says no to their least impact; `None` also when the next block begins at
    /// `end` or after.
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
            let Some(walk) = self.walk.as_mut().filter(|_| is_ahead) else {
                return self.seek_row(row);
            };
            let before = walk.index;
            if !walk.skip_to(row)? {
                return self.seek_row(row);
            }
            self.loaded &= walk.index == before;
            if walk.next_row >= end {
                break;
            }
            if worth(walk.entry.impact) {
                return self.seek_row(row);
            }
            row = walk.entry.last_row + 1;
        }
        Ok(None)
    }

    /// The frequency of the posting at that place of the block at hand.
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

    /// Moves to the first posting of a block, also back; [`BlockPosition::default`] is the start of the list.
    ///
    /// # Errors
    /// [`Error::Damaged`] when the entry of the block contradicts the format.
    pub(crate) fn jump(&mut self, to: BlockPosition) -> Result<()> {
        if let Some(walk) = &mut self.walk {
            // Nothing is at hand after the end of the list.
            self.loaded &= walk.index == to.index as usize && self.len > 0;
            if !self.loaded {
                self.len = 0;
                walk.jump(to)?;
            }
        }
        self.at = 0;
        Ok(())
    }

    /// Last row of the block at hand; 0 when it is empty.
    fn last_loaded(&self) -> u32 {
        match self.rows.get(..self.len) {
            Some([.., last]) => *last,
            _ => 0,
        }
    }

    /// Loads the first block that reaches `row`.
    #[cold]
    fn seek_block(&mut self, row: u32) -> Result<()> {
        let Some(walk) = &mut self.walk else {
            self.at = self.len;
            return Ok(());
        };
        let before = walk.index;
        let found = walk.skip_to(row)?;
        if !found {
            self.loaded = true;
            self.len = 0;
            self.at = 0;
        } else if !self.loaded || walk.index != before {
            self.load()?;
        }
        Ok(())
    }

    fn load(&mut self) -> Result<()> {
        let Some(walk) = &self.walk else {
            return Ok(());
        };
        let (bytes, entry, next_row) = (walk.block_bytes()?, walk.entry, walk.next_row);
        match entry.form {
            BlockForm::Packed(shape) => {
                // A block that is refused must not leave postings of the one before.
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

    /// Walks over a whole list: calls `each` with the rows and frequencies of one block after the
    /// other, and with the impact that the entry of the block claims, if it has one.
    ///
    /// # Errors
    /// [`Error::Damaged`] when a block contradicts the format; what `each` says.
    pub(crate) fn for_each_block(
        mut self,
        mut each: impl FnMut(&[u32], &[u32], Option<f32>) -> Result<()>,
    ) -> Result<()> {
        let mut next = 0;
        while self.seek_row(next)?.is_some() {
            let claimed = self.walk.as_ref().map(|walk| walk.entry.impact);
            let (rows, frequencies) = self.block()?;
            each(rows, frequencies, claimed)?;
            next = self.last_loaded() + 1;
        }
        Ok(())
    }

    /// Moves to the block with the first row from `next` on and gives its rows and frequencies, those
    /// before `next` included; none after the last block.
    ///
    /// # Errors
    /// [`Error::Damaged`] when a block contradicts the format.
    pub(crate) fn block_from(&mut self, next: u32) -> Result<(&[u32], &[u32])> {
        match self.seek_row(next)? {
            Some(_) => self.block(),
            None => Ok((&[], &[])),
        }
    }

    /// Calls `each` with the rows of one block after the other: a third of the time of
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

    /// The blocks of the list from the current one on; `None` when all of it is at hand.
    pub(crate) fn walk(&self) -> Option<SkipReader<'a>> {
        self.walk
    }

    /// How many blocks were read: the block at hand is another one when this changes.
    pub(crate) fn blocks_read(&self) -> u32 {
        self.blocks_read
    }

    /// All rows of the block at hand.
    #[inline]
    pub(crate) fn rows(&self) -> &[u32] {
        self.rows.get(..self.len).unwrap_or_default()
    }

    /// All rows and frequencies of the block at hand.
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

    /// TermInfo of the current posting in the block at hand.
    pub(crate) fn at(&self) -> usize {
        self.at
    }
}

/// How many of the ascending rows are below `row`. Rows sought are mostly near, and comparing eight
/// rows at once beats halving.
#[inline]
fn lower(rows: &[u32], row: u32) -> usize {
    let mut below = 0;
    for eight in rows.chunks(8) {
        let more: usize = eight.iter().map(|there| usize::from(*there < row)).sum();
        below += more;
        if more < 8 {
            break;
        }
    }
    below
}
