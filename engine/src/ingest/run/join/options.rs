//! How to take documents of other files, and what was taken.

use std::collections::BTreeSet;
use std::path::PathBuf;

/// What becomes of a document whose path the file already has, with other content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnConflict {
    /// Nothing is taken, and the paths are named.
    #[default]
    Refuse,
    /// The document that is there stays.
    KeepFirst,
    /// The new document takes its place.
    KeepLast,
    /// The one that was modified last stays; of two of the same time the one that is there.
    KeepNewest,
    /// Both: the new one below a folder that is named after its file.
    Both,
}

impl OnConflict {
    /// All, in the order of help texts.
    pub const ALL: [OnConflict; 5] = [
        OnConflict::Refuse,
        OnConflict::KeepFirst,
        OnConflict::KeepLast,
        OnConflict::KeepNewest,
        OnConflict::Both,
    ];

    /// Its name on command lines.
    pub fn name(self) -> &'static str {
        match self {
            OnConflict::Refuse => "refuse",
            OnConflict::KeepFirst => "keep-first",
            OnConflict::KeepLast => "keep-last",
            OnConflict::KeepNewest => "keep-newest",
            OnConflict::Both => "both",
        }
    }

    /// The one of that name.
    pub fn of_name(name: &str) -> Option<OnConflict> {
        OnConflict::ALL.into_iter().find(|one| one.name() == name)
    }
}

/// A file that documents are taken of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergeSource {
    /// Its path; a relative one starts in the working folder.
    pub path: PathBuf,
    /// The folder that its documents are put below; `None`: their paths stay as they are.
    pub folder: Option<String>,
    /// Which of its documents are taken, beside what [`MergeOptions::only`] says.
    pub(crate) picked: Picked,
}

/// Documents of a file by their exact paths.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum Picked {
    #[default]
    All,
    /// None but these; what the file left out is not taken over.
    Only(BTreeSet<String>),
    /// All but these: what comes from elsewhere takes their place.
    Without(BTreeSet<String>),
}

impl Picked {
    pub(super) fn has(&self, path: &str) -> bool {
        match self {
            Picked::All => true,
            Picked::Only(paths) => paths.contains(path),
            Picked::Without(paths) => !paths.contains(path),
        }
    }
}

impl MergeSource {
    /// A file whose documents keep their paths.
    pub fn new(path: impl Into<PathBuf>) -> MergeSource {
        MergeSource {
            path: path.into(),
            folder: None,
            picked: Picked::All,
        }
    }

    /// Sets [`MergeSource::picked`].
    pub(crate) fn picked(mut self, picked: Picked) -> MergeSource {
        self.picked = picked;
        self
    }

    /// Sets [`MergeSource::folder`].
    #[must_use]
    pub fn folder(mut self, folder: impl Into<String>) -> MergeSource {
        self.folder = Some(folder.into());
        self
    }
}

/// What [`crate::KbWriter::merge_from`] takes.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct MergeOptions {
    /// What becomes of two documents of one path.
    pub on_conflict: OnConflict,
    /// Globs of paths of the other files, as filters of searches have them: only documents that match one are taken, and
    /// none that one with `!` matches. Empty: all.
    pub only: Vec<String>,
    /// Tags that every document gets that is taken.
    pub tags: Vec<String>,
}

impl MergeOptions {
    /// The defaults: everything, and nothing where paths clash.
    pub fn new() -> MergeOptions {
        MergeOptions::default()
    }

    /// Sets [`MergeOptions::on_conflict`].
    #[must_use]
    pub fn on_conflict(mut self, on_conflict: OnConflict) -> MergeOptions {
        self.on_conflict = on_conflict;
        self
    }

    /// Sets [`MergeOptions::only`].
    #[must_use]
    pub fn only(mut self, only: Vec<String>) -> MergeOptions {
        self.only = only;
        self
    }

    /// Sets [`MergeOptions::tags`].
    #[must_use]
    pub fn tags(mut self, tags: Vec<String>) -> MergeOptions {
        self.tags = tags;
        self
    }
}

/// The result of [`crate::KbWriter::merge_from`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MergeReport {
    /// Documents that came.
    pub added: u64,
    /// Documents that took the place of others.
    pub replaced: u64,
    /// Documents that were there already, alike in all.
    pub identical: u64,
    /// Documents that were left out, because one of their path stays.
    pub left_out: u64,
    /// The folders that documents were put below whose path was taken.
    pub renamed_below: Vec<String>,
    /// Columns of vectors that were not taken: the file has others of these names, or no room.
    pub left_columns: Vec<String>,
    /// Indexed folders of the other files whose documents came without them: index runs leave these documents as they are.
    pub left_roots: Vec<String>,
}

impl MergeReport {
    /// Documents that were looked at.
    pub(super) fn taken(&self) -> u64 {
        self.added + self.replaced + self.identical + self.left_out
    }
}
