//! Progress of long operations, and how a caller stops them.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use kb_types::error::{Error, Result};

/// The closure that long operations report to: `KbWriter::index`, `KbWriter::seal`, [`crate::Kb::verify`]
/// and the others that take a hook. The same closure decides whether the operation continues.
///
/// It is called on the thread that called the operation, when a stage begins and then about 20 times a
/// second, also while that thread only waits for worker threads. Single steps have no calls inside:
/// storing one document, loading the records of a commit, parts of a deep check. It is called no more
/// than a few thousand times a second, so it may lock and draw, but whatever it takes is added to
/// the operation.
///
/// After [`ControlFlow::Break`] the operation ends with [`crate::Error::Cancelled`] as soon as the step that
/// is under way allows: mostly within 50 ms; a worker finishes the document that it reads, and the sync
/// of a commit or the training of a dictionary is waited for. The file stays as it was. There is one
/// exception: merges after a commit ([`Stage::Merge`]) only end early, because the commit is in the
/// file and stays there. Once it returned `Break` the closure is not called again by that operation.
///
/// ```
/// use std::ops::ControlFlow;
/// use std::time::{Duration, Instant};
///
/// use kb_engine::Progress;
///
/// let started = Instant::now();
/// let mut hook = |progress: &Progress| {
///     eprintln!("{:?}: {} of {} files", progress.stage, progress.files_done, progress.files_total);
///     if started.elapsed() > Duration::from_secs(60) {
///         return ControlFlow::Break(());
///     }
///     ControlFlow::Continue(())
/// };
/// # assert!(hook(&Progress::new(kb_engine::Stage::Walk)).is_continue());
/// ```
pub type Hook<'a> = dyn FnMut(&Progress) -> ControlFlow<()> + 'a;

/// What a long operation is doing. An operation passes through some of these, in an order of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stage {
    /// Listing files and comparing them with the documents. The totals are not known yet.
    Walk,
    /// Reading, chunking, embedding and storing files.
    Index,
    /// Parsing programs whose text is indexed already.
    Symbols,
    /// Writing indexes and the commit of an index run.
    Write,
    /// Merging segments after a commit, which stays. Bytes are bytes of stored text.
    Merge,
    /// Making inverted lists for the vectors of a large file, in a commit of its own. Bytes are steps, of
    /// which there are three for each chunk.
    Lists,
    /// Writing a sealed file. Files are documents, bytes are bytes of their text.
    Seal,
    /// Comparing a file with its checksums, then its contents with each other. Bytes only: of the
    /// file and then of its text.
    Verify,
    /// Writing the changes of `KbWriter::commit_with`. Files are documents.
    Commit,
    /// Searching.
    Search,
    /// Importing vectors. Files are vectors that were read, then rows that were written of them; their total is known
    /// once all vectors are read.
    Import,
    /// Embedding chunks by a model that is not built in. Files are chunks.
    Embed,
}

/// How far a long operation is. Numbers grow within a stage; each stage starts at 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// What the operation is doing.
    pub stage: Stage,
    /// Files or documents done in this stage.
    pub files_done: u64,
    /// Files or documents in all; 0 while that is not known.
    pub files_total: u64,
    /// Bytes done in this stage.
    pub bytes_done: u64,
    /// Bytes in all; 0 while that is not known.
    pub bytes_total: u64,
}

impl Progress {
    /// The start of a stage: nothing is counted yet.
    pub fn new(stage: Stage) -> Progress {
        Progress {
            stage,
            files_done: 0,
            files_total: 0,
            bytes_done: 0,
            bytes_total: 0,
        }
    }

    /// A [`Hook`] for callers that show nothing and never stop:
    /// `writer.index(&folders, &options, &mut Progress::ignore)`.
    pub fn ignore(_progress: &Progress) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Longest time between two calls of a hook, as far as the operation can tell.
// 40 calls a second: smooth for the eye, and a stop is noticed within the 50 ms that `Hook`
// promises.
pub(crate) const INTERVAL: Duration = Duration::from_millis(25);

/// Calls the hook of one operation, on the thread of the caller, and holds the flag that ends the work
/// of other threads.
///
/// It is not `Sync`: worker threads get [`Reporter::stop_flag`]. Everything that may take long on the
/// caller's thread calls [`Reporter::report`] or [`Reporter::tick`] on its way, or is given to
/// [`Reporter::wait_for`] when it cannot.
pub(crate) struct Reporter<'h> {
    /// `None`: nobody listens, and nothing stops the operation.
    hook: Option<&'h dyn SharedHook>,
    /// What was reported last.
    progress: Cell<Progress>,
    /// When the hook was called last.
    called: Cell<Instant>,
    /// Set once the hook has returned `Break`.
    stop: Arc<AtomicBool>,
}

/// A hook that can be called through a shared reference.
pub(crate) trait SharedHook {
    /// Calls it.
    fn call(&self, progress: &Progress) -> ControlFlow<()>;
}

impl<'h> SharedHook for RefCell<&mut Hook<'h>> {
    fn call(&self, progress: &Progress) -> ControlFlow<()> {
        match self.try_borrow_mut() {
            Ok(mut hook) => hook(progress),
            // Only a hook that is being called can be borrowed.
            Err(_) => ControlFlow::Continue(()),
        }
    }
}

impl fmt::Debug for Reporter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reporter")
            .field("progress", &self.progress.get())
            .field("stop", &self.stop)
            .finish_non_exhaustive()
    }
}

