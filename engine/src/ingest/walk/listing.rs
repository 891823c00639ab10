//! One folder, or several whose document paths are the same: all its entries that count, in the order
//! of document paths.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering as Memory};
use std::sync::{Arc, Mutex, PoisonError};

use crate::ingest::gitignore::{self, IgnoreFiles, Rules, Verdict};
use crate::ingest::secrets::secret_by_name;
use crate::ingest::source::names::{document_name, is_own_file};
use crate::ingest::source::open::{Kind, Look, OpenFolder, SourceFolder};
use crate::ingest::walk::selection::Selection;
use crate::ingest::walk::source_file::size_limit_reason;

/// Entries between two looks at whether the walk shall stop.
const BETWEEN_CHECKS: usize = 256;

/// What the folders of one root have in common.
#[derive(Debug)]
pub(super) struct Context {
    /// The folder of the root.
    pub(super) folder: Arc<SourceFolder>,
    /// Larger files are left out.
    pub(super) max_file_bytes: u64,
    /// Whether it lies in a work tree of git: then rules end at the top of each.
    pub(super) is_in_work_tree: bool,
    /// Parts that were asked for and that no file was found for yet, relative.
    pub(super) missing: Mutex<BTreeSet<PathBuf>>,
    /// Set when the walk shall stop.
    pub(super) stop: Arc<AtomicBool>,
    /// Set when the operation shall end.
    pub(super) cancel: Arc<AtomicBool>,
}

impl Context {
    pub(super) fn is_stopped(&self) -> bool {
        let is_set = |flag: &AtomicBool| flag.load(Memory::Relaxed);
        is_set(&self.stop) || is_set(&self.cancel)
    }
}

/// A folder on disk that is to be listed.
#[derive(Debug, Clone)]
pub(super) struct DiskFolder {
    /// Its path, relative to the root.
    pub(super) relative: PathBuf,
    /// The same in bytes, from where the topmost rules stand, with `/` behind each name.
    pub(super) rules_path: Vec<u8>,
    /// Rules that apply around it.
    pub(super) rules: Rules,
    /// Which of it is looked at; `None`: all.
    pub(super) wanted: Option<Arc<Selection>>,
    /// What of it belongs to other roots.
    pub(super) foreign: Option<Arc<Selection>>,
}

/// A remark about a folder or an entry that is not a file to index. `path` is relative to its document path;
/// empty: the folder.
#[derive(Debug)]
pub(super) enum Note {
    /// It is left out.
    LeftOut {
        path: String,
        reason: String,
        size_bytes: u64,
        modified_ms: i64,
    },
    /// Something about it was not done, such as a rule of an ignore file.
    Skipped { path: String, reason: String },
    /// It is there and could not be looked at.
    Unread { path: String },
    /// The folder has nothing in it. `relative` is its path below the root.
    Empty { relative: PathBuf },
}

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

/// A file or folder that counts. 40 bytes, and its name.
#[derive(Debug)]
struct Entry {
    is_folder: bool,
    /// Which of the folders it is in.
    folder: u32,
    /// Its name on disk.
    name: Range<u32>,
    /// Its name in the document path.
    document_name: Range<u32>,
    size_bytes: u64,
    modified_ms: i64,
}

/// What comes next in a listing.
#[derive(Debug)]
pub(super) enum Item<'l> {
    File {
        /// Relative to the root.
        relative: PathBuf,
        document_name: &'l str,
        size_bytes: u64,
        modified_ms: i64,
    },
    /// Folders of one document name: entries of the listing.
    Folders(Range<usize>),
}

impl Listing {
    /// Reads folders of one document path. What cannot be read becomes a note. `tick` is called every
    /// [`BETWEEN_CHECKS`] entries.
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

    fn relative(&self, entry: &Entry) -> PathBuf {
        let folder = self.folders.get(entry.folder as usize);
        let mut relative = folder.map_or_else(PathBuf::new, |folder| folder.relative.clone());
        relative.push(disk_name(slice(&self.names, &entry.name)));
        relative
    }

    /// The item that begins at entry `at`, and where the next one does.
    pub(super) fn item(&self, at: usize) -> Option<(Item<'_>, usize)> {
        let entry = self.entries.get(at)?;
        if entry.is_folder {
            let group = self.group(at);
            let end = group.end;
            return Some((Item::Folders(group), end));
        }
        let file = Item::File {
            relative: self.relative(entry),
            document_name: self.document_name(entry),
            size_bytes: entry.size_bytes,
            modified_ms: entry.modified_ms,
        };
        Some((file, at + 1))
    }

