//! A set of rows as one bit per row, the form in which indexes test rows and filters collect them.

use std::ops::Range;

use kb_types::error::{Error, Result};
use roaring::RoaringBitmap;

/// Rows of a block, which is one `u64`.
const BLOCK_ROWS: u32 = 64;

/// Rows of a stretch, for which is known whether any is set.
// 512 bits are one cache line.
pub(crate) const STRETCH_ROWS: u32 = 512;

/// Blocks of one container of a roaring bitmap: 2^16 rows.
const CONTAINER_BLOCKS: usize = (1 << 16) / BLOCK_ROWS as usize;

/// Most rows of a container that is written as a list.
// These and the numbers below are those of the portable format of roaring bitmaps.
const LIST_ROWS: usize = 4096;

/// First four bytes of a bitmap that has no containers of runs.
const COOKIE_WITHOUT_RUNS: u32 = 12_346;

/// First two bytes of a bitmap that has some; the next two are the number of containers less one.
const COOKIE_WITH_RUNS: u32 = 12_347;

/// A bitmap with runs and fewer containers than this has no offsets.
const OFFSETS_FROM: usize = 4;

/// One bit for each row of a segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BitSet {
    /// Row 64 i + b is bit b of block i.
    blocks: Vec<u64>,
}

impl BitSet {
    /// The rows below `rows` that are in `bitmap`.
    ///
    /// The library iterates row by row, about a nanosecond each, but serializes whole blocks in the
    /// portable format (Lemire et al. 2018, "Roaring bitmaps: implementation of an optimized
    /// software library"; <https://github.com/RoaringBitmap/RoaringFormatSpec>). So the bitmap is
    /// serialized and those bytes are read: half the rows of 100,000 take some microseconds
    /// instead of sixty.
    ///
    /// # Errors
    /// [`Error::Damaged`] when the library does not write that format.
    pub(crate) fn from_roaring(bitmap: &RoaringBitmap, rows: u32) -> Result<BitSet> {
        let mut bits = BitSet::none(rows);
        if !bitmap.is_empty() {
            let mut written = Vec::with_capacity(bitmap.serialized_size());
            let readable = bitmap.serialize_into(&mut written).is_ok();
            if !readable || bits.read(&written).is_none() {
                return Err(Error::damaged("a bitmap of rows cannot be read"));
            }
        }
        // Whole blocks were written, and a forged bitmap may name rows beyond the segment.
        bits.clear_from(rows);
        Ok(bits)
    }

    /// None of the rows below `rows`.
    pub(crate) fn none(rows: u32) -> BitSet {
        BitSet {
            blocks: vec![0; (rows as usize).div_ceil(BLOCK_ROWS as usize)],
        }
    }

    /// All rows below `rows`.
    pub(crate) fn all(rows: u32) -> BitSet {
        let blocks = (rows as usize).div_ceil(BLOCK_ROWS as usize);
        let mut bits = BitSet {
            blocks: vec![u64::MAX; blocks],
        };
        bits.clear_from(rows);
        bits
    }

    /// Clears the bits of the last block at or above `rows`.
    pub(crate) fn clear_from(&mut self, rows: u32) {
        if let (Some(last), 1..) = (self.blocks.last_mut(), rows % BLOCK_ROWS) {
            *last &= (1 << (rows % BLOCK_ROWS)) - 1;
        }
    }

