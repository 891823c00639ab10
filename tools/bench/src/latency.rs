//! How long answers take: whole processes, and calls into an open file.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use kb_engine::Kb;
use kb_engine::{Mode, Request};
use serde_json::{Value, json};

/// Processes started per mode.
const PROCESS_RUNS: usize = 50;

/// Passes over all queries with an open file, after one that is not counted.
const LIBRARY_PASSES: usize = 5;

/// Files opened to time the first answer.
const OPENINGS: usize = 20;

/// Times of many runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Summary {
    pub(crate) p50: Duration,
    pub(crate) p95: Duration,
    pub(crate) mean: Duration,
    pub(crate) runs: usize,
}

impl Summary {
    /// Percentiles by nearest rank; all zero of nothing.
    pub(crate) fn of(mut times: Vec<Duration>) -> Summary {
        times.sort_unstable();
        let runs = times.len();
        let at = |percent: usize| {
            let place = (runs * percent).div_ceil(100).saturating_sub(1);
            times.get(place).copied().unwrap_or_default()
        };
        let total: Duration = times.iter().sum();
        let mean = total / u32::try_from(runs.max(1)).unwrap_or(u32::MAX);
        Summary {
            p50: at(50),
            p95: at(95),
            mean,
            runs,
        }
    }

    /// As systems of the benches beside others tell their times, in microseconds.
    pub(crate) fn to_json(self) -> Value {
        let micros = |time: Duration| time.as_secs_f64() * 1e6;
        json!({
            "runs": self.runs, "p50_us": micros(self.p50), "p95_us": micros(self.p95),
            "mean_us": micros(self.mean),
        })
    }
}

/// Times of the answers to all queries in some passes. Once the limit is over no more are asked, but never fewer than
/// `least`.
pub(crate) fn of_passes<Q, A>(
    queries: &[Q],
    passes: usize,
    least: usize,
    limit: Duration,
    mut answer: impl FnMut(&Q) -> Result<A>,
) -> Result<Summary> {
    let mut times = Vec::new();
    let end = Instant::now() + limit;
    for query in std::iter::repeat_n(queries, passes).flatten() {
        let start = Instant::now();
        std::hint::black_box(answer(query)?);
        times.push(start.elapsed());
        if times.len() >= least && Instant::now() > end {
            break;
        }
    }
    Ok(Summary::of(times))
}

/// Times of one mode.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ModeLatency {
    pub(crate) mode: Mode,
    pub(crate) summary: Summary,
}

/// `kb search` in a fresh process each time; the file is in the page cache.
pub(crate) fn of_processes(
    program: &Path,
    file: &Path,
    queries: &[String],
) -> Result<Vec<ModeLatency>> {
    let mut latencies = Vec::new();
    for mode in Mode::RANKED {
        let search = |query: &String| {
            let mut command = Command::new(program);
            command.args(["search", "--json", "--mode", mode.name(), "-f"]);
            command.arg(file).arg("--").arg(query);
            time_process(&mut command)
        };
        // The first one brings the pages in.
        queries.first().map(search).transpose()?;
        let times: Result<Vec<Duration>> = queries
            .iter()
            .cycle()
            .take(PROCESS_RUNS)
            .map(search)
            .collect();
        latencies.push(ModeLatency {
            mode,
            summary: Summary::of(times?),
        });
    }
    Ok(latencies)
}

/// What starting and ending the program costs when it has nothing to do.
pub(crate) fn of_idle_process(program: &Path) -> Result<Summary> {
    let times: Result<Vec<Duration>> = (0..PROCESS_RUNS)
        .map(|_| time_process(Command::new(program).arg("--version")))
        .collect();
    Ok(Summary::of(times?))
}

fn time_process(command: &mut Command) -> Result<Duration> {
    let start = Instant::now();
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start {command:?}"))?;
    let elapsed = start.elapsed();
    // Status 1 is an answer as well: nothing found.
    match output.status.code() {
        Some(0 | 1) => Ok(elapsed),
        _ => bail!(
            "{command:?} ended with {}: {}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        ),
    }
}

/// Calls into one open file on one thread, top 10 with text.
pub(crate) fn of_library(file: &Path, queries: &[String]) -> Result<Vec<ModeLatency>> {
    let kb = Kb::open(file)?;
    let mut latencies = Vec::new();
    for mode in Mode::RANKED {
        let mut times = Vec::with_capacity(queries.len() * LIBRARY_PASSES);
        for pass in 0..=LIBRARY_PASSES {
            for query in queries {
                let elapsed = time_search(&kb, query, mode)?;
                if pass > 0 {
                    times.push(elapsed);
                }
            }
        }
        latencies.push(ModeLatency {
            mode,
            summary: Summary::of(times),
        });
    }
    Ok(latencies)
}

/// What a keyword search takes until it knows its best ten, text and marks left out: the steps that
/// the engine itself times, in one open file on one thread.
pub(crate) fn of_keyword_ranking(file: &Path, queries: &[String]) -> Result<Summary> {
    let kb = Kb::open(file)?;
    let mut times = Vec::with_capacity(queries.len() * LIBRARY_PASSES);
    for pass in 0..=LIBRARY_PASSES {
        for query in queries {
            let mut request = Request::new(query.as_str());
            request.mode = Mode::Keyword;
            request.explain = true;
            let explanation = kb.search(&request)?.explanation;
            let steps = explanation.context("an explanation was asked for")?.steps;
            let ranking = steps.iter().filter(|step| step.name != "render");
            if pass > 0 {
                times.push(Duration::from_micros(ranking.map(|step| step.micros).sum()));
            }
        }
    }
    Ok(Summary::of(times))
}

fn time_search(kb: &Kb, query: &str, mode: Mode) -> Result<Duration> {
    let mut request = Request::new(query);
    request.mode = mode;
    let start = Instant::now();
    let response = kb.search(&request)?;
    let elapsed = start.elapsed();
    std::hint::black_box(&response);
    Ok(elapsed)
}

/// Opening the file and one hybrid answer, in this process.
pub(crate) fn of_opening(file: &Path, queries: &[String]) -> Result<Summary> {
    let mut times = Vec::with_capacity(OPENINGS);
    for query in queries.iter().cycle().take(OPENINGS) {
        let request = Request::new(query.as_str());
        let start = Instant::now();
        let kb = Kb::open(file)?;
        let response = kb.search(&request)?;
        times.push(start.elapsed());
        std::hint::black_box(&response);
    }
    Ok(Summary::of(times))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_the_nearest_rank() {
        let times = (1..=100).rev().map(Duration::from_millis).collect();
        let summary = Summary::of(times);
        assert_eq!(summary.p50, Duration::from_millis(50));
        assert_eq!(summary.p95, Duration::from_millis(95));
        assert_eq!(summary.mean, Duration::from_micros(50_500));
        assert_eq!(summary.runs, 100);
    }

    #[test]
    fn one_run_is_its_own_percentile() {
        let summary = Summary::of(vec![Duration::from_millis(3)]);
        assert_eq!((summary.p50, summary.p95), (summary.mean, summary.mean));
        assert_eq!(Summary::of(Vec::new()).runs, 0);
    }

    #[test]
    fn a_slow_system_is_asked_less_but_not_too_little() {
        let runs = |limit| of_passes(&[1, 2, 3], 4, 5, limit, |query| Ok(*query));
        assert_eq!(runs(Duration::ZERO).unwrap().runs, 5);
        assert_eq!(runs(Duration::from_secs(60)).unwrap().runs, 12);
    }
}
