//! Runs tool calls on blocking threads: a bounded number at once, reads apart from writes, and no
//! token may take all permits.

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

use super::quota::{Owner, Quota};

/// Shortest time between two progress notifications of one call.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(200);

/// Writes at once. Those of one file exclude each other anyway.
const WRITE_CONCURRENCY: usize = 4;

/// How many calls may wait for a permit, and for how long, where clients share a server.
const QUEUE_LENGTH: usize = 256;
const QUEUE_TIMEOUT: Duration = Duration::from_secs(10);

/// Waiting calls that each token may always have.
const QUEUE_RESERVED: usize = 16;

/// A limit on the calls that wait for a permit.
#[derive(Debug)]
pub(super) struct QueueLimit {
    quota: Arc<Quota>,
    timeout: Duration,
}

impl QueueLimit {
    /// The limit of a server that many clients share.
    pub(super) fn shared(requires_token: bool) -> QueueLimit {
        QueueLimit {
            quota: Quota::new(QUEUE_LENGTH, QUEUE_RESERVED, requires_token),
            timeout: QUEUE_TIMEOUT,
        }
    }

    #[cfg(test)]
    pub(super) fn new(length: usize, timeout: Duration) -> QueueLimit {
        QueueLimit {
            quota: Quota::new(length, 0, false),
            timeout,
        }
    }
}

/// Why a job has no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JobError {
    /// Too many calls wait already, or this one waited too long.
    Busy,
    /// The job panicked.
    Panicked,
    /// The client cancelled the call.
    Cancelled,
}

/// Which permits a job takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JobKind {
    Read,
    Write,
}

/// Receives the progress notifications of one call.
pub(super) struct ProgressListener {
    pub(super) peer: Peer<RoleServer>,
    pub(super) token: ProgressToken,
}

/// Reports progress of a job: done and total, in a unit of the job's own.
type Progress<'p> = &'p (dyn Fn(u64, u64) + Sync);

/// Runs jobs on the blocking threads of the runtime.
#[derive(Debug)]
pub(super) struct Executor {
    reads: Permits,
    /// Apart from `reads`: a write may take minutes and must not hold up reads.
    writes: Permits,
    /// `None` for a single client, whose calls may wait without limit.
    queue: Option<QueueLimit>,
}

/// The permits of one kind of job.
#[derive(Debug)]
struct Permits {
    all: Arc<Semaphore>,
    /// Permits that one token may have: one less than all, so that a call of another token waits for
    /// one job at most.
    per_owner: usize,
    by_owner: Mutex<BTreeMap<Owner, Arc<Semaphore>>>,
}

/// Lets one job run until it is dropped.
struct Permit {
    _of_all: OwnedSemaphorePermit,
    _of_owner: Option<OwnedSemaphorePermit>,
}

impl Permits {
    fn new(count: usize) -> Permits {
        Permits {
            all: Arc::new(Semaphore::new(count)),
            per_owner: count.saturating_sub(1).max(1),
            by_owner: Mutex::default(),
        }
    }

    /// Waits for a permit. Never `None`, because the semaphores are never closed.
    async fn acquire(&self, owner: Owner) -> Option<Permit> {
        // Without tokens there is one owner, who may have all.
        let of_owner = match owner {
            Some(_) => self.of_owner(owner).acquire_owned().await.ok(),
            None => None,
        };
        let of_all = Arc::clone(&self.all).acquire_owned().await.ok()?;
        Some(Permit {
            _of_all: of_all,
            _of_owner: of_owner,
        })
    }

    fn of_owner(&self, owner: Owner) -> Arc<Semaphore> {
        let mut by_owner = self.by_owner.lock().unwrap_or_else(PoisonError::into_inner);
        // Forget owners without a job, so that revoked tokens leave nothing behind.
        by_owner.retain(|other, permits| *other == owner || Arc::strong_count(permits) > 1);
        let permits = by_owner.entry(owner);
        Arc::clone(permits.or_insert_with(|| Arc::new(Semaphore::new(self.per_owner))))
    }
}

impl Executor {
    pub(super) fn new(queue: Option<QueueLimit>) -> Executor {
        Executor {
            reads: Permits::new(read_concurrency()),
            writes: Permits::new(WRITE_CONCURRENCY),
            queue,
        }
    }

    /// Blocking threads that all permits together need.
    pub(super) fn threads() -> usize {
        read_concurrency() + WRITE_CONCURRENCY
    }

