//! Groups file system events into bursts of changes that matter to a .kb file.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use notify::event::{EventKind, ModifyKind, RenameMode};
use notify::{Config, ErrorKind, RecommendedWatcher, RecursiveMode, Watcher};

use crate::target::is_built_for;

/// A burst ends after this long without an event.
const QUIET: Duration = Duration::from_millis(100);

/// The longest burst.
const LONGEST: Duration = Duration::from_secs(1);

/// How often a folder that the system cannot watch is read again: so many times what the last reading took, between
/// these, so that it costs at most one twentieth of a core.
const POLL_FACTOR: u32 = 20;
const SHORTEST_POLL: Duration = Duration::from_secs(2);
const LONGEST_POLL: Duration = Duration::from_secs(60);

/// Files of git that matter: rules of what is left out, and what it writes at a commit or checkout.
const RULES: [&str; 2] = [".git/info/exclude", ".git/logs/HEAD"];

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
        // Other hidden files may be tracked by git, or asked for.
        let is_repository =
            |name: &OsStr| matches!(name.to_str(), Some(".git" | ".jj" | ".hg" | ".svn"));
        let is_rule = RULES.iter().any(|rule| relative.ends_with(rule));
        is_rule || !relative.iter().any(is_repository)
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
    /// `None`: the system has no more watchers, and all folders are polled.
    watcher: Option<RecommendedWatcher>,
    /// Why folders are polled; `None` while all are watched.
    polls_because: Option<String>,
    /// Whether that was reported.
    reported_polling: bool,
    /// When the polled folders are read again.
    next_poll: Option<Instant>,
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
        let (watcher, polls_because) = match RecommendedWatcher::new(send, config) {
            Ok(watcher) => (Some(watcher), None),
            Err(error) => (None, Some(exhausted(&error).ok_or(error)?)),
        };
        Ok(Watch {
            watcher,
            polls_because,
            reported_polling: false,
            next_poll: None,
            signals,
            watched,
            target: without_links(target),
        })
    }

    /// Why folders are read again and again instead of being watched; `Some` once.
    pub(crate) fn report_polling(&mut self) -> Option<String> {
        let because = self.polls_because.as_ref()?;
        let is_news = !std::mem::replace(&mut self.reported_polling, true);
        is_news.then(|| {
            format!(
                "some folders cannot be watched: {because}; they are scanned every {} to {} s instead",
                SHORTEST_POLL.as_secs(),
                LONGEST_POLL.as_secs()
            )
        })
    }

    /// Whether polled folders are to be read again now.
    pub(crate) fn is_poll_due(&self) -> bool {
        let is_due = |next: Instant| Instant::now() >= next;
        self.polls_because.is_some() && self.next_poll.is_none_or(is_due)
    }

    /// Tells how long the last reading of the folders took.
    pub(crate) fn polled(&mut self, took: Duration) {
        let pause = took.saturating_mul(POLL_FACTOR);
        self.next_poll = Some(Instant::now() + pause.clamp(SHORTEST_POLL, LONGEST_POLL));
    }

    /// Watches every path that is there and not yet watched; a folder that was replaced is watched
    /// anew. True when one was.
    ///
    /// Where no more folders can be watched, what is watched stays so, and the rest is polled.
    ///
    /// # Errors
    /// Other errors of the system's watcher.
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
                if let Some(watcher) = &mut self.watcher {
                    let _ = watcher.unwatch(&path.folder);
                }
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
                let watched = self.watcher.as_mut().map(|it| it.watch(&path.folder, mode));
                match watched.unwrap_or(Ok(())) {
                    Ok(()) => {}
                    // It vanished meanwhile.
                    Err(_) if !path.folder.exists() => continue,
                    Err(error) => match exhausted(&error) {
                        Some(because) => self.polls_because = Some(because),
                        None => return Err(error),
                    },
                }
            }
            path.identity = now;
            any = true;
        }
        Ok(any)
    }

    /// Waits for a burst to begin, `idle` at most, and for its end.
    pub(crate) fn wait(&mut self, idle: Duration) -> WaitOutcome {
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
                    if let Err(error) = &event
                        && let Some(because) = exhausted(error)
                    {
                        // A folder came that cannot be watched.
                        self.polls_because = Some(because);
                    }
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

/// What the system has no more of, where that is why it cannot watch.
fn exhausted(error: &notify::Error) -> Option<String> {
    // EMFILE and ENFILE, which inotify gives for too many watchers too.
    const TOO_MANY_OPEN: [i32; 2] = [24, 23];
    match &error.kind {
        ErrorKind::MaxFilesWatch => Some(
            "the system watches no more folders (fs.inotify.max_user_watches, `sysctl`)".to_owned(),
        ),
        ErrorKind::Io(error) if error.raw_os_error().is_some_and(|code| TOO_MANY_OPEN.contains(&code)) => Some(
            "the system has no more watchers (fs.inotify.max_user_instances, `sysctl`, or `ulimit -n`)".to_owned(),
        ),
        _ => None,
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
    fn files_of_git_are_no_news_but_those_that_hold_rules_are() {
        let folder = path(None);
        let concerns = |path: &str| folder.concerns(Path::new(path));
        for news in [
            "/a/.b",
            "/a/.b/c.md",
            "/a/.b/c/d",
            "/a/.b/.gitignore",
            "/a/.b/c/.kbignore",
            "/a/.b/.git/logs/HEAD",
            "/a/.b/c/.d/e",
        ] {
            assert!(concerns(news), "{news}");
        }
        for noise in ["/a", "/a/c", "/a/.b/.git/index", "/a/.b/c/.git/HEAD"] {
            assert!(!concerns(noise), "{noise}");
        }
    }

    /// A system without inotify watches left answers so.
    #[test]
    fn folders_that_cannot_be_watched_are_polled() {
        use std::sync::mpsc;
        let folder = tempfile::tempdir().unwrap();
        let (sender, signals) = mpsc::channel();
        let paths = vec![WatchedPath::new(folder.path()).unwrap()];
        let target = folder.path().join("a.kb");
        let mut watch = Watch::new(paths, &target, sender.clone(), signals).unwrap();
        assert!(!watch.is_poll_due() && watch.report_polling().is_none());
        let full = notify::Error::new(ErrorKind::MaxFilesWatch);
        sender.send(Signal::Event(Err(full))).unwrap();
        assert_eq!(watch.wait(QUIET), WaitOutcome::Burst(true));
        assert!(watch.is_poll_due());
        let told = watch.report_polling().unwrap();
        assert!(told.contains("max_user_watches"), "{told}");
        assert!(watch.report_polling().is_none(), "reported twice");
        watch.polled(Duration::from_millis(1));
        assert!(!watch.is_poll_due());
        let other = std::io::Error::from_raw_os_error(24);
        let told = exhausted(&notify::Error::io(other)).unwrap();
        assert!(told.contains("max_user_instances"), "{told}");
        assert!(exhausted(&notify::Error::path_not_found()).is_none());
    }

    #[test]
    fn of_the_folder_around_a_watched_file_only_the_file_is_news() {
        let file = path(Some("/a/.b/c.md"));
        assert!(file.concerns(Path::new("/a/.b/c.md")));
        assert!(!file.concerns(Path::new("/a/.b/d.md")));
    }
}
