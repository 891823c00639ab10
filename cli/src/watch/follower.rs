//! Keeps one file up to date with its sources: an index run after each burst of changes.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use kb_engine::{Error, IndexOptions, KbWriter, Progress, Report};
use kb_json::{Front, advice};

use crate::failure::Failure;
use crate::watch::events::{WaitOutcome, Watch};
use crate::writer_wait::{stop_if, wait_for_writer};

/// How often to look for folders that vanished or were replaced without an event.
const TICK: Duration = Duration::from_secs(2);

/// Delay before a failed run is repeated, and before a folder that may have come filled is read again.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// How long to wait for another writer: in effect without a limit.
const WRITER_TIMEOUT: Duration = Duration::from_secs(86_400 * 365);

/// Receives what a follower does.
pub(crate) trait Listener {
    /// Whether to go on following; called before each run.
    fn is_wanted(&self) -> bool {
        true
    }

    /// Progress of a run.
    fn progress(&mut self, _progress: &Progress) {}

    /// Called after each run, with or without changes.
    fn run_ended(&mut self) {}

    /// The file matches its folders. Called after the first run, and after each run that changed something.
    fn up_to_date(&mut self, report: &Report, is_first: bool) -> Result<(), Failure>;

    /// Another writer, described by `holder`, has the file.
    fn waiting(&mut self, holder: &str);

    /// The file is no longer at its path. An error ends the following; otherwise it is looked for every
    /// second, and no new file is made.
    fn lost(&mut self, file: &Path) -> Result<(), Failure>;

    /// A problem that does not end the following.
    fn warning(&mut self, text: &str);

    /// Turns an error that ends the following into a message.
    fn explain(&self, error: Error) -> Failure;
}

/// The failure when the system cannot watch for another reason than that it watches too much already.
pub(crate) fn unwatchable(error: notify::Error) -> Failure {
    Failure::new("IO", format!("cannot watch: {error}"), None)
}

/// How an index run of a watched file ended, and so when the next one is due.
enum RunOutcome {
    /// The file matches its folders.
    UpToDate(Box<Report>),
    /// None of the watched paths exists, or nobody wants the run.
    NoSource,
    /// It failed and is to be repeated.
    Retry,
    /// It was cancelled.
    Cancelled,
}

/// One file and the paths that it follows.
pub(crate) struct Follower<L> {
    file: PathBuf,
    watch: Watch,
    options: IndexOptions,
    cancel: Arc<AtomicBool>,
    listener: L,
    /// Whether a run has come to an end: an error before is a mistake of the caller's.
    has_run: bool,
    /// Whether a run left a file behind: from then on none is made.
    has_file: bool,
    /// The last warning, so that it is given once.
    last_error: Option<String>,
    /// Empty folders that a warning named.
    reported_empty: Vec<PathBuf>,
}

impl<L: Listener> Follower<L> {
    /// Follows the paths of `watch`. Setting `cancel` ends a run; an interrupt of `watch` ends the
    /// following.
    pub(crate) fn new(
        file: PathBuf,
        watch: Watch,
        options: IndexOptions,
        cancel: Arc<AtomicBool>,
        listener: L,
    ) -> Follower<L> {
        // The next change waits for the run to end.
        let options = options.large_merges(false).symbols_later_bytes(u64::MAX);
        Follower {
            file,
            watch,
            options,
            cancel,
            listener,
            has_run: false,
            has_file: false,
            last_error: None,
            reported_empty: Vec::new(),
        }
    }

    /// Follows until it is interrupted.
    pub(crate) fn follow(&mut self) -> Result<(), Failure> {
        // Before the first run, so that no change between the two goes unseen.
        self.watch.watch_paths().map_err(unwatchable)?;
        let mut is_first = true;
        let mut is_due = true;
        let mut look_again = false;
        loop {
            if let Some(told) = self.watch.report_polling() {
                self.listener.warning(&told);
            }
            if is_due {
                let started = Instant::now();
                let outcome = self.run_index()?;
                self.watch.polled(started.elapsed());
                self.listener.run_ended();
                match outcome {
                    RunOutcome::UpToDate(report) => {
                        if is_first || report.has_changes() {
                            self.listener.up_to_date(&report, is_first)?;
                        }
                        is_first = false;
                    }
                    RunOutcome::NoSource => {}
                    RunOutcome::Retry => look_again = true,
                    RunOutcome::Cancelled => return Ok(()),
                }
            }
            let outcome = self.watch.wait(if look_again { RETRY_AFTER } else { TICK });
            is_due = match outcome {
                WaitOutcome::Interrupted => return Ok(()),
                WaitOutcome::Idle => std::mem::take(&mut look_again) || self.is_lost(),
                WaitOutcome::Burst(has_new_folders) => {
                    look_again = has_new_folders;
                    true
                }
            };
            is_due |= self.watch.is_poll_due();
            is_due |= self.watch.watch_paths().map_err(unwatchable)?;
            is_due |= self.any_is_back();
        }
    }

    /// Whether the file was moved or removed. A file that is replaced by a rename is always there.
    fn is_lost(&self) -> bool {
        self.has_file && matches!(self.file.try_exists(), Ok(false))
    }

    fn any_is_back(&self) -> bool {
        let mut watched = self.watch.watched.iter();
        watched.any(|path| path.reported_gone && path.is_there() && !is_empty(&path.folder))
    }

