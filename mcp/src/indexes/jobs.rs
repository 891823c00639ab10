//! Running and failed uploads and index runs.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use crate::response::ToolError;

/// Most jobs that are remembered; beyond that, those that have ended are forgotten.
const ENDED_LIMIT: usize = 256;

/// Most running jobs of one index: each upload holds its content until it is written.
const RUNNING_LIMIT: usize = 8;

/// Most of them that are uploads: however many come and however long they take to read, an index run has a place.
const UPLOADS_LIMIT: usize = 6;

/// How late an upload may notice that an earlier one of its path has ended.
const TICK: Duration = Duration::from_millis(10);

/// The state of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum JobState {
    /// It runs; percentage done.
    Running(u8),
    /// It failed; the reason.
    Failed(String),
}

/// An upload or an index run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Job {
    /// The document, or the name of the folder or index of an index run.
    pub(crate) path: String,
    pub(crate) state: JobState,
    /// Whether it is an upload, which goes on when its client has gone.
    pub(crate) is_upload: bool,
    /// Revision of the document when the job began, if there was one.
    pub(crate) before: Option<String>,
}

/// The jobs of one index, each with an id, as several may have the same path.
#[derive(Debug, Default)]
pub(crate) struct Jobs {
    table: Mutex<JobTable>,
}

#[derive(Debug, Default)]
struct JobTable {
    next_id: u64,
    by_id: BTreeMap<u64, Job>,
}

impl Jobs {
    fn table(&self) -> MutexGuard<'_, JobTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins an index run.
    ///
    /// # Errors
    /// `RATE_LIMITED` if too many jobs run.
    pub(crate) fn begin(
        self: &Arc<Jobs>,
        path: &str,
        before: Option<String>,
    ) -> Result<RunningJob, ToolError> {
        self.begin_job(path, before, false)
    }

    /// Begins an upload of a document, whose revision was `before` if it was there.
    ///
    /// # Errors
    /// As [`Jobs::begin`].
    pub(crate) fn begin_upload(
        self: &Arc<Jobs>,
        path: &str,
        before: Option<String>,
    ) -> Result<RunningJob, ToolError> {
        self.begin_job(path, before, true)
    }

    fn begin_job(
        self: &Arc<Jobs>,
        path: &str,
        before: Option<String>,
        is_upload: bool,
    ) -> Result<RunningJob, ToolError> {
        let mut table = self.table();
        let is_running = |job: &Job| matches!(job.state, JobState::Running(_));
        let running = || table.by_id.values().filter(|job| is_running(job));
        let uploads = running().filter(|job| job.is_upload).count();
        if running().count() >= RUNNING_LIMIT || (is_upload && uploads >= UPLOADS_LIMIT) {
            let sentence = "too many uploads and index runs are in progress";
            return Err(ToolError::new("RATE_LIMITED", sentence)
                .with_hint("get_status shows when they are done; then try again"));
        }
        if table.by_id.len() >= ENDED_LIMIT {
            table.by_id.retain(|_, job| is_running(job));
        }
        let id = table.next_id;
        table.next_id += 1;
        let job = Job {
            path: path.to_owned(),
            state: JobState::Running(0),
            is_upload,
            before,
        };
        table.by_id.insert(id, job);
        Ok(RunningJob {
            jobs: Arc::clone(self),
            id,
            has_ended: false,
        })
    }

    /// Forgets a job in any state.
    pub(crate) fn forget(&self, id: u64) {
        self.table().by_id.remove(&id);
    }

    /// The running job of that path, else the last one that failed.
    pub(crate) fn get(&self, path: &str) -> Option<Job> {
        let table = self.table();
        let of_path = || table.by_id.values().rev().filter(|job| job.path == path);
        let running = of_path().find(|job| matches!(job.state, JobState::Running(_)));
        running.or_else(|| of_path().next()).cloned()
    }

    /// All jobs, in the order in which they began.
    pub(crate) fn list(&self) -> Vec<Job> {
        self.table().by_id.values().cloned().collect()
    }

    /// Uploads that are not stored yet.
    pub(crate) fn uploads(&self) -> usize {
        let table = self.table();
        let is_running = |job: &&Job| job.is_upload && matches!(job.state, JobState::Running(_));
        table.by_id.values().filter(is_running).count()
    }

    fn has_running_before(&self, id: u64) -> bool {
        let table = self.table();
        let Some(this) = table.by_id.get(&id) else {
            return false;
        };
        let is_running = |job: &Job| job.is_upload && matches!(job.state, JobState::Running(_));
        let mut before = table.by_id.range(..id);
        before.any(|(_, job)| job.path == this.path && is_running(job))
    }

