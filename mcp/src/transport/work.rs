//! Runs what requests ask for on threads where waiting does no harm.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::thread;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::Peer;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::share::{Owner, Shares};

/// At most so often a client hears of progress.
const PROGRESS_PAUSE: Duration = Duration::from_millis(200);

/// Calls that write at once; more than one of a file wait for each other anyway.
const WRITES: usize = 4;

/// How many calls may wait for a turn, and how long, where clients share a server.
const QUEUE_LENGTH: usize = 256;
const QUEUE_PATIENCE: Duration = Duration::from_secs(10);

/// Places in the queue that each token has for itself.
const QUEUE_RESERVED: usize = 16;

/// A limit on waiting.
#[derive(Debug)]
pub(super) struct Queue {
    places: Arc<Shares>,
    patience: Duration,
}

impl Queue {
    /// That of a server with many clients.
    pub(super) fn shared(asks_for_tokens: bool) -> Queue {
        Queue {
            places: Shares::new(QUEUE_LENGTH, QUEUE_RESERVED, asks_for_tokens),
            patience: QUEUE_PATIENCE,
        }
    }

    #[cfg(test)]
    pub(super) fn new(length: usize, patience: Duration) -> Queue {
        Queue {
            places: Shares::new(length, 0, false),
            patience,
        }
    }
}

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trouble {
    /// Too many calls at once.
    Busy,
    /// The work met a bug.
    Panicked,
    /// Nobody wants the answer any more.
    Cancelled,
}

/// Who hears of progress.
pub(super) struct Listener {
    pub(super) peer: Peer<RoleServer>,
    pub(super) token: ProgressToken,
}

/// Done and total, as work tells of it.
type Progress<'p> = &'p (dyn Fn(u64, u64) + Sync);

/// The turns of calls.
#[derive(Debug)]
pub(super) struct Work {
    reads: Turns,
    /// Turns of their own: writes may last, and must not hold up the reads.
    writes: Turns,
    /// `None`: a single client, which waits for itself.
    queue: Option<Queue>,
}

/// Turns for one kind of work.
#[derive(Debug)]
struct Turns {
    all: Arc<Semaphore>,
    /// How many of them one token may have at once: one less than all, so that however much it asks,
    /// another one waits for no more than a turn.
    each: usize,
    of: Mutex<BTreeMap<Owner, Arc<Semaphore>>>,
}

/// A turn, over when this is dropped.
struct Turn {
    _of_all: OwnedSemaphorePermit,
    _of_owner: Option<OwnedSemaphorePermit>,
}

impl Turns {
    fn new(count: usize) -> Turns {
        Turns {
            all: Arc::new(Semaphore::new(count)),
            each: count.saturating_sub(1).max(1),
            of: Mutex::default(),
        }
    }

    /// Waits for a turn; `None` never comes, as nothing is closed.
    async fn take(&self, owner: Owner) -> Option<Turn> {
        // Who has no token shares with nobody.
        let of_owner = match owner {
            Some(_) => self.of(owner).acquire_owned().await.ok(),
            None => None,
        };
        let of_all = Arc::clone(&self.all).acquire_owned().await.ok()?;
        Some(Turn {
            _of_all: of_all,
            _of_owner: of_owner,
        })
    }

    fn of(&self, owner: Owner) -> Arc<Semaphore> {
        let mut of = self.of.lock().unwrap_or_else(PoisonError::into_inner);
        // Those of tokens that are gone.
        of.retain(|other, turns| *other == owner || Arc::strong_count(turns) > 1);
        let turns = of.entry(owner);
        Arc::clone(turns.or_insert_with(|| Arc::new(Semaphore::new(self.each))))
    }
}

impl Work {
    pub(super) fn new(queue: Option<Queue>) -> Work {
        Work {
            reads: Turns::new(reads()),
            writes: Turns::new(WRITES),
            queue,
        }
    }

    /// Threads that all turns need together.
    pub(super) fn threads() -> usize {
        reads() + WRITES
    }

