//! The walk through all roots, merged into one ascending sequence of document paths.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use kb_types::error::{Error, Result};

use crate::ingest::report::Skipped;
use crate::ingest::root::{Root, Scope};
use crate::ingest::source::git;
use crate::ingest::source::names::is_own_file;
use crate::ingest::source::open::{self, Kind, OpenError, OpenFolder, SourceFolder};
use crate::ingest::walk::above;
use crate::ingest::walk::entries::{Context, DiskFolder};
use crate::ingest::walk::globs::Globs;
use crate::ingest::walk::links::Links;
use crate::ingest::walk::prefetch::Prefetcher;
use crate::ingest::walk::selection::Selection;
use crate::ingest::walk::source_file::{
    LeftOut, Location, SourceFile, WalkItem, size_limit_reason,
};
use crate::ingest::walk::tree::{Step, TreeWalk};
use crate::progress::Reporter;

/// Limits of a walk.
#[derive(Debug, Clone, Default)]
pub(crate) struct WalkOptions {
    /// Larger files are left out.
    pub max_file_bytes: u64,
    /// Threads that list folders ahead; 0: one per core, 1: none.
    pub threads: usize,
    /// The folders that everything must lie in; then files that were given by name are left out where they are links.
    pub within: Option<Vec<PathBuf>>,
    /// The index of git is not read, which takes milliseconds in a large work tree: hidden files are left out that only
    /// git tells of.
    pub without_git_index: bool,
}

/// A walk through all roots that are there. A file that two roots reach belongs to the older.
#[derive(Debug)]
pub(crate) struct Walk<'r> {
    options: WalkOptions,
    reporter: &'r Reporter<'r>,
    ahead: Prefetcher,
    roots: Vec<RootWalk>,
    /// Where each root is that has not come to its end, the next file first.
    // Roots are merged here instead of collected and sorted: memory does not grow with the number
    // of files.
    heads: BinaryHeap<Reverse<Head>>,
    /// Items that come before the next file.
    pending: VecDeque<WalkItem>,
    /// Document path of the last file.
    last: Option<String>,
    /// Ends the threads that list ahead.
    stop: Arc<AtomicBool>,
}

/// A root: before it is walked, while it is, and as a list of files.
#[derive(Debug)]
enum RootWalk {
    // A root is opened when its first path is next: hundreds of roots do not hold as many open
    // folders.
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

impl<'r> Walk<'r> {
    /// Begins a walk.
    ///
    /// # Errors
    /// [`Error::Io`] when a root is there and cannot be read; everything below a root is reported and
    /// skipped instead.
    pub(crate) fn new(
        roots: &[Root],
        options: WalkOptions,
        reporter: &'r Reporter<'r>,
    ) -> Result<Walk<'r>> {
        let mut walk = Walk {
            ahead: Prefetcher::new(options.threads),
            options,
            reporter,
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
            // Not an error: it may be a disk that is not mounted now.
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
        let confined = if self.options.within.is_some() {
            Some(Confined::open(root)?)
        } else {
            None
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
                    let reason = format!("cannot be read: {error}");
                    self.leave_out(root, document_path, reason, None);
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
                (Kind::File, Some(reason)) => {
                    self.leave_out(root, document_path, reason, Some(look));
                }
                (Kind::Link, _) => {
                    let reason = OpenError::Link.to_string();
                    self.leave_out(root, document_path, reason, Some(look));
                }
                _ => {
                    let reason = OpenError::NotRegular.to_string();
                    self.leave_out(root, document_path, reason, Some(look));
                }
            }
        }
        Ok(files)
    }

    fn skip(&mut self, path: String, reason: String) {
        self.pending
            .push_back(WalkItem::Skipped(Skipped::new(path, reason)));
    }

    fn leave_out(&mut self, root: &Root, path: String, reason: String, look: Option<open::Look>) {
        self.pending.push_back(WalkItem::LeftOut(LeftOut {
            path,
            reason,
            root: root.id,
            size_bytes: look.map_or(0, |look| look.size_bytes),
            modified_ms: look.map_or(0, |look| look.modified_ms),
        }));
    }

