//! Text to terms: one analyser for documents and queries.
//!
//! A run of letters, numbers, marks and `_` is a word. Its terms are its lower-case English stem
//! and, for an identifier, the stems of its parts (`camelCase`, `snake_case`, digits). A word with
//! signs (`2.10.3`, `C++`, `--flag`) is a term as a whole, and the runs in it are words of their own.
//! In scripts without spaces every pair of adjacent characters is a term (bigrams, as in Lucene's
//! `CJKAnalyzer`). Stop words, parts of one character and single small letters have no term; digits,
//! single capital letters and emoji do.

use std::ops::Range;

use rust_stemmers::{Algorithm, Stemmer};
use rustc_hash::FxHashMap;

use crate::index::keyword::analysis::folding::{fold, fold_umlauts};
use crate::index::keyword::analysis::interner::Interner;
use crate::index::keyword::analysis::joined_words::{is_joined, number_start, runs};
use crate::index::keyword::analysis::language::Language;
use crate::index::keyword::analysis::script_class::CharClass;
use crate::index::keyword::analysis::segmenter::{
    IdentifierParts, MAX_WORD_BYTES, Segmenter, Word, is_hash,
};
use crate::index::keyword::analysis::stemming::{
    MAX_TERM_CHARS, is_placeholder, joined_term, lower_case,
};
use crate::index::keyword::analysis::stop_words::is_stop_word;
use crate::index::keyword::analysis::term_counters::TermCounters;

/// The version of the analysis: the rules of this file and the Unicode version of the character
/// classes. Queries must be analysed with the id that the index was built with.
///
/// Case mapping and composition come from other tables, which may be newer: Unicode never changes
/// them for assigned characters, and unassigned ones end a word.
pub(crate) const ANALYSER_ID: &str = "words-2/unicode-16.0.0";

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
    /// The words of the language at hand.
    words: WordCache,
    /// The language that words have stems of, and its stemmer; `None` for English alone.
    language: Option<(Language, Stemmer)>,
    /// The words of languages that came before.
    other_words: Vec<(Option<Language>, WordCache)>,
    /// Cached words without parts, and parts of identifiers: `Parse` of `ParseError`. Parts recur
    /// in many identifiers, and each is stemmed once.
    part_interner: Interner,
    /// The term of each cached part as it is written, if it has one.
    part_terms: Vec<Option<u32>>,
    /// The terms of other forms of cached parts, by the number of the part. Few parts have any.
    part_forms: FxHashMap<u32, OtherForms>,
    /// Distinct terms.
    term_interner: Interner,
    /// TermCounters by term number, for [`crate::index::keyword::analysis::document_terms`].
    pub(crate) counters: TermCounters,
    /// A word in lower case; the buffer is reused.
    lower: String,
    /// The same without marks; the buffer is reused.
    folded: String,
}

/// The terms of words.
#[derive(Debug)]
struct WordCache {
    /// Words and bigrams as they are written.
    interner: Interner,
    /// End of the terms of each word in `terms`.
    ends: Vec<u32>,
    /// Terms of all words.
    terms: Vec<WordTerm>,
}

impl WordCache {
    fn new() -> WordCache {
        WordCache {
            interner: Interner::new(),
            ends: Vec::new(),
            terms: Vec::new(),
        }
    }

    fn memory_bytes(&self) -> usize {
        self.interner.memory_bytes() + self.terms.capacity() * size_of::<WordTerm>()
    }
}

/// The terms of a word without marks, and with `ae` for an umlaut.
type OtherForms = [Option<u32>; 2];

impl std::fmt::Debug for Analyser {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Analyser")
            .field("words", &self.words.interner.len())
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
    /// One past its last byte, and [`FOLDED`].
    end: u16,
}

/// In the end of a term: it is of another form of the word than the one that is written.
// No word is so long, and a byte more would take four in each entry of the cache.
const FOLDED: u16 = 1 << 15;

impl WordTerm {
    /// Whether it is of another form of the word than the one that is written.
    pub(crate) fn is_folded(self) -> bool {
        self.end & FOLDED != 0
    }