    /// Does `job` when it is its turn. The job is given a flag that is set when nobody wants its
    /// answer any more, and where to tell of its progress.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        writes: bool,
        owner: Owner,
        ct: &CancellationToken,
        listener: Option<Listener>,
        job: impl FnOnce(&Arc<AtomicBool>, Progress<'_>) -> T + Send + 'static,
    ) -> Result<T, Trouble> {
        let turns = if writes { &self.writes } else { &self.reads };
        let turn = tokio::select! {
            turn = self.turn(turns, owner) => turn?,
            () = ct.cancelled() => return Err(Trouble::Cancelled),
        };
        let cancel = Arc::new(AtomicBool::new(false));
        let (told, hears) = watch::channel((0, 0));
        let flag = Arc::clone(&cancel);
        // Also where whoever waits is dropped, because its client left.
        let _over = Over(Arc::clone(&cancel));
        let mut done = tokio::task::spawn_blocking(move || {
            // The turn ends with the work, also where nobody waits for it.
            let _turn = turn;
            job(&flag, &|done, total| {
                // Nobody may listen.
                let _ = told.send((done, total));
            })
        });
        let tell = async {
            if let Some(listener) = listener {
                tell_progress(listener, hears).await;
            }
            std::future::pending::<Infallible>().await
        };
        tokio::select! {
            biased;
            result = &mut done => result.map_err(|_| Trouble::Panicked),
            () = ct.cancelled() => Err(Trouble::Cancelled),
            never = tell => match never {},
        }
    }

    async fn turn(&self, turns: &Turns, owner: Owner) -> Result<Turn, Trouble> {
        let mut turn = std::pin::pin!(turns.take(owner));
        // One that is free needs no place in the queue.
        let early = std::future::poll_fn(|cx| Poll::Ready(turn.as_mut().poll(cx))).await;
        if let Poll::Ready(turn) = early {
            return turn.ok_or(Trouble::Busy);
        }
        let Some(queue) = &self.queue else {
            return turn.await.ok_or(Trouble::Busy);
        };
        let _place = queue.places.take(owner, 1).ok_or(Trouble::Busy)?;
        match tokio::time::timeout(queue.patience, turn).await {
            Ok(Some(turn)) => Ok(turn),
            _ => Err(Trouble::Busy),
        }
    }
}

/// Nobody waits for the work any more.
struct Over(Arc<AtomicBool>);

