//! Normalises words for comparison: lower case, Unicode NFC, and the English stem.
//!
//! The stemmer is Snowball's English ("Porter2"; Porter 1980, "An algorithm for suffix stripping").

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use super::stop_words::is_stop_word;

/// Words and parts with more characters give no term.
// Longer words are mostly hashes, keys and generated names. Lucene's StandardTokenizer cuts at 255;
// the smaller limit keeps the dictionary free of terms that nobody types.
pub(crate) const MAX_TERM_CHARS: usize = 64;

/// Replaces `lower` with `text` in NFC and lower case.
pub(crate) fn lower_case(text: &str, lower: &mut String) {
    lower.clear();
    // Nearly all text is composed already, and the quick check only reads a table.
    if is_nfc_quick(text.chars()) == IsNormalized::Yes {
        lower.extend(text.chars().flat_map(char::to_lowercase));
    } else {
        lower.extend(text.nfc().flat_map(char::to_lowercase));
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
    /// Its stem; the buffer is reused.
    stem: String,
}

/// The key by which words are compared.
pub(crate) enum WordKey<'k> {
    /// The stem of a word that the index has.
    Term(&'k str),
    /// A word that the index leaves out, in lower case.
    Bare(&'k str),
}

impl WordNormalizer {
    pub(crate) fn new() -> WordNormalizer {
        WordNormalizer {
            stemmer: Stemmer::create(Algorithm::English),
            lower: String::new(),
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
        lower_case(word, &mut self.lower);
        let single = |text: &str| text.chars().nth(1).is_none();
        // As in the index: what has no term there is compared as written.
        let bare = single(word)
            || single(&self.lower)
            || self.lower.chars().nth(MAX_TERM_CHARS).is_some()
            || is_stop_word(&self.lower);
        if bare {
            return Some(WordKey::Bare(&self.lower));
        }
        self.stem.clear();
        self.stem.push_str(&self.stemmer.stem(&self.lower));
        Some(WordKey::Term(&self.stem))
    }
}
