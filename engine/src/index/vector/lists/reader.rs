//! Inverted lists of one segment, read from their columns.

use super::block::{ListBlock, StoredBlock};
use super::layout::{CENTROIDS_LIMIT, LIST_BYTES, List, NO_ROW, list_block_bytes};
use crate::container::column::ColumnView;
use crate::error::{Error, Result};
use crate::index::vector::kernels::layout::{BLOCK_ROWS, LANES};
use crate::index::vector::quantise::as_signed;
use crate::index::vector::reader::{Cursor, Reader};
use crate::index::vector::record::stride;

/// The inverted lists of one segment. Cheap to copy.
#[derive(Debug, Clone, Copy)]
pub struct ListsReader<'a> {
    centroids: ColumnView<'a>,
    lists: ColumnView<'a>,
    blocks: ColumnView<'a>,
    /// Centroids, and lists.
    count: u32,
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
            dim,
        })
    }

    /// How many lists there are.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Dimensions.
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
    pub(super) fn lists(&self) -> Result<Vec<List>> {
        let mut all = Vec::with_capacity(self.count as usize);
        for number in 0..self.lists.extents() {
            let (rows, _) = self.lists.extent(number)?.1.as_chunks();
            all.extend(rows.iter().map(List::from_bytes));
        }
        Ok(all)
    }

    /// A cursor over the blocks.
    pub(super) fn block_cursor(&self) -> Cursor<'a> {
        Cursor::new(self.blocks, list_block_bytes(self.dim) as usize)
    }

    /// Checks that the lists have each row once, beside the right signs and factor, and that all else
    /// is as it is written.
    ///
    /// # Errors
    /// [`Error::Damaged`] naming the first list where this does not hold.
    pub fn check(&self, reader: &Reader<'_>) -> Result<()> {
        let width = stride(self.dim) as usize;
        let bytes = self.centroid_bytes()?;
        let mut seen = vec![false; reader.rows() as usize];
        let mut row_bytes = vec![0i8; width];
        let mut cursor = self.block_cursor();
        let mut block = ListBlock::new(self.dim);
        let (mut next_block, mut rows) = (0u32, 0u64);
        let lists = self.lists()?;
        for (number, (list, centroid)) in lists.iter().zip(bytes.chunks_exact(width)).enumerate() {
            let wrong = |what: &str| Err(Error::damaged(format!("list {number} {what}")));
            let padding = centroid.get(self.dim as usize..).unwrap_or_default();
            if padding.iter().any(|byte| *byte != 0) || centroid.contains(&i8::MIN) {
                return wrong("has a centroid that is not one");
            }
            if list.first_block != next_block {
                return wrong("does not begin where the list before ends");
            }
            let (mut squared, mut last) = (0u64, None);
            for at in 0..list.rows {
                if at % BLOCK_ROWS as u32 == 0 {
                    block.clear();
                }
                let place = list.first_block.saturating_add(at / BLOCK_ROWS as u32);
                let stored = cursor.from(u64::from(place))?;
                let Some(parts) = StoredBlock::of(stored, self.dim) else {
                    return wrong("has a block that is cut off");
                };
                let row = parts.row(at % BLOCK_ROWS as u32);
                match seen.get_mut(row as usize) {
                    Some(seen) if !*seen && last < Some(row) => *seen = true,
                    _ => return wrong("has a row that is not there, not in its place, or twice"),
                }
                last = Some(row);
                reader.signed_row(row, &mut row_bytes)?;
                squared = squared.saturating_add(block.push(
                    row,
                    &row_bytes,
                    centroid,
                    self.dim as usize,
                ));
                if (block.is_full() || at + 1 == list.rows)
                    && stored.get(..list_block_bytes(self.dim) as usize) != Some(block.bytes())
                {
                    return wrong("has signs or factors of other rows or another centroid");
                }
            }
            block.clear();
            let mean = squared.checked_div(u64::from(list.rows)).unwrap_or(0);
            if mean.isqrt() != u64::from(list.radius) {
                return wrong("has another radius");
            }
            rows += u64::from(list.rows);
            next_block = next_block.saturating_add(list.blocks());
        }
        if rows != u64::from(reader.rows()) || u64::from(next_block) != self.blocks.rows() {
            return Err(Error::damaged("inverted lists do not have all rows"));
        }
        Ok(())
    }
}

/// Whether a number from a file names a row.
pub(super) fn is_row(row: u32, rows: u32) -> bool {
    row != NO_ROW && row < rows
}