    /// The first folders at or after entry `at`.
    pub(super) fn next_folders(&self, at: usize) -> Option<Range<usize>> {
        let entries = self.entries.get(at..)?;
        let first = entries.iter().position(|entry| entry.is_folder)?;
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
            Some(DiskFolder {
                relative: above.relative.join(&name),
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

fn slice<'n>(names: &'n [u8], range: &Range<u32>) -> &'n [u8] {
    let range = range.start as usize..range.end as usize;
    names.get(range).unwrap_or_default()
}

#[cfg(unix)]
fn disk_name(bytes: &[u8]) -> OsString {
    use std::os::unix::ffi::OsStrExt;
    OsStr::from_bytes(bytes).to_owned()
}

/// Names of Windows are kept in the encoding of `OsStr`, which is UTF-8 but for halves of surrogate
/// pairs; those are read as the character that stands for what is none.
#[cfg(not(unix))]
fn disk_name(bytes: &[u8]) -> OsString {
    String::from_utf8_lossy(bytes).into_owned().into()
}

struct Reader<'c> {
    context: &'c Context,
    names: Vec<u8>,
    entries: Vec<Entry>,
    notes: Vec<Note>,
    /// Room for the work of rules.
    state: Vec<u64>,
    tick: &'c dyn Fn(),
    /// Whether nothing was in any of the folders that were read.
    is_empty: bool,
}

impl Reader<'_> {
    /// Reads one folder; gives it back with its own rules.
    fn folder(&mut self, mut folder: DiskFolder, number: usize) -> DiskFolder {
        let mut open = match self.context.folder.open_folder(&folder.relative) {
            Ok(open) => open,
            Err(error) => {
                self.is_empty = false;
                self.cannot_read("", &error);
                return folder;
            }
        };
        let mut found: Vec<(Range<u32>, Kind)> = Vec::new();
        let mut files = FolderMarks::default();
        let mut checks = 0;
        let (context, tick) = (self.context, self.tick);
        let names = &mut self.names;
        let wanted = folder.wanted.as_deref();
        let read = open.entries(|name, kind| {
            checks += 1;
            if checks % BETWEEN_CHECKS == 0 {
                tick();
                if context.is_stopped() {
                    return ControlFlow::Break(());
                }
            }
            files.note(name);
            if wanted.is_none_or(|wanted| wanted.get(name).is_some())
                && let Some(range) = push(names, name.as_encoded_bytes())
            {
                found.push((range, kind));
            }
            ControlFlow::Continue(())
        });
        self.is_empty &= checks == 0 && read.is_ok();
        if let Err(error) = read {
            // What was read before counts.
            self.cannot_read("", &error);
        }
        folder.rules = self.rules(&folder, &open, &files);
        let mut rules_path = folder.rules_path.clone();
        for (at, (range, kind)) in found.into_iter().enumerate() {
            if at % BETWEEN_CHECKS == 0 {
                tick();
                if context.is_stopped() {
                    break;
                }
            }
            let name = disk_name(slice(&self.names, &range));
            rules_path.truncate(folder.rules_path.len());
            rules_path.extend_from_slice(name.as_encoded_bytes());
            self.entry(&folder, &open, number, (&name, range, kind), &rules_path);
        }
        folder
    }

    fn rules(&mut self, folder: &DiskFolder, open: &OpenFolder, found: &FolderMarks) -> Rules {
        let mut files = IgnoreFiles::default();
        let [kb, git, exclude] = &mut files.bytes;
        let own = [(kb, found.has_kb), (git, found.has_git_rules)];
        for ((bytes, is_there), name) in own.into_iter().zip(gitignore::NAMES) {
            if is_there {
                match gitignore::read(open.open_file(OsStr::new(name))) {
                    Ok(read) => *bytes = read,
                    Err(reason) => self.skip(name, reason),
                }
            }
        }
        if found.has_git || found.has_jj {
            let path = self.context.folder.path().join(&folder.relative);
            if found.has_git {
                match gitignore::read_exclude(&path) {
                    Ok(read) => *exclude = read,
                    Err(reason) => self.skip(gitignore::EXCLUDE, reason),
                }
            }
            files.is_top = self.context.is_in_work_tree && is_top(&path);
        }
        let (rules, problems) = folder.rules.with(&folder.rules_path, &files);
        let [kb, git] = gitignore::NAMES;
        for (kind, reason) in problems {
            let name = [kb, git, gitignore::EXCLUDE].get(kind).copied();
            self.skip(name.unwrap_or_default(), reason);
        }
        rules
    }

