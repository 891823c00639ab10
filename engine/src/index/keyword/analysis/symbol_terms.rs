//! Terms for the definitions in a chunk of a program. They differ from the terms of all words.
//!
//! A symbol term is a byte below the space, then a name in lower case. It lies before all words in the dictionary, has
//! the frequency 1 wherever it is, and counts in no length of a chunk, so words are ranked as without it.

use kb_types::SymbolKind;

/// What a symbol term says of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum SymbolTerm {
    /// The name of a symbol of that name begins in it.
    // A control character: the analyser makes no term that begins with one, and it sorts before all
    // words.
    Definition = 1,
    /// The name of a field of that name begins in it.
    // Apart from the others: a word such as `path` is the name of hundreds of fields.
    Field = 3,
}

/// Most bytes of a name in a term. Longer names are cut.
// Names of people are far shorter; generated ones can have kilobytes. Two names that differ only
// behind the cut share a term, and the search compares whole names afterwards. Below
// MAX_TERM_BYTES, which bounds a term in the dictionary.
const MAX_NAME_BYTES: usize = 200;

impl SymbolTerm {
    /// The term by which a symbol of that kind is found.
    pub fn for_kind(kind: SymbolKind) -> SymbolTerm {
        match kind {
            SymbolKind::Field => SymbolTerm::Field,
            _ => SymbolTerm::Definition,
        }
    }

    /// The term of a name, in any case.
    pub fn of(self, name: &str) -> String {
        let mut term = String::with_capacity(name.len() + 1);
        term.push(char::from(self as u8));
        term.extend(name.chars().flat_map(char::to_lowercase));
        term.truncate(term.floor_char_boundary(MAX_NAME_BYTES + 1));
        term
    }

    /// What a term of the dictionary is, and the name in it; `None` for words.
    pub fn read(term: &[u8]) -> Option<(SymbolTerm, &[u8])> {
        match term.split_first() {
            Some((1, name)) => Some((SymbolTerm::Definition, name)),
            Some((3, name)) => Some((SymbolTerm::Field, name)),
            _ => None,
        }
    }
}

/// The names by which a symbol is found: its whole name and, where that is another one, what stands behind its last
/// `::`, `.`, `#`, `/` or `:`.
pub(crate) fn searched_names(name: &str) -> impl Iterator<Item = &str> {
    let last = last_name(name);
    let whole = (last.len() < name.len()).then_some(name);
    whole.into_iter().chain([last])
}

/// The last part of a name: `bar` of `Foo::bar`, `a.bar` and `foo/bar`.
fn last_name(name: &str) -> &str {
    let last = name.rsplit([':', '.', '#', '/']).next();
    let is_name = |last: &&str| last.chars().any(|c| c.is_alphanumeric() || c == '_');
    last.filter(is_name).unwrap_or(name)
}

/// Order-independent sum over the rows of definitions. Two sources of the same facts can be compared by it without
/// holding either of them in memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct DefinitionSum {
    rows: u64,
    hashes: u64,
}

impl DefinitionSum {
    /// Adds a row of a term.
    pub(crate) fn add(&mut self, term: &[u8], row: u32) {
        let hash = xxhash_rust::xxh3::xxh3_64_with_seed(term, u64::from(row));
        self.rows = self.rows.wrapping_add(1);
        // Addition is commutative. XOR would cancel a row that is named twice.
        self.hashes = self.hashes.wrapping_add(hash);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_whole_and_by_its_last_part() {
        for (name, found) in [
            ("bar", &["bar"] as &[&str]),
            ("Foo::bar", &["Foo::bar", "bar"]),
            ("a.b", &["a.b", "b"]),
            ("operator/", &["operator/"]),
            ("a::", &["a::"]),
            ("..", &[".."]),
            ("Clone for Foo<T>", &["Clone for Foo<T>"]),
        ] {
            let names: Vec<&str> = searched_names(name).collect();
            assert_eq!(names, found, "{name}");
        }
    }

    #[test]
    fn a_term_reads_back_and_is_no_word() {
        let term = SymbolTerm::Definition.of("Gr\u{d6}\u{df}e");
        assert_eq!(term, "\u{1}gr\u{f6}\u{df}e");
        let read = SymbolTerm::read(term.as_bytes());
        assert_eq!(
            read,
            Some((SymbolTerm::Definition, "gr\u{f6}\u{df}e".as_bytes()))
        );
        assert_eq!(SymbolTerm::read(b"word"), None);
        assert!(SymbolTerm::Definition.of(&"\u{e9}".repeat(500)).len() <= MAX_NAME_BYTES + 1);
    }
}
