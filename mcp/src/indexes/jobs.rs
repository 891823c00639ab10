//! Uploads and index runs that are under way or were.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Most jobs that are remembered when they have ended.
const ENDED_LIMIT: usize = 256;

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

    /// A job begins or goes on.
    pub(crate) fn set(&self, path: &str, state: JobState) {
        let mut all = self.all();
        if !all.contains_key(path) && all.len() >= ENDED_LIMIT {
            all.retain(|_, state| matches!(state, JobState::Running(_)));
        }
        all.insert(path.to_owned(), state);
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