    /// Waits for a permit, then runs `job` on a blocking thread. The job gets a flag that is set when
    /// its result is not wanted any more, and a function to report progress with.
    ///
    /// A job that has started always runs to its end: cancelling `ct`, or dropping this future, sets
    /// the flag and returns at once.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        kind: JobKind,
        owner: Owner,
        ct: &CancellationToken,
        listener: Option<ProgressListener>,
        job: impl FnOnce(&Arc<AtomicBool>, Progress<'_>) -> T + Send + 'static,
    ) -> Result<T, JobError> {
        let permits = match kind {
            JobKind::Read => &self.reads,
            JobKind::Write => &self.writes,
        };
        let permit = tokio::select! {
            permit = self.queue_for(permits, owner) => permit?,
            () = ct.cancelled() => return Err(JobError::Cancelled),
        };
        let cancel = Arc::new(AtomicBool::new(false));
        let (progress, receiver) = watch::channel((0, 0));
        let flag = Arc::clone(&cancel);
        let _cancel_on_drop = CancelOnDrop(cancel);
        let mut job = tokio::task::spawn_blocking(move || {
            // Released when the job ends, even if its caller is gone.
            let _permit = permit;
            job(&flag, &|done, total| {
                // The receiver is gone when the caller is.
                let _ = progress.send((done, total));
            })
        });
        let notify = async {
            if let Some(listener) = listener {
                report_progress(listener, receiver).await;
            }
            std::future::pending::<Infallible>().await
        };
        tokio::select! {
            biased;
            result = &mut job => result.map_err(|_| JobError::Panicked),
            () = ct.cancelled() => Err(JobError::Cancelled),
            never = notify => match never {},
        }
    }

    /// Takes a permit, waiting in the queue if there is none.
    async fn queue_for(&self, permits: &Permits, owner: Owner) -> Result<Permit, JobError> {
        let mut permit = std::pin::pin!(permits.acquire(owner));
        // A free permit is taken without a place in the queue.
        let immediate = std::future::poll_fn(|cx| Poll::Ready(permit.as_mut().poll(cx))).await;
        if let Poll::Ready(permit) = immediate {
            return permit.ok_or(JobError::Busy);
        }
        let Some(queue) = &self.queue else {
            return permit.await.ok_or(JobError::Busy);
        };
        let _queued = queue.quota.try_acquire(owner, 1).ok_or(JobError::Busy)?;
        match tokio::time::timeout(queue.timeout, permit).await {
            Ok(Some(permit)) => Ok(permit),
            _ => Err(JobError::Busy),
        }
    }
}

/// Tells the job, when dropped, that nobody waits for its result.
struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Reads at once: twice the cores, as a read may wait for the disk.
pub(super) fn read_concurrency() -> usize {
    2 * thread::available_parallelism().map_or(2, usize::from)
}

