//! Loops over whole blocks and windows, in which a keyword search spends most of its time.
//!
//! Each has a reference in plain Rust, which runs everywhere, and a form for AVX2, chosen at run
//! time. Both do the same operations in the same order on each number, so their results are equal
//! to the bit.

use crate::index::keyword::bm25::Bm25Weight;
use crate::index::keyword::postings::encoding::BLOCK_POSTINGS;

/// Scores a block of postings: the units of each frequency and length.
#[inline]
pub(crate) fn score(
    scorer: &Bm25Weight,
    frequencies: &[u32],
    lengths: &[f32; BLOCK_POSTINGS],
    units: &mut [i32; BLOCK_POSTINGS],
) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2, the only requirement of the function.
        return unsafe { score_avx2(scorer, frequencies, lengths, units) };
    }
    score_any(scorer, frequencies, lengths, units);
}

#[inline(always)]
fn score_any(
    scorer: &Bm25Weight,
    frequencies: &[u32],
    lengths: &[f32; BLOCK_POSTINGS],
    units: &mut [i32; BLOCK_POSTINGS],
) {
    // A loop over exactly one block has no remainder.
    if let Some(frequencies) = frequencies.first_chunk::<BLOCK_POSTINGS>() {
        score_each(scorer, frequencies, lengths, units);
    } else {
        score_each(scorer, frequencies, lengths, units);
    }
}

