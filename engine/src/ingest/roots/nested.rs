//! Where the roots of a sealed file are that lie inside other roots.
//!
//! A sealed file has only the names of its folders. When the outer one of two nested roots is indexed
//! again, the folder of the inner one must be found too: otherwise its files would be taken as files
//! of the outer root, and all its documents would be in the file twice.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use kb_types::error::Result;

use crate::ingest::root::{Root, Scope};
use crate::ingest::roots::agreement::{Agreement, Sample};
use crate::ingest::roots::table::{IsPathPrefix, Table, best_of};
use crate::ingest::source::names::escaped;
use crate::ingest::walk::{Walk, WalkItem, WalkOptions};
use crate::progress::Reporter;

/// Samples of roots without a place, with their positions in the table, by the names of their folders.
type Nameless = BTreeMap<String, Vec<(usize, Vec<Sample>)>>;

impl Table<'_, '_> {
    /// Gives roots without a place the folder that an asked root reaches, when it has their name and
    /// their content and the asked root has no documents of its own from there.
    ///
    /// Cost: nothing unless the file has roots without a place, which is after a seal; then a walk
    /// through what is asked, 32 look-ups of files for each folder of the right name, and memory for
    /// the paths of these folders.
    ///
    /// # Errors
    /// As [`Walk`]; what the samples and `is_used` say.
    pub(super) fn locate_nested(
        &mut self,
        is_used: Option<&IsPathPrefix<'_>>,
        reporter: &Reporter<'_>,
    ) -> Result<()> {
        let nameless = self.nameless()?;
        if nameless.is_empty() {
            return Ok(());
        }
        let asked: Vec<Root> = self.roots().collect();
        let mut found: BTreeMap<usize, (Agreement, PathBuf)> = BTreeMap::new();
        for (root, folder) in folders_named(&nameless, &asked, reporter)? {
            if self.position_at(&folder).is_some() || self.is_used_by(root, &folder, is_used)? {
                continue;
            }
            let name = folder.file_name().map(escaped).unwrap_or_default();
            let named = nameless.get(&name).into_iter().flatten();
            let named = named.map(|(at, samples)| (*at, Agreement::of(&folder, samples)));
            let named: Vec<_> = named.collect();
            let Some((at, agreement)) = best_of(&named) else {
                continue;
            };
            let before = found.get(&at);
            if before.is_none_or(|(before, _)| agreement.is_better_than(*before)) {
                found.insert(at, (agreement, folder));
            }
        }
        for (at, (_, folder)) in found {
            if let Some(entry) = self.entries.get_mut(at) {
                entry.move_to(folder);
            }
        }
        Ok(())
    }

    /// Roots that nothing is asked of and whose folder is not known. One without samples is left out:
    /// there is nothing to recognise it by.
    fn nameless(&mut self) -> Result<Nameless> {
        let mut nameless = Nameless::new();
        if self.entries.iter().all(|entry| entry.scope.is_none()) {
            return Ok(nameless);
        }
        for (at, entry) in self.entries.iter().enumerate() {
            if entry.has_folder() || entry.scope.is_some() || entry.folder.is_absolute() {
                continue;
            }
            let samples = (self.samples)(&entry.record)?;
            if !samples.is_empty() {
                let name = entry.record.source.clone();
                nameless.entry(name).or_default().push((at, samples));
            }
        }
        Ok(nameless)
    }

    /// Whether `root` has documents from `folder`: then the folder is a part of it, whatever else it
    /// looks like.
    fn is_used_by(
        &self,
        root: &Root,
        folder: &Path,
        is_used: Option<&IsPathPrefix<'_>>,
    ) -> Result<bool> {
        let Ok(relative) = folder.strip_prefix(&root.folder) else {
            return Ok(true);
        };
        let path = root.document_path(relative);
        let first = path.split('/').next();
        let mut others = self.entries.iter().filter(|entry| {
            entry.record.id != root.id && Some(entry.record.prefix.as_str()) == first
        });
        match is_used {
            // Below the prefix of another root lie the documents of that one.
            Some(is_used) if others.next().is_none() => is_used(&path),
            _ => Ok(false),
        }
    }
}

/// Folders with one of the names that hold files to index, each with the root that reaches it, in the
/// order of paths.
fn folders_named<'r>(
    nameless: &Nameless,
    roots: &'r [Root],
    reporter: &Reporter<'_>,
) -> Result<Vec<(&'r Root, PathBuf)>> {
    let options = WalkOptions {
        // Only names count here, and a folder of large files has one too.
        max_file_bytes: u64::MAX,
        ..WalkOptions::default()
    };
    let mut folders = BTreeSet::new();
    for (number, root) in roots.iter().enumerate() {
        if !matches!(root.scope, Scope::Whole | Scope::Parts(_)) {
            continue;
        }
        let mut last = PathBuf::new();
        for found in Walk::new(std::slice::from_ref(root), options.clone(), reporter)? {
            let WalkItem::File(file) = found? else {
                continue;
            };
            let path = file.disk_path();
            // Files of one folder follow each other: it is looked at once.
            let Some(parent) = path.parent().filter(|parent| *parent != last) else {
                continue;
            };
            last = parent.to_path_buf();
            let below = parent
                .ancestors()
                .take_while(|folder| *folder != root.folder);
            for folder in below {
                if let Some(name) = folder.file_name()
                    && nameless.contains_key(&escaped(name))
                {
                    folders.insert((folder.to_path_buf(), number));
                }
            }
        }
    }
    let of_root = |(folder, number)| Some((roots.get::<usize>(number)?, folder));
    Ok(folders.into_iter().filter_map(of_root).collect())
}
