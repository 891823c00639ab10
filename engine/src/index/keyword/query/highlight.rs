//! Finds the words of a query in a text, to highlight them.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::kernels::{GROUPS, PREFIX_BYTES, Places, PrefixFilter};
use crate::index::keyword::analysis::language::Language;
use crate::index::keyword::analysis::script_class::CharClass;
use crate::index::keyword::analysis::script_class::{is_ascii_word, single_character};
use crate::index::keyword::analysis::segmenter::{MAX_WORD_BYTES, Segmenter, Word};
use crate::index::keyword::analysis::tokenizer::Analyser;

/// The terms of a query, prepared once to be found in many texts.
#[derive(Debug, Clone)]
pub struct TermSet {
    /// Number of each term.
    numbers: FxHashMap<Box<str>, usize>,
    /// For each term the first bytes that every word with that term begins with, in either case.
    prefixes: Vec<Prefix>,
    /// The same as a filter, to skip text quickly.
    filter: PrefixFilter,
    /// A bit for each hash of the first three bytes of a prefix; all bits where a prefix has fewer.
    hashes: [u64; HASHES / 64],
    /// Terms that are single characters of scripts without spaces.
    characters: Vec<(char, usize)>,
    /// Whether a term has signs, or is one character, which may be part of a word with signs. Such
    /// words are not found by their first bytes.
    has_signs: bool,
    /// The language of the first term that is a stem of one.
    language: Option<Language>,
}

/// Up to four bytes in lower case; the first is the lowest byte.
#[derive(Debug, Clone, Copy)]
struct Prefix {
    bytes: u32,
    /// Bits of `bytes` that count.
    mask: u32,
}

/// Hashes of the first three bytes of a word.
// A query of 48 terms leaves 19 of 20 words to it that the filter lets pass; 512 bytes are copied with the set.
const HASHES: usize = 4096;

/// A hash of the first three of four bytes.
#[inline]
fn hash(first_bytes: u32) -> usize {
    // Fibonacci hashing: the upper bits of the product depend on all bits.
    ((first_bytes << 8).wrapping_mul(0x9E37_79B9) >> 20) as usize
}

/// Terms by their number in the analyser at hand, each with its number in the set.
type Wanted = Vec<(u32, usize)>;

impl TermSet {
    /// Terms of the analyser, numbered from 0; of equal ones the first counts.
    pub fn new<'t>(terms: impl IntoIterator<Item = &'t str>) -> TermSet {
        let mut set = TermSet {
            numbers: FxHashMap::default(),
            prefixes: Vec::new(),
            filter: PrefixFilter::default(),
            hashes: [0; HASHES / 64],
            characters: Vec::new(),
            has_signs: false,
            language: None,
        };
        let mut prefixes: Vec<Vec<u8>> = Vec::new();
        for (number, term) in terms.into_iter().enumerate() {
            set.numbers.entry(term.into()).or_insert(number);
            if let Some(character) = single_character(term) {
                set.characters.push((character, number));
            }
            if set.language.is_none() {
                set.language = Language::of_term(term);
            }
            let bytes = term.as_bytes();
            set.has_signs |= bytes.len() == 1
                || bytes
                    .iter()
                    .any(|byte| *byte < 0x80 && !is_ascii_word(*byte));
            // Snowball changes nothing before the last letter of the stem, which may be an `i` that
            // was `y`, or an added `e`. It does not change words of two letters.
            let kept = match bytes.len() {
                len @ 0..=2 => len,
                // Four bytes fit the u32 that is compared.
                len => (len - 1).min(4),
            };
            prefixes.push(bytes.get(..kept).unwrap_or_default().to_owned());
            // But dying, lying and tying become die, lie and tie.
            if let [first, b'i', b'e'] = *bytes {
                prefixes.push(vec![first, b'y']);
            }
        }
        // Those that begin alike share a group, so that fewer mixtures of two pass.
        prefixes.sort_unstable();
        prefixes.dedup();
        for (number, prefix) in prefixes.iter().enumerate() {
            set.add_prefix(number * GROUPS / prefixes.len(), prefix);
        }
        set
    }

    /// Calls `each` with the number and byte range of every occurrence of terms that are single
    /// characters of scripts without spaces, also within what [`Analyser::highlights`] finds.
    pub fn characters_in(&self, text: &str, mut each: impl FnMut(usize, Range<usize>)) {
        for (character, number) in &self.characters {
            for (at, found) in text.match_indices(*character) {
                each(*number, at..at + found.len());
            }
        }
    }

    /// Whether a text may have one of the terms, by the first bytes of its words: false only where it has none.
    pub fn may_occur_in(&self, text: &str) -> bool {
        let text_bytes = text.as_bytes();
        let places = &mut self.filter.places(text_bytes);
        self.has_signs || !text.is_ascii() || self.next_word(text_bytes, places, 0).is_some()
    }

    /// Whether there are no terms.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Terms are in lower case; the words in a text need not be.
    fn add_prefix(&mut self, group: usize, bytes: &[u8]) {
        let mask = first_bytes([u8::MAX; 4].get(..bytes.len()).unwrap_or_default());
        let cases = bytes.iter().take(PREFIX_BYTES);
        let cases = cases.map(|byte| [*byte, byte.to_ascii_uppercase()]);
        self.filter.add(group, cases);
        let is_short = bytes.len() < 3;
        let bytes = first_bytes(bytes);
        let hash = hash(bytes);
        for (number, bits) in self.hashes.iter_mut().enumerate() {
            if is_short {
                *bits = u64::MAX;
            } else if number == hash / 64 {
                *bits |= 1 << (hash % 64);
            }
        }
        self.prefixes.push(Prefix { bytes, mask });
    }

    /// Whether a word or part that begins with these bytes in lower case may have one of the terms.
    #[inline]
    fn has_prefix(&self, first_bytes: u32) -> bool {
        let hash = hash(first_bytes);
        let bits = self.hashes.get(hash / 64).copied().unwrap_or(u64::MAX);
        // Of a query of many terms most words are not compared with each.
        bits >> (hash % 64) & 1 == 1
            && self
                .prefixes
                .iter()
                .any(|prefix| first_bytes & prefix.mask == prefix.bytes)
    }

    /// The byte range of the next word of an ASCII text that may have one of the terms. `at` is the
    /// start of the text or the end of a word.
    #[inline]
    fn next_word(
        &self,
        text: &[u8],
        places: &mut Places<'_>,
        mut at: usize,
    ) -> Option<Range<usize>> {
        loop {
            at = places.next_from(at)?;
            if begins(text, at) && self.has_prefix(text.get(at..).map_or(0, first_bytes)) {
                let is_end = |byte: &u8| !is_ascii_word(*byte);
                // A part of an identifier may begin in the middle of a word; the whole word is
                // analysed.
                let before = text.get(..at)?.iter().rposition(is_end);
                let after = text.get(at..)?.iter().position(is_end);
                let start = before.map_or(0, |before| before + 1);
                return Some(start..after.map_or(text.len(), |after| at + after));
            }
            at += 1;
        }
    }
}

