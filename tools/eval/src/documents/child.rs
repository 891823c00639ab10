//! Reads each file in a separate process, so that a crash is a result like any other.

use std::env;
use std::fs::{self, File};
use std::io::{Read, Seek};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::metric::Metric;

/// The hidden argument that makes this program a reader.
pub(super) const READER: &str = "--reader";
/// How often the memory of a reader is looked at.
const INTERVAL: Duration = Duration::from_millis(2);

/// What a reader may use.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Address space.
    pub(super) memory_bytes: u64,
    pub(super) cpu_seconds: u64,
    /// Time of the clock: a machine that does other work needs more than that of the processor.
    pub(super) elapsed: Duration,
}

/// A file to read.
#[derive(Debug, Clone)]
pub(super) struct Reading<'a> {
    pub(super) file: &'a Path,
    /// The name that its document has.
    pub(super) name: &'a str,
    pub(super) format: &'a str,
    pub(super) oracle: Option<&'a Path>,
    /// Whether its time counts: it is then read for a while.
    pub(super) is_timed: bool,
}

/// What came of it.
#[derive(Debug, Clone)]
pub(super) enum Outcome {
    Document(Box<ReadDocument>),
    /// The reason.
    Refused(String),
    /// It ran into a limit of the process; which one.
    Stopped(&'static str),
    /// It ended in a way that no input may bring about; how.
    Crashed(String),
}

/// A document that was read.
#[derive(Debug, Clone, Default)]
pub(super) struct ReadDocument {
    pub(super) text_bytes: u64,
    pub(super) parts: u64,
    pub(super) pages: u64,
    pub(super) metrics: Vec<(Metric, f64)>,
    pub(super) misses: Vec<String>,
    pub(super) missed: u64,
}

/// An outcome and what it took.
#[derive(Debug, Clone)]
pub(super) struct Measured {
    pub(super) outcome: Outcome,
    /// Of extraction alone where it ended, of the whole process where it was ended.
    pub(super) cpu: Duration,
    /// Largest resident memory, with the 10 MB or so that any process of this program has.
    pub(super) peak_bytes: u64,
}

/// Has a file read.
pub(super) fn read(reading: &Reading, limits: Limits) -> Result<Measured> {
    let program = env::current_exe()?;
    let (mut stdout, mut stderr) = (tempfile::tempfile()?, tempfile::tempfile()?);
    let mut command = Command::new(&program);
    command
        .args(["documents", READER, "--file"])
        .arg(reading.file)
        .args(["--name", reading.name, "--format", reading.format])
        .args(["--memory", &limits.memory_bytes.to_string()])
        .args(["--cpu", &limits.cpu_seconds.to_string()])
        .args(["--timed", &reading.is_timed.to_string()])
        .env_remove("RUST_BACKTRACE")
        .stdin(Stdio::null())
        .stdout(stdout.try_clone()?)
        .stderr(stderr.try_clone()?);
    if let Some(oracle) = reading.oracle {
        command.arg("--oracle").arg(oracle);
    }
    let mut child = command
        .spawn()
        .with_context(|| format!("cannot start {command:?}"))?;
    let (status, seen) = wait(&mut child, limits.elapsed)?;
    let errors = text_of(&mut stderr)?;
    let Some(status) = status else {
        return Ok(Measured {
            outcome: Outcome::Stopped("time"),
            ..seen
        });
    };
    if !status.success() {
        return Ok(Measured {
            outcome: ending(status, &errors)?,
            ..seen
        });
    }
    let report: Value = serde_json::from_str(&text_of(&mut stdout)?)
        .with_context(|| format!("no report on {}", reading.file.display()))?;
    Ok(Measured {
        outcome: outcome(&report),
        cpu: Duration::from_nanos(report["cpu_ns"].as_u64().unwrap_or(0)),
        peak_bytes: report["peak_bytes"].as_u64().unwrap_or(0),
    })
}

fn text_of(file: &mut File) -> Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Waits for the end, at most so long; what was seen of it meanwhile.
fn wait(child: &mut Child, limit: Duration) -> Result<(Option<ExitStatus>, Measured)> {
    let start = Instant::now();
    let process = PathBuf::from(format!("/proc/{}", child.id()));
    let mut seen = Measured {
        outcome: Outcome::Stopped("time"),
        cpu: Duration::ZERO,
        peak_bytes: 0,
    };
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok((Some(status), seen));
        }
        if start.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            return Ok((None, seen));
        }
        if let Ok(status) = fs::read_to_string(process.join("status")) {
            seen.peak_bytes = seen.peak_bytes.max(status_bytes(&status, "VmHWM:"));
        }
        if let Ok(stat) = fs::read_to_string(process.join("stat")) {
            seen.cpu = seen.cpu.max(cpu_of(&stat));
        }
        thread::sleep(INTERVAL);
    }
}

