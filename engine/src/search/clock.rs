//! What each step of a request takes.

use std::time::Instant;

use crate::search::response::Step;

/// Times the steps of one request, for the explanation only: no answer depends on it.
#[derive(Debug)]
pub(super) struct Clock {
    /// When the last step ended.
    last: Instant,
    /// Steps so far.
    pub(super) steps: Vec<Step>,
}

impl Clock {
    pub(super) fn start() -> Clock {
        Clock {
            last: Instant::now(),
            steps: Vec::new(),
        }
    }

    /// Ends a step.
    pub(super) fn step(&mut self, name: &'static str) {
        let now = Instant::now();
        let micros = u64::try_from((now - self.last).as_micros()).unwrap_or(u64::MAX);
        self.steps.push(Step { name, micros });
        self.last = now;
    }
}
