//! Waiting for a writer in another process, in steps that can be interrupted.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use crate::error::{Error, Result};

/// Pause after an attempt that did not wait itself.
const PAUSE: Duration = Duration::from_millis(50);

/// Calls `attempt` until no other writer has the file, for `limit` at most. `attempt` gets the time that
/// it may wait itself, for [`crate::KbWriter::lock_timeout`]: nothing the first time, then `step` at most.
/// It is repeated whole, so `step` should be long where it does much before it takes the lock
/// (`KbWriter::index` compares the sources first). `hook` is called after each attempt, with who has the
/// file; [`ControlFlow::Break`] ends the wait.
///
/// # Errors
/// [`Error::IndexLocked`] when the time is over, [`Error::Cancelled`] after `Break`, and those of
/// `attempt`.
pub fn wait_for_writer<T>(
    limit: Duration,
    step: Duration,
    hook: &mut dyn FnMut(&str) -> ControlFlow<()>,
    mut attempt: impl FnMut(Duration) -> Result<T>,
) -> Result<T> {
    let started = Instant::now();
    let mut timeout = Duration::ZERO;
    loop {
        let attempted = Instant::now();
        let holder = match attempt(timeout) {
            Err(Error::IndexLocked { holder }) => holder,
            result => return result,
        };
        let left = limit.saturating_sub(started.elapsed());
        if left.is_zero() {
            return Err(Error::IndexLocked { holder });
        }
        if hook(&holder).is_break() {
            return Err(Error::Cancelled);
        }
        if timeout.is_zero() || attempted.elapsed() < timeout {
            std::thread::sleep(PAUSE.min(left));
        }
        timeout = step.min(left);
    }
}