/// The first four bytes in lower case, the first one lowest; 0 for missing bytes.
#[inline]
fn first_bytes(bytes: &[u8]) -> u32 {
    let first = bytes.first_chunk().copied().unwrap_or_else(|| {
        let mut first = [0; 4];
        for (to, byte) in first.iter_mut().zip(bytes) {
            *to = *byte;
        }
        first
    });
    u32::from_le_bytes(first.map(|byte| byte.to_ascii_lowercase()))
}

/// Whether a word or a part of one may begin at a byte: after `_` or no part of a word, at a
/// capital letter, and where digits begin or end.
#[inline]
fn begins(text: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| text.get(before));
    match (before.copied(), text.get(at).copied()) {
        (Some(before), Some(byte)) => {
            is_ascii_word(byte)
                && (before == b'_'
                    || !is_ascii_word(before)
                    || byte.is_ascii_uppercase()
                    || byte.is_ascii_digit()
                    || before.is_ascii_digit())
        }
        (None, Some(byte)) => is_ascii_word(byte),
        _ => false,
    }
}

impl Analyser {
    /// Calls `each` with the number and byte range of each occurrence of the terms in `text`, in
    /// the order of [`Analyser::analyse`]: an identifier comes before its parts.
    ///
    /// In lines of ASCII, only words that begin like a term are analysed: a fraction of a
    /// nanosecond a byte.
    pub fn highlights(
        &mut self,
        text: &str,
        terms: &TermSet,
        mut each: impl FnMut(usize, Range<usize>),
    ) {
        if terms.is_empty() {
            return;
        }
        self.forget_if_full();
        // The words of a text are compared by the numbers of their terms, not letter by letter.
        let numbers = terms.numbers.iter();
        let mut wanted: Wanted = numbers
            .map(|(term, number)| (self.number_of_term(term), *number))
            .collect();
        wanted.sort_unstable();
        if terms.has_signs {
            self.set_language(terms.language);
            self.highlights_in_any(text, 0, &wanted, &mut each);
            return self.set_language(None);
        }
        if text.is_ascii() {
            return self.highlights_in_ascii(text, 0, (terms, &wanted), &mut each);
        }
        let mut start = 0;
        // No word crosses the end of a line.
        for line in text.split_inclusive('\n') {
            if line.is_ascii() {
                self.highlights_in_ascii(line, start, (terms, &wanted), &mut each);
            } else {
                self.highlights_in_any(line, start, &wanted, &mut each);
            }
            start += line.len();
        }
    }

