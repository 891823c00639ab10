//! Events of the file system -> bursts of changes that matter to a file.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use notify::event::{EventKind, ModifyKind, RenameMode};
use notify::{Config, RecommendedWatcher, RecursiveMode, Watcher};

use crate::target::is_built_for;

/// A burst ends after this long without an event.
const QUIET: Duration = Duration::from_millis(100);

/// The longest burst.
const LONGEST: Duration = Duration::from_secs(1);

/// Hidden files that matter: rules of what is left out, and what git writes at a commit or checkout.
const RULES: [&str; 4] = [
    ".gitignore",
    ".kbignore",
    ".git/info/exclude",
    ".git/logs/HEAD",
];

/// What ends the waiting of [`Watch::wait`].
pub(crate) enum Signal {
    /// An event of the file system.
    Event(notify::Result<notify::Event>),
    /// The follower is to end.
    Interrupt,
}

/// Why [`Watch::wait`] returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WaitOutcome {
    /// Files changed; true when new folders may have been filled before they were watched.
    Burst(bool),
    /// Nothing happened during the whole wait.
    Idle,
    /// The follower is to end.
    Interrupted,
}

/// One PATH that is watched.
#[derive(Debug)]
pub(crate) struct WatchedPath {
    /// As given.
    pub(crate) given: PathBuf,
    /// The folder that the system watches, without symbolic links.
    pub(crate) folder: PathBuf,
    /// The file in it, when the PATH is a file.
    file: Option<PathBuf>,
    /// The folder when watching began; `None` while it is not watched.
    identity: Option<Identity>,
    /// Whether its absence was reported.
    pub(crate) reported_gone: bool,
}

impl WatchedPath {
    /// # Errors
    /// Those of the system, when there is nothing at `given`.
    pub(crate) fn new(given: &Path) -> std::io::Result<WatchedPath> {
        let metadata = std::fs::metadata(given)?;
        let (folder, file) = if metadata.is_dir() {
            (given.canonicalize()?, None)
        } else {
            let parent = given
                .parent()
                .filter(|parent| !parent.as_os_str().is_empty());
            let folder = parent.unwrap_or(Path::new(".")).canonicalize()?;
            let name = given.file_name().unwrap_or_default();
            let file = folder.join(name);
            (folder, Some(file))
        };
        Ok(WatchedPath {
            given: given.to_owned(),
            folder,
            file,
            identity: None,
            reported_gone: false,
        })
    }

    /// Whether the path exists.
    pub(crate) fn is_there(&self) -> bool {
        self.file.as_ref().unwrap_or(&self.folder).exists()
    }

    /// Whether a change of `path` may change what the .kb holds.
    fn concerns(&self, path: &Path) -> bool {
        if let Some(file) = &self.file {
            return path == file || path == self.folder;
        }
        let Ok(relative) = path.strip_prefix(&self.folder) else {
            return false;
        };
        let is_hidden = |name: &OsStr| name.as_encoded_bytes().starts_with(b".");
        let is_rule = RULES.iter().any(|rule| relative.ends_with(rule));
        is_rule || !relative.iter().any(is_hidden)
    }
}

/// Device and inode: the folder itself, whatever its name.
type Identity = (u64, u64);

