//! Limits how many uploads are read by worker processes at once: each may use its whole memory limit.

use std::sync::{Condvar, Mutex, PoisonError};

/// As many as there are writing calls at once.
const PLACES: usize = 4;

static TAKEN: Mutex<usize> = Mutex::new(0);
static FREED: Condvar = Condvar::new();

/// A place that is free again when this is dropped.
#[derive(Debug)]
pub(super) struct ReaderPlace(());

impl ReaderPlace {
    /// Waits while all are taken: each for as long as a worker process may take, a minute.
    pub(super) fn take() -> ReaderPlace {
        let taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = FREED.wait_while(taken, |taken| *taken >= PLACES);
        let mut taken = waited.unwrap_or_else(PoisonError::into_inner);
        *taken += 1;
        ReaderPlace(())
    }
}

impl Drop for ReaderPlace {
    fn drop(&mut self) {
        let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        *taken = taken.saturating_sub(1);
        drop(taken);
        FREED.notify_one();
    }
}
