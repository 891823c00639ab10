//! All roots of the file while paths are resolved, and the rules by which a folder becomes one of them.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use kb_types::error::{Error, Result};
use unicode_normalization::UnicodeNormalization;

use crate::ingest::report::{MovedRoot, SimilarRoot};
use crate::ingest::root::{Root, Scope};
use crate::ingest::roots::agreement::{Agreement, Sample};
use crate::ingest::roots::entry::Entry;
use crate::ingest::roots::given_path::{GivenPath, ResolveOptions};
use crate::ingest::source::git;
use crate::ingest::source::names::escaped;
use crate::store::meta::RootRecord;
use crate::store::meta::selection::RootSelection;

/// Tells whether the path of a document is, or begins with, one or several parts. ResolveOptions about names of
/// new roots, and about folders that may be a root of a sealed file.
pub(crate) type IsPathPrefix<'a> = dyn Fn(&str) -> Result<bool> + 'a;

/// Gives documents of a root, spread over all of them, by which its folder is known again.
pub(crate) type Samples<'a> = dyn FnMut(&RootRecord) -> Result<Vec<Sample>> + 'a;

/// Roots for the walk, and for the file.
#[derive(Debug, Clone, Default)]
pub(crate) struct Resolved {
    /// What is looked at.
    pub roots: Vec<Root>,
    /// All roots of the file after this run.
    pub records: Vec<RootRecord>,
    /// Number of the next root after this run.
    pub next_root: u32,
    /// Folders that became new roots and might be others.
    pub similar: Vec<SimilarRoot>,
    /// Roots that were recognised in another folder.
    pub moved: Vec<MovedRoot>,
}

pub(super) struct Table<'k, 's> {
    pub(super) entries: Vec<Entry>,
    pub(super) next_root: u32,
    pub(super) samples: &'k mut Samples<'s>,
    /// New entries, each with one that it might be.
    pub(super) similar: Vec<(usize, usize, Agreement)>,
    /// Roots that were recognised in another folder.
    pub(super) moved: Vec<MovedRoot>,
    /// The folders that a root must lie in to be recognised elsewhere: see [`ResolveOptions::within`].
    pub(super) within: Option<&'k [PathBuf]>,
}

/// Which root a folder is.
pub(super) enum Match {
    /// The entry at this position.
    Root(usize),
    /// The entry at this position, whose own folder is gone, by its content.
    Moved(usize, Agreement),
    /// None of them for certain. These have its name, or something of their content where their own
    /// folders are gone.
    Similar(Vec<(usize, Agreement)>),
}

impl Table<'_, '_> {
    pub(super) fn position_at(&self, folder: &Path) -> Option<usize> {
        self.entries.iter().position(|entry| entry.is_at(folder))
    }

    /// The root at that place, else the one root without a place whose name and content it has.
    pub(super) fn position_of(&mut self, folder: &Path) -> Result<Match> {
        // The place first: a folder that is where a root was is that root, whatever it holds now.
        if let Some(at) = self.position_at(folder) {
            return Ok(Match::Root(at));
        }
        let name = folder.file_name().map(escaped);
        let mut named = Vec::new();
        for (at, entry) in self.entries.iter().enumerate() {
            if !entry.has_folder() && Some(&entry.record.source) == name.as_ref() {
                let samples = (self.samples)(&entry.record)?;
                named.push((at, Agreement::of(folder, &samples)));
            }
        }
        if let Some((at, _)) = best_of(&named) {
            return Ok(Match::Root(at));
        }
        // Last, as it costs look-ups on the disk for each root that is gone.
        let gone = self.gone_like(folder)?;
        match best_of(&gone) {
            Some((at, agreement)) => Ok(Match::Moved(at, agreement)),
            None => {
                named.extend(gone);
                Ok(Match::Similar(named))
            }
        }
    }