/// Sends progress notifications until the job ends: rate-limited, and only when `done` has grown.
async fn report_progress(listener: ProgressListener, mut progress: watch::Receiver<(u64, u64)>) {
    let mut last_done = 0;
    let mut next = Instant::now();
    while progress.changed().await.is_ok() {
        tokio::time::sleep_until(next).await;
        let (done, total) = *progress.borrow_and_update();
        if done <= last_done {
            continue;
        }
        last_done = done;
        #[expect(clippy::cast_precision_loss, reason = "the protocol has floats")]
        let (done, total) = (done as f64, (total > 0).then_some(total as f64));
        let mut notification = ProgressNotificationParam::new(listener.token.clone(), done);
        notification.total = total;
        if listener.peer.notify_progress(notification).await.is_err() {
            return;
        }
        next = Instant::now() + PROGRESS_INTERVAL;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::testing::{PATIENCE, block_on};

    #[test]
    fn a_panic_is_an_error_and_releases_its_permit() {
        let executor = Executor::new(None);
        let ct = CancellationToken::new();
        block_on(async {
            for _ in 0..3 * read_concurrency() {
                let result: Result<(), _> = executor
                    .run(JobKind::Read, None, &ct, None, |_, _| panic!("on purpose"))
                    .await;
                assert_eq!(result, Err(JobError::Panicked));
            }
            assert_eq!(
                executor.run(JobKind::Read, None, &ct, None, |_, _| 7).await,
                Ok(7)
            );
        });
    }

    /// Runs until it is cancelled, and sends that it was.
    fn until_cancelled(
        cancelled: std::sync::mpsc::Sender<()>,
    ) -> impl FnOnce(&Arc<AtomicBool>, Progress<'_>) + Send + 'static {
        move |cancel, _| {
            while !cancel.load(Ordering::Relaxed) {
                thread::yield_now();
            }
            cancelled.send(()).unwrap();
        }
    }

    #[test]
    fn a_cancelled_call_ends_at_once_and_its_job_is_told() {
        let executor = Executor::new(None);
        let ct = CancellationToken::new();
        let (cancelled, receiver) = std::sync::mpsc::channel();
        block_on(async {
            let job = until_cancelled(cancelled);
            let later = ct.clone();
            let cancelling = async move {
                tokio::time::sleep(Duration::from_millis(20)).await;
                later.cancel();
            };
            let (result, ()) = tokio::join!(
                executor.run(JobKind::Write, None, &ct, None, job),
                cancelling
            );
            assert_eq!(result, Err(JobError::Cancelled));
        });
        receiver.recv_timeout(PATIENCE).unwrap();
    }

    #[test]
    fn one_token_never_takes_all_permits() {
        let folder = tempfile::tempdir().unwrap();
        let tokens = crate::tokens::Tokens::new(folder.path().join("tokens.json"));
        for name in ["greedy", "other"] {
            tokens.create(name, false).unwrap();
        }
        let owners: Vec<Owner> = tokens.hashes().into_iter().map(Some).collect();
        let executor = Arc::new(Executor::new(Some(QueueLimit::shared(true))));
        let (release, held) = std::sync::mpsc::channel::<()>();
        let held = Arc::new(Mutex::new(held));
        block_on(async {
            let mut asked = Vec::new();
            for _ in 0..QUEUE_LENGTH {
                let (executor, held, greedy) =
                    (Arc::clone(&executor), Arc::clone(&held), owners[0]);
                let job = move |_: &Arc<AtomicBool>, _: Progress<'_>| {
                    let _ = held.lock().unwrap().recv();
                };
                asked.push(tokio::spawn(async move {
                    let never = CancellationToken::new();
                    executor.run(JobKind::Read, greedy, &never, None, job).await
                }));
            }
            while asked.iter().all(|asked| !asked.is_finished()) {
                tokio::task::yield_now().await;
            }
            let never = CancellationToken::new();
            let answer = executor.run(JobKind::Read, owners[1], &never, None, |_, _| 7);
            let answer = tokio::time::timeout(PATIENCE, answer).await;
            assert_eq!(answer.ok(), Some(Ok(7)));
            drop(release);
        });
    }

    #[test]
    fn a_job_that_nobody_waits_for_is_told() {
        let executor = Executor::new(None);
        let (cancelled, receiver) = std::sync::mpsc::channel();
        block_on(async {
            let job = until_cancelled(cancelled);
            let ct = CancellationToken::new();
            let waiting = executor.run(JobKind::Read, None, &ct, None, job);
            let left = tokio::time::timeout(Duration::from_millis(20), waiting).await;
            assert!(left.is_err(), "it goes on until it is told");
        });
        receiver.recv_timeout(PATIENCE).unwrap();
    }

    #[test]
    fn writes_take_no_permits_of_reads_and_a_full_queue_is_busy() {
        let queue = QueueLimit::new(1, Duration::from_millis(20));
        let executor = Arc::new(Executor::new(Some(queue)));
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
            for _ in 0..WRITE_CONCURRENCY {
                let (executor, held, ct) = (Arc::clone(&executor), Arc::clone(&held), ct.clone());
                let job = move |_: &Arc<AtomicBool>, _: Progress<'_>| {
                    while held.load(Ordering::Relaxed) {
                        thread::yield_now();
                    }
                };
                writes.push(tokio::spawn(async move {
                    executor.run(JobKind::Write, None, &ct, None, job).await
                }));
            }
            while executor.writes.all.available_permits() > 0 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            assert_eq!(
                executor.run(JobKind::Read, None, &ct, None, |_, _| 7).await,
                Ok(7)
            );
            let (first, second) = tokio::join!(
                executor.run(JobKind::Write, None, &ct, None, |_, _| ()),
                executor.run(JobKind::Write, None, &ct, None, |_, _| ())
            );
            assert_eq!((first, second), (Err(JobError::Busy), Err(JobError::Busy)));
            held.store(false, Ordering::Relaxed);
            for write in writes {
                assert_eq!(write.await.unwrap(), Ok(()));
            }
        });
    }
}
