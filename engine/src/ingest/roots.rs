//! Paths that a person gives -> roots: those that the file knows already, and new ones.
//!
//! A path inside a folder that the file was made from is a part of that root, looked at alone. A file
//! given by name belongs to the root of its folder. Everything else is a new root: also a folder that
//! only has the name of a root of a sealed file, unless its content or the user says that it is that
//! root.

mod nested;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use unicode_normalization::UnicodeNormalization;

use crate::error::{Error, Result};
use crate::ingest::agreement::{Agreement, Sample};
use crate::ingest::git;
use crate::ingest::report::{FolderRelation, SimilarRoot};
use crate::ingest::root::{Root, Scope};
use crate::ingest::walk::escaped;
use crate::store::meta::RootRecord;

/// Tells whether the path of a document is, or begins with, one or several parts. Asked about names of
/// new roots, and about folders that may be a root of a sealed file.
pub type IsPathPrefix<'a> = dyn Fn(&str) -> Result<bool> + 'a;

/// What the file knows when paths are resolved.
#[derive(Clone, Copy)]
pub struct Known<'a> {
    /// Its roots.
    pub roots: &'a [RootRecord],
    /// Number of the next root.
    pub next_root: u32,
    /// First parts of the paths of its documents; `None`: it holds nothing yet.
    pub is_path_prefix: Option<&'a IsPathPrefix<'a>>,
}

/// What is asked of the given paths beside being read.
#[derive(Debug, Clone, Copy, Default)]
pub struct Asked<'a> {
    /// Whether a path that no longer exists counts when the file knows it.
    pub gone: bool,
    /// The only path is the folder of the root of that name: see
    /// [`crate::IndexOptions::root`].
    pub root: Option<&'a str>,
    /// The folders that every path must lie in: see [`crate::IndexOptions::within`].
    pub within: Option<&'a [PathBuf]>,
    /// Set by another thread to stop.
    pub cancel: Option<&'a Arc<AtomicBool>>,
}

impl Asked<'_> {
    /// What a given path is, if it may be indexed.
    fn place_of(&self, path: &Path) -> Result<Place> {
        let place = place_of(path)?;
        let folder = match &place {
            Place::Folder(folder) | Place::File { folder, .. } => folder,
            // Nothing is read of it.
            Place::Gone(_) => return Ok(place),
        };
        let is_in = |within: &[PathBuf]| within.iter().any(|allowed| folder.starts_with(allowed));
        match self.within.is_none_or(is_in) {
            true => Ok(place),
            false => Err(Error::PathNotAllowed {
                path: path.to_owned(),
            }),
        }
    }
}

/// Gives documents of a root, spread over all of them, by which its folder is known again.
pub type Samples<'a> = dyn FnMut(&RootRecord) -> Result<Vec<Sample>> + 'a;

/// Roots for the walk, and for the file.
#[derive(Debug, Clone, Default)]
pub struct Resolved {
    /// What is looked at.
    pub roots: Vec<Root>,
    /// All roots of the file after this run.
    pub records: Vec<RootRecord>,
    /// Number of the next root after this run.
    pub next_root: u32,
    /// Folders that became new roots and might be others.
    pub similar: Vec<SimilarRoot>,
}

/// Resolves what a person gave. `samples` is asked only of the roots of a sealed file: of one that has
/// the name of a given folder, and of those that may lie inside what is asked.
///
/// # Errors
/// [`Error::PathNotFound`] for a path that does not exist; [`Error::Io`] for one that cannot be
/// looked at; [`Error::PathNotAllowed`]; [`Error::InvalidArgument`] for no path, one that is neither
/// file nor folder, or a root that the file does not have; [`Error::Cancelled`]; what `samples` says.
pub fn resolve(
    paths: &[PathBuf],
    known: Known<'_>,
    asked: Asked<'_>,
    samples: &mut Samples<'_>,
) -> Result<Resolved> {
    if paths.is_empty() {
        let reason = "none given; name a folder or a file".to_owned();
        return Err(Error::InvalidArgument {
            argument: "path",
            reason,
        });
    }
    let mut table = Table {
        entries: known.roots.iter().map(Entry::known).collect(),
        next_root: known.next_root,
        samples,
        similar: Vec::new(),
    };
    if let Some(name) = asked.root {
        table.claim(paths, name, asked)?;
        table.place_nested(known.is_path_prefix, asked.cancel)?;
        return Ok(table.finish());
    }
    for path in paths {
        match asked.place_of(path)? {
            Place::Folder(folder) => table.add_folder(folder)?,
            Place::File { folder, name } => table.add_file(folder, name)?,
            Place::Gone(place) => {
                if !asked.gone || !table.add_gone(&place) {
                    return Err(Error::PathNotFound { path: path.clone() });
                }
            }
        }
    }
    table.give_prefixes(known.is_path_prefix)?;
    table.place_nested(known.is_path_prefix, asked.cancel)?;
    Ok(table.finish())
}

