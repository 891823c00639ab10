//! What a folder is to a file: whether a run over it would change what the file has of it.

use std::ops::ControlFlow;
use std::path::Path;

use crate::error::Result;
use crate::ingest::report::FolderRelation;
use crate::ingest::roots::resolve;
use crate::kb::{Kb, samples};

impl Kb {
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
