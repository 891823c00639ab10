//! Text to terms: one analyser for documents and queries.
//!
//! A run of letters, numbers, marks and `_` is a word. It gives its lower-case English stem and, if
//! it is an identifier, the stems of its parts (`camelCase`, `snake_case`, digits). Scripts without
//! spaces give every pair of neighbouring characters. Stop words and words of one character give
//! nothing; parts of one character count.

use std::ops::Range;

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use super::interner::Interner;
use super::scripts::{CharClass, char_class, is_stop_word};
use super::terms::Counters;

/// Names the rules of this file and the Unicode version of the character classes. An index answers
/// only queries analysed under the id it was made with.
///
/// Case mapping and composition come from other tables, but agree: Unicode never changes them for
/// characters that have a class, and those without one end a word.
pub const ANALYSER_ID: &str = "words-1/unicode-16.0.0";

/// Longer words are data (base64, hexadecimal) and give no terms at all.
pub const MAX_WORD_BYTES: usize = 256;

/// Whole words or parts of more characters give no term of their own.
pub const MAX_TERM_CHARS: usize = 64;

/// Most bytes of a term: lower case turns a character into at most three of four bytes.
pub const MAX_TERM_BYTES: usize = MAX_WORD_BYTES * 3;

/// The memory of words is emptied when it holds more bytes than this.
const MEMORY_LIMIT_BYTES: usize = 8 << 20;

/// Turns text into terms. It remembers the words it has seen, so each thread keeps one of its own.
pub struct Analyser {
    /// English Snowball.
    stemmer: Stemmer,
    /// Words and bigrams as they stand in the text.
    words: Interner,
    /// End of the terms of each word in `word_terms`.
    word_ends: Vec<u32>,
    /// Terms of all words in `words`.
    word_terms: Vec<WordTerm>,
    /// Distinct terms.
    terms: Interner,
    /// Counters by term number, for [`super::terms`].
    pub(super) counters: Counters,
    /// A word in lower case, kept for its memory.
    lower: String,
}

impl std::fmt::Debug for Analyser {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Analyser")
            .field("words", &self.words.len())
            .finish_non_exhaustive()
    }
}

/// One term of a word.
#[derive(Debug, Clone, Copy)]
pub(super) struct WordTerm {
    /// Number of the term in [`Analyser::term`].
    pub(super) term: u32,
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
    /// An analyser that has seen nothing yet.
    pub fn new() -> Analyser {
        Analyser {
            stemmer: Stemmer::create(Algorithm::English),
            words: Interner::new(),
            word_ends: Vec::new(),
            word_terms: Vec::new(),
            terms: Interner::new(),
            counters: Counters::default(),
            lower: String::new(),
        }
    }

    /// Calls `emit` with each term of `text`, in the order of the words, and the bytes of `text` it
    /// came from. A whole identifier comes before its parts, which lie within it.
    pub fn analyse(&mut self, text: &str, mut emit: impl FnMut(&str, Range<usize>)) {
        self.forget_if_full();
        let mut words = Words::new(text);
        while let Some(word) = words.next() {
            let range = self.word_range(word.bytes, word.class);
            for at in range {
                let Some(found) = self.word_terms.get(at).copied() else {
                    break;
                };
                if let Ok(term) = std::str::from_utf8(self.terms.get(found.term)) {
                    let start = word.start + usize::from(found.start);
                    emit(term, start..word.start + usize::from(found.end));
                }
            }
        }
    }

    /// Calls `emit` with the number of each term of `text`. The numbers stay valid until
    /// [`Analyser::forget_if_full`].
    #[inline]
    pub(super) fn numbers(
        &mut self,
        text: &str,
        mut emit: impl FnMut(&Interner, &mut Counters, u32),
    ) {
        let mut words = Words::new(text);
        while let Some(word) = words.next() {
            let range = self.word_range(word.bytes, word.class);
            for found in self.word_terms.get(range).unwrap_or_default() {
                emit(&self.terms, &mut self.counters, found.term);
            }
        }
    }

    /// The terms by number, and the counters of them.
    pub(super) fn counting(&mut self) -> (&Interner, &mut Counters) {
        (&self.terms, &mut self.counters)
    }

    /// Empties the memory of words when it has grown too large.
    pub(super) fn forget_if_full(&mut self) {
        let held = self.words.memory_bytes()
            + self.terms.memory_bytes()
            + self.word_terms.capacity() * size_of::<WordTerm>();
        if held > MEMORY_LIMIT_BYTES {
            self.words.clear(MEMORY_LIMIT_BYTES / 8);
            self.terms.clear(MEMORY_LIMIT_BYTES / 8);
            self.word_ends = Vec::new();
            self.word_terms = Vec::new();
            self.counters.clear();
        }
    }

