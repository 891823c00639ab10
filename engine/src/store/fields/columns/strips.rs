//! Strips: the keys of up to 512 slots, one bit of all of them after the other.
//!
//! ```text
//! strip     base u64, width u8, then `width` slices, that of the highest bit first
//! slice     one bit a slot, low bits first, up to whole bytes
//! key       the base plus the number that the bits of the slot make
//! ```
//!
//! A comparison reads the slices from the highest bit on, 64 slots at a time, and ends where no slot is left whose
//! higher bits are those of the number that is asked for (O'Neil and Quass 1997, "Improved query performance with
//! variant indexes": bit-sliced index).

use std::ops::RangeInclusive;

use kb_types::error::{Error, Result};

use crate::container::codec::{u8_at, u64_at};

/// Slots of a strip; the last one of a block may have less.
pub const STRIP_SLOTS: usize = 512;

/// One bit for each slot of a strip.
pub(crate) type Bits = [u64; STRIP_SLOTS / 64];

/// Bytes before the slices.
const HEAD_BYTES: usize = 9;

/// Appends the strip of some keys, at most [`STRIP_SLOTS`].
pub(crate) fn put(keys: &[u64], bytes: &mut Vec<u8>) {
    let base = keys.iter().copied().min().unwrap_or(0);
    let largest = keys.iter().copied().max().unwrap_or(0);
    let width = 64 - (largest - base).leading_zeros();
    bytes.extend(base.to_le_bytes());
    // At most 64.
    bytes.push(u8::try_from(width).unwrap_or(64));
    let mut slice = vec![0u8; keys.len().div_ceil(8)];
    for bit in (0..width).rev() {
        slice.fill(0);
        for (key, slot) in keys.iter().zip(0usize..) {
            if let Some(byte) = slice.get_mut(slot / 8) {
                *byte |= u8::from((key - base) >> bit & 1 == 1) << (slot % 8);
            }
        }
        bytes.extend(&slice);
    }
}

/// A strip over its bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Strip<'a> {
    base: u64,
    /// Largest number above the base that the slices can hold.
    span: u64,
    width: usize,
    slots: usize,
    slices: &'a [u8],
}

impl<'a> Strip<'a> {
    /// Reads a strip of so many slots, and gives what is behind it.
    ///
    /// # Errors
    /// [`Error::Damaged`] for a width of more than 64 bits, keys beyond the largest, and bytes that end early.
    pub(crate) fn take(bytes: &'a [u8], slots: usize) -> Result<(Strip<'a>, &'a [u8])> {
        let (base, width) = (u64_at(bytes, 0)?, u8_at(bytes, 8)?);
        let span = match width {
            0 => 0,
            1..=64 => u64::MAX >> (64 - width),
            _ => return Err(Error::damaged("a strip of keys of more than 64 bits")),
        };
        let width = usize::from(width);
        let len = HEAD_BYTES + width * slots.div_ceil(8);
        let Some((strip, behind)) = bytes.split_at_checked(len) else {
            return Err(Error::damaged("a strip of keys ends early"));
        };
        let slices = strip.get(HEAD_BYTES..).unwrap_or_default();
        let slots = slots.min(STRIP_SLOTS);
        Ok((
            Strip {
                base,
                span,
                width,
                slots,
                slices,
            },
            behind,
        ))
    }

    /// All slots.
    pub(crate) fn all(&self) -> Bits {
        let mut all = [0; STRIP_SLOTS / 64];
        for (word, first) in all.iter_mut().zip((0..).step_by(64)) {
            *word = match self.slots.saturating_sub(first) {
                0 => 0,
                left @ 1..=63 => (1 << left) - 1,
                _ => u64::MAX,
            };
        }
        all
    }

    /// Adds the slots whose keys are in a range to `found`.
    pub(crate) fn find(&self, keys: &RangeInclusive<u64>, found: &mut Bits) {
        let first = keys.start().saturating_sub(self.base);
        let Some(last) = keys.end().checked_sub(self.base) else {
            return;
        };
        if first > self.span || first > last {
            return;
        }
        let is_above = first > 0;
        let is_below = last < self.span;
        let within = match (is_above, is_below) {
            (true, true) if first == last => self.equal(first),
            (true, true) => and_not(self.at_least(first), &self.at_least(last + 1)),
            (true, false) => self.at_least(first),
            (false, true) => and_not(self.all(), &self.at_least(last + 1)),
            (false, false) => self.all(),
        };
        for ((found, within), all) in found.iter_mut().zip(within).zip(self.all()) {
            *found |= within & all;
        }
    }

    /// The key of each slot.
    pub(crate) fn keys(&self) -> Vec<u64> {
        let mut keys = vec![0u64; self.slots];
        for slice in self.slices() {
            for (key, slot) in keys.iter_mut().zip(0usize..) {
                let word = slice.get(slot / 64).copied().unwrap_or(0);
                *key = *key << 1 | (word >> (slot % 64) & 1);
            }
        }
        for key in &mut keys {
            *key = key.saturating_add(self.base);
        }
        keys
    }

    fn slices(&self) -> impl Iterator<Item = Bits> {
        // A width of 0 has no slices, and no slots none either.
        let len = self.slots.div_ceil(8).max(1);
        self.slices.chunks_exact(len).take(self.width).map(words)
    }

    /// The slots with this number above the base.
    fn equal(&self, number: u64) -> Bits {
        match self.whole_slices() {
            Some(slices) => equal(slices.map(whole_words), self.width, number),
            None => equal(self.slices(), self.width, number),
        }
    }

