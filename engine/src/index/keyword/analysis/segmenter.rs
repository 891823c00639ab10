//! Splits text into words, bigrams of scripts without spaces, and parts of identifiers.

use std::ops::Range;

use super::script_class::{CharClass, char_class};

/// Longer words are data (base64, hexadecimal) and give no terms.
// Names in code are shorter; a longer limit would fill the dictionary with terms that occur once.
// Offsets in a word are stored as u16, which this limit keeps valid.
pub(crate) const MAX_WORD_BYTES: usize = 256;

/// A word or bigram of a text.
pub(crate) struct Word<'t> {
    /// First byte in the text.
    pub(crate) start: usize,
    /// Its bytes, ending on a character boundary.
    pub(crate) bytes: &'t [u8],
    /// [`CharClass::Word`], or [`CharClass::Bigram`] for one or two characters.
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
pub(crate) fn is_ascii_word(byte: u8) -> bool {
    ASCII_WORD.get(usize::from(byte)).copied().unwrap_or(false)
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
            let start = self.at + skip;
            let run = bytes.get(start..)?;
            let len = run
                .iter()
                .position(|byte| !is_ascii_word(*byte))
                .unwrap_or(run.len());
            self.at = start + len;
            if run.get(len).is_some_and(|byte| *byte >= 0x80) {
                self.finish_run();
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

    /// Moves `at` to the end of a word that continues with a character outside ASCII.
    #[cold]
    fn finish_run(&mut self) {
        while let Some(c) = self.char_at(self.at) {
            if char_class(c) != CharClass::Word {
                break;
            }
            self.at += c.len_utf8();
        }
    }

    /// Passes a character outside ASCII that is not part of a word; a bigram run may begin there.
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

    use super::*;

    /// The runs of a text by the rules, one character at a time.
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
        fn the_segmenter_agrees_with_the_rules_by_character(
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
            let mut words = Segmenter::new(&text);
            let mut found = Vec::new();
            while let Some(word) = words.next() {
                let end = word.start + word.bytes.len();
                prop_assert_eq!(&text.as_bytes()[word.start..end], word.bytes);
                found.push(String::from_utf8(word.bytes.to_vec()).unwrap());
            }
            prop_assert_eq!(found, expected);
        }
    }
}