    /// Where the terms of a word stand in `word_terms`.
    #[inline]
    fn word_range(&mut self, word: &[u8], class: CharClass) -> Range<usize> {
        let (number, new) = self.words.number(word);
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

    /// Finds the terms of a word seen for the first time.
    #[cold]
    fn learn(&mut self, word: &[u8], class: CharClass) {
        match std::str::from_utf8(word) {
            Ok(word) if class == CharClass::Bigram => {
                let (term, _) = self.terms.number(word.as_bytes());
                self.push_term(term, 0..word.len());
            }
            Ok(word) => self.learn_word(word),
            Err(_) => {}
        }
        self.word_ends.push(self.word_terms.len() as u32);
    }

    fn learn_word(&mut self, word: &str) {
        let mut chars = word.chars();
        if chars.next().is_none() || chars.next().is_none() {
            return;
        }
        let mut parts = Parts::new(word);
        let first = parts.next();
        self.learn_term(word, 0);
        if first.as_ref().is_none_or(|part| part.len() == word.len()) {
            return;
        }
        for part in first.into_iter().chain(parts) {
            if let Some(bytes) = word.get(part.clone()) {
                self.learn_term(bytes, part.start);
            }
        }
    }

    /// Adds the term of a whole word or part that starts at byte `start` of the word.
    fn learn_term(&mut self, text: &str, start: usize) {
        self.lower.clear();
        if is_nfc_quick(text.chars()) == IsNormalized::Yes {
            self.lower.extend(text.chars().flat_map(char::to_lowercase));
        } else {
            self.lower.extend(text.nfc().flat_map(char::to_lowercase));
        }
        let long = self.lower.chars().nth(MAX_TERM_CHARS).is_some();
        // A word of nothing but `_` is a placeholder in code.
        if long || is_stop_word(&self.lower) || self.lower.bytes().all(|byte| byte == b'_') {
            return;
        }
        let stem = self.stemmer.stem(&self.lower);
        let (term, _) = self.terms.number(stem.as_bytes());
        self.push_term(term, start..start + text.len());
    }

    fn push_term(&mut self, term: u32, range: Range<usize>) {
        self.word_terms.push(WordTerm {
            term,
            start: range.start as u16,
            end: range.end as u16,
        });
    }
}

/// A run of the text that gives terms of its own.
struct Word<'t> {
    /// First byte in the text.
    start: usize,
    /// Its bytes: whole characters.
    bytes: &'t [u8],
    /// [`CharClass::Word`], or [`CharClass::Bigram`] for one or two characters.
    class: CharClass,
}

/// Walks over the words and bigrams of a text.
struct Words<'t> {
    /// The text.
    text: &'t str,
    /// First byte not yet looked at.
    at: usize,
    /// Start of the last character of a bigram run that goes on at `at`.
    bigram_start: Option<usize>,
}

/// True for the bytes of ASCII words.
static ASCII_WORD: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0u8;
    while byte < 128 {
        #[expect(clippy::indexing_slicing, reason = "a byte indexes a table of 256")]
        {
            table[byte as usize] = byte.is_ascii_alphanumeric() || byte == b'_';
        }
        byte += 1;
    }
    table
};

#[inline]
fn is_ascii_word(byte: u8) -> bool {
    ASCII_WORD.get(usize::from(byte)).copied().unwrap_or(false)
}

impl<'t> Words<'t> {
    fn new(text: &'t str) -> Words<'t> {
        Words {
            text,
            at: 0,
            bigram_start: None,
        }
    }

    fn char_at(&self, at: usize) -> Option<char> {
        self.text.get(at..)?.chars().next()
    }

    #[inline]
    fn next(&mut self) -> Option<Word<'t>> {
        let bytes = self.text.as_bytes();
        loop {
            if let Some(start) = self.bigram_start {
                match self.next_bigram(start) {
                    Some(word) => return Some(word),
                    None => continue,
                }
            }
            // ASCII needs no decoding, and most text is ASCII.
            let rest = bytes.get(self.at..)?;
            let skip = rest
                .iter()
                .position(|byte| is_ascii_word(*byte) || *byte >= 0x80)?;
            let start = self.at + skip;
            let run = bytes.get(start..)?;
            let len = run
                .iter()
                .position(|byte| !is_ascii_word(*byte))
                .unwrap_or(run.len());
            self.at = start + len;
            if run.get(len).is_some_and(|byte| *byte >= 0x80) {
                self.finish_run(len);
            }
            let word = bytes.get(start..self.at)?;
            if word.is_empty() {
                self.skip_or_start_bigrams();
            } else if word.len() <= MAX_WORD_BYTES {
                return Some(Word {
                    start,
                    bytes: word,
                    class: CharClass::Word,
                });
            }
        }
    }

    /// Moves `at` to the end of a word that goes on with a character beyond ASCII.
    #[cold]
    fn finish_run(&mut self, _len: usize) {
        while let Some(c) = self.char_at(self.at) {
            if char_class(c) != CharClass::Word {
                break;
            }
            self.at += c.len_utf8();
        }
    }

    /// At a character beyond ASCII that is no word character: passes it.
    #[cold]
    fn skip_or_start_bigrams(&mut self) {
        match self.char_at(self.at) {
            Some(c) => {
                if char_class(c) == CharClass::Bigram {
                    self.bigram_start = Some(self.at);
                }
                self.at += c.len_utf8();
            }
            None => self.at = self.text.len(),
        }
    }

