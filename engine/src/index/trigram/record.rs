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

/// Text bytes from which on a unit ends, with the line that reaches them.
// The trigrams of 73 MB of source code and manuals take 0.073 of it with 16 KiB. By the entropy of
// the lists 12 KiB would take 0.09 and 24 KiB 0.06. Larger units mean more text to decode for each
// possible match.
pub(crate) const UNIT_BYTES: usize = 16 << 10;

/// Least text of a segment with trigrams, in bytes. Smaller segments are searched whole.
// Searching 1 MiB takes a millisecond, and its trigrams alone, without their lists, would take 0.05
// of it (docs/decisions/14-regular-expressions.md).
pub(crate) const LEAST_TEXT_BYTES: u64 = 1 << 20;
