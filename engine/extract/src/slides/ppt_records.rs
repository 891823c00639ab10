//! Records of PowerPoint 97-2003: a header of eight bytes, then data or more records. After [MS-PPT].

use crate::package::little_endian::{place_at, stretch, u16_at};

const HEADER_BYTES: usize = 8;
/// The version that marks records of records.
const CONTAINER: u16 = 0xF;

#[derive(Debug, Clone, Copy)]
pub(super) struct Record<'a> {
    pub(super) kind: u16,
    pub(super) instance: u16,
    pub(super) is_container: bool,
    pub(super) data: &'a [u8],
}

impl<'a> Record<'a> {
    /// The record at a place; one that says it is longer than what is there ends with it.
    pub(super) fn at(bytes: &'a [u8], place: usize) -> Option<Record<'a>> {
        let version = u16_at(bytes, place)?;
        let kind = u16_at(bytes, place.checked_add(2)?)?;
        let length = place_at(bytes, place.checked_add(4)?)?;
        Some(Record {
            kind,
            instance: version >> 4,
            is_container: version & 0xF == CONTAINER,
            data: stretch(bytes, place.checked_add(HEADER_BYTES)?, length),
        })
    }

    /// The records in this one.
    pub(super) fn records(&self) -> Records<'a> {
        records(self.data)
    }
}

/// The records in `bytes`, one after the other.
pub(super) fn records(bytes: &[u8]) -> Records<'_> {
    Records { bytes, at: 0 }
}

pub(super) struct Records<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Records<'_> {
    /// Where the next record begins.
    pub(super) fn place(&self) -> usize {
        self.at
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Record<'a>;

    fn next(&mut self) -> Option<Record<'a>> {
        let record = Record::at(self.bytes, self.at)?;
        self.at += HEADER_BYTES + record.data.len();
        Some(record)
    }
}
