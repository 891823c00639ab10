//! From a word as it is written to what it is compared by: lower case, NFC, English stem.

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use super::stop_words::is_stop_word;

/// Whole words or parts of more characters give no term of their own.
pub const MAX_TERM_CHARS: usize = 64;

/// Writes `text` in lower case and composed to `lower`, in the place of what is there.
pub(crate) fn lower_case(text: &str, lower: &mut String) {
    lower.clear();
    if is_nfc_quick(text.chars()) == IsNormalized::Yes {
        lower.extend(text.chars().flat_map(char::to_lowercase));
    } else {
        lower.extend(text.nfc().flat_map(char::to_lowercase));
    }
}

/// Whether a word is nothing but `_`: in code it stands for no name.
pub(crate) fn is_placeholder(word: &str) -> bool {
    word.bytes().all(|byte| byte == b'_')
}

/// Finds what words are compared by.
pub(crate) struct WordNormalizer {
    /// English Snowball.
    stemmer: Stemmer,
    /// A word in lower case, kept for its memory.
    lower: String,
    /// Its stem, likewise.
    stem: String,
}

/// What a word is compared by.
pub(crate) enum WordKey<'k> {
    Term(&'k str),
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

    /// The last word that was looked at, in lower case.
    pub(crate) fn lower_case(&self) -> &str {
        &self.lower
    }

    /// What a whole word or a part is compared by as it is written; `None` for one that is no element.
    pub(crate) fn written(&mut self, word: &str) -> Option<&str> {
        if is_placeholder(word) {
            return None;
        }
        lower_case(word, &mut self.lower);
        Some(&self.lower)
    }

    /// The key of a whole word or of a part; `None` for one that is no element. A word with a term is
    /// in the index wherever it stands; all others are bare.
    pub(crate) fn of(&mut self, word: &str) -> Option<WordKey<'_>> {
        if is_placeholder(word) {
            return None;
        }
        lower_case(word, &mut self.lower);
        let single = |text: &str| text.chars().nth(1).is_none();
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
