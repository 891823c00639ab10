//! Text to terms: one analyser for documents and queries.
//!
//! A run of letters, numbers, marks and `_` is a word. Its terms are its lower-case English stem
//! and, for an identifier, the stems of its parts (`camelCase`, `snake_case`, digits). In scripts
//! without spaces every pair of adjacent characters is a term (bigrams, as in Lucene's
//! `CJKAnalyzer`). Stop words and words of one character have no term; parts of one character do.

use std::ops::Range;

use rust_stemmers::{Algorithm, Stemmer};

use super::interner::Interner;
use super::script_class::CharClass;
use super::segmenter::{IdentifierParts, MAX_WORD_BYTES, Segmenter, Word};
use super::stemming::{MAX_TERM_CHARS, is_placeholder, lower_case};
use super::stop_words::is_stop_word;
use super::term_counters::TermCounters;

/// The version of the analysis: the rules of this file and the Unicode version of the character
/// classes. Queries must be analysed with the id that the index was built with.
///
/// Case mapping and composition come from other tables, which may be newer: Unicode never changes
/// them for assigned characters, and unassigned ones end a word.
pub(crate) const ANALYSER_ID: &str = "words-1/unicode-16.0.0";

/// The longest term in bytes: lower-casing expands a word at most threefold.
// In UTF-8 no character grows more than threefold in lower case: U+0130 grows from 2 to 3 bytes.
pub(crate) const MAX_TERM_BYTES: usize = MAX_WORD_BYTES * 3;

/// Memory limit of the caches of one analyser, in bytes. They are cleared above it.
// Each indexing thread has an analyser. 8 MiB hold the words of a usual source tree; a larger limit
// would mostly keep words that do not come again. Clearing costs only that words are stemmed once
// more.
const MEMORY_LIMIT_BYTES: usize = 8 << 20;

/// Turns text into terms. It caches the terms of every word it meets, so use one for each thread.
pub struct Analyser {
    /// Snowball, English.
    stemmer: Stemmer,
    /// Cached words and bigrams as they are written.
    word_interner: Interner,
    /// End of the terms of each cached word in `word_terms`.
    word_ends: Vec<u32>,
    /// Terms of all cached words.
    word_terms: Vec<WordTerm>,
    /// Cached words without parts, and parts of identifiers: `Parse` of `ParseError`. Parts recur
    /// in many identifiers, and each is stemmed once.
    part_interner: Interner,
    /// The term of each cached part, if it has one.
    part_terms: Vec<Option<u32>>,
    /// Distinct terms.
    term_interner: Interner,
    /// TermCounters by term number, for [`crate::index::keyword::analysis::document_terms`].
    pub(crate) counters: TermCounters,
    /// A word in lower case; the buffer is reused.
    lower: String,
}

impl std::fmt::Debug for Analyser {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Analyser")
            .field("words", &self.word_interner.len())
            .finish_non_exhaustive()
    }
}

/// One term of a word.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WordTerm {
    /// Number of the term.
    pub(crate) term: u32,
    /// First byte of it within the word.
    start: u16,
    /// One past its last byte.
    end: u16,
}

impl Default for Analyser {
    fn default() -> Analyser {
        Analyser::new()
    }
}

impl Analyser {
    /// An analyser with empty caches.
    pub fn new() -> Analyser {
        Analyser {
            stemmer: Stemmer::create(Algorithm::English),
            word_interner: Interner::new(),
            word_ends: Vec::new(),
            word_terms: Vec::new(),
            part_interner: Interner::new(),
            part_terms: Vec::new(),
            term_interner: Interner::new(),
            counters: TermCounters::default(),
            lower: String::new(),
        }
    }

    /// Calls `emit` with each term of `text` and its byte range, in the order of the words. An
    /// identifier comes before its parts.
    pub fn analyse(&mut self, text: &str, mut emit: impl FnMut(&str, Range<usize>)) {
        self.forget_if_full();
        let mut words = Segmenter::new(text);
        while let Some(word) = words.next() {
            self.terms_of(&word, &mut emit);
        }
    }

    /// Calls `emit` with each word of `text` that has terms, as it is written, and each of its terms.
    pub fn analyse_words(&mut self, text: &str, mut emit: impl FnMut(&str, &str)) {
        self.forget_if_full();
        let mut words = Segmenter::new(text);
        while let Some(word) = words.next() {
            if let Ok(written) = std::str::from_utf8(word.bytes) {
                self.terms_of(&word, |term, _| emit(written, term));
            }
        }
    }

    /// Calls `emit` with each term of one word and its byte range in the text.
    #[inline]
    pub(crate) fn terms_of(&mut self, word: &Word<'_>, mut emit: impl FnMut(&str, Range<usize>)) {
        let range = self.word_range(word.bytes, word.class);
        for found in self.word_terms.get(range).unwrap_or_default() {
            if let Ok(term) = std::str::from_utf8(self.term_interner.get(found.term)) {
                let start = word.start + usize::from(found.start);
                emit(term, start..word.start + usize::from(found.end));
            }
        }
    }

