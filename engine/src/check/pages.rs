//! Names of tables -> segments.

use crate::container::extent::segment_table_name;
use crate::types::SegmentId;

/// The segment whose extents a table holds.
pub(super) fn segment_of(table: &str) -> Option<SegmentId> {
    let digits = table.strip_prefix("seg/")?;
    let number = u32::from_str_radix(digits, 16).ok().map(SegmentId)?;
    (segment_table_name(number) == table).then_some(number)
}
