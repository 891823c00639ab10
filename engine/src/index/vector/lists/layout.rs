//! What the columns of inverted lists hold, byte for byte.

use crate::container::column::ColumnId;
use crate::index::vector::kernels::layout::BLOCK_ROWS;
use crate::index::vector::sign_bits;

/// Column of the centroids: rows of signed bytes, with the range of the vector rows.
pub const CENTROIDS: ColumnId = ColumnId(35);
/// Column of the lists: 12 bytes for each centroid.
pub const LISTS: ColumnId = ColumnId(36);
/// Column of the blocks of all lists, in the order of the lists.
pub const LIST_BLOCKS: ColumnId = ColumnId(37);

/// Bytes of a row of [`LISTS`].
pub(crate) const LIST_BYTES: u32 = 12;

/// The number of a row that is not there, at the end of a list.
pub(crate) const NO_ROW: u32 = u32::MAX;

/// Most centroids of a segment.
// `4 sqrt(rows)` reaches it at 2^28 rows, and a segment has at most 2^24. A lying file cannot make
// a reader allocate more.
pub(crate) const CENTROIDS_LIMIT: u32 = 1 << 16;

/// Bytes of a block of 64 rows of a list: their signs, their factors, their numbers.
pub(crate) fn list_block_bytes(dim: u32) -> u32 {
    // A factor of one byte and a row number of four.
    sign_bits::block_bytes(dim) + BLOCK_ROWS as u32 * 5
}

/// A row of [`LISTS`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct List {
    /// Its first block.
    pub first_block: u32,
    /// Rows in it. The next list begins with a block of its own.
    pub rows: u32,
    /// Root mean square of the lengths of the residuals of its rows, in steps of a signed byte.
    pub radius: u32,
}

impl List {
    /// Blocks of the list.
    pub(crate) fn blocks(&self) -> u32 {
        self.rows.div_ceil(BLOCK_ROWS as u32)
    }

    /// The stored bytes.
    pub(crate) fn to_bytes(self) -> [u8; LIST_BYTES as usize] {
        let mut bytes = [0; LIST_BYTES as usize];
        let numbers = [self.first_block, self.rows, self.radius];
        for (place, number) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(numbers) {
            *place = number.to_le_bytes();
        }
        bytes
    }

    /// The list of stored bytes.
    pub(crate) fn from_bytes(bytes: &[u8; LIST_BYTES as usize]) -> List {
        let mut numbers = bytes
            .as_chunks::<4>()
            .0
            .iter()
            .map(|four| u32::from_le_bytes(*four));
        let mut next = || numbers.next().unwrap_or_default();
        List {
            first_block: next(),
            rows: next(),
            radius: next(),
        }
    }
}
