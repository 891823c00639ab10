//! Phrases: consecutive words, also those that the index leaves out.
//!
//! A phrase is a list of elements. A word of a script with spaces is one element, also when it is
//! an identifier; each character of a script without spaces is one. Words of `_` only, and words
//! longer than [`MAX_WORD_BYTES`](crate::index::keyword::MAX_WORD_BYTES), are ignored in phrases
//! and texts.
//!
//! A text matches when it has consecutive elements that equal those of the phrase; [`Form`] defines
//! when two words are equal. An identifier in a text also matches as its parts: `readFile` matches
//! the element `readfile` and, at the same position, `read` followed by `file`. Characters that are
//! adjacent in the phrase must be adjacent in the text.

use super::character_rows::CHARACTERS_LIMIT;
use crate::index::keyword::analysis::script_class::CharClass;
use crate::index::keyword::analysis::segmenter::Segmenter;
use crate::index::keyword::analysis::stemming::{WordKey, WordNormalizer};

/// Most elements of a phrase. Further ones are ignored.
// The matcher has one bit for each element in a u64. Longer quotations are found by their first 64
// words.
pub(crate) const MAX_PHRASE_ELEMENTS: usize = 64;

/// An element of a phrase, by what it is compared by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Element {
    /// The term of a word.
    Term(String),
    /// A word that the index leaves out, in lower case.
    Bare(String),
    /// A character of a script without spaces, and whether it is adjacent to the previous one.
    Character(char, bool),
}

/// When a word of a text equals a word of a phrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// When they are the same word, ignoring case and Unicode composition. Punctuation, markup and
    /// ends of lines between words are ignored, and so are `_` around a word, which Markdown uses
    /// for emphasis. An identifier is one word.
    Written,
    /// When they have the same term; words without a term (stop words, single characters, very long
    /// words) when they are the same in lower case. An identifier also matches as its consecutive
    /// parts. Whatever matches as written also matches stemmed.
    Stemmed,
}

/// A sequence of words to find.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Phrase {
    /// At most [`MAX_PHRASE_ELEMENTS`].
    pub(crate) elements: Vec<Element>,
    /// The word of each element in lower case and NFC; a character as it is.
    pub(crate) written: Vec<String>,
    /// Whether there were more elements.
    cut: bool,
}

/// A term that every row with certain elements of a phrase has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PhraseTerm {
    /// The first of these elements.
    pub first: usize,
    /// The last of them.
    pub last: usize,
    /// The term.
    pub term: String,
}

impl Phrase {
    /// The elements of `text`.
    pub(crate) fn new(text: &str) -> Phrase {
        let mut keys = WordNormalizer::new();
        let mut phrase = Phrase::default();
        let mut side_by_side = None;
        let mut words = Segmenter::new(text);
        while let Some(word) = words.next() {
            let Ok(word_text) = std::str::from_utf8(word.bytes) else {
                continue;
            };
            if word.class == CharClass::Bigram {
                for (at, c) in new_characters(word.start, word_text, side_by_side) {
                    phrase.push(
                        Element::Character(c, side_by_side == Some(at)),
                        c.to_string(),
                    );
                    side_by_side = Some(at + c.len_utf8());
                }
            } else if let Some(key) = keys.of(word_text) {
                let element = match key {
                    WordKey::Term(term) => Element::Term(term.to_owned()),
                    WordKey::Bare(word) => Element::Bare(word.to_owned()),
                };
                phrase.push(element, keys.lower_case().to_owned());
            }
            if phrase.cut {
                break;
            }
        }
        phrase
    }

    fn push(&mut self, element: Element, written: String) {
        if self.elements.len() < MAX_PHRASE_ELEMENTS {
            self.elements.push(element);
            self.written.push(written);
        } else {
            self.cut = true;
        }
    }

    /// The number of elements.
    pub(crate) fn len(&self) -> usize {
        self.elements.len()
    }

    /// Whether it has no elements.
    pub(crate) fn is_empty(&self) -> bool {
        self.elements.is_empty()
    }

    /// Whether elements after the first [`MAX_PHRASE_ELEMENTS`] were left out.
    pub(crate) fn is_cut(&self) -> bool {
        self.cut
    }

    /// The term of a phrase that is a single word with a term, or a single character of a script
    /// without spaces: such a phrase needs no verification.
    pub(crate) fn only_term(&self) -> Option<&str> {
        match self.elements.as_slice() {
            [Element::Term(term)] => Some(term),
            [Element::Character(..)] => self.written.first().map(String::as_str),
            _ => None,
        }
    }

    /// Whether it is a single word that the index leaves out.
    pub(crate) fn is_bare_word(&self) -> bool {
        matches!(self.elements.as_slice(), [Element::Bare(_)])
    }

    /// The terms that every row with the phrase has, by ascending `last`. A row that has only the
    /// elements `i..j` has the terms within `i..j`. Empty when no element has a term.
    pub(crate) fn terms(&self) -> Vec<PhraseTerm> {
        let mut terms = Vec::new();
        let mut before: Option<&Element> = None;
        let mut elements = self
            .elements
            .iter()
            .zip(&self.written)
            .enumerate()
            .peekable();
        let mut characters = 0;
        while let Some((at, (element, written))) = elements.next() {
            let is_followed =
                matches!(elements.peek(), Some((_, (Element::Character(_, true), _))));
            match (element, before) {
                (Element::Term(term), _) => terms.push(PhraseTerm {
                    first: at,
                    last: at,
                    term: term.clone(),
                }),
                (Element::Character(second, true), Some(Element::Character(first, _))) => {
                    terms.push(PhraseTerm {
                        first: at.saturating_sub(1),
                        last: at,
                        term: [*first, *second].iter().collect(),
                    });
                }
                // Characters cost a pass over the dictionary.
                (Element::Character(..), _) if !is_followed && characters < CHARACTERS_LIMIT => {
                    characters += 1;
                    terms.push(PhraseTerm {
                        first: at,
                        last: at,
                        term: written.clone(),
                    });
                }
                _ => {}
            }
            before = Some(element);
        }
        terms
    }
}

/// The characters of a bigram at byte `start` that were not in the previous one, which ended at
/// `before`, each with its byte offset.
pub(crate) fn new_characters(
    start: usize,
    bigram: &str,
    before: Option<usize>,
) -> impl Iterator<Item = (usize, char)> {
    let all = bigram.char_indices().map(move |(at, c)| (start + at, c));
    all.filter(move |(at, _)| before.is_none_or(|before| *at >= before))
}
