//! Vectors: rows are padded with zeros, and their codes are their signs, or their lists have each row with a vector once.

use kb_types::error::{Error, Result};

use crate::catalog::{BoundSegment, BoundVectors};
use crate::check::deep::context::Context;
use crate::check::problems::Problems;
use crate::index::vector::lists::check::check as check_index;
use crate::index::vector::lists::present::PresentRows;

/// Reads all rows and codes of vectors of a segment; names the first that is wrong.
///
/// # Errors
/// Those that tell nothing about the file.
pub(super) fn check(
    context: &Context<'_>,
    bound: &BoundSegment<'_>,
    problems: &mut Problems,
) -> Result<()> {
    let read = bound
        .vectors()
        .and_then(|reader| check_index(&PresentRows::all(reader)));
    let place = || format!("vectors of {}", context.location());
    problems.unless_damaged(place, read)?;
    for of_column in bound.all_more_vectors() {
        let number = of_column.index.number;
        let place = || format!("column of vectors {number} of {}", context.location());
        problems.unless_damaged(place, check_more(of_column))?;
    }
    Ok(())
}

/// Vectors of another model: also, rows of chunks without a vector are zeros.
fn check_more(vectors: &BoundVectors<'_>) -> Result<()> {
    let (index, reader) = (vectors.index, vectors.reader()?);
    check_index(&PresentRows::some(reader, &index.present))?;
    for row in 0..index.record.rows {
        let is_present = index.present.contains(row);
        let norm = reader.norm(row)?;
        let is_zero = norm == 0.0 && reader.row(row)?.iter().all(|byte| *byte == 0);
        if !is_present && !is_zero {
            return Err(Error::damaged(format!(
                "row {row} has a vector, which its segment does not say"
            )));
        }
    }
    Ok(())
}