    /// Sets the rows of a bitmap in the portable format; `None` when the bytes are not one. Rows
    /// beyond the last block are ignored.
    fn read(&mut self, mut bytes: &[u8]) -> Option<()> {
        let cookie = take_u32(&mut bytes)?;
        let with_runs = cookie & 0xffff == COOKIE_WITH_RUNS;
        let containers = if with_runs {
            (cookie >> 16) as usize + 1
        } else if cookie == COOKIE_WITHOUT_RUNS {
            take_u32(&mut bytes)? as usize
        } else {
            return None;
        };
        let runs = bytes.split_off(..if with_runs { containers.div_ceil(8) } else { 0 })?;
        let heads = bytes.split_off(..containers.checked_mul(4)?)?;
        if !with_runs || containers >= OFFSETS_FROM {
            bytes.split_off(..containers.checked_mul(4)?)?;
        }
        for (number, head) in heads.as_chunks::<4>().0.iter().enumerate() {
            let [a, b, c, d] = *head;
            let key = usize::from(u16::from_le_bytes([a, b]));
            let len = usize::from(u16::from_le_bytes([c, d])) + 1;
            let is_run = runs
                .get(number / 8)
                .is_some_and(|byte| byte >> (number % 8) & 1 == 1);
            // A container beyond the last row has no blocks, and its rows are dropped.
            let start = self.blocks.len().min(key * CONTAINER_BLOCKS);
            let blocks = self.blocks.get_mut(start..)?;
            if is_run {
                let len = usize::from(take_u16(&mut bytes)?);
                for run in bytes.split_off(..len * 4)?.as_chunks::<4>().0 {
                    let [a, b, c, d] = *run;
                    let first = usize::from(u16::from_le_bytes([a, b]));
                    let more = usize::from(u16::from_le_bytes([c, d]));
                    set_run(blocks, first, first + more);
                }
            } else if len <= LIST_ROWS {
                for row in bytes.split_off(..len * 2)?.as_chunks::<2>().0 {
                    let row = u16::from_le_bytes(*row);
                    if let Some(block) = blocks.get_mut(usize::from(row) / 64) {
                        *block |= 1 << (row % 64);
                    }
                }
            } else {
                let stored = bytes.split_off(..CONTAINER_BLOCKS * 8)?.as_chunks::<8>().0;
                for (block, stored) in blocks.iter_mut().zip(stored) {
                    *block = u64::from_le_bytes(*stored);
                }
            }
        }
        Some(())
    }

    /// Adds neighbouring rows, none beyond the last one that may be set.
    pub(crate) fn insert_range(&mut self, rows: Range<u32>) {
        if let (Ok(first), Some(last)) = (usize::try_from(rows.start), rows.end.checked_sub(1))
            && rows.start <= last
        {
            set_run(&mut self.blocks, first, last as usize);
        }
    }

    /// Adds a row that may be set.
    #[inline]
    pub(crate) fn insert(&mut self, row: u32) {
        if let Some(block) = self.blocks.get_mut((row / BLOCK_ROWS) as usize) {
            *block |= 1 << (row % BLOCK_ROWS);
        }
    }

    /// Adds the rows of some blocks, from block `first` on. The caller clears what lies beyond the last row.
    #[inline]
    pub(crate) fn insert_blocks(&mut self, first: usize, blocks: &[u64]) {
        for (block, more) in self.blocks.iter_mut().skip(first).zip(blocks) {
            *block |= more;
        }
    }

    /// The rows as a bitmap.
    pub(crate) fn to_roaring(&self) -> RoaringBitmap {
        // An iterator over all bytes would take several times as long.
        let mut bytes = Vec::with_capacity(self.blocks.len() * 8);
        for block in &self.blocks {
            bytes.extend_from_slice(&block.to_le_bytes());
        }
        RoaringBitmap::from_lsb0_bytes(0, &bytes)
    }

    /// How many stretches up to each have a row that is set.
    pub(crate) fn count_stretches(&self) -> Vec<u32> {
        let stretches = self.blocks.chunks((STRETCH_ROWS / BLOCK_ROWS) as usize);
        let mut count = 0;
        let counts = stretches.map(|blocks| {
            count += u32::from(blocks.iter().fold(0, |all, block| all | block) != 0);
            count
        });
        counts.collect()
    }

    /// Removes the rows of another set.
    pub(crate) fn remove(&mut self, others: &BitSet) {
        for (block, other) in self.blocks.iter_mut().zip(&others.blocks) {
            *block &= !other;
        }
    }

    /// The bits of 64 rows, the first row lowest; 0 beyond the last row.
    #[inline]
    pub(crate) fn block(&self, number: u32) -> u64 {
        self.blocks.get(number as usize).copied().unwrap_or(0)
    }

    /// The number of rows in the set.
    pub(crate) fn len(&self) -> u64 {
        let blocks = self.blocks.iter();
        blocks.map(|block| u64::from(block.count_ones())).sum()
    }

