//! Whether a query is the title of a document, or the name of its file.

use unicode_normalization::char::is_combining_mark;

use crate::index::keyword::fold_character;

/// Longest query that may be a title.
const TITLE_LIMIT_BYTES: usize = 200;

/// A query, to compare with titles: its letters and digits without accents, in small letters.
#[derive(Debug)]
pub(in crate::search::rank) struct QueryTitle {
    letters: String,
    /// The letters of the character of a title at hand.
    buffer: String,
}

impl QueryTitle {
    /// `None` for a query without letters and digits, and for one that is too long.
    pub(in crate::search::rank) fn of(query: &str) -> Option<QueryTitle> {
        let (mut letters, mut buffer) = (String::new(), String::new());
        if query.len() <= TITLE_LIMIT_BYTES {
            each_letter(query, &mut buffer, |letter| {
                letters.push_str(letter);
                true
            });
        }
        (!letters.is_empty()).then_some(QueryTitle { letters, buffer })
    }

    /// Whether it is a title, or the name of the file with or without extension. `storm-tide.md` and `StormTide` are
    /// "storm tide".
    pub(in crate::search::rank) fn is_of(&mut self, title: &str, path: &str) -> bool {
        let file = path.rsplit('/').next().unwrap_or(path);
        let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
        self.equals(title) || self.equals(stem) || self.equals(file)
    }

    /// Whether a text has its letters and no others. It stops at the first other one, mostly the first of all.
    fn equals(&mut self, text: &str) -> bool {
        let mut rest = self.letters.as_str();
        let is_same = each_letter(text, &mut self.buffer, |letter| {
            let behind = rest.strip_prefix(letter);
            rest = behind.unwrap_or(rest);
            behind.is_some()
        });
        is_same && rest.is_empty()
    }
}

/// Calls `visit` with each letter and digit of a text without accents and in small letters, and with `+` and `#`
/// behind one: `C#` is not `C`. False where `visit` was: then it stops.
fn each_letter(text: &str, buffer: &mut String, mut visit: impl FnMut(&str) -> bool) -> bool {
    let mut is_behind = false;
    for character in text.chars() {
        buffer.clear();
        let is_sign = is_behind && matches!(character, '+' | '#');
        if is_sign {
            buffer.push(character);
        } else {
            for small in character.to_lowercase() {
                fold_character(small, buffer);
            }
            buffer.retain(char::is_alphanumeric);
            // An accent of its own belongs to the letter before it.
            is_behind = !buffer.is_empty() || (is_behind && is_combining_mark(character));
        }
        if !buffer.is_empty() && !visit(buffer) {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_compared_by_its_letters() {
        let is_title = |query: &str, title: &str, path: &str| {
            QueryTitle::of(query).is_some_and(|mut query| query.is_of(title, path))
        };
        for (query, title, path) in [
            ("release notes", "Release Notes", "a.md"),
            (" Release-notes? ", "**Release** notes", "a.md"),
            ("# Release notes", "Release notes", "a.md"),
            ("cafe zurich", "Caf\u{e9} Zu\u{308}rich", "a.md"),
            ("STRASSE", "Stra\u{df}e", "a.md"),
            ("storm tide", "Other", "docs/storm-tide.md"),
            ("storm tide", "Other", "docs/StormTide.java"),
            ("storm-tide.md", "Other", "docs/storm-tide.md"),
            ("Makefile", "", "a/Makefile"),
            ("c#", "C#", "a.md"),
        ] {
            assert!(is_title(query, title, path), "{query}");
        }
        for (query, title, path) in [
            ("release", "Release Notes", "a.md"),
            ("release notes of", "Release Notes", "a.md"),
            ("c", "C#", "a.md"),
            ("c++", "C", "a.md"),
            ("docs", "Other", "docs/storm-tide.md"),
            ("?", "?", "?.md"),
        ] {
            assert!(!is_title(query, title, path), "{query}");
        }
        assert!(QueryTitle::of(&"long ".repeat(100)).is_none());
    }
}
