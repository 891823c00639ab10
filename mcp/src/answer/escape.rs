//! Characters that a reader cannot see, or that change how others are shown, as escapes: text of a
//! document must not pass for something else.

use std::borrow::Cow;
use std::fmt::Write as _;

/// A text of several lines: newlines and tabs stay.
pub(crate) fn text(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c != '\n' && c != '\t' && is_hidden(c))
}

/// A text that must stay on its line: a path, a title.
pub(crate) fn line(text: &str) -> Cow<'_, str> {
    escaped(text, is_hidden)
}

fn escaped(text: &str, is_hidden: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match is_hidden(c) {
            // Writing to a String does not fail.
            true => drop(write!(out, "\\u{{{:x}}}", u32::from(c))),
            false => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Control characters, line and paragraph separators, bidi controls and tag characters.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{61c}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2066}'..='\u{2069}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_shown() {
        assert_eq!(text("a\tb\nc"), "a\tb\nc");
        assert_eq!(line("a\tb\nc"), "a\\u{9}b\\u{a}c");
        assert_eq!(text("a\r\n\u{1b}[31m"), "a\\u{d}\n\\u{1b}[31m");
        assert_eq!(
            text("x\u{202e}y\u{2066}z\u{200f}"),
            "x\\u{202e}y\\u{2066}z\\u{200f}"
        );
        assert_eq!(
            text("\u{e0041}\u{e007f}\u{61c}\u{85}"),
            "\\u{e0041}\\u{e007f}\\u{61c}\\u{85}"
        );
    }

    #[test]
    fn what_can_be_seen_stays() {
        for seen in [
            "",
            "plain",
            "\u{e4}\u{4e2d}\u{1f600}",
            "back\\slash \\u{9}",
            "a\u{200d}b",
        ] {
            assert!(matches!(text(seen), Cow::Borrowed(same) if same == seen));
        }
    }
}