/// The roots of a file as if they were now in `folders`, wherever they were when it was made: a root
/// belongs to the folder of its name, the only root to the only folder. Of several roots of one name
/// the folder is the one whose documents it has most of. `asked.gone` and `asked.root` are ignored.
///
/// # Errors
/// [`Error::InvalidArgument`] when a folder belongs to no root, or two to one; as [`resolve`].
pub fn relocate(
    folders: &[PathBuf],
    known: Known<'_>,
    asked: Asked<'_>,
    samples: &mut Samples<'_>,
) -> Result<Resolved> {
    let mut entries: Vec<Entry> = known.roots.iter().map(Entry::known).collect();
    let is_only = folders.len() == 1 && entries.len() == 1;
    for folder in folders {
        let Place::Folder(place) = asked.place_of(folder)? else {
            return Err(Error::PathNotFound {
                path: folder.clone(),
            });
        };
        let name = place.file_name().map(escaped);
        let names = |entry: &Entry| Path::new(&entry.record.source).file_name().map(escaped);
        let numbered = entries.iter().enumerate();
        let of_name = numbered
            .filter(|(_, entry)| entry.asked.is_none() && (is_only || names(entry) == name));
        let of_name: Vec<(usize, &Entry)> = of_name.collect();
        let mut best: Option<(usize, Agreement)> = None;
        for (at, entry) in &of_name {
            let samples = match of_name.len() {
                1 => Vec::new(),
                _ => samples(&entry.record)?,
            };
            let agreement = Agreement::of(&place, &samples);
            if best.is_none_or(|(_, before)| agreement.is_better_than(before)) {
                best = Some((*at, agreement));
            }
        }
        let Some(entry) = best.and_then(|(at, _)| entries.get_mut(at)) else {
            let sources = known.roots.iter().map(|root| root.source.as_str());
            let sources: Vec<_> = sources.collect();
            return Err(Error::InvalidArgument {
                argument: "source",
                reason: format!(
                    "{} has the name of no folder that this .kb was made from: {}",
                    folder.display(),
                    sources.join(", ")
                ),
            });
        };
        entry.asked = Some(match entry.is_whole() {
            true => Scope::Whole,
            false => Scope::Files(entry.record.files.iter().map(PathBuf::from).collect()),
        });
        entry.folder = place;
    }
    let mut table = Table {
        entries,
        next_root: 0,
        samples,
        similar: Vec::new(),
    };
    table.place_nested(known.is_path_prefix, asked.cancel)?;
    Ok(table.finish())
}

/// What a folder is to a file with these roots, by the rules of [`resolve`]. The folder is absolute and
/// without symbolic links.
///
/// # Errors
/// What `samples` says.
pub fn relation(
    folder: &Path,
    known: &[RootRecord],
    samples: &mut Samples<'_>,
) -> Result<FolderRelation> {
    let mut table = Table {
        entries: known.iter().map(Entry::known).collect(),
        next_root: 0,
        samples,
        similar: Vec::new(),
    };
    let found = table.position_of(folder)?;
    let mut placed = table.entries.iter().filter(|entry| entry.has_place());
    Ok(match found {
        Match::Root(_) => FolderRelation::Root,
        Match::Similar(_) if placed.any(|entry| folder.starts_with(&entry.folder)) => {
            FolderRelation::InsideRoot
        }
        Match::Similar(similar) if similar.is_empty() => FolderRelation::Unknown,
        Match::Similar(_) => FolderRelation::NameOfRoot,
    })
}

/// What a given path is.
enum Place {
    Folder(PathBuf),
    File { folder: PathBuf, name: PathBuf },
    Gone(PathBuf),
}

fn place_of(path: &Path) -> Result<Place> {
    let opening = |error| Error::io("open", path, error);
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return std::path::absolute(path).map(Place::Gone).map_err(opening);
        }
        Err(error) => return Err(opening(error)),
    };
    if metadata.is_dir() {
        return fs::canonicalize(path).map(Place::Folder).map_err(opening);
    }
    if !metadata.is_file() {
        return Err(Error::InvalidArgument {
            argument: "path",
            reason: format!("{} is neither a file nor a folder", path.display()),
        });
    }
    // The folder in which the name stands, also when the name is a link to elsewhere.
    let folder = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let folder = fs::canonicalize(folder.unwrap_or(Path::new("."))).map_err(opening)?;
    let name = path.file_name().map(PathBuf::from).unwrap_or_default();
    Ok(Place::File { folder, name })
}

