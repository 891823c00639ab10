//! Segmenter in a row: phrases against text, with the words that the index leaves out.
//!
//! A phrase is a list of elements. A word of a script with spaces is one element, an identifier as a
//! whole too; each character of a script without spaces is one. Segmenter of nothing but `_` and words
//! longer than [`MAX_WORD_BYTES`](super::MAX_WORD_BYTES) are none, neither in a phrase nor in a text.
//!
//! In a text an identifier stands for itself and for its parts in a row: `readFile` has the element
//! `readfile`, and in the same place `read` followed by `file`. A text has a phrase when it has
//! elements in a row that equal those of the phrase. What makes two words equal is said by [`Form`].
//! Characters that stand side by side in the phrase must stand side by side in the text.

use super::character_rows::CHARACTERS_LIMIT;
use crate::index::keyword::analysis::script_class::CharClass;
use crate::index::keyword::analysis::segmenter::Segmenter;
use crate::index::keyword::analysis::stemming::{WordKey, WordNormalizer};

/// Elements of a phrase that count; those after them are not looked at.
pub const MAX_PHRASE_ELEMENTS: usize = 64;

/// What two equal elements have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Element {
    /// The term of a word.
    Term(String),
    /// A word that gives no term, in lower case.
    Bare(String),
    /// A character of a script without spaces, and whether it stands beside the one before.
    Character(char, bool),
}

/// When a word of a text equals a word of a phrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// When it is the same word, case and composition of its characters aside. What stands between words
    /// (punctuation, markup, ends of lines) does not count, nor does `_` around a word, which is how
    /// Markdown marks emphasis. An identifier is one word.
    Written,
    /// When the analyser gives both the same term; stop words, words of one character and words too long
    /// for a term when they are the same in lower case. An identifier also stands for its parts in a
    /// row. Whatever matches as written matches by its terms too.
    Stemmed,
}

/// Segmenter that are to stand in a row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Phrase {
    /// At most [`MAX_PHRASE_ELEMENTS`].
    pub(crate) elements: Vec<Element>,
    /// The word of each element in lower case and composed; a character as it is.
    pub(crate) written: Vec<String>,
    /// Whether there were more.
    cut: bool,
}

/// A term that every row has in which some elements of a phrase stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhraseTerm {
    /// The first of these elements.
    pub first: usize,
    /// The last of them.
    pub last: usize,
    /// The term as the index has it.
    pub term: String,
}

impl Phrase {
    /// The elements of `text`.
    pub fn new(text: &str) -> Phrase {
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

    /// How many elements it has.
    pub fn len(&self) -> usize {
        self.elements.len()
    }

    /// Whether nothing is asked for.
    pub fn is_empty(&self) -> bool {
        self.elements.is_empty()
    }

    /// Whether elements after the first [`MAX_PHRASE_ELEMENTS`] were left out.
    pub fn is_cut(&self) -> bool {
        self.cut
    }

    /// The term of a phrase that is a single word with a term, or a single character of a script without
    /// spaces: the index answers it alone.
    pub fn only_term(&self) -> Option<&str> {
        match self.elements.as_slice() {
            [Element::Term(term)] => Some(term),
            [Element::Character(..)] => self.written.first().map(String::as_str),
            _ => None,
        }
    }

    /// Whether it is a single word that the index leaves out.
    pub fn is_bare_word(&self) -> bool {
        matches!(self.elements.as_slice(), [Element::Bare(_)])
    }

    /// The terms that rows with the phrase have, by ascending `last`. A row where only the elements
    /// `i..j` stand has those that lie within `i..j`. Empty when no element has a term.
    pub fn terms(&self) -> Vec<PhraseTerm> {
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
                // Each costs a pass over the dictionary.
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

/// The characters of a bigram at byte `start` that were not in the one before, which ended at
/// `before`, each with its first byte.
pub(crate) fn new_characters(
    start: usize,
    bigram: &str,
    before: Option<usize>,
) -> impl Iterator<Item = (usize, char)> {
    let all = bigram.char_indices().map(move |(at, c)| (start + at, c));
    all.filter(move |(at, _)| before.is_none_or(|before| *at >= before))
}
