//! The tokenizer of the built-in model: splits a text into words, then each word into the longest
//! pieces of the vocabulary from the left (WordPiece, greedy longest match first, as in BERT:
//! Devlin et al. 2019). Linear time and no allocation for every text.
//!
//! Characters are decomposed (NFD) one by one. The canonical order of combining characters is not
//! needed: those of category Mn are dropped, and no word of the vocabulary has another one.

use unicode_general_category::{GeneralCategory, get_general_category};
use unicode_normalization::char::decompose_canonical;

use super::slot::{self, Position};

/// Longer words have no tokens.
// Longer words are data, and splitting takes time with the square of the length. BERT's tokenizer
// has 100.
const LONGEST_WORD_CHARS: usize = 64;
const LONGEST_WORD_BYTES: usize = LONGEST_WORD_CHARS * 4;

/// A normalised word, in lower case and without accents, or one punctuation mark.
#[derive(Debug)]
pub(super) struct Word {
    /// The characters; only the first [`LONGEST_WORD_CHARS`] of a longer word.
    bytes: [u8; LONGEST_WORD_BYTES],
    /// Bytes in use.
    len_bytes: usize,
    /// Characters of the word, also those that were not kept.
    chars: usize,
    /// Hash of the bytes in use as the start of a word.
    hash: u64,
    /// Whether the word is a punctuation mark.
    is_mark: bool,
}

impl Word {
    fn new() -> Word {
        Word {
            bytes: [0; LONGEST_WORD_BYTES],
            len_bytes: 0,
            chars: 0,
            hash: Position::Start.seed(),
            is_mark: false,
        }
    }

    /// Whether the word is a single punctuation mark.
    pub(super) fn is_mark(&self) -> bool {
        self.is_mark
    }

    /// The bytes of the word; `None` if it is too long to have tokens.
    fn bytes(&self) -> Option<&[u8]> {
        if self.chars > LONGEST_WORD_CHARS {
            return None;
        }
        self.bytes.get(..self.len_bytes)
    }

    #[inline]
    fn push_byte(&mut self, byte: u8) {
        if let Some(free) = self.bytes.get_mut(self.len_bytes) {
            *free = byte;
            self.len_bytes += 1;
            self.hash = slot::extend(self.hash, byte);
        }
    }

    #[inline]
    fn push_ascii(&mut self, byte: u8) {
        // Bytes after the end of the buffer are dropped; such a word is too long anyway.
        self.push_byte(byte);
        self.chars += 1;
    }

    fn push(&mut self, character: char) {
        let mut encoded = [0; 4];
        for &byte in character.encode_utf8(&mut encoded).as_bytes() {
            self.push_byte(byte);
        }
        self.chars += 1;
    }

    /// Ends the word, if there is one, and begins the next.
    #[inline]
    fn end(&mut self, on_word: &mut impl FnMut(&Word)) {
        if self.chars > 0 {
            on_word(self);
            self.len_bytes = 0;
            self.chars = 0;
            self.hash = Position::Start.seed();
        }
    }

    /// Ends the word and makes a word of one punctuation mark.
    #[inline]
    fn end_with_mark(&mut self, mark: char, on_word: &mut impl FnMut(&Word)) {
        self.end(on_word);
        if mark.is_ascii() {
            self.push_ascii(mark as u8);
        } else {
            self.push(mark);
        }
        self.is_mark = true;
        self.end(on_word);
        self.is_mark = false;
    }
}

/// How the splitter treats a byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// TAB, LF, CR or space: ends a word.
    Space,
    /// Any other control character: ignored.
    Removed,
    /// `a-z`, `0-9`.
    Small,
    /// `A-Z`.
    Capital,
    /// The 32 punctuation marks, each of them a word.
    Mark,
    /// Part of a character outside ASCII.
    Wide,
}

#[expect(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler, which checks the bound"
)]
const KINDS: [Kind; 256] = {
    let mut kinds = [Kind::Wide; 256];
    let mut byte = 0;
    while byte < 128 {
        kinds[byte] = match byte as u8 {
            b'\t' | b'\n' | b'\r' | b' ' => Kind::Space,
            0..b' ' | 0x7f => Kind::Removed,
            b'a'..=b'z' | b'0'..=b'9' => Kind::Small,
            b'A'..=b'Z' => Kind::Capital,
            _ => Kind::Mark,
        };
        byte += 1;
    }
    kinds
};

#[inline]
#[expect(
    clippy::indexing_slicing,
    reason = "a byte is below 256, the length of the table"
)]
fn kind(byte: u8) -> Kind {
    KINDS[usize::from(byte)]
}

