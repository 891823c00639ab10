//! Uploads and index runs that are under way or were.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::response::ToolError;

/// Most jobs that are remembered when they have ended.
const ENDED_LIMIT: usize = 256;

/// Most jobs of one index at once: each upload holds its content until it is its turn to be written.
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
    /// The document, or the name of the folder or index of an index run.
    pub(crate) path: String,
    pub(crate) state: JobState,
    /// Revision of the document when the job began, where there was one.
    pub(crate) before: Option<String>,
}

/// The jobs of one index. Several may have the same path, so each has a number.
#[derive(Debug, Default)]
pub(crate) struct Jobs {
    all: Mutex<Numbered>,
}

#[derive(Debug, Default)]
struct Numbered {
    next: u64,
    jobs: BTreeMap<u64, Job>,
}

impl Jobs {
    fn all(&self) -> MutexGuard<'_, Numbered> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A job begins, unless as many run as may.
    pub(crate) fn begin(
        self: &Arc<Jobs>,
        path: &str,
        before: Option<String>,
    ) -> Result<Running, ToolError> {
        let mut all = self.all();
        let is_running = |job: &Job| matches!(job.state, JobState::Running(_));
        if all.jobs.values().filter(|job| is_running(job)).count() >= RUNNING_LIMIT {
            let sentence = "too many uploads and index runs are under way";
            return Err(ToolError::new("RATE_LIMITED", sentence)
                .with_hint("get_status tells when they are done; then try again"));
        }
        if all.jobs.len() >= ENDED_LIMIT {
            all.jobs.retain(|_, job| is_running(job));
        }
        let number = all.next;
        all.next += 1;
        let job = Job {
            path: path.to_owned(),
            state: JobState::Running(0),
            before,
        };
        all.jobs.insert(number, job);
        Ok(Running {
            jobs: Arc::clone(self),
            number,
            is_over: false,
        })
    }

    /// Forgets a job, whatever became of it.
    pub(crate) fn forget(&self, number: u64) {
        self.all().jobs.remove(&number);
    }

    /// The job of that path that runs, else the last one that failed.
    pub(crate) fn get(&self, path: &str) -> Option<Job> {
        let all = self.all();
        let of_path = || all.jobs.values().rev().filter(|job| job.path == path);
        let running = of_path().find(|job| matches!(job.state, JobState::Running(_)));
        running.or_else(|| of_path().next()).cloned()
    }

    /// All, in the order they began.
    pub(crate) fn list(&self) -> Vec<Job> {
        self.all().jobs.values().cloned().collect()
    }

    fn set(&self, number: u64, state: JobState) {
        if let Some(job) = self.all().jobs.get_mut(&number) {
            job.state = state;
        }
    }
}

/// A job under way, held by who does it. However it ends, it does not stay running.
#[derive(Debug)]
pub(crate) struct Running {
    jobs: Arc<Jobs>,
    number: u64,
    is_over: bool,
}

impl Running {
    /// What the job is known by.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// It goes on; per cent done.
    pub(crate) fn progress(&self, percent: u8) {
        self.jobs.set(self.number, JobState::Running(percent));
    }

    /// It ended well; what failed for the same path before does not matter any more.
    pub(crate) fn done(mut self) {
        self.is_over = true;
        let mut all = self.jobs.all();
        if let Some(job) = all.jobs.remove(&self.number) {
            let is_past = |number: u64, other: &Job| {
                number < self.number
                    && other.path == job.path
                    && matches!(other.state, JobState::Failed(_))
            };
            all.jobs.retain(|number, other| !is_past(*number, other));
        }
    }

    /// It failed; why.
    pub(crate) fn failed(mut self, why: String) {
        self.is_over = true;
        self.jobs.set(self.number, JobState::Failed(why));
    }

    /// It ended, and whoever asked for it was told how.
    pub(crate) fn told(mut self) {
        self.is_over = true;
        self.jobs.forget(self.number);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.is_over {
            let why = "it stopped unexpectedly".to_owned();
            self.jobs.set(self.number, JobState::Failed(why));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_so_many_jobs_run_at_once_and_those_that_ended_do_not_count() {
        let jobs = Arc::new(Jobs::default());
        // The same path counts as often as it is worked on.
        let mut running: Vec<Running> = (0..RUNNING_LIMIT)
            .map(|_| jobs.begin("a", None).unwrap())
            .collect();
        assert_eq!(jobs.begin("b", None).unwrap_err().code, "RATE_LIMITED");
        assert!(jobs.get("b").is_none());
        running.pop().unwrap().failed("why".to_owned());
        running.push(jobs.begin("b", None).unwrap());
        running.pop().unwrap().done();
        jobs.begin("c", None).unwrap().told();
        assert!(jobs.get("c").is_none());
    }

    #[test]
    fn two_jobs_of_one_path_do_not_end_each_other() {
        let jobs = Arc::new(Jobs::default());
        let state = || jobs.get("a").map(|job| job.state);
        let (first, second) = (
            jobs.begin("a", None).unwrap(),
            jobs.begin("a", None).unwrap(),
        );
        first.done();
        assert_eq!(state(), Some(JobState::Running(0)));
        let third = jobs.begin("a", None).unwrap();
        second.failed("why".to_owned());
        assert_eq!(state(), Some(JobState::Running(0)));
        third.done();
        assert_eq!(state(), None);
    }

    #[test]
    fn a_job_that_is_let_fall_has_failed() {
        let jobs = Arc::new(Jobs::default());
        drop(jobs.begin("a", None).unwrap());
        let failed = JobState::Failed("it stopped unexpectedly".to_owned());
        assert_eq!(jobs.get("a").unwrap().state, failed);
    }
}
