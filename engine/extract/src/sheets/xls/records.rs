//! The records of a stream.

use crate::package::little_endian::u16_at;

/// Kinds of records that tell where a workbook begins, how it is locked, and where a sheet lies.
pub(super) const BEGIN: u16 = 0x809;
pub(super) const FILE_PASS: u16 = 0x2F;
pub(super) const BOUND_SHEET: u16 = 0x85;

/// A record.
pub(super) struct Record<'s> {
    pub(super) kind: u16,
    pub(super) data: &'s [u8],
}

/// The records from the start of `stream` on; one that is cut short has what there is of it.
pub(super) fn records(stream: &[u8]) -> impl Iterator<Item = Record<'_>> {
    let mut rest = stream;
    std::iter::from_fn(move || {
        let kind = u16_at(rest, 0)?;
        let length = usize::from(u16_at(rest, 2)?);
        let (_, body) = rest.split_at_checked(4)?;
        let (data, behind) = body.split_at(length.min(body.len()));
        rest = behind;
        Some(Record { kind, data })
    })
}
