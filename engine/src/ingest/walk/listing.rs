//! One folder, or several whose document paths are the same: all its entries that count, in the order
//! of document paths.

use std::cmp::Ordering;
use std::ffi::OsStr;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use crate::ingest::source::open::SourceFolder;
use crate::ingest::walk::entries::{Context, DiskFolder, Entry, Note, disk_name, slice};
use crate::ingest::walk::globs::Globs;
use crate::ingest::walk::reader::Reader;
use crate::ingest::walk::selection::Selection;

/// A listed folder.
#[derive(Debug)]
pub(super) struct Listing {
    /// Its document path with `/` behind it; empty: the root has no prefix.
    pub(super) path: String,
    pub(super) context: Arc<Context>,
    /// Folders that it was read from, by path.
    folders: Vec<DiskFolder>,
    /// Names on disk, and document names where they differ.
    names: Vec<u8>,
    /// In the order of document paths; of equal ones in the order of paths on disk.
    entries: Vec<Entry>,
    pub(super) notes: Vec<Note>,
    /// Entries before this one have been taken to be listed. Changed under the lock of the look-ahead.
    pub(super) claimed: AtomicUsize,
}

/// What comes next in a listing.
#[derive(Debug)]
pub(super) enum Item<'l> {
    File {
        /// What it is opened below.
        base: Arc<SourceFolder>,
        /// Relative to that.
        relative: PathBuf,
        /// Whether a link leads to it.
        is_linked: bool,
        document_name: &'l str,
        size_bytes: u64,
        modified_ms: i64,
    },
    /// Folders of one document name: entries of the listing.
    Folders(Range<usize>),
}

impl Listing {
    /// Reads folders of one document path. What cannot be read becomes a note. `tick` is called every
    /// few hundred entries.
    pub(super) fn read(
        context: &Arc<Context>,
        path: String,
        folders: Vec<DiskFolder>,
        tick: &dyn Fn(),
    ) -> Listing {
        let mut reader = Reader {
            context,
            names: Vec::new(),
            entries: Vec::new(),
            notes: Vec::new(),
            state: Vec::new(),
            tick,
            is_empty: true,
        };
        let mut listed: Vec<DiskFolder> = Vec::with_capacity(folders.len());
        for folder in folders {
            listed.push(reader.folder(folder, listed.len()));
        }
        // Of the folder of a root it is known that it has files.
        let first = listed.first().map(|folder| folder.relative.clone());
        if let Some(relative) = first.filter(|relative| !relative.as_os_str().is_empty())
            && reader.is_empty
        {
            reader.notes.push(Note::Empty { relative });
        }
        let Reader {
            names,
            mut entries,
            notes,
            ..
        } = reader;
        let text = |range: &Range<u32>| slice(&names, range);
        entries.sort_unstable_by(|a, b| {
            let name_on_disk = || (a.folder, text(&a.name)).cmp(&(b.folder, text(&b.name)));
            compare(
                (text(&a.document_name), a.is_folder),
                (text(&b.document_name), b.is_folder),
            )
            .then_with(name_on_disk)
        });
        Listing {
            path,
            context: Arc::clone(context),
            folders: listed,
            names,
            entries,
            notes,
            claimed: AtomicUsize::new(0),
        }
    }

    /// In the place of one that could not be made.
    pub(super) fn failed(context: &Arc<Context>, path: String, reason: &str) -> Listing {
        let mut listing = Listing::read(context, path, Vec::new(), &|| ());
        listing.note_unread(reason.to_owned());
        listing
    }

    fn note_unread(&mut self, reason: String) {
        let path = String::new();
        self.notes.push(Note::Unread { path: path.clone() });
        self.notes.push(Note::Skipped { path, reason });
    }

    /// Entries and notes that it holds.
    pub(super) fn len(&self) -> usize {
        self.entries.len() + self.notes.len()
    }

    fn document_name(&self, entry: &Entry) -> &str {
        // Made from text.
        std::str::from_utf8(slice(&self.names, &entry.document_name)).unwrap_or_default()
    }

    /// Where a file is: below what, and its path there.
    fn place(&self, entry: &Entry) -> (Arc<SourceFolder>, PathBuf) {
        let name = disk_name(slice(&self.names, &entry.name));
        if let Some(link) = &entry.link
            && let (Some(parent), Some(name)) = (link.real.parent(), link.real.file_name())
            && let Ok(parent) = SourceFolder::open(parent)
        {
            return (Arc::new(parent), PathBuf::from(name));
        }
        match self.folders.get(entry.folder as usize) {
            Some(folder) => (Arc::clone(&folder.base), folder.below_base.join(name)),
            None => (Arc::clone(&self.context.folder), PathBuf::from(name)),
        }
    }

    /// The real place of an entry that is reached through a link.
    fn linked_place(&self, entry: &Entry) -> Option<PathBuf> {
        if let Some(link) = &entry.link {
            return Some(link.real.clone());
        }
        let folder = self.folders.get(entry.folder as usize)?;
        let name = disk_name(slice(&self.names, &entry.name));
        let place = || folder.base.path().join(&folder.below_base).join(name);
        folder.is_linked.then(place)
    }

