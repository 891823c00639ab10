//! Checks whether an index is up to date with its sources. A separate thread compares all sources once the file is
//! opened; the first result waits for it briefly. In addition, each result checks the source files of its own documents.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use kb_engine::{DocumentInfo, IndexOptions, Kb, Progress, Report, SourceState};

/// Days after which an index counts as stale, even if its sources have not changed.
const OLD_DAYS: f64 = 7.0;

/// How long a comparison stays valid: twenty times what it took, between these. It costs at most one
/// twentieth of a core, and only while answers are asked for.
const SHORTEST_INTERVAL: Duration = Duration::from_secs(2);
const LONGEST_INTERVAL: Duration = Duration::from_secs(30);

/// Where nothing was found, the sources are compared again, but not within this many times what the last
/// comparison took: at most a fifth of a core.
const PAUSE_FACTOR: u32 = 4;

/// How long the first answer waits for the first comparison, which takes 65 ms of processor time for 2 800
/// unchanged files; a busy or slow disk may take much longer.
const FIRST_WAIT: Duration = Duration::from_secs(1);

/// How long a comparison may take. The folders are named by the file, which may be anybody's and name a
/// whole disk.
const CHECK_TIMEOUT: Duration = Duration::from_secs(5);

/// How long an answer waits for a look at the originals of its documents.
const LOOK_TIMEOUT: Duration = Duration::from_millis(100);

/// How long to wait after a disk that took too long.
const RETRY_INTERVAL: Duration = Duration::from_secs(600);

/// Names of files that are kept of a comparison.
const NAMES_LIMIT: usize = 50;

/// How far an index is behind its sources.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Stale {
    /// Days since its content last changed.
    pub(crate) age_days: f64,
    /// Files that differ from it; `None` if its sources are not on this machine, or were not compared
    /// yet.
    pub(crate) changes: Option<Changes>,
}

/// What an index run would change.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Changes {
    /// Files that are not indexed.
    pub(crate) added: u64,
    /// Documents whose files have other content.
    pub(crate) updated: u64,
    /// Documents whose files are gone.
    pub(crate) removed: u64,
    /// The first of these documents. New files are not named: who made the file may have named any folder of
    /// this machine in it, and who reads it is not to learn what lies there.
    pub(crate) names: Vec<String>,
}

impl Changes {
    /// All of them.
    pub(crate) fn count(&self) -> u64 {
        self.added + self.updated + self.removed
    }

    fn of(report: &Report) -> Changes {
        let names = report.updated.iter().chain(&report.removed);
        let names = names.take(NAMES_LIMIT);
        Changes {
            added: report.added.len() as u64,
            updated: report.updated.len() as u64,
            removed: report.removed.len() as u64,
            names: names.cloned().collect(),
        }
    }
}

/// The comparisons of one index.
#[derive(Debug, Default)]
pub(super) struct Freshness {
    shared: Arc<Shared>,
    /// When the originals of documents are looked at again, after a disk that did not answer.
    looks_again: Mutex<Option<Instant>>,
}

#[derive(Debug, Default)]
struct Shared {
    last: Mutex<Comparison>,
    /// Notified when a comparison ends.
    ended: Condvar,
}

#[derive(Debug, Default)]
struct Comparison {
    /// Whether a thread compares right now.
    is_running: bool,
    /// Whether one has ended, or an answer has waited for the first one.
    is_awaited: bool,
    /// When the next one is due.
    next: Option<Instant>,
    /// Before that, none is started for an answer that found nothing.
    pause: Option<Instant>,
    /// How many have begun.
    started: u64,
    /// Whether the last one took longer than an answer may wait.
    is_slow: bool,
    /// What differed, and the commit that it was compared with.
    changes: Option<(Changes, u64)>,
}

impl Comparison {
    /// What it says of the commit that `kb` has now.
    fn result(&self, kb: &Kb) -> Stale {
        let state = kb.state().ok();
        let commit = state.as_ref().map(|state| state.commit);
        let of_this_commit = self.changes.as_ref();
        let of_this_commit = of_this_commit.filter(|(_, compared)| Some(*compared) == commit);
        Stale {
            age_days: state.map_or(0.0, |state| age_days(state.updated_ms)),
            changes: of_this_commit.map(|(changes, _)| changes.clone()),
        }
    }
}

impl Shared {
    fn last(&self) -> MutexGuard<'_, Comparison> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Freshness {
    /// Starts the next comparison if it is due.
    pub(super) fn start(&self, path: &Path) {
        let mut last = self.shared.last();
        let is_due = last.next.is_none_or(|next| Instant::now() >= next);
        if is_due && !last.is_running {
            self.begin(&mut last, path);
        }
    }

    fn begin(&self, last: &mut Comparison, path: &Path) {
        let (shared, path) = (Arc::clone(&self.shared), path.to_path_buf());
        let thread = thread::Builder::new().name("kb-freshness".to_owned());
        // Without a thread there is no comparison; the request does not fail for that.
        last.is_running = thread.spawn(move || compare(&shared, &path)).is_ok();
        last.started += 1;
    }

