//! The columns of a trigram index.

use crate::container::column::ColumnId;

/// Column of the units: the first chunk row of each, u32.
pub const UNITS: ColumnId = ColumnId(48);
/// Column of the dictionary: rows of [`BLOCK_ROW_BYTES`], one a block of lists.
pub const BLOCKS: ColumnId = ColumnId(49);
/// Column of the lists: blocks of them, by ascending trigram.
pub const LISTS: ColumnId = ColumnId(50);

/// Bytes of a row of column units.
pub const UNIT_ROW_BYTES: u32 = 4;

/// Bytes of a row of column blocks: first trigram u32, bytes of the block u32, its position u64.
pub const BLOCK_ROW_BYTES: u32 = 16;

/// A unit is closed with the line in which it has so many bytes. The trigrams of 73 MB of source code and manuals take
/// .073 of it with 16 KiB; by the entropy of the lists 12 KiB would take .09 and 24 KiB .06. What may match is decoded
/// unit by unit.
pub const UNIT_BYTES: usize = 16 << 10;

/// A segment with less text has no trigrams: for 1 MiB the trigrams alone, without their lists, take .05 of it, and all of it is
/// searched in a millisecond.
pub const LEAST_TEXT_BYTES: u64 = 1 << 20;
