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
use crate::ingest::git;
use crate::ingest::recognise::{Agreement, Sample};
use crate::ingest::report::{FolderRelation, SimilarRoot};
use crate::ingest::root::{Root, Scope};
use crate::ingest::walk::escaped;
use crate::store::meta::RootRecord;

/// Tells whether the path of a document is, or begins with, one or several parts. Asked about names of
/// new roots, and about folders that may be a root of a sealed file.
pub type IsFirstPart<'a> = dyn Fn(&str) -> Result<bool> + 'a;

/// What the file knows when paths are resolved.
#[derive(Clone, Copy)]
pub struct Known<'a> {
    /// Its roots.
    pub roots: &'a [RootRecord],
    /// Number of the next root.
    pub next_root: u32,
    /// First parts of the paths of its documents; `None`: it holds nothing yet.
    pub is_first_part: Option<&'a IsFirstPart<'a>>,
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
/// looked at; [`Error::PathNotAllowed`]; [`Error::InvalidArgument`] for no path, one that is neither file nor folder, or a root
/// that the file does not have; [`Error::Cancelled`]; what `samples` says.
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
        table.place_nested(known.is_first_part, asked.cancel)?;
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
    table.give_prefixes(known.is_first_part)?;
    table.place_nested(known.is_first_part, asked.cancel)?;
    Ok(table.finish())
}