    /// The real place of folders that are reached through a link.
    pub(super) fn linked_folder(&self, folders: &Range<usize>) -> Option<PathBuf> {
        self.linked_place(self.entries.get(folders.start)?)
    }

    /// The item that begins at entry `at`, and where the next one does.
    pub(super) fn item(&self, at: usize) -> Option<(Item<'_>, usize)> {
        let entry = self.entries.get(at)?;
        if entry.is_folder {
            let group = self.group(at);
            let end = group.end;
            return Some((Item::Folders(group), end));
        }
        let (base, relative) = self.place(entry);
        let file = Item::File {
            base,
            relative,
            is_linked: self.linked_place(entry).is_some(),
            document_name: self.document_name(entry),
            size_bytes: entry.size_bytes,
            modified_ms: entry.modified_ms,
        };
        Some((file, at + 1))
    }

    /// The first folders at or after entry `at`.
    pub(super) fn next_folders(&self, at: usize) -> Option<Range<usize>> {
        let entries = self.entries.get(at..)?;
        // What links lead to is listed once, which the walk decides when it comes to it.
        let is_linked = |entry: &Entry| {
            let folder = self.folders.get(entry.folder as usize);
            entry.link.is_some() || folder.is_some_and(|folder| folder.is_linked)
        };
        let mut numbered = entries.iter().enumerate();
        let (first, _) = numbered.find(|(_, entry)| entry.is_folder && !is_linked(entry))?;
        Some(self.group(at + first))
    }

    /// Entries from `at` on that have the same document name.
    fn group(&self, at: usize) -> Range<usize> {
        let entries = self.entries.get(at..).unwrap_or_default();
        let name = entries.first().map(|entry| self.document_name(entry));
        let is_same = |entry: &&Entry| entry.is_folder && Some(self.document_name(entry)) == name;
        at..at + entries.iter().take_while(is_same).count().max(1)
    }

    /// Document path of folders of this listing, with `/` behind it.
    pub(super) fn path_of(&self, folders: &Range<usize>) -> String {
        let name = self.entries.get(folders.start);
        let name = name.map_or("", |entry| self.document_name(entry));
        [self.path.as_str(), name, "/"].concat()
    }

    /// Lists folders of this listing.
    pub(super) fn read_below(&self, folders: &Range<usize>, tick: &dyn Fn()) -> Listing {
        let entries = self.entries.get(folders.clone()).unwrap_or_default();
        let below = entries.iter().filter_map(|entry| {
            let above = self.folders.get(entry.folder as usize)?;
            let name = slice(&self.names, &entry.name);
            let name = disk_name(name);
            let relative = above.relative.join(&name);
            let (base, below_base) = match &entry.link {
                None => (Arc::clone(&above.base), above.below_base.join(&name)),
                // One that became a link since leads nowhere.
                Some(link) => (
                    Arc::new(SourceFolder::open(&link.real).ok()?),
                    PathBuf::new(),
                ),
            };
            let tracked = above.tracked.as_ref().and_then(|all| all.get(&name));
            let is_hidden = name.as_encoded_bytes().starts_with(b".");
            let is_asked = |globs: &Globs| {
                let path = relative.as_os_str().as_encoded_bytes();
                above.is_included || globs.has(path, true, &mut Vec::new())
            };
            Some(DiskFolder {
                is_linked: above.is_linked || entry.link.is_some(),
                is_in_git: above.is_in_git,
                only_tracked: !self.context.hidden
                    && (above.only_tracked || (is_hidden && tracked.is_some())),
                tracked: tracked.cloned(),
                is_included: self.context.include.as_ref().is_some_and(is_asked),
                base,
                below_base,
                relative,
                rules_path: [&above.rules_path, name.as_encoded_bytes(), b"/"].concat(),
                rules: above.rules.clone(),
                wanted: below_wanted(above.wanted.as_ref(), &name),
                foreign: above
                    .foreign
                    .as_ref()
                    .and_then(|all| all.get(&name).cloned()),
            })
        });
        Listing::read(&self.context, self.path_of(folders), below.collect(), tick)
    }
}

/// Which of a folder that is wanted is looked at; `None`: all.
fn below_wanted(wanted: Option<&Arc<Selection>>, name: &OsStr) -> Option<Arc<Selection>> {
    let below = wanted?.get(name)?;
    (!below.is_end()).then(|| Arc::clone(below))
}

/// The order of document paths: a folder stands where its first document does.
fn compare((a, a_is_folder): (&[u8], bool), (b, b_is_folder): (&[u8], bool)) -> Ordering {
    let len = a.len().min(b.len());
    let (a_start, a_rest) = a.split_at(len);
    let (b_start, b_rest) = b.split_at(len);
    let next = |rest: &[u8], is_folder: bool| rest.first().copied().or(is_folder.then_some(b'/'));
    a_start
        .cmp(b_start)
        .then_with(|| next(a_rest, a_is_folder).cmp(&next(b_rest, b_is_folder)))
}
