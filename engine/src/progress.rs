//! Progress of long operations, and how a caller stops them.

use std::ops::ControlFlow;

/// The closure that long operations report to: `KbWriter::index`, `KbWriter::seal`, [`crate::Kb::verify`]
/// and the others that take a hook. The same closure decides whether the operation continues.
///
/// It is called on the thread that called the operation, when a stage begins and then at least about
/// 20 times a second, also while that thread only waits for worker threads. It is called no more
/// than a few thousand times a second, so it may lock and draw, but whatever it takes is added to
/// the operation.
///
/// With [`ControlFlow::Break`] the operation ends within about 50 ms with
/// [`crate::Error::Cancelled`], and the file stays as it was. There is one exception: merges after a commit
/// ([`Stage::Merge`]) only end early, because the commit is in the file and stays there. Once it
/// returned `Break` the closure is not called again by that operation.
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
    /// Writing indexes and the commit of an index run.
    Write,
    /// Merging segments after a commit, which stays. Bytes are bytes of stored text.
    Merge,
    /// Writing a sealed file. Files are documents, bytes are bytes of their text.
    Seal,
    /// Comparing a file with its checksums, then its contents with each other. Bytes only: of the
    /// file and then of its text.
    Verify,
    /// Writing the changes of `KbWriter::commit_with`. Files are documents.
    Commit,
    /// Searching.
    Search,
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