    fn set(&self, id: u64, state: JobState) {
        if let Some(job) = self.table().by_id.get_mut(&id) {
            job.state = state;
        }
    }
}

/// A running job, owned by the thread that does its work. Dropping it makes it a failed job, so that no job runs
/// for ever.
#[derive(Debug)]
pub(crate) struct RunningJob {
    jobs: Arc<Jobs>,
    id: u64,
    has_ended: bool,
}

impl RunningJob {
    /// The id of the job.
    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// Waits until the earlier uploads of its path have ended, so that what was sent last is what stays.
    pub(crate) fn wait_for_earlier(&self) {
        while self.jobs.has_running_before(self.id) {
            thread::sleep(TICK);
        }
    }

    /// Reports progress, in percent.
    pub(crate) fn progress(&self, percent: u8) {
        self.jobs.set(self.id, JobState::Running(percent));
    }

    /// The job succeeded: removes it, and failed jobs of the same path before it.
    pub(crate) fn done(mut self) {
        self.has_ended = true;
        let mut table = self.jobs.table();
        if let Some(job) = table.by_id.remove(&self.id) {
            let is_past = |id: u64, other: &Job| {
                id < self.id && other.path == job.path && matches!(other.state, JobState::Failed(_))
            };
            table.by_id.retain(|id, other| !is_past(*id, other));
        }
    }

    /// The job failed; the reason is kept for `get_status`.
    pub(crate) fn failed(mut self, why: String) {
        self.has_ended = true;
        self.jobs.set(self.id, JobState::Failed(why));
    }

    /// The job ended and its result was returned to the caller: removes it.
    pub(crate) fn finish(mut self) {
        self.has_ended = true;
        self.jobs.forget(self.id);
    }
}

impl Drop for RunningJob {
    fn drop(&mut self) {
        if !self.has_ended {
            let why = "it stopped unexpectedly".to_owned();
            self.jobs.set(self.id, JobState::Failed(why));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_running_jobs_is_limited() {
        let jobs = Arc::new(Jobs::default());
        // Each job counts, also with the same path.
        let mut running: Vec<RunningJob> = (0..RUNNING_LIMIT)
            .map(|_| jobs.begin("a", None).unwrap())
            .collect();
        assert_eq!(jobs.begin("b", None).unwrap_err().code, "RATE_LIMITED");
        assert!(jobs.get("b").is_none());
        running.pop().unwrap().failed("why".to_owned());
        running.push(jobs.begin("b", None).unwrap());
        running.pop().unwrap().done();
        jobs.begin("c", None).unwrap().finish();
        assert!(jobs.get("c").is_none());
    }

    #[test]
    fn uploads_leave_places_for_index_runs() {
        let jobs = Arc::new(Jobs::default());
        let uploads: Vec<RunningJob> = (0..UPLOADS_LIMIT)
            .map(|number| jobs.begin_upload(&number.to_string(), None).unwrap())
            .collect();
        let refused = jobs.begin_upload("more", None).unwrap_err();
        assert_eq!(refused.code, "RATE_LIMITED");
        let runs: Vec<RunningJob> = (UPLOADS_LIMIT..RUNNING_LIMIT)
            .map(|_| jobs.begin("folder", None).unwrap())
            .collect();
        assert!(!runs.is_empty());
        assert_eq!(jobs.begin("folder", None).unwrap_err().code, "RATE_LIMITED");
        drop(uploads);
    }

    #[test]
    fn an_upload_waits_for_earlier_ones_of_its_path() {
        let jobs = Arc::new(Jobs::default());
        let first = jobs.begin_upload("a", None).unwrap();
        let other = jobs.begin_upload("b", None).unwrap();
        let second = jobs.begin_upload("a", None).unwrap();
        other.wait_for_earlier();
        first.wait_for_earlier();
        assert!(jobs.has_running_before(second.id()));
        first.failed("why".to_owned());
        second.wait_for_earlier();
    }

    #[test]
    fn jobs_of_one_path_end_separately() {
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
    fn a_dropped_job_has_failed() {
        let jobs = Arc::new(Jobs::default());
        drop(jobs.begin("a", None).unwrap());
        let failed = JobState::Failed("it stopped unexpectedly".to_owned());
        assert_eq!(jobs.get("a").unwrap().state, failed);
    }
}