/// The roots of a file as if they were now in `folders`, wherever they were when it was made: a root
/// belongs to the folder of its name, the only root to the only folder. Of several roots of one name
/// the folder is the one whose documents it has most of. `asked.gone` and `asked.root` are ignored.
///
/// # Errors
/// [`Error::InvalidArgument`] when a folder belongs to no root, or two to one; as [`resolve`].
pub fn assume(
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
    table.place_nested(known.is_first_part, asked.cancel)?;
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
    fn give_prefixes(&mut self, is_first_part: Option<&IsFirstPart<'_>>) -> Result<()> {
        if is_first_part.is_none() && self.entries.len() == 1 {
            return Ok(());
        }
        let is_first_part = is_first_part.unwrap_or(&|_| Ok(false));
        let old = self.entries.iter().filter(|entry| !entry.is_new);
        let mut taken: BTreeSet<String> = old.map(|entry| entry.record.prefix.clone()).collect();
        for entry in self.entries.iter_mut().filter(|entry| entry.is_new) {
            let name = entry.folder.file_name().unwrap_or(OsStr::new("root"));
            let name: String = escaped(name).nfc().collect();
            let mut prefix = name.clone();
            let mut number = 2;
            while taken.contains(&prefix) || is_first_part(&prefix)? {
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
mod tests {
    use super::*;
    use crate::ingest::coverage::Coverage;

    struct Tree(tempfile::TempDir);

    impl Tree {
        fn new(files: &[&str]) -> Tree {
            let folder = tempfile::tempdir().unwrap();
            for name in files {
                let path = folder.path().join(name);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, "").unwrap();
            }
            Tree(folder)
        }

        fn at(&self, name: &str) -> PathBuf {
            fs::canonicalize(self.0.path()).unwrap().join(name)
        }

        fn resolve(&self, names: &[&str], known: &Resolved, gone: bool) -> Result<Resolved> {
            let asked = Asked {
                gone,
                ..Asked::default()
            };
            self.resolve_as(names, known, asked, &[])
        }

        /// `samples`: root, path and content of documents.
        fn resolve_as(
            &self,
            names: &[&str],
            known: &Resolved,
            asked: Asked<'_>,
            samples: &[(u32, &str, &str)],
        ) -> Result<Resolved> {
            let paths: Vec<_> = names.iter().map(|name| self.at(name)).collect();
            let is_first_part = |part: &str| Ok(part == "uploads");
            let holds: &IsFirstPart<'_> = &is_first_part;
            let holds = (!known.records.is_empty()).then_some(holds);
            let known = Known {
                roots: &known.records,
                next_root: known.next_root.max(1),
                is_first_part: holds,
            };
            let mut samples_of = |root: &RootRecord| {
                let samples = samples.iter().filter(|(of, _, _)| *of == root.id);
                let samples = samples.map(|(_, path, content)| Sample {
                    relative: (*path).to_owned(),
                    size_bytes: content.len() as u64,
                    hash: *blake3::hash(content.as_bytes()).as_bytes(),
                });
                Ok(samples.collect())
            };
            resolve(&paths, known, asked, &mut samples_of)
        }
    }

    fn prefixes(resolved: &Resolved) -> Vec<(u32, &str)> {
        let records = resolved.records.iter();
        records
            .map(|root| (root.id, root.prefix.as_str()))
            .collect()
    }

    #[test]
    fn the_only_root_of_a_new_file_has_no_prefix_and_later_ones_have_their_own() {
        let tree = Tree::new(&["a/x", "b/a/y", "uploads/z"]);
        let first = tree.resolve(&["a"], &Resolved::default(), false).unwrap();
        assert_eq!(prefixes(&first), [(1, "")]);
        let second = tree.resolve(&["b/a", "uploads"], &first, false).unwrap();
        assert_eq!(
            prefixes(&second),
            [(1, ""), (2, "a"), (3, "uploads-2")],
            "first parts that documents use are taken"
        );
        assert_eq!(second.roots.len(), 2, "the first root is left alone");
        let both = tree.resolve(&["a", "b/a"], &Resolved::default(), false);
        assert_eq!(prefixes(&both.unwrap()), [(1, "a"), (2, "a-2")]);
    }

    #[test]
    fn a_path_inside_a_root_is_a_part_of_it() {
        let tree = Tree::new(&["a/docs/x.md", "a/docs/sub/y.md", "a/z.md"]);
        let known = tree.resolve(&["a"], &Resolved::default(), false).unwrap();
        let part = tree
            .resolve(&["a/docs/sub", "a/z.md"], &known, false)
            .unwrap();
        assert_eq!(prefixes(&part), [(1, "")]);
        let coverage = Coverage::new(&part.roots);
        for (path, covered) in [
            ("docs/sub/y.md", true),
            ("z.md", true),
            ("docs/x.md", false),
            ("docs/subway", false),
        ] {
            assert_eq!(coverage.covers(Some(1), path), covered, "{path}");
        }
        let all = tree
            .resolve(&["a/docs", "a", "a/z.md"], &known, false)
            .unwrap();
        assert_eq!(all.roots[0].scope, Scope::Whole);
    }

    #[test]
    fn a_file_given_by_name_joins_the_root_of_its_folder_and_a_folder_takes_all() {
        let tree = Tree::new(&["x/.hidden", "x/other", "x/third"]);
        let one = tree
            .resolve(&["x/.hidden"], &Resolved::default(), false)
            .unwrap();
        assert_eq!(one.records[0].files, [".hidden"]);
        let two = tree.resolve(&["x/third"], &one, false).unwrap();
        assert_eq!(two.records[0].files, [".hidden", "third"]);
        let coverage = Coverage::new(&two.roots);
        assert!(coverage.covers(Some(1), "third") && !coverage.covers(Some(1), ".hidden"));
        let whole = tree.resolve(&["x"], &two, false).unwrap();
        assert!(whole.records[0].files.is_empty());
        assert_eq!(whole.records[0].id, 1);
    }

    #[test]
    fn what_lies_in_another_root_is_foreign_to_the_one_around_it() {
        let tree = Tree::new(&["two/docs/a", "two/b", "one.md"]);
        let given = ["two/docs", "one.md", ""];
        let resolved = tree.resolve(&given, &Resolved::default(), false).unwrap();
        assert_eq!(resolved.roots.len(), 2, "the last folder takes its file");
        let around = &resolved.roots[1];
        assert_eq!(around.foreign, BTreeSet::from([tree.at("two/docs")]));
        // Also when the outer one was there first, with some files only.
        let files = tree
            .resolve(&["two/b"], &Resolved::default(), false)
            .unwrap();
        let inner = tree.resolve(&["two/docs"], &files, false).unwrap();
        let whole = tree.resolve(&["two"], &inner, false).unwrap();
        assert_eq!(whole.roots[0].id, 1);
        assert_eq!(
            whole.roots[0].foreign,
            BTreeSet::from([tree.at("two/docs")])
        );
    }

    #[test]
    fn a_missing_path_counts_only_when_the_file_knows_it_and_it_may_be_gone() {
        let tree = Tree::new(&["a/x", "a/sub/y", "f/one"]);
        let known = tree
            .resolve(&["a", "f/one"], &Resolved::default(), false)
            .unwrap();
        for name in ["a", "f"] {
            fs::remove_dir_all(tree.at(name)).unwrap();
        }
        for name in ["a", "a/sub", "f/one", "f"] {
            let refused = tree.resolve(&[name], &known, false).unwrap_err();
            assert_eq!(refused.code(), "PATH_NOT_FOUND", "{name}");
            assert_eq!(tree.resolve(&[name], &known, true).unwrap().roots.len(), 1);
        }
        let unknown = tree.resolve(&["elsewhere"], &known, true).unwrap_err();
        assert!(matches!(unknown, Error::PathNotFound { path } if path == tree.at("elsewhere")));
    }

    /// Roots of a sealed file: number, name of the folder, prefix.
    fn sealed(roots: &[(u32, &str, &str)]) -> Resolved {
        let records = roots.iter().map(|(id, source, prefix)| RootRecord {
            id: *id,
            source: (*source).to_owned(),
            prefix: (*prefix).to_owned(),
            ..RootRecord::default()
        });
        Resolved {
            records: records.collect(),
            next_root: 9,
            ..Resolved::default()
        }
    }

    #[test]
    fn a_sealed_file_knows_a_folder_by_its_name_and_its_content() {
        let tree = Tree::new(&["a/x", "a/y", "other/a/x", "other/a/z"]);
        let known = sealed(&[(1, "a", "")]);
        let samples = [(1, "x", ""), (1, "y", "")];
        let asked = Asked::default();
        let again = tree.resolve_as(&["a"], &known, asked, &samples).unwrap();
        assert_eq!((prefixes(&again), again.similar.len()), (vec![(1, "")], 0));
        assert_eq!(Path::new(&again.records[0].source), tree.at("a"));
        // Half of it is not enough.
        let other = tree.resolve_as(&["other/a"], &known, asked, &samples);
        let other = other.unwrap();
        assert_eq!(prefixes(&other), [(1, ""), (9, "a")]);
        assert_eq!(other.records[0].source, "a");
        let [similar] = other.similar.as_slice() else {
            panic!("{:?}", other.similar)
        };
        assert_eq!((similar.same, similar.compared), (1, 2));
        assert_eq!((similar.root.as_str(), similar.prefix.as_str()), ("a", "a"));
        assert_eq!(similar.folder, tree.at("other/a"));
        // A file of it given by name is no better known.
        let file = tree.resolve_as(&["other/a/z"], &known, asked, &samples);
        let file = file.unwrap();
        assert_eq!((file.records.len(), file.similar.len()), (2, 1));
        // Nothing can be lost of a root without documents.
        let empty = tree.resolve_as(&["other/a"], &known, asked, &[]).unwrap();
        assert_eq!(prefixes(&empty), [(1, "")]);
    }

    #[test]
    fn of_two_roots_of_one_name_the_better_agreement_counts_and_a_tie_is_none() {
        let tree = Tree::new(&["a/x", "a/y", "a/z"]);
        let known = sealed(&[(1, "a", "a"), (2, "a", "a-2")]);
        let asked = Asked::default();
        let all = [(1, "x", ""), (1, "y", ""), (1, "z", "")];
        let most = [(2, "x", ""), (2, "y", ""), (2, "gone", "")];
        let both = [all, most].concat();
        let found = tree.resolve_as(&["a"], &known, asked, &both).unwrap();
        assert_eq!(found.roots[0].id, 1);
        let same = [(2, "x", ""), (2, "y", ""), (2, "z", "")];
        let both = [all, same].concat();
        let found = tree.resolve_as(&["a"], &known, asked, &both).unwrap();
        assert_eq!(found.roots[0].id, 9);
        let names: Vec<&str> = found.similar.iter().map(|s| s.root.as_str()).collect();
        assert_eq!(names, ["a/", "a-2/"]);
    }

    #[test]
    fn a_sealed_root_inside_an_asked_one_is_found_by_its_content() {
        let tree = Tree::new(&["a/o", "a/sub/b/x", "a/sub/b/y", "a/b/x", "a/b/z"]);
        let known = sealed(&[(1, "b", "")]);
        let samples = [(1, "x", ""), (1, "y", "")];
        let place = |paths: &[&str], known: &Resolved, samples: &[(u32, &str, &str)]| {
            let found = tree.resolve_as(paths, known, Asked::default(), samples);
            let found = found.unwrap();
            let records = found.records.iter();
            let sources: Vec<String> = records.map(|root| root.source.clone()).collect();
            (sources, found.roots[0].foreign.clone())
        };
        let shown = |name: &str| tree.at(name).display().to_string();
        // Of two folders of that name the one with its content; `a` itself is new.
        let (sources, foreign) = place(&["a"], &known, &samples);
        assert_eq!(sources, [shown("a/sub/b"), shown("a")]);
        assert_eq!(foreign, BTreeSet::from([tree.at("a/sub/b")]));
        // Only what is asked is looked through.
        let outer = Resolved {
            records: [
                known.records.clone(),
                vec![RootRecord {
                    id: 2,
                    source: shown("a"),
                    prefix: "a".to_owned(),
                    ..RootRecord::default()
                }],
            ]
            .concat(),
            ..known.clone()
        };
        assert_eq!(place(&["a/o"], &outer, &samples).0[0], "b");
        assert_eq!(place(&["a/sub"], &outer, &samples).0[0], shown("a/sub/b"));
        // Without a document nothing proves it, and the files would be lost to the outer root.
        let (sources, foreign) = place(&["a"], &outer, &[]);
        assert_eq!((sources[0].as_str(), foreign.len()), ("b", 0));
        // The root with the best claim has it; of two equal ones none.
        let two = sealed(&[(1, "b", ""), (3, "b", "b-2")]);
        let worse = [(3, "x", ""), (3, "y", ""), (3, "gone", "")];
        let (sources, _) = place(&["a"], &two, &[samples.as_slice(), &worse].concat());
        assert_eq!(sources[..2], [shown("a/sub/b"), "b".to_owned()]);
        let equal = [(3, "x", ""), (3, "y", "")];
        let (sources, _) = place(&["a"], &two, &[samples.as_slice(), &equal].concat());
        assert_eq!(sources[..2], ["b".to_owned(), "b".to_owned()]);
    }

    #[test]
    fn a_folder_is_the_root_that_the_user_says() {
        let tree = Tree::new(&["new/a/x", "b/y"]);
        let mut known = sealed(&[(1, "a", ""), (2, "a", "a")]);
        known.records[1].source = tree.at("new/a").display().to_string();
        let ask = |path: &str, root: &str, gone: bool| {
            let root = Some(root);
            let asked = Asked {
                gone,
                root,
                ..Asked::default()
            };
            tree.resolve_as(&[path], &known, asked, &[])
        };
        let at = |resolved: &Resolved, place: &str| {
            let mut records = resolved.records.iter();
            let place = tree.at(place).display().to_string();
            records.find(|r| r.source == place).map(|root| root.id)
        };
        // The name is that of both; the folder is the second already, which goes then.
        let moved = ask("new/a", "a", false).unwrap();
        assert_eq!(prefixes(&moved), [(1, "")]);
        assert_eq!(at(&moved, "new/a"), Some(1));
        let scopes: Vec<&Scope> = moved.roots.iter().map(|root| &root.scope).collect();
        assert_eq!(scopes, [&Scope::Whole, &Scope::Superseded]);
        for (path, root, id) in [
            ("b", ".", 1),
            ("b", "a/", 2),
            ("new/a", "a/", 2),
            ("new/a", ".", 1),
        ] {
            let found = ask(path, root, false).unwrap();
            assert_eq!(at(&found, path), Some(id), "{path} {root}");
        }
        assert_eq!(at(&ask("gone", ".", true).unwrap(), "gone"), Some(1));
        for (path, root, told) in [
            ("b", "a", "names several roots"),
            ("b", "b", "has no root \"b\"; its roots: a (--root .), "),
            ("b", "", "has no root"),
            ("b/y", ".", "is a file"),
            ("gone", ".", "does not exist"),
        ] {
            let refused = ask(path, root, false).unwrap_err().to_string();
            assert!(refused.contains(told), "{refused}");
        }
        let two = Asked {
            root: Some("."),
            ..Asked::default()
        };
        let two = tree.resolve_as(&["b", "new"], &known, two, &[]);
        assert!(two.unwrap_err().to_string().contains("one path"));
    }

    #[test]
    fn a_run_over_nothing_is_refused() {
        let nothing = Known {
            roots: &[],
            next_root: 1,
            is_first_part: None,
        };
        let error = resolve(&[], nothing, Asked::default(), &mut |_| Ok(Vec::new()));
        assert_eq!(error.unwrap_err().code(), "INVALID_ARGUMENT");
    }
}
