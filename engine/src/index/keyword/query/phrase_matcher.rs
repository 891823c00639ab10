//! Finds a [`Phrase`] in texts.

use rustc_hash::FxHashMap;

use super::phrase::{Element, Form, Phrase, new_characters};
use crate::index::keyword::analysis::interner::Interner;
use crate::index::keyword::analysis::script_class::CharClass;
use crate::index::keyword::analysis::segmenter::{IdentifierParts, Segmenter};
use crate::index::keyword::analysis::stemming::{WordKey, WordNormalizer};

/// Bytes that the memory of words of a [`PhraseMatcher`] may hold.
const MEMORY_LIMIT_BYTES: usize = 4 << 20;

/// What a word of a text is to the phrase: sets of the elements that it equals, one bit each.
#[derive(Debug, Clone, Copy)]
enum WordMatch {
    /// It is no element.
    Skipped,
    /// A word without parts.
    Whole(u64),
    /// An identifier, and where its parts are in [`PhraseMatcher::parts`].
    Parts { whole: u64, first: u32, end: u32 },
}

/// Finds one phrase in many texts; remembers the words it has seen.
pub struct PhraseMatcher {
    /// When two words are equal.
    form: Form,
    /// Elements that are terms, by term; none for words as written.
    terms: FxHashMap<String, u64>,
    /// Elements that are bare words, by word; for words as written all words.
    bare: FxHashMap<String, u64>,
    /// Elements that are characters.
    characters: FxHashMap<char, u64>,
    /// Elements that stand beside the one before.
    beside: u64,
    /// The last element; 0 for an empty phrase.
    last: u64,
    /// Whether a lower-case ASCII character begins an element.
    begins: [bool; 128],
    /// Segmenter seen.
    words: Interner,
    /// What each of them is.
    verdicts: Vec<WordMatch>,
    /// IdentifierParts of identifiers.
    parts: Vec<u64>,
    /// Finds keys.
    keys: WordNormalizer,
}

impl std::fmt::Debug for PhraseMatcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PhraseMatcher")
            .field("words", &self.words.len())
            .finish_non_exhaustive()
    }
}

/// How far a phrase is within a text: bit `i` is set where its first `i + 1` elements end here.
#[derive(Debug, Clone, Copy, Default)]
struct State {
    /// The set.
    ends: u64,
    /// One past the last byte of a character of a script without spaces, if nothing followed it.
    character_end: Option<usize>,
}

/// How a text is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// The phrase may begin anywhere; stop where it ends.
    ToMatch,
    /// The phrase may begin anywhere; read all.
    ToEnd,
    /// The phrase has begun before; stop where it ends or breaks.
    Onward,
}

impl PhraseMatcher {
    /// A matcher that has seen no word yet.
    pub fn new(phrase: &Phrase, form: Form) -> PhraseMatcher {
        let mut matcher = PhraseMatcher {
            form,
            terms: FxHashMap::default(),
            bare: FxHashMap::default(),
            characters: FxHashMap::default(),
            beside: 0,
            last: 0,
            begins: [false; 128],
            words: Interner::new(),
            verdicts: Vec::new(),
            parts: Vec::new(),
            keys: WordNormalizer::new(),
        };
        let elements = phrase.elements.iter().zip(&phrase.written);
        for ((element, written), at) in elements.zip(0..u64::BITS) {
            let bit = 1 << at;
            matcher.last = bit;
            let word = match (element, form) {
                (Element::Term(term), Form::Stemmed) => {
                    *matcher.terms.entry(term.clone()).or_default() |= bit;
                    term
                }
                (Element::Term(_) | Element::Bare(_), _) => {
                    *matcher.bare.entry(written.clone()).or_default() |= bit;
                    written
                }
                (Element::Character(c, beside), _) => {
                    *matcher.characters.entry(*c).or_default() |= bit;
                    matcher.beside |= if *beside { bit } else { 0 };
                    continue;
                }
            };
            let first = word.bytes().next().map(usize::from);
            if let Some(begins) = first.and_then(|first| matcher.begins.get_mut(first)) {
                *begins = true;
            }
        }
        matcher
    }

    /// Whether the phrase stands in the text. An empty phrase stands nowhere.
    pub fn stands_in(&mut self, text: &str) -> bool {
        self.read(text, &mut State::default(), Reading::ToMatch)
    }

    /// Whether the text may begin with the end of the phrase, whatever stands before it: false means
    /// that [`PhraseMatcher::crosses`] is false for every text before.
    pub fn may_end_in(&mut self, text: &str) -> bool {
        let mut state = State {
            ends: !self.last,
            character_end: Some(0),
        };
        self.read(text, &mut state, Reading::Onward)
    }

