//! Folders are listed by several threads before the walk comes to them, the next ones first.
//!
//! At most [`MAX_AHEAD_ENTRIES`] entries are listed and not yet walked over, and one folder more for each thread.
//! The walk lists a folder itself that no thread has taken, so it never waits for room. It begins alone:
//! a tree whose entries are in memory is walked over before threads are of use.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::ingest::walk::listing::Listing;
use crate::progress::{INTERVAL, Reporter};

/// Most entries that threads may read ahead of the walk.
// About 4 MB. One folder of a million names must not fill the memory.
const MAX_AHEAD_ENTRIES: usize = 32 << 10;

/// Most threads that read folders ahead.
// More threads wait for the same disk.
const MAX_THREADS: usize = 12;

/// How long the walk reads alone before threads help. Zero in tests, so that they meet the threads.
// 466 folders whose entries are in memory take 5 to 10 ms alone, and 12 to 30 ms with threads,
// which wake each other.
const PREFETCH_DELAY: Duration = Duration::from_millis(if cfg!(test) { 0 } else { 20 });

/// Threads that list ahead.
#[derive(Debug)]
pub(super) struct Prefetcher {
    shared: Arc<Shared>,
    threads: usize,
    running: Vec<JoinHandle<()>>,
    /// When the first of them is started.
    start_at: Instant,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    /// There are folders to be listed, or there is room for them.
    can_work: Condvar,
    /// What the walk waits for is listed.
    is_listed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// The next folders of each listing that has some.
    next: BinaryHeap<Reverse<Next>>,
    /// Listed and waited for, by the listing that they are of and their first entry.
    ready: HashMap<Key, Listing>,
    /// Entries of those.
    ahead: usize,
    /// Threads that wait. Nobody is woken, which is a system call, where nobody waits.
    idle: usize,
    /// What the walk waits for.
    awaited: Option<Key>,
    is_stopped: bool,
}

/// A listing and the first entry of some of its folders.
type Key = (usize, usize);

/// Folders of a listing that nobody has taken, first those that the walk needs first.
#[derive(Debug)]
struct Next {
    /// Their document path.
    path: String,
    listing: Arc<Listing>,
    folders: Range<usize>,
}

impl PartialEq for Next {
    fn eq(&self, other: &Next) -> bool {
        self.path == other.path
    }
}

impl Eq for Next {}

impl PartialOrd for Next {
    fn partial_cmp(&self, other: &Next) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Next {
    fn cmp(&self, other: &Next) -> std::cmp::Ordering {
        self.path.cmp(&other.path)
    }
}

impl State {
    /// Whether a thread may take folders.
    fn has_work(&self) -> bool {
        self.ahead < MAX_AHEAD_ENTRIES && !self.next.is_empty()
    }

    /// Lets the folders of a listing from entry `from` on be taken.
    fn offer(&mut self, listing: &Arc<Listing>, from: usize) {
        if let Some(folders) = listing.next_folders(from) {
            self.next.push(Reverse(Next {
                path: listing.path_of(&folders),
                listing: Arc::clone(listing),
                folders,
            }));
        }
    }

