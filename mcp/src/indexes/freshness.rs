//! Whether an index is up to date with its sources. They are compared on a thread of its own, so that no
//! request waits for a disk.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use kb_engine::{IndexOptions, Kb, Progress};

/// Days after which an index counts as stale, even if its sources have not changed.
const OLD_DAYS: f64 = 7.0;

/// How long a comparison stays valid.
const RECHECK_INTERVAL: Duration = Duration::from_secs(30);

/// How long a comparison may take. The folders are named by the file, which may be anybody's and name a
/// whole disk.
const CHECK_TIMEOUT: Duration = Duration::from_secs(5);

/// How long to wait after a comparison that took too long.
const RETRY_INTERVAL: Duration = Duration::from_secs(600);

/// How far an index is behind its sources.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Stale {
    /// Days since its content last changed.
    pub(crate) age_days: f64,
    /// Files that differ from it; `None` if its sources are not on this machine, or were not compared
    /// yet.
    pub(crate) changed: Option<u64>,
}

/// The last comparison of one index.
#[derive(Debug, Default)]
pub(super) struct Freshness {
    last: Arc<Mutex<Comparison>>,
}

#[derive(Debug, Default)]
struct Comparison {
    /// Whether a thread compares right now.
    is_running: bool,
    /// When the next one is due.
    next: Option<Instant>,
    /// Files that differed, and the commit that they were compared with.
    changed: Option<(u64, u64)>,
}

impl Freshness {
    /// The result of the last comparison, if it was of this commit. Starts the next one if it is due.
    pub(super) fn check(&self, kb: &Kb, path: &Path) -> Option<Stale> {
        let state = kb.state().ok()?;
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = last.next.is_none_or(|next| Instant::now() >= next);
        if is_due && !last.is_running {
            let (last_result, path) = (Arc::clone(&self.last), path.to_path_buf());
            let thread = thread::Builder::new().name("kb-freshness".to_owned());
            // Without a thread there is no comparison; the request does not fail for that.
            last.is_running = thread.spawn(move || compare(&last_result, &path)).is_ok();
        }
        let of_this_commit = last.changed.filter(|(_, commit)| *commit == state.commit);
        let changed = of_this_commit.map(|(changed, _)| changed);
        let age_days = age_days(state.updated_ms);
        let is_stale = age_days > OLD_DAYS || changed.is_some_and(|changed| changed > 0);
        is_stale.then_some(Stale { age_days, changed })
    }
}

/// Compares the file at `path` with its sources.
fn compare(last: &Mutex<Comparison>, path: &Path) {
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
    let changed = timer.ok().and_then(|_| changed_files(path, &cancel));
    drop(done);
    let interval = if cancel.load(Ordering::Relaxed) {
        RETRY_INTERVAL
    } else {
        RECHECK_INTERVAL
    };
    let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
    *last = Comparison {
        is_running: false,
        next: Some(Instant::now() + interval),
        changed,
    };
}

/// How many files an index run would add, update or remove, and the commit that was compared. `None` if
/// no source is on this machine, or the comparison takes too long.
fn changed_files(path: &Path, cancel: &AtomicBool) -> Option<(u64, u64)> {
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
    let changed = report.added.len() + report.updated.len() + report.removed.len();
    Some((changed as u64, commit))
}

fn age_days(updated_ms: i64) -> f64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now_ms = now.map_or(0, |now| i64::try_from(now.as_millis()).unwrap_or(i64::MAX));
    // The clock may have been set back since.
    let age_ms = now_ms.saturating_sub(updated_ms).max(0);
    age_ms as f64 / 86_400_000.0
}
