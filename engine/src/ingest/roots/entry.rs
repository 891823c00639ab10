//! One root of the file while paths are resolved.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::ingest::root::Scope;
use crate::ingest::source::names::escaped;
use crate::store::meta::RootRecord;

/// A root of the file with what is asked of it in this run.
pub(super) struct Entry {
    pub(super) record: RootRecord,
    pub(super) folder: PathBuf,
    pub(super) scope: Option<Scope>,
    pub(super) is_new: bool,
}

impl Entry {
    pub(super) fn stored(record: &RootRecord) -> Entry {
        Entry {
            folder: PathBuf::from(&record.source),
            record: record.clone(),
            scope: None,
            is_new: false,
        }
    }

    pub(super) fn is_whole(&self) -> bool {
        self.record.files.is_empty()
    }

    /// Whether it is known where the folder is: a sealed file has only its name.
    pub(super) fn has_folder(&self) -> bool {
        Path::new(&self.record.source).is_absolute()
    }

    /// Whether it is at that place.
    pub(super) fn is_at(&self, folder: &Path) -> bool {
        self.has_folder() && self.record.source == escaped(folder.as_os_str())
    }

    /// Whether its folder is known and no longer there. An escaped name is not the one on disk, and a
    /// share of another machine may take minutes.
    pub(super) fn is_gone(&self) -> bool {
        use std::io::ErrorKind::{NotADirectory, NotFound};
        let source = &self.record.source;
        self.has_folder()
            && !source.contains("\\x")
            && !source.starts_with(r"\\")
            && std::fs::symlink_metadata(source)
                .is_err_and(|error| matches!(error.kind(), NotFound | NotADirectory))
    }

    /// The name of its folder.
    pub(super) fn folder_name(&self) -> &str {
        let parts = self.record.source.rsplit(['/', '\\']);
        parts.into_iter().next().unwrap_or_default()
    }

    /// The name that no other root of the file has: one root at most has no prefix.
    pub(super) fn exact_name(&self) -> String {
        match self.record.prefix.as_str() {
            "" => ".".to_owned(),
            prefix => format!("{prefix}/"),
        }
    }

    pub(super) fn move_to(&mut self, folder: PathBuf) {
        self.record.source = escaped(folder.as_os_str());
        self.folder = folder;
    }

    pub(super) fn select(&mut self, part: PathBuf) {
        let nothing = if self.is_whole() {
            Scope::Parts(BTreeSet::new())
        } else {
            Scope::Files(BTreeSet::new())
        };
        if let Scope::Parts(parts) | Scope::Files(parts) = self.scope.get_or_insert(nothing) {
            parts.insert(part);
        }
    }
}
