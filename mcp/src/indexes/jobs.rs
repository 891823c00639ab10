//! Uploads and index runs that are under way or were.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Most jobs that are remembered when they have ended.
const ENDED_LIMIT: usize = 256;

/// Most uploads of one index at once: each holds its content until it is its turn to be written.
const RUNNING_LIMIT: usize = 8;

/// What became of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum JobState {
    /// It runs; per cent done.
    Running(u8),
    /// It failed; why.
    Failed(String),
}

/// One upload or index run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Job {
    /// The document, or the folder that is indexed.
    pub(crate) path: String,
    pub(crate) state: JobState,
}

/// The jobs of one index, by path.
#[derive(Debug, Default)]
pub(crate) struct Jobs {
    all: Mutex<BTreeMap<String, JobState>>,
}

impl Jobs {
    fn all(&self) -> MutexGuard<'_, BTreeMap<String, JobState>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A job begins, unless as many run as may.
    pub(crate) fn begin(&self, path: &str) -> bool {
        let mut all = self.all();
        let running = all
            .values()
            .filter(|state| matches!(state, JobState::Running(_)));
        if running.count() >= RUNNING_LIMIT {
            return false;
        }
        put(&mut all, path, JobState::Running(0));
        true
    }

    /// A job goes on, or has failed.
    pub(crate) fn set(&self, path: &str, state: JobState) {
        put(&mut self.all(), path, state);
    }

    /// A job ended well.
    pub(crate) fn done(&self, path: &str) {
        self.all().remove(path);
    }

    pub(crate) fn get(&self, path: &str) -> Option<JobState> {
        self.all().get(path).cloned()
    }

    /// All, by path.
    pub(crate) fn list(&self) -> Vec<Job> {
        let all = self.all();
        let jobs = all.iter().map(|(path, state)| Job {
            path: path.clone(),
            state: state.clone(),
        });
        jobs.collect()
    }
}

/// Remembers a state; where too many are remembered, those that ended are forgotten.
fn put(all: &mut BTreeMap<String, JobState>, path: &str, state: JobState) {
    if !all.contains_key(path) && all.len() >= ENDED_LIMIT {
        all.retain(|_, state| matches!(state, JobState::Running(_)));
    }
    all.insert(path.to_owned(), state);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_so_many_jobs_run_at_once_and_those_that_ended_do_not_count() {
        let jobs = Jobs::default();
        for n in 0..RUNNING_LIMIT {
            assert!(jobs.begin(&n.to_string()));
        }
        assert!(!jobs.begin("one more") && jobs.get("one more").is_none());
        jobs.set("0", JobState::Failed("why".to_owned()));
        assert!(jobs.begin("one more"));
        jobs.done("1");
        assert!(jobs.begin("another"));
    }
}
