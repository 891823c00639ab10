//! An index of ours put to the same verbs as its peers, in a process of its own:
//! `VARIANT build DATA PLACE`, `sweep DATA PLACE SECONDS`, `cold DATA PLACE SETTING` and
//! `load DATA PLACE SETTING SECONDS` print one JSON object each, and so does
//! `batch DATA PLACE SETTING SECONDS`, which no peer has. See `python/vectors/protocol.py`.

use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::index::{ListedIndex, Options, VectorIndex};
use crate::child::own_private_bytes;
use crate::latency;
use crate::peers::{K, npy};

/// As in `protocol.py`.
const LEAST_QUERIES: usize = 100;
const PASSES: usize = 3;
const BEFORE_MEMORY: usize = 100;

/// Runs the verb and prints what it found.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let [variant, verb, data, place, rest @ ..] = arguments else {
        bail!("a process of kb needs a variant, a verb, DATA and PLACE");
    };
    let (data, place) = (Path::new(data), Path::new(place));
    let options = Options::of_variant(variant)?;
    let mut result = run_verb::<ListedIndex>(verb, data, place, rest, &options)?;
    result["version"] = format!("kb {}", env!("CARGO_PKG_VERSION")).into();
    println!("{result}");
    Ok(())
}

fn run_verb<I: VectorIndex>(
    verb: &str,
    data: &Path,
    place: &Path,
    rest: &[String],
    options: &Options,
) -> Result<Value> {
    let npy = data.join("rows.npy");
    if verb == "build" {
        return build::<I>(&npy, place, options);
    }
    let queries = queries(&data.join("queries.npy"))?;
    let settings = I::settings(npy::Table::of_floats(&npy)?.rows);
    let setting = || {
        let number: usize = rest.first().context("no setting")?.parse()?;
        settings.get(number).context("no such setting")
    };
    let seconds = |at: usize| {
        let seconds: f64 = rest.get(at).context("no time")?.parse()?;
        Ok::<Duration, anyhow::Error>(Duration::from_secs_f64(seconds))
    };
    match verb {
        "sweep" => sweep(&I::open(place)?, &queries, &settings, seconds(0)?),
        "cold" => cold::<I>(place, &queries, setting()?),
        "batch" => batch(&I::open(place)?, &queries, setting()?, seconds(1)?),
        "load" => load(&I::open(place)?, &queries, setting()?, seconds(1)?),
        other => bail!("kb has no verb {other}"),
    }
}

fn queries(path: &Path) -> Result<Vec<Vec<f32>>> {
    let mut table = npy::Table::of_floats(path)?;
    (0..table.rows).map(|row| table.floats(row, 1)).collect()
}

fn build<I: VectorIndex>(npy: &Path, place: &Path, options: &Options) -> Result<Value> {
    let (start, cpu) = (Instant::now(), cpu_seconds());
    let report = I::build(npy, place, options)?;
    Ok(json!({
        "wall_seconds": start.elapsed().as_secs_f64(),
        "cpu_seconds": cpu_seconds() - cpu,
        "rows": report.rows,
        "disk_bytes": fs::metadata(place)?.len(),
    }))
}

/// Processor time of all threads of this process.
fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Answers and times of every setting; the answers come first and warm what can be warmed.
fn sweep<I: VectorIndex>(
    index: &I,
    queries: &[Vec<f32>],
    settings: &[I::Setting],
    limit: Duration,
) -> Result<Value> {
    let mut points = Vec::new();
    for setting in settings {
        let mut found = Vec::new();
        let end = Instant::now() + limit;
        for query in queries {
            found.push(index.search(query, K, setting)?);
            if found.len() >= LEAST_QUERIES && Instant::now() > end {
                break;
            }
        }
        let asked = queries.get(..found.len()).unwrap_or(queries);
        let cpu = cpu_seconds();
        let summary = latency::of_passes(asked, PASSES, LEAST_QUERIES, limit, |query| {
            index.search(query, K, setting)
        })?;
        let mut point = summary.to_json();
        point["cpu_us"] = ((cpu_seconds() - cpu) * 1e6 / summary.runs.max(1) as f64).into();
        point["setting"] = setting.to_string().into();
        point["found"] = found.into();
        points.push(point);
    }
    Ok(json!({ "points": points }))
}