#[inline(always)]
fn score_each(scorer: &Bm25Weight, frequencies: &[u32], lengths: &[f32], units: &mut [i32]) {
    for ((units, frequency), length) in units.iter_mut().zip(frequencies).zip(lengths) {
        *units = scorer.units(*frequency, *length);
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn score_avx2(
    scorer: &Bm25Weight,
    frequencies: &[u32],
    lengths: &[f32; BLOCK_POSTINGS],
    units: &mut [i32; BLOCK_POSTINGS],
) {
    score_any(scorer, frequencies, lengths, units);
}

/// Writes index and value of each number above `limit` to the start of `found`, which has as many
/// slots as there are numbers; returns how many.
#[inline]
pub(crate) fn above(numbers: &[i32], limit: i32, found: &mut [(u32, i32)]) -> usize {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2, the only requirement of the function.
        return unsafe { above_avx2(numbers, limit, found) };
    }
    above_any(numbers, limit, found)
}

fn above_any(numbers: &[i32], limit: i32, found: &mut [(u32, i32)]) -> usize {
    /// Numbers compared together: mostly none of them is above the limit.
    // One branch for eight numbers; eight i32 are one AVX2 register.
    const TOGETHER: usize = 8;
    let mut slots = found.iter_mut();
    let mut count = 0;
    for (some, first) in numbers.chunks(TOGETHER).zip((0..).step_by(TOGETHER)) {
        if !some
            .iter()
            .fold(false, |any, number| any | (*number > limit))
        {
            continue;
        }
        for (number, position) in some.iter().zip(first..) {
            if *number > limit
                && let Some(slot) = slots.next()
            {
                *slot = (position, *number);
                count += 1;
            }
        }
    }
    count
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn above_avx2(numbers: &[i32], limit: i32, found: &mut [(u32, i32)]) -> usize {
    use std::arch::x86_64::{
        _mm256_castsi256_ps, _mm256_cmpgt_epi32, _mm256_loadu_si256, _mm256_movemask_ps,
        _mm256_or_si256, _mm256_set1_epi32, _mm256_testz_si256,
    };
    let limits = _mm256_set1_epi32(limit);
    // Four registers share one test: in a window of 16,384 sums few exceed the threshold.
    let (groups, rest) = numbers.as_chunks::<32>();
    let mut slots = found.iter_mut();
    let mut count = 0;
    for (group, first) in groups.iter().zip((0..).step_by(32)) {
        let [a, b, c, d] = std::array::from_fn(|quarter| {
            let eight = group.as_chunks::<8>().0.get(quarter).unwrap_or(&[0; 8]);
            // SAFETY: eight numbers of 4 bytes are the 32 bytes that are read, and need no
            // alignment.
            let eight = unsafe { _mm256_loadu_si256(eight.as_ptr().cast()) };
            _mm256_cmpgt_epi32(eight, limits)
        });
        let any = _mm256_or_si256(_mm256_or_si256(a, b), _mm256_or_si256(c, d));
        if _mm256_testz_si256(any, any) == 1 {
            continue;
        }
        let bits = |eight| u32::from(_mm256_movemask_ps(_mm256_castsi256_ps(eight)) as u8);
        let mut above = bits(a) | bits(b) << 8 | bits(c) << 16 | bits(d) << 24;
        while above != 0 {
            let position = above.trailing_zeros();
            above &= above - 1;
            if let (Some(slot), Some(number)) = (slots.next(), group.get(position as usize)) {
                *slot = (first + position, *number);
                count += 1;
            }
        }
    }
    let first = (numbers.len() - rest.len()) as u32;
    for (number, position) in rest.iter().zip(first..) {
        if *number > limit
            && let Some(slot) = slots.next()
        {
            *slot = (position, *number);
            count += 1;
        }
    }
    count
}

/// The number of bytes of a prefix that [`PrefixFilter`] compares.
// Hyperscan compares up to three bytes for the same reason: each costs two shuffles, and a fourth
// rejects few positions more.
pub(crate) const PREFIX_BYTES: usize = 3;

/// Groups that prefixes share: the bits of a byte.
pub(crate) const GROUPS: usize = 8;

/// Finds positions in a text where one of some prefixes may begin; it never misses one.
///
/// Teddy, the algorithm of Hyperscan (Wang et al. 2019, "Hyperscan: A Fast Multi-pattern Regex
/// Matcher for Modern CPUs"). Prefixes share [`GROUPS`] groups, a bit each. Tables map the low and the
/// high four bits of a byte to the groups that can have it as first, second or third byte, and one
/// shuffle looks up 32 bytes.
#[derive(Debug, Clone, Default)]
pub(crate) struct PrefixFilter {
    /// For each byte of a prefix: groups by its low four bits, groups by its high four bits.
    tables: [[[u8; 16]; 2]; PREFIX_BYTES],
}

impl PrefixFilter {
    /// Adds a prefix to a group; each of its bytes is one of two. After its end any byte matches.
    pub(crate) fn add(&mut self, group: usize, prefix: impl Iterator<Item = [u8; 2]>) {
        // Two prefixes of one group may pass as a mixture of both: the filter is only a filter.
        let bit = 1u8 << (group % GROUPS);
        let mut prefix = prefix.fuse();
        for [low, high] in &mut self.tables {
            let Some(bytes) = prefix.next() else {
                low.iter_mut().for_each(|groups| *groups |= bit);
                high.iter_mut().for_each(|groups| *groups |= bit);
                continue;
            };
            for byte in bytes {
                if let Some(groups) = low.get_mut(usize::from(byte & 15)) {
                    *groups |= bit;
                }
                if let Some(groups) = high.get_mut(usize::from(byte >> 4)) {
                    *groups |= bit;
                }
            }
        }
    }

    /// The positions of a text where a prefix may begin.
    pub(crate) fn places<'f>(&'f self, text: &'f [u8]) -> Places<'f> {
        Places {
            filter: self,
            text,
            start: 0,
            end: 0,
            bits: 0,
        }
    }

    /// The first [`TOGETHER`] positions from `at` on among which a prefix may begin: the first of them, and a bit for
    /// each where one may.
    #[inline]
    fn next(&self, text: &[u8], at: usize) -> Option<(usize, u32)> {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2, the only requirement of the function.
            return unsafe { self.next_avx2(text, at) };
        }
        self.next_any(text, at)
    }

    fn next_any(&self, text: &[u8], mut at: usize) -> Option<(usize, u32)> {
        while at < text.len() {
            let rest = text.get(at..)?;
            let mut bits = 0;
            for position in 0..rest.len().min(TOGETHER) {
                let bytes = rest.get(position..).unwrap_or_default().iter();
                // No prefix goes on behind the end of the text.
                let bytes = bytes.chain(std::iter::repeat(&0));
                let tables = self.tables.iter().zip(bytes);
                let groups = tables.fold(u8::MAX, |groups, ([low, high], byte)| {
                    let low = low.get(usize::from(byte & 15)).unwrap_or(&0);
                    let high = high.get(usize::from(byte >> 4)).unwrap_or(&0);
                    groups & low & high
                });
                bits |= u32::from(groups != 0) << position;
            }
            if bits != 0 {
                return Some((at, bits));
            }
            at += TOGETHER;
        }
        None
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn next_avx2(&self, text: &[u8], mut at: usize) -> Option<(usize, u32)> {
        use std::arch::x86_64::{
            _mm256_and_si256, _mm256_cmpeq_epi8, _mm256_movemask_epi8, _mm256_setzero_si256,
        };
        let [[low, high], [low2, high2], [low3, high3]] = &self.tables;
        let first = [groups_avx2(low), groups_avx2(high)];
        let second = [groups_avx2(low2), groups_avx2(high2)];
        let third = [groups_avx2(low3), groups_avx2(high3)];
        while at < text.len() {
            let rest = text.get(at..).unwrap_or_default();
            let mut end = [0; TOGETHER + 2];
            // The third byte of the last position lies two bytes behind it, so all loads stay inside.
            let bytes = match rest.first_chunk() {
                Some(bytes) => bytes,
                None => {
                    // No prefix goes on behind the end of the text.
                    end.iter_mut().zip(rest).for_each(|(to, byte)| *to = *byte);
                    &end
                }
            };
            let both = _mm256_and_si256(
                looked_up_avx2::<0>(bytes, first),
                looked_up_avx2::<1>(bytes, second),
            );
            let all = _mm256_and_si256(both, looked_up_avx2::<2>(bytes, third));
            let none = _mm256_cmpeq_epi8(all, _mm256_setzero_si256());
            let mut some = !(_mm256_movemask_epi8(none).cast_unsigned());
            if rest.len() < TOGETHER {
                some &= (1 << rest.len()) - 1;
            }
            if some != 0 {
                return Some((at, some));
            }
            at += TOGETHER;
        }
        None
    }
}

/// Positions of a text where one of the prefixes of a filter may begin.
#[derive(Debug)]
pub(crate) struct Places<'f> {
    filter: &'f PrefixFilter,
    text: &'f [u8],
    /// The positions that `bits` is of.
    start: usize,
    end: usize,
    /// A bit for each of them where a prefix may begin.
    bits: u32,
}

impl Places<'_> {
    /// The first position from `at` on where a prefix may begin. `at` never goes down.
    #[inline]
    pub(crate) fn next_from(&mut self, at: usize) -> Option<usize> {
        let passed = u32::try_from(at.saturating_sub(self.start)).unwrap_or(u32::MAX);
        // What was looked up together is not looked up again.
        self.bits &= u32::MAX.checked_shl(passed).unwrap_or(0);
        if self.bits == 0 {
            let (start, bits) = self.filter.next(self.text, at.max(self.end))?;
            (self.start, self.end, self.bits) = (start, start + TOGETHER, bits);
        }
        Some(self.start + self.bits.trailing_zeros() as usize)
    }
}

