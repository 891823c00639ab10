//! Vectors: rows are padded with zeros, and their codes are their signs, or their lists have each once.

use crate::check::deep::context::Context;
use crate::check::problems::Problems;
use crate::container::BoundColumn;
use crate::error::Result;
use crate::index::vector::reader::Reader;
use crate::index::vector::{CENTROIDS, CODES, LIST_BLOCKS, LISTS, ROWS};

/// Reads all rows and codes of vectors of a segment; names the first that is wrong.
///
/// # Errors
/// Those that tell nothing about the file.
pub(super) fn check(context: &Context<'_>, problems: &mut Problems) -> Result<()> {
    let read = context.column(ROWS).and_then(|rows| {
        let record = &context.segment.records.vectors;
        if record.lists == 0 {
            let codes = context.column(CODES)?;
            return Reader::new(record, rows.view(), Some(codes.view()), None)?.check();
        }
        let lists = [
            context.column(CENTROIDS)?,
            context.column(LISTS)?,
            context.column(LIST_BLOCKS)?,
        ];
        let lists = lists.each_ref().map(BoundColumn::view);
        Reader::new(record, rows.view(), None, Some(lists))?.check()
    });
    let place = || format!("vectors of {}", context.location());
    problems.unless_damaged(place, read).map(|_| ())
}