    fn entry(
        &mut self,
        folder: &DiskFolder,
        open: &OpenFolder,
        number: usize,
        (name, range, kind): (&OsStr, Range<u32>, Kind),
        rules_path: &[u8],
    ) {
        let mut look = None;
        if kind == Kind::Unknown {
            match open.look(name) {
                Ok(found) => look = Some(found),
                Err(error) => return self.cannot_read(&document_name(name), &error),
            }
        }
        let kind = look.map_or(kind, |look| look.kind);
        let is_folder = kind == Kind::Folder;
        let verdict = if folder.rules.is_empty() {
            None
        } else {
            folder.rules.verdict(rules_path, is_folder, &mut self.state)
        };
        let is_hidden = || name.as_encoded_bytes().starts_with(b".");
        match verdict {
            Some(Verdict::Ignored) => return,
            // Those that are secrets are listed as such, or read on request.
            None if is_hidden() && (is_folder || !is_secret(name)) => return,
            _ => {}
        }
        let foreign = folder.foreign.as_ref().and_then(|all| all.get(name));
        if foreign.is_some_and(|here| here.is_end()) || (!is_folder && is_own_file(name)) {
            return;
        }
        let wanted = folder.wanted.as_ref().and_then(|all| all.get(name));
        let is_part = wanted.is_some_and(|here| here.is_end());
        match kind {
            Kind::Folder => {
                let nothing = Look {
                    kind,
                    size_bytes: 0,
                    modified_ms: 0,
                };
                return self.push(number, name, range, nothing);
            }
            Kind::Link => {
                let look = look.or_else(|| open.look(name).ok());
                return self.leave_out(&document_name(name), "symbolic link".to_owned(), look);
            }
            Kind::File => {}
            _ => {
                let look = look.or_else(|| open.look(name).ok());
                let reason = "not a regular file".to_owned();
                return self.leave_out(&document_name(name), reason, look);
            }
        }
        // A file where a folder was asked for is none of the parts.
        if folder.wanted.is_some() && !is_part {
            return;
        }
        let look = match look {
            Some(look) => look,
            None => match open.look(name) {
                Ok(look) => look,
                Err(error) => return self.cannot_read(&document_name(name), &error),
            },
        };
        if look.kind != Kind::File {
            let reason = "not a regular file".to_owned();
            return self.leave_out(&document_name(name), reason, Some(look));
        }
        if is_part {
            let missing = self.context.missing.lock();
            let mut missing = missing.unwrap_or_else(PoisonError::into_inner);
            missing.remove(&folder.relative.join(name));
        }
        if let Some(reason) = size_limit_reason(look.size_bytes, self.context.max_file_bytes) {
            return self.leave_out(&document_name(name), reason, Some(look));
        }
        self.push(number, name, range, look);
    }

    fn push(&mut self, folder: usize, name: &OsStr, range: Range<u32>, look: Look) {
        let document_name = document_name(name);
        let document_range = if document_name.as_bytes() == name.as_encoded_bytes() {
            Some(range.clone())
        } else {
            push(&mut self.names, document_name.as_bytes())
        };
        let Some(document_range) = document_range else {
            return self.skip(&document_name, "too many names in one folder".to_owned());
        };
        self.entries.push(Entry {
            is_folder: look.kind == Kind::Folder,
            folder: folder as u32,
            name: range,
            document_name: document_range,
            size_bytes: look.size_bytes,
            modified_ms: look.modified_ms,
        });
    }

    fn skip(&mut self, path: &str, reason: String) {
        let path = path.to_owned();
        self.notes.push(Note::Skipped { path, reason });
    }

    fn leave_out(&mut self, path: &str, reason: String, look: Option<Look>) {
        self.notes.push(Note::LeftOut {
            path: path.to_owned(),
            reason,
            size_bytes: look.map_or(0, |look| look.size_bytes),
            modified_ms: look.map_or(0, |look| look.modified_ms),
        });
    }

    /// What is gone since its folder was read is left out, and nothing is there any more.
    fn cannot_read(&mut self, path: &str, error: &std::io::Error) {
        let reason = format!("cannot be read: {error}");
        if error.kind() == std::io::ErrorKind::NotFound {
            return self.skip(path, reason);
        }
        self.notes.push(Note::Unread {
            path: path.to_owned(),
        });
        self.leave_out(path, reason, None);
    }
}

/// Whether a file is a secret by its name alone.
fn is_secret(name: &OsStr) -> bool {
    name.to_str()
        .is_some_and(|name| secret_by_name(name).is_some())
}

/// Which names that matter for rules a folder has.
#[derive(Debug, Default)]
struct FolderMarks {
    has_kb: bool,
    has_git_rules: bool,
    has_git: bool,
    has_jj: bool,
}

impl FolderMarks {
    fn note(&mut self, name: &OsStr) {
        match name.as_encoded_bytes() {
            b".kbignore" => self.has_kb = true,
            b".gitignore" => self.has_git_rules = true,
            b".git" => self.has_git = true,
            b".jj" => self.has_jj = true,
            _ => {}
        }
    }
}

/// Whether a folder is the top of a work tree, of git or of jj, which reads the ignore files of git.
pub(super) fn is_top(folder: &Path) -> bool {
    [".git", ".jj"]
        .iter()
        .any(|name| folder.join(name).exists())
}

/// Appends a name; `None` when there are 4 GiB of names.
fn push(names: &mut Vec<u8>, name: &[u8]) -> Option<Range<u32>> {
    let start = u32::try_from(names.len()).ok()?;
    let end = start.checked_add(u32::try_from(name.len()).ok()?)?;
    names.extend_from_slice(name);
    Some(start..end)
}
