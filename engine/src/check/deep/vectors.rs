//! Vectors: rows are padded with zeros, and their codes are their signs.

use crate::check::deep::context::Context;
use crate::check::problems::Problems;
use crate::error::Result;
use crate::index::vector::reader::Reader;
use crate::index::vector::{CODES, ROWS};

/// Reads all rows and codes of vectors of a segment; names the first that is wrong.
///
/// # Errors
/// Those that tell nothing about the file.
pub(super) fn check(context: &Context<'_>, problems: &mut Problems) -> Result<()> {
    let read = context.column(ROWS).and_then(|rows| {
        let codes = context.column(CODES)?;
        let record = &context.segment.records.vectors;
        Reader::new(record, rows.view(), codes.view())?.check()
    });
    let place = || format!("vectors of {}", context.location());
    problems.unless_damaged(place, read).map(|_| ())
}
