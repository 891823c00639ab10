//! The class of a character: part of a word, part of a run without spaces, or a separator.

use unicode_general_category::{GeneralCategory, get_general_category};

/// First and last code points of the blocks of scripts that put no spaces between words (and of
/// Hangul, whose spaces separate phrases), sorted.
// Lucene's CJKAnalyzer forms bigrams of Han, Hiragana, Katakana and Hangul. The blocks of Thai,
// Lao, Khmer, Myanmar and similar scripts are here as well, because they put no spaces between
// words either and no dictionary for them is in the program. Part of ANALYSER_ID: a change needs a
// new id.
const BIGRAM_BLOCKS: [(u32, u32); 23] = [
    (0x0E00, 0x0E7F),   // Thai
    (0x0E80, 0x0EFF),   // Lao
    (0x1000, 0x109F),   // Myanmar
    (0x1100, 0x11FF),   // Hangul Jamo
    (0x1780, 0x17FF),   // Khmer
    (0x1980, 0x19DF),   // New Tai Lue
    (0x1A20, 0x1AAF),   // Tai Tham
    (0x2E80, 0x2FDF),   // CJK and Kangxi radicals
    (0x3005, 0x3007),   // ideographic iteration mark, closing mark and zero
    (0x3021, 0x3029),   // Hangzhou numerals
    (0x3031, 0x303B),   // vertical kana repeat marks, Hangzhou numerals, iteration mark
    (0x3040, 0x312F),   // Hiragana, Katakana, Bopomofo
    (0x3130, 0x318F),   // Hangul Compatibility Jamo
    (0x31A0, 0x31BF),   // Bopomofo Extended
    (0x31F0, 0x31FF),   // Katakana Phonetic Extensions
    (0x3400, 0x4DBF),   // CJK Extension A
    (0x4E00, 0xA4CF),   // CJK Unified Ideographs, Yi
    (0xA960, 0xA97F),   // Hangul Jamo Extended-A
    (0xA9E0, 0xAA7F),   // Myanmar Extended-B, Cham, Myanmar Extended-A
    (0xAC00, 0xD7FF),   // Hangul Syllables, Hangul Jamo Extended-B
    (0xF900, 0xFAFF),   // CJK Compatibility Ideographs
    (0xFF66, 0xFFDC),   // halfwidth Katakana and Hangul
    (0x1AFF0, 0x3FFFF), // Kana supplements, CJK Extensions B and later
];

/// The smallest character of [`BIGRAM_BLOCKS`].
pub(crate) const FIRST_BIGRAM_CHARACTER: char = '\u{0e00}';

/// Marks where a word may be broken at the end of a line. It is part of a word and of no term.
pub(crate) const SOFT_HYPHEN: char = '\u{ad}';

/// First and last code points of the blocks of pictures that people write as words, sorted.
// Not all symbols: lines and boxes of drawn tables are symbols too, and they are no words.
const SYMBOL_BLOCKS: [(u32, u32); 6] = [
    (0x231A, 0x231B),   // watch, hourglass
    (0x23E9, 0x23FA),   // buttons of players, clocks
    (0x2600, 0x27BF),   // miscellaneous symbols, dingbats
    (0x2B1B, 0x2B55),   // squares, star, circle
    (0x1F000, 0x1F3FA), // tiles, cards, pictures
    (0x1F400, 0x1FAFF), // pictures, without the five skin tones before them
];

/// The sign before the number of a section of a law or a standard.
pub(crate) const SECTION_SIGN: char = '\u{a7}';

/// True for the bytes of ASCII words.
static ASCII_WORD: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0u8;
    while byte < 128 {
        #[expect(clippy::indexing_slicing, reason = "a byte indexes a table of 256")]
        {
            table[byte as usize] = byte.is_ascii_alphanumeric() || byte == b'_';
        }
        byte += 1;
    }
    table
};

#[inline]
pub(crate) fn is_ascii_word(byte: u8) -> bool {
    ASCII_WORD.get(usize::from(byte)).copied().unwrap_or(false)
}

/// How the analyser treats a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CharClass {
    /// Ends a word.
    Separator,
    /// Part of a word in a script with spaces, or `_`.
    Word,
    /// Part of a run that is cut into bigrams.
    Bigram,
    /// A word by itself: a picture such as an emoji.
    Symbol,
}

/// The class of a character, by its general category and script.
pub(crate) fn char_class(c: char) -> CharClass {
    // Most text is ASCII, and the tables of categories are slower than a comparison.
    if c.is_ascii() {
        return if c.is_ascii_alphanumeric() || c == '_' {
            CharClass::Word
        } else {
            CharClass::Separator
        };
    }
    use GeneralCategory as G;
    match get_general_category(c) {
        G::UppercaseLetter
        | G::LowercaseLetter
        | G::TitlecaseLetter
        | G::ModifierLetter
        | G::OtherLetter
        // Marks belong to the letter before them: without them a decomposed accent would cut a word
        // in two.
        | G::NonspacingMark
        | G::SpacingMark
        | G::EnclosingMark
        | G::DecimalNumber
        | G::LetterNumber
        | G::OtherNumber => {
            if is_bigram_script(c) {
                CharClass::Bigram
            } else {
                CharClass::Word
            }
        }
        G::OtherSymbol if is_in(&SYMBOL_BLOCKS, c) => CharClass::Symbol,
        _ => CharClass::Separator,
    }
}

fn is_bigram_script(c: char) -> bool {
    is_in(&BIGRAM_BLOCKS, c)
}

fn is_in(blocks: &[(u32, u32)], c: char) -> bool {
    let point = u32::from(c);
    let at = blocks.partition_point(|(_, last)| *last < point);
    blocks.get(at).is_some_and(|(first, _)| *first <= point)
}

/// Whether a character is a word by itself.
pub(crate) fn is_picture(c: char) -> bool {
    char_class(c) == CharClass::Symbol
}

/// The character of a term that is a single character of a script without spaces.
pub(crate) fn single_character(term: &str) -> Option<char> {
    let mut characters = term.chars();
    let first = characters.next()?;
    (characters.next().is_none() && char_class(first) == CharClass::Bigram).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_blocks_are_sorted_for_binary_search() {
        let sorted = |blocks: &[(u32, u32)]| {
            let mut pairs = blocks.windows(2);
            pairs.all(|pair| pair[0].0 <= pair[0].1 && pair[0].1 < pair[1].0)
        };
        assert!(sorted(&BIGRAM_BLOCKS) && sorted(&SYMBOL_BLOCKS));
    }

    #[test]
    fn a_class_follows_from_category_and_script() {
        for (text, class) in [
            (
                "aZ0_\u{e9}\u{3c9}\u{442}\u{5d0}\u{627}\u{928}\u{b2}",
                CharClass::Word,
            ),
            ("\u{301}\u{94d}", CharClass::Word),
            (
                "\u{4e2d}\u{3042}\u{30ab}\u{d55c}\u{e01}\u{e48}\u{20000}",
                CharClass::Bigram,
            ),
            (
                " -.$+'\u{203f}\u{3002}\u{ff0c}\u{e3f}\u{200d}\u{ad}\u{2500}\u{1f3fb}",
                CharClass::Separator,
            ),
            ("\u{1f600}\u{2705}\u{231a}", CharClass::Symbol),
        ] {
            for c in text.chars() {
                assert_eq!(char_class(c), class, "{c:?}");
            }
        }
    }
}