/// A field of `/proc/<id>/status`, which counts in kB of 1024 bytes.
pub(super) fn status_bytes(status: &str, field: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix(field));
    let number = line.and_then(|rest| rest.split_whitespace().next());
    let kilobytes = number.and_then(|number| number.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}

/// Time of all threads as in `/proc/<id>/stat`, in ticks of 10 ms.
fn cpu_of(stat: &str) -> Duration {
    // The name of the program, in brackets, may hold anything.
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let mut fields = after_name.split_whitespace().skip(11);
    let mut ticks = || {
        fields
            .next()
            .and_then(|ticks| ticks.parse::<u64>().ok())
            .unwrap_or(0)
    };
    Duration::from_millis((ticks() + ticks()) * 10)
}

/// What an end other than a report means.
fn ending(status: ExitStatus, errors: &str) -> Result<Outcome> {
    let last = errors
        .lines()
        .rfind(|line| !line.trim().is_empty())
        .unwrap_or_default();
    if errors.contains("memory allocation of") {
        return Ok(Outcome::Stopped("memory"));
    }
    Ok(match (status.signal(), status.code()) {
        // SIGXCPU, or SIGKILL at the hard limit.
        (Some(24 | 9), _) => Outcome::Stopped("CPU time"),
        _ if errors.contains("overflowed its stack") => {
            Outcome::Crashed("stack overflow".to_owned())
        }
        (Some(signal), _) => Outcome::Crashed(format!("signal {signal}: {last}")),
        (_, Some(101)) => Outcome::Crashed(format!("panic: {}", panic_of(errors))),
        _ => bail!("the reader ended with {status}: {errors}"),
    })
}

/// Place and words of the first panic.
fn panic_of(errors: &str) -> String {
    let mut lines = errors
        .lines()
        .skip_while(|line| !line.contains("panicked at"));
    let place = lines.next().unwrap_or_default();
    let place = place.split("panicked at ").nth(1).unwrap_or(place);
    format!("{place} {}", lines.next().unwrap_or_default())
}

fn outcome(report: &Value) -> Outcome {
    if let Some(reason) = report["refused"].as_str() {
        return Outcome::Refused(reason.to_owned());
    }
    let count = |name: &str| report[name].as_u64().unwrap_or(0);
    let metrics = report["metrics"].as_object().into_iter().flatten();
    let misses = report["misses"].as_array().into_iter().flatten();
    Outcome::Document(Box::new(ReadDocument {
        text_bytes: count("text_bytes"),
        parts: count("parts"),
        pages: count("pages"),
        metrics: metrics
            .filter_map(|(name, value)| Some((Metric::from_name(name)?, value.as_f64()?)))
            .collect(),
        misses: misses
            .filter_map(|line| line.as_str().map(str::to_owned))
            .collect(),
        missed: count("missed"),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_read_behind_the_name_of_the_program() {
        let stat = "12 (a) b (c)) S 1 1 1 0 -1 4194304 100 0 0 0 150 50 0 0 20 0 1 0 1 1 1";
        assert_eq!(cpu_of(stat), Duration::from_millis(2000));
    }

    #[test]
    fn ends_are_told_apart() {
        let ending = |raw: i32, errors: &str| ending(ExitStatus::from_raw(raw), errors).unwrap();
        assert!(matches!(ending(24, ""), Outcome::Stopped("CPU time")));
        let memory = "memory allocation of 9 bytes failed";
        assert!(matches!(ending(6, memory), Outcome::Stopped("memory")));
        let stack = "thread 'x' has overflowed its stack\nfatal";
        assert!(matches!(ending(6, stack), Outcome::Crashed(how) if how == "stack overflow"));
        let panic = "\nthread 'x' panicked at engine/src/a.rs:1:2:\nno such thing\nnote: run";
        assert!(matches!(
            ending(101 << 8, panic),
            Outcome::Crashed(how) if how == "panic: engine/src/a.rs:1:2: no such thing"
        ));
    }
}
