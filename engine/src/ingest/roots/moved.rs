//! Roots whose folders are gone: which of them a folder is now, because it was renamed or moved.
//!
//! A wrong guess would remove documents, so a root is recognised only where nothing is left at its own place
//! and more than half of a sample of its documents are in the folder unchanged.

use std::path::{Path, PathBuf};

use kb_types::error::Result;

use crate::ingest::report::MovedRoot;
use crate::ingest::roots::agreement::Agreement;
use crate::ingest::roots::entry::Entry;
use crate::ingest::roots::table::{Table, best_of};

/// Folders above a given one, and names of a root's own path, that are looked at.
// Each costs a look at the disk for every root that is gone. Deeper trees are found when a folder
// nearer is given.
const MAX_LEVELS: usize = 16;

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
                // Each inner root proves itself: being inside a folder that moved does not tell
                // that it moved too.
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

    /// The innermost folder around `folder` that is, for certain, a root whose own folder is gone: what was asked is a
    /// part of that.
    pub(super) fn gone_around(
        &mut self,
        folder: &Path,
    ) -> Result<Option<(usize, PathBuf, Agreement)>> {
        if !self.entries.iter().any(Entry::is_gone) {
            return Ok(None);
        }
        for around in folder.ancestors().skip(1).take(MAX_LEVELS) {
            // A client of a server must not learn, nor decide, what lies outside its folders.
            if !self.is_within(around) {
                break;
            }
            let gone = self.gone_like(around)?;
            if let Some((at, agreement)) = best_of(&gone) {
                return Ok(Some((at, around.to_owned(), agreement)));
            }
        }
        Ok(None)
    }

    /// Moves the root around `folder` that was renamed, if there is one.
    pub(super) fn adopt_around(&mut self, folder: &Path) -> Result<()> {
        match self.gone_around(folder)? {
            Some((at, around, agreement)) => self.adopt(at, &around, agreement),
            None => Ok(()),
        }
    }

    /// Moves roots whose folders are gone into a new root, where that has their content in a folder of the name, or of
    /// the last names, of their own: a folder above several roots was renamed.
    pub(super) fn adopt_below(&mut self, folder: &Path) -> Result<()> {
        for at in 0..self.entries.len() {
            let Some(entry) = self.entries.get(at) else {
                break;
            };
            if entry.scope.is_some() || !self.is_within(&entry.folder) || !entry.is_gone() {
                continue;
            }
            let own: Vec<&std::ffi::OsStr> = entry.folder.iter().skip(1).collect();
            let tails = (0..own.len()).rev().take(MAX_LEVELS);
            let places = tails.map(|from| folder.join(own.iter().skip(from).collect::<PathBuf>()));
            let is_free = |place: &PathBuf| place.is_dir() && self.position_at(place).is_none();
            let places: Vec<PathBuf> = places.filter(is_free).collect();
            if places.is_empty() {
                continue;
            }
            let record = entry.record.clone();
            let samples = (self.samples)(&record)?;
            let found = places.into_iter().find_map(|place| {
                let agreement = Agreement::of(&place, &samples);
                let is_it = agreement.same > 0 && agreement.is_enough();
                is_it.then_some((place, agreement))
            });
            if let Some((place, agreement)) = found {
                self.adopt(at, &place, agreement)?;
            }
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
