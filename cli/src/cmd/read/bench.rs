//! `kb bench`: measures search latency on this machine, in total and by step.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use kb_engine::{Info, Mode, Request};
use kb_json::Object;
use serde_json::Value;

use crate::args::BenchArguments;
use crate::cmd::opened::Opened;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::output::format::{bytes, count, plural};
use crate::output::progress::Meter;

/// Counted runs of each query, after one run that is not counted.
const PASSES: usize = 3;

/// Least number of bytes of one read pass over the vectors: the clock is too coarse for less.
const LEAST_BYTES: u64 = 1 << 20;

/// Number of read passes; the fastest counts, because other processes can only slow a pass down.
const READINGS: usize = 15;

/// Vectors below this size may fit into the CPU cache, so they do not measure memory.
const CACHE_BYTES: u64 = 64 << 20;

/// Maximum size of a file of queries.
const QUERIES_LIMIT_BYTES: u64 = 64 << 20;

/// The measured figures.
struct Figures {
    vectors: Option<VectorFigures>,
    modes: Vec<ModeFigures>,
    queries: usize,
    /// Whether the queries were drawn from the measured file.
    drawn: bool,
    process: Option<Process>,
}

/// How fast the vector rows are read.
struct VectorFigures {
    bytes: u64,
    /// Bytes per second: the first reading after opening, the fastest one, the fastest scan.
    first: f64,
    read: f64,
    scan: f64,
}

/// Times of one mode.
struct ModeFigures {
    mode: Mode,
    whole: Times,
    /// Steps in the order taken.
    steps: Vec<(&'static str, Times)>,
}

/// Median and 95th percentile, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Times {
    p50: f64,
    p95: f64,
}

/// What the system says of this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Process {
    minor_faults: u64,
    major_faults: u64,
    private_bytes: u64,
}

pub(crate) fn run(arguments: &BenchArguments, output: &mut Output) -> Result<Exit, Failure> {
    let given = arguments.queries.as_deref().map(read_queries).transpose()?;
    let opened = Opened::new("kb bench", arguments.file.path())?;
    let info = opened.ask(opened.kb.info())?;
    if info.chunks == 0 {
        let name = output.name(&opened.file.display().to_string()).into_owned();
        output.note(&format!(
            "{name} has no text, so there is nothing to measure"
        ));
        return Ok(Exit::Nothing);
    }
    let meter = Meter::new(output.stderr_is_terminal());
    let figures = measure(arguments, given, &opened, &info, &meter);
    meter.clear();
    let figures = figures?;
    if !info.model_available {
        output.warning(&format!(
            "this program does not have the embedding model {}: keyword search only",
            info.model
        ));
    }
    if figures.queries == 0 {
        output.note("no queries can be drawn from this file; give queries with --queries FILE");
        return Ok(Exit::Nothing);
    }
    if arguments.json.json {
        output.json(object(&opened.file, &info, &figures))?;
    } else {
        show(&opened.file, &info, &figures, output)?;
    }
    Ok(Exit::Found)
}

fn measure(
    arguments: &BenchArguments,
    given: Option<Vec<String>>,
    opened: &Opened,
    info: &Info,
    meter: &Meter,
) -> Result<Figures, Failure> {
    let drawn = given.is_none();
    let vectors = vector_figures(opened)?;
    let queries = match given {
        Some(mut queries) => {
            queries.truncate(arguments.number);
            queries
        }
        None => opened.ask(opened.kb.sample_queries(arguments.number))?,
    };
    let asked = |mode: &Mode| {
        if arguments.mode.is_empty() {
            Mode::RANKED.contains(mode)
        } else {
            arguments.mode.contains(mode)
        }
    };
    let wanted = Mode::ALL
        .into_iter()
        .filter(asked)
        .filter(|mode| info.model_available || *mode == Mode::Keyword);
    let wanted: Vec<Mode> = wanted.collect();
    let all = wanted.len() * queries.len() * (PASSES + 1);
    let mut modes = Vec::new();
    if !queries.is_empty() {
        for (place, mode) in wanted.iter().enumerate() {
            let mut done = place * queries.len() * (PASSES + 1);
            let mut step = || {
                done += 1;
                meter.show_count("bench", mode.name(), done as u64, all as u64);
            };
            modes.push(mode_figures(
                opened,
                *mode,
                arguments.k,
                &queries,
                &mut step,
            )?);
        }
    }
    Ok(Figures {
        vectors,
        modes,
        queries: queries.len(),
        drawn,
        process: process(),
    })
}

