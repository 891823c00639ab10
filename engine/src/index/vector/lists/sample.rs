//! Rows from all over some segments.

use kb_types::error::Result;

use super::present::PresentRows;
use crate::index::vector::record::stride;

/// Every n-th row with a vector of the segments, about `wanted` of them, as signed bytes. The same rows each time.
///
/// # Errors
/// [`crate::Error::Damaged`].
pub fn sample(segments: &[PresentRows<'_>], wanted: usize) -> Result<Vec<u8>> {
    let all: u64 = segments.iter().map(|rows| u64::from(rows.count())).sum();
    let width = segments
        .first()
        .map_or(64, |rows| stride(rows.reader().dim())) as usize;
    let wanted = all.min(wanted as u64);
    let mut bytes = Vec::with_capacity(wanted as usize * width);
    let mut row_bytes = vec![0i8; width];
    let mut first = 0u64;
    let mut number = 0u64;
    let place = |number: u64| number.saturating_mul(all).checked_div(wanted);
    for rows in segments {
        let end = first + u64::from(rows.count());
        while let Some(at) = place(number).filter(|at| number < wanted && *at < end) {
            let at = u32::try_from(at.saturating_sub(first)).unwrap_or(u32::MAX);
            // There is one: `at` is below their count.
            let row = rows.nth(at).unwrap_or(u32::MAX);
            rows.reader().signed_row(row, &mut row_bytes)?;
            bytes.extend(row_bytes.iter().map(|byte| byte.cast_unsigned()));
            number += 1;
        }
        first = end;
    }
    Ok(bytes)
}