/// A root of the file with what is asked of it in this run.
struct Entry {
    record: RootRecord,
    folder: PathBuf,
    asked: Option<Scope>,
    is_new: bool,
}

impl Entry {
    fn known(record: &RootRecord) -> Entry {
        Entry {
            folder: PathBuf::from(&record.source),
            record: record.clone(),
            asked: None,
            is_new: false,
        }
    }

    fn is_whole(&self) -> bool {
        self.record.files.is_empty()
    }

    /// Whether it is known where the folder is: a sealed file has only its name.
    fn has_place(&self) -> bool {
        Path::new(&self.record.source).is_absolute()
    }

    /// Whether it is at that place.
    fn is_at(&self, folder: &Path) -> bool {
        self.has_place() && self.record.source == escaped(folder.as_os_str())
    }

    /// The name of its folder.
    fn folder_name(&self) -> &str {
        let parts = self.record.source.rsplit(['/', '\\']);
        parts.into_iter().next().unwrap_or_default()
    }

    /// The name that no other root of the file has: one root at most has no prefix.
    fn exact_name(&self) -> String {
        match self.record.prefix.as_str() {
            "" => ".".to_owned(),
            prefix => format!("{prefix}/"),
        }
    }

    fn move_to(&mut self, folder: PathBuf) {
        self.record.source = escaped(folder.as_os_str());
        self.folder = folder;
    }

    fn ask(&mut self, part: PathBuf) {
        let nothing = match self.is_whole() {
            true => Scope::Parts(BTreeSet::new()),
            false => Scope::Files(BTreeSet::new()),
        };
        if let Scope::Parts(parts) | Scope::Files(parts) = self.asked.get_or_insert(nothing) {
            parts.insert(part);
        }
    }
}

struct Table<'k, 's> {
    entries: Vec<Entry>,
    next_root: u32,
    samples: &'k mut Samples<'s>,
    /// New entries, each with one that it might be.
    similar: Vec<(usize, usize, Agreement)>,
}

/// Which root a folder is.
enum Match {
    /// That one.
    Root(usize),
    /// None of them for certain. These have its name.
    Similar(Vec<(usize, Agreement)>),
}

impl Table<'_, '_> {
    fn position_at(&self, folder: &Path) -> Option<usize> {
        self.entries.iter().position(|entry| entry.is_at(folder))
    }

    /// The root at that place, else the one root without a place whose name and content it has.
    fn position_of(&mut self, folder: &Path) -> Result<Match> {
        if let Some(at) = self.position_at(folder) {
            return Ok(Match::Root(at));
        }
        let name = folder.file_name().map(escaped);
        let mut named = Vec::new();
        for (at, entry) in self.entries.iter().enumerate() {
            if !entry.has_place() && Some(&entry.record.source) == name.as_ref() {
                let samples = (self.samples)(&entry.record)?;
                named.push((at, Agreement::of(folder, &samples)));
            }
        }
        match best_of(&named) {
            Some((at, _)) => Ok(Match::Root(at)),
            None => Ok(Match::Similar(named)),
        }
    }