#[cfg(unix)]
fn identity(folder: &Path) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    let metadata = std::fs::symlink_metadata(folder).ok()?;
    // Its path had no link in it: one that is there now leads to another folder.
    (!metadata.is_symlink()).then(|| (metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn identity(folder: &Path) -> Option<Identity> {
    std::fs::metadata(folder).ok().map(|_| (0, 0))
}

/// The paths that are watched, and the system's watcher.
pub(crate) struct Watch {
    watcher: RecommendedWatcher,
    signals: Receiver<Signal>,
    pub(crate) watched: Vec<WatchedPath>,
    /// The .kb file, whose own changes are ignored; absolute, without symbolic links.
    target: PathBuf,
}

impl Watch {
    /// Watches nothing yet.
    ///
    /// # Errors
    /// Those of the system's watcher.
    pub(crate) fn new(
        watched: Vec<WatchedPath>,
        target: &Path,
        sender: std::sync::mpsc::Sender<Signal>,
        signals: Receiver<Signal>,
    ) -> notify::Result<Watch> {
        // Links are not followed when files are indexed either.
        let config = Config::default().with_follow_symlinks(false);
        let send = move |event| drop(sender.send(Signal::Event(event)));
        Ok(Watch {
            watcher: RecommendedWatcher::new(send, config)?,
            signals,
            watched,
            target: without_links(target),
        })
    }

    /// Watches every path that is there and not yet watched; a folder that was replaced is watched
    /// anew. True when one was.
    ///
    /// # Errors
    /// Those of the system's watcher: no more folders can be watched.
    pub(crate) fn watch_paths(&mut self) -> notify::Result<bool> {
        let folders: Vec<(PathBuf, bool)> = self
            .watched
            .iter()
            .map(|path| (path.folder.clone(), path.file.is_none()))
            .collect();
        let mut any = false;
        for (at, path) in self.watched.iter_mut().enumerate() {
            let now = identity(&path.folder);
            if path.identity == now {
                continue;
            }
            if path.identity.take().is_some() {
                // It is gone or another one; the system may have forgotten it already.
                let _ = self.watcher.unwatch(&path.folder);
            }
            if now.is_none() {
                continue;
            }
            // A watched folder above it gets the same events.
            let around = |(other, (folder, is_whole)): (usize, &(PathBuf, bool))| {
                let is_same = *folder == path.folder;
                let is_first = other < at || path.file.is_some();
                other != at
                    && *is_whole
                    && path.folder.starts_with(folder)
                    && (!is_same || is_first)
            };
            if !folders.iter().enumerate().any(around) {
                let mode = match path.file {
                    Some(_) => RecursiveMode::NonRecursive,
                    None => RecursiveMode::Recursive,
                };
                match self.watcher.watch(&path.folder, mode) {
                    Ok(()) => {}
                    // It vanished meanwhile.
                    Err(_) if !path.folder.exists() => continue,
                    Err(error) => return Err(error),
                }
            }
            path.identity = now;
            any = true;
        }
        Ok(any)
    }

    /// Waits for a burst to begin, `idle` at most, and for its end.
    pub(crate) fn wait(&self, idle: Duration) -> WaitOutcome {
        let give_up = Instant::now() + idle;
        let mut began: Option<Instant> = None;
        let mut has_new_folders = false;
        loop {
            let now = Instant::now();
            let until = match began {
                None => give_up,
                Some(began) => (began + LONGEST).min(now + QUIET),
            };
            match self
                .signals
                .recv_timeout(until.saturating_duration_since(now))
            {
                Ok(Signal::Interrupt) | Err(RecvTimeoutError::Disconnected) => {
                    return WaitOutcome::Interrupted;
                }
                Ok(Signal::Event(event)) => {
                    if let Some(has_new_folder) = self.relevance(&event) {
                        began.get_or_insert_with(Instant::now);
                        has_new_folders |= has_new_folder;
                    }
                }
                Err(RecvTimeoutError::Timeout) if began.is_some() => {
                    return WaitOutcome::Burst(has_new_folders);
                }
                Err(RecvTimeoutError::Timeout) => return WaitOutcome::Idle,
            }
            // Irrelevant events must not prolong a burst or the wait for one.
            let now = Instant::now();
            match began {
                Some(began) if now >= began + LONGEST => {
                    return WaitOutcome::Burst(has_new_folders);
                }
                None if now >= give_up => return WaitOutcome::Idle,
                _ => {}
            }
        }
    }

    /// `None` for an irrelevant event; true when it may have brought a whole folder.
    fn relevance(&self, event: &notify::Result<notify::Event>) -> Option<bool> {
        let Ok(event) = event else {
            // Events were lost: read the folders again.
            return Some(true);
        };
        if event.need_rescan() {
            return Some(true);
        }
        if matches!(event.kind, EventKind::Access(_)) {
            // Reading changes nothing, and indexing reads; a write has an event of its own.
            return None;
        }
        let concerns = |path: &PathBuf| {
            *path != self.target
                && !is_built_for(&self.target, path)
                && self.watched.iter().any(|watched| watched.concerns(path))
        };
        if !event.paths.iter().any(concerns) {
            return None;
        }
        let may_bring = matches!(
            event.kind,
            EventKind::Create(_)
                | EventKind::Modify(ModifyKind::Name(RenameMode::To | RenameMode::Both))
        );
        Some(may_bring && event.paths.iter().any(|path| path.is_dir()))
    }
}

fn without_links(file: &Path) -> PathBuf {
    let file = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let parent = file.parent().and_then(|parent| parent.canonicalize().ok());
    match (parent, file.file_name()) {
        (Some(parent), Some(name)) => parent.join(name),
        _ => file,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(file: Option<&str>) -> WatchedPath {
        WatchedPath {
            given: PathBuf::from("given"),
            folder: PathBuf::from("/a/.b"),
            file: file.map(PathBuf::from),
            identity: None,
            reported_gone: false,
        }
    }

    #[test]
    fn hidden_files_are_no_news_but_those_that_hold_rules_are() {
        let folder = path(None);
        let concerns = |path: &str| folder.concerns(Path::new(path));
        for news in [
            "/a/.b",
            "/a/.b/c.md",
            "/a/.b/c/d",
            "/a/.b/.gitignore",
            "/a/.b/c/.kbignore",
            "/a/.b/.git/logs/HEAD",
        ] {
            assert!(concerns(news), "{news}");
        }
        for noise in ["/a", "/a/c", "/a/.b/.git/index", "/a/.b/c/.d/e"] {
            assert!(!concerns(noise), "{noise}");
        }
    }

    #[test]
    fn of_the_folder_around_a_watched_file_only_the_file_is_news() {
        let file = path(Some("/a/.b/c.md"));
        assert!(file.concerns(Path::new("/a/.b/c.md")));
        assert!(!file.concerns(Path::new("/a/.b/d.md")));
    }
}
