//! Splits text into words, bigrams of scripts without spaces, and parts of identifiers.

use std::ops::Range;

use super::joined_words::joined;
use super::script_class::{CharClass, SECTION_SIGN, SOFT_HYPHEN, char_class, is_ascii_word};

/// Longer words are data (base64, hexadecimal) and give no terms.
// Names in code are shorter; a longer limit would fill the dictionary with terms that occur once.
// Offsets in a word are stored as u16, which this limit keeps valid.
pub(crate) const MAX_WORD_BYTES: usize = 256;

/// Most bytes of the number behind a section sign: `312a`, `17.4.2`.
const MAX_SECTION_BYTES: usize = 10;

/// Most bytes between a section sign and its number: one space of any width.
const MAX_SECTION_GAP: usize = 3;

/// A word or bigram of a text.
pub(crate) struct Word<'t> {
    /// First byte in the text.
    pub(crate) start: usize,
    /// Its bytes, ending on a character boundary.
    pub(crate) bytes: &'t [u8],
    /// [`CharClass::Word`], also with signs in it; [`CharClass::Bigram`] for one or two characters;
    /// [`CharClass::Symbol`] for one.
    pub(crate) class: CharClass,
}

/// Iterates over the words and bigrams of a text.
pub(crate) struct Segmenter<'t> {
    /// The text.
    text: &'t str,
    /// Byte at which to continue.
    at: usize,
    /// Start of the last character of a bigram run that continues at `at`.
    bigram_start: Option<usize>,
}

impl<'t> Segmenter<'t> {
    pub(crate) fn new(text: &'t str) -> Segmenter<'t> {
        Segmenter {
            text,
            at: 0,
            bigram_start: None,
        }
    }

    fn char_at(&self, at: usize) -> Option<char> {
        self.text.get(at..)?.chars().next()
    }

    #[inline]
    pub(crate) fn next(&mut self) -> Option<Word<'t>> {
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
            let from = self.at;
            let start = from + skip;
            let run = bytes.get(start..)?;
            let len = run
                .iter()
                .position(|byte| !is_ascii_word(*byte))
                .unwrap_or(run.len());
            self.at = start + len;
            if run.get(len).is_some_and(|byte| *byte >= 0x80) {
                self.finish_run();
            }
            let mut range = start..self.at;
            if range.is_empty() {
                if let Some(word) = self.other_character() {
                    return Some(word);
                }
                continue;
            }
            if let Some(longer) = joined(self.text, from, &range) {
                self.at = longer.end;
                range = longer;
            }
            if range.len() <= MAX_WORD_BYTES {
                return Some(Word {
                    start: range.start,
                    bytes: bytes.get(range)?,
                    class: CharClass::Word,
                });
            }
        }
    }

    /// Moves `at` to the end of a word that continues with a character outside ASCII.
    #[cold]
    fn finish_run(&mut self) {
        while let Some(c) = self.char_at(self.at) {
            // A soft hyphen is where a word may be broken, and not where it ends.
            if char_class(c) != CharClass::Word && c != SOFT_HYPHEN {
                break;
            }
            self.at += c.len_utf8();
        }
    }

    /// Passes a character outside ASCII that is not part of a word. It may be a word by itself, and a
    /// bigram run may begin there.
    #[cold]
    fn other_character(&mut self) -> Option<Word<'t>> {
        let start = self.at;
        let Some(c) = self.char_at(start) else {
            self.at = self.text.len();
            return None;
        };
        self.at += c.len_utf8();
        match char_class(c) {
            CharClass::Bigram => self.bigram_start = Some(start),
            CharClass::Symbol => return self.word(start, CharClass::Symbol),
            _ if c == SECTION_SIGN => return self.section(start),
            _ => {}
        }
        None
    }

    /// The word from `start` to `at`.
    fn word(&self, start: usize, class: CharClass) -> Option<Word<'t>> {
        Some(Word {
            start,
            bytes: self.text.as_bytes().get(start..self.at)?,
            class,
        })
    }

    /// A section sign and the number behind it, with or without a space between them.
    fn section(&mut self, start: usize) -> Option<Word<'t>> {
        let rest = self.text.get(self.at..)?;
        let number = rest.trim_start_matches([' ', '\u{a0}', '\u{202f}']);
        let gap = rest.len() - number.len();
        let len = number
            .bytes()
            .position(|byte| !byte.is_ascii_alphanumeric() && byte != b'.')
            .unwrap_or(number.len());
        // `\u{a7} 4.` ends a sentence.
        let number = number.get(..len)?.trim_end_matches('.');
        let is_number = number.starts_with(|c: char| c.is_ascii_digit());
        if !is_number || number.len() > MAX_SECTION_BYTES || gap > MAX_SECTION_GAP {
            return None;
        }
        self.at += gap + number.len();
        self.word(start, CharClass::Word)
    }

    /// The bigram of the characters at `start` and `at`, or a single character when it is alone in
    /// its run.
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
                // A character at the end of a run is part of the bigram before it. Only a run of
                // one character is a term alone.
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

