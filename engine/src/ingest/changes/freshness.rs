//! Whether the sources of a file changed since they were indexed, found in a few milliseconds: enough to say of an
//! answer that it may be out of date, above all of an empty one.
//!
//! Folders come first: the system notes in a folder's time that a file came, went or was renamed in it, so one look at
//! each folder finds the new and the missing. Files follow as long as there is time, those of changed folders first,
//! the others from a place that differs from call to call. What was found is certain; that nothing was found is not,
//! unless the look was complete.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use kb_extract::is_refused_by_start;
use kb_extract::secrets::secret_by_name;
use kb_types::error::Result;
use kb_types::{DocumentId, SourceState};

use crate::catalog::Catalog;
use crate::container::Snapshot;
use crate::ingest::changes::source_check::{Original, below, is_local};
use crate::ingest::clock::now_ms;
use crate::ingest::root::{Root, Scope};
use crate::ingest::source::names::{document_name, is_own_file};
use crate::ingest::source::open::{Kind, SourceFolder};
use crate::ingest::walk::{SourceFile, Walk, WalkItem, WalkOptions};
use crate::progress::{Progress, Reporter};
use crate::store::meta::{RootRecord, Settings};
use crate::store::skipped;

/// Most changes that are counted.
// The answer is a hint: "20 or more files changed" says enough.
const MAX_CHANGES: usize = 20;

/// New names that are compared with the rules of what is indexed.
// Each costs a look at the ignore files above it, within a budget of 5 ms (docs/limits.md).
const MAX_NEW_NAMES: usize = 64;

/// Documents of one read.
const DOCUMENTS_AT_ONCE: usize = 64;

/// Largest file that is looked for, as index runs have it by default.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// Bytes of a new file that are looked at to tell whether it is one that is read.
const SNIFFED_BYTES: u64 = 64 << 10;

/// What happened to a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum SourceChange {
    /// A file that the .kb does not have.
    Added,
    /// The file of a document has other content, or may have.
    Changed,
    /// The file of a document is gone.
    Deleted,
}

impl SourceChange {
    /// `new`, `changed` or `deleted`.
    pub fn name(self) -> &'static str {
        match self {
            SourceChange::Added => "new",
            SourceChange::Changed => "changed",
            SourceChange::Deleted => "deleted",
        }
    }
}

/// What a look at the sources found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChangedSources {
    /// Document paths, each with what happened to its file; ascending.
    pub changes: Vec<(String, SourceChange)>,
    /// Whether everything was looked at: then there is no other change, but for files of unchanged size and time.
    pub is_complete: bool,
}

/// A look at the sources under way.
struct Look<'s> {
    snapshot: &'s Snapshot<'s>,
    catalog: &'s Catalog,
    settings: Settings,
    deadline: Instant,
    found: BTreeMap<String, SourceChange>,
    is_complete: bool,
}

/// A root whose folder is on this machine.
struct Place<'s> {
    root: &'s RootRecord,
    folder: SourceFolder,
    follows: bool,
}

/// Looks for changes for `limit` at most. Nothing is done for roots that are not on this machine.
///
/// # Errors
/// [`crate::Error::Damaged`].
pub(crate) fn changed_sources(
    snapshot: &Snapshot<'_>,
    catalog: &Catalog,
    limit: Duration,
) -> Result<ChangedSources> {
    let deadline = Instant::now() + limit;
    let roots = catalog
        .meta
        .roots
        .iter()
        .filter(|root| is_local(&root.source));
    let open = roots.filter_map(|root| {
        let folder = SourceFolder::open(Path::new(&root.source)).ok()?;
        Some((root, folder))
    });
    let open: Vec<(&RootRecord, SourceFolder)> = open.collect();
    if open.is_empty() {
        return Ok(ChangedSources::default());
    }
    let mut look = Look {
        snapshot,
        catalog,
        settings: Settings::read(snapshot)?,
        deadline,
        found: BTreeMap::new(),
        is_complete: true,
    };
    let places = open.into_iter().map(|(root, folder)| Place {
        follows: look.settings.selection(root.id).follow,
        root,
        folder,
    });
    let places: Vec<Place<'_>> = places.collect();
    let changed = look.folders(&places)?;
    look.files(&places, &changed)?;
    Ok(ChangedSources {
        is_complete: look.is_complete && look.found.len() < MAX_CHANGES,
        changes: look.found.into_iter().collect(),
    })
}

