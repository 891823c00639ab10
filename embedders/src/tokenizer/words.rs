//! Splits text into words by the rules of BERT: control characters go, accents and capital letters if the model says
//! so, and each punctuation mark and each ideograph is a word of its own.
//!
//! Characters are decomposed one by one. The canonical order of combining characters matters only for those outside the
//! category Mn, which do not meet in words of a vocabulary.
//!
//! Of all 1.1 million characters, 618 give other tokens than the library `tokenizers`, whose tables are those of
//! Unicode 8: newer punctuation marks and combining marks.

use unicode_general_category::{GeneralCategory, get_general_category};
use unicode_normalization::char::decompose_canonical;

/// What becomes of characters.
#[derive(Debug, Clone, Copy)]
pub(super) struct Normaliser {
    /// Drops control characters.
    pub(super) clean: bool,
    /// Makes each ideograph a word.
    pub(super) separate_ideographs: bool,
    /// Drops combining marks.
    pub(super) strip_accents: bool,
    /// Makes letters small.
    pub(super) lower_case: bool,
}

/// A token that is found in a text before it is split into words.
#[derive(Debug)]
pub(super) struct Literal {
    pub(super) content: String,
    pub(super) token: u32,
    /// Takes the white space before it.
    pub(super) takes_space: bool,
}

/// A part of a text.
pub(super) enum Piece<'a> {
    /// A word, normalised.
    Word(&'a str),
    /// A token that stands for itself.
    Literal(u32),
}

/// Most bytes of a word that are kept. A word of so many is unknown, however it goes on.
const WORD_LIMIT_BYTES: usize = 8192;

/// A word that is being put together.
struct Word<'a, F> {
    text: String,
    on_piece: &'a mut F,
    /// Whether more is wanted.
    goes_on: bool,
}

