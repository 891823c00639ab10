//! A file and the folders it was made from. The work is done in `ingest`.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::ingest::options::IndexOptions;
use crate::ingest::report::{FolderRelation, Report};
use crate::ingest::roots::resolve;
use crate::ingest::run::{self, samples};
use crate::kb::read::Kb;

impl Kb {
    /// What [`crate::KbWriter::index`] with the same `paths` would change; nothing is written. Reads the
    /// files whose size or time changed, with `force_hash` all.
    ///
    /// # Errors
    /// As [`crate::KbWriter::index`].
    pub fn check_sources(&self, paths: &[PathBuf], options: &IndexOptions) -> Result<Report> {
        run::check_sources(self.container(), paths, options)
    }

    /// Whether the .kb holds what `folders` hold now, wherever they were when it was made: one folder
    /// for each root, told apart by their names. The content of every file is compared; nothing is
    /// written.
    ///
    /// # Errors
    /// [`crate::Error::InvalidArgument`] when a folder belongs to no root; [`crate::Error::Io`] when a file that
    /// must be compared cannot be read; as [`Kb::check_sources`].
    pub fn compare_sources(&self, folders: &[PathBuf], options: &IndexOptions) -> Result<Report> {
        run::compare_sources(self.container(), folders, options)
    }

    /// What a folder is to the file, by the rules of [`crate::KbWriter::index`]: a root of a sealed file,
    /// which has only the name of the folder, is recognised by its content. `folder` is absolute and
    /// without symbolic links. Of a file that is not sealed nothing is read but its list of roots; of a
    /// sealed one at most 32 files of the folder for each root of its name.
    ///
    /// # Errors
    /// As [`Kb::state`].
    pub fn relation_of(&self, folder: &Path) -> Result<FolderRelation> {
        self.read(|snapshot, catalog| {
            let mut samples = |root: &_| samples::samples(snapshot, catalog, root);
            resolve::relation(folder, &catalog.meta.roots, &mut samples)
        })
    }

    /// Whether the file holds nothing but what it was made from this folder: that is its only root, and
    /// every document is of it. The folder is as in [`Kb::relation_of`]. Reads the records of all
    /// documents.
    ///
    /// # Errors
    /// As [`Kb::state`].
    pub fn is_made_from(&self, folder: &Path) -> Result<bool> {
        self.read(|snapshot, catalog| {
            let mut samples = |root: &_| samples::samples(snapshot, catalog, root);
            let [root] = catalog.meta.roots.as_slice() else {
                return Ok(false);
            };
            if resolve::relation(folder, &catalog.meta.roots, &mut samples)? != FolderRelation::Root
            {
                return Ok(false);
            }
            let mut is_all = true;
            catalog.documents.each(snapshot, |_, record| {
                is_all = record.root == Some(root.id);
                Ok(match is_all {
                    true => ControlFlow::Continue(()),
                    false => ControlFlow::Break(()),
                })
            })?;
            Ok(is_all)
        })
    }
}
