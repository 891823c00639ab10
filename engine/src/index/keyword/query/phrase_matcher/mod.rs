//! Finds a [`Phrase`] in texts, with a bit-parallel automaton (Shift-And: Baeza-Yates and Gonnet
//! 1992, "A new approach to text searching") over words instead of characters.

use rustc_hash::FxHashMap;

use super::phrase::{Element, Form, Phrase, new_characters};
use crate::index::keyword::analysis::interner::Interner;
use crate::index::keyword::analysis::joined_words::{is_joined, runs};
use crate::index::keyword::analysis::script_class::{CharClass, is_ascii_word};
use crate::index::keyword::analysis::segmenter::{IdentifierParts, Segmenter, is_hash};
use crate::index::keyword::analysis::stemming::{WordKey, WordNormalizer};

/// Memory limit of the cache of a [`PhraseMatcher`], in bytes. It is cleared above it.
// Half of an analyser's: a matcher lives for one request.
const MEMORY_LIMIT_BYTES: usize = 4 << 20;

/// The elements of the phrase that a word of a text equals, one bit each.
#[derive(Debug, Clone, Copy)]
enum WordMatch {
    /// The word is ignored.
    Skipped,
    /// A word without parts.
    Whole(u64),
    /// An identifier, and the range of its parts in [`PhraseMatcher::part_matches`].
    Parts { whole: u64, first: u32, end: u32 },
    /// A word with signs, and the range of its runs in [`PhraseMatcher::run_matches`].
    Joined { whole: u64, first: u32, end: u32 },
}

/// Finds one phrase in many texts. It caches the words it has met.
pub(crate) struct PhraseMatcher {
    /// When two words are equal.
    form: Form,
    /// Elements that are terms, by term; empty for [`Form::Written`].
    terms: FxHashMap<String, u64>,
    /// Elements that are bare words, by word; for [`Form::Written`] all words.
    bare: FxHashMap<String, u64>,
    /// Elements that are characters.
    characters: FxHashMap<char, u64>,
    /// Characters that must be adjacent to the previous element.
    adjacent: u64,
    /// The bit of the last element; 0 for an empty phrase.
    last: u64,
    /// For each ASCII character, whether an element begins with it in lower case.
    begins: [bool; 128],
    /// Cached words.
    word_interner: Interner,
    /// The elements that each cached word equals.
    word_matches: Vec<WordMatch>,
    /// The elements that each part of a cached identifier equals.
    part_matches: Vec<u64>,
    /// The elements that each run of a cached word with signs equals.
    run_matches: Vec<WordMatch>,
    /// Computes the keys of words.
    normalizer: WordNormalizer,
}

impl std::fmt::Debug for PhraseMatcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PhraseMatcher")
            .field("words", &self.word_interner.len())
            .finish_non_exhaustive()
    }
}

/// The state of the automaton.
#[derive(Debug, Clone, Copy, Default)]
struct State {
    /// Bit `i` is set when the first `i + 1` elements end at the current position.
    ends: u64,
    /// The end of the last character of a script without spaces, if no word followed it.
    character_end: Option<usize>,
}

