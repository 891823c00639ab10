//! [`Kb`] against the world around its file: the folders that it was made from, and who writes it now.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::time::Duration;

use kb_types::error::Result;

use crate::container::WriterInfo;
use crate::ingest::changes::freshness::{ChangedSources, changed_sources};
use crate::ingest::changes::source_check::{SourceCheck, source_path};
use crate::ingest::options::IndexOptions;
use crate::ingest::report::{FolderRelation, Report};
use crate::ingest::run;
use crate::kb::reader::Kb;
use crate::progress::{Hook, Reporter};
use crate::search::Hit;

/// Comparing the file with the folders that it was made from.
impl Kb {
    /// What [`KbWriter::index`](crate::KbWriter::index) with the same `paths` would change; nothing is
    /// written. Reads the files whose size or time changed, with `force_hash` all.
    ///
    /// # Errors
    /// As [`KbWriter::index`](crate::KbWriter::index).
    pub fn check_sources(
        &self,
        paths: &[PathBuf],
        options: &IndexOptions,
        hook: &mut Hook<'_>,
    ) -> Result<Report> {
        let hook = RefCell::new(hook);
        run::check_sources(self.container(), paths, options, &Reporter::new(&hook))
    }

    /// Whether the .kb holds what `folders` hold now, wherever they were when it was made: one folder
    /// for each root, told apart by their names. The content of every file is compared; nothing is
    /// written.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::Error::InvalidArgument) when a folder belongs to no root;
    /// [`Io`](crate::Error::Io) when a file that must be compared cannot be read; as
    /// [`Kb::check_sources`].
    pub fn compare_sources(
        &self,
        folders: &[PathBuf],
        options: &IndexOptions,
        hook: &mut Hook<'_>,
    ) -> Result<Report> {
        let hook = RefCell::new(hook);
        run::compare_sources(self.container(), folders, options, &Reporter::new(&hook))
    }

    /// What a folder is to the file, by the rules of [`KbWriter::index`](crate::KbWriter::index): a root of
    /// a sealed file, which has only the name of the folder, is recognised by its content. `folder` is
    /// absolute and without symbolic links. Of a file that is not sealed nothing is read but its list
    /// of roots; of a sealed one at most 32 files of the folder for each root of its name.
    ///
    /// # Errors
    /// As [`Kb::state`].
    pub fn relation_of(&self, folder: &Path) -> Result<FolderRelation> {
        self.file
            .read(|commit| run::relation_of(commit.snapshot, commit.catalog, folder))
    }

    /// Whether the file holds nothing but what it was made from this folder: that is its only root, and
    /// every document is of it. The folder is as in [`Kb::relation_of`]. Reads the records of all
    /// documents.
    ///
    /// # Errors
    /// As [`Kb::state`].
    pub fn is_made_from(&self, folder: &Path) -> Result<bool> {
        self.file
            .read(|commit| run::is_made_from(commit.snapshot, commit.catalog, folder))
    }

    /// What is to be looked at to know whether the originals of these documents are as they were when they
    /// were indexed. Reads records only; [`SourceCheck::run_within`] looks at the disk.
    ///
    /// # Errors
    /// As [`Kb::state`].
    pub fn source_check(&self, documents: &[&str]) -> Result<SourceCheck> {
        self.file
            .read(|commit| SourceCheck::new(commit.snapshot, commit.catalog, documents))
    }

    /// Where the original of a document was when it was indexed, by the path of the document; `None` where that is not
    /// known: of a document that belongs to no folder, or whose folder is known by name only. The disk is not asked.
    ///
    /// # Errors
    /// As [`Kb::state`].
    pub fn source_path(&self, document: &str) -> Result<Option<PathBuf>> {
        self.file
            .read(|commit| source_path(commit.snapshot, commit.catalog, document))
    }

    /// Looks for files that came, changed or went since they were indexed, for `limit` at most: 5 ms are enough for a
    /// thousand files, and for the folders of a larger tree. What is found is certain; where nothing is found and the look
    /// was not complete, there may be changes. Nothing is done for roots that are not on this machine.
    ///
    /// # Errors
    /// As [`Kb::state`].
    pub fn changed_sources(&self, limit: Duration) -> Result<ChangedSources> {
        self.file
            .read(|commit| changed_sources(commit.snapshot, commit.catalog, limit))
    }

    /// Who writes the file now, in this process or another; `None` when nobody does, or the system does not
    /// tell. The lock decides: a writer that was killed is none. Costs two system calls.
    ///
    /// # Errors
    /// As [`Kb::open`] when another file took the place of this one.
    pub fn writer(&self) -> Result<Option<WriterInfo>> {
        self.container().writer()
    }
}

/// Compares the originals of the documents of `hits` with what `files` have of them, and sets
/// [`Hit::source_state`]. `files` are those that were searched. Whether it was done within `limit`: where
/// the disk takes longer, all states stay [`Unknown`](crate::SourceState::Unknown).
///
/// Cost: a thread for each file, and one system call for each document.
///
/// # Errors
/// As [`Kb::state`].
pub fn check_hits(files: &[&Kb], hits: &mut [Hit], limit: Duration) -> Result<bool> {
    let started = std::time::Instant::now();
    for (number, kb) in files.iter().enumerate() {
        let of_file = hits.iter_mut().filter(|hit| hit.file == number);
        let mut of_file: Vec<&mut Hit> = of_file.collect();
        if of_file.is_empty() {
            continue;
        }
        let documents: Vec<&str> = of_file.iter().map(|hit| hit.document.as_str()).collect();
        let check = kb.source_check(&documents)?;
        let left = limit.saturating_sub(started.elapsed());
        let Some(states) = check.run_within(left) else {
            return Ok(false);
        };
        for (hit, state) in of_file.iter_mut().zip(states) {
            hit.source_state = state;
        }
    }
    Ok(true)
}