impl<'h> Reporter<'h> {
    /// For an operation that `hook` listens to.
    pub(crate) fn new(hook: &'h dyn SharedHook) -> Reporter<'h> {
        Reporter {
            hook: Some(hook),
            ..Reporter::silent()
        }
    }

    /// For an operation that nobody listens to.
    pub(crate) fn silent() -> Reporter<'h> {
        Reporter {
            hook: None,
            progress: Cell::new(Progress::new(Stage::Commit)),
            called: Cell::new(Instant::now()),
            stop: Arc::default(),
        }
    }

    /// For what another thread does of an operation, which ends once the flag of that is set.
    pub(crate) fn of_thread(stop: &Arc<AtomicBool>) -> Reporter<'h> {
        Reporter {
            stop: Arc::clone(stop),
            ..Reporter::silent()
        }
    }

    /// The flag that is set when the operation shall end, for worker threads and the container.
    pub(crate) fn stop_flag(&self) -> &Arc<AtomicBool> {
        &self.stop
    }

    /// Calls the hook with new progress.
    ///
    /// # Errors
    /// [`Error::Cancelled`] when it returns `Break`, now or before.
    pub(crate) fn report(&self, progress: Progress) -> Result<()> {
        self.progress.set(progress);
        self.call();
        self.check()
    }

    /// The start of a stage.
    ///
    /// # Errors
    /// As [`Reporter::report`].
    pub(crate) fn start(&self, stage: Stage) -> Result<()> {
        self.report(Progress::new(stage))
    }

    /// Calls the hook again with the last progress when [`INTERVAL`] has passed. Costs a look at the
    /// clock.
    ///
    /// # Errors
    /// As [`Reporter::report`].
    pub(crate) fn tick(&self) -> Result<()> {
        if self.hook.is_some() && self.called.get().elapsed() >= INTERVAL {
            self.call();
        }
        self.check()
    }

    /// # Errors
    /// [`Error::Cancelled`] once the hook has returned `Break`.
    pub(crate) fn check(&self) -> Result<()> {
        // Relaxed: the flag only says that results are not wanted any more, and publishes no data.
        if self.stop.load(Ordering::Relaxed) {
            Err(Error::Cancelled)
        } else {
            Ok(())
        }
    }

    /// Runs `work`, which cannot be interrupted, on a thread of its own and calls the hook meanwhile.
    /// A `Break` counts from the next call of this reporter on.
    ///
    /// # Errors
    /// What `work` says; [`Error::Io`] when the system gives no thread.
    pub(crate) fn wait_for<T: Send>(&self, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        self.wait_beside(work, || {})?
    }

    /// As [`Reporter::wait_for`], for work that looks at a flag of its own: it is set when the hook breaks.
    ///
    /// # Errors
    /// [`Error::Cancelled`] when it did; [`Error::Io`] when the system gives no thread.
    pub(crate) fn wait_or_stop<T: Send>(
        &self,
        stop: &AtomicBool,
        work: impl FnOnce() -> T + Send,
    ) -> Result<T> {
        let work = self.wait_beside(work, || {
            if self.check().is_err() {
                stop.store(true, Ordering::Relaxed);
            }
        })?;
        self.check()?;
        Ok(work)
    }

    /// Runs `work` on a thread of its own and meanwhile calls the hook, and `after_call` after it.
    fn wait_beside<T: Send>(
        &self,
        work: impl FnOnce() -> T + Send,
        after_call: impl Fn(),
    ) -> Result<T> {
        // Nobody listens, so that a thread would only cost its start.
        if self.hook.is_none() {
            return Ok(work());
        }
        thread::scope(|scope| {
            let (is_running, has_ended) = mpsc::channel::<()>();
            let thread = thread::Builder::new()
                .spawn_scoped(scope, move || {
                    // Dropped at the end of the thread, also by a panic, which ends the wait below.
                    let _is_running = is_running;
                    work()
                })
                .map_err(|source| Error::io("start", "a thread", source))?;
            // The other end goes with the thread.
            while let Err(RecvTimeoutError::Timeout) = has_ended.recv_timeout(INTERVAL) {
                self.call();
                after_call();
            }
            Ok(thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
        })
    }

    fn call(&self) {
        let Some(hook) = self.hook.filter(|_| !self.stop.load(Ordering::Relaxed)) else {
            return;
        };
        if hook.call(&self.progress.get()).is_break() {
            self.stop.store(true, Ordering::Relaxed);
        }
        self.called.set(Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_cannot_be_interrupted_is_reported() {
        let mut calls = 0;
        let hook: &mut Hook<'_> = &mut |_| {
            calls += 1;
            ControlFlow::Continue(())
        };
        let hook = RefCell::new(hook);
        let done = Reporter::new(&hook).wait_for(|| {
            thread::sleep(INTERVAL * 5);
            Ok(7)
        });
        assert_eq!(done.unwrap(), 7);
        assert!(calls >= 2, "{calls}");
    }

    #[test]
    fn after_break_the_hook_is_not_called_again() {
        let mut calls = 0;
        let hook: &mut Hook<'_> = &mut |_| {
            calls += 1;
            ControlFlow::Break(())
        };
        let hook = RefCell::new(hook);
        let reporter = Reporter::new(&hook);
        for _ in 0..3 {
            let stopped = reporter.start(Stage::Walk);
            assert!(matches!(stopped, Err(Error::Cancelled)));
        }
        assert!(reporter.stop_flag().load(Ordering::Relaxed));
        assert_eq!(calls, 1);
    }
}
