//! Stored bitmaps of the rows of a segment: roaring bitmaps in the portable format.

use roaring::RoaringBitmap;

use crate::error::{Error, Result};

/// Decodes a bitmap. `what` names it in errors.
///
/// # Errors
/// [`Error::Damaged`] when the bytes do not decode.
pub fn decode(what: &str, bytes: &[u8]) -> Result<RoaringBitmap> {
    RoaringBitmap::deserialize_from(bytes)
        .map_err(|error| Error::damaged(format!("{what}: {error}")))
}

/// Decodes a bitmap of rows of a segment that has `rows` rows.
///
/// # Errors
/// [`Error::Damaged`] when the bytes do not decode or name rows beyond the segment: some hundred KB
/// of runs over all 2^32 rows would take 512 MB once they are joined with other rows.
pub fn decode_below(what: &str, bytes: &[u8], rows: u32) -> Result<RoaringBitmap> {
    let bitmap = decode(what, bytes)?;
    match bitmap.max() {
        Some(last) if last >= rows => Err(Error::damaged(format!(
            "{what} names row {last}, the segment has {rows}"
        ))),
        _ => Ok(bitmap),
    }
}