/// Positions of a text that [`PrefixFilter`] compares together.
// Bytes of an AVX2 register.
const TOGETHER: usize = 32;

// Closures given to `map` or `from_fn` of an array do not become part of a function for AVX2, so these are
// functions.

/// The table in both 128-bit halves: a shuffle looks up within each half alone.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
fn groups_avx2(table: &[u8; 16]) -> std::arch::x86_64::__m256i {
    use std::arch::x86_64::{_mm_loadu_si128, _mm256_broadcastsi128_si256};
    // SAFETY: a table is the 16 bytes that are read, and needs no alignment.
    let table = unsafe { _mm_loadu_si128(table.as_ptr().cast()) };
    _mm256_broadcastsi128_si256(table)
}

/// The groups that can have each of the [`TOGETHER`] bytes from `AT` on, at most 2.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
fn looked_up_avx2<const AT: usize>(
    bytes: &[u8; TOGETHER + 2],
    [low, high]: [std::arch::x86_64::__m256i; 2],
) -> std::arch::x86_64::__m256i {
    use std::arch::x86_64::{
        _mm256_and_si256, _mm256_loadu_si256, _mm256_set1_epi8, _mm256_shuffle_epi8,
        _mm256_srli_epi16,
    };
    const { assert!(AT <= 2) }
    let low_bits = _mm256_set1_epi8(15);
    let from = bytes.as_ptr().wrapping_add(AT);
    // SAFETY: the array has the 32 bytes from `AT` on, which is at most 2, and they need no alignment.
    let bytes = unsafe { _mm256_loadu_si256(from.cast()) };
    let by_low = _mm256_shuffle_epi8(low, _mm256_and_si256(bytes, low_bits));
    let high_bits = _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), low_bits);
    _mm256_and_si256(by_low, _mm256_shuffle_epi8(high, high_bits))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::index::keyword::bm25::Units;

    proptest! {
        #[test]
        fn scores_are_those_of_one_posting_at_a_time(
            postings in prop::collection::vec((1u32..1 << 24, 0f32..1e6), 0..=BLOCK_POSTINGS),
            weight in 0.001f32..20.0,
            mean in 1f32..3000.0,
        ) {
            let units = Units::for_scores_up_to(f64::from(weight));
            let scorer = Bm25Weight::new(weight, units, mean, mean);
            let frequencies: Vec<u32> = postings.iter().map(|(frequency, _)| *frequency).collect();
            let mut lengths = [0.0; BLOCK_POSTINGS];
            for (slot, (_, length)) in lengths.iter_mut().zip(&postings) {
                *slot = *length;
            }
            let (mut one, mut all) = ([0; BLOCK_POSTINGS], [0; BLOCK_POSTINGS]);
            score_any(&scorer, &frequencies, &lengths, &mut one);
            score(&scorer, &frequencies, &lengths, &mut all);
            for (at, (frequency, length)) in postings.iter().enumerate() {
                prop_assert_eq!(all[at], scorer.units(*frequency, *length));
                prop_assert_eq!(one[at], all[at]);
            }
        }

        #[test]
        fn numbers_above_the_limit_are_found_in_order(
            numbers in prop::collection::vec(0i32..40, 0..600),
            limit in -1i32..40,
        ) {
            let expected: Vec<(u32, i32)> =
                (0..).zip(numbers.iter().copied()).filter(|(_, there)| *there > limit).collect();
            for look in [above, above_any] {
                let mut found = vec![(0, 0); numbers.len()];
                let count = look(&numbers, limit, &mut found);
                prop_assert_eq!(&found[..count], &expected[..]);
            }
        }

        #[test]
        fn no_place_where_a_prefix_begins_is_passed_over(
            text in prop::collection::vec(prop_oneof![9 => b'a'..=b'd', 1 => any::<u8>()], 0..140),
            prefixes in prop::collection::vec(
                prop::collection::vec(prop_oneof![4 => b'a'..=b'z', 1 => any::<u8>()], 0..5), 0..12),
            step in 1usize..50,
        ) {
            let mut bits = PrefixFilter::default();
            for (number, prefix) in prefixes.iter().enumerate() {
                let cases = prefix.iter().map(|byte| [*byte, byte.to_ascii_uppercase()]);
                bits.add(number, cases);
            }
            let begins = |at: usize| prefixes.iter().any(|prefix| {
                let rest = text[at..].iter().zip(prefix).take(PREFIX_BYTES);
                let is_whole = rest.len() == prefix.len().min(PREFIX_BYTES);
                rest.fold(is_whole, |all, (there, byte)| {
                    all && (there == byte || *there == byte.to_ascii_uppercase())
                })
            });
            let mut places = bits.places(&text);
            let mut at = 0;
            while let Some(next) = places.next_from(at) {
                prop_assert!(next >= at && next < text.len());
                let (start, here) = bits.next_any(&text, at).unwrap();
                prop_assert_eq!(start + here.trailing_zeros() as usize, next);
                prop_assert!(!(at..next).any(begins));
                // Words are passed over as a whole.
                at = next + step;
            }
            prop_assert_eq!(bits.next_any(&text, at), None);
            prop_assert!(!(at..text.len()).any(begins));
        }
    }
}
