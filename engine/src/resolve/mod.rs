//! A name that a person types -> a document.

use std::ops::ControlFlow;
use std::path::Path;

use unicode_normalization::UnicodeNormalization;

use crate::catalog::Catalog;
use crate::container::{MAX_KEY_BYTES, Snapshot};
use crate::error::{Error, Result};
use crate::percent;
use crate::store::handles;
use crate::types::DocumentId;

/// How many names an error offers.
const OFFERED: usize = 5;

/// Longest name of a document that is looked for, in bytes: an address has three for each of the longest
/// path, and the name of the file.
const NAME_LIMIT_BYTES: usize = 4 * MAX_KEY_BYTES;

/// Longest name that others are compared with to find those like it: the longest name of a file, some
/// times over. The whole is compared with every path.
const COMPARED_LIMIT_BYTES: usize = 1024;

/// How the address of a document begins: `kb://<name of the file>/doc/<path>`.
const SCHEME: &str = "kb://";

/// Finds a document by its path, its handle (`release-notes-k3f9qa`; the suffix decides), its address
/// (`kb://notes/doc/a/b.md`, percent-encoded, with the name of the file at `file`), or by the end of
/// its path (`lib.rs`, `src/lib.rs`) when only one document has it. Reads all paths only for the
/// last.
///
/// # Errors
/// [`Error::DocumentNotFound`] with the nearest paths, [`Error::AmbiguousDocument`] with the
/// candidates.
pub fn document(
    snapshot: &Snapshot<'_>,
    catalog: &Catalog,
    file: Option<&Path>,
    name: &str,
) -> Result<DocumentId> {
    if name.len() > NAME_LIMIT_BYTES {
        return Err(Error::DocumentNotFound {
            name: name.to_owned(),
            nearest: Vec::new(),
        });
    }
    let name = &*name.nfc().collect::<String>();
    let decoded;
    let wanted = match name.strip_prefix(SCHEME) {
        Some(address) => {
            decoded = path_of_address(address, file).ok_or_else(|| Error::DocumentNotFound {
                name: name.to_owned(),
                nearest: Vec::new(),
            })?;
            decoded.as_str()
        }
        None => name.trim_start_matches("./"),
    };
    if let Some(id) = catalog.documents.by_path(snapshot, wanted)? {
        return Ok(id);
    }
    if let Some(suffix) = handles::suffix_of(wanted)
        && let Some(id) = catalog.documents.by_suffix(snapshot, suffix)?
    {
        return Ok(id);
    }
    let mut found: Vec<(String, DocumentId)> = Vec::new();
    let mut nearest = Nearest::new(wanted);
    catalog.documents.each_path(snapshot, "", |path, id| {
        if ends_with_path(path, wanted) {
            found.push((path.to_owned(), id));
        }
        nearest.offer(path);
        Ok(ControlFlow::Continue(()))
    })?;
    match found.as_slice() {
        [(_, id)] => Ok(*id),
        [] => Err(Error::DocumentNotFound {
            name: name.to_owned(),
            nearest: nearest.finish(),
        }),
        many => Err(Error::AmbiguousDocument {
            name: name.to_owned(),
            candidates: many
                .iter()
                .take(OFFERED)
                .map(|(path, _)| path.clone())
                .collect(),
        }),
    }
}

