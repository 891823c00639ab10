//! Normalises words for comparison: lower case, Unicode NFC, and the English stem.
//!
//! The stemmer is Snowball's English ("Porter2"; Porter 1980, "An algorithm for suffix stripping").

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use super::folding::fold;
use super::joined_words::{DATE_BYTES, is_date, is_joined};
use super::script_class::{SOFT_HYPHEN, is_picture};
use super::stop_words::is_stop_word;

/// Words and parts with more characters give no term.
// Longer words are mostly hashes, keys and generated names. Lucene's StandardTokenizer cuts at 255;
// the smaller limit keeps the dictionary free of terms that nobody types.
pub(crate) const MAX_TERM_CHARS: usize = 64;

/// Replaces `lower` with `text` in NFC and lower case, without soft hyphens.
pub(crate) fn lower_case(text: &str, lower: &mut String) {
    lower.clear();
    let letters = text.chars().filter(|c| *c != SOFT_HYPHEN);
    // Nearly all text is composed already, and the quick check only reads a table.
    if is_nfc_quick(text.chars()) == IsNormalized::Yes {
        lower.extend(letters.flat_map(char::to_lowercase));
    } else {
        lower.extend(letters.nfc().flat_map(char::to_lowercase));
    }
}

/// Replaces `lower` with the term of a word with signs: lower case, without the space behind a section
/// sign, the time behind a date, and the `v` of `v2.10.3`, which is the version `2.10.3`.
pub(crate) fn joined_term(word: &str, lower: &mut String) {
    lower_case(word, lower);
    lower.retain(|c| !c.is_whitespace());
    if is_date(lower.as_bytes()) {
        lower.truncate(DATE_BYTES);
    }
    let number = lower
        .strip_prefix('v')
        .filter(|number| number.contains('.'));
    if number.is_some_and(|number| number.starts_with(|c: char| c.is_ascii_digit())) {
        lower.remove(0);
    }
}

/// Whether a word consists of `_` only: in code that is a placeholder, not a name.
pub(crate) fn is_placeholder(word: &str) -> bool {
    word.bytes().all(|byte| byte == b'_')
}

/// Computes the keys by which phrases compare words.
pub(crate) struct WordNormalizer {
    /// Snowball, English.
    stemmer: Stemmer,
    /// The last word in lower case; the buffer is reused.
    lower: String,
    /// The same without marks; the buffer is reused.
    folded: String,
    /// Its stem; the buffer is reused.
    stem: String,
}

/// The key by which words are compared.
pub(crate) enum WordKey<'k> {
    /// The stem, without marks, of a word that the index has.
    Term(&'k str),
    /// A word that the index leaves out, in lower case.
    Bare(&'k str),
}

impl WordNormalizer {
    pub(crate) fn new() -> WordNormalizer {
        WordNormalizer {
            stemmer: Stemmer::create(Algorithm::English),
            lower: String::new(),
            folded: String::new(),
            stem: String::new(),
        }
    }

    /// The word of the last call, in lower case.
    pub(crate) fn lower_case(&self) -> &str {
        &self.lower
    }

    /// The key of a word for `Form::Written`: lower case. `None` for a placeholder.
    pub(crate) fn written(&mut self, word: &str) -> Option<&str> {
        if is_placeholder(word) {
            return None;
        }
        lower_case(word, &mut self.lower);
        Some(&self.lower)
    }

    /// The stemmed key of a word or of a part of an identifier; `None` for a placeholder. Stop
    /// words, single characters and very long words are bare, because the index does not have all
    /// of them.
    pub(crate) fn of(&mut self, word: &str) -> Option<WordKey<'_>> {
        if is_placeholder(word) {
            return None;
        }
        if is_joined(word) {
            joined_term(word, &mut self.lower);
            return Some(WordKey::Term(&self.lower));
        }
        lower_case(word, &mut self.lower);
        if word.starts_with(is_picture) {
            return Some(WordKey::Term(&self.lower));
        }
        let single = |text: &str| text.chars().nth(1).is_none();
        // As in the index: what has no term there is compared as written.
        let bare = single(word)
            || single(&self.lower)
            || self.lower.chars().nth(MAX_TERM_CHARS).is_some()
            || is_stop_word(&self.lower);
        if bare {
            return Some(WordKey::Bare(&self.lower));
        }
        let has_marks = fold(&self.lower, &mut self.folded) && !is_stop_word(&self.folded);
        let form = if has_marks { &self.folded } else { &self.lower };
        self.stem.clear();
        self.stem.push_str(&self.stemmer.stem(form));
        Some(WordKey::Term(&self.stem))
    }
}
