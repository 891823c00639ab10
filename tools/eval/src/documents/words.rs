//! Compares two texts by their common words, in any order and in order.

use std::collections::HashMap;

use unicode_normalization::UnicodeNormalization;

/// The words of a text: runs of letters, digits and `_`, lower-cased after NFKC.
pub(super) fn words(text: &str) -> Vec<String> {
    let text = text.nfkc().collect::<String>().to_lowercase();
    let is_in_word = |c: char| c.is_alphanumeric() || c == '_';
    let words = text.split(|c| !is_in_word(c));
    words
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// The letters and digits of a heading or title, lower-cased after NFKC: numbering marks and the kind of
/// white space are not compared.
pub(super) fn letters_and_digits(text: &str) -> String {
    let text = text.nfkc().collect::<String>().to_lowercase();
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

/// How often each word is there.
fn bag(words: &[String]) -> HashMap<&str, usize> {
    let mut bag = HashMap::new();
    for word in words {
        *bag.entry(word.as_str()).or_insert(0) += 1;
    }
    bag
}

/// What two bags of words have in common.
#[derive(Debug, Clone, Default)]
pub(super) struct Overlap {
    /// Words of ours, of the oracle, of both.
    pub(super) ours: usize,
    pub(super) oracle: usize,
    pub(super) both: usize,
    /// Words of the oracle that ours lacks, with how often, most frequent first.
    pub(super) missing: Vec<(String, usize)>,
    /// Words of ours that the oracle lacks.
    pub(super) extra: Vec<(String, usize)>,
}

impl Overlap {
    /// Compares two texts.
    pub(super) fn of(ours: &[String], oracle: &[String]) -> Overlap {
        let (our_bag, oracle_bag) = (bag(ours), bag(oracle));
        let both = our_bag
            .iter()
            .map(|(word, count)| (*count).min(oracle_bag.get(word).copied().unwrap_or(0)))
            .sum();
        Overlap {
            ours: ours.len(),
            oracle: oracle.len(),
            both,
            missing: surplus(&oracle_bag, &our_bag),
            extra: surplus(&our_bag, &oracle_bag),
        }
    }

    /// The harmonic mean of precision and recall; 1 for two texts without words.
    pub(super) fn f1(&self) -> f64 {
        ratio(2 * self.both, self.ours + self.oracle)
    }

    /// The share of the words of the oracle.
    pub(super) fn recall(&self) -> f64 {
        ratio(self.both, self.oracle)
    }
}

/// What `bag` has more of than `other`.
fn surplus(bag: &HashMap<&str, usize>, other: &HashMap<&str, usize>) -> Vec<(String, usize)> {
    let mut surplus: Vec<(String, usize)> = bag
        .iter()
        .filter_map(|(word, count)| {
            let more = count.saturating_sub(other.get(word).copied().unwrap_or(0));
            (more > 0).then(|| ((*word).to_owned(), more))
        })
        .collect();
    surplus.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    surplus
}

/// `part / whole`; 1 when there is nothing.
pub(super) fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 {
        1.0
    } else {
        part as f64 / whole as f64
    }
}

/// Twice the longest common subsequence of the words over their number, 1 for two texts without words.
///
/// Bit-parallel (Hyyro, "Bit-parallel LCS-length computation revisited", 2004), where only the blocks that
/// hold an occurrence of the word, and those that its carry reaches, are touched.
pub(super) fn sequence_ratio(ours: &[String], oracle: &[String]) -> f64 {
    let mut occurrences: HashMap<&str, Vec<(usize, u64)>> = HashMap::new();
    for (position, word) in oracle.iter().enumerate() {
        let (block, bit) = (position / 64, 1 << (position % 64));
        let blocks = occurrences.entry(word).or_default();
        match blocks.last_mut() {
            Some((last, mask)) if *last == block => *mask |= bit,
            _ => blocks.push((block, bit)),
        }
    }
    let mut row = vec![u64::MAX; oracle.len().div_ceil(64)];
    for word in ours {
        let Some(blocks) = occurrences.get(word.as_str()) else {
            continue;
        };
        let (mut carry, mut next) = (false, 0);
        for &(block, mask) in blocks {
            // The carry of the block before goes on through blocks without an occurrence.
            while carry && next < block {
                carry = add(&mut row, next, 0, carry);
                next += 1;
            }
            carry = add(&mut row, block, mask, carry && next == block);
            next = block + 1;
        }
        while carry && next < row.len() {
            carry = add(&mut row, next, 0, carry);
            next += 1;
        }
    }
    let positions = oracle.len();
    let common = (0..positions)
        .filter(|at| {
            row.get(at / 64)
                .is_some_and(|block| block >> (at % 64) & 1 == 0)
        })
        .count();
    ratio(2 * common, ours.len() + positions)
}

/// One block of `V = (V + (V & M)) | (V & !M)`; gives the carry.
fn add(row: &mut [u64], at: usize, mask: u64, carry: bool) -> bool {
    let Some(block) = row.get_mut(at) else {
        return false;
    };
    let before = *block;
    let (sum, first) = before.overflowing_add(before & mask);
    let (sum, second) = sum.overflowing_add(u64::from(carry));
    *block = sum | (before & !mask);
    first || second
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> Vec<String> {
        words(text)
    }

    #[test]
    fn words_are_compared_after_nfkc_and_lower_case() {
        assert_eq!(list("\u{fb01}ne  FINE-line_1"), ["fine", "fine", "line_1"]);
        assert_eq!(
            letters_and_digits("1.2  \u{c4}pfel & \u{b2}"),
            "12\u{e4}pfel2"
        );
    }

    #[test]
    fn overlap_counts_each_word_as_often_as_both_have_it() {
        let overlap = Overlap::of(&list("a a b c"), &list("a b b d"));
        assert_eq!(
            (overlap.both, overlap.f1(), overlap.recall()),
            (2, 0.5, 0.5)
        );
        assert_eq!(overlap.missing, [("b".to_owned(), 1), ("d".to_owned(), 1)]);
        assert_eq!(overlap.extra, [("a".to_owned(), 1), ("c".to_owned(), 1)]);
        assert_eq!(Overlap::of(&[], &[]).f1(), 1.0);
    }

    /// The textbook table of lengths.
    fn slow_lcs(a: &[String], b: &[String]) -> usize {
        let mut row = vec![0; b.len() + 1];
        for x in a {
            let mut diagonal = 0;
            for (at, y) in b.iter().enumerate() {
                let above = row[at + 1];
                row[at + 1] = if x == y {
                    diagonal + 1
                } else {
                    above.max(row[at])
                };
                diagonal = above;
            }
        }
        row[b.len()]
    }

    #[test]
    fn the_common_subsequence_is_that_of_the_table() {
        let mut state = 7_u64;
        let mut next = |limit: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) % limit
        };
        for round in 0..200 {
            let letters = 1 + round % 9;
            let mut text = |length: u64| -> Vec<String> {
                (0..length).map(|_| next(letters).to_string()).collect()
            };
            let (a, b) = (text(3 * round), text(2 * round));
            let expected = ratio(2 * slow_lcs(&a, &b), a.len() + b.len());
            assert_eq!(sequence_ratio(&a, &b), expected, "round {round}");
        }
    }
}