    /// Its bytes within the word.
    fn range(self) -> Range<usize> {
        usize::from(self.start)..usize::from(self.end & !FOLDED)
    }
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
            words: WordCache::new(),
            language: None,
            other_words: Vec::new(),
            part_interner: Interner::new(),
            part_terms: Vec::new(),
            part_forms: FxHashMap::default(),
            term_interner: Interner::new(),
            counters: TermCounters::default(),
            lower: String::new(),
            folded: String::new(),
        }
    }

    /// Sets the language whose stems the words of the next texts have beside their other terms; `None` for English
    /// alone. Words keep their terms.
    pub fn set_language(&mut self, language: Option<Language>) {
        let before = self.language.as_ref().map(|(language, _)| *language);
        if before == language {
            return;
        }
        let known = self.other_words.iter().position(|(of, _)| *of == language);
        let words = known.map(|at| self.other_words.swap_remove(at).1);
        let words = std::mem::replace(&mut self.words, words.unwrap_or_else(WordCache::new));
        self.other_words.push((before, words));
        self.language = language.map(|language| (language, language.stemmer()));
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

    /// Calls `emit` with each word of `text` that has terms, as it is written, each of its terms, and whether the
    /// term is of a form without marks. Such a term comes after that of the form that is written.
    pub fn analyse_words(&mut self, text: &str, mut emit: impl FnMut(&str, &str, bool)) {
        self.forget_if_full();
        let mut words = Segmenter::new(text);
        while let Some(word) = words.next() {
            let range = self.word_range(word.bytes, word.class);
            let Ok(written) = std::str::from_utf8(word.bytes) else {
                continue;
            };
            for found in self.words.terms.get(range).unwrap_or_default() {
                if let Ok(term) = std::str::from_utf8(self.term_interner.get(found.term)) {
                    emit(written, term, found.is_folded());
                }
            }
        }
    }

    /// Calls `emit` with each term of one word and its byte range in the text.
    #[inline]
    fn terms_of(&mut self, word: &Word<'_>, mut emit: impl FnMut(&str, Range<usize>)) {
        let range = self.word_range(word.bytes, word.class);
        for found in self.words.terms.get(range).unwrap_or_default() {
            if let Ok(term) = std::str::from_utf8(self.term_interner.get(found.term)) {
                let range = found.range();
                emit(term, word.start + range.start..word.start + range.end);
            }
        }
    }

    /// The number of a term. It stays valid until [`Analyser::forget_if_full`].
    pub(crate) fn number_of_term(&mut self, term: &str) -> u32 {
        self.term_interner.number(term.as_bytes()).0
    }

    /// Calls `emit` with the number and byte range in the text of each term of one word.
    #[inline]
    pub(crate) fn numbers_of(&mut self, word: &Word<'_>, mut emit: impl FnMut(u32, Range<usize>)) {
        let range = self.word_range(word.bytes, word.class);
        for found in self.words.terms.get(range).unwrap_or_default() {
            let range = found.range();
            emit(found.term, word.start + range.start..word.start + range.end);
        }
    }

    /// Calls `emit` with each term of `text`. Their numbers stay valid until
    /// [`Analyser::forget_if_full`].
    #[inline]
    pub(crate) fn numbers(
        &mut self,
        text: &str,
        mut emit: impl FnMut(&Interner, &mut TermCounters, &WordTerm),
    ) {
        let mut words = Segmenter::new(text);
        while let Some(word) = words.next() {
            let range = self.word_range(word.bytes, word.class);
            for found in self.words.terms.get(range).unwrap_or_default() {
                emit(&self.term_interner, &mut self.counters, found);
            }
        }
    }

    /// The terms by number, and their counters.
    pub(crate) fn counting(&mut self) -> (&mut Interner, &mut TermCounters) {
        (&mut self.term_interner, &mut self.counters)
    }

    /// Clears the caches when they have grown too large. Invalidates term numbers.
    pub(crate) fn forget_if_full(&mut self) {
        let others = self.other_words.iter();
        let others: usize = others.map(|(_, words)| words.memory_bytes()).sum();
        let held = self.words.memory_bytes()
            + others
            + self.part_interner.memory_bytes()
            + self.part_terms.capacity() * size_of::<Option<u32>>()
            + self.part_forms.capacity() * size_of::<(u32, OtherForms)>()
            + self.term_interner.memory_bytes();
        if held > MEMORY_LIMIT_BYTES {
            // Some memory is kept, so that it is not allocated again at once.
            self.words.interner.clear(MEMORY_LIMIT_BYTES / 8);
            self.part_interner.clear(MEMORY_LIMIT_BYTES / 8);
            self.part_terms = Vec::new();
            self.part_forms = FxHashMap::default();
            self.term_interner.clear(MEMORY_LIMIT_BYTES / 8);
            self.words.ends = Vec::new();
            self.words.terms = Vec::new();
            self.other_words = Vec::new();
            self.counters.clear();
        }
    }

    /// The range of the terms of a word in `word_terms`.
    #[inline]
    fn word_range(&mut self, word: &[u8], class: CharClass) -> Range<usize> {
        let (number, new) = self.words.interner.number(word);
        if new {
            self.learn(word, class);
        }
        let number = number as usize;
        let start = match number.checked_sub(1) {
            Some(before) => self.words.ends.get(before).copied().unwrap_or(0),
            None => 0,
        };
        let end = self.words.ends.get(number).copied().unwrap_or(start);
        start as usize..end as usize
    }

    /// Adds the terms of a new word to the cache.
    #[cold]
    fn learn(&mut self, word: &[u8], class: CharClass) {
        match std::str::from_utf8(word) {
            Ok(word) if class != CharClass::Word => {
                let (term, _) = self.term_interner.number(word.as_bytes());
                self.push_term(term, 0..word.len());
            }
            Ok(word) if is_joined(word) => self.learn_joined(word),
            Ok(word) => self.learn_word(word, 0),
            Err(_) => {}
        }
        self.words.ends.push(self.words.terms.len() as u32);
    }

    /// Adds the terms of a word with signs: the whole and the runs of letters and digits in it.
    fn learn_joined(&mut self, word: &str) {
        joined_term(word, &mut self.lower);
        let whole = self.term_interner.number(self.lower.as_bytes()).0;
        self.push_term(whole, 0..word.len());
        if let Some(start) = number_start(word)
            && let Some(number) = word.get(start..)
        {
            let (term, _) = self.term_interner.number(number.to_lowercase().as_bytes());
            if term != whole {
                self.push_term(term, start..word.len());
            }
        }
        for run in runs(word) {
            // A single letter or digit says nothing by itself.
            if run.len() > 1
                && let Some(text) = word.get(run.clone())
            {
                self.learn_word(text, run.start);
            }
        }
    }

    /// Adds the terms of a run of letters and digits that starts at byte `start` of its word.
    fn learn_word(&mut self, word: &str, start: usize) {
        let mut chars = word.chars();
        let (Some(first), second) = (chars.next(), chars.next()) else {
            return;
        };
        if second.is_none() {
            return self.learn_character(first, start);
        }
        let mut parts = IdentifierParts::new(word);
        let first = parts.next();
        // A word without parts is its own part; it must not be entered twice.
        if first.as_ref().is_none_or(|part| part.len() == word.len()) {
            self.learn_part(word, start);
            return self.learn_stem(word, start);
        }
        let (written, others) = self.find_terms(word);
        self.push_forms(written, others, start..start + word.len());
        if is_hash(word) {
            return;
        }
        for part in first.into_iter().chain(parts) {
            // A single letter or digit says nothing by itself.
            if part.len() > 1
                && let Some(bytes) = word.get(part.clone())
            {
                self.learn_part(bytes, start + part.start);
            }
        }
    }

    /// Adds the term of a word of one character: a digit, or a capital letter as in `vitamin C`. Others have no
    /// term: every chunk of code has `i` and `x`.
    fn learn_character(&mut self, character: char, start: usize) {
        // `I` and `A` are words of sentences.
        let is_name = character.is_ascii_uppercase() && !matches!(character, 'A' | 'I');
        if is_name || character.is_ascii_digit() {
            let lower = character.to_ascii_lowercase();
            let (term, _) = self
                .term_interner
                .number(lower.encode_utf8(&mut [0; 4]).as_bytes());
            self.push_term(term, start..start + 1);
        }
    }

    /// Adds the term of a word without parts, or of a part that starts at byte `start` of its word.
    fn learn_part(&mut self, text: &str, start: usize) {
        let (number, new) = self.part_interner.number(text.as_bytes());
        if new {
            let (written, others) = self.find_terms(text);
            self.part_terms.push(written);
            if others != OtherForms::default() {
                self.part_forms.insert(number, others);
            }
        }
        let written = self.part_terms.get(number as usize).copied().flatten();
        let others = self.part_forms.get(&number).copied().unwrap_or_default();
        self.push_forms(written, others, start..start + text.len());
    }

    /// Adds the stem of a word in the language at hand. Identifiers are English.
    fn learn_stem(&mut self, word: &str, start: usize) {
        let Some((language, stemmer)) = &self.language else {
            return;
        };
        lower_case(word, &mut self.lower);
        if !is_stemmed(&self.lower) {
            return;
        }
        language.term(stemmer, &self.lower, &mut self.folded);
        let term = self.term_interner.number(self.folded.as_bytes()).0;
        self.push_form(term, start..start + word.len());
    }

    /// The number of the term of a word or part as it is written, and those of its other forms; `None` when it has no
    /// term.
    fn find_terms(&mut self, text: &str) -> (Option<u32>, OtherForms) {
        let mut others = OtherForms::default();
        lower_case(text, &mut self.lower);
        let long = self.lower.chars().nth(MAX_TERM_CHARS).is_some();
        if long || is_stop_word(&self.lower) || is_placeholder(&self.lower) {
            return (None, others);
        }
        let terms = &mut self.term_interner;
        let written = number_of_stem(&self.stemmer, terms, &self.lower);
        let [plain, digraphs] = &mut others;
        // A form that is a stop word says no more than the stop word.
        if fold(&self.lower, &mut self.folded) && !is_stop_word(&self.folded) {
            let term = number_of_stem(&self.stemmer, terms, &self.folded);
            *plain = Some(term).filter(|term| *term != written);
        }
        if fold_umlauts(&self.lower, &mut self.folded) {
            *digraphs = Some(number_of_stem(&self.stemmer, terms, &self.folded));
        }
        (Some(written), others)
    }

    fn push_forms(&mut self, written: Option<u32>, others: OtherForms, range: Range<usize>) {
        if let Some(term) = written {
            self.push_term(term, range.clone());
        }
        for term in others.into_iter().flatten() {
            self.push_form(term, range.clone());
        }
    }

    /// Adds the term of a form of a word that is not the one that is written.
    fn push_form(&mut self, term: u32, range: Range<usize>) {
        self.push_term(term, range);
        if let Some(last) = self.words.terms.last_mut() {
            last.end |= FOLDED;
        }
    }

    fn push_term(&mut self, term: u32, range: Range<usize>) {
        self.words.terms.push(WordTerm {
            term,
            // A word has at most MAX_WORD_BYTES = 256 bytes.
            start: range.start as u16,
            end: range.end as u16,
        });
    }
}

/// Whether a word in lower case has a stem in its language.
pub(crate) fn is_stemmed(lower: &str) -> bool {
    let is_word = lower.chars().all(char::is_alphabetic) && lower.chars().nth(1).is_some();
    is_word && lower.chars().nth(MAX_TERM_CHARS).is_none() && !is_stop_word(lower)
}

/// The number of the stem of a word.
fn number_of_stem(stemmer: &Stemmer, terms: &mut Interner, word: &str) -> u32 {
    terms.number(stemmer.stem(word).as_bytes()).0
}

#[cfg(test)]
mod tests;
