//! [`Watch`]: whether a search goes on.

use std::time::Instant;

use kb_types::error::Result;

/// Steps between two looks at the clock and at the caller's cancellation.
// Well below a millisecond of work, and a look at the clock costs some tens of nanoseconds.
const STEPS: u64 = 1 << 16;

/// Counts the steps of a search, and looks at the clock and at the caller from time to time.
pub(in crate::search::regex) struct Watch<'w> {
    /// Fails when the caller has stopped the search.
    tick: &'w dyn Fn() -> Result<()>,
    /// When the time is up.
    deadline: Option<Instant>,
    /// Steps since the last look.
    steps: u64,
    /// Whether the time was up at the last look.
    is_over: bool,
}

impl std::fmt::Debug for Watch<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watch")
            .field("deadline", &self.deadline)
            .field("steps", &self.steps)
            .finish_non_exhaustive()
    }
}

impl<'w> Watch<'w> {
    /// Calls `tick` on its way; the time is up at `deadline`.
    pub(in crate::search::regex) fn new(
        tick: &'w dyn Fn() -> Result<()>,
        deadline: Option<Instant>,
    ) -> Watch<'w> {
        Watch {
            tick,
            deadline,
            steps: 0,
            is_over: false,
        }
    }

    /// Counts steps that were done, and returns whether the time is up.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled) when the caller has stopped the search.
    pub(in crate::search::regex) fn is_over_after(&mut self, steps: u64) -> Result<bool> {
        self.steps = self.steps.saturating_add(steps);
        if self.steps >= STEPS {
            self.steps = 0;
            (self.tick)()?;
            let deadline = self.deadline;
            // Once over, always over: callers that ask again get the same answer.
            self.is_over |= deadline.is_some_and(|deadline| Instant::now() >= deadline);
        }
        Ok(self.is_over)
    }
}