/// Where the phrase may begin, and when to stop.
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
    /// A matcher with an empty cache.
    pub(crate) fn new(phrase: &Phrase, form: Form) -> PhraseMatcher {
        let mut matcher = PhraseMatcher {
            form,
            terms: FxHashMap::default(),
            bare: FxHashMap::default(),
            characters: FxHashMap::default(),
            adjacent: 0,
            last: 0,
            begins: [false; 128],
            word_interner: Interner::new(),
            word_matches: Vec::new(),
            part_matches: Vec::new(),
            run_matches: Vec::new(),
            normalizer: WordNormalizer::new(),
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
                    matcher.adjacent |= if *beside { bit } else { 0 };
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

    /// Whether the text has the phrase. An empty phrase matches nothing.
    pub(crate) fn matches(&mut self, text: &str) -> bool {
        self.read(text, &mut State::default(), Reading::ToMatch)
    }

    /// Calls `each` with the byte after each occurrence of the phrase in the text, ascending.
    pub(crate) fn each_end(&mut self, text: &str, each: impl FnMut(usize)) {
        self.read_each(text, &mut State::default(), Reading::ToEnd, each);
    }

    /// Whether a phrase that begins in some earlier text may end in this one: if false,
    /// [`PhraseMatcher::crosses`] is false for every first text.
    pub(crate) fn may_end_in(&mut self, text: &str) -> bool {
        let mut state = State {
            // Every proper beginning of the phrase may have ended before; the whole phrase did not.
            ends: !self.last,
            character_end: Some(0),
        };
        self.read(text, &mut state, Reading::Onward)
    }

    /// Whether the phrase begins in `first` and ends in `second`, the text that follows it.
    pub(crate) fn crosses(&mut self, first: &str, second: &str) -> bool {
        let mut state = State::default();
        self.read(first, &mut state, Reading::ToEnd);
        state.ends &= !self.last;
        let at_border = state.character_end == Some(first.len());
        state.character_end = at_border.then_some(0);
        self.read(second, &mut state, Reading::Onward)
    }

    /// Reads a text, starting from a state; true when the phrase ended in it.
    fn read(&mut self, text: &str, state: &mut State, reading: Reading) -> bool {
        self.read_each(text, state, reading, |_| ())
    }

    /// As [`PhraseMatcher::read`]; calls `each` where the phrase ends.
    fn read_each(
        &mut self,
        text: &str,
        state: &mut State,
        reading: Reading,
        mut each: impl FnMut(usize),
    ) -> bool {
        self.forget_if_full();
        let begin = u64::from(reading != Reading::Onward);
        let mut found = false;
        let mut words = Segmenter::new(text);
        while let Some(word) = words.next() {
            // No beginning is left that could go on.
            if reading == Reading::Onward && state.ends == 0 {
                return false;
            }
            let mut phrase_end = None;
            if word.class == CharClass::Bigram {
                let bigram = std::str::from_utf8(word.bytes).unwrap_or_default();
                for (at, c) in new_characters(word.start, bigram, state.character_end) {
                    let beside = state.character_end == Some(at);
                    let mut equal = self.characters.get(&c).copied().unwrap_or(0);
                    equal &= if beside { u64::MAX } else { !self.adjacent };
                    state.ends = ((state.ends << 1) | begin) & equal;
                    state.character_end = Some(at + c.len_utf8());
                    if state.ends & self.last != 0 {
                        phrase_end = Some(at + c.len_utf8());
                    }
                }
            } else {
                if !self.may_equal(word.bytes) {
                    state.ends = 0;
                    continue;
                }
                let word_match = self.word_match(word.bytes);
                if self.step(word_match, &mut state.ends, begin) {
                    phrase_end = Some(word.start + word.bytes.len());
                }
            }
            if let Some(end) = phrase_end {
                found = true;
                each(end);
                if reading != Reading::ToEnd {
                    return true;
                }
            }
        }
        found
    }

    /// Reads one word; true when the phrase ended at or in it.
    #[inline]
    fn step(&self, word_match: WordMatch, ends: &mut u64, begin: u64) -> bool {
        let before = *ends;
        let mut has_ended = false;
        match word_match {
            WordMatch::Skipped => {}
            WordMatch::Whole(equal) => *ends = ((before << 1) | begin) & equal,
            WordMatch::Parts { whole, first, end } => {
                let parts = self.part_matches.get(first as usize..end as usize);
                for equal in parts.unwrap_or_default() {
                    *ends = ((*ends << 1) | begin) & equal;
                    has_ended |= *ends & self.last != 0;
                }
                *ends |= ((before << 1) | begin) & whole;
            }
            WordMatch::Joined { whole, first, end } => {
                let runs = self.run_matches.get(first as usize..end as usize);
                for run in runs.unwrap_or_default() {
                    // A run has no runs, so this goes one level deep.
                    has_ended |= self.step(*run, ends, begin);
                }
                *ends |= ((before << 1) | begin) & whole;
            }
        }
        has_ended || *ends & self.last != 0
    }

    /// False when neither the word nor a part of it begins like an element. A quick check before
    /// the cache: a term begins with the same character as its words.
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
            border = digit || !is_ascii_word(*byte);
        }
        false
    }

    fn word_match(&mut self, word: &[u8]) -> WordMatch {
        let (number, new) = self.word_interner.number(word);
        if new {
            let word_match = match std::str::from_utf8(word) {
                Ok(word) => self.learn(word),
                Err(_) => WordMatch::Whole(0),
            };
            self.word_matches.push(word_match);
        }
        let word_match = self.word_matches.get(number as usize).copied();
        word_match.unwrap_or(WordMatch::Whole(0))
    }

    #[cold]
    fn learn(&mut self, word: &str) -> WordMatch {
        let Some(whole) = self.equal(word) else {
            return WordMatch::Skipped;
        };
        if is_joined(word) {
            let matches: Vec<WordMatch> = runs(word)
                .filter_map(|run| word.get(run))
                .map(|run| self.learn(run))
                .collect();
            let first = self.run_matches.len() as u32;
            self.run_matches.extend(matches);
            let end = self.run_matches.len() as u32;
            return WordMatch::Joined { whole, first, end };
        }
        if is_hash(word) {
            return WordMatch::Whole(whole);
        }
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
        let first = self.part_matches.len() as u32;
        for part in parts {
            let equal = word.get(part).and_then(|part| self.equal(part));
            self.part_matches.push(equal.unwrap_or(0));
        }
        let end = self.part_matches.len() as u32;
        WordMatch::Parts { whole, first, end }
    }

    /// The elements that a word equals; `None` for a word that is ignored.
    fn equal(&mut self, word: &str) -> Option<u64> {
        let found = match self.form {
            Form::Written => self.bare.get(self.normalizer.written(word)?),
            Form::Stemmed => match self.normalizer.of(word)? {
                WordKey::Term(term) => self.terms.get(term),
                WordKey::Bare(word) => self.bare.get(word),
            },
        };
        Some(found.copied().unwrap_or(0))
    }

    fn forget_if_full(&mut self) {
        let held = self.word_interner.memory_bytes()
            + self.word_matches.capacity() * size_of::<WordMatch>()
            + self.part_matches.capacity() * size_of::<u64>()
            + self.run_matches.capacity() * size_of::<WordMatch>();
        if held > MEMORY_LIMIT_BYTES {
            self.word_interner.clear(MEMORY_LIMIT_BYTES / 8);
            self.word_matches = Vec::new();
            self.part_matches = Vec::new();
            self.run_matches = Vec::new();
        }
    }
}

#[cfg(test)]
mod tests;
