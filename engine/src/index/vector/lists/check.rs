//! Inverted lists compared with the rows that they are of.

use kb_types::error::{Error, Result};

use super::block::{ListBlock, StoredBlock};
use super::centroids::Centroids;
use super::layout::list_block_bytes;
use super::present::PresentRows;
use super::reader::ListsReader;
use crate::index::vector::kernels::layout::BLOCK_ROWS;
use crate::index::vector::record::stride;

/// Rows of one assignment step.
// Bounds the memory of the check: 8,192 rows of 192 bytes are 1.6 MB.
const PIECE_ROWS: usize = 1 << 13;

/// Marks a row that is in no list. Above every valid list.
const NO_LIST: u32 = u32::MAX;

/// Checks rows and sign bits, and inverted lists where there are some.
///
/// # Errors
/// As [`Reader::check`](crate::index::vector::reader::Reader::check), and [`Error::Damaged`] naming the first list that is wrong.
pub(crate) fn check(present: &PresentRows<'_>) -> Result<()> {
    let reader = present.reader();
    reader.check()?;
    reader
        .lists()
        .map_or(Ok(()), |lists| check_lists(lists, present))
}

/// Checks that the lists have each row with a vector once, in the list of its nearest centroid and beside the right
/// signs and factor, no other row, and that all else is as it is written.
///
/// # Errors
/// [`Error::Damaged`] naming the first list where this does not hold.
fn check_lists(lists: &ListsReader<'_>, present: &PresentRows<'_>) -> Result<()> {
    let reader = present.reader();
    let dim = lists.dim();
    let width = stride(dim) as usize;
    let bytes = lists.centroid_bytes()?;
    let mut list_of = vec![NO_LIST; reader.rows() as usize];
    let mut row_bytes = vec![0i8; width];
    let mut cursor = lists.block_cursor();
    let mut block = ListBlock::new(dim);
    let (mut next_block, mut rows) = (0u32, 0u64);
    let all = lists.lists()?;
    for (number, (list, centroid)) in (0u32..).zip(all.iter().zip(bytes.chunks_exact(width))) {
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
            match list_of.get_mut(row as usize) {
                Some(list) if *list == NO_LIST && last < Some(row) => *list = number,
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
    check_nearest(present, &Centroids::new(width, bytes), &list_of)
}

/// Checks that each row is in the list of its nearest centroid: a search reads only some lists, and one row in
/// another is a row that it does not find. Takes as long as assigning the rows did.
fn check_nearest(present: &PresentRows<'_>, centroids: &Centroids, list_of: &[u32]) -> Result<()> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut piece = Vec::with_capacity(PIECE_ROWS * centroids.width());
    let mut row_bytes = vec![0i8; centroids.width()];
    let mut nearest = vec![0u32; PIECE_ROWS];
    let mut rows = Vec::with_capacity(PIECE_ROWS);
    let mut left = present.iter();
    loop {
        piece.clear();
        rows.clear();
        rows.extend(left.by_ref().take(PIECE_ROWS));
        for row in &rows {
            present.reader().signed_row(*row, &mut row_bytes)?;
            piece.extend(row_bytes.iter().map(|byte| byte.cast_unsigned()));
        }
        let nearest = nearest.get_mut(..rows.len()).unwrap_or_default();
        if nearest.is_empty() {
            return Ok(());
        }
        centroids.nearest(&piece, nearest, threads);
        for (row, nearest) in rows.iter().zip(nearest) {
            if list_of.get(*row as usize) != Some(nearest) {
                return Err(Error::damaged(format!(
                    "row {row} is not in the list of its nearest centroid"
                )));
            }
        }
    }
}
