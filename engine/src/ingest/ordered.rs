//! Work on many threads whose results come in the order in which it was given.
//!
//! Workers may be ahead by a bounded number of jobs and bytes, so memory is bounded however many jobs
//! there are and however large they turn out to be, and what becomes of the results does not depend on
//! the number of threads.

use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use kb_types::error::{Error, Result};

use crate::progress::{INTERVAL, Reporter};

/// Most jobs that may be ahead of the last result that was delivered.
// Results are delivered in order, so one slow document holds up those behind it. The limits bound
// what waits; smaller ones would leave workers idle.
const AHEAD_JOBS: u64 = 256;

/// Most bytes of jobs and results that may be ahead, without the last one of each worker.
const AHEAD_BYTES: u64 = 32 << 20;

/// A job, or one that needs no work.
#[derive(Debug)]
pub(crate) enum Job<J, O> {
    /// Work on any thread, which is expected to hold so many bytes.
    Work(J, u64),
    /// Its result is known.
    Done(J, O),
}

/// What is done with a job, on any thread.
pub(crate) trait Work<J, O>: Sync {
    /// What a thread keeps between jobs.
    type State;

    /// The state of a thread that begins, or goes on after a panic.
    fn begin(&self) -> Self::State;

    /// Does a job.
    fn work(&self, state: &mut Self::State, job: &mut J) -> O;

    /// Bytes that a job and its result hold.
    fn held_bytes(&self, job: &J, result: &O) -> u64;

    /// The result of a job that panicked.
    fn panicked(&self, job: &J) -> O;

    /// No further result is wanted: whoever waits inside [`Work::work`] may give up.
    fn stop(&self) {}
}

/// Draws jobs from `jobs`, has each done on one of so many threads (0: one per core), and delivers jobs
/// with their results in the order of the jobs. Both functions are called on this thread, which ticks
/// `reporter` while it waits.
///
/// # Errors
/// The first of `jobs`, `deliver` or `reporter`; [`Error::Io`] when the system gives no thread.
pub(crate) fn in_order<J: Send, O: Send>(
    threads: usize,
    reporter: &Reporter<'_>,
    work: &impl Work<J, O>,
    mut jobs: impl FnMut() -> Result<Option<Job<J, O>>>,
    mut deliver: impl FnMut(J, O) -> Result<()>,
) -> Result<()> {
    let queue = Queue::default();
    let threads = match threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    };
    std::thread::scope(|scope| {
        // Workers see it before their next job, so the scope ends soon, also after a panic here.
        let _stop = StopAtEnd(&queue, work);
        let (mut started, mut is_ended) = (0, false);
        loop {
            match queue.next(is_ended) {
                Next::Wait => reporter.tick()?,
                Next::Deliver(job, result) => deliver(job, result)?,
                Next::End => return Ok(()),
                Next::Draw => match jobs()? {
                    None => is_ended = true,
                    Some(job) => {
                        let needs_work = matches!(job, Job::Work(..));
                        queue.push(job);
                        if needs_work && started < threads {
                            let worker = || queue.work(work);
                            match std::thread::Builder::new().spawn_scoped(scope, worker) {
                                Ok(_) => started += 1,
                                Err(source) if started == 0 => {
                                    return Err(Error::io("start", "a thread", source));
                                }
                                // Fewer workers are slower, no more.
                                Err(_) => started = threads,
                            }
                        }
                    }
                },
            }
        }
    })
}

/// Stops the workers when the delivering side ends, however it does.
struct StopAtEnd<'q, J, O, W: Work<J, O>>(&'q Queue<J, O>, &'q W);

impl<J, O, W: Work<J, O>> Drop for StopAtEnd<'_, J, O, W> {
    fn drop(&mut self) {
        self.1.stop();
        self.0.lock().is_stopped = true;
        self.0.changed.notify_all();
    }
}

/// What the delivering side does next.
enum Next<J, O> {
    Deliver(J, O),
    Draw,
    /// Nothing for [`INTERVAL`].
    Wait,
    End,
}

/// Jobs that wait, and results that do.
#[derive(Debug)]
struct Queue<J, O> {
    state: Mutex<State<J, O>>,
    changed: Condvar,
}

#[derive(Debug)]
struct State<J, O> {
    /// Number of the job that is drawn next, and of the one that is delivered next.
    drawn: u64,
    delivered: u64,
    /// Jobs that nobody has taken, with number and bytes.
    waiting: VecDeque<(u64, J, u64)>,
    /// Bytes of those.
    waiting_bytes: u64,
    /// Those that are done, with their bytes.
    done: BTreeMap<u64, (J, O, u64)>,
    /// Bytes of jobs that are taken and not delivered.
    taken_bytes: u64,
    is_stopped: bool,
}

impl<J, O> Default for Queue<J, O> {
    fn default() -> Queue<J, O> {
        Queue {
            state: Mutex::new(State {
                drawn: 0,
                delivered: 0,
                waiting: VecDeque::new(),
                waiting_bytes: 0,
                done: BTreeMap::new(),
                taken_bytes: 0,
                is_stopped: false,
            }),
            changed: Condvar::new(),
        }
    }
}