    /// The bigram of the character at `start` and the one at `at`; a character that stands alone
    /// in its run is given alone.
    #[cold]
    fn next_bigram(&mut self, start: usize) -> Option<Word<'t>> {
        let next = self
            .char_at(self.at)
            .filter(|c| char_class(*c) == CharClass::Bigram);
        let end = match next {
            Some(c) => {
                self.bigram_start = Some(self.at);
                self.at + c.len_utf8()
            }
            None => {
                self.bigram_start = None;
                let before = self.text.get(..start)?.chars().next_back();
                if before.is_some_and(|c| char_class(c) == CharClass::Bigram) {
                    return None;
                }
                self.at
            }
        };
        self.at = end;
        Some(Word {
            start,
            bytes: self.text.as_bytes().get(start..end)?,
            class: CharClass::Bigram,
        })
    }
}

/// What a character is to the borders within an identifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PartClass {
    Underscore,
    Upper,
    Lower,
    Digit,
    Other,
}

fn part_class(c: char) -> PartClass {
    match c {
        '_' => PartClass::Underscore,
        c if c.is_uppercase() => PartClass::Upper,
        c if c.is_lowercase() => PartClass::Lower,
        c if c.is_numeric() => PartClass::Digit,
        _ => PartClass::Other,
    }
}

/// Byte ranges of the parts of an identifier: cut at `_`, between lower and upper case, before the
/// last of several upper-case letters that lower case follows, and between digits and others.
struct Parts<'t> {
    /// The word.
    word: &'t str,
    /// First byte not yet given.
    at: usize,
}

impl<'t> Parts<'t> {
    fn new(word: &'t str) -> Parts<'t> {
        Parts { word, at: 0 }
    }
}

impl Iterator for Parts<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let rest = self.word.get(self.at..)?;
        self.at += rest.len() - rest.trim_start_matches('_').len();
        let start = self.at;
        let mut chars = self.word.get(start..)?.char_indices().peekable();
        let (_, first) = chars.next()?;
        let mut before = part_class(first);
        let mut end = self.word.len();
        while let Some((offset, c)) = chars.next() {
            let class = part_class(c);
            let next = chars.peek().map(|(_, next)| part_class(*next));
            use PartClass::{Digit, Lower, Underscore, Upper};
            let cut = match (before, class) {
                (_, Underscore) | (Lower, Upper) => true,
                (Upper, Upper) => next == Some(Lower),
                (before, class) => (before == Digit) != (class == Digit),
            };
            if cut {
                end = start + offset;
                break;
            }
            before = class;
        }
        self.at = end;
        Some(start..end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
    fn stop_words_within_an_identifier_are_left_out_and_single_characters_kept() {
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
        assert!(analyser.words.memory_bytes() <= MEMORY_LIMIT_BYTES);
        let mut again = Vec::new();
        analyser.analyse("getUserName", |term, _| again.push(term.to_owned()));
        assert_eq!(first, again);
    }

    #[test]
    fn the_id_names_the_unicode_version_of_the_classes() {
        let (major, minor, patch) = unicode_general_category::UNICODE_VERSION;
        assert!(ANALYSER_ID.ends_with(&format!("/unicode-{major}.{minor}.{patch}")));
    }

    /// The rules again, slowly, over characters: what the fast scanner must agree with.
    fn runs(text: &str) -> Vec<(CharClass, String)> {
        let mut runs: Vec<(CharClass, String)> = Vec::new();
        let mut last = CharClass::Separator;
        for c in text.chars() {
            let class = char_class(c);
            match runs.last_mut() {
                Some((_, run)) if class == last && class != CharClass::Separator => run.push(c),
                _ if class != CharClass::Separator => runs.push((class, c.to_string())),
                _ => {}
            }
            last = class;
        }
        runs
    }

    proptest! {
        #[test]
        fn the_scanner_finds_the_same_runs_as_a_slow_one(
            text in "([a-zA-Z0-9_ .]{0,9}|[\u{e9}\u{301}\u{4e2d}\u{3042}\u{e01}\u{e48}\u{3002}\u{1f600}]{0,4}|\\PC{0,3}){0,12}"
        ) {
            let mut expected = Vec::new();
            for (class, run) in runs(&text) {
                let chars: Vec<char> = run.chars().collect();
                if class == CharClass::Bigram && chars.len() > 1 {
                    expected.extend(chars.windows(2).map(|pair| pair.iter().collect::<String>()));
                } else if run.len() <= MAX_WORD_BYTES {
                    expected.push(run);
                }
            }
            let mut words = Words::new(&text);
            let mut found = Vec::new();
            while let Some(word) = words.next() {
                let end = word.start + word.bytes.len();
                prop_assert_eq!(&text.as_bytes()[word.start..end], word.bytes);
                found.push(String::from_utf8(word.bytes.to_vec()).unwrap());
            }
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn any_text_gives_bounded_terms_on_character_borders(text in "\\PC{0,200}") {
            Analyser::new().analyse(&text, |term, range| {
                assert!(!term.is_empty() && term.len() <= MAX_TERM_BYTES);
                assert!(text.get(range).is_some());
            });
        }
    }
}