impl<F: FnMut(Piece<'_>) -> bool> Word<'_, F> {
    fn push(&mut self, character: char) {
        if self.text.len() < WORD_LIMIT_BYTES {
            self.text.push(character);
        }
    }

    fn end(&mut self) {
        if !self.text.is_empty() {
            self.goes_on = self.goes_on && (self.on_piece)(Piece::Word(&self.text));
            self.text.clear();
        }
    }

    /// A character that is normalised: part of a word, or a word of its own.
    fn take(&mut self, character: char) {
        if is_space(character) {
            self.end();
        } else if is_mark(character) {
            self.end();
            self.push(character);
            self.end();
        } else {
            self.push(character);
        }
    }
}

/// Calls `on_part` with tokens that stand for themselves and the text between them, as it is, until it returns `false`.
pub(super) fn around(literals: &[Literal], text: &str, mut on_part: impl FnMut(Piece<'_>) -> bool) {
    let is_start = starts(literals);
    let (mut begin, mut place) = (0, 0);
    let bytes = text.as_bytes();
    while let Some(byte) = bytes.get(place) {
        let rest = text.get(place..).unwrap_or_default();
        let literal = match is_start.get(usize::from(*byte)) {
            Some(true) => literals.iter().find(|it| rest.starts_with(&it.content)),
            _ => None,
        };
        let Some(literal) = literal else {
            place += 1;
            continue;
        };
        let between = text.get(begin..place).unwrap_or_default();
        let between = match literal.takes_space {
            true => between.trim_end(),
            false => between,
        };
        if !between.is_empty() && !on_part(Piece::Word(between)) {
            return;
        }
        if !on_part(Piece::Literal(literal.token)) {
            return;
        }
        place += literal.content.len();
        begin = place;
    }
    let last = text.get(begin..).unwrap_or_default();
    if !last.is_empty() {
        on_part(Piece::Word(last));
    }
}

/// The bytes that a literal begins with.
fn starts(literals: &[Literal]) -> [bool; 256] {
    let mut is_start = [false; 256];
    for literal in literals {
        if let Some(flag) = literal
            .content
            .bytes()
            .next()
            .and_then(|byte| is_start.get_mut(usize::from(byte)))
        {
            *flag = true;
        }
    }
    is_start
}

/// Calls `on_piece` with the parts of a text, in order, until it returns `false`.
pub(super) fn split(
    normaliser: &Normaliser,
    literals: &[Literal],
    text: &str,
    mut on_piece: impl FnMut(Piece<'_>) -> bool,
) {
    let is_start = starts(literals);
    let mut word = Word {
        text: String::new(),
        on_piece: &mut on_piece,
        goes_on: true,
    };
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        if !word.goes_on {
            return;
        }
        let may_start = rest
            .bytes()
            .next()
            .and_then(|byte| is_start.get(usize::from(byte)));
        if may_start == Some(&true)
            && let Some(literal) = literals
                .iter()
                .find(|literal| rest.starts_with(&literal.content))
        {
            word.end();
            word.goes_on = word.goes_on && (word.on_piece)(Piece::Literal(literal.token));
            rest = rest.get(literal.content.len()..).unwrap_or_default();
            continue;
        }
        rest = rest.get(character.len_utf8()..).unwrap_or_default();
        if character.is_ascii_alphanumeric() {
            word.push(if normaliser.lower_case {
                character.to_ascii_lowercase()
            } else {
                character
            });
        } else {
            normalise(normaliser, character, &mut word);
        }
    }
    if word.goes_on {
        word.end();
    }
}

fn normalise<F: FnMut(Piece<'_>) -> bool>(
    normaliser: &Normaliser,
    character: char,
    word: &mut Word<'_, F>,
) {
    if normaliser.clean {
        if matches!(character, '\0' | '\u{fffd}') || is_control(character) {
            return;
        }
        if is_space(character) {
            word.end();
            return;
        }
    }
    if normaliser.separate_ideographs && is_ideograph(character) {
        word.end();
        fold(normaliser, character, word);
        word.end();
        return;
    }
    fold(normaliser, character, word);
}

/// Drops accents and makes letters small.
fn fold<F: FnMut(Piece<'_>) -> bool>(
    normaliser: &Normaliser,
    character: char,
    word: &mut Word<'_, F>,
) {
    let mut small = |character: char| {
        if normaliser.lower_case {
            for character in character.to_lowercase() {
                word.take(character);
            }
        } else {
            word.take(character);
        }
    };
    if normaliser.strip_accents {
        decompose_canonical(character, |part| {
            if get_general_category(part) != GeneralCategory::NonspacingMark {
                small(part);
            }
        });
    } else {
        small(character);
    }
}

fn is_space(character: char) -> bool {
    character.is_whitespace()
}

/// Characters of the categories Cc, Cf and Co, without the white space among them.
fn is_control(character: char) -> bool {
    !matches!(character, '\t' | '\n' | '\r')
        && matches!(
            get_general_category(character),
            GeneralCategory::Control
                | GeneralCategory::Format
                | GeneralCategory::PrivateUse
                | GeneralCategory::Surrogate
        )
}

fn is_mark(character: char) -> bool {
    character.is_ascii_punctuation()
        || (!character.is_ascii()
            && matches!(
                get_general_category(character),
                GeneralCategory::ConnectorPunctuation
                    | GeneralCategory::DashPunctuation
                    | GeneralCategory::OpenPunctuation
                    | GeneralCategory::ClosePunctuation
                    | GeneralCategory::InitialPunctuation
                    | GeneralCategory::FinalPunctuation
                    | GeneralCategory::OtherPunctuation
            ))
}

/// The blocks that BERT's tokenizer calls Chinese.
fn is_ideograph(character: char) -> bool {
    matches!(
        u32::from(character),
        0x4e00..=0x9fff
            | 0x3400..=0x4dbf
            | 0x20000..=0x2a6df
            | 0x2a700..=0x2b73f
            | 0x2b740..=0x2b81f
            | 0x2b920..=0x2ceaf
            | 0xf900..=0xfaff
            | 0x2f800..=0x2fa1f
    )
}