impl<J, O> Queue<J, O> {
    fn lock(&self) -> MutexGuard<'_, State<J, O>> {
        // A panic while the lock is held is impossible: no code of others runs under it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'s>(&self, state: MutexGuard<'s, State<J, O>>) -> MutexGuard<'s, State<J, O>> {
        self.changed
            .wait(state)
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn next(&self, is_ended: bool) -> Next<J, O> {
        let deadline = Instant::now() + INTERVAL;
        let mut state = self.lock();
        loop {
            let number = state.delivered;
            if let Some((job, result, bytes)) = state.done.remove(&number) {
                state.delivered += 1;
                state.taken_bytes = state.taken_bytes.saturating_sub(bytes);
                drop(state);
                self.changed.notify_all();
                return Next::Deliver(job, result);
            }
            let ahead = state.drawn - state.delivered;
            let bytes = state.waiting_bytes.saturating_add(state.taken_bytes);
            let has_room = ahead == 0 || (ahead < AHEAD_JOBS && bytes < AHEAD_BYTES);
            match is_ended {
                false if has_room => return Next::Draw,
                true if ahead == 0 => return Next::End,
                _ => {
                    // Other jobs that end wake this thread as well, without being the next.
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return Next::Wait;
                    }
                    let (woken, _) = self
                        .changed
                        .wait_timeout(state, left)
                        .unwrap_or_else(PoisonError::into_inner);
                    state = woken;
                }
            }
        }
    }

    fn push(&self, job: Job<J, O>) {
        let mut state = self.lock();
        let number = state.drawn;
        state.drawn += 1;
        match job {
            Job::Done(job, result) => {
                state.done.insert(number, (job, result, 0));
            }
            Job::Work(job, bytes) => {
                state.waiting_bytes = state.waiting_bytes.saturating_add(bytes);
                state.waiting.push_back((number, job, bytes));
                drop(state);
                self.changed.notify_all();
            }
        }
    }

    fn work<W: Work<J, O>>(&self, work: &W) {
        let mut kept = work.begin();
        let mut state = self.lock();
        loop {
            if state.is_stopped {
                return;
            }
            let Some((number, mut job, expected)) = state.take() else {
                state = self.wait(state);
                continue;
            };
            drop(state);
            // A defect in the work on one job costs that job, not the others.
            let result = catch_unwind(AssertUnwindSafe(|| work.work(&mut kept, &mut job)));
            let result = result.unwrap_or_else(|_| {
                kept = work.begin();
                work.panicked(&job)
            });
            let bytes = work.held_bytes(&job, &result);
            state = self.lock();
            let others = state.taken_bytes.saturating_sub(expected);
            state.taken_bytes = others.saturating_add(bytes);
            state.done.insert(number, (job, result, bytes));
            self.changed.notify_all();
        }
    }
}

impl<J, O> State<J, O> {
    /// The next job for a worker; `None` while there is none, or no room for its result. The one whose
    /// result is delivered next needs no room, so somebody can always go on.
    fn take(&mut self) -> Option<(u64, J, u64)> {
        let (number, _, _) = self.waiting.front()?;
        // Without the exception large results could wait for one that has no room to be made, for
        // ever.
        if *number != self.delivered && self.taken_bytes >= AHEAD_BYTES {
            return None;
        }
        let (number, job, bytes) = self.waiting.pop_front()?;
        self.waiting_bytes = self.waiting_bytes.saturating_sub(bytes);
        self.taken_bytes = self.taken_bytes.saturating_add(bytes);
        Some((number, job, bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Square;

    impl Work<u64, u64> for Square {
        type State = ();

        fn begin(&self) {}

        fn work(&self, (): &mut (), job: &mut u64) -> u64 {
            assert_ne!(*job % 100, 7, "a defect");
            *job * *job
        }

        fn held_bytes(&self, job: &u64, _: &u64) -> u64 {
            job << 15
        }

        fn panicked(&self, job: &u64) -> u64 {
            *job
        }
    }

    fn run(count: u64, threads: usize, fails_at: u64) -> (Result<()>, Vec<(u64, u64)>) {
        let mut next = 0;
        let mut seen = Vec::new();
        let ran = in_order(
            threads,
            &Reporter::silent(),
            &Square,
            || {
                next += 1;
                Ok(match next - 1 {
                    job if job == count => None,
                    job if job % 5 == 0 => Some(Job::Done(job, 0)),
                    job => Some(Job::Work(job, 10 << 20)),
                })
            },
            |job, result| {
                seen.push((job, result));
                if job == fails_at {
                    Err(Error::Cancelled)
                } else {
                    Ok(())
                }
            },
        );
        (ran, seen)
    }

    #[test]
    fn results_keep_the_order_of_jobs_despite_panics() {
        for threads in [0, 1, 3] {
            let (ran, seen) = run(1000, threads, u64::MAX);
            ran.unwrap();
            let expected = (0..1000).map(|job| match job {
                job if job % 5 == 0 => (job, 0),
                job if job % 100 == 7 => (job, job),
                job => (job, job * job),
            });
            assert_eq!(seen, expected.collect::<Vec<_>>());
        }
        assert_eq!(run(0, 2, u64::MAX).1, []);
    }

    #[test]
    fn an_error_ends_it() {
        let (ran, seen) = run(1000, 2, 30);
        assert!(matches!(ran, Err(Error::Cancelled)));
        assert_eq!(seen.len(), 31);
    }
}
