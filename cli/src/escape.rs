//! Text of documents must not steer a terminal: control characters become visible.

use std::borrow::Cow;

/// Whether a terminal could act on this character, or show the text in another order because of it.
pub(crate) fn is_dangerous(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}')
        || matches!(character, '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}')
}

/// How a dangerous character is shown: `\n`, `\u{1b}`.
pub(crate) fn visible(character: char) -> String {
    character.escape_default().to_string()
}

/// Several lines: line ends and tabs stay, everything else that is dangerous becomes visible.
pub(crate) fn escape_text(text: &str) -> Cow<'_, str> {
    let harmless = |character: char| matches!(character, '\n' | '\t') || !is_dangerous(character);
    if text.chars().all(harmless) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\r' if characters.peek() == Some(&'\n') => {}
            _ if harmless(character) => escaped.push(character),
            _ => escaped.push_str(&visible(character)),
        }
    }
    Cow::Owned(escaped)
}

/// One line of an answer: as [`escape_text`], and line ends and tabs are visible too.
pub(crate) fn escape_line(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_dangerous) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(
        text.chars()
            .map(|character| match is_dangerous(character) {
                true => visible(character),
                false => character.to_string(),
            })
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_escape_sequence_in_a_document_is_shown_not_obeyed() {
        assert_eq!(
            escape_text("a\u{1b}[31mred\u{7}\n\tb"),
            "a\\u{1b}[31mred\\u{7}\n\tb"
        );
        assert_eq!(escape_text("\u{9b}31m"), "\\u{9b}31m");
        assert_eq!(escape_text("if \u{202e}admin"), "if \\u{202e}admin");
    }

    #[test]
    fn line_ends_of_windows_are_dropped_and_a_lone_return_is_shown() {
        assert_eq!(escape_text("one\r\ntwo\rthree\r\n"), "one\ntwo\\rthree\n");
    }

    #[test]
    fn a_name_with_a_line_end_stays_on_one_line() {
        assert_eq!(escape_line("a\nb\tc"), "a\\nb\\tc");
        assert!(matches!(escape_line("stra\u{df}e.md"), Cow::Borrowed(_)));
    }
}
