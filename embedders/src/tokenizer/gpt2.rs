//! How GPT-2 splits a text into words.

use unicode_general_category::{GeneralCategory, get_general_category};

/// Endings of English that are words of their own.
const ENDINGS: [&str; 7] = ["'s", "'t", "'re", "'ve", "'m", "'ll", "'d"];

/// What a character is to the split.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Space,
    Letter,
    Number,
    Other,
}

fn kind(character: char) -> Kind {
    use GeneralCategory as Category;
    if character.is_whitespace() {
        return Kind::Space;
    }
    match get_general_category(character) {
        Category::UppercaseLetter
        | Category::LowercaseLetter
        | Category::TitlecaseLetter
        | Category::ModifierLetter
        | Category::OtherLetter => Kind::Letter,
        Category::DecimalNumber | Category::LetterNumber | Category::OtherNumber => Kind::Number,
        _ => Kind::Other,
    }
}

/// Bytes of the first word of a text: an ending, a run of one kind with a space before it, or white space without its last
/// character, which belongs to what follows.
pub(super) fn first_word(text: &str) -> usize {
    if let Some(ending) = ENDINGS.iter().find(|ending| text.starts_with(**ending)) {
        return ending.len();
    }
    let space = usize::from(text.starts_with(' '));
    let run = text.get(space..).unwrap_or_default();
    let first = run.chars().next().map(kind);
    if let Some(first) = first.filter(|first| *first != Kind::Space) {
        let end = run.find(|character| kind(character) != first);
        return space + end.unwrap_or(run.len());
    }
    let Some(end) = text.find(|character: char| !character.is_whitespace()) else {
        return text.len();
    };
    let spaces = text.get(..end).unwrap_or_default();
    let last = spaces.chars().next_back().map_or(0, char::len_utf8);
    match end - last {
        0 => end,
        without => without,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(mut text: &str) -> Vec<&str> {
        let mut words = Vec::new();
        while !text.is_empty() {
            let (word, rest) = text.split_at(first_word(text));
            words.push(word);
            text = rest;
        }
        words
    }

    #[test]
    fn text_is_split_as_gpt_2_does() {
        assert_eq!(
            words("it's  a9\u{bd}!?"),
            ["it", "'s", " ", " a", "9\u{bd}", "!?"]
        );
        assert_eq!(words("a\n\n b \t"), ["a", "\n\n", " b", " \t"]);
        assert_eq!(
            words("'S \u{e9}\u{301} x"),
            ["'", "S", " \u{e9}", "\u{301}", " x"]
        );
        assert_eq!(words("\u{3000}a"), ["\u{3000}", "a"]);
    }
}
