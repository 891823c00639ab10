//! Times the steps of a search.

use std::time::Instant;

use crate::search::explanation::Step;

/// Times the steps of one search, for [`Step`]s of the explanation. No result depends on it.
#[derive(Debug)]
pub(crate) struct StepTimer {
    /// End of the last step.
    last: Instant,
    /// Steps so far.
    pub(crate) steps: Vec<Step>,
}

impl StepTimer {
    pub(crate) fn start() -> StepTimer {
        StepTimer {
            last: Instant::now(),
            steps: Vec::new(),
        }
    }

    /// Ends a step, which began when the one before ended.
    pub(crate) fn step(&mut self, name: &'static str) {
        let now = Instant::now();
        let micros = u64::try_from((now - self.last).as_micros()).unwrap_or(u64::MAX);
        self.steps.push(Step { name, micros });
        self.last = now;
    }
}
