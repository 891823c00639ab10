//! Rules of folders above a root, inside the same work tree.

use std::path::Path;

use crate::ingest::gitignore::{self, IgnoreFiles, Rules};
use crate::ingest::source::open::{Links, open_regular};
use crate::ingest::walk::entries::is_top;

/// What folders above a root say.
#[derive(Debug, Default)]
pub(super) struct Above {
    pub(super) rules: Rules,
    /// Path of the root from the topmost of these folders, with `/` behind each name.
    pub(super) path: Vec<u8>,
    /// Ignore files, or parts of them, that are not applied.
    pub(super) problems: Vec<(String, String)>,
}

/// Rules of all folders from the top of the work tree around `root` down to the one above it.
pub(super) fn rules(root: &Path) -> Above {
    let mut found = Above::default();
    let mut folders: Vec<&Path> = Vec::new();
    for folder in root.ancestors() {
        folders.push(folder);
        if is_top(folder) {
            break;
        }
    }
    // The first is the root itself, which reads its own.
    while let [.., folder] = folders.as_slice()
        && folders.len() > 1
    {
        let folder: &Path = folder;
        let mut files = IgnoreFiles::default();
        let kinds = files.bytes.iter_mut();
        let [kb, git] = gitignore::NAMES;
        for (bytes, name) in kinds.zip([kb, git, gitignore::EXCLUDE]) {
            let read = match name {
                gitignore::EXCLUDE => gitignore::read_exclude(folder),
                name => gitignore::read(open_regular(&folder.join(name), Links::Refuse)),
            };
            match read {
                Ok(read) => *bytes = read,
                Err(reason) => found.problems.push((shown(folder, name), reason)),
            }
        }
        files.is_top = is_top(folder);
        let (rules, problems) = found.rules.with(&found.path, &files);
        found.rules = rules;
        for (kind, reason) in problems {
            let name = [kb, git, gitignore::EXCLUDE].get(kind).copied();
            let path = shown(folder, name.unwrap_or_default());
            found.problems.push((path, reason));
        }
        folders.pop();
        if let Some(name) = folders.last().and_then(|below| below.file_name()) {
            found.path.extend_from_slice(name.as_encoded_bytes());
            found.path.push(b'/');
        }
    }
    found
}

/// An ignore file above a root has no document path.
fn shown(folder: &Path, name: &str) -> String {
    crate::ingest::source::names::escaped(folder.join(name).as_os_str())
}