    /// Makes the only path the folder of the root of that name.
    fn claim(&mut self, paths: &[PathBuf], name: &str, asked: Asked<'_>) -> Result<()> {
        let refused = |reason: String| Error::InvalidArgument {
            argument: "root",
            reason,
        };
        let [path] = paths else {
            let reason = "it says which root one folder is; give one path".to_owned();
            return Err(refused(reason));
        };
        let (folder, is_there) = match asked.place_of(path)? {
            Place::Folder(folder) => (folder, true),
            Place::Gone(folder) if asked.gone => (folder, false),
            Place::Gone(_) => return Err(Error::PathNotFound { path: path.clone() }),
            Place::File { .. } => {
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
                entry.asked = Some(Scope::Whole);
            } else if entry.is_at(&folder) {
                entry.asked = Some(Scope::Superseded);
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
            format!("{source} (--root {})", entry.exact_name())
        });
        let roots = match self.entries.is_empty() {
            true => "it has none".to_owned(),
            false => format!("its roots: {}", roots.collect::<Vec<_>>().join(", ")),
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

    fn add_folder(&mut self, folder: PathBuf) -> Result<()> {
        let similar = match self.position_of(&folder)? {
            Match::Root(at) => {
                if let Some(entry) = self.entries.get_mut(at) {
                    // Its files are among all that the folder holds.
                    entry.record.files.clear();
                    entry.move_to(folder);
                    entry.asked = Some(Scope::Whole);
                }
                return Ok(());
            }
            Match::Similar(similar) => similar,
        };
        match self.above(&folder) {
            Some((entry, relative)) => entry.ask(relative),
            None => self.add_new(folder, Vec::new(), Scope::Whole, similar)?,
        }
        Ok(())
    }

    fn add_file(&mut self, folder: PathBuf, name: PathBuf) -> Result<()> {
        let similar = match self.position_of(&folder)? {
            Match::Root(at) => {
                if let Some(entry) = self.entries.get_mut(at) {
                    entry.move_to(folder);
                    if !entry.is_whole() {
                        entry.record.files.push(escaped(name.as_os_str()));
                        entry.record.files.sort();
                        entry.record.files.dedup();
                    }
                    entry.ask(name);
                }
                return Ok(());
            }
            Match::Similar(similar) => similar,
        };
        match self.above(&folder.join(&name)) {
            Some((entry, relative)) => entry.ask(relative),
            None => {
                let files = vec![escaped(name.as_os_str())];
                let scope = Scope::Files(BTreeSet::from([name]));
                self.add_new(folder, files, scope, similar)?;
            }
        }
        Ok(())
    }

    /// Whether the file knows a path that does not exist.
    fn add_gone(&mut self, path: &Path) -> bool {
        if let Some(entry) = self
            .position_at(path)
            .and_then(|at| self.entries.get_mut(at))
        {
            entry.asked = Some(match entry.is_whole() {
                true => Scope::Whole,
                false => Scope::Files(entry.record.files.iter().map(PathBuf::from).collect()),
            });
            return true;
        }
        let named = path.parent().zip(path.file_name());
        if let Some((folder, name)) = named
            && let Some(entry) = self
                .position_at(folder)
                .and_then(|at| self.entries.get_mut(at))
        {
            entry.ask(PathBuf::from(name));
            return true;
        }
        match self.above(path) {
            Some((entry, relative)) => {
                entry.ask(relative);
                true
            }
            None => false,
        }
    }

    fn add_new(
        &mut self,
        folder: PathBuf,
        files: Vec<String>,
        asked: Scope,
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
            asked: Some(asked),
            is_new: true,
        });
        Ok(())
    }

    /// None to the only root of a new file, else the name of the folder, with -2, -3 until it is
    /// unlike the first parts of all paths and all other prefixes.
    fn give_prefixes(&mut self, is_path_prefix: Option<&IsPathPrefix<'_>>) -> Result<()> {
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
                number += 1;
            }
            taken.insert(prefix.clone());
            entry.record.prefix = prefix;
        }
        Ok(())
    }

    /// What is looked at.
    fn roots(&self) -> impl Iterator<Item = Root> {
        self.entries.iter().filter_map(|entry| {
            let foreign = self.entries.iter().flat_map(|other| foreign(entry, other));
            Some(Root {
                id: entry.record.id,
                folder: entry.folder.clone(),
                prefix: entry.record.prefix.clone(),
                scope: entry.asked.clone()?,
                foreign: foreign.collect(),
                indexed_ms: entry.record.indexed_ms,
            })
        })
    }

    fn finish(self) -> Resolved {
        let similar = self.similar.iter().filter_map(|(new, at, agreement)| {
            let (new, other) = (self.entries.get(*new)?, self.entries.get(*at)?);
            let name = other.folder_name();
            let is_enough = self.named(name, &new.folder) == Ok(*at);
            Some(SimilarRoot {
                folder: new.folder.clone(),
                prefix: new.record.prefix.clone(),
                root: match is_enough {
                    true => name.to_owned(),
                    false => other.exact_name(),
                },
                compared: agreement.compared,
                same: agreement.same,
            })
        });
        Resolved {
            roots: self.roots().collect(),
            next_root: self.next_root,
            similar: similar.collect(),
            records: self
                .entries
                .into_iter()
                .filter(|entry| entry.asked != Some(Scope::Superseded))
                .map(|entry| match entry.asked {
                    Some(_) => with_git(entry.record, &entry.folder),
                    None => entry.record,
                })
                .collect(),
        }
    }
}

/// The root whose documents a folder has; none when no agreement is enough, and none of several that
/// agree equally well: nobody can tell which of them it is.
fn best_of(named: &[(usize, Agreement)]) -> Option<(usize, Agreement)> {
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
    match other.is_whole() {
        true => vec![other.folder.clone()],
        false => other
            .record
            .files
            .iter()
            .map(|name| other.folder.join(name))
            .collect(),
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

#[cfg(test)]
mod tests;
