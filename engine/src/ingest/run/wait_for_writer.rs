//! Waiting for a writer in another process, in steps that can be interrupted.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use kb_types::error::{Error, Result};

/// Pause after an attempt that did not wait itself.
const PAUSE: Duration = Duration::from_millis(50);

/// How long the first attempt waits without a message.
// Most commits of others take less (174 ms for one changed file).
const FIRST_WAIT: Duration = Duration::from_secs(1);

/// Calls `attempt` until no other writer has the file. `limit` is how long is waited at most; the time in
/// which an attempt reads sources is not waiting, so a long run still waits when it comes to the lock.
/// `attempt` gets the time that it may wait itself, for [`crate::KbWriter::lock_timeout`]: a second the
/// first time, then `step`, or what is left. It is repeated whole, so `step` should be long where it does
/// much before it takes the lock (`KbWriter::index` compares the sources first). `hook` is called after
/// each attempt, with who has the file; [`ControlFlow::Break`] ends the wait.
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
    let mut left = limit;
    let mut timeout = FIRST_WAIT.min(left);
    loop {
        let attempted = Instant::now();
        let holder = match attempt(timeout) {
            Err(Error::IndexLocked { holder }) => holder,
            result => return result,
        };
        let elapsed = attempted.elapsed();
        left = left.saturating_sub(elapsed.min(timeout));
        if left.is_zero() {
            return Err(Error::IndexLocked { holder });
        }
        if hook(&holder).is_break() {
            return Err(Error::Cancelled);
        }
        if elapsed < timeout {
            let pause = PAUSE.min(left);
            std::thread::sleep(pause);
            left -= pause;
        }
        timeout = step.min(left);
    }
}
