//! Calls into redb, which panics over some files that contradict themselves.

use crate::error::{Error, Result};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Where redb is called. One for each writer, shared with the storage that redb writes through: after
/// a panic redb's memory is not to be trusted, so nothing of it may reach the disk any more, closing
/// included.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seam {
    /// Whether a call has panicked.
    broken: Arc<AtomicBool>,
}

impl Seam {
    /// Runs `call`; a panic in it becomes an error, and the storage refuses all changes from then on.
    /// What `call` works on must not be used afterwards except to be dropped, in another such call.
    pub(crate) fn call<T>(&self, call: impl FnOnce() -> Result<T>) -> Result<T> {
        catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|_| {
            self.broken.store(true, Ordering::Release);
            Err(Error::damaged(
                "redb's own tables contradict each other or the pages in use",
            ))
        })
    }

    /// # Errors
    /// When a call has panicked.
    pub(crate) fn check(&self) -> io::Result<()> {
        match self.broken.load(Ordering::Acquire) {
            false => Ok(()),
            true => Err(io::Error::other("redb failed on this file before")),
        }
    }
}
