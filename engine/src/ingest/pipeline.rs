//! walk -> extract -> chunk -> embed on all cores, then the segment writer, in order of paths.
//!
//! Workers may run ahead of the writer by a bounded number of files and bytes, so memory is bounded
//! whatever the tree holds, and the result does not depend on the number of threads.

use std::collections::BTreeMap;
use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard};

use crate::embed::Embedder;
use crate::error::{Error, Result};
use crate::ingest::changes::Candidate;
use crate::ingest::extract;
use crate::ingest::open::OpenError;
use crate::ingest::prepare::{Cut, Prepared, Preparer, Source};
use crate::ingest::report::{IndexOptions, Skipped};
use crate::ingest::walk::SourceFile;

/// Files that workers may be ahead of the writer.
const AHEAD_FILES: usize = 256;

/// Bytes of source files that may be ahead of the writer.
const AHEAD_BYTES: u64 = 32 << 20;

/// What became of a file.
#[derive(Debug)]
pub enum Outcome {
    /// Ready to be written.
    Prepared(Box<Prepared>),
    /// The bytes are those that the document was made from.
    Same,
    /// Read and left out, with the hash of what was read.
    Skipped(Skipped, [u8; 32]),
    /// It could not be read now; nothing is known of it.
    Unread(Skipped),
}

/// Prepares `files` on worker threads and hands every outcome to `write` in the order of `files`.
///
/// # Errors
/// The first error of `write`, [`Error::Cancelled`] when asked to stop, [`Error::Io`] when the
/// system gives no thread.
pub fn prepare_in_order(
    files: &[Candidate],
    model: &dyn Embedder,
    range: f32,
    options: &IndexOptions,
    mut write: impl FnMut(&Candidate, Outcome) -> Result<()>,
) -> Result<()> {
    let queue = Queue::default();
    let threads = match options.threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    };
    std::thread::scope(|scope| {
        // Workers see it before their next file, so the scope ends soon, also after a panic here.
        let _stop = StopAtEnd(&queue);
        for number in 0..threads.min(files.len()) {
            let worker = || work(&queue, files, model, range, options);
            match std::thread::Builder::new().spawn_scoped(scope, worker) {
                Ok(_) => {}
                // Fewer workers are slower, no more.
                Err(_) if number > 0 => break,
                Err(source) => {
                    let path = files.first().map(|file| file.file.disk_path());
                    return Err(Error::io(
                        "start a thread to read",
                        path.unwrap_or_default(),
                        source,
                    ));
                }
            }
        }
        let mut result = Ok(());
        for (number, file) in files.iter().enumerate() {
            result = options.check_cancel();
            if result.is_ok() {
                result = write(file, queue.wait_for(number));
            }
            queue.written(number, file.file.size_bytes);
            if result.is_err() {
                break;
            }
        }
        result
    })
}

fn work(
    queue: &Queue,
    files: &[Candidate],
    model: &dyn Embedder,
    range: f32,
    options: &IndexOptions,
) {
    let mut preparer = Preparer::new(model, range);
    while let Some(number) = queue.take(files) {
        let Some(file) = files.get(number) else { break };
        // A defect of an extractor costs one file, not the run.
        let prepared = catch_unwind(AssertUnwindSafe(|| prepare(&mut preparer, file, options)));
        let outcome = prepared.unwrap_or_else(|_| {
            preparer = Preparer::new(model, range);
            let reason = "extraction failed inside; please report this file";
            skipped(&file.file, reason, [0; 32])
        });
        queue.done(number, outcome);
    }
}

fn prepare(preparer: &mut Preparer<'_>, candidate: &Candidate, options: &IndexOptions) -> Outcome {
    let file = &candidate.file;
    let limit = options.max_file_bytes;
    let bytes = match read(file, limit) {
        Ok(bytes) if bytes.len() as u64 > limit => {
            return skipped(file, &format!("larger than {limit} bytes"), [0; 32]);
        }
        Ok(bytes) => bytes,
        Err(error) => {
            return Outcome::Unread(Skipped {
                path: file.document_path.clone(),
                reason: error.to_string(),
            });
        }
    };
    let hash = *blake3::hash(&bytes).as_bytes();
    if !options.rebuild && candidate.known.is_some_and(|known| known.hash == hash) {
        return Outcome::Same;
    }
    let document = match extract::extract(&file.document_path, &bytes) {
        Ok(document) => document,
        Err(reason) => return skipped(file, &reason.to_string(), hash),
    };
    let source = Source {
        root: Some(file.root),
        size_bytes: bytes.len() as u64,
        modified_ms: file.modified_ms,
        hash,
    };
    match preparer.prepare(document, source, Cut::Chunks) {
        Ok(prepared) => Outcome::Prepared(Box::new(prepared)),
        Err(error) => skipped(file, &error.to_string(), hash),
    }
}

/// Reads a file that may have grown since the walk, at most one byte more than the limit.
fn read(file: &SourceFile, limit: u64) -> std::result::Result<Vec<u8>, OpenError> {
    let open = file.open()?;
    let mut bytes = Vec::with_capacity(usize::try_from(file.size_bytes.min(limit)).unwrap_or(0));
    open.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn skipped(file: &SourceFile, reason: &str, hash: [u8; 32]) -> Outcome {
    let skipped = Skipped {
        path: file.document_path.clone(),
        reason: reason.to_owned(),
    };
    Outcome::Skipped(skipped, hash)
}

/// Stops the workers when the writing side ends, however it does.
struct StopAtEnd<'q>(&'q Queue);

impl Drop for StopAtEnd<'_> {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// Which files are taken, done and written.
#[derive(Debug, Default)]
struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// The next file that a worker takes.
    next: usize,
    /// Files that the writer has finished.
    written: usize,
    /// Source bytes of files taken and not yet written.
    ahead_bytes: u64,
    /// Outcomes that wait for their turn.
    ready: BTreeMap<usize, Outcome>,
    /// No more files are to be taken.
    stopped: bool,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic while the lock is held is impossible: no code of others runs under it.
        self.state
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// The next file for a worker; waits while workers are too far ahead. `None` at the end.
    fn take(&self, files: &[Candidate]) -> Option<usize> {
        let mut state = self.lock();
        loop {
            let file = files.get(state.next)?;
            if state.stopped {
                return None;
            }
            let ahead = state.next - state.written;
            if ahead == 0 || (ahead < AHEAD_FILES && state.ahead_bytes < AHEAD_BYTES) {
                let number = state.next;
                state.next += 1;
                state.ahead_bytes += file.file.size_bytes;
                return Some(number);
            }
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(std::sync::PoisonError::into_inner);
        }
    }

    fn done(&self, number: usize, outcome: Outcome) {
        self.lock().ready.insert(number, outcome);
        self.changed.notify_all();
    }

    fn wait_for(&self, number: usize) -> Outcome {
        let mut state = self.lock();
        loop {
            if let Some(outcome) = state.ready.remove(&number) {
                return outcome;
            }
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(std::sync::PoisonError::into_inner);
        }
    }

    fn written(&self, number: usize, bytes: u64) {
        let mut state = self.lock();
        state.written = number + 1;
        state.ahead_bytes = state.ahead_bytes.saturating_sub(bytes);
        drop(state);
        self.changed.notify_all();
    }

    fn stop(&self) {
        self.lock().stopped = true;
        self.changed.notify_all();
    }
}
