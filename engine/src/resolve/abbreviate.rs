//! Text of a caller in messages.

/// Most characters of such a text that a message repeats.
const MAX_CHARS: usize = 60;

/// The first [`MAX_CHARS`] characters of a text, followed by `...` if there are more.
pub(crate) fn abbreviate(text: &str) -> String {
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
