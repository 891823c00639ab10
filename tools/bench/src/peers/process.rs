//! Systems as processes of their own: kept to one core, waited for with a limit, one JSON object said.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail, ensure};
use serde_json::Value;

use crate::child;

/// One core and one thread, in every way that a library may be told.
pub(crate) const ONE_THREAD: [&str; 6] = [
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "RAYON_NUM_THREADS",
    "TOKIO_WORKER_THREADS",
    "LANCE_CPU_THREADS",
    "LANCE_IO_THREADS",
];

/// How often a process that is waited for is looked at.
const INTERVAL: Duration = Duration::from_millis(20);

/// Whether [`on_core`] can be used.
pub(crate) fn can_pin() -> bool {
    let taskset = Command::new("taskset").arg("-V").output();
    taskset.is_ok_and(|output| output.status.success())
}

/// A command that runs the program on one core only, counted from the last one.
pub(crate) fn on_core(program: &Path, from_last: usize) -> Command {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let core = cores.saturating_sub(1 + from_last);
    let mut command = Command::new("taskset");
    command.args(["-c", &core.to_string()]).arg(program);
    command
}

/// Runs the command to its end and returns what it said. `files` is where its output goes: pipes would
/// have to be read while it is waited for.
pub(crate) fn answer_of(command: &mut Command, files: &Path, limit: Duration) -> Result<Value> {
    command.stdin(Stdio::null());
    Started::new(command, files)?.answer(limit)
}

/// A process that is not waited for yet. Dropping it ends the process.
pub(crate) struct Started {
    child: Child,
    said: PathBuf,
    complained: PathBuf,
}

impl Started {
    /// Starts the command with output beside `files`; its input is left as it is.
    pub(crate) fn new(command: &mut Command, files: &Path) -> Result<Started> {
        let said = files.with_added_extension("json");
        let complained = files.with_added_extension("log");
        let child = command
            .stdout(File::create(&said)?)
            .stderr(File::create(&complained)?)
            .spawn()
            .with_context(|| format!("cannot start {}", command.get_program().display()))?;
        Ok(Started {
            child,
            said,
            complained,
        })
    }

    /// Waits until it has said a line, its input being piped.
    pub(crate) fn ready(&mut self, limit: Duration) -> Result<()> {
        let end = Instant::now() + limit;
        while !fs::read_to_string(&self.said)?.ends_with('\n') {
            if let Some(status) = self.child.try_wait()? {
                return self.check(status);
            }
            ensure!(Instant::now() < end, "not ready after {limit:?}");
            thread::sleep(INTERVAL);
        }
        Ok(())
    }

    /// Ends its input, which it waits for.
    pub(crate) fn go(&mut self) {
        drop(self.child.stdin.take());
    }

    /// Waits for its end and returns what it said.
    pub(crate) fn answer(self, limit: Duration) -> Result<Value> {
        Ok(self.answer_and_peak(limit)?.0)
    }

    /// The same, and the most private memory it was seen with; 0 where the system does not tell.
    pub(crate) fn answer_and_peak(mut self, limit: Duration) -> Result<(Value, u64)> {
        let end = Instant::now() + limit;
        let process = PathBuf::from(format!("/proc/{}/status", self.child.id()));
        let mut peak = 0;
        let status = loop {
            if let Some(status) = self.child.try_wait()? {
                break status;
            }
            let status = fs::read_to_string(&process).unwrap_or_default();
            peak = child::field_bytes(&status, "RssAnon:").max(peak);
            if Instant::now() > end {
                bail!("took longer than {} s", limit.as_secs());
            }
            thread::sleep(INTERVAL);
        };
        self.check(status)?;
        Ok((answer(&fs::read_to_string(&self.said)?)?, peak))
    }

    fn check(&self, status: ExitStatus) -> Result<()> {
        if !status.success() {
            let log = fs::read_to_string(&self.complained).unwrap_or_default();
            bail!("ended with {status}: {}", last_line(&log));
        }
        Ok(())
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // Fails where it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a system printed: the last line, because a library may print before.
pub(crate) fn answer(output: &str) -> Result<Value> {
    let line = output.lines().next_back().unwrap_or_default();
    serde_json::from_str(line).map_err(|error| anyhow!("no answer but {line:?}: {error}"))
}

/// What was said last before a failure.
pub(crate) fn last_line(log: &str) -> &str {
    let mut lines = log.lines().map(str::trim);
    lines
        .rfind(|line| !line.is_empty())
        .unwrap_or("it said nothing")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_is_what_a_system_says() {
        assert_eq!(answer("warning\n{\"a\":1}\n").unwrap()["a"], 1);
        assert!(answer("").is_err() && answer("Traceback").is_err());
        assert_eq!(last_line("a\nImportError: b \n\n"), "ImportError: b");
        assert_eq!(last_line(""), "it said nothing");
    }

    #[test]
    #[cfg(unix)]
    fn a_process_waits_for_its_word_and_one_that_hangs_is_ended() {
        let folder = tempfile::tempdir().unwrap();
        let files = folder.path().join("a.load");
        let mut shell = Command::new("sh");
        shell.args(["-c", "echo ready; cat; echo 7"]);
        let mut started = Started::new(shell.stdin(Stdio::piped()), &files).unwrap();
        started.ready(Duration::from_secs(60)).unwrap();
        started.go();
        assert_eq!(started.answer(Duration::from_secs(60)).unwrap(), 7);
        let mut slow = Command::new("sleep");
        let error = answer_of(slow.arg("60"), &files, Duration::ZERO).unwrap_err();
        assert!(error.to_string().contains("longer"), "{error}");
        let mut wrong = Command::new("sh");
        wrong.args(["-c", "echo no such index >&2; exit 1"]);
        let error = answer_of(&mut wrong, &files, Duration::from_secs(60)).unwrap_err();
        assert!(error.to_string().contains("no such index"), "{error}");
    }
}
