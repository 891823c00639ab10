//! Whether an index is what its sources are now. Sources are looked at by a thread of its own after a
//! request asked, so that no request waits for a disk.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use kb_engine::{IndexOptions, Kb};

/// Days after which an index counts as old, whatever its sources say.
const OLD_DAYS: f64 = 7.0;

/// How long what was found is believed before the next look.
const BELIEVED: Duration = Duration::from_secs(30);

/// How long a look may take. Which folders are looked at stands in the file, and whoever wrote that may
/// name a whole disk.
const LOOK_LIMIT: Duration = Duration::from_secs(5);

/// How long nobody looks again after a look that took too long.
const PAUSE: Duration = Duration::from_secs(600);

/// What is known of an index that is out of date.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Stale {
    /// Days since its content changed last.
    pub(crate) age_days: f64,
    /// Files that differ from it now; `None` where its sources are not on this machine, or were not
    /// looked at yet.
    pub(crate) changed: Option<u64>,
}

/// What the last look found.
#[derive(Debug, Default)]
pub(super) struct Freshness {
    last: Arc<Mutex<Look>>,
}

#[derive(Debug, Default)]
struct Look {
    /// Whether a thread looks right now.
    is_under_way: bool,
    /// When there may be another one.
    next: Option<Instant>,
    /// Files that differed, and the commit they were compared with.
    changed: Option<(u64, u64)>,
}

impl Freshness {
    /// What is known now. Sees to it that more is known later.
    pub(super) fn check(&self, kb: &Kb, path: &Path) -> Option<Stale> {
        let state = kb.state().ok()?;
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = last.next.is_none_or(|next| Instant::now() >= next);
        if is_due && !last.is_under_way {
            let (found, path) = (Arc::clone(&self.last), path.to_path_buf());
            let looking = thread::Builder::new().name("kb-freshness".to_owned());
            // Without a thread nothing is known of the sources, which is no failure of the request.
            last.is_under_way = looking.spawn(move || look(&found, &path)).is_ok();
        }
        let of_this_commit = last.changed.filter(|(_, commit)| *commit == state.commit);
        let changed = of_this_commit.map(|(changed, _)| changed);
        let age_days = age_days(state.updated_ms);
        let is_stale = age_days > OLD_DAYS || changed.is_some_and(|changed| changed > 0);
        is_stale.then_some(Stale { age_days, changed })
    }
}

/// One look at the sources of the file at `path`.
fn look(last: &Mutex<Look>, path: &Path) {
    let cancel = Arc::new(AtomicBool::new(false));
    let (done, waits) = mpsc::channel::<()>();
    let stop = Arc::clone(&cancel);
    let guard = thread::Builder::new().name("kb-freshness-limit".to_owned());
    let guarded = guard.spawn(move || {
        // The other end goes when the look has ended.
        if waits.recv_timeout(LOOK_LIMIT) == Err(RecvTimeoutError::Timeout) {
            stop.store(true, Ordering::Relaxed);
        }
    });
    let changed = guarded.ok().and_then(|_| changed_files(path, &cancel));
    drop(done);
    let believed = match cancel.load(Ordering::Relaxed) {
        true => PAUSE,
        false => BELIEVED,
    };
    let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
    *last = Look {
        is_under_way: false,
        next: Some(Instant::now() + believed),
        changed,
    };
}

/// How many files would be added, read again or removed, and which commit was compared; `None` where
/// no source is on this machine, or it cannot be compared in time.
fn changed_files(path: &Path, cancel: &Arc<AtomicBool>) -> Option<(u64, u64)> {
    let kb = Kb::open(path).ok()?;
    let commit = kb.state().ok()?.commit;
    let mut paths: Vec<PathBuf> = Vec::new();
    for root in kb.roots().ok()? {
        let folder = PathBuf::from(&root.source);
        // Nobody indexes a whole disk, or a share of another machine without being asked to.
        let is_of_here = folder.parent().is_some() && !root.source.starts_with(r"\\");
        if !is_of_here || !folder.is_dir() {
            continue;
        }
        match root.files.as_slice() {
            [] => paths.push(folder),
            files => {
                let there = files.iter().map(|file| folder.join(file));
                paths.extend(there.filter(|file| file.exists()));
            }
        }
    }
    if paths.is_empty() {
        return None;
    }
    let options = IndexOptions {
        threads: 1,
        cancel: Some(Arc::clone(cancel)),
        ..IndexOptions::default()
    };
    let report = kb.check_sources(&paths, &options).ok()?;
    if !report.similar_roots.is_empty() {
        // A folder that only has the name of one that a sealed file was made from.
        return None;
    }
    let changed = report.added.len() + report.updated.len() + report.removed.len();
    Some((changed as u64, commit))
}

fn age_days(updated_ms: i64) -> f64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now_ms = now.map_or(0, |now| i64::try_from(now.as_millis()).unwrap_or(i64::MAX));
    // A clock that was set back makes nothing old.
    let age_ms = now_ms.saturating_sub(updated_ms).max(0);
    age_ms as f64 / 86_400_000.0
}
