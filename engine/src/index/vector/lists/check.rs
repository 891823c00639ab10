//! Inverted lists compared with the rows that they are of.

use super::block::{ListBlock, StoredBlock};
use super::layout::list_block_bytes;
use super::present::PresentRows;
use super::reader::ListsReader;
use crate::error::{Error, Result};
use crate::index::vector::kernels::layout::BLOCK_ROWS;
use crate::index::vector::record::stride;

/// Checks rows and sign bits, and inverted lists where there are some.
///
/// # Errors
/// As [`Reader::check`](crate::index::vector::reader::Reader::check), and [`Error::Damaged`] naming the first list that is wrong.
pub fn check(present: &PresentRows<'_>) -> Result<()> {
    let reader = present.reader();
    reader.check()?;
    reader
        .lists()
        .map_or(Ok(()), |lists| check_lists(lists, present))
}

/// Checks that the lists have each row with a vector once, and no other, beside the right signs and factor, and that all else
/// is as it is written.
///
/// # Errors
/// [`Error::Damaged`] naming the first list where this does not hold.
fn check_lists(lists: &ListsReader<'_>, present: &PresentRows<'_>) -> Result<()> {
    let reader = present.reader();
    let dim = lists.dim();
    let width = stride(dim) as usize;
    let bytes = lists.centroid_bytes()?;
    let mut seen = vec![false; reader.rows() as usize];
    let mut row_bytes = vec![0i8; width];
    let mut cursor = lists.block_cursor();
    let mut block = ListBlock::new(dim);
    let (mut next_block, mut rows) = (0u32, 0u64);
    let all = lists.lists()?;
    for (number, (list, centroid)) in all.iter().zip(bytes.chunks_exact(width)).enumerate() {
        let wrong = |what: &str| Err(Error::damaged(format!("list {number} {what}")));
        let padding = centroid.get(dim as usize..).unwrap_or_default();
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
            let Some(parts) = StoredBlock::of(stored, dim) else {
                return wrong("has a block that is cut off");
            };
            let row = parts.row(at % BLOCK_ROWS as u32);
            match seen.get_mut(row as usize) {
                Some(seen) if !*seen && last < Some(row) => *seen = true,
                _ => return wrong("has a row that is not there, not in its place, or twice"),
            }
            if !present.contains(row) {
                return wrong("has a row without a vector");
            }
            last = Some(row);
            reader.signed_row(row, &mut row_bytes)?;
            squared = squared.saturating_add(block.push(row, &row_bytes, centroid, dim as usize));
            if (block.is_full() || at + 1 == list.rows)
                && stored.get(..list_block_bytes(dim) as usize) != Some(block.bytes())
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
    if rows != u64::from(present.count()) || u64::from(next_block) != lists.blocks() {
        return Err(Error::damaged(
            "inverted lists do not have all rows with a vector",
        ));
    }
    Ok(())
}