    /// Whether the row is in the set.
    #[inline]
    pub(crate) fn contains(&self, row: u32) -> bool {
        let block = self.blocks.get((row / BLOCK_ROWS) as usize);
        block.is_some_and(|block| block >> (row % BLOCK_ROWS) & 1 == 1)
    }

    /// The blocks of the rows from `start`, a multiple of 64, to `end`, rounded up.
    fn within(&self, start: u32, end: u32) -> &[u64] {
        let end = self.blocks.len().min(end.div_ceil(BLOCK_ROWS) as usize);
        let blocks = self.blocks.get((start / BLOCK_ROWS) as usize..end);
        blocks.unwrap_or_default()
    }

    /// The number of rows from `start`, a multiple of 64, to `end`, a multiple of 64 or the number
    /// of rows of the segment.
    pub(crate) fn count(&self, start: u32, end: u32) -> u32 {
        let blocks = self.within(start, end).iter();
        blocks.map(|block| block.count_ones()).sum()
    }

    /// Appends those rows.
    pub(crate) fn rows_within(&self, start: u32, end: u32, rows: &mut Vec<u32>) {
        for (block, first) in self
            .within(start, end)
            .iter()
            .zip((start..).step_by(BLOCK_ROWS as usize))
        {
            let mut rest = *block;
            while rest != 0 {
                rows.push(first + rest.trailing_zeros());
                rest &= rest - 1;
            }
        }
    }
}

/// Sets the bits from `first` to `last`.
fn set_run(blocks: &mut [u64], first: usize, last: usize) {
    let (from, to) = (first / 64, last / 64);
    for (number, block) in blocks.iter_mut().enumerate().take(to + 1).skip(from) {
        let mut mask = u64::MAX;
        if number == from {
            mask &= u64::MAX << (first % 64);
        }
        if number == to {
            mask &= u64::MAX >> (63 - last % 64);
        }
        *block |= mask;
    }
}

fn take_u16(bytes: &mut &[u8]) -> Option<u16> {
    let (taken, rest) = bytes.split_first_chunk::<2>()?;
    *bytes = rest;
    Some(u16::from_le_bytes(*taken))
}

fn take_u32(bytes: &mut &[u8]) -> Option<u32> {
    let (taken, rest) = bytes.split_first_chunk::<4>()?;
    *bytes = rest;
    Some(u32::from_le_bytes(*taken))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn bits_are_the_rows_of_the_bitmap(
            ranges in prop::collection::vec((0u32..400_000, 1u32..90_000, 1u32..40), 0..6),
            rows in 0u32..350_000,
            optimize in any::<bool>(),
            gone in prop::collection::vec(0u32..400_000, 0..50),
        ) {
            let mut bitmap = RoaringBitmap::new();
            for (first, len, step) in ranges {
                bitmap.extend((first..first + len).step_by(step as usize));
            }
            if optimize {
                bitmap.optimize();
            }
            let gone: RoaringBitmap = gone.into_iter().collect();
            let mut bits = BitSet::from_roaring(&bitmap, rows).unwrap();
            bits.remove(&BitSet::from_roaring(&gone, rows).unwrap());
            bitmap -= gone;
            for row in 0..rows + 200 {
                prop_assert_eq!(bits.contains(row), row < rows && bitmap.contains(row));
            }
            let mut again = BitSet::none(rows);
            let (mut run, below) = (0..0, bitmap.range(..rows));
            for row in below {
                if row == run.end {
                    run.end += 1;
                } else {
                    again.insert_range(run);
                    run = row..row + 1;
                }
            }
            again.insert_range(run);
            prop_assert!(again == bits);
            let mut below = bitmap.clone();
            below.remove_range(rows..);
            prop_assert!(again.to_roaring() == below);
            let mut all = BitSet::all(rows);
            prop_assert_eq!(all.count(0, rows), rows);
            all.remove(&bits);
            for start in (0..rows).step_by(4096) {
                let end = rows.min(start + 4096);
                let mut found = Vec::new();
                bits.rows_within(start, end, &mut found);
                let expected: Vec<u32> = bitmap.range(start..end).collect();
                prop_assert_eq!(bits.count(start, end) as usize, expected.len());
                prop_assert_eq!(all.count(start, end), end - start - expected.len() as u32);
                prop_assert_eq!(found, expected);
            }
        }
    }
}