    /// The slots with at least this number above the base.
    fn at_least(&self, number: u64) -> Bits {
        match self.whole_slices() {
            Some(slices) => at_least(slices.map(whole_words), self.width, number),
            None => at_least(self.slices(), self.width, number),
        }
    }

    /// The slices of a strip in which no slot is missing. Nearly all strips are such: the compiler turns comparisons of
    /// eight words into vector instructions.
    fn whole_slices(&self) -> Option<impl Iterator<Item = &'a [u8; STRIP_SLOTS / 8]>> {
        let slices = self.slices.as_chunks().0.iter();
        (self.slots == STRIP_SLOTS).then(|| slices.take(self.width))
    }
}

#[inline]
fn equal(slices: impl Iterator<Item = Bits>, width: usize, number: u64) -> Bits {
    let mut equal = [u64::MAX; STRIP_SLOTS / 64];
    for (slice, bit) in slices.zip((0..width).rev()) {
        // All ones where the bit is 0.
        let flip = (number >> bit & 1).wrapping_sub(1);
        let mut left = 0;
        for (equal, slice) in equal.iter_mut().zip(slice) {
            *equal &= slice ^ flip;
            left |= *equal;
        }
        if left == 0 {
            break;
        }
    }
    equal
}

#[inline]
fn at_least(slices: impl Iterator<Item = Bits>, width: usize, number: u64) -> Bits {
    let mut equal = [u64::MAX; STRIP_SLOTS / 64];
    let mut above = [0; STRIP_SLOTS / 64];
    for (slice, bit) in slices.zip((0..width).rev()) {
        let flip = (number >> bit & 1).wrapping_sub(1);
        let mut left = 0;
        for ((equal, above), slice) in equal.iter_mut().zip(&mut above).zip(slice) {
            *above |= *equal & slice & flip;
            *equal &= slice ^ flip;
            left |= *equal;
        }
        if left == 0 {
            break;
        }
    }
    for (above, equal) in above.iter_mut().zip(equal) {
        *above |= equal;
    }
    above
}

#[inline]
fn whole_words(slice: &[u8; STRIP_SLOTS / 8]) -> Bits {
    let mut bits = [0; STRIP_SLOTS / 64];
    for (word, bytes) in bits.iter_mut().zip(slice.as_chunks::<8>().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    bits
}

fn and_not(mut bits: Bits, others: &Bits) -> Bits {
    for (bits, others) in bits.iter_mut().zip(others) {
        *bits &= !others;
    }
    bits
}

/// The bits of a slice, with zeros up to the length of a strip.
pub(crate) fn words(slice: &[u8]) -> Bits {
    let mut bits = [0; STRIP_SLOTS / 64];
    let (whole, rest) = slice.as_chunks::<8>();
    for (word, bytes) in bits.iter_mut().zip(whole) {
        *word = u64::from_le_bytes(*bytes);
    }
    if let Some(word) = bits.get_mut(whole.len()) {
        for (byte, at) in rest.iter().zip((0..).step_by(8)) {
            *word |= u64::from(*byte) << at;
        }
    }
    bits
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn slots_of(bits: &Bits) -> Vec<usize> {
        let slots = 0..STRIP_SLOTS;
        slots
            .filter(|slot| bits[slot / 64] >> (slot % 64) & 1 == 1)
            .collect()
    }

    fn key() -> impl Strategy<Value = u64> {
        prop_oneof![
            0..4u64,
            1_000_000..1_000_900u64,
            any::<u64>(),
            Just(u64::MAX)
        ]
    }

    proptest! {
        #[test]
        fn slots_in_a_range_are_those_of_a_plain_comparison(
            keys in prop_oneof![
                prop::collection::vec(key(), 1..=STRIP_SLOTS),
                prop::collection::vec(500..600u64, 1..=STRIP_SLOTS),
            ],
            ranges in prop::collection::vec((key(), key(), any::<bool>()), 1..8),
        ) {
            let mut bytes = Vec::new();
            put(&keys, &mut bytes);
            bytes.push(7);
            let (strip, behind) = Strip::take(&bytes, keys.len()).unwrap();
            prop_assert_eq!(behind, &[7]);
            prop_assert_eq!(strip.keys(), keys.clone());
            prop_assert_eq!(slots_of(&strip.all()).len(), keys.len());
            let stored = keys.iter().map(|key| *key..=*key);
            let asked = ranges.iter().map(|(a, b, ordered)| match ordered {
                true => *a.min(b)..=*a.max(b),
                false => *a..=*b,
            });
            for range in asked.chain(stored) {
                let mut found = Bits::default();
                strip.find(&range, &mut found);
                let expected: Vec<usize> =
                    (0..keys.len()).filter(|slot| range.contains(&keys[*slot])).collect();
                prop_assert_eq!(slots_of(&found), expected, "{:?}", range);
            }
        }
    }

    #[test]
    fn strips_that_lie_are_refused_or_bounded() {
        let mut bytes = Vec::new();
        put(&[5, 9, 9], &mut bytes);
        assert!(Strip::take(&bytes[..bytes.len() - 1], 3).is_err());
        let mut wide = bytes.clone();
        wide[8] = 65;
        assert!(Strip::take(&wide, 3).is_err());
        // A base so high that keys have no room above it.
        let mut high = bytes;
        high[..8].fill(0xff);
        let (strip, _) = Strip::take(&high, 3).unwrap();
        assert_eq!(strip.keys(), [u64::MAX; 3]);
        let mut found = Bits::default();
        strip.find(&(0..=u64::MAX), &mut found);
    }
}
