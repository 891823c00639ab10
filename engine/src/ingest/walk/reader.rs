//! Reads folders: which of their entries count, and why others do not.

use std::ffi::OsStr;
use std::ops::{ControlFlow, Range};
use std::path::Path;
use std::sync::PoisonError;

use kb_extract::secrets::secret_by_name;

use crate::ingest::gitignore::{self, IgnoreFiles, Rules, Verdict};
use crate::ingest::source::git;
use crate::ingest::source::names::{document_name, is_own_file};
use crate::ingest::source::open::{self, Kind, Look, OpenFolder};
use crate::ingest::walk::entries::{
    Context, DiskFolder, Entry, Note, disk_name, is_top, push, slice,
};
use crate::ingest::walk::links::Target;
use crate::ingest::walk::selection::Selection;
use crate::ingest::walk::source_file::size_limit_reason;

/// Entries between two checks for cancellation.
// Often enough that a folder of a million names can be stopped, and rare beside reading the names.
const BETWEEN_CHECKS: usize = 256;

pub(super) struct Reader<'c> {
    pub(super) context: &'c Context,
    pub(super) names: Vec<u8>,
    pub(super) entries: Vec<Entry>,
    pub(super) notes: Vec<Note>,
    /// Room for the work of rules.
    pub(super) state: Vec<u64>,
    pub(super) tick: &'c dyn Fn(),
    /// Whether nothing was in any of the folders that were read.
    pub(super) is_empty: bool,
}