/// The folders whose names look most like `folder`, nearest first, at most five. Reads all paths.
///
/// # Errors
/// [`Error::Damaged`].
pub fn nearest_folders(
    snapshot: &Snapshot<'_>,
    catalog: &Catalog,
    folder: &str,
) -> Result<Vec<String>> {
    let mut nearest = Nearest::new(folder);
    let mut last = String::new();
    catalog.documents.each_path(snapshot, "", |path, _| {
        let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
        if parent != last {
            // Folders that hold folders only are names too; those above were offered with the last.
            let mut above = Some(parent).filter(|parent| !parent.is_empty());
            while let Some(folder) = above.filter(|folder| !is_in(&last, folder)) {
                nearest.offer(folder);
                above = folder.rsplit_once('/').map(|(above, _)| above);
            }
            parent.clone_into(&mut last);
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(nearest.finish())
}

/// Whether `folder` is that one or lies below it.
fn is_in(folder: &str, above: &str) -> bool {
    let rest = folder.strip_prefix(above);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The path in `<name>/doc/<path>`, decoded; `None` when it names another file or nothing.
fn path_of_address(address: &str, file: Option<&Path>) -> Option<String> {
    let (name, path) = address.split_once("/doc/")?;
    let own = file.and_then(Path::file_stem);
    let is_own =
        own.is_none_or(|own| percent::decode(name).is_some_and(|name| own == name.as_str()));
    if is_own { percent::decode(path) } else { None }
}

/// Whether `end` is the last components of `path`.
fn ends_with_path(path: &str, end: &str) -> bool {
    !end.is_empty()
        && path
            .strip_suffix(end)
            .is_some_and(|start| start.is_empty() || start.ends_with('/'))
}

/// Collects the names that look most like one; none are like one of more than a kilobyte.
#[derive(Debug)]
pub struct Nearest {
    /// What was typed, lower case, and its last component.
    wanted: (String, String),
    /// Distance and name, nearest first, at most [`OFFERED`].
    best: Vec<(usize, String)>,
}

impl Nearest {
    /// Looks for names like `wanted`.
    pub fn new(wanted: &str) -> Nearest {
        let wanted = match wanted.len() > COMPARED_LIMIT_BYTES {
            true => String::new(),
            false => wanted.to_lowercase(),
        };
        let last = last_component(&wanted).to_owned();
        Nearest {
            wanted: (wanted, last),
            best: Vec::new(),
        }
    }

    /// Offers a name.
    pub fn offer(&mut self, name: &str) {
        // A folder comes once for every run of documents in it.
        if self.wanted.0.is_empty()
            || name.is_empty()
            || self.best.iter().any(|(_, known)| known == name)
        {
            return;
        }
        let lower = name.to_lowercase();
        let last = last_component(&lower);
        let distance = if last.contains(&self.wanted.1) || self.wanted.1.contains(last) {
            lower.len().abs_diff(self.wanted.0.len()).min(8) / 4
        } else {
            edit_distance(last, &self.wanted.1)
        };
        if distance > self.wanted.1.chars().count() / 2 {
            return;
        }
        let at = self.best.partition_point(|(other, _)| *other <= distance);
        if at < OFFERED {
            self.best.insert(at, (distance, name.to_owned()));
            self.best.truncate(OFFERED);
        }
    }

    /// The names, nearest first.
    pub fn finish(self) -> Vec<String> {
        self.best.into_iter().map(|(_, name)| name).collect()
    }
}

fn last_component(path: &str) -> &str {
    path.trim_end_matches('/')
        .rsplit('/')
        .next()
        .unwrap_or(path)
}

/// Levenshtein distance over the first 64 characters of each word.
fn edit_distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=a.len()).collect();
    for (i, y) in b.chars().take(64).enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        if let Some(first) = row.first_mut() {
            *first = left;
        }
        for (cell, x) in row.iter_mut().skip(1).zip(&a) {
            let substituted = diagonal + usize::from(*x != y);
            diagonal = *cell;
            left = substituted.min(*cell + 1).min(left + 1);
            *cell = left;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_path_matches_at_component_borders_only() {
        assert!(ends_with_path("engine/src/lib.rs", "src/lib.rs"));
        assert!(ends_with_path("lib.rs", "lib.rs"));
        assert!(!ends_with_path("engine/mylib.rs", "lib.rs"));
        assert!(!ends_with_path("lib.rs", ""));
    }

    #[test]
    fn an_address_names_a_path_of_its_own_file_only() {
        let file = Some(Path::new("/x/my notes.kb"));
        let found = |address: &str| path_of_address(address, file);
        assert_eq!(
            found("my%20notes/doc/a%2Fb/%C3%A9.md").unwrap(),
            "a/b/\u{e9}.md"
        );
        for other in [
            "other/doc/a",
            "my notes",
            "my notes/doc/%",
            "my notes/doc/%zz",
            "my notes/doc/%FF",
        ] {
            assert_eq!(found(other), None, "{other}");
        }
        assert_eq!(path_of_address("any/doc/a", None).unwrap(), "a");
    }

    #[test]
    fn edit_distance_counts_changes() {
        for (a, b, distance) in [
            ("", "abc", 3),
            ("kitten", "sitting", 3),
            ("same", "same", 0),
        ] {
            assert_eq!(edit_distance(a, b), distance);
            assert_eq!(edit_distance(b, a), distance);
        }
    }

    #[test]
    fn a_mistyped_name_offers_the_right_one_first() {
        // A name that no file can have is like none, however many there are to compare.
        let mut nearest = Nearest::new(&"src/serch.rs".repeat(100));
        nearest.offer("src/search.rs");
        assert_eq!(nearest.finish(), [""; 0]);
        let mut nearest = Nearest::new("src/serch.rs");
        for path in ["src/search.rs", "src/store.rs", "README.md"] {
            nearest.offer(path);
        }
        assert_eq!(
            nearest.finish().first().map(String::as_str),
            Some("src/search.rs")
        );
    }
}