    /// Makes the only path the folder of the root of that name.
    pub(super) fn claim(
        &mut self,
        paths: &[PathBuf],
        name: &str,
        options: ResolveOptions<'_>,
    ) -> Result<()> {
        let refused = |reason: String| Error::InvalidArgument {
            argument: "root",
            reason,
        };
        let [path] = paths else {
            let reason = "it says which root one folder is; give one path".to_owned();
            return Err(refused(reason));
        };
        let (folder, is_there) = match options.given_path(path)? {
            GivenPath::Folder(folder) => (folder, true),
            GivenPath::Missing(folder) if options.allow_missing => (folder, false),
            GivenPath::Missing(_) => return Err(Error::PathNotFound { path: path.clone() }),
            GivenPath::File { .. } => {
                let reason = format!("{} is a file, and a root is a folder", path.display());
                return Err(refused(reason));
            }
        };
        let at = self.named(name, &folder).map_err(refused)?;
        for (number, entry) in self.entries.iter_mut().enumerate() {
            if number == at {
                if is_there {
                    // Its files are among all that the folder holds.
                    entry.record.files.clear();
                }
                entry.move_to(folder.clone());
                entry.scope = Some(Scope::Whole);
            } else if entry.is_at(&folder) {
                entry.scope = Some(Scope::Superseded);
            }
        }
        Ok(())
    }

    /// The root of a name that a person gives for `folder`; else why there is none.
    fn named(&self, name: &str, folder: &Path) -> std::result::Result<usize, String> {
        let is_exact = |entry: &Entry| entry.exact_name() == name;
        if let Some(at) = self.entries.iter().position(is_exact) {
            return Ok(at);
        }
        let has_name = |entry: &Entry| {
            let record = &entry.record;
            !name.is_empty()
                && [&record.source, &record.prefix, entry.folder_name()].contains(&name)
        };
        let numbered = self.entries.iter().enumerate();
        let named = numbered.filter(|(_, entry)| has_name(entry));
        let mut named: Vec<usize> = named.map(|(at, _)| at).collect();
        if let [_, _, ..] = named.as_slice() {
            // It is said of the folder because it is not the root that it is already.
            named.retain(|at| !self.entries.get(*at).is_some_and(|e| e.is_at(folder)));
        }
        let roots = self.entries.iter().map(|entry| {
            let source = &entry.record.source;
            format!("{source} (root {})", entry.exact_name())
        });
        let roots = if self.entries.is_empty() {
            "it has none".to_owned()
        } else {
            format!("its roots: {}", roots.collect::<Vec<_>>().join(", "))
        };
        match named.as_slice() {
            [at] => Ok(*at),
            [] => Err(format!("this .kb has no root {name:?}; {roots}")),
            _ => Err(format!("{name:?} names several roots of this .kb; {roots}")),
        }
    }

    /// The whole root that a path lies below, and where.
    fn above(&mut self, path: &Path) -> Option<(&mut Entry, PathBuf)> {
        self.entries
            .iter_mut()
            .filter(|entry| entry.is_whole() && entry.folder.is_absolute())
            .find_map(|entry| {
                let relative = path.strip_prefix(&entry.folder).ok()?.to_path_buf();
                (!relative.as_os_str().is_empty()).then_some((entry, relative))
            })
    }

    pub(super) fn add_folder(&mut self, folder: PathBuf) -> Result<()> {
        let similar = match self.position_of(&folder)? {
            Match::Root(at) => {
                if let Some(entry) = self.entries.get_mut(at) {
                    // Its files are among all that the folder holds.
                    entry.record.files.clear();
                    entry.move_to(folder);
                    entry.scope = Some(Scope::Whole);
                }
                return Ok(());
            }
            Match::Moved(at, agreement) => {
                self.adopt(at, &folder, agreement)?;
                if let Some(entry) = self.entries.get_mut(at) {
                    entry.record.files.clear();
                    entry.scope = Some(Scope::Whole);
                }
                return Ok(());
            }
            Match::Similar(similar) => similar,
        };
        // A folder inside a root is a part of it: it needs no root of its own, and nothing has
        // moved.
        if self.above(&folder).is_none() {
            self.adopt_around(&folder)?;
        }
        match self.above(&folder) {
            Some((entry, relative)) => entry.select(relative),
            None => {
                self.adopt_below(&folder)?;
                self.add_new(folder, Vec::new(), Scope::Whole, similar)?;
            }
        }
        Ok(())
    }