    /// Calls `emit` with the number of each term of `text`. The numbers stay valid until
    /// [`Analyser::forget_if_full`].
    #[inline]
    pub(crate) fn numbers(
        &mut self,
        text: &str,
        mut emit: impl FnMut(&Interner, &mut TermCounters, u32),
    ) {
        let mut words = Segmenter::new(text);
        while let Some(word) = words.next() {
            let range = self.word_range(word.bytes, word.class);
            for found in self.word_terms.get(range).unwrap_or_default() {
                emit(&self.term_interner, &mut self.counters, found.term);
            }
        }
    }

    /// The terms by number, and their counters.
    pub(crate) fn counting(&mut self) -> (&mut Interner, &mut TermCounters) {
        (&mut self.term_interner, &mut self.counters)
    }

    /// Clears the caches when they have grown too large. Invalidates term numbers.
    pub(crate) fn forget_if_full(&mut self) {
        let held = self.word_interner.memory_bytes()
            + self.part_interner.memory_bytes()
            + self.part_terms.capacity() * size_of::<Option<u32>>()
            + self.term_interner.memory_bytes()
            + self.word_terms.capacity() * size_of::<WordTerm>();
        if held > MEMORY_LIMIT_BYTES {
            // Some memory is kept, so that it is not allocated again at once.
            self.word_interner.clear(MEMORY_LIMIT_BYTES / 8);
            self.part_interner.clear(MEMORY_LIMIT_BYTES / 8);
            self.part_terms = Vec::new();
            self.term_interner.clear(MEMORY_LIMIT_BYTES / 8);
            self.word_ends = Vec::new();
            self.word_terms = Vec::new();
            self.counters.clear();
        }
    }

    /// The range of the terms of a word in `word_terms`.
    #[inline]
    fn word_range(&mut self, word: &[u8], class: CharClass) -> Range<usize> {
        let (number, new) = self.word_interner.number(word);
        if new {
            self.learn(word, class);
        }
        let number = number as usize;
        let start = match number.checked_sub(1) {
            Some(before) => self.word_ends.get(before).copied().unwrap_or(0),
            None => 0,
        };
        let end = self.word_ends.get(number).copied().unwrap_or(start);
        start as usize..end as usize
    }

    /// Adds the terms of a new word to the cache.
    #[cold]
    fn learn(&mut self, word: &[u8], class: CharClass) {
        match std::str::from_utf8(word) {
            Ok(word) if class == CharClass::Bigram => {
                let (term, _) = self.term_interner.number(word.as_bytes());
                self.push_term(term, 0..word.len());
            }
            Ok(word) => self.learn_word(word),
            Err(_) => {}
        }
        self.word_ends.push(self.word_terms.len() as u32);
    }

    fn learn_word(&mut self, word: &str) {
        let mut chars = word.chars();
        // Words of one character have no term: every chunk of code has `i` and `x`.
        if chars.next().is_none() || chars.next().is_none() {
            return;
        }
        let mut parts = IdentifierParts::new(word);
        let first = parts.next();
        // A word without parts is its own part; it must not be entered twice.
        if first.as_ref().is_none_or(|part| part.len() == word.len()) {
            return self.learn_part(word, 0);
        }
        if let Some(term) = self.find_term(word) {
            self.push_term(term, 0..word.len());
        }
        for part in first.into_iter().chain(parts) {
            if let Some(bytes) = word.get(part.clone()) {
                self.learn_part(bytes, part.start);
            }
        }
    }

    /// Adds the term of a word without parts, or of a part that starts at byte `start` of its word.
    fn learn_part(&mut self, text: &str, start: usize) {
        let (number, new) = self.part_interner.number(text.as_bytes());
        if new {
            let term = self.find_term(text);
            self.part_terms.push(term);
        }
        if let Some(Some(term)) = self.part_terms.get(number as usize) {
            self.push_term(*term, start..start + text.len());
        }
    }

    /// The number of the term of a word or part; `None` when it has no term.
    fn find_term(&mut self, text: &str) -> Option<u32> {
        lower_case(text, &mut self.lower);
        let long = self.lower.chars().nth(MAX_TERM_CHARS).is_some();
        if long || is_stop_word(&self.lower) || is_placeholder(&self.lower) {
            return None;
        }
        let stem = self.stemmer.stem(&self.lower);
        Some(self.term_interner.number(stem.as_bytes()).0)
    }

