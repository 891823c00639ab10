//! Paths that a person gives -> roots: those that the file knows already, and new ones.
//!
//! A path inside a folder that the file was made from is a part of that root, looked at alone. A file
//! given by name belongs to the root of its folder. Everything else is a new root.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use unicode_normalization::UnicodeNormalization;

use crate::error::{Error, Result};
use crate::ingest::git;
use crate::ingest::root::{Root, Scope};
use crate::ingest::walk::escaped;
use crate::store::meta::RootRecord;

/// What the file knows when paths are resolved.
#[derive(Debug, Clone, Copy)]
pub struct Known<'a> {
    /// Its roots.
    pub roots: &'a [RootRecord],
    /// Number of the next root.
    pub next_root: u32,
    /// First parts of the paths of its documents; `None`: it holds nothing yet.
    pub first_parts: Option<&'a BTreeSet<String>>,
    /// Some document paths of each root of a sealed file, by which its folder is known again.
    pub samples: &'a [(u32, String)],
}

/// Roots for the walk, and for the file.
#[derive(Debug, Clone, Default)]
pub struct Resolved {
    /// What is looked at.
    pub roots: Vec<Root>,
    /// All roots of the file after this run.
    pub records: Vec<RootRecord>,
    /// Number of the next root after this run.
    pub next_root: u32,
}

/// Resolves what a person gave. With `gone` allowed, a path that no longer exists counts when the
/// file knows it.
///
/// # Errors
/// [`Error::PathNotFound`] for a path that does not exist; [`Error::Io`] for one that cannot be
/// looked at; [`Error::InvalidArgument`] for no path, or one that is neither file nor folder.
pub fn resolve(paths: &[PathBuf], known: Known<'_>, gone: bool) -> Result<Resolved> {
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
        samples: known.samples,
    };
    for path in paths {
        match place_of(path)? {
            Place::Folder(folder) => table.add_folder(folder),
            Place::File { folder, name } => table.add_file(folder, name),
            Place::Gone(place) => {
                if !gone || !table.add_gone(&place) {
                    return Err(Error::PathNotFound { path: path.clone() });
                }
            }
        }
    }
    table.give_prefixes(known.first_parts);
    Ok(table.finish())
}

