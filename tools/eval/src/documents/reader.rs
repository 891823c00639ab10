//! The process that reads one file: limits itself, extracts, scores, and prints what came of it as JSON.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use kb_engine::{Extraction, PartContent};
use serde_json::{Value, json};

use super::metric::FileScore;
use super::score;

/// How long a timed file is read again and again: the system counts the time of a thread in steps of 4 ms.
const TIMED: Duration = Duration::from_millis(100);

/// What the process is asked, by arguments that only [`super::child`] writes.
#[derive(Debug, Default)]
struct Job {
    file: PathBuf,
    /// The name that the document has.
    name: String,
    format: String,
    oracle: Option<PathBuf>,
    memory_bytes: Option<u64>,
    cpu_seconds: Option<u64>,
    /// Whether to read it again and again until its time is known.
    is_timed: bool,
}

/// Reads the file; a panic ends the process with 101, as it does a program that has no handler.
pub(super) fn run(arguments: &[String]) -> Result<ExitCode> {
    let job = parse(arguments)?;
    limit(&job)?;
    // Threads of the indexer have this much stack, less than the first thread of a process.
    let thread = thread::Builder::new()
        .stack_size(2 << 20)
        .spawn(move || read(&job))?;
    let Ok(report) = thread.join() else {
        return Ok(ExitCode::from(101));
    };
    println!("{}", report?);
    Ok(ExitCode::SUCCESS)
}

fn parse(arguments: &[String]) -> Result<Job> {
    let mut job = Job::default();
    for pair in arguments.chunks(2) {
        let [flag, value] = pair else {
            bail!("{} needs a value", pair.concat());
        };
        match flag.as_str() {
            "--file" => job.file = PathBuf::from(value),
            "--name" => job.name = value.clone(),
            "--format" => job.format = value.clone(),
            "--oracle" => job.oracle = Some(PathBuf::from(value)),
            "--memory" => job.memory_bytes = Some(value.parse()?),
            "--cpu" => job.cpu_seconds = Some(value.parse()?),
            "--timed" => job.is_timed = value.parse()?,
            other => bail!("a reader does not know {other}"),
        }
    }
    Ok(job)
}

fn limit(job: &Job) -> Result<()> {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let set = |resource, limit: Option<u64>| match limit {
        Some(limit) => setrlimit(
            resource,
            Rlimit {
                current: Some(limit),
                maximum: Some(limit),
            },
        ),
        None => Ok(()),
    };
    set(Resource::As, job.memory_bytes)?;
    set(Resource::Cpu, job.cpu_seconds)?;
    // A crash is a result here, not something to look into with a debugger.
    set(Resource::Core, Some(0))?;
    Ok(())
}

fn read(job: &Job) -> Result<Value> {
    let bytes =
        fs::read(&job.file).with_context(|| format!("cannot read {}", job.file.display()))?;
    let (clock, start) = (Instant::now(), thread_cpu_ns());
    let mut repetitions = 0;
    let result = loop {
        let result = Extraction::InProcess.extract(&job.name, &bytes);
        repetitions += 1;
        if !job.is_timed || clock.elapsed() >= TIMED {
            break result;
        }
    };
    let cpu_ns = thread_cpu_ns().saturating_sub(start) / repetitions;
    let peak_bytes = peak_bytes();
    let mut report = match result {
        Ok(document) => {
            let score = match &job.oracle {
                Some(path) => {
                    let text = fs::read_to_string(path)
                        .with_context(|| format!("cannot read {}", path.display()))?;
                    let oracle: Value = serde_json::from_str(&text)?;
                    score::score(&document, &oracle, &job.format)
                }
                None => FileScore::default(),
            };
            let is_page = |content: &PartContent| matches!(content, PartContent::Page(_));
            let pages = document
                .parts
                .iter()
                .filter(|part| is_page(&part.content))
                .count();
            let metrics: serde_json::Map<String, Value> = score
                .metrics
                .iter()
                .map(|(metric, value)| (metric.name().to_owned(), json!(value)))
                .collect();
            json!({
                "type": document.file_type, "text_bytes": document.text.len(),
                "parts": document.parts.len(), "pages": pages,
                "metrics": metrics, "misses": score.misses, "missed": score.missed,
            })
        }
        Err(error) => json!({"refused": reason(&error.to_string(), &job.name)}),
    };
    report["cpu_ns"] = json!(cpu_ns);
    report["peak_bytes"] = json!(peak_bytes);
    Ok(report)
}

/// The reason without what every message begins with.
fn reason(message: &str, name: &str) -> String {
    let start = format!("{name:?}: ");
    match message.split_once(&start) {
        Some((_, reason)) => reason.to_owned(),
        None => message.to_owned(),
    }
}

/// Time that this thread has run, in nanoseconds; 0 where the system does not tell.
fn thread_cpu_ns() -> u64 {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let first = text.split_whitespace().next();
    first.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// The largest resident memory of this process; 0 where the system does not tell.
fn peak_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    super::child::status_bytes(&status, "VmHWM:")
}