impl Drop for Over {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A few more than cores: a read may wait for the disk.
pub(super) fn reads() -> usize {
    2 * thread::available_parallelism().map_or(2, usize::from)
}

/// Tells of progress, seldom and only of more than before, until the work ends.
async fn tell_progress(listener: Listener, mut hears: watch::Receiver<(u64, u64)>) {
    let mut last_done = 0;
    let mut next = Instant::now();
    while hears.changed().await.is_ok() {
        tokio::time::sleep_until(next).await;
        let (done, total) = *hears.borrow_and_update();
        if done <= last_done {
            continue;
        }
        last_done = done;
        #[expect(clippy::cast_precision_loss, reason = "the protocol counts so")]
        let (done, total) = (done as f64, (total > 0).then_some(total as f64));
        let mut progress = ProgressNotificationParam::new(listener.token.clone(), done);
        progress.total = total;
        if listener.peer.notify_progress(progress).await.is_err() {
            return;
        }
        next = Instant::now() + PROGRESS_PAUSE;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::{PATIENCE, block_on};

    #[test]
    fn a_panic_is_told_and_gives_its_turn_back() {
        let work = Work::new(None);
        let ct = CancellationToken::new();
        block_on(async {
            for _ in 0..3 * reads() {
                let result: Result<(), _> = work
                    .run(false, None, &ct, None, |_, _| panic!("on purpose"))
                    .await;
                assert_eq!(result, Err(Trouble::Panicked));
            }
            assert_eq!(work.run(false, None, &ct, None, |_, _| 7).await, Ok(7));
        });
    }

    /// Works until nobody wants the answer any more, and tells that.
    fn until_cancelled(
        told: std::sync::mpsc::Sender<()>,
    ) -> impl FnOnce(&Arc<AtomicBool>, Progress<'_>) + Send + 'static {
        move |cancel, _| {
            while !cancel.load(Ordering::Relaxed) {
                thread::yield_now();
            }
            told.send(()).unwrap();
        }
    }

    #[test]
    fn a_cancelled_call_ends_at_once_and_its_work_is_told() {
        let work = Work::new(None);
        let ct = CancellationToken::new();
        let (told, hears) = std::sync::mpsc::channel();
        block_on(async {
            let job = until_cancelled(told);
            let later = ct.clone();
            let cancelling = async move {
                tokio::time::sleep(Duration::from_millis(20)).await;
                later.cancel();
            };
            let (result, ()) = tokio::join!(work.run(true, None, &ct, None, job), cancelling);
            assert_eq!(result, Err(Trouble::Cancelled));
        });
        hears.recv_timeout(PATIENCE).unwrap();
    }

    #[test]
    fn one_token_that_asks_much_leaves_a_turn_to_the_others() {
        let folder = tempfile::tempdir().unwrap();
        let tokens = crate::tokens::Tokens::new(folder.path().join("tokens.json"));
        for name in ["greedy", "other"] {
            tokens.create(name, false).unwrap();
        }
        let owners: Vec<Owner> = tokens.hashes().into_iter().map(Some).collect();
        let work = Arc::new(Work::new(Some(Queue::shared(true))));
        let (release, held) = std::sync::mpsc::channel::<()>();
        let held = Arc::new(Mutex::new(held));
        block_on(async {
            let mut asked = Vec::new();
            for _ in 0..QUEUE_LENGTH {
                let (work, held, greedy) = (Arc::clone(&work), Arc::clone(&held), owners[0]);
                let job = move |_: &Arc<AtomicBool>, _: Progress<'_>| {
                    let _ = held.lock().unwrap().recv();
                };
                asked.push(tokio::spawn(async move {
                    let never = CancellationToken::new();
                    work.run(false, greedy, &never, None, job).await
                }));
            }
            while asked.iter().all(|asked| !asked.is_finished()) {
                tokio::task::yield_now().await;
            }
            let never = CancellationToken::new();
            let answer = work.run(false, owners[1], &never, None, |_, _| 7);
            let answer = tokio::time::timeout(PATIENCE, answer).await;
            assert_eq!(answer.ok(), Some(Ok(7)));
            drop(release);
        });
    }

    #[test]
    fn work_that_nobody_waits_for_is_told() {
        let work = Work::new(None);
        let (told, hears) = std::sync::mpsc::channel();
        block_on(async {
            let job = until_cancelled(told);
            let ct = CancellationToken::new();
            let waiting = work.run(false, None, &ct, None, job);
            let left = tokio::time::timeout(Duration::from_millis(20), waiting).await;
            assert!(left.is_err(), "it goes on until it is told");
        });
        hears.recv_timeout(PATIENCE).unwrap();
    }

    #[test]
    fn writes_do_not_take_the_turns_of_reads_and_a_full_queue_is_told() {
        let queue = Queue::new(1, Duration::from_millis(20));
        let work = Arc::new(Work::new(Some(queue)));
        let ct = CancellationToken::new();
        let held = Arc::new(AtomicBool::new(true));
        // Also where the test fails, so that it ends.
        struct Release(Arc<AtomicBool>);
        impl Drop for Release {
            fn drop(&mut self) {
                self.0.store(false, Ordering::Relaxed);
            }
        }
        let release = Release(Arc::clone(&held));
        block_on(async {
            let _release = release;
            let mut writes = Vec::new();
            for _ in 0..WRITES {
                let (work, held, ct) = (Arc::clone(&work), Arc::clone(&held), ct.clone());
                let job = move |_: &Arc<AtomicBool>, _: Progress<'_>| {
                    while held.load(Ordering::Relaxed) {
                        thread::yield_now();
                    }
                };
                writes.push(tokio::spawn(async move {
                    work.run(true, None, &ct, None, job).await
                }));
            }
            while work.writes.all.available_permits() > 0 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            assert_eq!(work.run(false, None, &ct, None, |_, _| 7).await, Ok(7));
            let (first, second) = tokio::join!(
                work.run(true, None, &ct, None, |_, _| ()),
                work.run(true, None, &ct, None, |_, _| ())
            );
            assert_eq!((first, second), (Err(Trouble::Busy), Err(Trouble::Busy)));
            held.store(false, Ordering::Relaxed);
            for write in writes {
                assert_eq!(write.await.unwrap(), Ok(()));
            }
        });
    }
}