/// The roots of a file as if they were now in `folders`, wherever they were when it was made: a root
/// belongs to the folder of its name, the only root to the only folder.
///
/// # Errors
/// [`Error::InvalidArgument`] when a folder belongs to no root, or two to one; as [`resolve`].
pub fn assume(folders: &[PathBuf], known: &[RootRecord]) -> Result<Resolved> {
    let mut entries: Vec<Entry> = known.iter().map(Entry::known).collect();
    let is_only = folders.len() == 1 && entries.len() == 1;
    for folder in folders {
        let Place::Folder(place) = place_of(folder)? else {
            return Err(Error::PathNotFound {
                path: folder.clone(),
            });
        };
        let name = place.file_name().map(escaped);
        let names = |entry: &Entry| Path::new(&entry.record.source).file_name().map(escaped);
        let matching = entries
            .iter_mut()
            .find(|entry| entry.asked.is_none() && (is_only || names(entry) == name));
        let Some(entry) = matching else {
            let sources: Vec<_> = known.iter().map(|root| root.source.as_str()).collect();
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
    let table = Table {
        entries,
        next_root: 0,
        samples: &[],
    };
    Ok(table.finish())
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

    /// Whether it was made from that folder; a sealed file knows only the folder's name.
    fn is_of(&self, folder: &Path) -> bool {
        let source = Path::new(&self.record.source);
        match source.is_absolute() {
            true => self.record.source == escaped(folder.as_os_str()),
            false => folder.file_name().map(escaped).as_ref() == Some(&self.record.source),
        }
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

struct Table<'k> {
    entries: Vec<Entry>,
    next_root: u32,
    samples: &'k [(u32, String)],
}

impl Table<'_> {
    fn position_of(&self, folder: &Path) -> Option<usize> {
        let source = |entry: &Entry| PathBuf::from(&entry.record.source);
        let exact = |entry: &Entry| source(entry).is_absolute() && entry.is_of(folder);
        let sealed = |entry: &Entry| {
            !source(entry).is_absolute() && entry.is_of(folder) && self.has_files_of(folder, entry)
        };
        let entries = &self.entries;
        entries.iter().position(exact).or_else(|| {
            let mut found = (0..).zip(entries).filter(|(_, entry)| sealed(entry));
            match (found.next(), found.next()) {
                (Some((at, _)), None) => Some(at),
                // Two folders of one name: nobody can tell which it was.
                _ => None,
            }
        })
    }

    /// Whether a folder has a file from which a document of a sealed root was made.
    fn has_files_of(&self, folder: &Path, entry: &Entry) -> bool {
        let prefix = entry.record.prefix.as_str();
        let samples = self.samples.iter();
        samples
            .filter(|(root, _)| *root == entry.record.id)
            .filter_map(|(_, path)| match prefix {
                "" => Some(path.as_str()),
                prefix => path.strip_prefix(prefix)?.strip_prefix('/'),
            })
            .any(|relative| folder.join(relative).exists())
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

    fn add_folder(&mut self, folder: PathBuf) {
        if let Some(entry) = self
            .position_of(&folder)
            .and_then(|at| self.entries.get_mut(at))
        {
            // Its files are among all that the folder holds.
            entry.record.files.clear();
            entry.record.source = escaped(folder.as_os_str());
            entry.folder = folder;
            entry.asked = Some(Scope::Whole);
        } else if let Some((entry, relative)) = self.above(&folder) {
            entry.ask(relative);
        } else {
            self.add_new(folder, Vec::new(), Scope::Whole);
        }
    }

    fn add_file(&mut self, folder: PathBuf, name: PathBuf) {
        let at = self.position_of(&folder);
        if let Some(entry) = at.and_then(|at| self.entries.get_mut(at)) {
            entry.record.source = escaped(folder.as_os_str());
            entry.folder = folder;
            if !entry.is_whole() {
                entry.record.files.push(escaped(name.as_os_str()));
                entry.record.files.sort();
                entry.record.files.dedup();
            }
            entry.ask(name);
        } else if let Some((entry, relative)) = self.above(&folder.join(&name)) {
            entry.ask(relative);
        } else {
            let files = vec![escaped(name.as_os_str())];
            self.add_new(folder, files, Scope::Files(BTreeSet::from([name])));
        }
    }

    /// Whether the file knows a path that does not exist.
    fn add_gone(&mut self, path: &Path) -> bool {
        if let Some(entry) = self
            .position_of(path)
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
                .position_of(folder)
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

    fn add_new(&mut self, folder: PathBuf, files: Vec<String>, asked: Scope) {
        let record = RootRecord {
            id: self.next_root,
            source: escaped(folder.as_os_str()),
            files,
            ..RootRecord::default()
        };
        self.next_root += 1;
        self.entries.push(Entry {
            record,
            folder,
            asked: Some(asked),
            is_new: true,
        });
    }

    /// None to the only root of a new file, else the name of the folder, with -2, -3 until it is
    /// unlike the first parts of all paths and all other prefixes.
    fn give_prefixes(&mut self, first_parts: Option<&BTreeSet<String>>) {
        if first_parts.is_none() && self.entries.len() == 1 {
            return;
        }
        let mut taken = first_parts.cloned().unwrap_or_default();
        let old = self.entries.iter().filter(|entry| !entry.is_new);
        taken.extend(old.map(|entry| entry.record.prefix.clone()));
        for entry in self.entries.iter_mut().filter(|entry| entry.is_new) {
            let name = entry.folder.file_name().unwrap_or(OsStr::new("root"));
            let name: String = escaped(name).nfc().collect();
            let mut prefix = name.clone();
            let mut number = 2;
            while !taken.insert(prefix.clone()) {
                prefix = format!("{name}-{number}");
                number += 1;
            }
            entry.record.prefix = prefix;
        }
    }

    fn finish(self) -> Resolved {
        let roots = self.entries.iter().filter_map(|entry| {
            let foreign = self.entries.iter().flat_map(|other| foreign(entry, other));
            Some(Root {
                id: entry.record.id,
                folder: entry.folder.clone(),
                prefix: entry.record.prefix.clone(),
                scope: entry.asked.clone()?,
                foreign: foreign.collect(),
                indexed_ms: entry.record.indexed_ms,
            })
        });
        Resolved {
            roots: roots.collect(),
            next_root: self.next_root,
            records: self
                .entries
                .into_iter()
                .map(|entry| match entry.asked {
                    Some(_) => with_git(entry.record, &entry.folder),
                    None => entry.record,
                })
                .collect(),
        }
    }
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

    const SAMPLES: [(u32, &str); 1] = [(1, "x")];

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
            let paths: Vec<_> = names.iter().map(|name| self.at(name)).collect();
            let first_parts = BTreeSet::from(["uploads".to_owned()]);
            let holds = (!known.records.is_empty()).then_some(&first_parts);
            let samples = SAMPLES.map(|(root, path)| (root, path.to_owned()));
            let known = Known {
                samples: &samples,
                roots: &known.records,
                next_root: known.next_root.max(1),
                first_parts: holds,
            };
            resolve(&paths, known, gone)
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
        let [root] = part.roots.as_slice() else {
            panic!("one root")
        };
        for (path, covered) in [
            ("docs/sub/y.md", true),
            ("z.md", true),
            ("docs/x.md", false),
            ("docs/subway", false),
        ] {
            assert_eq!(root.covers(path), covered, "{path}");
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
        let [root] = two.roots.as_slice() else {
            panic!("one root")
        };
        assert!(root.covers("third") && !root.covers(".hidden"));
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

    #[test]
    fn a_sealed_file_knows_a_folder_by_its_name_and_its_files() {
        let tree = Tree::new(&["a/x", "other/a/y"]);
        let mut known = tree.resolve(&["a"], &Resolved::default(), false).unwrap();
        known.records[0].source = "a".to_owned();
        let again = tree.resolve(&["a"], &known, false).unwrap();
        assert_eq!(prefixes(&again), [(1, "")]);
        assert_eq!(Path::new(&again.records[0].source), tree.at("a"));
        let other = tree.resolve(&["other/a"], &known, false).unwrap();
        assert_eq!(prefixes(&other), [(1, ""), (2, "a")]);
        let nothing = Known {
            roots: &[],
            next_root: 1,
            first_parts: None,
            samples: &[],
        };
        let error = resolve(&[], nothing, false);
        assert_eq!(error.unwrap_err().code(), "INVALID_ARGUMENT");
    }
}