    /// Whether the phrase begins in `first` and ends in `second`, which follows it.
    pub fn crosses(&mut self, first: &str, second: &str) -> bool {
        let mut state = State::default();
        self.read(first, &mut state, Reading::ToEnd);
        state.ends &= !self.last;
        let at_border = state.character_end == Some(first.len());
        state.character_end = at_border.then_some(0);
        self.read(second, &mut state, Reading::Onward)
    }

    /// Reads a text from a state on; whether the phrase ended in it.
    fn read(&mut self, text: &str, state: &mut State, reading: Reading) -> bool {
        self.forget_if_full();
        let begin = u64::from(reading != Reading::Onward);
        let mut found = false;
        let mut words = Segmenter::new(text);
        while let Some(word) = words.next() {
            if reading == Reading::Onward && state.ends == 0 {
                return false;
            }
            if word.class == CharClass::Bigram {
                let bigram = std::str::from_utf8(word.bytes).unwrap_or_default();
                for (at, c) in new_characters(word.start, bigram, state.character_end) {
                    let beside = state.character_end == Some(at);
                    let mut equal = self.characters.get(&c).copied().unwrap_or(0);
                    equal &= if beside { u64::MAX } else { !self.beside };
                    state.ends = ((state.ends << 1) | begin) & equal;
                    state.character_end = Some(at + c.len_utf8());
                    found |= state.ends & self.last != 0;
                }
            } else {
                if !self.may_equal(word.bytes) {
                    state.ends = 0;
                    continue;
                }
                let before = state.ends;
                match self.verdict(word.bytes) {
                    WordMatch::Skipped => {}
                    WordMatch::Whole(equal) => state.ends = ((before << 1) | begin) & equal,
                    WordMatch::Parts { whole, first, end } => {
                        let parts = self.parts.get(first as usize..end as usize);
                        for equal in parts.unwrap_or_default() {
                            state.ends = ((state.ends << 1) | begin) & equal;
                            found |= state.ends & self.last != 0;
                        }
                        state.ends |= ((before << 1) | begin) & whole;
                    }
                }
                found |= state.ends & self.last != 0;
            }
            if found && reading != Reading::ToEnd {
                return true;
            }
        }
        found
    }

    /// False when neither the word nor a part of it begins like an element. A term begins with the
    /// same character as its words.
    #[inline]
    fn may_equal(&self, word: &[u8]) -> bool {
        let mut border = true;
        for byte in word {
            if *byte == b'_' || *byte >= 0x80 {
                return true;
            }
            let begins = self.begins.get(usize::from(byte.to_ascii_lowercase()));
            let digit = byte.is_ascii_digit();
            if (border || digit || byte.is_ascii_uppercase()) && begins.copied().unwrap_or(false) {
                return true;
            }
            border = digit;
        }
        false
    }

    fn verdict(&mut self, word: &[u8]) -> WordMatch {
        let (number, new) = self.words.number(word);
        if new {
            let verdict = match std::str::from_utf8(word) {
                Ok(word) => self.learn(word),
                Err(_) => WordMatch::Whole(0),
            };
            self.verdicts.push(verdict);
        }
        let verdict = self.verdicts.get(number as usize).copied();
        verdict.unwrap_or(WordMatch::Whole(0))
    }

    #[cold]
    fn learn(&mut self, word: &str) -> WordMatch {
        let Some(whole) = self.equal(word) else {
            return WordMatch::Skipped;
        };
        if self.form == Form::Written {
            let mut parts = IdentifierParts::new(word);
            let only = parts.next().filter(|_| parts.next().is_none());
            let bare = only.and_then(|part| self.equal(word.get(part)?));
            return WordMatch::Whole(whole | bare.unwrap_or(0));
        }
        let mut parts = IdentifierParts::new(word).peekable();
        if parts.peek().is_none_or(|part| part.len() == word.len()) {
            return WordMatch::Whole(whole);
        }
        let first = self.parts.len() as u32;
        for part in parts {
            let equal = word.get(part).and_then(|part| self.equal(part));
            self.parts.push(equal.unwrap_or(0));
        }
        let end = self.parts.len() as u32;
        WordMatch::Parts { whole, first, end }
    }

    /// The elements that a word equals; `None` for a word that is no element.
    fn equal(&mut self, word: &str) -> Option<u64> {
        let found = match self.form {
            Form::Written => self.bare.get(self.keys.written(word)?),
            Form::Stemmed => match self.keys.of(word)? {
                WordKey::Term(term) => self.terms.get(term),
                WordKey::Bare(word) => self.bare.get(word),
            },
        };
        Some(found.copied().unwrap_or(0))
    }

    fn forget_if_full(&mut self) {
        let held = self.words.memory_bytes()
            + self.verdicts.capacity() * size_of::<WordMatch>()
            + self.parts.capacity() * size_of::<u64>();
        if held > MEMORY_LIMIT_BYTES {
            self.words.clear(MEMORY_LIMIT_BYTES / 8);
            self.verdicts = Vec::new();
            self.parts = Vec::new();
        }
    }
}

#[cfg(test)]
mod tests;
