//! Inverted lists of one segment, read from their columns.

use kb_types::error::{Error, Result};

use super::layout::{CENTROIDS_LIMIT, LIST_BYTES, List, list_block_bytes};
use crate::container::column::ColumnView;
use crate::index::vector::cursor::Cursor;
use crate::index::vector::kernels::layout::{BLOCK_ROWS, LANES};
use crate::index::vector::quantise::as_signed;
use crate::index::vector::record::stride;

/// The inverted lists of one segment. Cheap to copy.
#[derive(Debug, Clone, Copy)]
pub struct ListsReader<'a> {
    centroids: ColumnView<'a>,
    lists: ColumnView<'a>,
    blocks: ColumnView<'a>,
    /// Centroids, and lists.
    count: u32,
    /// Rows of the segment.
    rows: u32,
    dim: u32,
}

impl<'a> ListsReader<'a> {
    /// Borrows the columns of `count` lists: centroids, lists, blocks.
    ///
    /// # Errors
    /// [`Error::Damaged`] when a column has another length than that, or blocks for more rows than
    /// `rows` and a last block of each list can fill.
    pub fn new(
        count: u32,
        dim: u32,
        rows: u32,
        [centroids, lists, blocks]: [ColumnView<'a>; 3],
    ) -> Result<ListsReader<'a>> {
        let wide = u64::from(count) * u64::from(stride(dim));
        let block_bytes = u64::from(list_block_bytes(dim));
        let most = u64::from(rows.div_ceil(BLOCK_ROWS as u32)) + u64::from(count);
        let is_sound = count > 0
            && count <= CENTROIDS_LIMIT
            && count.is_multiple_of(LANES as u32)
            && centroids.len_bytes() == wide
            && lists.len_bytes() == u64::from(count) * u64::from(LIST_BYTES)
            && blocks.len_bytes().is_multiple_of(block_bytes)
            && blocks.len_bytes() / block_bytes <= most;
        if !is_sound {
            return Err(Error::damaged(format!(
                "the columns of {count} inverted lists have other lengths"
            )));
        }
        Ok(ListsReader {
            centroids,
            lists,
            blocks,
            count,
            rows,
            dim,
        })
    }

    /// How many lists there are.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Dimensions of the vectors, without the padding of centroids.
    pub(super) fn dim(&self) -> u32 {
        self.dim
    }

    /// The bytes of all centroids.
    ///
    /// # Errors
    /// [`Error::Damaged`].
    pub fn centroid_bytes(&self) -> Result<Vec<i8>> {
        let mut bytes = Vec::with_capacity(self.centroids.len_bytes() as usize);
        for number in 0..self.centroids.extents() {
            bytes.extend_from_slice(as_signed(self.centroids.extent(number)?.1));
        }
        Ok(bytes)
    }

    /// Calls `each` with the bytes of the centroids, some at a time, in order.
    pub(super) fn centroid_pieces(&self, mut each: impl FnMut(&'a [u8])) -> Result<()> {
        for number in 0..self.centroids.extents() {
            each(self.centroids.extent(number)?.1);
        }
        Ok(())
    }

    /// All lists, in order.
    ///
    /// # Errors
    /// [`Error::Damaged`], also where they have more rows than the segment, or more blocks than are there: who reads all
    /// of them reads no row twice.
    pub(super) fn lists(&self) -> Result<Vec<List>> {
        let mut all = Vec::with_capacity(self.count as usize);
        for number in 0..self.lists.extents() {
            let (rows, _) = self.lists.extent(number)?.1.as_chunks();
            all.extend(rows.iter().map(List::from_bytes));
        }
        let rows: u64 = all.iter().map(|list| u64::from(list.rows)).sum();
        let blocks: u64 = all.iter().map(|list| u64::from(list.blocks())).sum();
        if rows > u64::from(self.rows) || blocks > self.blocks() {
            return Err(Error::damaged(
                "inverted lists have more rows than there are",
            ));
        }
        Ok(all)
    }

    /// Blocks of all lists.
    pub(super) fn blocks(&self) -> u64 {
        self.blocks.rows()
    }

    /// Says that lists will be read: the extents that they begin and end in.
    pub(super) fn will_read(&self, lists: impl Iterator<Item = List>) {
        let bytes = u64::from(list_block_bytes(self.dim));
        self.blocks.will_read(lists.flat_map(|list| {
            let first = u64::from(list.first_block);
            let last = first + u64::from(list.blocks().saturating_sub(1));
            [first * bytes, last * bytes]
        }));
    }

    /// A cursor over the blocks.
    pub(super) fn block_cursor(&self) -> Cursor<'a> {
        Cursor::new(self.blocks, list_block_bytes(self.dim) as usize)
    }
}