    /// The result of the last comparison, if it was of this commit. Starts the next one if it is due, and
    /// waits for the first one, once, for [`FIRST_WAIT`] at most.
    pub(super) fn check(&self, kb: &Kb, path: &Path) -> Stale {
        self.start(path);
        let mut last = self.shared.last();
        if !last.is_awaited {
            last.is_awaited = true;
            let is_first = |last: &mut Comparison| last.is_running;
            let waited = self
                .shared
                .ended
                .wait_timeout_while(last, FIRST_WAIT, is_first);
            last = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        last.result(kb)
    }

    /// As [`Freshness::check`], for an answer that found nothing: of a comparison that began after the call,
    /// where that ends within [`FIRST_WAIT`].
    pub(super) fn check_again(&self, kb: &Kb, path: &Path) -> Stale {
        let deadline = Instant::now() + FIRST_WAIT;
        let mut last = self.shared.last();
        if last.is_slow {
            drop(last);
            return self.check(kb, path);
        }
        // One that is running may have passed the file that changed.
        let wanted = last.started + 1;
        loop {
            let now = Instant::now();
            let mut until = deadline;
            if !last.is_running {
                if last.started >= wanted {
                    break;
                }
                match last.pause.filter(|pause| *pause > now) {
                    Some(pause) => until = pause.min(deadline),
                    None => self.begin(&mut last, path),
                }
            }
            let left = until.saturating_duration_since(now);
            if left.is_zero() {
                break;
            }
            let waited = self.shared.ended.wait_timeout(last, left);
            last = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        last.is_awaited = true;
        last.result(kb)
    }

    /// Whether a look at originals makes sense now.
    pub(super) fn may_look(&self) -> bool {
        let again = self.looks_again();
        again.is_none_or(|again| Instant::now() >= again)
    }

    /// Keeps from looking for a while: the disk did not answer.
    pub(super) fn look_failed(&self) {
        *self.looks_again() = Some(Instant::now() + RETRY_INTERVAL);
    }

    fn looks_again(&self) -> MutexGuard<'_, Option<Instant>> {
        self.looks_again
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the original of a document is as it was when it was indexed.
    pub(super) fn look(&self, kb: &Kb, document: &DocumentInfo) -> SourceState {
        if !self.may_look() {
            return SourceState::Unknown;
        }
        let Ok(check) = kb.source_check(&[document.path.as_str()]) else {
            return SourceState::Unknown;
        };
        match check.run_within(LOOK_TIMEOUT).as_deref() {
            Some([state]) => *state,
            Some(_) => SourceState::Unknown,
            None => {
                self.look_failed();
                SourceState::Unknown
            }
        }
    }
}

impl Stale {
    /// Whether it is old, or its sources are known to be different.
    pub(crate) fn is_stale(&self) -> bool {
        match &self.changes {
            Some(changes) => changes.count() > 0,
            None => self.is_old(),
        }
    }

    /// Whether it was indexed more than seven days ago.
    pub(crate) fn is_old(&self) -> bool {
        self.age_days > OLD_DAYS
    }
}

/// Looks at the originals of all hits.
pub(super) fn look_at(files: &[&Kb], hits: &mut [kb_engine::Hit]) -> bool {
    // An unreadable file is reported by whoever reads it.
    kb_engine::check_hits(files, hits, LOOK_TIMEOUT).unwrap_or(true)
}

/// Compares the file at `path` with its sources.
fn compare(shared: &Shared, path: &Path) {
    let started = Instant::now();
    let cancel = Arc::new(AtomicBool::new(false));
    let (done, waits) = mpsc::channel::<()>();
    let stop = Arc::clone(&cancel);
    let timer = thread::Builder::new().name("kb-freshness-timer".to_owned());
    let timer = timer.spawn(move || {
        // The sender is dropped when the comparison has ended.
        if waits.recv_timeout(CHECK_TIMEOUT) == Err(RecvTimeoutError::Timeout) {
            stop.store(true, Ordering::Relaxed);
        }
    });
    let changes = timer.ok().and_then(|_| changed_files(path, &cancel));
    drop(done);
    let took = started.elapsed();
    let interval = if cancel.load(Ordering::Relaxed) {
        RETRY_INTERVAL
    } else {
        let interval = took.saturating_mul(20);
        interval.clamp(SHORTEST_INTERVAL, LONGEST_INTERVAL)
    };
    let now = Instant::now();
    let mut last = shared.last();
    *last = Comparison {
        is_running: false,
        is_awaited: true,
        next: Some(now + interval),
        pause: Some(now + took.saturating_mul(PAUSE_FACTOR)),
        started: last.started,
        is_slow: took > FIRST_WAIT,
        changes,
    };
    drop(last);
    shared.ended.notify_all();
}

/// What an index run would change, and the commit that was compared. `None` if no source is on this
/// machine, or the comparison takes too long.
fn changed_files(path: &Path, cancel: &AtomicBool) -> Option<(Changes, u64)> {
    let kb = Kb::open(path).ok()?;
    let commit = kb.state().ok()?.commit;
    let mut paths: Vec<PathBuf> = Vec::new();
    for root in kb.roots().ok()? {
        let folder = PathBuf::from(&root.source);
        // Reading a whole disk, or a share of another machine, is too much for a status.
        let is_local = folder.parent().is_some() && !root.source.starts_with(r"\\");
        if !is_local || !folder.is_dir() {
            continue;
        }
        match root.files.as_slice() {
            [] => paths.push(folder),
            files => {
                let existing = files.iter().map(|file| folder.join(file));
                paths.extend(existing.filter(|file| file.exists()));
            }
        }
    }
    if paths.is_empty() {
        return None;
    }
    let options = IndexOptions::new().threads(1);
    let mut hook = |_: &Progress| {
        if cancel.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let report = kb.check_sources(&paths, &options, &mut hook).ok()?;
    if !report.similar_roots.is_empty() {
        // A folder with the name of a source of a sealed file, which need not be that source.
        return None;
    }
    Some((Changes::of(&report), commit))
}

fn age_days(updated_ms: i64) -> f64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now_ms = now.map_or(0, |now| i64::try_from(now.as_millis()).unwrap_or(i64::MAX));
    // The clock may have been set back since.
    let age_ms = now_ms.saturating_sub(updated_ms).max(0);
    age_ms as f64 / 86_400_000.0
}