impl Reader<'_> {
    /// Reads one folder; gives it back with its own rules.
    pub(super) fn folder(&mut self, mut folder: DiskFolder, number: usize) -> DiskFolder {
        let mut open = match folder.base.open_folder(&folder.below_base) {
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
        if files.has_git && !folder.relative.as_os_str().is_empty() {
            let path = folder.base.path().join(&folder.below_base);
            if self.is_other_checkout(&path) {
                let reason = "another work tree of the same git repository";
                self.leave_out("", reason.to_owned(), None);
                return folder;
            }
            self.enter_repository(&mut folder, &path);
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

    /// Whether a folder is a work tree of a repository that has another one in the root or around it: its files are the
    /// same ones, in the state of another branch.
    fn is_other_checkout(&self, path: &Path) -> bool {
        git::linked_to(path).is_some_and(|common| {
            self.context.repository.as_ref() == Some(&common)
                || common.starts_with(self.context.folder.path())
        })
    }

    /// Takes what git tracks from the repository of a folder inside another.
    fn enter_repository(&mut self, folder: &mut DiskFolder, path: &Path) {
        let Some(tracked) = git::tracked_hidden(path) else {
            return;
        };
        folder.is_in_git = true;
        folder.only_tracked = false;
        folder.tracked = Some(Selection::new(&tracked.paths));
        if let Some(problem) = tracked.problem {
            self.skip(".git/index", problem);
        }
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
            let path = folder.base.path().join(&folder.below_base);
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
        let foreign = folder.foreign.as_ref().and_then(|all| all.get(name));
        let is_foreign = foreign.is_some_and(|here| here.is_end());
        if is_foreign || is_repository(name) || (kind != Kind::Folder && is_own_file(name)) {
            return;
        }
        let mut link = None;
        if let (Kind::Link, Some(links)) = (kind, &self.context.links) {
            let path = folder.base.path().join(&folder.below_base).join(name);
            link = Some(links.target(&path));
        }
        let is_folder = match &link {
            Some(Ok(target)) => target.is_folder,
            _ => kind == Kind::Folder,
        };
        // Most folders have no rules; then no path is matched.
        let verdict = if folder.rules.is_empty() {
            None
        } else {
            folder.rules.verdict(rules_path, is_folder, &mut self.state)
        };
        match verdict {
            Some(Verdict::Ignored) => return,
            Some(Verdict::Included) => {}
            None => {
                if let Some(reason) = self.hidden_reason(folder, name, is_folder) {
                    // Those that are secrets are listed as such, or read on request.
                    if is_folder || !is_secret(name) {
                        if !is_ignore_file(name) {
                            let look = look.or_else(|| open.look(name).ok());
                            self.leave_out(&document_name(name), reason.to_owned(), look);
                        }
                        return;
                    }
                }
            }
        }
        if self.is_unwanted(folder, name, is_folder) {
            return;
        }
        let wanted = folder.wanted.as_ref().and_then(|all| all.get(name));
        let is_part = wanted.is_some_and(|here| here.is_end());
        if let Some(target) = link {
            return match target {
                Ok(target) => {
                    self.follow(folder, number, (name, range), target, is_part);
                }
                Err(reason) => {
                    let look = look.or_else(|| open.look(name).ok());
                    self.leave_out(&document_name(name), reason, look);
                }
            };
        }
        match kind {
            Kind::Folder => {
                let nothing = Look {
                    kind,
                    size_bytes: 0,
                    modified_ms: 0,
                };
                self.push(number, name, range, nothing, None);
            }
            Kind::Link => {
                let look = look.or_else(|| open.look(name).ok());
                self.leave_out(&document_name(name), "symbolic link".to_owned(), look);
            }
            Kind::File => self.file(folder, open, number, (name, range, look), is_part),
            _ => {
                let look = look.or_else(|| open.look(name).ok());
                let reason = "not a regular file".to_owned();
                self.leave_out(&document_name(name), reason, look);
            }
        }
    }

    /// A file that the rules let through; `is_part`: it was asked for itself.
    fn file(
        &mut self,
        folder: &DiskFolder,
        open: &OpenFolder,
        number: usize,
        (name, range, look): (&OsStr, Range<u32>, Option<Look>),
        is_part: bool,
    ) {
        // A file where a folder was asked for is none of the parts.
        if folder.wanted.is_some() && !is_part {
            return;
        }
        // Last, for files that everything else has let through: it is a system call a file.
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
        // Its document path says nothing of the folder that it is really in.
        let real = || folder.base.path().join(&folder.below_base).join(name);
        if folder.is_linked && secret_by_name(&real().to_string_lossy()).is_some() {
            let reason = "symbolic link to what may be a key or a credential".to_owned();
            return self.leave_out(&document_name(name), reason, Some(look));
        }
        self.push(number, name, range, look, None);
    }

    /// Why a hidden entry does not count, or one that git does not track in a hidden folder.
    fn hidden_reason(
        &self,
        folder: &DiskFolder,
        name: &OsStr,
        is_folder: bool,
    ) -> Option<&'static str> {
        let is_hidden = name.as_encoded_bytes().starts_with(b".");
        if self.context.hidden || !(is_hidden || folder.only_tracked) {
            return None;
        }
        let tracked = folder.tracked.as_ref().and_then(|all| all.get(name));
        if tracked.is_some_and(|tracked| is_folder || tracked.is_end()) {
            return None;
        }
        Some(if folder.is_in_git {
            "hidden, and not tracked by git"
        } else {
            "hidden"
        })
    }

    /// Whether what was asked for leaves an entry out.
    fn is_unwanted(&mut self, folder: &DiskFolder, name: &OsStr, is_folder: bool) -> bool {
        let context = self.context;
        if context.include.is_none() && context.exclude.is_none() {
            return false;
        }
        let path = folder.relative.join(name);
        let path = path.as_os_str().as_encoded_bytes();
        if let Some(exclude) = &context.exclude
            && exclude.has(path, is_folder, &mut self.state)
        {
            return true;
        }
        match &context.include {
            Some(include) if !is_folder && !folder.is_included => {
                !include.has(path, false, &mut self.state)
            }
            _ => false,
        }
    }

    /// Takes in what a link leads to.
    fn follow(
        &mut self,
        folder: &DiskFolder,
        number: usize,
        (name, range): (&OsStr, Range<u32>),
        target: Target,
        is_part: bool,
    ) {
        if !target.is_folder && folder.wanted.is_some() && !is_part {
            return;
        }
        let look = match open::look(&target.real) {
            Ok(look) => look,
            Err(error) => return self.cannot_read(&document_name(name), &error),
        };
        let limit = size_limit_reason(look.size_bytes, self.context.max_file_bytes);
        if let Some(reason) = limit.filter(|_| !target.is_folder) {
            return self.leave_out(&document_name(name), reason, Some(look));
        }
        let is_secret = is_secret(name) || secret_by_name(&target.real.to_string_lossy()).is_some();
        if is_secret && !target.is_folder {
            let reason = "symbolic link to what may be a key or a credential".to_owned();
            return self.leave_out(&document_name(name), reason, Some(look));
        }
        self.push(number, name, range, look, Some(Box::new(target)));
    }

    fn push(
        &mut self,
        folder: usize,
        name: &OsStr,
        range: Range<u32>,
        look: Look,
        link: Option<Box<Target>>,
    ) {
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
            link,
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

/// Nobody expects these to be indexed, so they are left out in silence where they are hidden.
fn is_ignore_file(name: &OsStr) -> bool {
    matches!(name.to_str(), Some(".gitignore" | ".kbignore"))
}

/// What a version control system keeps: it holds no documents, and is never read.
fn is_repository(name: &OsStr) -> bool {
    matches!(name.to_str(), Some(".git" | ".jj" | ".hg" | ".svn"))
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
