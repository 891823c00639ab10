//! Calls into redb: its panics over files that contradict themselves, and its errors.

use std::cell::Cell;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Once};

use kb_types::error::{Error, Result};

use crate::container::layout::table::MAX_VALUE_BYTES;

/// Where redb is called. One for each writer, shared with the storage that redb writes through: after
/// a panic redb's memory is not to be trusted, so nothing of it may reach the disk any more, closing
/// included.
#[derive(Debug, Clone)]
pub(crate) struct PanicGuard {
    /// Whether a call has panicked.
    broken: Arc<AtomicBool>,
    /// The process that opened the file. One that was forked from it has copies of redb's memory, and
    /// nothing of those may reach the disk either.
    process_id: u32,
}

thread_local! {
    /// Whether this thread is inside a call whose panic becomes an error.
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// A panic is printed before it unwinds. From the first call on those of guarded calls are not.
fn keep_panics_off_stderr() {
    static HOOK: Once = Once::new();
    // A thread that panics may not set the hook; it is printed then.
    if !std::thread::panicking() {
        HOOK.call_once(|| {
            let others = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                if !IS_GUARDED.get() {
                    others(panic);
                }
            }));
        });
    }
}

impl Default for PanicGuard {
    fn default() -> PanicGuard {
        PanicGuard {
            broken: Arc::default(),
            process_id: std::process::id(),
        }
    }
}

impl PanicGuard {
    /// # Errors
    /// [`Error::ForkedWriter`] in a process that was forked from the one which opened the file.
    pub(crate) fn check_process(&self) -> Result<()> {
        match self.process_id {
            own if own == std::process::id() => Ok(()),
            process_id => Err(Error::ForkedWriter { process_id }),
        }
    }

    /// Runs `call`; a panic in it becomes an error, and the storage refuses all changes from then on.
    /// What `call` works on must not be used afterwards except to be dropped, in another such call.
    pub(crate) fn call<T>(&self, call: impl FnOnce() -> Result<T>) -> Result<T> {
        keep_panics_off_stderr();
        // Calls may nest: closing inside a guarded commit must not make the outer call's panic
        // visible.
        let is_inside_another = IS_GUARDED.replace(true);
        let result = catch_unwind(AssertUnwindSafe(call));
        IS_GUARDED.set(is_inside_another);
        result.unwrap_or_else(|_| {
            // Set before the caller can drop redb's objects, whose destructors write.
            self.broken.store(true, Ordering::Release);
            Err(Error::damaged(
                "redb's own tables contradict each other or the pages in use",
            ))
        })
    }

    /// # Errors
    /// When a call has panicked, or in a forked process.
    pub(crate) fn check(&self) -> io::Result<()> {
        self.check_process().map_err(io::Error::other)?;
        if self.broken.load(Ordering::Acquire) {
            Err(io::Error::other("redb failed on this file before"))
        } else {
            Ok(())
        }
    }
}

/// redb's errors in our words.
pub(crate) fn from_redb(error: impl Into<redb::Error>) -> Error {
    match error.into() {
        redb::Error::Corrupted(what) => Error::damaged(format!("redb: {what}")),
        redb::Error::ValueTooLarge(size) => Error::TooLarge {
            what: "a value".to_owned(),
            size: size as u64,
            limit: MAX_VALUE_BYTES as u64,
        },
        // redb refuses further work after a failed write; the first failure was reported already.
        redb::Error::PreviousIo | redb::Error::TransactionPoisoned => Error::WriterFailed,
        redb::Error::DatabaseAlreadyOpen | redb::Error::LockProtocolMismatch => {
            Error::IndexLocked {
                holder: "a program that uses redb directly".to_owned(),
            }
        }
        redb::Error::UpgradeRequired(version) => Error::FormatUnsupported {
            needs: format!("redb file format {version}"),
            reads: "redb file format 3".to_owned(),
        },
        error @ (redb::Error::TableTypeMismatch { .. }
        | redb::Error::TableIsMultimap(_)
        | redb::Error::TypeDefinitionChanged { .. }) => Error::damaged(format!("redb: {error}")),
        redb::Error::Io(error) => Error::storage(error),
        error => Error::Storage {
            reason: error.to_string(),
            source: None,
        },
    }
}

#[cfg(test)]
mod tests;
