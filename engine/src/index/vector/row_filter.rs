//! Which rows of a segment may answer a query: a block of 64 bits for 64 rows.

use kb_types::error::{Error, Result};
use roaring::RoaringBitmap;

use crate::bitset::{BitSet, STRETCH_ROWS};

/// Which rows of a segment may answer.
#[derive(Debug)]
pub(crate) struct RowFilter {
    /// The rows; `None`: all of them.
    bits: Option<BitSet>,
    /// Rows of the segment.
    rows: u32,
    /// Rows that may answer.
    count: u64,
    /// How many stretches up to each have one of them; empty without a filter.
    stretches: Vec<u32>,
}

impl RowFilter {
    /// The rows below `rows` that are in `filter`, or all without one, and not in `deleted`.
    ///
    /// Takes about a microsecond for each 65 536 rows.
    ///
    /// # Errors
    /// [`Error::Damaged`] when the filter has rows beyond the segment; deleted ones may.
    pub(crate) fn new(
        rows: u32,
        filter: Option<&RoaringBitmap>,
        deleted: Option<&RoaringBitmap>,
    ) -> Result<RowFilter> {
        // Filters are made by this program from the same segment. A row beyond it means that the
        // two belong to different commits.
        if filter.and_then(RoaringBitmap::max) >= Some(rows) {
            return Err(Error::damaged("a filter names a row beyond the segment"));
        }
        let deleted = deleted.filter(|deleted| !deleted.is_empty());
        let mut bits = match (filter, deleted) {
            (Some(filter), _) => BitSet::from_roaring(filter, rows)?,
            (None, Some(_)) => BitSet::all(rows),
            (None, None) => {
                return Ok(RowFilter {
                    bits: None,
                    rows,
                    count: u64::from(rows),
                    stretches: Vec::new(),
                });
            }
        };
        if let Some(deleted) = deleted {
            bits.remove(&BitSet::from_roaring(deleted, rows)?);
        }
        Ok(RowFilter {
            count: match (filter, deleted) {
                (Some(filter), None) => filter.len(),
                _ => bits.len(),
            },
            stretches: filter.map(|_| bits.count_stretches()).unwrap_or_default(),
            bits: Some(bits),
            rows,
        })
    }

    /// The number of rows that may answer.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Whether all rows of the segment may answer.
    pub(crate) fn is_all(&self) -> bool {
        self.bits.is_none()
    }

    /// How many rows there are around those that may answer: those of the stretches that have one.
    pub(crate) fn room(&self) -> u64 {
        let stretches = self.stretches.last().copied().map(u64::from);
        let all = u64::from(self.rows);
        stretches.map_or(all, |some| all.min(some * u64::from(STRETCH_ROWS)))
    }

    /// Whether rows are left out for another reason than that they are deleted.
    pub(crate) fn is_filtered(&self) -> bool {
        !self.stretches.is_empty()
    }

    /// Whether surely none of the rows from `first` to `last` may answer. Takes some nanoseconds.
    #[inline]
    pub(crate) fn has_none(&self, first: u32, last: u32) -> bool {
        let upto = |stretch: u32| self.stretches.get(stretch as usize).copied();
        let before = (first / STRETCH_ROWS).checked_sub(1).map_or(Some(0), upto);
        before.is_some() && before == upto(last / STRETCH_ROWS)
    }

    /// Whether a row may answer.
    #[inline]
    pub(crate) fn contains(&self, row: u32) -> bool {
        self.block(row / 64) >> (row % 64) & 1 == 1
    }

    /// The rows of a block of 64 that may answer, the first row in the lowest bit.
    pub(crate) fn block(&self, block: u32) -> u64 {
        match &self.bits {
            Some(bits) => bits.block(block),
            None => match self.rows.saturating_sub(block.saturating_mul(64)) {
                0 => 0,
                rows @ 1..64 => u64::MAX >> (64 - rows),
                64.. => u64::MAX,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rows_of(filter: &RowFilter, rows: u32) -> Vec<u32> {
        let blocks = 0..rows.div_ceil(64) + 2;
        let bits = blocks.flat_map(|block| (0..64).map(move |bit| (block, bit)));
        bits.filter(|(block, bit)| filter.block(*block) >> bit & 1 == 1)
            .map(|(block, bit)| block * 64 + bit)
            .collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn blocks_have_the_rows_of_the_bitmaps(
            rows in 0u32..400_000,
            keep in prop::option::of(prop_oneof![Just(0u64), Just(1), Just(30), Just(99), Just(100)]),
            gone in prop::option::of(prop_oneof![Just(0u64), Just(1), Just(50), Just(100)]),
            run in prop_oneof![Just(1u32), 1u32..100_000],
            optimize in any::<bool>(),
            seed in any::<u64>(),
        ) {
            let some = |share: u64, salt: u64, end: u32| -> RoaringBitmap {
                let random = |row: u32| {
                    (u64::from(row / run) ^ seed ^ salt).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40
                };
                let mut rows: RoaringBitmap =
                    (0..end).filter(|row| random(*row) % 100 < share).collect();
                if optimize {
                    rows.optimize();
                }
                rows
            };
            let filter = keep.map(|share| some(share, 1, rows));
            let deleted = gone.map(|share| some(share, 2, rows + 1000));
            let allowed = RowFilter::new(rows, filter.as_ref(), deleted.as_ref()).unwrap();
            let expected: Vec<u32> = (0..rows)
                .filter(|row| filter.as_ref().is_none_or(|rows| rows.contains(*row)))
                .filter(|row| deleted.as_ref().is_none_or(|rows| !rows.contains(*row)))
                .collect();
            prop_assert_eq!(allowed.count(), expected.len() as u64);
            prop_assert!(rows_of(&allowed, rows) == expected);
            for start in (0..rows).step_by(1111) {
                let end = start + seed as u32 % 5000;
                let is_in = |row: &&u32| (start..=end).contains(*row);
                if allowed.has_none(start, end) {
                    prop_assert_eq!(expected.iter().find(is_in), None);
                }
                let last = (end / STRETCH_ROWS + 1) * STRETCH_ROWS;
                let around = start / STRETCH_ROWS * STRETCH_ROWS..last;
                let is_near = expected.iter().any(|row| around.contains(row));
                prop_assert!(is_near || filter.is_none() || end >= rows || allowed.has_none(start, end));
            }
        }
    }

    #[test]
    fn a_filter_with_rows_beyond_the_segment_is_refused() {
        let filter: RoaringBitmap = [3, 10].into_iter().collect();
        assert!(RowFilter::new(10, Some(&filter), None).is_err());
        assert_eq!(RowFilter::new(11, Some(&filter), None).unwrap().count(), 2);
        assert_eq!(RowFilter::new(10, None, Some(&filter)).unwrap().count(), 9);
        assert!(RowFilter::new(0, Some(&RoaringBitmap::new()), None).is_ok());
    }
}