    /// The highlights of an ASCII text that starts at byte `start`.
    fn highlights_in_ascii(
        &mut self,
        text: &str,
        start: usize,
        (terms, wanted): (&TermSet, &Wanted),
        each: &mut impl FnMut(usize, Range<usize>),
    ) {
        let text = text.as_bytes();
        let mut places = terms.filter.places(text);
        let mut at = 0;
        while let Some(range) = terms.next_word(text, &mut places, at) {
            at = range.end;
            let bytes = text.get(range.clone()).unwrap_or_default();
            if bytes.len() <= MAX_WORD_BYTES {
                let word = Word {
                    start: start + range.start,
                    bytes,
                    class: CharClass::Word,
                };
                self.highlights_of(&word, wanted, each);
            }
        }
    }

    /// The highlights of any text that starts at byte `start`.
    fn highlights_in_any(
        &mut self,
        text: &str,
        start: usize,
        wanted: &Wanted,
        each: &mut impl FnMut(usize, Range<usize>),
    ) {
        let mut words = Segmenter::new(text);
        while let Some(mut word) = words.next() {
            word.start += start;
            self.highlights_of(&word, wanted, each);
        }
    }

    fn highlights_of(
        &mut self,
        word: &Word<'_>,
        wanted: &Wanted,
        each: &mut impl FnMut(usize, Range<usize>),
    ) {
        self.numbers_of(word, |term, range| {
            let found = wanted.binary_search_by_key(&term, |(wanted, _)| *wanted);
            if let Some((_, number)) = found.ok().and_then(|at| wanted.get(at)) {
                each(*number, range);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Highlights by analysing the whole text and comparing every term.
    fn expected(text: &str, terms: &[String]) -> Vec<(usize, Range<usize>)> {
        let mut found = Vec::new();
        Analyser::new().analyse(text, |term, range| {
            if let Some(number) = terms.iter().position(|there| there == term) {
                found.push((number, range));
            }
        });
        found
    }

    fn highlighted(text: &str, terms: &[String]) -> Vec<(usize, Range<usize>)> {
        let set = TermSet::new(terms.iter().map(String::as_str));
        let mut found = Vec::new();
        Analyser::new().highlights(text, &set, |number, range| found.push((number, range)));
        found
    }

    fn terms_of(text: &str) -> Vec<String> {
        let mut terms = Vec::new();
        Analyser::new().analyse(text, |term, _| terms.push(term.to_owned()));
        terms
    }

    #[test]
    fn words_that_the_stemmer_changes_are_highlighted() {
        let text = "dying lying tying skis skies idly gently ugly early only singly sky cry cried \
            crying y yes YES Yellow bY8x utf8 8bit x_y fX __init__ HTTPServer2Go _private \
            \u{212a}elvin \u{130}stanbul caf\u{e9} cafe\u{301} \u{4e2d}\u{6587}\u{5b57} news \
            inning proceed succeeded exceeding generically communication arsenal";
        let terms = terms_of(text);
        assert!(terms.iter().any(|term| term == "die"));
        for term in &terms {
            let one = [term.clone()];
            assert_eq!(highlighted(text, &one), expected(text, &one), "{term}");
        }
        assert_eq!(highlighted(text, &terms), expected(text, &terms));
        assert_eq!(highlighted(text, &[]), []);
    }

    proptest! {
        #[test]
        fn highlights_are_those_of_the_whole_analysis(
            words in prop::collection::vec(
                prop_oneof![
                    4 => "[a-z]{1,8}(ing|ed|ies|y|ly|ness|ations)?",
                    3 => "[a-zA-Z0-9_]{1,12}",
                    1 => "[aeiouyY]{1,4}[a-z]{0,3}",
                    1 => "\\PC{1,4}",
                    1 => "[a-z]{250,260}",
                    2 => "(v|x|C|#|@|--|\u{a7})?[0-9]{1,3}([.+-][0-9a-z]{1,3}){0,3}",
                    1 => "(C[#+]{1,2}|\\.NET|I/O|a->b|--[a-z]{1,4}|2020-02-0[1-3](T1)?)",
                ],
                1..60,
            ),
            between in prop::sample::select(vec![" ", "\n", "_", "\r\n-", "-", ".", "\u{201d} "]),
            chosen in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        ) {
            let text = words.join(between);
            let all = terms_of(&text);
            prop_assume!(!all.is_empty());
            let terms: Vec<String> = chosen.iter().map(|i| i.get(&all).clone()).collect();
            let found = highlighted(&text, &terms);
            prop_assert_eq!(&found, &expected(&text, &terms));
            let set = TermSet::new(terms.iter().map(String::as_str));
            prop_assert!(found.is_empty() || set.may_occur_in(&text));
        }
    }
}
