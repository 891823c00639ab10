//! A root of the file, and which part of it one run looks at.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::ingest::source::names::document_name;
use crate::store::meta::selection::RootSelection;

/// A root that is looked at in this run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Root {
    /// Its number in the file.
    pub id: u32,
    /// The folder, absolute and without symbolic links.
    pub folder: PathBuf,
    /// First part of its document paths, without `/`; empty: none.
    pub prefix: String,
    /// Which of it is looked at.
    pub scope: Scope,
    /// Folders and files below it that belong to other roots.
    pub foreign: BTreeSet<PathBuf>,
    /// Folders of other roots, wherever they are.
    pub elsewhere: Vec<PathBuf>,
    /// Which files of it are taken.
    pub selection: RootSelection,
    /// When it was looked at last, milliseconds since 1970; 0: never.
    pub indexed_ms: i64,
}

/// Which files of a root are looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Scope {
    /// All that the rules let through.
    Whole,
    /// Of all that the rules let through, what lies at or below these paths, relative to the folder.
    Parts(BTreeSet<PathBuf>),
    /// Files directly in the folder, whatever the rules say of them.
    Files(BTreeSet<PathBuf>),
    /// All of it, and no file is left: its folder belongs to another root from now on.
    Superseded,
}

impl Root {
    /// The document path of a path below the folder: prefix and relative path with `/`, NFC, bytes
    /// that are not UTF-8 escaped.
    pub(crate) fn document_path(&self, relative: &Path) -> String {
        let names = relative.iter().map(document_name);
        let prefix = Some(Cow::from(&self.prefix)).filter(|prefix| !prefix.is_empty());
        let parts: Vec<Cow<'_, str>> = prefix.into_iter().chain(names).collect();
        parts.join("/")
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use proptest::prelude::*;
    use unicode_normalization::UnicodeNormalization;

    use super::*;
    use crate::ingest::source::names::escaped;

    proptest! {
        #[test]
        fn names_become_document_names_one_by_one(
            prefix in "[a-z\u{e9}]{0,3}",
            names in proptest::collection::vec(
                "[a-z\\\\x=<>\u{300}-\u{345}\u{e9}\u{1100}\u{1161}\u{11a8}\u{ac00}]{1,6}", 1..5),
        ) {
            let root = Root {
                id: 1,
                folder: PathBuf::new(),
                prefix: prefix.nfc().collect(),
                scope: Scope::Whole,
                foreign: BTreeSet::new(),
                elsewhere: Vec::new(),
                selection: Default::default(),
                indexed_ms: 0,
            };
            let relative: PathBuf = names.iter().collect();
            let escaped_names = names.iter().map(|name| escaped(OsStr::new(name)));
            let prefix = Some(prefix).filter(|prefix| !prefix.is_empty());
            let whole: Vec<String> = prefix.into_iter().chain(escaped_names).collect();
            let whole: String = whole.join("/").nfc().collect();
            prop_assert_eq!(root.document_path(&relative), whole);
        }
    }
}
