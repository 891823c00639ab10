//! Which files are indexed: folders and files as given, ignore rules, what is left out and why.
//!
//! Rules, the same as ripgrep's where nothing else is said:
//! - `.gitignore` and `.kbignore` are obeyed, also outside of a git work tree. Ignore files of
//!   folders above a root count only inside the same work tree. A user's global ignore file does
//!   not count: the same tree gives the same answer on every machine.
//! - Hidden files and folders (a leading dot, `.github` too) are left out, unless given by name.
//! - `.kb` files and unfinished ones are left out.
//! - Symbolic links are not followed, but for a path that is given itself, and not for that where
//!   links are refused; a linked file is reported. So no loop is possible and no file counts twice.
//!
//! Files come in the order of the bytes of their document paths, whatever the disk gives first. Memory
//! is bounded by the entries of the folders on the way to a file, about 60 bytes and its name each, and
//! by those that are listed ahead (`prefetch`), not by the number of files.

mod above;
mod listing;
mod prefetch;
mod selection;
mod tree;

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::error::{Error, Result};
use crate::ingest::git;
use crate::ingest::open::{self, Kind, Links, OpenError, OpenFolder, SourceFolder};
use crate::ingest::report::Skipped;
use crate::ingest::root::{Root, Scope};
use crate::ingest::walk::listing::{Context, DiskFolder};
use crate::ingest::walk::prefetch::Prefetcher;
use crate::ingest::walk::selection::Selection;
use crate::ingest::walk::tree::{Step, TreeWalk};

/// Limits of a walk.
#[derive(Debug, Clone, Default)]
pub struct WalkOptions {
    /// Larger files are left out.
    pub max_file_bytes: u64,
    /// Threads that list folders ahead; 0: one per core, 1: none.
    pub threads: usize,
    /// Files that were given by name are left out where they are links.
    pub refuse_links: bool,
    /// Set to true by another thread to stop.
    pub cancel: Option<Arc<AtomicBool>>,
}

/// A file to index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// Its document path: prefix and relative path with `/`, NFC.
    pub document_path: String,
    /// Its size.
    pub size_bytes: u64,
    /// When it was changed, in milliseconds since 1970; 0 when unknown.
    pub modified_ms: i64,
    /// Number of its root.
    pub root: u32,
    location: Location,
}

/// How a file is opened.
#[derive(Debug, Clone)]
enum Location {
    /// Below the folder of a root, through no link.
    Below(Arc<SourceFolder>, PathBuf),
    /// By a name that was given, be it a link.
    Named(PathBuf),
}

impl PartialEq for Location {
    fn eq(&self, other: &Location) -> bool {
        self.path() == other.path()
    }
}

impl Eq for Location {}

impl Location {
    fn path(&self) -> PathBuf {
        match self {
            Location::Below(folder, relative) => folder.path().join(relative),
            Location::Named(path) => path.clone(),
        }
    }
}

impl SourceFile {
    /// Where it was found. To be shown: `SourceFile::open` opens it.
    pub fn disk_path(&self) -> PathBuf {
        self.location.path()
    }

    /// Opens it, if it is still a regular file, below its root and behind no link.
    pub(crate) fn open(&self) -> std::result::Result<File, OpenError> {
        match &self.location {
            Location::Below(folder, relative) => folder.open_file(relative),
            Location::Named(path) => open::open_regular(path, Links::Follow),
        }
    }
}

/// What a walk comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WalkItem {
    /// A file to index. Document paths of files ascend; none comes twice.
    File(SourceFile),
    /// Something that is left out with a reason. Files under an ignore rule, hidden ones and `.kb`
    /// files are not told.
    Skipped(Skipped),
    /// Document path of a file or folder that is there and could not be looked at: nothing is known
    /// of what lies at or below it. Comes before the files that follow it.
    Unread(String),
}

