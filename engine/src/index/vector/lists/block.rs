//! A block of 64 rows of a list: signs of residuals as in [`crate::index::vector::sign_bits`], a factor
//! for each row, and its number.

use super::layout::{NO_ROW, list_block_bytes};
use super::residual;
use crate::index::vector::kernels::layout::BLOCK_ROWS;
use crate::index::vector::kernels::prefetch::prefetch;
use crate::index::vector::sign_bits::{self, Block};

/// A block that is being filled.
#[derive(Debug)]
pub(crate) struct ListBlock {
    signs: Block,
    factors: [u8; BLOCK_ROWS],
    rows: [u32; BLOCK_ROWS],
    count: usize,
    bytes: Vec<u8>,
}

impl ListBlock {
    /// An empty block for rows of `dim` dimensions.
    pub(crate) fn new(dim: u32) -> ListBlock {
        ListBlock {
            signs: Block::new(dim),
            factors: [0; BLOCK_ROWS],
            rows: [NO_ROW; BLOCK_ROWS],
            count: 0,
            bytes: Vec::with_capacity(list_block_bytes(dim) as usize),
        }
    }

    /// Adds a row and returns the squared length of its residual. The block must not be full.
    pub(crate) fn push(&mut self, number: u32, row: &[i8], centroid: &[i8], dim: usize) -> u64 {
        let kept = residual::keep(row, centroid);
        let signs = residual::of(row, centroid).map(|number| number > 0);
        self.signs.push_signs(signs.take(dim));
        if let (Some(factor), Some(row)) = (
            self.factors.get_mut(self.count),
            self.rows.get_mut(self.count),
        ) {
            (*factor, *row) = (kept.factor, number);
        }
        self.count += 1;
        kept.squared
    }

    /// Whether it has 64 rows.
    pub(crate) fn is_full(&self) -> bool {
        self.count == BLOCK_ROWS
    }

    /// Whether it has no rows.
    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The stored bytes; missing rows have no sign, the factor 0 and the number [`NO_ROW`].
    pub(crate) fn bytes(&mut self) -> &[u8] {
        self.bytes.clear();
        self.bytes.extend_from_slice(self.signs.bytes());
        self.bytes.extend_from_slice(&self.factors);
        self.bytes
            .extend(self.rows.iter().flat_map(|row| row.to_le_bytes()));
        &self.bytes
    }

    /// Removes all rows.
    pub(crate) fn clear(&mut self) {
        self.signs.clear();
        self.factors.fill(0);
        self.rows.fill(NO_ROW);
        self.count = 0;
    }
}

/// A stored block in its parts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StoredBlock<'a> {
    /// The signs.
    pub signs: &'a [u8],
    /// The factors.
    pub factors: &'a [u8; BLOCK_ROWS],
    /// The numbers of the rows.
    rows: &'a [[u8; 4]],
}

impl<'a> StoredBlock<'a> {
    /// The parts of the first bytes of `bytes`; `None` when there are too few.
    pub(crate) fn of(bytes: &'a [u8], dim: u32) -> Option<StoredBlock<'a>> {
        let (signs, rest) = bytes.split_at_checked(sign_bits::block_bytes(dim) as usize)?;
        let (factors, rest) = rest.split_first_chunk::<BLOCK_ROWS>()?;
        let rows = rest.get(..4 * BLOCK_ROWS)?.as_chunks::<4>().0;
        Some(StoredBlock {
            signs,
            factors,
            rows,
        })
    }

    /// Asks for the first and the last number of `rows` rows.
    pub(crate) fn prefetch_rows(&self, rows: u32) {
        let last = rows.saturating_sub(1) as usize;
        for row in [self.rows.first(), self.rows.get(last)]
            .into_iter()
            .flatten()
        {
            prefetch(row);
        }
    }

    /// The number of a row; [`NO_ROW`] where there is none.
    #[inline]
    pub(crate) fn row(&self, at: u32) -> u32 {
        self.rows
            .get(at as usize)
            .map_or(NO_ROW, |row| u32::from_le_bytes(*row))
    }
}
