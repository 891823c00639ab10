//! Counts the bytes that a connection has accepted and not yet written.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::transport::quota::QuotaPermit;

/// The permits of response bytes that one connection has buffered. They are released when everything is
/// written, so that a client that does not read keeps its own memory only.
#[derive(Debug, Default)]
pub(crate) struct Unflushed {
    permits: Mutex<Vec<QuotaPermit>>,
    /// Notified when everything is written.
    written: Notify,
}

impl Unflushed {
    fn permits(&self) -> MutexGuard<'_, Vec<QuotaPermit>> {
        self.permits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the permit of bytes that the connection takes now.
    pub(crate) fn add(&self, permit: QuotaPermit) {
        self.permits().push(permit);
    }

    /// The connection has written everything that it was given.
    pub(crate) fn flushed(&self) {
        let written = std::mem::take(&mut *self.permits());
        if !written.is_empty() {
            drop(written);
            self.written.notify_waiters();
        }
    }

    /// Waits until everything that counts is written.
    pub(crate) async fn drained(&self) {
        loop {
            // Before the look, so that no notification falls between the two.
            let written = self.written.notified();
            if self.permits().is_empty() {
                return;
            }
            written.await;
        }
    }
}
