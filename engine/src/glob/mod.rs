//! Globs: patterns of paths, matched in time in proportion to pattern and path.
//!
//! | module | what |
//! |---|---|
//! | `syntax` | text -> tokens |
//! | `bytes` | sets of bytes |
//! | `automaton` | one or many patterns, matched at once with a bit for each state |
//! | `characters` | a glob over text, where `?` and classes take characters |
//!
//! Filters of searches match paths of documents with `characters`. Ignore files match paths of the disk by bytes, as
//! git does, and put all lines of a file into one automaton.

pub(crate) mod automaton;
pub(crate) mod bytes;
pub(crate) mod characters;
pub(crate) mod syntax;

/// The glob that matches a text and nothing else.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '?' | '*' | '[' | ']' | '{' | '}') {
            escaped.extend(['[', c, ']']);
        } else {
            escaped.push(c);
        }
    }
    escaped
}
