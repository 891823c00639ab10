//! Roots whose folders are gone: which of them a folder is now, because it was renamed or moved.
//!
//! A wrong guess would remove documents, so a root is recognised only where nothing is left at its own place
//! and more than half of a sample of its documents are in the folder unchanged.

use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::ingest::report::MovedRoot;
use crate::ingest::roots::agreement::Agreement;
use crate::ingest::roots::table::Table;

impl Table<'_, '_> {
    /// Roots whose folders are gone and of which `folder` has something, with how much. None for a folder
    /// inside a root: it is a part of that one.
    ///
    /// Cost: a look at the folder of each root, and 32 look-ups of files for each that is gone.
    pub(super) fn gone_like(&mut self, folder: &Path) -> Result<Vec<(usize, Agreement)>> {
        let mut around = self.entries.iter().filter(|entry| entry.is_whole());
        if around.any(|entry| entry.has_folder() && folder.starts_with(&entry.folder)) {
            return Ok(Vec::new());
        }
        let mut gone = Vec::new();
        for (at, entry) in self.entries.iter().enumerate() {
            if entry.scope.is_some() || !self.is_within(&entry.folder) || !entry.is_gone() {
                continue;
            }
            let samples = (self.samples)(&entry.record)?;
            let agreement = Agreement::of(folder, &samples);
            if agreement.same > 0 {
                gone.push((at, agreement));
            }
        }
        Ok(gone)
    }

    /// Makes `folder` the folder of a root whose own is gone. Roots that lay inside the old folder follow where
    /// the new one has their content, so that it is not taken for content of the outer root.
    pub(super) fn adopt(&mut self, at: usize, folder: &Path, agreement: Agreement) -> Result<()> {
        let Some(entry) = self.entries.get(at) else {
            return Ok(());
        };
        let old = entry.folder.clone();
        let mut inside: Vec<(usize, Agreement, PathBuf)> = Vec::new();
        for (other, entry) in self.entries.iter().enumerate() {
            let Ok(relative) = entry.folder.strip_prefix(&old) else {
                continue;
            };
            let place = folder.join(relative);
            let is_candidate = other != at && entry.scope.is_none() && entry.is_gone();
            if is_candidate && place.is_dir() && self.position_at(&place).is_none() {
                let samples = (self.samples)(&entry.record)?;
                let agreement = Agreement::of(&place, &samples);
                if agreement.is_enough() {
                    inside.push((other, agreement, place));
                }
            }
        }
        self.relocate(at, folder.to_owned(), agreement);
        for (other, agreement, place) in inside {
            self.relocate(other, place, agreement);
        }
        Ok(())
    }

    fn relocate(&mut self, at: usize, folder: PathBuf, agreement: Agreement) {
        let Some(entry) = self.entries.get_mut(at) else {
            return;
        };
        self.moved.push(MovedRoot {
            from: entry.record.source.clone(),
            folder: folder.clone(),
            prefix: entry.record.prefix.clone(),
            compared: agreement.compared,
            same: agreement.same,
        });
        entry.move_to(folder);
    }

    /// Whether the run may decide over a root that was in this folder.
    fn is_within(&self, folder: &Path) -> bool {
        let is_in = |within: &[PathBuf]| within.iter().any(|allowed| folder.starts_with(allowed));
        self.within.is_none_or(is_in)
    }
}