/// A walk through all roots that are there. A file that two roots reach belongs to the older.
#[derive(Debug)]
pub struct Walk {
    options: WalkOptions,
    ahead: Prefetcher,
    roots: Vec<RootWalk>,
    /// Where each root is that has not come to its end, the next file first.
    heads: BinaryHeap<Reverse<Head>>,
    /// What is told before the next file.
    pending: VecDeque<WalkItem>,
    /// Document path of the last file.
    last: Option<String>,
    /// Ends the threads that list ahead.
    stop: Arc<AtomicBool>,
}

/// A root: before it is walked, while it is, and as a list of files.
#[derive(Debug)]
enum RootWalk {
    Waiting(Box<Root>),
    Tree(Box<Root>, TreeWalk),
    Files(VecDeque<SourceFile>),
    Ended,
}

/// The folder of a root whose files were given by name and may be no links.
struct Confined {
    folder: Arc<SourceFolder>,
    entries: OpenFolder,
}

impl Confined {
    fn open(root: &Root) -> Result<Confined> {
        let reading = |error| Error::io("read", &root.folder, error);
        let folder = SourceFolder::open(&root.folder).map_err(reading)?;
        let entries = folder.open_folder(Path::new("")).map_err(reading)?;
        let folder = Arc::new(folder);
        Ok(Confined { folder, entries })
    }
}

/// The next file of a root, or where the first may be.
#[derive(Debug)]
struct Head {
    path: String,
    /// Position of the root.
    root: usize,
    /// `None`: the root has not begun.
    file: Option<SourceFile>,
}

impl PartialEq for Head {
    fn eq(&self, other: &Head) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Head {}

impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Head) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Head {
    fn cmp(&self, other: &Head) -> std::cmp::Ordering {
        (&self.path, self.root).cmp(&(&other.path, other.root))
    }
}

impl Walk {
    /// Begins a walk.
    ///
    /// # Errors
    /// [`Error::Io`] when a root is there and cannot be read; everything below a root is reported and
    /// skipped instead.
    pub fn new(roots: &[Root], options: WalkOptions) -> Result<Walk> {
        let mut walk = Walk {
            ahead: Prefetcher::new(options.threads),
            options,
            roots: Vec::new(),
            heads: BinaryHeap::new(),
            pending: VecDeque::new(),
            last: None,
            stop: Arc::default(),
        };
        // The older root comes first where two have a file of one document path.
        let mut roots: Vec<&Root> = roots.iter().collect();
        roots.sort_by_key(|root| root.id);
        for root in roots {
            walk.add_root(root)?;
        }
        Ok(walk)
    }

    fn add_root(&mut self, root: &Root) -> Result<()> {
        if root.scope == Scope::Superseded {
            return Ok(());
        }
        match fs::read_dir(&root.folder) {
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(Error::io("read", &root.folder, error)),
        }
        let number = self.roots.len();
        if let Scope::Files(names) = &root.scope {
            let mut files = self.named_files(root, names)?;
            files.sort_by(|a, b| {
                let on_disk = || a.location.path().cmp(&b.location.path());
                a.document_path.cmp(&b.document_path).then_with(on_disk)
            });
            self.roots.push(RootWalk::Files(files.into()));
            return self.advance(number);
        }
        self.roots.push(RootWalk::Waiting(Box::new(root.clone())));
        self.heads.push(Reverse(Head {
            path: folder_path(&root.prefix),
            root: number,
            file: None,
        }));
        Ok(())
    }

