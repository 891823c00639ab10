//! A hash table that numbers byte strings.

use std::hash::{BuildHasher, RandomState};

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Numbers distinct byte strings from 0 in the order of their first occurrence.
///
/// The hash has a secret random seed, so that no document can be crafted whose words all collide;
/// the numbers do not depend on it.
#[derive(Debug)]
pub(crate) struct Interner {
    /// All strings, concatenated.
    bytes: Vec<u8>,
    /// End of each string in `bytes`.
    ends: Vec<u32>,
    /// Open addressing with linear probing; the length is a power of two.
    slots: Vec<Slot>,
    /// Secret seed of the hash.
    seed: u64,
}

/// A slot of the hash table.
#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    /// Bits of the hash and the length, to compare before the bytes: see [`tag_of`].
    tag: u32,
    /// Number of the string plus one; 0 when the slot is free.
    number_plus_one: u32,
    /// Where the string begins in the bytes of the table.
    // In the slot and not only in the ends: a look-up reads two places in memory instead of three.
    start: u32,
}

/// Lengths from which on a tag does not tell them apart.
const LONG_BYTES: usize = 0xffff;

/// The upper bits of a hash, and the length of the string.
fn tag_of(hash: u64, len_bytes: usize) -> u32 {
    ((hash >> 32) as u32 & 0xffff_0000) | len_bytes.min(LONG_BYTES) as u32
}

/// Whether two strings are the same; most are as long as a word.
#[inline]
fn is_same(a: &[u8], b: &[u8]) -> bool {
    // A call of memcmp costs more than these few comparisons.
    if a.len() != b.len() || a.len() > 32 {
        return a == b;
    }
    let (a_words, a_rest) = a.as_chunks::<8>();
    let (b_words, b_rest) = b.as_chunks::<8>();
    let words = std::iter::zip(a_words, b_words);
    let mut differs = words.fold(0, |differs, (a, b)| {
        differs | (u64::from_ne_bytes(*a) ^ u64::from_ne_bytes(*b))
    });
    for (a, b) in std::iter::zip(a_rest, b_rest) {
        differs |= u64::from(a ^ b);
    }
    differs == 0
}

/// Slots of a new table, a power of two.
// 8 KiB: small beside one analyser's caches. The table doubles when it is half full.
const FIRST_SLOTS: usize = 1 << 10;

impl Interner {
    /// An empty table.
    pub(crate) fn new() -> Interner {
        Interner {
            bytes: Vec::new(),
            ends: Vec::new(),
            slots: vec![Slot::default(); FIRST_SLOTS],
            // The standard library's hasher keys are the only randomness that needs no dependency.
            seed: RandomState::new().hash_one(0u8),
        }
    }