/// Calls `on_word` with every word of the text, in order.
pub(super) fn for_each_word(text: &str, mut on_word: impl FnMut(&Word)) {
    let bytes = text.as_bytes();
    let mut word = Word::new();
    let mut position = 0;
    let mut before = Kind::Space;
    while let Some(&byte) = bytes.get(position) {
        let here = kind(byte);
        position += 1;
        match here {
            Kind::Small => word.push_ascii(byte),
            Kind::Space => word.end(&mut on_word),
            Kind::Mark => word.end_with_mark(char::from(byte), &mut on_word),
            Kind::Capital => {
                let starts_word = match before {
                    Kind::Small => true,
                    Kind::Capital => bytes.get(position).is_some_and(u8::is_ascii_lowercase),
                    _ => false,
                };
                if starts_word {
                    word.end(&mut on_word);
                }
                word.push_ascii(byte.to_ascii_lowercase());
            }
            Kind::Removed => {}
            Kind::Wide => {
                if let Some(character) = text.get(position - 1..).and_then(|r| r.chars().next()) {
                    clean(character, &mut word, &mut on_word);
                    position += character.len_utf8() - 1;
                }
            }
        }
        before = here;
    }
    word.end(&mut on_word);
}

/// Handles a character by its Unicode properties: ignored, a space, or part of a word.
fn clean(character: char, word: &mut Word, on_word: &mut impl FnMut(&Word)) {
    let category = get_general_category(character);
    let is_control = category == GeneralCategory::Control;
    if matches!(character, '\t' | '\n' | '\r') || (character.is_whitespace() && !is_control) {
        word.end(on_word);
    } else if is_control
        || matches!(character, '\0' | '\u{fffd}')
        || matches!(
            category,
            GeneralCategory::Format | GeneralCategory::PrivateUse
        )
    {
        // Ignored.
    } else if is_han(character) {
        word.end(on_word);
        decompose(character, word, on_word);
        word.end(on_word);
    } else {
        decompose(character, word, on_word);
    }
}

/// Appends the base letters of a character in lower case, without combining marks.
fn decompose(character: char, word: &mut Word, on_word: &mut impl FnMut(&Word)) {
    decompose_canonical(character, |part| {
        if get_general_category(part) == GeneralCategory::NonspacingMark {
            return;
        }
        for lower in part.to_lowercase() {
            if lower.is_whitespace() {
                word.end(on_word);
            } else if is_punctuation(lower) {
                word.end_with_mark(lower, on_word);
            } else {
                word.push(lower);
            }
        }
    });
}

fn is_punctuation(character: char) -> bool {
    use GeneralCategory::{
        ClosePunctuation, ConnectorPunctuation, DashPunctuation, FinalPunctuation,
        InitialPunctuation, OpenPunctuation, OtherPunctuation,
    };
    character.is_ascii_punctuation()
        || matches!(
            get_general_category(character),
            ConnectorPunctuation
                | DashPunctuation
                | OpenPunctuation
                | ClosePunctuation
                | InitialPunctuation
                | FinalPunctuation
                | OtherPunctuation
        )
}

/// Ideographs, which are words of one character: the blocks that the model was trained with,
/// without later extensions of Unicode.
fn is_han(character: char) -> bool {
    matches!(
        u32::from(character),
        0x3400..=0x4dbf
            | 0x4e00..=0x9fff
            | 0xf900..=0xfaff
            | 0x2_0000..=0x2_a6df
            | 0x2_a700..=0x2_b73f
            | 0x2_b740..=0x2_b81f
            | 0x2_b920..=0x2_ceaf
            | 0x2_f800..=0x2_fa1f
    )
}

/// The tokens of a model and the hash table over them.
#[derive(Debug)]
pub(super) struct Vocabulary {
    /// `vocab.txt`: one token a line, id = line from 0.
    pub(super) text: &'static str,
    /// [`slot::COUNT`] little-endian slots.
    pub(super) slots: &'static [u8],
}

impl Vocabulary {
    /// The tokens of a word: the word itself, or its pieces from the left. None when pieces do not
    /// cover the whole word.
    pub(super) fn tokens<'a>(&self, word: &Word, pieces: &'a mut Pieces) -> &'a [u16] {
        pieces.len = 0;
        let Some(bytes) = word.bytes() else {
            return &[];
        };
        if bytes.len() <= slot::LONGEST_PIECE_BYTES
            && let Some(id) = self.find(word.hash, Position::Start, bytes)
        {
            pieces.push(id);
            return pieces.as_slice();
        }
        let mut rest = bytes;
        let mut piece_position = Position::Start;
        while !rest.is_empty() {
            let Some((id, len_bytes)) = self.longest(piece_position, rest) else {
                return &[];
            };
            pieces.push(id);
            rest = rest.get(len_bytes..).unwrap_or_default();
            piece_position = Position::Inside;
        }
        pieces.as_slice()
    }

    /// The longest piece that is a prefix of the bytes, and its length in bytes.
    fn longest(&self, piece_position: Position, bytes: &[u8]) -> Option<(u16, usize)> {
        let mut hashes = [0; slot::LONGEST_PIECE_BYTES];
        let mut hash = piece_position.seed();
        for (&byte, prefix) in bytes.iter().zip(&mut hashes) {
            hash = slot::extend(hash, byte);
            *prefix = hash;
        }
        let longest = bytes.len().min(slot::LONGEST_PIECE_BYTES);
        (1..=longest)
            .rev()
            .zip(hashes.get(..longest)?.iter().rev())
            .find_map(|(len, &hash)| {
                self.find(hash, piece_position, bytes.get(..len)?)
                    .map(|id| (id, len))
            })
    }

    /// The id of a piece.
    #[inline]
    fn find(&self, hash: u64, piece_position: Position, piece: &[u8]) -> Option<u16> {
        let (slots, _) = self.slots.as_chunks::<8>();
        let mark = slot::mark(hash, piece_position, piece.len());
        for index in slot::probe(hash) {
            let slot = u64::from_le_bytes(*slots.get(index)?);
            if slot == 0 {
                return None;
            }
            let (other, offset, id) = slot::unpack(slot);
            if other == mark
                && self.text.as_bytes().get(offset..offset + piece.len()) == Some(piece)
            {
                return Some(id);
            }
        }
        None
    }
}

