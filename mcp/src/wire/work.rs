//! Runs what requests ask for on threads where waiting does no harm.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::Peer;
use tokio::sync::{Semaphore, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// At most so often a client hears of progress.
const PROGRESS_PAUSE: Duration = Duration::from_millis(200);

/// Calls that write at once; more than one of a file wait for each other anyway.
const WRITES: usize = 4;

/// How many calls may wait for a turn, and how long, where clients share a server.
pub(super) const SHARED_QUEUE: Queue = Queue {
    length: 256,
    patience: Duration::from_secs(10),
};

/// A limit on waiting.
#[derive(Debug, Clone, Copy)]
pub(super) struct Queue {
    length: usize,
    patience: Duration,
}

impl Queue {
    #[cfg(test)]
    pub(super) fn new(length: usize, patience: Duration) -> Queue {
        Queue { length, patience }
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
    reads: Arc<Semaphore>,
    /// Turns of their own: writes may last, and must not hold up the reads.
    writes: Arc<Semaphore>,
    /// Places in the queue; `None`: a single client, which waits for itself.
    places: Option<(Semaphore, Duration)>,
}

impl Work {
    pub(super) fn new(queue: Option<Queue>) -> Work {
        Work {
            reads: Arc::new(Semaphore::new(reads())),
            writes: Arc::new(Semaphore::new(WRITES)),
            places: queue.map(|queue| (Semaphore::new(queue.length), queue.patience)),
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
        ct: &CancellationToken,
        listener: Option<Listener>,
        job: impl FnOnce(&Arc<AtomicBool>, Progress<'_>) -> T + Send + 'static,
    ) -> Result<T, Trouble> {
        let turns = if writes { &self.writes } else { &self.reads };
        let turn = tokio::select! {
            turn = self.turn(turns) => turn?,
            () = ct.cancelled() => return Err(Trouble::Cancelled),
        };
        let cancel = Arc::new(AtomicBool::new(false));
        let (told, hears) = watch::channel((0, 0));
        let flag = Arc::clone(&cancel);
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
            () = ct.cancelled() => {
                cancel.store(true, Ordering::Relaxed);
                Err(Trouble::Cancelled)
            }
            never = tell => match never {},
        }
    }

    async fn turn(
        &self,
        turns: &Arc<Semaphore>,
    ) -> Result<tokio::sync::OwnedSemaphorePermit, Trouble> {
        if let Ok(turn) = Arc::clone(turns).try_acquire_owned() {
            return Ok(turn);
        }
        let turn = Arc::clone(turns).acquire_owned();
        // The semaphores are never closed.
        let Some((places, patience)) = &self.places else {
            return turn.await.map_err(|_| Trouble::Busy);
        };
        let _place = places.try_acquire().map_err(|_| Trouble::Busy)?;
        match tokio::time::timeout(*patience, turn).await {
            Ok(Ok(turn)) => Ok(turn),
            _ => Err(Trouble::Busy),
        }
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
    use crate::wire::{PATIENCE, block_on};

    #[test]
    fn a_panic_is_told_and_gives_its_turn_back() {
        let work = Work::new(None);
        let ct = CancellationToken::new();
        block_on(async {
            for _ in 0..3 * reads() {
                let result: Result<(), _> = work
                    .run(false, &ct, None, |_, _| panic!("on purpose"))
                    .await;
                assert_eq!(result, Err(Trouble::Panicked));
            }
            assert_eq!(work.run(false, &ct, None, |_, _| 7).await, Ok(7));
        });
    }

    #[test]
    fn a_cancelled_call_ends_at_once_and_its_work_is_told() {
        let work = Work::new(None);
        let ct = CancellationToken::new();
        let (told, hears) = std::sync::mpsc::channel();
        block_on(async {
            let job = move |cancel: &Arc<AtomicBool>, _: Progress<'_>| {
                while !cancel.load(Ordering::Relaxed) {
                    thread::yield_now();
                }
                told.send(()).unwrap();
            };
            let later = ct.clone();
            let cancelling = async move {
                tokio::time::sleep(Duration::from_millis(20)).await;
                later.cancel();
            };
            let (result, ()) = tokio::join!(work.run(true, &ct, None, job), cancelling);
            assert_eq!(result, Err(Trouble::Cancelled));
        });
        hears.recv_timeout(PATIENCE).unwrap();
    }

    #[test]
    fn writes_do_not_take_the_turns_of_reads_and_a_full_queue_is_told() {
        let queue = Queue {
            length: 1,
            patience: Duration::from_millis(20),
        };
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
                writes.push(tokio::spawn(
                    async move { work.run(true, &ct, None, job).await },
                ));
            }
            while work.writes.available_permits() > 0 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            assert_eq!(work.run(false, &ct, None, |_, _| 7).await, Ok(7));
            let (first, second) = tokio::join!(
                work.run(true, &ct, None, |_, _| ()),
                work.run(true, &ct, None, |_, _| ())
            );
            assert_eq!((first, second), (Err(Trouble::Busy), Err(Trouble::Busy)));
            held.store(false, Ordering::Relaxed);
            for write in writes {
                assert_eq!(write.await.unwrap(), Ok(()));
            }
        });
    }
}
