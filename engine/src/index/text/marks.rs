//! Where the words of a query stand in a text.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::tokenize::Analyser;
use super::words::Words;

/// Bits for every pair of bytes.
const PAIR_WORDS: usize = (1 << 16) / 64;

/// The terms of a query, made once to be looked for in many texts.
#[derive(Debug, Clone)]
pub struct TermSet {
    /// Number of each term.
    numbers: FxHashMap<Box<str>, usize>,
    /// The pairs of bytes that a word or a part may begin with, in lower case, if it gives one of
    /// the terms: pair `a`, `b` is bit `256 a + b`.
    pairs: Vec<u64>,
}

impl TermSet {
    /// Terms as the analyser gives them, numbered from 0 in their order; of equal ones the first
    /// counts.
    pub fn new<'t>(terms: impl IntoIterator<Item = &'t str>) -> TermSet {
        let mut set = TermSet {
            numbers: FxHashMap::default(),
            pairs: vec![0; PAIR_WORDS],
        };
        for (number, term) in terms.into_iter().enumerate() {
            set.numbers.entry(term.into()).or_insert(number);
            match *term.as_bytes() {
                [] => {}
                [first] => (0..=u8::MAX).for_each(|second| set.add_pair(first, second)),
                [first, second, ..] => {
                    set.add_pair(first, second);
                    // The stemmer keeps the first two letters of a word, but for dying, lying and
                    // tying, which become die, lie and tie.
                    if second == b'i' {
                        set.add_pair(first, b'y');
                    }
                }
            }
        }
        set
    }

    /// Whether there is no term.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    fn add_pair(&mut self, first: u8, second: u8) {
        let pair = usize::from(first) << 8 | usize::from(second);
        if let Some(word) = self.pairs.get_mut(pair / 64) {
            *word |= 1 << (pair % 64);
        }
    }

    #[inline]
    fn has_pair(&self, first: u8, second: u8) -> bool {
        let pair = usize::from(first) << 8 | usize::from(second);
        let word = self.pairs.get(pair / 64).copied().unwrap_or(0);
        word >> (pair % 64) & 1 == 1
    }

    /// Whether a word may give one of the terms. What is not ASCII may: its case and composition
    /// are not known here.
    #[inline]
    fn may_give(&self, word: &[u8]) -> bool {
        // A part begins at the start of the word, after `_`, at a capital letter, and where digits
        // begin or end.
        let mut before = b'_';
        let mut rest = word.iter().copied().peekable();
        while let Some(byte) = rest.next() {
            let begins = before == b'_'
                || byte.is_ascii_uppercase()
                || byte.is_ascii_digit()
                || before.is_ascii_digit();
            // At the end of the word any pair will do: a term of one byte has all.
            let second = rest.peek().map_or(0, u8::to_ascii_lowercase);
            if !byte.is_ascii() || begins && self.has_pair(byte.to_ascii_lowercase(), second) {
                return true;
            }
            before = byte;
        }
        false
    }
}

impl Analyser {
    /// Calls `each` with the number of a term and the bytes of `text` it came from, for each term
    /// of `text` that is in the set, as [`Analyser::analyse`] gives them: in the order of the
    /// words, a whole identifier before its parts.
    ///
    /// Words whose first letters are those of no term are passed over: some nanoseconds a word.
    pub fn marks(
        &mut self,
        text: &str,
        terms: &TermSet,
        mut each: impl FnMut(usize, Range<usize>),
    ) {
        if terms.is_empty() {
            return;
        }
        self.forget_if_full();
        let mut words = Words::new(text);
        while let Some(word) = words.next() {
            if terms.may_give(word.bytes) {
                self.terms_of(&word, |term, range| {
                    if let Some(number) = terms.numbers.get(term) {
                        each(*number, range);
                    }
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Marks by analysing the whole text and looking every term up.
    fn expected(text: &str, terms: &[String]) -> Vec<(usize, Range<usize>)> {
        let mut found = Vec::new();
        Analyser::new().analyse(text, |term, range| {
            if let Some(number) = terms.iter().position(|there| there == term) {
                found.push((number, range));
            }
        });
        found
    }

    fn marked(text: &str, terms: &[String]) -> Vec<(usize, Range<usize>)> {
        let set = TermSet::new(terms.iter().map(String::as_str));
        let mut found = Vec::new();
        Analyser::new().marks(text, &set, |number, range| found.push((number, range)));
        found
    }

    fn terms_of(text: &str) -> Vec<String> {
        let mut terms = Vec::new();
        Analyser::new().analyse(text, |term, _| terms.push(term.to_owned()));
        terms
    }

    #[test]
    fn words_that_the_stemmer_changes_most_are_found() {
        let text = "dying lying tying skis skies idly gently ugly early only singly sky cry cried \
            crying y yes YES Yellow bY8x utf8 8bit x_y fX __init__ HTTPServer2Go _private \
            \u{212a}elvin \u{130}stanbul caf\u{e9} cafe\u{301} \u{4e2d}\u{6587}\u{5b57} news \
            inning proceed succeeded exceeding generically communication arsenal";
        let terms = terms_of(text);
        assert!(terms.iter().any(|term| term == "die"));
        for term in &terms {
            let one = [term.clone()];
            assert_eq!(marked(text, &one), expected(text, &one), "{term}");
        }
        assert_eq!(marked(text, &terms), expected(text, &terms));
        assert_eq!(marked(text, &[]), []);
    }

    proptest! {
        #[test]
        fn marks_are_those_of_the_whole_analysis(
            words in prop::collection::vec(
                prop_oneof![
                    4 => "[a-z]{1,8}(ing|ed|ies|y|ly|ness|ations)?",
                    3 => "[a-zA-Z0-9_]{1,12}",
                    1 => "[aeiouyY]{1,4}[a-z]{0,3}",
                    1 => "\\PC{1,4}",
                ],
                1..60,
            ),
            chosen in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        ) {
            let text = words.join(" ");
            let all = terms_of(&text);
            prop_assume!(!all.is_empty());
            let terms: Vec<String> = chosen.iter().map(|i| i.get(&all).clone()).collect();
            prop_assert_eq!(marked(&text, &terms), expected(&text, &terms));
        }
    }
}
