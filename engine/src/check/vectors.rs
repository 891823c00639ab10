//! Vectors: rows are padded with zeros, and their sums are stored beside them.

use crate::check::deep::Context;
use crate::check::problems::Problems;
use crate::check::rows::column;
use crate::container::codec::i32_column;
use crate::container::column::ColumnView;
use crate::error::{Error, Result};
use crate::index::vector::{ROW_SUMS, ROWS};

/// Reads all rows of vectors of a segment; names the first that is wrong.
///
/// # Errors
/// Those that tell nothing about the file.
pub(super) fn check(context: &Context<'_>, problems: &mut Problems) -> Result<()> {
    let record = &context.segment.records.vectors;
    let (dim, stride) = (record.dim as usize, record.stride as usize);
    let read = column(context, ROWS).and_then(|rows| {
        let sums = column(context, ROW_SUMS)?;
        let sums = all_sums(sums.view())?;
        let view = rows.view();
        let mut sums = sums.into_iter();
        let mut row = 0u64;
        for number in 0..view.extents() {
            let (_, payload) = view.extent(number)?;
            for bytes in payload.chunks_exact(stride.max(1)) {
                check_row(bytes, dim, sums.next())
                    .map_err(|what| Error::damaged(format!("row {row} {what}")))?;
                row += 1;
            }
        }
        match row == u64::from(context.segment.rows()) && sums.next().is_none() {
            true => Ok(()),
            false => Err(Error::damaged("rows and sums are not as many as chunks")),
        }
    });
    let place = || format!("vectors of {}", context.place());
    problems.unless_damaged(place, read).map(|_| ())
}

/// Four bytes a row.
fn all_sums(view: ColumnView<'_>) -> Result<Vec<i32>> {
    let mut sums = Vec::new();
    for number in 0..view.extents() {
        sums.extend(i32_column(view.extent(number)?.1)?);
    }
    Ok(sums)
}

fn check_row(bytes: &[u8], dim: usize, sum: Option<i32>) -> std::result::Result<(), &'static str> {
    let (numbers, padding) = bytes.split_at_checked(dim).ok_or("is too short")?;
    if padding.iter().any(|byte| *byte != 0) {
        return Err("is not padded with zeros");
    }
    let signed = numbers.iter().map(|byte| byte.cast_signed());
    if signed.clone().any(|number| number == i8::MIN) {
        return Err("has a number below -127");
    }
    let is: i32 = signed.map(i32::from).sum();
    match sum == Some(is) {
        true => Ok(()),
        false => Err("has another sum"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_its_sum_and_zeros_behind_its_numbers() {
        let mut row = [0u8; 64];
        row[..3].copy_from_slice(&[1, 0xff, 5]);
        assert_eq!(check_row(&row, 3, Some(5)), Ok(()));
        assert_eq!(check_row(&row, 3, Some(6)), Err("has another sum"));
        assert_eq!(check_row(&row, 3, None), Err("has another sum"));
        assert_eq!(check_row(&row, 65, Some(5)), Err("is too short"));
        row[63] = 1;
        assert_eq!(check_row(&row, 3, Some(5)), Err("is not padded with zeros"));
        row[1] = 0x80;
        let told = check_row(&row, 64, Some(-121));
        assert_eq!(told, Err("has a number below -127"));
    }
}
