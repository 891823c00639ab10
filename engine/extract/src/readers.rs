//! Versions of the readers of formats, by which a .kb remembers what read its files.

use kb_types::file_types;

/// Version of all readers together. To be raised with every reader that reads more or otherwise than before, and the
/// number in its row below with it.
pub const VERSION: u32 = 4;

/// Since which version the files of a type are read as they are now. Those of others are stored as they are.
static CHANGED: &[(&str, u32)] = &[
    ("docx", 1),
    ("doc", 1),
    ("rtf", 1),
    ("odt", 1),
    ("pptx", 1),
    ("ppt", 1),
    ("odp", 1),
    ("xlsx", 1),
    ("xls", 1),
    ("ods", 1),
    ("pdf", 1),
    ("html", 1),
    ("eml", 4),
    ("msg", 4),
    ("epub", 1),
    ("markdown", 3),
    ("rst", 2),
    ("asciidoc", 2),
];

/// Whether a file of this name would be read otherwise now than by the readers of a version.
pub fn is_outdated(document_path: &str, version: u32) -> bool {
    if version >= VERSION {
        return false;
    }
    let named = file_types::from_name(document_path);
    named.is_some_and(|named| {
        let mut rows = CHANGED.iter();
        rows.any(|(name, since)| *name == named.name && *since > version)
    })
}

#[cfg(test)]
mod tests {
    use super::{CHANGED, VERSION, is_outdated};
    use crate::formats;

    #[test]
    fn only_files_whose_reader_changed_are_outdated() {
        for (name, version, expected) in [
            ("a/b.DOCX", 0, true),
            ("a.docm", 0, true),
            ("a.html", 0, true),
            ("a.html", VERSION, false),
            ("a.rs", 0, false),
            ("a.md", 1, true),
            ("a.md", 2, true),
            ("a.html", 1, false),
            ("a.txt", 0, false),
            ("a", 0, false),
        ] {
            assert_eq!(is_outdated(name, version), expected, "{name} {version}");
        }
    }

    #[test]
    fn versions_of_readers_are_those_of_formats_and_not_above_that_of_all() {
        let newest = CHANGED.iter().map(|(_, since)| *since).max();
        assert_eq!(newest, Some(VERSION));
        for format in formats::FORMATS.iter().filter(|format| !format.is_text()) {
            let is_known = CHANGED.iter().any(|(name, _)| *name == format.name);
            assert!(is_known, "{}", format.name);
        }
    }
}