/// What a fresh process waits for its first answer, and what it holds after some more.
fn cold<I: VectorIndex>(place: &Path, queries: &[Vec<f32>], setting: &I::Setting) -> Result<Value> {
    let before = own_private_bytes();
    let first = queries.first().context("there is no query")?;
    let start = Instant::now();
    let index = I::open(place)?;
    let opened = start.elapsed();
    let hits = index.search(first, K, setting)?.len();
    let answered = start.elapsed();
    for query in queries.iter().take(BEFORE_MEMORY).skip(1) {
        index.search(query, K, setting)?;
    }
    Ok(json!({
        "open_us": opened.as_secs_f64() * 1e6,
        "first_us": (answered - opened).as_secs_f64() * 1e6,
        "hits": hits,
        "start_private_bytes": before,
        "private_bytes": own_private_bytes(),
    }))
}

/// Queries a second, from the moment that its input ends: several processes start together.
fn load<I: VectorIndex>(
    index: &I,
    queries: &[Vec<f32>],
    setting: &I::Setting,
    limit: Duration,
) -> Result<Value> {
    for query in queries.iter().take(LEAST_QUERIES) {
        index.search(query, K, setting)?;
    }
    println!("ready");
    io::stdin().read_to_end(&mut Vec::new())?;
    let start = Instant::now();
    for (count, query) in (1u64..).zip(queries.iter().cycle()) {
        std::hint::black_box(index.search(query, K, setting)?);
        if start.elapsed() > limit {
            let seconds = start.elapsed().as_secs_f64();
            return Ok(json!({"queries": count, "seconds": seconds}));
        }
    }
    bail!("there is no query")
}

/// Queries that are asked at once.
const BATCHES: [usize; 5] = [1, 16, 64, 256, 1000];

/// Queries per second if this many are asked at once.
fn batch<I: VectorIndex>(
    index: &I,
    queries: &[Vec<f32>],
    setting: &I::Setting,
    limit: Duration,
) -> Result<Value> {
    let mut points = Vec::new();
    for size in BATCHES {
        let (start, mut count) = (Instant::now(), 0);
        for queries in queries.chunks(size).cycle() {
            count += index.search_many(queries, K, setting)?.len();
            if start.elapsed() > limit {
                break;
            }
        }
        let seconds = start.elapsed().as_secs_f64();
        points.push(json!({"at_once": size, "queries": count, "seconds": seconds}));
    }
    Ok(json!({ "batches": points }))
}

#[cfg(test)]
mod tests {
    use super::super::index::tests::write_table;
    use super::*;

    #[test]
    fn a_small_table_is_built_asked_and_opened_anew() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("kb-i8");
        write_table(&folder.path().join("rows.npy"), 3000, 32);
        write_table(&folder.path().join("queries.npy"), 120, 32);
        let verb = |verb: &str, words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            let options = Options::of_variant("i8").unwrap();
            run_verb::<ListedIndex>(verb, folder.path(), &place, &words, &options)
        };
        let built = verb("build", &[]).unwrap();
        assert_eq!(built["rows"], 3000);
        assert!(built["cpu_seconds"].as_f64() > Some(0.0));
        let swept = verb("sweep", &["0"]).unwrap();
        let points = swept["points"].as_array().unwrap();
        let (last, behind) = (points.len() - 1, points.len().to_string());
        assert!(last > 10);
        assert_eq!(points[0]["found"].as_array().unwrap().len(), 100);
        let batches = verb("batch", &[&last.to_string(), "0"]).unwrap();
        assert_eq!(batches["batches"][1]["queries"], 16);
        let cold = verb("cold", &["1"]).unwrap();
        assert_eq!(cold["hits"], 10);
        assert!(verb("cold", &[&behind]).is_err() && verb("warm", &[]).is_err());
    }
}
