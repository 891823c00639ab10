//! Letters without their marks: `Koln` for `K\u{f6}ln`, `strasse` for `stra\u{df}e`, Arabic and Hebrew without vowel signs.

use unicode_normalization::char::decompose_canonical;

/// Replaces `folded` with a lower-case word without marks; false when it has none.
pub(crate) fn fold(lower: &str, folded: &mut String) -> bool {
    if lower.is_ascii() {
        return false;
    }
    folded.clear();
    lower.chars().for_each(|c| fold_character(c, folded));
    !folded.is_empty() && folded != lower
}

/// Replaces `folded` with a lower-case word whose umlauts are written as German does without them: `koeln` for
/// `k\u{f6}ln`. False when it has no umlaut.
pub(crate) fn fold_umlauts(lower: &str, folded: &mut String) -> bool {
    if !lower.contains(['\u{e4}', '\u{f6}', '\u{fc}']) {
        return false;
    }
    folded.clear();
    for c in lower.chars() {
        match c {
            '\u{e4}' => folded.push_str("ae"),
            '\u{f6}' => folded.push_str("oe"),
            '\u{fc}' => folded.push_str("ue"),
            c => fold_character(c, folded),
        }
    }
    true
}

/// Appends a character without its marks.
pub(crate) fn fold_character(c: char, folded: &mut String) {
    let letters = match c {
        '\u{df}' => "ss",
        '\u{e6}' => "ae",
        '\u{153}' => "oe",
        '\u{f8}' => "o",
        '\u{111}' | '\u{f0}' => "d",
        '\u{fe}' => "th",
        '\u{142}' => "l",
        '\u{131}' => "i",
        // Final sigma.
        '\u{3c2}' => "\u{3c3}",
        // Cyrillic yo. Other Cyrillic letters with marks are letters of their own.
        '\u{451}' => "\u{435}",
        // Alef with hamza or madda, alef maksura, teh marbuta: as in Lucene's ArabicNormalizer.
        '\u{622}' | '\u{623}' | '\u{625}' | '\u{671}' => "\u{627}",
        '\u{649}' => "\u{64a}",
        '\u{629}' => "\u{647}",
        // Tatweel, the vowel signs of Arabic, the points of Hebrew, marks of Latin and Greek.
        '\u{640}'
        | '\u{64b}'..='\u{652}'
        | '\u{670}'
        | '\u{591}'..='\u{5bd}'
        | '\u{5bf}'
        | '\u{5c1}'
        | '\u{5c2}'
        | '\u{5c4}'
        | '\u{5c5}'
        | '\u{5c7}'
        | '\u{300}'..='\u{36f}' => "",
        '\u{c0}'..='\u{3ff}' | '\u{1e00}'..='\u{1fff}' => {
            return decompose_canonical(c, |part| {
                if !matches!(part, '\u{300}'..='\u{36f}') {
                    folded.push(part);
                }
            });
        }
        c => return folded.push(c),
    };
    folded.push_str(letters);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(word: &str) -> String {
        let mut folded = String::new();
        if fold(word, &mut folded) {
            folded
        } else {
            word.to_owned()
        }
    }

    #[test]
    fn letters_lose_their_marks() {
        for (word, expected) in [
            ("k\u{f6}ln", "koln"),
            ("stra\u{df}e", "strasse"),
            ("\u{153}ufs", "oeufs"),
            ("ng\u{1b0}\u{1edd}i", "nguoi"),
            (
                "\u{3bb}\u{3cc}\u{3b3}\u{3bf}\u{3c2}",
                "\u{3bb}\u{3bf}\u{3b3}\u{3bf}\u{3c3}",
            ),
            ("\u{451}\u{436}", "\u{435}\u{436}"),
            ("\u{439}", "\u{439}"),
            (
                "\u{643}\u{64f}\u{62a}\u{651}\u{64e}\u{627}\u{628}",
                "\u{643}\u{62a}\u{627}\u{628}",
            ),
            (
                "\u{5ea}\u{5bc}\u{5b4}\u{5e7}\u{5d5}\u{5bc}\u{5df}",
                "\u{5ea}\u{5e7}\u{5d5}\u{5df}",
            ),
            (
                "\u{939}\u{93f}\u{928}\u{94d}\u{926}\u{940}",
                "\u{939}\u{93f}\u{928}\u{94d}\u{926}\u{940}",
            ),
            ("plain", "plain"),
        ] {
            assert_eq!(folded(word), expected);
        }
    }

    #[test]
    fn umlauts_are_written_with_an_e() {
        let mut word = String::new();
        assert!(fold_umlauts("m\u{e4}dchengr\u{fc}\u{df}e", &mut word));
        assert_eq!(word, "maedchengruesse");
        assert!(!fold_umlauts("\u{e9}t\u{e9}", &mut word));
    }
}
