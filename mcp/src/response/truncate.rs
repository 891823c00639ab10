//! Limits how much of a text is repeated.

use std::borrow::Cow;

/// Most characters of what a client sent that an error repeats.
const REPEATED_LIMIT: usize = 100;

/// The beginning of what a client sent.
pub(crate) fn short(sent: &str) -> Cow<'_, str> {
    cut(sent, REPEATED_LIMIT)
}

/// A text of at most `length` characters, and an ellipsis where it was longer.
pub(crate) fn cut(text: &str, length: usize) -> Cow<'_, str> {
    match text.char_indices().nth(length) {
        None => Cow::Borrowed(text),
        Some((end, _)) => format!("{}\u{2026}", text.get(..end).unwrap_or_default()).into(),
    }
}
