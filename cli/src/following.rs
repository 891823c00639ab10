//! A file that follows its sources: runs an index run after each burst of changes.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kb_engine::{Error, IndexOptions, KbWriter, Progress, Report};

use crate::failure::Failure;
use crate::remedy::remedy;
use crate::waiting::wait_for_writer;
use crate::watching::{Gathered, Watch};

/// How often folders are looked for that vanished or were replaced without a word.
const TICK: Duration = Duration::from_secs(2);

/// Until a run that failed is tried again, and a folder is looked at that came filled.
const AGAIN: Duration = Duration::from_secs(1);

/// As good as without a limit.
const PATIENCE: Duration = Duration::from_secs(86_400 * 365);

/// Who hears of what a follower does.
pub(crate) trait Listener {
    /// Whether the file is still to hold what the folders hold; asked before each run.
    fn is_wanted(&self) -> bool {
        true
    }

    /// How far a run is.
    fn progress(&mut self, _progress: Progress) {}

    /// A run came to its end, with or without changes.
    fn ended(&mut self) {}

    /// The file holds what the folders hold; told after the first run and when something changed.
    fn fresh(&mut self, report: &Report, is_first: bool) -> Result<(), Failure>;

    /// Another writer is waited for.
    fn waiting(&mut self, holder: &str);

    /// The file is no longer at its path. An error ends the following; otherwise it is looked for every
    /// second, and no new file is made.
    fn lost(&mut self, file: &Path) -> Result<(), Failure>;

    /// Something worth knowing that does not stop it.
    fn warning(&mut self, text: &str);

    /// Words for an error that ends it.
    fn explain(&self, error: Error) -> Failure;
}

/// Why nothing can be watched.
pub(crate) fn unwatchable(error: notify::Error) -> Failure {
    let hint = matches!(error.kind, notify::ErrorKind::MaxFilesWatch).then(|| {
        "raise fs.inotify.max_user_watches (`sysctl`), or watch smaller folders".to_owned()
    });
    Failure::new("IO", format!("cannot watch: {error}"), hint)
}

/// What became of one run.
enum Ran {
    /// The file holds what the folders hold.
    Fresh(Box<Report>),
    /// Nothing is there to look at.
    Nothing,
    /// It shall be tried again.
    Again,
    /// Somebody wants it to end.
    Stopped,
}

/// One file and what it follows.
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
    /// What was told last, so that it is told once.
    last_trouble: Option<String>,
}

impl<L: Listener> Follower<L> {
    /// Follows what `watch` watches. Setting `cancel` ends a run; an interrupt that `watch` hears ends
    /// the following.
    pub(crate) fn new(
        file: PathBuf,
        watch: Watch,
        options: IndexOptions,
        cancel: Arc<AtomicBool>,
        listener: L,
    ) -> Follower<L> {
        let options = IndexOptions {
            cancel: Some(Arc::clone(&cancel)),
            // The next change waits for the run to end.
            large_merges: false,
            ..options
        };
        Follower {
            file,
            watch,
            options,
            cancel,
            listener,
            has_run: false,
            has_file: false,
            last_trouble: None,
        }
    }

    /// Follows until it is interrupted.
    pub(crate) fn follow(&mut self) -> Result<(), Failure> {
        // Before the first look, so that nothing happens unseen between the two.
        self.watch.watch_places().map_err(unwatchable)?;
        let mut is_first = true;
        let mut is_due = true;
        let mut look_again = false;
        loop {
            if is_due {
                let ran = self.bring_up_to_date()?;
                self.listener.ended();
                match ran {
                    Ran::Fresh(report) => {
                        if is_first || report.has_changes() {
                            self.listener.fresh(&report, is_first)?;
                        }
                        is_first = false;
                    }
                    Ran::Nothing => {}
                    Ran::Again => look_again = true,
                    Ran::Stopped => return Ok(()),
                }
            }
            let gathered = self.watch.gather(if look_again { AGAIN } else { TICK });
            is_due = match gathered {
                Gathered::Interrupted => return Ok(()),
                Gathered::Idle => std::mem::take(&mut look_again) || self.is_lost(),
                Gathered::Burst(folders_came) => {
                    look_again = folders_came;
                    true
                }
            };
            is_due |= self.watch.watch_places().map_err(unwatchable)?;
            is_due |= self.any_came_back();
        }
    }

    /// Whether the file was moved or removed. One that is replaced by a rename never is for a moment.
    fn is_lost(&self) -> bool {
        self.has_file && matches!(self.file.try_exists(), Ok(false))
    }