impl Look<'_> {
    /// Whether there is no time left, or enough was found.
    fn is_over(&mut self) -> bool {
        let is_late = Instant::now() >= self.deadline;
        self.is_complete &= !is_late;
        is_late || self.found.len() >= MAX_CHANGES
    }

    /// Looks at every folder that documents are in; gives the document paths of those that changed, with `/` behind.
    fn folders(&mut self, places: &[Place<'_>]) -> Result<BTreeSet<String>> {
        let mut changed = BTreeSet::new();
        for place in places.iter().filter(|place| place.root.files.is_empty()) {
            let prefix = match place.root.prefix.as_str() {
                "" => String::new(),
                prefix => format!("{prefix}/"),
            };
            // The folder itself may have lost all it had.
            self.folder(place, &prefix, &mut changed)?;
            let mut last = prefix.clone();
            let mut from = prefix.clone();
            while let Some(folder) = self.next_folder(&prefix, &from, &last)? {
                self.folder(place, &folder, &mut changed)?;
                if self.is_over() {
                    return Ok(changed);
                }
                // Documents of the folder itself are passed by; those of folders in it are not.
                from.clone_from(&folder);
                last = folder;
            }
        }
        Ok(changed)
    }

    /// The folder of the first document at or after `from` that is not in `last`, with `/` behind.
    fn next_folder(&mut self, prefix: &str, from: &str, last: &str) -> Result<Option<String>> {
        let mut next = None;
        let mut visited = 0;
        let deadline = self.deadline;
        let mut is_late = false;
        self.catalog
            .documents
            .each_path(self.snapshot, from, |path, _| {
                visited += 1;
                if visited % 256 == 0 && Instant::now() >= deadline {
                    is_late = true;
                    return Ok(ControlFlow::Break(()));
                }
                if !path.starts_with(prefix) {
                    return Ok(ControlFlow::Break(()));
                }
                let folder = path
                    .rfind('/')
                    .map_or("", |at| path.get(..=at).unwrap_or(""));
                // In the order of paths a folder comes back after the folders in it.
                if folder == last || folder < from || folder.len() < prefix.len() {
                    return Ok(ControlFlow::Continue(()));
                }
                next = Some(folder.to_owned());
                Ok(ControlFlow::Break(()))
            })?;
        self.is_complete &= !is_late;
        Ok(next)
    }

    /// Compares the names in a folder with the documents, where its time is later than the last run.
    fn folder(
        &mut self,
        place: &Place<'_>,
        path: &str,
        changed: &mut BTreeSet<String>,
    ) -> Result<()> {
        let Some(relative) = relative(path, &place.root.prefix) else {
            return Ok(());
        };
        let is_changed = if relative.as_os_str().is_empty() {
            true
        } else {
            let look = place.folder.look(&relative);
            look.is_ok_and(|look| look.modified_ms >= place.root.indexed_ms)
        };
        if !is_changed || !changed.insert(path.to_owned()) {
            return Ok(());
        }
        let Ok(mut open) = place.folder.open_folder(&relative) else {
            return Ok(());
        };
        let takes_hidden = self.settings.selection(place.root.id).hidden;
        let mut names: BTreeMap<String, (PathBuf, Kind)> = BTreeMap::new();
        let read = open.entries(|name, kind| {
            let is_hidden = name.as_encoded_bytes().starts_with(b".");
            let is_file = matches!(kind, Kind::File | Kind::Folder | Kind::Unknown);
            if is_file && !is_own_file(name) && (takes_hidden || !is_hidden) {
                let document = [path, &document_name(name)].concat();
                names.insert(document, (relative.join(name), kind));
            }
            ControlFlow::Continue(())
        });
        if read.is_err() {
            return Ok(());
        }
        let mut new = BTreeSet::new();
        for (document, (relative, kind)) in names {
            if self.is_over() {
                return Ok(());
            }
            if new.len() < MAX_NEW_NAMES && !self.is_known(&document, kind)? {
                new.insert(relative);
            }
        }
        self.new_files(place, new)
    }

    /// Whether the file has a document of that path or below it, or remembers it as left out.
    fn is_known(&self, path: &str, kind: Kind) -> Result<bool> {
        let (snapshot, documents) = (self.snapshot, &self.catalog.documents);
        if documents.by_path(snapshot, path)?.is_some() {
            return Ok(true);
        }
        let mut is_known = false;
        if kind != Kind::File {
            let below = [path, "/"].concat();
            documents.each_path(snapshot, &below, |path, _| {
                is_known = path.starts_with(&below);
                Ok(ControlFlow::Break(()))
            })?;
        }
        if !is_known {
            skipped::each_from(snapshot, path, |skipped, _| {
                is_known = skipped == path;
                Ok(ControlFlow::Break(()))
            })?;
        }
        Ok(is_known)
    }

    /// Notes those of new names that an index run would take.
    fn new_files(&mut self, place: &Place<'_>, names: BTreeSet<PathBuf>) -> Result<()> {
        if names.is_empty() {
            return Ok(());
        }
        let folder = place.folder.path();
        let others = self.catalog.meta.roots.iter();
        let others = others.filter(|other| other.id != place.root.id && is_local(&other.source));
        let others: Vec<PathBuf> = others.map(|other| PathBuf::from(&other.source)).collect();
        let root = Root {
            id: place.root.id,
            folder: folder.to_owned(),
            prefix: place.root.prefix.clone(),
            scope: Scope::Parts(names),
            foreign: others
                .iter()
                .filter(|other| other.starts_with(folder))
                .cloned()
                .collect(),
            elsewhere: others,
            selection: self.settings.selection(place.root.id),
            indexed_ms: place.root.indexed_ms,
        };
        let options = WalkOptions {
            max_file_bytes: MAX_FILE_BYTES,
            threads: 1,
            without_git_index: true,
            ..WalkOptions::default()
        };
        let deadline = self.deadline;
        let mut hook = |_: &Progress| {
            if Instant::now() >= deadline {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let hook = std::cell::RefCell::new(&mut hook as &mut crate::progress::Hook<'_>);
        let reporter = Reporter::new(&hook);
        let Ok(walk) = Walk::new(&[root], options, &reporter) else {
            return Ok(());
        };
        for item in walk {
            match item {
                Ok(WalkItem::File(file))
                    if !self.is_known(&file.document_path, Kind::File)?
                        && !self.is_left_out_by_name(&file.document_path)
                        && !is_refused(&file) =>
                {
                    self.found.insert(file.document_path, SourceChange::Added);
                }
                Ok(_) => {}
                Err(_) => {
                    self.is_complete = false;
                    return Ok(());
                }
            }
            if self.is_over() {
                return Ok(());
            }
        }
        Ok(())
    }

    fn is_left_out_by_name(&self, path: &str) -> bool {
        !self.settings.include_secrets && secret_by_name(path).is_some()
    }

    /// Compares files with their documents, those of changed folders first.
    fn files(&mut self, places: &[Place<'_>], changed: &BTreeSet<String>) -> Result<()> {
        for folder in changed {
            let mut ids: Vec<DocumentId> = Vec::new();
            self.catalog
                .documents
                .each_path(self.snapshot, folder, |path, id| {
                    let Some(name) = path.strip_prefix(folder.as_str()) else {
                        return Ok(ControlFlow::Break(()));
                    };
                    if !name.contains('/') {
                        ids.push(id);
                    }
                    Ok(ControlFlow::Continue(()))
                })?;
            self.compare(places, &ids)?;
            if self.is_over() {
                return Ok(());
            }
        }
        let mut ids: Vec<DocumentId> = Vec::new();
        let (deadline, mut is_late) = (self.deadline, false);
        self.catalog
            .documents
            .each_path(self.snapshot, "", |_, id| {
                ids.push(id);
                is_late = ids.len().is_multiple_of(256) && Instant::now() >= deadline;
                Ok(if is_late {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                })
            })?;
        self.is_complete &= !is_late;
        // Where there is no time for all, the next call looks at others.
        let start = usize::try_from(now_ms()).unwrap_or(0) * 7919 % ids.len().max(1);
        ids.rotate_left(start);
        self.compare(places, &ids)
    }

    fn compare(&mut self, places: &[Place<'_>], ids: &[DocumentId]) -> Result<()> {
        for some in ids.chunks(DOCUMENTS_AT_ONCE) {
            if self.is_over() {
                return Ok(());
            }
            let mut some = some.to_vec();
            some.sort_unstable();
            let mut changes = Vec::new();
            self.catalog
                .documents
                .each_of(self.snapshot, &some, |_, record| {
                    let place = places
                        .iter()
                        .find(|place| Some(place.root.id) == record.root);
                    let Some((place, relative)) = place
                        .and_then(|place| Some((place, below(&record.path, &place.root.prefix)?)))
                    else {
                        return Ok(());
                    };
                    let is_named = place.follows || !place.root.files.is_empty();
                    let original = Original::new(relative, &record);
                    let change = match original.state_in(&place.folder, is_named) {
                        SourceState::Changed => SourceChange::Changed,
                        SourceState::Deleted => SourceChange::Deleted,
                        _ => return Ok(()),
                    };
                    changes.push((record.path, change));
                    Ok(())
                })?;
            self.found.extend(changes);
        }
        Ok(())
    }
}

/// Whether an index run would leave a file out for what it begins with, or could not read it.
fn is_refused(file: &SourceFile) -> bool {
    let mut head = Vec::new();
    let read = file
        .open()
        .is_ok_and(|open| open.take(SNIFFED_BYTES).read_to_end(&mut head).is_ok());
    !read || is_refused_by_start(&file.document_path, &head)
}

/// The path below the folder of a root that the document path of a folder, with `/` behind, stands for.
fn relative(path: &str, prefix: &str) -> Option<PathBuf> {
    if path.is_empty() {
        return Some(PathBuf::new());
    }
    let path = path.strip_suffix('/')?;
    if path == prefix {
        return Some(PathBuf::new());
    }
    below(path, prefix).map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::ingest::options::IndexOptions;
    use crate::kb::{Kb, KbWriter};

    const LONG: Duration = Duration::from_secs(60);

    struct Indexed {
        folder: tempfile::TempDir,
    }

    impl Indexed {
        fn new(names: &[&str]) -> Indexed {
            let indexed = Indexed {
                folder: tempfile::tempdir().unwrap(),
            };
            for name in names {
                indexed.write(name, &format!("the text of {name}\n"));
            }
            indexed.index();
            indexed
        }

        fn at(&self, name: &str) -> PathBuf {
            self.folder.path().join("src").join(name)
        }

        fn write(&self, name: &str, text: &str) {
            fs::create_dir_all(self.at(name).parent().unwrap()).unwrap();
            fs::write(self.at(name), text).unwrap();
        }

        fn kb(&self) -> PathBuf {
            self.folder.path().join("a.kb")
        }

        fn index(&self) {
            let mut writer = KbWriter::open_or_create(self.kb()).unwrap();
            let options = IndexOptions::new();
            let paths = [self.at("")];
            writer
                .index(&paths, &options, &mut Progress::ignore)
                .unwrap();
        }

        fn look(&self, limit: Duration) -> ChangedSources {
            Kb::open(self.kb()).unwrap().changed_sources(limit).unwrap()
        }
    }

    #[test]
    fn what_came_changed_and_went_is_found() {
        let indexed = Indexed::new(&["a.md", "b/c.md", "b/d.md", "b/e/f.md", "g/h.md"]);
        let look = indexed.look(LONG);
        assert_eq!(
            (look.changes.len(), look.is_complete),
            (0, true),
            "{look:?}"
        );
        indexed.write("a.md", "longer than the text was before\n");
        fs::remove_file(indexed.at("b/d.md")).unwrap();
        indexed.write("b/new.md", "new\n");
        indexed.write("fresh/deep/new.rs", "fn fresh() {}\n");
        let change = |path: &str, change| (path.to_owned(), change);
        assert_eq!(
            indexed.look(LONG).changes,
            [
                change("a.md", SourceChange::Changed),
                change("b/d.md", SourceChange::Deleted),
                change("b/new.md", SourceChange::Added),
                change("fresh/deep/new.rs", SourceChange::Added),
            ]
        );
        indexed.index();
        let look = indexed.look(LONG);
        assert_eq!(
            (look.changes.len(), look.is_complete),
            (0, true),
            "{look:?}"
        );
    }

    /// A build writes into its folder all the time.
    #[test]
    fn what_an_index_run_would_not_take_is_no_change() {
        let indexed = Indexed::new(&["a.md", "b/c.md"]);
        indexed.write(".gitignore", "target/\n");
        indexed.write("target/out.rs", "fn built() {}\n");
        indexed.write(".cache/x", "x\n");
        indexed.write("b/.hidden", "x\n");
        fs::write(indexed.at("b.kb"), "").unwrap();
        assert_eq!(indexed.look(LONG).changes, []);
        // Nor is one that it would leave out for its name, its size or its content.
        let array: Vec<u8> = b"\x93NUMPY\x01\0v\0{'descr': '<f4'}"
            .iter()
            .copied()
            .chain((0..4000u32).flat_map(|n| (n as f32).to_le_bytes()))
            .collect();
        let mut archive = b"PK\x03\x04\x14\0\0\0\x08\0".to_vec();
        archive.extend([3; 900]);
        fs::write(indexed.at("b/array.npy"), array).unwrap();
        fs::write(
            indexed.at("b/picture.md"),
            [&b"\x89PNG\r\n\x1a\n"[..], &[0; 90]].concat(),
        )
        .unwrap();
        fs::write(indexed.at("b/all.zip"), archive).unwrap();
        indexed.write("b/id_rsa", "a key\n");
        let large = fs::File::create(indexed.at("b/large.txt")).unwrap();
        large.set_len(MAX_FILE_BYTES + 1).unwrap();
        assert_eq!(indexed.look(LONG).changes, []);
        // Texts of every encoding and files of formats that are read are new.
        fs::write(indexed.at("b/latin.txt"), b"na\xefve caf\xe9\n").unwrap();
        fs::write(indexed.at("b/bell.txt"), "a bell \x07 rings\n").unwrap();
        indexed.write("b/empty.txt", "");
        let found = indexed.look(LONG).changes;
        let found: Vec<&str> = found.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(found, ["b/bell.txt", "b/empty.txt", "b/latin.txt"]);
        indexed.index();
        assert_eq!(indexed.look(LONG).changes, []);
    }

    #[test]
    fn nothing_is_looked_at_without_time_or_sources() {
        let indexed = Indexed::new(&["a.md"]);
        indexed.write("new.md", "new\n");
        assert!(!indexed.look(Duration::ZERO).is_complete);
        fs::rename(indexed.at(""), indexed.folder.path().join("away")).unwrap();
        assert_eq!(indexed.look(LONG), ChangedSources::default());
    }
}
