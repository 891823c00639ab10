//! Finds the document that a name means.

use std::ops::ControlFlow;
use std::path::Path;

use unicode_normalization::UnicodeNormalization;

use crate::catalog::Catalog;
use crate::container::{MAX_KEY_BYTES, Snapshot};
use crate::error::{Error, Result};
use crate::percent;
use crate::resolve::nearest::{MAX_SUGGESTIONS, Nearest};
use crate::store::{handles, skipped};
use crate::types::DocumentId;

/// Longest name that is looked up, in bytes: a percent-encoded address has three bytes for each of the
/// longest path, and the name of the file.
const NAME_LIMIT_BYTES: usize = 4 * MAX_KEY_BYTES;

/// How the address of a document begins: `kb://<name of the file>/doc/<path>`.
const SCHEME: &str = "kb://";

/// How a name means a document, the best first: of several files, the one that it means best has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NameMatch {
    /// It is the path, or the address.
    Path,
    /// It is a handle.
    Handle,
    /// It is the end of the path, and of no other.
    PathEnd,
}

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
) -> Result<(DocumentId, NameMatch)> {
    if name.len() > NAME_LIMIT_BYTES {
        return Err(Error::DocumentNotFound {
            name: name.to_owned(),
            skipped: Vec::new(),
            nearest: Vec::new(),
        });
    }
    let name = &*name.nfc().collect::<String>();
    let decoded;
    let wanted = match name.strip_prefix(SCHEME) {
        Some(address) => {
            decoded = path_of_address(address, file).ok_or_else(|| Error::DocumentNotFound {
                name: name.to_owned(),
                skipped: Vec::new(),
                nearest: Vec::new(),
            })?;
            decoded.as_str()
        }
        None => name.trim_start_matches("./"),
    };
    if let Some(id) = catalog.documents.by_path(snapshot, wanted)? {
        return Ok((id, NameMatch::Path));
    }
    if let Some(suffix) = handles::suffix_of(wanted)
        && let Some(id) = catalog.documents.by_suffix(snapshot, suffix)?
    {
        return Ok((id, NameMatch::Handle));
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
        [(_, id)] => Ok((*id, NameMatch::PathEnd)),
        [] => Err(Error::DocumentNotFound {
            name: name.to_owned(),
            skipped: skipped_files(snapshot, wanted)?,
            nearest: nearest.finish(),
        }),
        many => Err(Error::AmbiguousDocument {
            name: name.to_owned(),
            candidates: many
                .iter()
                .take(MAX_SUGGESTIONS)
                .map(|(path, _)| path.clone())
                .collect(),
        }),
    }
}

/// The files of that path, or with that end of their paths, that were skipped: `path: reason`.
fn skipped_files(snapshot: &Snapshot<'_>, wanted: &str) -> Result<Vec<String>> {
    let mut found = Vec::new();
    skipped::each_from(snapshot, "", |path, record| {
        if ends_with_path(path, wanted) {
            found.push(format!("{path}: {}", record.reason));
        }
        Ok(if found.len() < MAX_SUGGESTIONS {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        })
    })?;
    Ok(found)
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
}