/// Digits in a hash at least, and letters.
const HASH_CHARACTERS: usize = 7;

/// Whether a word is a hash in hexadecimal digits, whose parts say nothing: seven or more, with letters and digits
/// in turns.
pub(crate) fn is_hash(word: &str) -> bool {
    let bytes = word.as_bytes();
    let turns = bytes
        .iter()
        .zip(bytes.iter().skip(1))
        .filter(|(byte, next)| byte.is_ascii_digit() != next.is_ascii_digit())
        .count();
    // `face2face` has two turns, too.
    bytes.len() >= HASH_CHARACTERS && turns >= 3 && bytes.iter().all(u8::is_ascii_hexdigit)
}

/// The class that decides where an identifier is split.
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

/// Byte ranges of the parts of an identifier. It is split at `_`, between lower and upper case
/// (`camelCase`), before the last of several capitals when lower case follows (`HTTPRequest`), and
/// between digits and other characters.
pub(crate) struct IdentifierParts<'t> {
    /// The word.
    word: &'t str,
    /// Byte at which to continue.
    at: usize,
}

impl<'t> IdentifierParts<'t> {
    pub(crate) fn new(word: &'t str) -> IdentifierParts<'t> {
        IdentifierParts { word, at: 0 }
    }
}

impl Iterator for IdentifierParts<'_> {
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
                // `snake_case` and `camelCase`.
                (_, Underscore) | (Lower, Upper) => true,
                // `HTTPRequest` is cut before `R`.
                (Upper, Upper) => next == Some(Lower),
                // `utf8`, `base64url`.
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
    use proptest::prelude::*;

    use super::super::joined_words::{is_joined, runs as joined_runs};
    use super::*;

    /// The runs of a text by the rules, one character at a time.
    fn runs(text: &str) -> Vec<(CharClass, String)> {
        let mut runs: Vec<(CharClass, String)> = Vec::new();
        let mut last = CharClass::Separator;
        for c in text.chars() {
            let class = char_class(c);
            match runs.last_mut() {
                Some((_, run))
                    if class == last
                        && !matches!(class, CharClass::Separator | CharClass::Symbol) =>
                {
                    run.push(c)
                }
                _ if class != CharClass::Separator => runs.push((class, c.to_string())),
                _ => {}
            }
            last = class;
        }
        runs
    }

    proptest! {
        #[test]
        fn the_segmenter_agrees_with_the_rules_by_character(
            text in "([a-zA-Z0-9_ .]{0,9}|[0-9aC.#+@/-]{1,9}|[\u{e9}\u{301}\u{4e2d}\u{3042}\u{e01}\u{e48}\u{3002}\u{1f600}]{0,4}|\\PC{0,3}){0,12}"
        ) {
            let mut expected = Vec::new();
            for (class, run) in runs(&text).into_iter().filter(|(_, run)| run != "\u{a7}") {
                let chars: Vec<char> = run.chars().collect();
                if class == CharClass::Bigram && chars.len() > 1 {
                    expected.extend(chars.windows(2).map(|pair| pair.iter().collect::<String>()));
                } else if run.len() <= MAX_WORD_BYTES {
                    expected.push(run);
                }
            }
            let mut words = Segmenter::new(&text);
            let mut found = Vec::new();
            while let Some(word) = words.next() {
                let end = word.start + word.bytes.len();
                prop_assert_eq!(&text.as_bytes()[word.start..end], word.bytes);
                let word = std::str::from_utf8(word.bytes).unwrap();
                // A word with signs is the runs in it.
                if is_joined(word) {
                    found.extend(joined_runs(word).map(|run| word[run].to_owned()));
                } else {
                    found.push(word.to_owned());
                }
            }
            prop_assert_eq!(found, expected);
        }
    }
}