    fn next_item(&mut self) -> Result<Option<WalkItem>> {
        loop {
            self.reporter.tick()?;
            if let Some(item) = self.pending.pop_front() {
                return Ok(Some(item));
            }
            let Some(Reverse(head)) = self.heads.pop() else {
                return Ok(None);
            };
            let Head { path, root, file } = head;
            self.advance(root)?;
            let Some(file) = file else { continue };
            let found = if self.last.as_ref() == Some(&path) {
                WalkItem::Skipped(Skipped::new(path, "another file has the same path"))
            } else {
                self.last = Some(path);
                WalkItem::File(file)
            };
            // Items added while the root advances concern files that follow this one.
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
        let above = if is_in_work_tree {
            above::rules(&root.folder)
        } else {
            above::Above::default()
        };
        for (path, reason) in above.problems {
            self.skip(path, reason);
        }
        // Git decides about hidden files: `.github` that is tracked is content, `.cache` that is
        // not tracked is none.
        let tracked = if self.options.without_git_index {
            None
        } else {
            git::tracked_hidden(&root.folder)
        };
        if let Some(problem) = tracked.as_ref().and_then(|tracked| tracked.problem.clone()) {
            self.skip(root.document_path(Path::new(".git/index")), problem);
        }
        let selection = &root.selection;
        let links = selection.follow.then(|| Links {
            root: root.folder.clone(),
            elsewhere: root.elsewhere.clone(),
            within: self.options.within.clone(),
        });
        let folder = Arc::new(folder);
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
            base: Arc::clone(&folder),
            below_base: PathBuf::new(),
            is_linked: false,
            is_in_git: tracked.is_some(),
            tracked: tracked.map(|tracked| Selection::new(&tracked.paths)),
            only_tracked: false,
            is_included: false,
            rules_path: above.path,
            rules: above.rules,
            wanted,
            foreign: Selection::below(&root.folder, &root.foreign),
        };
        let context = Arc::new(Context {
            repository: git::common_around(&root.folder),
            hidden: selection.hidden,
            links,
            include: Globs::new("include", &selection.include)?,
            exclude: Globs::new("exclude", &selection.exclude)?,
            folder,
            max_file_bytes: self.options.max_file_bytes,
            is_in_work_tree,
            missing: Mutex::new(missing),
            stop: Arc::clone(&self.stop),
            cancel: Arc::clone(self.reporter.stop_flag()),
        });
        let path = folder_path(&root.prefix);
        Ok(Some(TreeWalk::new(
            context,
            path,
            top,
            &mut self.ahead,
            self.reporter,
        )))
    }

    fn next_of_tree(&mut self, root: &Root, tree: &mut TreeWalk) -> Option<SourceFile> {
        while let Some(step) = tree.next(&mut self.ahead, self.reporter) {
            match step {
                Step::File {
                    base,
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
                        location: Location::Below(base, relative),
                    });
                }
                Step::LeftOut {
                    path,
                    reason,
                    size_bytes,
                    modified_ms,
                } => self.pending.push_back(WalkItem::LeftOut(LeftOut {
                    path,
                    reason,
                    root: root.id,
                    size_bytes,
                    modified_ms,
                })),
                Step::Skipped { path, reason } => self.skip(path, reason),
                Step::Unread { path } => self.pending.push_back(WalkItem::Unread(path)),
                Step::Empty { path, relative } => {
                    let folder = root.folder.join(relative);
                    self.pending.push_back(WalkItem::Empty(path, folder));
                }
            }
        }
        for part in tree.missing_parts() {
            let reason =
                "hidden, or left out by an ignore file of its folder or a pattern of the root";
            self.skip(root.document_path(&part), reason.to_owned());
        }
        None
    }
}

/// Fails with [`Error::Cancelled`] when asked to stop, and with [`Error::Io`] when the folder of a root
/// cannot be read any more.
impl Iterator for Walk<'_> {
    type Item = Result<WalkItem>;

    fn next(&mut self) -> Option<Result<WalkItem>> {
        self.next_item().transpose()
    }
}

impl Drop for Walk<'_> {
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

#[cfg(test)]
mod tests;