    /// One index run over all paths that exist. Documents of the others stay in the file.
    fn run_index(&mut self) -> Result<RunOutcome, Failure> {
        if self.is_lost() {
            self.listener.lost(&self.file)?;
            return Ok(RunOutcome::Retry);
        }
        if !self.listener.is_wanted() {
            return Ok(RunOutcome::NoSource);
        }
        let mut vanished: Vec<PathBuf> = Vec::new();
        let mut refused: Vec<PathBuf> = Vec::new();
        // Each attempt but the last excludes one more path that vanished or is refused.
        for _ in 0..=self.watch.watched.len() {
            let mut paths = Vec::new();
            for path in &mut self.watch.watched {
                if refused.contains(&path.given) {
                    continue;
                }
                if path.is_there() && !vanished.contains(&path.folder) {
                    paths.push(path.given.clone());
                } else if !path.reported_gone {
                    path.reported_gone = true;
                    self.listener.warning(&format!(
                        "no file is left in {}; its documents stay until it is back",
                        path.given.display()
                    ));
                }
            }
            if paths.is_empty() {
                return Ok(RunOutcome::NoSource);
            }
            match self.index(&paths) {
                Ok(report) => {
                    for path in &mut self.watch.watched {
                        path.reported_gone &= !paths.contains(&path.given);
                    }
                    for moved in &report.moved_roots {
                        let told = crate::output::changes::moved_root(moved);
                        self.listener.warning(&told);
                    }
                    self.warn_of_emptied(&report);
                    for similar in &report.similar_roots {
                        let told = crate::output::changes::similar_root(similar);
                        self.listener.warning(&format!(
                            "{told}; if it is the same folder, use `kb index --root`"
                        ));
                    }
                    self.last_error = None;
                    self.has_run = true;
                    self.has_file |= self.file.exists();
                    return Ok(RunOutcome::UpToDate(Box::new(report)));
                }
                Err(Error::Cancelled) => return Ok(RunOutcome::Cancelled),
                Err(Error::RootVanished { root, .. })
                    if self.is_watched(&root) && !vanished.contains(&root) =>
                {
                    vanished.push(root);
                }
                // The folder was replaced by a link to another one.
                Err(Error::PathNotAllowed { path }) if !refused.contains(&path) => {
                    let mut watched = self.watch.watched.iter_mut();
                    if let Some(moved) = watched.find(|watched| watched.given == path)
                        && !std::mem::replace(&mut moved.reported_gone, true)
                    {
                        self.listener.warning(&format!(
                            "{} is now a link to another folder; its documents stay until the folder is back",
                            path.display()
                        ));
                    }
                    refused.push(path);
                }
                // The file or a folder vanished during the run.
                Err(Error::FileReplaced { is_gone: true, .. }) => {
                    self.listener.lost(&self.file)?;
                    return Ok(RunOutcome::Retry);
                }
                Err(Error::PathNotFound { path }) if self.has_file && path == self.file => {
                    self.listener.lost(&self.file)?;
                    return Ok(RunOutcome::Retry);
                }
                Err(Error::PathNotFound { path }) if paths.contains(&path) => {}
                Err(
                    error @ (Error::NotAKb { .. }
                    | Error::FormatUnsupported { .. }
                    | Error::Damaged { .. }
                    | Error::EmbeddingModelUnavailable { .. }),
                ) => return Err(self.listener.explain(error)),
                Err(error) if !self.has_run => return Err(self.listener.explain(error)),
                Err(error) => {
                    self.warn_once(&error);
                    return Ok(RunOutcome::Retry);
                }
            }
        }
        Ok(RunOutcome::Retry)
    }

    /// Warns of each empty folder once, until it has files again.
    fn warn_of_emptied(&mut self, report: &Report) {
        let emptied = report.emptied_folders.iter();
        let emptied: Vec<PathBuf> = emptied.map(|emptied| emptied.folder.clone()).collect();
        for folder in &report.emptied_folders {
            if !self.reported_empty.contains(&folder.folder) {
                let told = crate::output::changes::emptied_folder(folder);
                self.listener.warning(&format!(
                    "{told}; if it is a disk that is not mounted, mount it; `kb index --prune` removes its documents"
                ));
            }
        }
        self.reported_empty = emptied;
    }

    fn is_watched(&self, folder: &Path) -> bool {
        let mut watched = self.watch.watched.iter();
        watched.any(|path| path.folder == folder)
    }

    fn warn_once(&mut self, error: &Error) {
        let front = Front::CommandLine {
            command: "kb watch",
            file: &self.file,
        };
        let text = match advice(error, front) {
            Some(advice) => format!("{error}; {advice}"),
            None => error.to_string(),
        };
        if self.last_error.as_ref() != Some(&text) {
            self.listener
                .warning(&format!("{text}; retrying every second"));
            self.last_error = Some(text);
        }
    }

    /// The writer lives as long as one run, so that others can write between two.
    fn index(&mut self, paths: &[PathBuf]) -> kb_engine::Result<Report> {
        let (file, options, has_file) = (&self.file, &self.options, self.has_file);
        let cancel = &self.cancel;
        let listener = std::cell::RefCell::new(&mut self.listener);
        wait_for_writer(
            WRITER_TIMEOUT,
            Some(cancel),
            &mut |holder| listener.borrow_mut().waiting(holder),
            |wait| {
                let writer = if has_file {
                    KbWriter::open(file)
                } else {
                    KbWriter::open_or_create(file)
                };
                let mut writer = writer?.lock_timeout(wait);
                writer.index(paths, options, &mut |progress| {
                    listener.borrow_mut().progress(progress);
                    stop_if(cancel)
                })
            },
        )
    }
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none())
}