    pub(super) fn add_file(&mut self, folder: PathBuf, name: PathBuf) -> Result<()> {
        let found = self.position_of(&folder)?;
        if let Match::Moved(at, agreement) = found {
            self.adopt(at, &folder, agreement)?;
        }
        let similar = match found {
            Match::Root(at) | Match::Moved(at, _) => {
                if let Some(entry) = self.entries.get_mut(at) {
                    entry.move_to(folder);
                    if !entry.is_whole() {
                        entry.record.files.push(escaped(name.as_os_str()));
                        entry.record.files.sort();
                        entry.record.files.dedup();
                    }
                    entry.select(name);
                }
                return Ok(());
            }
            Match::Similar(similar) => similar,
        };
        if self.above(&folder.join(&name)).is_none() {
            self.adopt_around(&folder)?;
        }
        match self.above(&folder.join(&name)) {
            Some((entry, relative)) => entry.select(relative),
            None => {
                let files = vec![escaped(name.as_os_str())];
                let scope = Scope::Files(BTreeSet::from([name]));
                self.add_new(folder, files, scope, similar)?;
            }
        }
        Ok(())
    }

    /// Whether the file knows a path that does not exist.
    pub(super) fn add_missing(&mut self, path: &Path) -> bool {
        if let Some(entry) = self
            .position_at(path)
            .and_then(|at| self.entries.get_mut(at))
        {
            entry.scope = Some(if entry.is_whole() {
                Scope::Whole
            } else {
                Scope::Files(entry.record.files.iter().map(PathBuf::from).collect())
            });
            return true;
        }
        let named = path.parent().zip(path.file_name());
        if let Some((folder, name)) = named
            && let Some(entry) = self
                .position_at(folder)
                .and_then(|at| self.entries.get_mut(at))
        {
            entry.select(PathBuf::from(name));
            return true;
        }
        match self.above(path) {
            Some((entry, relative)) => {
                entry.select(relative);
                true
            }
            None => false,
        }
    }

    fn add_new(
        &mut self,
        folder: PathBuf,
        files: Vec<String>,
        scope: Scope,
        similar: Vec<(usize, Agreement)>,
    ) -> Result<()> {
        let new = self.entries.len();
        let pairs = similar
            .into_iter()
            .map(|(at, agreement)| (new, at, agreement));
        self.similar.extend(pairs);
        let record = RootRecord {
            id: self.next_root,
            source: escaped(folder.as_os_str()),
            files,
            ..RootRecord::default()
        };
        self.next_root = self.next_root.checked_add(1).ok_or(Error::TooMany {
            what: "roots that were ever indexed",
            count: u64::from(u32::MAX),
            limit: u64::from(u32::MAX) - 1,
        })?;
        self.entries.push(Entry {
            record,
            folder,
            scope: Some(scope),
            is_new: true,
        });
        Ok(())
    }

    /// None to the only root of a new file, else the name of the folder, with -2, -3 until it is
    /// unlike the first parts of all paths and all other prefixes.
    pub(super) fn give_prefixes(
        &mut self,
        is_path_prefix: Option<&IsPathPrefix<'_>>,
    ) -> Result<()> {
        if is_path_prefix.is_none() && self.entries.len() == 1 {
            return Ok(());
        }
        let is_path_prefix = is_path_prefix.unwrap_or(&|_| Ok(false));
        let old = self.entries.iter().filter(|entry| !entry.is_new);
        let mut taken: BTreeSet<String> = old.map(|entry| entry.record.prefix.clone()).collect();
        for entry in self.entries.iter_mut().filter(|entry| entry.is_new) {
            let name = entry.folder.file_name().unwrap_or(OsStr::new("root"));
            let name: String = escaped(name).nfc().collect();
            let mut prefix = name.clone();
            let mut number = 2;
            while taken.contains(&prefix) || is_path_prefix(&prefix)? {
                prefix = format!("{name}-{number}");
                // Ends: there are fewer prefixes and first parts of paths than numbers.
                number += 1;
            }
            taken.insert(prefix.clone());
            entry.record.prefix = prefix;
        }
        Ok(())
    }

