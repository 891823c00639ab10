//! Events of the file system -> bursts of changes that matter to a file.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use notify::event::{EventKind, ModifyKind, RenameMode};
use notify::{Config, RecommendedWatcher, RecursiveMode, Watcher};

use crate::target::is_built_for;

/// A burst ends when nothing happened for so long.
const QUIET: Duration = Duration::from_millis(100);

/// A burst is never longer.
const LONGEST: Duration = Duration::from_secs(1);

/// Files that change what is left out, and those that git changes with each commit and checkout.
const RULES: [&str; 4] = [
    ".gitignore",
    ".kbignore",
    ".git/info/exclude",
    ".git/logs/HEAD",
];

/// What wakes the loop.
pub(crate) enum Signal {
    /// Something happened on disk.
    Event(notify::Result<notify::Event>),
    /// Somebody wants it to end.
    Interrupt,
}

/// What the loop woke up with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gathered {
    /// Files changed; true when folders came that may have been filled before they were watched.
    Burst(bool),
    /// Nothing happened for as long as was asked.
    Idle,
    /// The loop shall end.
    Interrupted,
}

/// One PATH that is watched.
#[derive(Debug)]
pub(crate) struct Place {
    /// As given.
    pub(crate) given: PathBuf,
    /// The folder that the system watches, without symbolic links.
    pub(crate) folder: PathBuf,
    /// The file in it, when the PATH is a file.
    file: Option<PathBuf>,
    /// What the folder was when watching began; none: it is not watched.
    watched: Option<Identity>,
    /// Whether somebody was told that nothing is left of it.
    pub(crate) told_gone: bool,
}

impl Place {
    /// # Errors
    /// Those of the system, when there is nothing at `given`.
    pub(crate) fn new(given: &Path) -> std::io::Result<Place> {
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
        Ok(Place {
            given: given.to_owned(),
            folder,
            file,
            watched: None,
            told_gone: false,
        })
    }

    /// Whether there is something now.
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

/// What a folder is, whatever it is called.
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

/// The places that are watched, and the system's watcher.
pub(crate) struct Watch {
    watcher: RecommendedWatcher,
    signals: Receiver<Signal>,
    pub(crate) places: Vec<Place>,
    /// The .kb, whose own changes are not news; absolute, without symbolic links.
    target: PathBuf,
}

impl Watch {
    /// Watches nothing yet.
    ///
    /// # Errors
    /// Those of the system's watcher.
    pub(crate) fn new(
        places: Vec<Place>,
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
            places,
            target: without_links(target),
        })
    }

    /// Watches every place that is there and not yet watched; a folder that was replaced is watched
    /// anew. True when one was.
    ///
    /// # Errors
    /// Those of the system's watcher: no more folders can be watched.
    pub(crate) fn watch_places(&mut self) -> notify::Result<bool> {
        let folders: Vec<(PathBuf, bool)> = self
            .places
            .iter()
            .map(|place| (place.folder.clone(), place.file.is_none()))
            .collect();
        let mut any = false;
        for (at, place) in self.places.iter_mut().enumerate() {
            let now = identity(&place.folder);
            if place.watched == now {
                continue;
            }
            if place.watched.take().is_some() {
                // It is gone or another one; the system may have forgotten it already.
                let _ = self.watcher.unwatch(&place.folder);
            }
            if now.is_none() {
                continue;
            }
            // A folder around it sees the same events.
            let around = |(other, (folder, is_whole)): (usize, &(PathBuf, bool))| {
                let is_same = *folder == place.folder;
                let is_first = other < at || place.file.is_some();
                other != at
                    && *is_whole
                    && place.folder.starts_with(folder)
                    && (!is_same || is_first)
            };
            if !folders.iter().enumerate().any(around) {
                let mode = match place.file {
                    Some(_) => RecursiveMode::NonRecursive,
                    None => RecursiveMode::Recursive,
                };
                match self.watcher.watch(&place.folder, mode) {
                    Ok(()) => {}
                    // It went while it was looked at.
                    Err(_) if !place.folder.exists() => continue,
                    Err(error) => return Err(error),
                }
            }
            place.watched = now;
            any = true;
        }
        Ok(any)
    }

    /// Waits for a burst to begin, `idle` at most, and for its end.
    pub(crate) fn gather(&self, idle: Duration) -> Gathered {
        let give_up = Instant::now() + idle;
        let mut began: Option<Instant> = None;
        let mut folders_came = false;
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
                    return Gathered::Interrupted;
                }
                Ok(Signal::Event(event)) => {
                    if let Some(brings_folder) = self.news(&event) {
                        began.get_or_insert_with(Instant::now);
                        folders_came |= brings_folder;
                    }
                }
                Err(RecvTimeoutError::Timeout) if began.is_some() => {
                    return Gathered::Burst(folders_came);
                }
                Err(RecvTimeoutError::Timeout) => return Gathered::Idle,
            }
            // Noise must not keep a burst, or the wait for one, from its end.
            let now = Instant::now();
            match began {
                Some(began) if now >= began + LONGEST => return Gathered::Burst(folders_came),
                None if now >= give_up => return Gathered::Idle,
                _ => {}
            }
        }
    }

    /// Whether something may have changed, and whether that may be a whole folder.
    fn news(&self, event: &notify::Result<notify::Event>) -> Option<bool> {
        let Ok(event) = event else {
            // Whatever was lost is found by looking.
            return Some(true);
        };
        if event.need_rescan() {
            return Some(true);
        }
        if matches!(event.kind, EventKind::Access(_)) {
            // Reading is no change, and we read ourselves; writing tells of itself.
            return None;
        }
        let concerns = |path: &PathBuf| {
            *path != self.target
                && !is_built_for(&self.target, path)
                && self.places.iter().any(|place| place.concerns(path))
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

    fn place(file: Option<&str>) -> Place {
        Place {
            given: PathBuf::from("given"),
            folder: PathBuf::from("/a/.b"),
            file: file.map(PathBuf::from),
            watched: None,
            told_gone: false,
        }
    }

    #[test]
    fn hidden_files_are_no_news_but_those_that_hold_rules_are() {
        let folder = place(None);
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
        let file = place(Some("/a/.b/c.md"));
        assert!(file.concerns(Path::new("/a/.b/c.md")));
        assert!(!file.concerns(Path::new("/a/.b/d.md")));
    }
}
