//! Ascending numbers as bits: each gap in Rice code (Golomb 1966, Rice 1979), within 5 % of the entropy of random
//! lists.
//!
//! A gap, less one, is its quotient by 2^k in unary (so many ones, then a zero) and its remainder in k bits. The first
//! number counts as a gap from -1. Bits fill bytes from the least significant up.

use kb_types::error::{Error, Result};

/// ln 2 in units of 2^-16.
const LN_2: u64 = 45_426;

/// The parameter for `count` of `universe` numbers: the logarithm of the mean gap times ln 2, in whole numbers, so that
/// it is the same on every machine.
fn parameter(universe: u32, count: u32) -> u32 {
    // The best parameter for geometric gaps is log2 of their mean times ln 2 (Golomb 1966).
    let gap = u64::from(universe) * LN_2 / (u64::from(count.max(1)) << 16);
    gap.checked_ilog2().unwrap_or(0)
}

/// Appends the code of ascending numbers below `universe`.
pub(crate) fn encode(universe: u32, numbers: &[u32], bytes: &mut Vec<u8>) {
    let k = parameter(universe, u32::try_from(numbers.len()).unwrap_or(u32::MAX));
    let (mut buffer, mut filled) = (0u64, 0u32);
    let mut put = |value: u64, count: u32| {
        buffer |= value << filled;
        filled += count;
        // `filled` stays below 8 between calls, so 33 more bits always fit the u64.
        while filled >= 8 {
            bytes.push(buffer as u8);
            buffer >>= 8;
            filled -= 8;
        }
        (buffer, filled)
    };
    let mut next = 0;
    let mut rest = (0, 0);
    for number in numbers {
        let gap = number.saturating_sub(next);
        next = number.saturating_add(1);
        let mut ones = gap >> k;
        while ones >= 32 {
            put(u64::from(u32::MAX), 32);
            ones -= 32;
        }
        put((1 << ones) - 1, ones + 1);
        rest = put(u64::from(gap & ((1 << k) - 1)), k);
    }
    if rest.1 > 0 {
        bytes.push(rest.0 as u8);
    }
}

/// The numbers of a code at the start of some bytes, and how many bytes it takes.
///
/// # Errors
/// [`Error::Damaged`] where it ends before `count` numbers, or one is not below `universe`.
pub(crate) fn decode(universe: u32, count: u32, bytes: &[u8]) -> Result<(Vec<u32>, usize)> {
    let k = parameter(universe, count);
    let damaged = || Error::damaged("a list of units does not decode");
    // Each number takes at least a bit. Before the vector is allocated: a count from a file can be
    // anything.
    if u64::from(count) > bytes.len() as u64 * 8 {
        return Err(damaged());
    }
    let mut bits = BitReader {
        bytes: bytes.iter(),
        buffer: 0,
        filled: 0,
        taken: 0,
    };
    let mut numbers = Vec::with_capacity(count as usize);
    let mut next = 0u32;
    for _ in 0..count {
        let quotient = bits.ones().ok_or_else(damaged)?;
        let remainder = bits.take(k).ok_or_else(damaged)?;
        // A shift can lose bits without an error; the inverse shift shows it.
        let gap = quotient.checked_shl(k).filter(|gap| gap >> k == quotient);
        let gap = gap.and_then(|gap| gap.checked_add(remainder));
        let number = gap.and_then(|gap| next.checked_add(gap));
        let number = number
            .filter(|number| *number < universe)
            .ok_or_else(damaged)?;
        numbers.push(number);
        next = number + 1;
    }
    Ok((numbers, bits.taken.div_ceil(8)))
}

struct BitReader<'b> {
    bytes: std::slice::Iter<'b, u8>,
    buffer: u64,
    filled: u32,
    /// Bits taken so far.
    taken: usize,
}

impl BitReader<'_> {
    /// Fills the buffer as far as there are bytes.
    fn fill(&mut self) {
        while self.filled <= 56
            && let Some(byte) = self.bytes.next()
        {
            self.buffer |= u64::from(*byte) << self.filled;
            self.filled += 8;
        }
    }

    /// How many ones come before the next zero, both read.
    fn ones(&mut self) -> Option<u32> {
        let mut count = 0u32;
        loop {
            self.fill();
            if self.filled == 0 {
                return None;
            }
            let ones = self.buffer.trailing_ones().min(self.filled);
            count = count.checked_add(ones)?;
            if ones < self.filled {
                self.skip(ones + 1);
                return Some(count);
            }
            self.skip(ones);
        }
    }

    /// The next `count` bits, fewer than 32.
    fn take(&mut self, count: u32) -> Option<u32> {
        self.fill();
        if self.filled < count {
            return None;
        }
        let value = self.buffer & ((1 << count) - 1);
        self.skip(count);
        u32::try_from(value).ok()
    }

    fn skip(&mut self, count: u32) {
        self.buffer = self.buffer.checked_shr(count).unwrap_or(0);
        self.filled -= count;
        self.taken += count as usize;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn code(universe: u32, numbers: &[u32]) -> Vec<u8> {
        let mut bytes = Vec::new();
        encode(universe, numbers, &mut bytes);
        bytes
    }

    #[test]
    fn lists_of_every_density_come_back() {
        for universe in [1, 2, 7, 64, 1000, 100_000] {
            for step in [1, 2, 3, 10, 999, 50_000] {
                let numbers: Vec<u32> = (0..universe).step_by(step).collect();
                let bytes = code(universe, &numbers);
                let read = decode(universe, numbers.len() as u32, &bytes).unwrap();
                assert_eq!(read, (numbers, bytes.len()), "{universe} {step}");
            }
            let last = [universe - 1];
            assert_eq!(decode(universe, 1, &code(universe, &last)).unwrap().0, last);
        }
    }

    #[test]
    fn random_lists_take_few_bits_more_than_their_entropy() {
        let universe = 10_000u32;
        for share in [0.4, 0.1, 0.01, 0.001] {
            let mut state = 7u64;
            let mut random = || {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                (state >> 33) as f64 / f64::from(1u32 << 31)
            };
            let numbers: Vec<u32> = (0..universe).filter(|_| random() < share).collect();
            let p = numbers.len() as f64 / f64::from(universe);
            let entropy = -(p * p.log2() + (1.0 - p) * (1.0 - p).log2()) * f64::from(universe);
            let bits = code(universe, &numbers).len() as f64 * 8.0;
            assert!(bits < entropy * 1.1 + 16.0, "{share}: {bits} of {entropy}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_decode_or_are_refused(
            universe in 0u32..5000,
            count in 0u32..5000,
            bytes in prop::collection::vec(any::<u8>(), 0..200),
        ) {
            if let Ok((numbers, taken)) = decode(universe, count, &bytes) {
                prop_assert_eq!(numbers.len(), count as usize);
                prop_assert!(taken <= bytes.len());
                prop_assert!(numbers.is_sorted_by(|a, b| a < b));
                prop_assert!(numbers.iter().all(|number| *number < universe));
            }
        }

        #[test]
        fn any_set_comes_back(set in prop::collection::btree_set(0u32..3000, 0..500)) {
            let numbers: Vec<u32> = set.into_iter().collect();
            let bytes = code(3000, &numbers);
            let read = decode(3000, numbers.len() as u32, &bytes).unwrap();
            prop_assert_eq!(read, (numbers, bytes.len()));
        }
    }
}