    /// The number of strings.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Bytes of memory in use.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.bytes.capacity() + self.ends.capacity() * 4 + self.slots.len() * size_of::<Slot>()
    }

    /// Number of `key`, and whether it is new. Strings may add up to 4 GiB.
    #[inline]
    pub(crate) fn number(&mut self, key: &[u8]) -> (u32, bool) {
        // XXH3 is made for short keys. SipHash, the standard library's hash, is slower on them, and
        // every word of every document is hashed here.
        let hash = xxh3_64_with_seed(key, self.seed);
        let tag = tag_of(hash, key.len());
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            // `at` is masked, so the default is never used.
            let slot = self.slots.get(at).copied().unwrap_or_default();
            if slot.number_plus_one == 0 {
                return (self.insert(key, tag, at), true);
            }
            // The tag saves reading the bytes of almost every other key in the probe sequence.
            let start = slot.start as usize;
            if slot.tag == tag
                && let Some(known) = self.bytes.get(start..start + key.len())
                && is_same(known, key)
                && (key.len() < LONG_BYTES || self.get(slot.number_plus_one - 1) == key)
            {
                return (slot.number_plus_one - 1, false);
            }
            at = (at + 1) & mask;
        }
    }

    /// The string of that number; empty for a number that was not given out.
    #[inline]
    pub(crate) fn get(&self, number: u32) -> &[u8] {
        let number = number as usize;
        let start = match number.checked_sub(1) {
            Some(before) => self.ends.get(before).copied().unwrap_or(0),
            None => 0,
        };
        let end = self.ends.get(number).copied().unwrap_or(start);
        self.bytes
            .get(start as usize..end as usize)
            .unwrap_or_default()
    }

    /// Removes all strings and frees memory beyond `keep_bytes` for each array.
    pub(crate) fn clear(&mut self, keep_bytes: usize) {
        self.bytes.clear();
        // One document of unusual words must not keep its memory for the whole run.
        self.bytes.shrink_to(keep_bytes);
        self.ends.clear();
        self.ends.shrink_to(keep_bytes / 4);
        self.slots.clear();
        self.slots.shrink_to(keep_bytes / size_of::<Slot>());
        self.slots.resize(FIRST_SLOTS, Slot::default());
    }

    #[cold]
    fn insert(&mut self, key: &[u8], tag: u32, at: usize) -> u32 {
        let number = self.ends.len() as u32;
        let start = self.bytes.len() as u32;
        self.bytes.extend_from_slice(key);
        self.ends.push(self.bytes.len() as u32);
        if let Some(slot) = self.slots.get_mut(at) {
            *slot = Slot {
                tag,
                number_plus_one: number + 1,
                start,
            };
        }
        // Linear probing stays short while at most half of the slots are taken; it always ends at a
        // free slot.
        if self.ends.len() * 2 > self.slots.len() {
            self.grow();
        }
        number
    }

    fn grow(&mut self) {
        let mask = self.slots.len() * 2 - 1;
        let mut slots = vec![Slot::default(); mask + 1];
        let taken = self.slots.iter().filter(|slot| slot.number_plus_one > 0);
        for taken in taken {
            let hash = xxh3_64_with_seed(self.get(taken.number_plus_one - 1), self.seed);
            let mut at = hash as usize & mask;
            while let Some(slot) = slots.get_mut(at) {
                if slot.number_plus_one == 0 {
                    *slot = *taken;
                    break;
                }
                at = (at + 1) & mask;
            }
        }
        self.slots = slots;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_strings_share_a_number_and_others_do_not() {
        let mut interner = Interner::new();
        let keys: Vec<Vec<u8>> = (0..20_000u32)
            .map(|i| i.to_string().into_bytes())
            .chain([Vec::new()])
            .collect();
        for (i, key) in keys.iter().enumerate() {
            assert_eq!(interner.number(key), (i as u32, true));
        }
        for (i, key) in keys.iter().enumerate().rev() {
            assert_eq!(interner.number(key), (i as u32, false));
            assert_eq!(interner.get(i as u32), key);
        }
        assert_eq!(interner.len(), keys.len());
    }

    #[test]
    fn strings_that_begin_alike_are_told_apart() {
        let mut interner = Interner::new();
        let text = "x".repeat(2 * LONG_BYTES);
        let lengths = [
            0,
            1,
            7,
            8,
            9,
            31,
            32,
            33,
            LONG_BYTES - 1,
            LONG_BYTES,
            LONG_BYTES + 1,
        ];
        let keys: Vec<String> = lengths
            .iter()
            .flat_map(|len| [text[..*len].to_owned(), format!("{}y", &text[..*len])])
            .collect();
        for (number, key) in keys.iter().enumerate() {
            assert_eq!(
                interner.number(key.as_bytes()),
                (number as u32, true),
                "{}",
                key.len()
            );
        }
        for (number, key) in keys.iter().enumerate() {
            assert_eq!(interner.number(key.as_bytes()), (number as u32, false));
        }
    }

    #[test]
    fn a_cleared_table_counts_from_zero_again() {
        let mut interner = Interner::new();
        for i in 0..5000u32 {
            interner.number(&i.to_le_bytes());
        }
        interner.clear(4096);
        assert_eq!(interner.len(), 0);
        assert!(interner.memory_bytes() < 64 << 10);
        assert_eq!(interner.number(b"word"), (0, true));
        assert_eq!(interner.number(b"word"), (0, false));
    }
}