    /// Files that somebody named, whatever the rules say of them.
    fn named_files(&mut self, root: &Root, names: &BTreeSet<PathBuf>) -> Result<Vec<SourceFile>> {
        let mut files = Vec::new();
        let confined = match self.options.refuse_links {
            true => Some(Confined::open(root)?),
            false => None,
        };
        for name in names {
            let path = root.folder.join(name);
            let document_path = root.document_path(name);
            let look = match &confined {
                Some(confined) => confined.entries.look(name.as_os_str()),
                None => open::look(&path),
            };
            let look = match look {
                Ok(look) => look,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                Err(error) => {
                    self.pending
                        .push_back(WalkItem::Unread(document_path.clone()));
                    self.skip(document_path, format!("cannot be read: {error}"));
                    continue;
                }
            };
            if path.file_name().is_some_and(is_own_file) {
                continue;
            }
            let limit = size_limit_reason(look.size_bytes, self.options.max_file_bytes);
            match (look.kind, limit) {
                (Kind::File, None) => files.push(SourceFile {
                    document_path,
                    size_bytes: look.size_bytes,
                    modified_ms: look.modified_ms,
                    root: root.id,
                    location: match &confined {
                        Some(confined) => {
                            Location::Below(Arc::clone(&confined.folder), name.clone())
                        }
                        None => Location::Named(path),
                    },
                }),
                (Kind::File, Some(reason)) => self.skip(document_path, reason),
                (Kind::Link, _) => self.skip(document_path, OpenError::Link.to_string()),
                _ => self.skip(document_path, OpenError::NotRegular.to_string()),
            }
        }
        Ok(files)
    }

    fn skip(&mut self, path: String, reason: String) {
        self.pending
            .push_back(WalkItem::Skipped(Skipped { path, reason }));
    }

    fn next_item(&mut self) -> Result<Option<WalkItem>> {
        loop {
            let cancel = self.options.cancel.as_deref();
            if cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed)) {
                return Err(Error::Cancelled);
            }
            if let Some(item) = self.pending.pop_front() {
                return Ok(Some(item));
            }
            let Some(Reverse(head)) = self.heads.pop() else {
                return Ok(None);
            };
            let Head { path, root, file } = head;
            self.advance(root)?;
            let Some(file) = file else { continue };
            let found = match self.last.as_ref() == Some(&path) {
                true => WalkItem::Skipped(Skipped {
                    path,
                    reason: "another file has the same path".to_owned(),
                }),
                false => {
                    self.last = Some(path);
                    WalkItem::File(file)
                }
            };
            // What is told while the root goes on concerns files that follow this one.
            self.pending.push_front(found);
        }
    }

    /// Brings a root to its next file.
    fn advance(&mut self, number: usize) -> Result<()> {
        let Some(place) = self.roots.get_mut(number) else {
            return Ok(());
        };
        let mut walk = match std::mem::replace(place, RootWalk::Ended) {
            RootWalk::Waiting(root) => match self.begin(&root)? {
                Some(tree) => RootWalk::Tree(root, tree),
                None => RootWalk::Ended,
            },
            walk => walk,
        };
        let file = match &mut walk {
            RootWalk::Files(files) => files.pop_front(),
            RootWalk::Tree(root, tree) => self.next_of_tree(root, tree),
            RootWalk::Waiting(_) | RootWalk::Ended => None,
        };
        let Some(file) = file else { return Ok(()) };
        if let Some(place) = self.roots.get_mut(number) {
            *place = walk;
        }
        self.heads.push(Reverse(Head {
            path: file.document_path.clone(),
            root: number,
            file: Some(file),
        }));
        Ok(())
    }

    fn begin(&mut self, root: &Root) -> Result<Option<TreeWalk>> {
        let folder = match SourceFolder::open(&root.folder) {
            Ok(folder) => folder,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io("read", &root.folder, error)),
        };
        let is_in_work_tree = git::is_in_work_tree(&root.folder);
        let above = match is_in_work_tree {
            true => above::rules(&root.folder),
            false => above::Above::default(),
        };
        for (path, reason) in above.problems {
            self.skip(path, reason);
        }
        let missing = match &root.scope {
            Scope::Parts(parts) => parts.clone(),
            _ => BTreeSet::new(),
        };
        let wanted = match &root.scope {
            Scope::Parts(parts) => Some(Selection::new(parts)),
            _ => None,
        };
        let top = DiskFolder {
            relative: PathBuf::new(),
            rules_path: above.path,
            rules: above.rules,
            wanted,
            foreign: Selection::below(&root.folder, &root.foreign),
        };
        let context = Arc::new(Context {
            folder: Arc::new(folder),
            max_file_bytes: self.options.max_file_bytes,
            is_in_work_tree,
            missing: Mutex::new(missing),
            stop: Arc::clone(&self.stop),
            cancel: self.options.cancel.clone(),
        });
        let path = folder_path(&root.prefix);
        Ok(Some(TreeWalk::new(context, path, top, &mut self.ahead)))
    }

    fn next_of_tree(&mut self, root: &Root, tree: &mut TreeWalk) -> Option<SourceFile> {
        while let Some(step) = tree.next(&mut self.ahead) {
            match step {
                Step::File {
                    relative,
                    document_path,
                    size_bytes,
                    modified_ms,
                } => {
                    return Some(SourceFile {
                        document_path,
                        size_bytes,
                        modified_ms,
                        root: root.id,
                        location: Location::Below(Arc::clone(tree.folder()), relative),
                    });
                }
                Step::Skipped { path, reason } => self.skip(path, reason),
                Step::Unread { path } => self.pending.push_back(WalkItem::Unread(path)),
            }
        }
        for part in tree.missing_parts() {
            let reason = "hidden, or left out by an ignore file of its folder";
            self.skip(root.document_path(&part), reason.to_owned());
        }
        None
    }
}