    /// Takes the folders that the walk needs first.
    fn take(&mut self) -> Option<Next> {
        while let Some(Reverse(next)) = self.next.pop() {
            let claimed = next.listing.claimed.load(Ordering::Relaxed);
            if next.folders.start < claimed {
                // The walk was faster.
                self.offer(&next.listing, claimed);
                continue;
            }
            next.listing
                .claimed
                .store(next.folders.end, Ordering::Relaxed);
            self.offer(&next.listing, next.folders.end);
            return Some(next);
        }
        None
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes a thread if there is work for one that waits.
    fn wake_one(&self, state: &State) {
        if state.idle > 0 && state.has_work() {
            self.can_work.notify_one();
        }
    }

    fn work(&self) {
        let mut state = self.lock();
        loop {
            if state.is_stopped {
                return;
            }
            let next = if state.has_work() { state.take() } else { None };
            let Some(next) = next else {
                state.idle += 1;
                state = wait(&self.can_work, state);
                state.idle -= 1;
                continue;
            };
            self.wake_one(&state);
            drop(state);
            let Next {
                listing, folders, ..
            } = next;
            let listed = catch_unwind(AssertUnwindSafe(|| listing.read_below(&folders, &|| ())));
            let listed = listed.unwrap_or_else(|_| {
                let reason = "listing failed inside; please report this folder";
                Listing::failed(&listing.context, listing.path_of(&folders), reason)
            });
            state = self.lock();
            state.ahead += listed.len();
            let key = key(&listing, &folders);
            state.ready.insert(key, listed);
            if state.awaited == Some(key) {
                self.is_listed.notify_one();
            }
        }
    }
}

fn wait<'s>(condition: &Condvar, state: MutexGuard<'s, State>) -> MutexGuard<'s, State> {
    condition
        .wait(state)
        .unwrap_or_else(PoisonError::into_inner)
}

/// A listing lives as long as something of it may be asked for.
fn key(listing: &Arc<Listing>, folders: &Range<usize>) -> Key {
    (Arc::as_ptr(listing).addr(), folders.start)
}

impl Prefetcher {
    /// With so many threads, 0: one for each core. With one the walk lists every folder itself.
    pub(super) fn new(threads: usize) -> Prefetcher {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        Prefetcher {
            shared: Arc::default(),
            threads: match threads {
                0 => cores().min(MAX_THREADS),
                threads => threads.min(MAX_THREADS),
            },
            running: Vec::new(),
            start_at: Instant::now() + PREFETCH_DELAY,
        }
    }

    /// Lets the folders of a listing be listed ahead.
    pub(super) fn offer(&mut self, listing: &Arc<Listing>) {
        if self.threads < 2 || listing.next_folders(0).is_none() {
            return;
        }
        let mut state = self.shared.lock();
        state.offer(listing, 0);
        self.shared.wake_one(&state);
        drop(state);
        if Instant::now() < self.start_at {
            return;
        }
        while self.running.len() < self.threads {
            let shared = Arc::clone(&self.shared);
            let thread = std::thread::Builder::new().name("kb-walk".to_owned());
            match thread.spawn(move || shared.work()) {
                Ok(thread) => self.running.push(thread),
                // With fewer it takes longer.
                Err(_) => self.threads = self.running.len(),
            }
        }
    }

    /// The listing of folders of `listing`, which the walk needs now.
    pub(super) fn get(
        &mut self,
        listing: &Arc<Listing>,
        folders: &Range<usize>,
        reporter: &Reporter<'_>,
    ) -> Listing {
        // Whether to end is asked by the walk itself, and by who lists.
        let tick = || drop(reporter.tick());
        if self.threads < 2 && self.running.is_empty() {
            return listing.read_below(folders, &tick);
        }
        let mut state = self.shared.lock();
        loop {
            if let Some(listed) = state.ready.remove(&key(listing, folders)) {
                state.ahead -= listed.len();
                self.shared.wake_one(&state);
                return listed;
            }
            if listing.claimed.load(Ordering::Relaxed) <= folders.start {
                listing.claimed.store(folders.end, Ordering::Relaxed);
                drop(state);
                return listing.read_below(folders, &tick);
            }
            state.awaited = Some(key(listing, folders));
            let (mut woken, timeout) = self
                .shared
                .is_listed
                .wait_timeout(state, INTERVAL)
                .unwrap_or_else(PoisonError::into_inner);
            woken.awaited = None;
            if timeout.timed_out() {
                drop(woken);
                tick();
                woken = self.shared.lock();
            }
            state = woken;
        }
    }
}

impl Drop for Prefetcher {
    fn drop(&mut self) {
        self.shared.lock().is_stopped = true;
        self.shared.can_work.notify_all();
        for thread in self.running.drain(..) {
            // It catches what panics.
            let _ = thread.join();
        }
    }
}
