//! Writes the inverted lists of a segment whose rows are written.

use kb_types::SegmentId;
use kb_types::error::Result;

use super::block::ListBlock;
use super::centroids::Centroids;
use super::layout::{CENTROIDS, LIST_BLOCKS, LIST_BYTES, LISTS, List, list_block_bytes};
use super::present::PresentRows;
use crate::container::column::{
    ColumnId, ColumnRecord, ColumnWriter, ExtentSink, MAX_ORDER, SCATTERED_ORDER,
};

/// Rows that are assigned in one step.
// 32,768 rows of 192 bytes are 6 MB: enough to share among threads, and small beside the index.
const PIECE_ROWS: usize = 1 << 15;

/// Writes centroids and lists of the rows that have a vector, into columns whose numbers are larger by `base`: those
/// of the vectors of another model. `check` is told now and then how many rows are done, of twice as many as there
/// are.
///
/// Memory: 8 bytes a row, and the bytes of [`PIECE_ROWS`] rows.
///
/// # Errors
/// [`crate::Error::Damaged`] for rows that cannot be read; what the sink and `check` say.
pub fn write(
    base: u16,
    segment: SegmentId,
    present: &PresentRows<'_>,
    centroids: &Centroids,
    threads: usize,
    sink: &mut dyn ExtentSink,
    check: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<[ColumnRecord; 3]> {
    let lists = assign(present, centroids, threads, check)?;
    let reader = present.reader();
    let dim = reader.dim();
    let column = |column: ColumnId| ColumnId(base.saturating_add(column.0));
    let width = centroids.width() as u32;
    let mut of_centroids = ColumnWriter::rows(segment, column(CENTROIDS), width, MAX_ORDER);
    let mut of_lists = ColumnWriter::rows(segment, column(LISTS), LIST_BYTES, MAX_ORDER);
    let bytes = list_block_bytes(dim);
    let mut of_blocks = ColumnWriter::rows(segment, column(LIST_BLOCKS), bytes, SCATTERED_ORDER);
    let mut block = ListBlock::new(dim);
    let mut row_bytes = vec![0i8; centroids.width()];
    let (mut first_block, mut done) = (0, 0);
    let mut buffer = Vec::new();
    for (centroid, rows) in centroids.rows().zip(lists.iter()) {
        buffer.clear();
        buffer.extend(centroid.iter().map(|byte| byte.cast_unsigned()));
        of_centroids.push(sink, &buffer)?;
        let mut squared = 0u64;
        let mut blocks = 0;
        for number in rows {
            reader.signed_row(*number, &mut row_bytes)?;
            squared += block.push(*number, &row_bytes, centroid, dim as usize);
            if block.is_full() {
                of_blocks.push(sink, block.bytes())?;
                block.clear();
                blocks += 1;
            }
        }
        if !block.is_empty() {
            of_blocks.push(sink, block.bytes())?;
            block.clear();
            blocks += 1;
        }
        let count = rows.len() as u32;
        let mean = squared.checked_div(u64::from(count)).unwrap_or(0);
        let list = List {
            first_block,
            rows: count,
            radius: mean.isqrt() as u32,
        };
        of_lists.push(sink, &list.to_bytes())?;
        first_block += blocks;
        done += u64::from(count);
        check(u64::from(present.count()) + done)?;
    }
    Ok([
        of_centroids.finish(sink)?,
        of_lists.finish(sink)?,
        of_blocks.finish(sink)?,
    ])
}

/// The rows of each list, ascending.
struct Lists {
    /// Where the rows of each list end.
    ends: Vec<u32>,
    rows: Vec<u32>,
}

impl Lists {
    fn iter(&self) -> impl Iterator<Item = &[u32]> {
        let starts = std::iter::once(&0).chain(&self.ends);
        starts.zip(&self.ends).map(|(start, end)| {
            let rows = self.rows.get(*start as usize..*end as usize);
            rows.unwrap_or_default()
        })
    }
}

/// Assigns all rows with a vector to their nearest centroid.
fn assign(
    present: &PresentRows<'_>,
    centroids: &Centroids,
    threads: usize,
    check: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<Lists> {
    let count = present.count() as usize;
    let width = centroids.width();
    let mut nearest = vec![0u32; count];
    let mut piece = Vec::with_capacity(PIECE_ROWS.min(count) * width);
    let mut row_bytes = vec![0i8; width];
    let mut done = 0u32;
    let mut left = present.iter();
    for nearest in nearest.chunks_mut(PIECE_ROWS) {
        piece.clear();
        for row in left.by_ref().take(nearest.len()) {
            present.reader().signed_row(row, &mut row_bytes)?;
            piece.extend(row_bytes.iter().map(|byte| byte.cast_unsigned()));
        }
        centroids.nearest(&piece, nearest, threads);
        done += nearest.len() as u32;
        check(u64::from(done))?;
    }
    let mut ends = vec![0u32; centroids.count()];
    for list in &nearest {
        if let Some(end) = ends.get_mut(*list as usize) {
            *end += 1;
        }
    }
    let mut sum = 0;
    for end in &mut ends {
        // Where the list begins, until its rows are in place.
        sum += std::mem::replace(end, sum);
    }
    let mut rows = vec![0u32; count];
    for (row, list) in present.iter().zip(&nearest) {
        if let Some(next) = ends.get_mut(*list as usize)
            && let Some(place) = rows.get_mut(*next as usize)
        {
            *place = row;
            *next += 1;
        }
    }
    Ok(Lists { ends, rows })
}