fn vector_figures(opened: &Opened) -> Result<Option<VectorFigures>, Failure> {
    let kb = &opened.kb;
    let start = Instant::now();
    let pass = opened.ask(kb.read_vector_rows(1))?;
    let first = rate(pass.bytes, start.elapsed());
    if pass.bytes == 0 {
        return Ok(None);
    }
    let times = LEAST_BYTES.div_ceil(pass.bytes);
    let times = u32::try_from(times).unwrap_or(u32::MAX);
    let whole = pass.bytes * u64::from(times);
    let (mut read, mut scan) = (0.0f64, 0.0f64);
    // In turn, so that both see the same moments of the machine.
    for _ in 0..READINGS {
        let start = Instant::now();
        opened.ask(kb.read_vector_rows(times))?;
        read = read.max(rate(whole, start.elapsed()));
        let start = Instant::now();
        opened.ask(kb.scan_vector_rows(times))?;
        scan = scan.max(rate(whole, start.elapsed()));
    }
    Ok(Some(VectorFigures {
        bytes: pass.bytes,
        first,
        read,
        scan,
    }))
}

fn rate(bytes: u64, elapsed: Duration) -> f64 {
    bytes as f64 / elapsed.as_secs_f64().max(1e-9)
}

fn mode_figures(
    opened: &Opened,
    mode: Mode,
    k: usize,
    queries: &[String],
    step: &mut dyn FnMut(),
) -> Result<ModeFigures, Failure> {
    let mut whole = Vec::new();
    let mut steps: Vec<(&'static str, Vec<f64>)> = Vec::new();
    for pass in 0..=PASSES {
        for query in queries {
            let mut request = Request::new(query.as_str());
            (request.mode, request.k) = (mode, k);
            let start = Instant::now();
            let response = opened.ask(opened.kb.search(&request))?;
            let elapsed = start.elapsed();
            drop(response);
            step();
            if pass == 0 {
                continue;
            }
            whole.push(elapsed.as_secs_f64() * 1e6);
            // A second search, because explaining takes time too.
            request.explain = true;
            let response = opened.ask(opened.kb.search(&request))?;
            for taken in response.explanation.into_iter().flat_map(|told| told.steps) {
                let micros = taken.micros as f64;
                match steps.iter_mut().find(|(name, _)| *name == taken.name) {
                    Some((_, times)) => times.push(micros),
                    None => steps.push((taken.name, vec![micros])),
                }
            }
        }
    }
    let steps = steps
        .into_iter()
        .map(|(name, times)| (name, Times::of(times)));
    Ok(ModeFigures {
        mode,
        whole: Times::of(whole),
        steps: steps.collect(),
    })
}

impl Times {
    /// By nearest rank; 0 of nothing.
    fn of(mut micros: Vec<f64>) -> Times {
        micros.sort_by(f64::total_cmp);
        let at = |percent: usize| {
            let place = (micros.len() * percent).div_ceil(100).saturating_sub(1);
            micros.get(place).copied().unwrap_or_default()
        };
        Times {
            p50: at(50),
            p95: at(95),
        }
    }
}

/// Reads queries, one per line; blank lines and lines that begin with `#` are skipped.
fn read_queries(path: &Path) -> Result<Vec<String>, Failure> {
    let action = || format!("read {}", path.display());
    let length = fs::metadata(path)
        .map_err(|error| Failure::io(&action(), &error))?
        .len();
    if length > QUERIES_LIMIT_BYTES {
        let most = bytes(QUERIES_LIMIT_BYTES);
        let message = format!("{} is longer than {most}", path.display());
        return Err(Failure::usage(message, None));
    }
    let text = fs::read_to_string(path).map_err(|error| Failure::io(&action(), &error))?;
    let lines = text.lines().map(str::trim);
    let said = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let queries: Vec<String> = said.map(str::to_owned).collect();
    if queries.is_empty() {
        return Err(Failure::usage(
            format!("{} has no queries", path.display()),
            Some("write one query per line; lines that begin with # are skipped".to_owned()),
        ));
    }
    Ok(queries)
}

/// Reads the memory and page faults of this process from /proc. `None` on systems other than Linux.
fn process() -> Option<Process> {
    let status = fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program is in brackets and may contain any character.
    let (_, fields) = status.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let number = |place: usize| fields.get(place)?.parse().ok();
    let rollup = fs::read_to_string("/proc/self/smaps_rollup").ok()?;
    Some(Process {
        minor_faults: number(7)?,
        major_faults: number(9)?,
        private_bytes: private_bytes(&rollup)?,
    })
}

/// Returns the bytes of dirty private pages. Clean ones belong to the mapped file, and the system may drop them.
fn private_bytes(rollup: &str) -> Option<u64> {
    let field = |line: &str| {
        let rest = line.strip_prefix("Private_Dirty:")?;
        rest.split_whitespace().next()?.parse::<u64>().ok()
    };
    Some(rollup.lines().find_map(field)? * 1024)
}

fn show(file: &Path, info: &Info, figures: &Figures, output: &mut Output) -> Result<(), Failure> {
    let style = output.stdout_style();
    let name = style.path(&output.name(&file.display().to_string()));
    output.line(&format!(
        "{name}  {}, {}, {}",
        plural(info.chunks, "chunk"),
        plural(info.segments, "segment"),
        bytes(info.file_bytes)
    ))?;
    if let Some(vectors) = &figures.vectors {
        output.line(&format!(
            "  vectors   {}, read at {}, exact scan at {} ({:.0} % of the read speed)",
            bytes(vectors.bytes),
            gigabytes(vectors.read),
            gigabytes(vectors.scan),
            vectors.scan / vectors.read * 100.0
        ))?;
        output.line(&format!(
            "            first read at {}{}",
            gigabytes(vectors.first),
            if vectors.bytes < CACHE_BYTES {
                "; the vectors may fit into the CPU cache"
            } else {
                ""
            }
        ))?;
    }
    let source = if figures.drawn {
        " drawn from the file"
    } else {
        ""
    };
    output.line(&format!(
        "  queries   {}{source}, {PASSES} runs each per mode, one thread, file in memory",
        count(figures.queries as u64)
    ))?;
    output.line(&format!(
        "\n  {:<12}  {:>9}  {:>9}",
        "milliseconds", "p50", "p95"
    ))?;
    for mode in &figures.modes {
        output.line(&time_line(mode.mode.name(), mode.whole, 0))?;
        for (name, times) in &mode.steps {
            output.line(&style.faint(&time_line(name, *times, 2)))?;
        }
    }
    if let Some(process) = figures.process {
        output.line(&format!(
            "\n  process   {} private memory, {} minor and {} major page faults",
            bytes(process.private_bytes),
            count(process.minor_faults),
            count(process.major_faults)
        ))?;
    }
    Ok(())
}

fn time_line(name: &str, times: Times, indent: usize) -> String {
    format!(
        "  {:<12}  {:>9.3}  {:>9.3}",
        format!("{}{name}", " ".repeat(indent)),
        times.p50 / 1e3,
        times.p95 / 1e3
    )
}

fn gigabytes(rate: f64) -> String {
    format!("{:.2} GB/s", rate / 1e9)
}

fn object(file: &Path, info: &Info, figures: &Figures) -> Object {
    let times =
        |object: Object, times: Times| object.field("p50_us", times.p50).field("p95_us", times.p95);
    let modes = figures.modes.iter().map(|mode| {
        let steps = mode.steps.iter().map(|(name, taken)| {
            let object = Object::new().field("step", *name);
            times(object, *taken)
        });
        times(Object::new().field("mode", mode.mode.name()), mode.whole)
            .objects("steps", steps.collect())
    });
    let object = Object::new()
        .field("file", file.display().to_string())
        .field("chunks", info.chunks)
        .field("segments", info.segments)
        .field("file_bytes", info.file_bytes)
        .field("queries", figures.queries)
        .field("drawn_from_file", figures.drawn)
        .field("passes", PASSES);
    let object = match &figures.vectors {
        None => object.field("vectors", Value::Null),
        Some(vectors) => object.object(
            "vectors",
            Object::new()
                .field("bytes", vectors.bytes)
                .field("first_read_bytes_per_second", vectors.first.round())
                .field("read_bytes_per_second", vectors.read.round())
                .field("scan_bytes_per_second", vectors.scan.round())
                .field("scan_share", vectors.scan / vectors.read),
        ),
    };
    let object = object.objects("modes", modes.collect());
    match figures.process {
        None => object.field("process", Value::Null),
        Some(process) => object.object(
            "process",
            Object::new()
                .field("private_bytes", process.private_bytes)
                .field("minor_faults", process.minor_faults)
                .field("major_faults", process.major_faults),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_the_nearest_rank() {
        let times = Times::of((1..=20).rev().map(f64::from).collect());
        assert_eq!((times.p50, times.p95), (10.0, 19.0));
        assert_eq!(Times::of(Vec::new()), Times { p50: 0.0, p95: 0.0 });
    }

    #[test]
    fn private_memory_is_what_was_written() {
        let rollup = "Rss: 9 kB\nPrivate_Clean:     8 kB\nPrivate_Dirty:    12 kB\n";
        assert_eq!(private_bytes(rollup), Some(12 << 10));
        assert_eq!(private_bytes("nothing"), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_system_tells_of_this_process() {
        let told = process().unwrap();
        assert!(told.minor_faults > 0 && told.private_bytes > 0, "{told:?}");
    }

    #[test]
    fn columns_stand_below_each_other() {
        let times = Times {
            p50: 1234.0,
            p95: 56_789.0,
        };
        let line = time_line("hybrid", times, 0);
        assert_eq!(line, "  hybrid            1.234     56.789");
        assert_eq!(time_line("plan", times, 2).len(), line.len());
    }
}