    /// What is looked at.
    pub(super) fn roots(&self) -> impl Iterator<Item = Root> {
        self.entries.iter().filter_map(|entry| {
            let foreign = self.entries.iter().flat_map(|other| foreign(entry, other));
            Some(Root {
                id: entry.record.id,
                folder: entry.folder.clone(),
                prefix: entry.record.prefix.clone(),
                scope: entry.scope.clone()?,
                foreign: foreign.collect(),
                elsewhere: self.elsewhere(entry),
                selection: RootSelection {
                    root: entry.record.id,
                    ..RootSelection::default()
                },
                indexed_ms: entry.record.indexed_ms,
            })
        })
    }

    /// Folders of the other whole roots.
    fn elsewhere(&self, entry: &Entry) -> Vec<PathBuf> {
        let others = self.entries.iter().filter(|other| {
            other.record.id != entry.record.id && other.is_whole() && other.has_folder()
        });
        others.map(|other| other.folder.clone()).collect()
    }

    pub(super) fn finish(self) -> Resolved {
        let similar = self.similar.iter().filter_map(|(new, at, agreement)| {
            let (new, other) = (self.entries.get(*new)?, self.entries.get(*at)?);
            let name = other.folder_name();
            let is_enough = self.named(name, &new.folder) == Ok(*at);
            Some(SimilarRoot {
                folder: new.folder.clone(),
                prefix: new.record.prefix.clone(),
                root: if is_enough {
                    name.to_owned()
                } else {
                    other.exact_name()
                },
                compared: agreement.compared,
                same: agreement.same,
                is_gone: other.has_folder(),
            })
        });
        Resolved {
            moved: self.moved.clone(),
            roots: self.roots().collect(),
            next_root: self.next_root,
            similar: similar.collect(),
            records: self
                .entries
                .into_iter()
                .filter(|entry| entry.scope != Some(Scope::Superseded))
                .map(|entry| match entry.scope {
                    Some(_) => with_git(entry.record, &entry.folder),
                    None => entry.record,
                })
                .collect(),
        }
    }
}

/// The root whose documents a folder has; none when no agreement is enough, and none of several that
/// agree equally well: nobody can tell which of them it is.
pub(super) fn best_of(named: &[(usize, Agreement)]) -> Option<(usize, Agreement)> {
    let is_best = |(at, agreement): &(usize, Agreement)| {
        let mut others = named.iter().filter(|(other, _)| other != at);
        agreement.is_enough()
            && others.all(|(_, other)| !other.is_enough() || agreement.is_better_than(*other))
    };
    named.iter().copied().find(is_best)
}

/// What of `entry` belongs to another root below it. A path inside a whole root is a part of it, so a
/// root that lies there was there before.
fn foreign(entry: &Entry, other: &Entry) -> Vec<PathBuf> {
    if other.folder == entry.folder || !other.folder.starts_with(&entry.folder) {
        return Vec::new();
    }
    if other.is_whole() {
        vec![other.folder.clone()]
    } else {
        other
            .record
            .files
            .iter()
            .map(|name| other.folder.join(name))
            .collect()
    }
}

fn with_git(record: RootRecord, folder: &Path) -> RootRecord {
    let git = git::git_state(folder).unwrap_or_default();
    RootRecord {
        git_commit: git.commit,
        git_branch: git.branch,
        ..record
    }
}