    fn push_term(&mut self, term: u32, range: Range<usize>) {
        self.word_terms.push(WordTerm {
            term,
            // A word has at most MAX_WORD_BYTES = 256 bytes.
            start: range.start as u16,
            end: range.end as u16,
        });
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn terms(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        Analyser::new().analyse(text, |term, _| found.push(term.to_owned()));
        found
    }

    #[test]
    fn prose_gives_lower_case_stems_without_stop_words() {
        assert_eq!(
            terms("The Readers are reading; it was NOT a reader's tale."),
            ["reader", "read", "reader", "tale"]
        );
        assert!(terms("to be or not to be, I").is_empty());
        assert!(terms("").is_empty());
    }

    #[test]
    fn identifiers_give_the_whole_word_and_their_parts() {
        assert_eq!(
            terms("parseHTTPRequest"),
            ["parsehttprequest", "pars", "http", "request"]
        );
        assert_eq!(terms("read_lines"), ["read_lin", "read", "line"]);
        assert_eq!(terms("utf8"), ["utf8", "utf", "8"]);
        assert_eq!(terms("__init__"), ["__init__", "init"]);
        assert_eq!(terms("HTTP"), ["http"]);
        assert_eq!(terms("MAX_SIZE2"), ["max_size2", "max", "size", "2"]);
        assert_eq!(terms("_private"), ["_privat", "privat"]);
    }

    #[test]
    fn identifiers_drop_stop_words_and_keep_single_characters() {
        assert_eq!(terms("to_string"), ["to_str", "string"]);
        assert_eq!(terms("fX"), ["fx", "f", "x"]);
        assert_eq!(terms("x"), Vec::<String>::new());
        assert_eq!(terms("7"), Vec::<String>::new());
        assert_eq!(terms("_ __"), Vec::<String>::new());
    }

    #[test]
    fn other_scripts_keep_their_marks_and_lose_their_case() {
        assert_eq!(
            terms("\u{39c}\u{3ac}\u{3b8}\u{3b7}\u{3bc}\u{3b1}"),
            ["\u{3bc}\u{3ac}\u{3b8}\u{3b7}\u{3bc}\u{3b1}"]
        );
        let hindi = "\u{939}\u{93f}\u{928}\u{94d}\u{926}\u{940}";
        assert_eq!(terms(hindi), [hindi]);
        assert_eq!(terms("na\u{ef}ve"), ["na\u{ef}v"]);
    }

    #[test]
    fn composed_and_decomposed_letters_give_the_same_term() {
        assert_eq!(terms("caf\u{e9}"), terms("cafe\u{301}"));
    }

    #[test]
    fn scripts_without_spaces_give_bigrams_and_lone_characters() {
        assert_eq!(
            terms("\u{4e2d}\u{6587}\u{5b57}"),
            ["\u{4e2d}\u{6587}", "\u{6587}\u{5b57}"]
        );
        assert_eq!(
            terms("\u{6c34} rust\u{8a9e}"),
            ["\u{6c34}", "rust", "\u{8a9e}"]
        );
        assert_eq!(
            terms("\u{3042}\u{3044}\u{3002}\u{3046}\u{3048}"),
            ["\u{3042}\u{3044}", "\u{3046}\u{3048}"]
        );
        assert_eq!(terms("\u{e01}\u{e48}\u{e02}").len(), 2);
    }

    #[test]
    fn ranges_point_at_the_bytes_a_term_came_from() {
        let text = "\u{e9}t\u{e9} getUserName \u{4e2d}\u{6587}\u{5b57}";
        let mut found = Vec::new();
        Analyser::new().analyse(text, |term, range| {
            found.push((term.to_owned(), text[range].to_owned()));
        });
        let expected = [
            ("\u{e9}t\u{e9}", "\u{e9}t\u{e9}"),
            ("getusernam", "getUserName"),
            ("get", "get"),
            ("user", "User"),
            ("name", "Name"),
            ("\u{4e2d}\u{6587}", "\u{4e2d}\u{6587}"),
            ("\u{6587}\u{5b57}", "\u{6587}\u{5b57}"),
        ]
        .map(|(term, bytes)| (term.to_owned(), bytes.to_owned()));
        assert_eq!(found, expected);
    }

    #[test]
    fn junk_without_spaces_gives_no_terms() {
        assert!(terms(&"x".repeat(MAX_WORD_BYTES + 1)).is_empty());
        assert!(terms(&"x".repeat(MAX_TERM_CHARS + 1)).is_empty());
        assert_eq!(terms(&"x".repeat(MAX_TERM_CHARS)).len(), 1);
        let sentence = "word_".repeat(20);
        assert!(terms(&sentence).iter().all(|term| term == "word"));
        assert_eq!(terms(&sentence).len(), 20);
    }

    #[test]
    fn forgetting_words_does_not_change_their_terms() {
        let mut analyser = Analyser::new();
        let mut first = Vec::new();
        analyser.analyse("getUserName", |term, _| first.push(term.to_owned()));
        for i in 0..200_000 {
            analyser.analyse(&format!("word{i:08}"), |_, _| {});
        }
        assert!(analyser.word_interner.memory_bytes() <= MEMORY_LIMIT_BYTES);
        let mut again = Vec::new();
        analyser.analyse("getUserName", |term, _| again.push(term.to_owned()));
        assert_eq!(first, again);
    }

    #[test]
    fn the_id_names_the_unicode_version_of_the_classes() {
        let (major, minor, patch) = unicode_general_category::UNICODE_VERSION;
        assert!(ANALYSER_ID.ends_with(&format!("/unicode-{major}.{minor}.{patch}")));
    }

    proptest! {
        #[test]
        fn any_text_gives_bounded_terms_on_character_borders(text in "\\PC{0,200}") {
            Analyser::new().analyse(&text, |term, range| {
                assert!(!term.is_empty() && term.len() <= MAX_TERM_BYTES);
                assert!(text.get(range).is_some());
            });
        }
    }
}
