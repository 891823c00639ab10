//! What the tests of this room share.

use std::time::Duration;

/// Longer than anything takes that a test waits for, on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// Runs a future to completion on a runtime of its own.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}
