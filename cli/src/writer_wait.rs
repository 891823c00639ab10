//! Waits for another writer, and handles interrupts.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::log;

/// How long one attempt waits for the lock. An interrupt is not noticed during this time, and after it an index run
/// looks at all its sources again.
const STEP: Duration = Duration::from_secs(2);

/// As [`kb_engine::wait_for_writer`], but ends once `cancel` is set. `on_wait` is called once, with a description of the
/// other writer.
///
/// # Errors
/// [`kb_engine::Error::IndexLocked`] when the time is over, [`kb_engine::Error::Cancelled`] once `cancel` is set, and
/// those of `attempt`.
pub(crate) fn wait_for_writer<T>(
    limit: Duration,
    cancel: Option<&AtomicBool>,
    on_wait: &mut dyn FnMut(&str),
    attempt: impl FnMut(Duration) -> kb_engine::Result<T>,
) -> kb_engine::Result<T> {
    let mut is_first = true;
    let mut hook = |holder: &str| {
        if let Some(cancel) = cancel
            && stop_if(cancel).is_break()
        {
            return ControlFlow::Break(());
        }
        if std::mem::take(&mut is_first) {
            on_wait(holder);
        }
        ControlFlow::Continue(())
    };
    kb_engine::wait_for_writer(limit, STEP, &mut hook, attempt)
}

/// Returns what a progress hook returns: stop once `cancel` is set.
pub(crate) fn stop_if(cancel: &AtomicBool) -> ControlFlow<()> {
    if cancel.load(Ordering::Relaxed) {
        ControlFlow::Break(())
    } else {
        ControlFlow::Continue(())
    }
}

/// Returns the note that is printed while another writer has the file.
pub(crate) fn waiting_note(holder: &str) -> String {
    format!("waiting for {holder}")
}

/// Installs an interrupt handler: the first interrupt sets the returned flag and calls `first`, the second ends the process.
pub(crate) fn on_interrupt(first: impl Fn() + Send + 'static) -> Result<Arc<AtomicBool>, Failure> {
    let cancel = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&cancel);
    ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(Exit::Interrupted as i32);
        }
        first();
    })
    .map_err(|error| Failure::new("IO", format!("cannot listen for interrupts: {error}"), None))?;
    Ok(cancel)
}

/// As [`on_interrupt`], with a message that the run is stopping.
pub(crate) fn stop_on_interrupt() -> Result<Arc<AtomicBool>, Failure> {
    on_interrupt(|| {
        // Below the `^C` that the terminal shows.
        log("");
        log("stopping; press Ctrl-C again to exit at once");
    })
}

#[cfg(test)]
mod tests {
    use kb_engine::Error;

    use super::*;

    fn locked() -> Error {
        Error::IndexLocked {
            holder: "a test".to_owned(),
        }
    }

    #[test]
    fn a_freed_file_is_written_and_its_holder_named_once() {
        let (mut attempts, mut told) = (0, Vec::new());
        let result = wait_for_writer(
            Duration::from_secs(60),
            None,
            &mut |holder| told.push(holder.to_owned()),
            |_| {
                attempts += 1;
                if attempts < 3 { Err(locked()) } else { Ok(7) }
            },
        );
        assert_eq!(result.unwrap(), 7);
        assert_eq!(told, ["a test"]);
    }

    #[test]
    fn the_time_of_reading_is_not_that_of_waiting() {
        let mut attempts = 0;
        let limit = Duration::from_millis(1100);
        let result = wait_for_writer(limit, None, &mut |_| (), |_| {
            attempts += 1;
            if attempts > 1 {
                return Ok(());
            }
            // A run that reads for longer than it would wait.
            std::thread::sleep(limit * 2);
            Err(locked())
        });
        assert!(result.is_ok());
    }

    #[test]
    fn without_a_limit_nobody_waits_and_an_interrupt_ends_waiting() {
        let mut attempts = 0;
        let refused = wait_for_writer(Duration::ZERO, None, &mut |_| (), |_| {
            attempts += 1;
            Err::<(), _>(locked())
        });
        assert_eq!(refused.unwrap_err().code(), "INDEX_LOCKED");
        assert_eq!(attempts, 1);
        let cancel = AtomicBool::new(true);
        let stopped = wait_for_writer(Duration::MAX, Some(&cancel), &mut |_| (), |_| {
            Err::<(), _>(locked())
        });
        assert_eq!(stopped.unwrap_err().code(), "CANCELLED");
    }
}