/// A buffer for the tokens of one word.
#[derive(Debug)]
pub(super) struct Pieces {
    /// At most one for each character.
    ids: [u16; LONGEST_WORD_CHARS],
    /// Ids in use.
    len: usize,
}

impl Pieces {
    pub(super) fn new() -> Pieces {
        Pieces {
            ids: [0; LONGEST_WORD_CHARS],
            len: 0,
        }
    }

    fn push(&mut self, id: u16) {
        if let Some(free) = self.ids.get_mut(self.len) {
            *free = id;
            self.len += 1;
        }
    }

    fn as_slice(&self) -> &[u16] {
        self.ids.get(..self.len).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        for_each_word(text, |word| words.push(spelling(word)));
        words
    }

    fn spelling(word: &Word) -> String {
        let bytes = word.bytes().unwrap_or(b"(too long)");
        std::str::from_utf8(bytes).unwrap().to_owned()
    }

    /// The words by the rules, with the Unicode properties of every character.
    fn words_by_the_rules(text: &str) -> Vec<String> {
        let characters: Vec<char> = text.chars().collect();
        let mut split = String::new();
        for (index, &c) in characters.iter().enumerate() {
            let before = index.checked_sub(1).map_or(' ', |i| characters[i]);
            let after = characters.get(index + 1).copied().unwrap_or(' ');
            let after_small = before.is_ascii_lowercase() || before.is_ascii_digit();
            let last_capital = before.is_ascii_uppercase() && after.is_ascii_lowercase();
            if c.is_ascii_uppercase() && (after_small || last_capital) {
                split.push(' ');
            }
            split.push(c);
        }
        let mut words = Vec::new();
        let mut word = Word::new();
        for c in split.chars() {
            clean(c, &mut word, &mut |word: &Word| words.push(spelling(word)));
        }
        word.end(&mut |word: &Word| words.push(spelling(word)));
        words
    }

    #[test]
    fn words_are_split_at_space_marks_and_capitals() {
        for (text, expected) in [
            ("parseXMLHttpRequest", "parse xml http request"),
            ("snake_case-word.", "snake _ case - word ."),
            ("a\tb\r\nc  d", "a b c d"),
            ("v2X utf8Decoder ABC", "v2 x utf8 decoder abc"),
            ("not\0s\u{7}plit a\u{ad}b \u{fffd}c", "notsplit ab c"),
            ("\u{e9}Te", "ete"),
            ("\u{212b}ngstr\u{f6}m \u{130}", "angstrom i"),
            ("a\u{4e2d}b", "a \u{4e2d} b"),
            (
                "\u{201c}x\u{201d}\u{2014}y",
                "\u{201c} x \u{201d} \u{2014} y",
            ),
            (
                "a\u{2192}b \u{3a3}\u{391}\u{3a3}",
                "a\u{2192}b \u{3c3}\u{3b1}\u{3c3}",
            ),
            ("a\u{37e}\u{2003}b", "a ; b"),
        ] {
            let expected: Vec<&str> = expected.split(' ').collect();
            assert_eq!(words(text), expected, "{text:?}");
        }
    }

    #[test]
    fn the_longest_word_with_tokens_has_64_characters() {
        let longest = "\u{3b1}".repeat(64);
        assert_eq!(words(&longest), [longest.as_str()]);
        assert_eq!(words(&"\u{1f600}".repeat(65)), ["(too long)"]);
        assert_eq!(
            words(&format!("{} ab", "a".repeat(300))),
            ["(too long)", "ab"]
        );
    }

    proptest! {
        #[test]
        fn the_ascii_fast_path_follows_the_rules(text in "[ -~\\x00-\\x1f\\x7f]{0,120}") {
            prop_assert_eq!(words(&text), words_by_the_rules(&text));
        }

        #[test]
        fn mixed_text_follows_the_rules(text in "([a-cA-C1_ ]|\\PC|.){0,80}") {
            prop_assert_eq!(words(&text), words_by_the_rules(&text));
        }
    }
}
