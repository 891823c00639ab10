//! Bitmaps of rows -> one word for each block of 64 rows.

use roaring::RoaringBitmap;

use crate::container::codec::{u16_at, u32_at};
use crate::error::{Error, Result};

/// Which rows of a segment may answer.
#[derive(Debug)]
pub struct RowFilter {
    /// A bit for each row, 64 in a word, the first row lowest; none: all rows.
    words: Option<Vec<u64>>,
    /// Rows of the segment.
    rows: u32,
    /// Rows that may answer.
    count: u64,
}

impl RowFilter {
    /// The rows below `rows` that are in `filter`, or all without one, and not in `deleted`.
    ///
    /// Takes about a microsecond for each 65 536 rows.
    ///
    /// # Errors
    /// [`Error::Damaged`] when the filter has rows beyond the segment; deleted ones may.
    pub fn new(
        rows: u32,
        filter: Option<&RoaringBitmap>,
        deleted: Option<&RoaringBitmap>,
    ) -> Result<RowFilter> {
        if filter.and_then(RoaringBitmap::max) >= Some(rows) {
            return Err(Error::damaged("a filter names a row beyond the segment"));
        }
        if filter.is_none() && deleted.is_none_or(RoaringBitmap::is_empty) {
            return Ok(RowFilter {
                words: None,
                rows,
                count: u64::from(rows),
            });
        }
        let blocks = rows.div_ceil(64) as usize;
        let mut words = match filter {
            Some(filter) => expand(filter, blocks)?,
            None => vec![u64::MAX; blocks],
        };
        if let Some(deleted) = deleted {
            for (word, gone) in words.iter_mut().zip(expand(deleted, blocks)?) {
                *word &= !gone;
            }
        }
        if let Some(last) = words.last_mut()
            && !rows.is_multiple_of(64)
        {
            *last &= u64::MAX >> (64 - rows % 64);
        }
        Ok(RowFilter {
            count: words.iter().map(|word| u64::from(word.count_ones())).sum(),
            words: Some(words),
            rows,
        })
    }

    /// How many rows may answer.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The rows of block `block` that may answer.
    pub fn word(&self, block: u32) -> u64 {
        match &self.words {
            Some(words) => words.get(block as usize).copied().unwrap_or(0),
            None => match self.rows.saturating_sub(block.saturating_mul(64)) {
                0 => 0,
                rows @ 1..64 => u64::MAX >> (64 - rows),
                64.. => u64::MAX,
            },
        }
    }
}

// The library lends none of its words. Its portable form has them as they are, so a copy of that
// is the fastest way to them: walking over 57 000 scattered rows takes longer than the search.
const COOKIE_WITHOUT_RUNS: u32 = 12_346;
const COOKIE: u32 = 12_347;
const OFFSETS_FROM_CONTAINERS: usize = 4;
const ARRAY_LIMIT: usize = 4096;

/// The first `blocks` words of a bitmap.
fn expand(bitmap: &RoaringBitmap, blocks: usize) -> Result<Vec<u64>> {
    let mut bytes = Vec::with_capacity(bitmap.serialized_size());
    let written = bitmap.serialize_into(&mut bytes);
    written.map_err(|_| Error::damaged("a bitmap that cannot be written"))?;
    let mut words = vec![0u64; blocks];
    let cookie = u32_at(&bytes, 0)?;
    let (containers, flags_at) = match cookie {
        COOKIE_WITHOUT_RUNS => (u32_at(&bytes, 4)? as usize, None),
        _ if cookie & 0xffff == COOKIE => ((cookie >> 16) as usize + 1, Some(4)),
        _ => return Err(Error::damaged("a bitmap of another form")),
    };
    let heads_at = match flags_at {
        Some(at) => at + containers.div_ceil(8),
        None => 8,
    };
    let mut at = heads_at + 4 * containers;
    if flags_at.is_none() || containers >= OFFSETS_FROM_CONTAINERS {
        at += 4 * containers;
    }
    for container in 0..containers {
        let head = heads_at + 4 * container;
        let first = usize::from(u16_at(&bytes, head)?) << 16;
        let count = usize::from(u16_at(&bytes, head + 2)?) + 1;
        let is_run = flags_at
            .and_then(|flags| bytes.get(flags + container / 8))
            .is_some_and(|byte| byte >> (container % 8) & 1 == 1);
        let target = words.get_mut(first / 64..).unwrap_or_default();
        let (step, items) = match (is_run, count) {
            (true, _) => {
                at += 2;
                (4, usize::from(u16_at(&bytes, at - 2)?))
            }
            (false, ..=ARRAY_LIMIT) => (2, count),
            (false, _) => (8, 1024),
        };
        let end = at + step * items;
        let items = bytes
            .get(at..end)
            .ok_or_else(|| Error::damaged("a bitmap that is cut off"))?;
        match step {
            8 => {
                for (word, bytes) in target.iter_mut().zip(items.as_chunks::<8>().0) {
                    *word = u64::from_le_bytes(*bytes);
                }
            }
            4 => {
                for [a, b, c, d] in items.as_chunks::<4>().0 {
                    let start = usize::from(u16::from_le_bytes([*a, *b]));
                    set_run(target, start, usize::from(u16::from_le_bytes([*c, *d])));
                }
            }
            _ => {
                for row in items.as_chunks::<2>().0 {
                    let row = usize::from(u16::from_le_bytes(*row));
                    if let Some(word) = target.get_mut(row / 64) {
                        *word |= 1 << (row % 64);
                    }
                }
            }
        }
        at = end;
    }
    Ok(words)
}

/// Sets the bits `start..=start + more`.
fn set_run(words: &mut [u64], start: usize, more: usize) {
    let last = start + more;
    let blocks = start / 64..=last / 64;
    let (low, high) = (u64::MAX << (start % 64), u64::MAX >> (63 - last % 64));
    for (block, word) in words
        .iter_mut()
        .enumerate()
        .take(last / 64 + 1)
        .skip(start / 64)
    {
        let mut run = u64::MAX;
        if block == *blocks.start() {
            run &= low;
        }
        if block == *blocks.end() {
            run &= high;
        }
        *word |= run;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rows_of(allowed: &RowFilter, rows: u32) -> Vec<u32> {
        let blocks = 0..rows.div_ceil(64) + 2;
        let bits = blocks.flat_map(|block| (0..64).map(move |bit| (block, bit)));
        bits.filter(|(block, bit)| allowed.word(*block) >> bit & 1 == 1)
            .map(|(block, bit)| block * 64 + bit)
            .collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn words_have_the_rows_of_the_bitmaps(
            rows in 0u32..400_000,
            keep in prop::option::of(prop_oneof![Just(0u64), Just(1), Just(30), Just(99), Just(100)]),
            gone in prop::option::of(prop_oneof![Just(0u64), Just(1), Just(50), Just(100)]),
            run in prop_oneof![Just(1u32), 1u32..100_000],
            optimise in any::<bool>(),
            seed in any::<u64>(),
        ) {
            let some = |share: u64, salt: u64, end: u32| -> RoaringBitmap {
                let random = |row: u32| {
                    (u64::from(row / run) ^ seed ^ salt).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40
                };
                let mut rows: RoaringBitmap =
                    (0..end).filter(|row| random(*row) % 100 < share).collect();
                if optimise {
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