/// Fails with [`Error::Cancelled`] when asked to stop, and with [`Error::Io`] when the folder of a root
/// cannot be read any more.
impl Iterator for Walk {
    type Item = Result<WalkItem>;

    fn next(&mut self) -> Option<Result<WalkItem>> {
        self.next_item().transpose()
    }
}

impl Drop for Walk {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Document path of a root with `/` behind it.
fn folder_path(prefix: &str) -> String {
    match prefix {
        "" => String::new(),
        prefix => [prefix, "/"].concat(),
    }
}

/// Why a file of that size is left out.
fn size_limit_reason(size_bytes: u64, limit: u64) -> Option<String> {
    (size_bytes > limit).then(|| format!("{size_bytes} bytes, more than the limit of {limit}"))
}

/// A .kb, or one that is being written: `x.kb`, `.x.kb.tmp`.
fn is_own_file(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    (name.ends_with(b".kb") && name.len() > 3) || name.ends_with(b".kb.tmp")
}

/// Milliseconds since 1970; negative before.
fn unix_ms(time: SystemTime) -> i64 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_millis()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_millis()).map_or(i64::MIN, |ms| -ms),
    }
}

/// When a file was changed, in milliseconds since 1970; 0 when unknown.
#[cfg(not(unix))]
pub(super) fn modified_ms(metadata: &fs::Metadata) -> i64 {
    metadata.modified().map_or(0, unix_ms)
}
/// The time now, in milliseconds since 1970.
pub fn now_ms() -> i64 {
    unix_ms(SystemTime::now())
}

/// A name with its bytes that are not UTF-8 as `\xNN`. A backslash that would read as such an escape
/// is escaped itself, so that different names stay different.
pub fn escaped(name: &OsStr) -> String {
    let mut escaped = String::new();
    for piece in name.as_encoded_bytes().utf8_chunks() {
        let mut rest = piece.valid();
        while let Some(at) = rest.find("\\x") {
            let (before, after) = rest.split_at(at);
            escaped.push_str(before);
            let digits = after.as_bytes().get(2..4).unwrap_or_default();
            let looks_escaped = digits.len() == 2 && digits.iter().all(u8::is_ascii_hexdigit);
            escaped.push_str(if looks_escaped { "\\x5C" } else { "\\" });
            rest = after.get(1..).unwrap_or_default();
        }
        escaped.push_str(rest);
        for byte in piece.invalid() {
            escaped.push_str(&format!("\\x{byte:02X}"));
        }
    }
    escaped
}

#[cfg(test)]
mod tests;