    fn any_came_back(&self) -> bool {
        let mut places = self.watch.places.iter();
        places.any(|place| place.told_gone && place.is_there() && !is_empty(&place.folder))
    }

    /// One index run over all places that are there. Those of which nothing is left keep their
    /// documents.
    fn bring_up_to_date(&mut self) -> Result<Ran, Failure> {
        if self.is_lost() {
            self.listener.lost(&self.file)?;
            return Ok(Ran::Again);
        }
        if !self.listener.is_wanted() {
            return Ok(Ran::Nothing);
        }
        let mut vanished: Vec<PathBuf> = Vec::new();
        let mut refused: Vec<PathBuf> = Vec::new();
        // Each attempt but the last finds one more place that vanished or is refused.
        for _ in 0..=self.watch.places.len() {
            let mut paths = Vec::new();
            for place in &mut self.watch.places {
                if refused.contains(&place.given) {
                    continue;
                }
                if place.is_there() && !vanished.contains(&place.folder) {
                    paths.push(place.given.clone());
                } else if !place.told_gone {
                    place.told_gone = true;
                    self.listener.warning(&format!(
                        "no file is left in {}; its documents stay until it is back",
                        place.given.display()
                    ));
                }
            }
            if paths.is_empty() {
                return Ok(Ran::Nothing);
            }
            match self.index(&paths) {
                Ok(report) => {
                    for place in &mut self.watch.places {
                        place.told_gone &= !paths.contains(&place.given);
                    }
                    for similar in &report.similar_roots {
                        let told = crate::changes::similar_root(similar);
                        self.listener.warning(&format!(
                            "{told}; `kb index --root` can say that it is the same"
                        ));
                    }
                    self.last_trouble = None;
                    self.has_run = true;
                    self.has_file |= self.file.exists();
                    return Ok(Ran::Fresh(Box::new(report)));
                }
                Err(Error::Cancelled) => return Ok(Ran::Stopped),
                Err(Error::RootVanished { root, .. })
                    if self.is_place(&root) && !vanished.contains(&root) =>
                {
                    vanished.push(root);
                }
                // It became a link that leads elsewhere.
                Err(Error::PathNotAllowed { path }) if !refused.contains(&path) => {
                    let mut places = self.watch.places.iter_mut();
                    if let Some(place) = places.find(|place| place.given == path)
                        && !std::mem::replace(&mut place.told_gone, true)
                    {
                        self.listener.warning(&format!(
                            "a link leads from {} to another folder; its documents stay until it is back",
                            path.display()
                        ));
                    }
                    refused.push(path);
                }
                // It went between two looks: the file, or a folder.
                Err(Error::FileReplaced { is_gone: true, .. }) => {
                    self.listener.lost(&self.file)?;
                    return Ok(Ran::Again);
                }
                Err(Error::PathNotFound { path }) if self.has_file && path == self.file => {
                    self.listener.lost(&self.file)?;
                    return Ok(Ran::Again);
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
                    return Ok(Ran::Again);
                }
            }
        }
        Ok(Ran::Again)
    }

    fn is_place(&self, folder: &Path) -> bool {
        let mut places = self.watch.places.iter();
        places.any(|place| place.folder == folder)
    }

    fn warn_once(&mut self, error: &Error) {
        let text = match remedy(error, "kb watch", &self.file) {
            Some(remedy) => format!("{error}; {remedy}"),
            None => error.to_string(),
        };
        if self.last_trouble.as_ref() != Some(&text) {
            self.listener
                .warning(&format!("{text}; tried again every second"));
            self.last_trouble = Some(text);
        }
    }

    /// The writer lives as long as one run, so that others can write between two.
    fn index(&mut self, paths: &[PathBuf]) -> kb_engine::Result<Report> {
        let (file, options, has_file) = (&self.file, &self.options, self.has_file);
        let listener = std::cell::RefCell::new(&mut self.listener);
        wait_for_writer(
            PATIENCE,
            Some(&self.cancel),
            &mut |holder| listener.borrow_mut().waiting(holder),
            |wait| {
                let writer = match has_file {
                    true => KbWriter::open(file),
                    false => KbWriter::open_or_create(file),
                };
                let mut writer = writer?.lock_timeout(wait);
                writer.index(paths, options, &mut |progress| {
                    listener.borrow_mut().progress(progress);
                })
            },
        )
    }
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none())
}
