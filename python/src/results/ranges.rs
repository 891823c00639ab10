//! Ranges of text: bytes in the engine, characters in Python.

/// A range of characters for one of bytes.
pub(crate) fn in_characters(text: &str, (start, end): (usize, usize)) -> (usize, usize) {
    let count = |end| text.get(..end).map_or(0, |before| before.chars().count());
    let first = count(start);
    let inside = text
        .get(start..end)
        .map_or(0, |inside| inside.chars().count());
    (first, first + inside)
}
