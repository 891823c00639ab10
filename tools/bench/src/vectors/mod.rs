//! `cargo xtask bench vectors`: vector search alone beside peers that do nothing else, on the same tables of
//! vectors in the same run.

mod figures;
mod index;
mod kb_process;
mod plot;
mod recall;
mod scripts;
mod sets;
mod systems;
mod table;
mod text;

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use anyhow::{Context, Result, bail, ensure};
use figures::{Build, Cold, Figures, Measured, Point, Reached, SetFigures, TARGETS};
use recall::Truth;
use sets::Data;
use systems::{MANY_ROWS, Runner, System};

use crate::peers::results::{self, Outcome, median};
use crate::{corpus, machine};

/// Seconds for the answers of one setting, and as many for its times.
const SWEEP_SECONDS: f64 = 3.0;
const QUICK_SWEEP_SECONDS: f64 = 0.3;
/// Seconds in which queries are counted.
const LOAD_SECONDS: f64 = 2.0;
const QUICK_LOAD_SECONDS: f64 = 0.5;
/// How often they are, one process and several in turn: a machine is not equally fast at all times.
const LOAD_ROUNDS: usize = 3;
const QUICK_LOAD_ROUNDS: usize = 1;
/// Fresh processes for the first answer.
const COLD_RUNS: usize = 5;
const QUICK_COLD_RUNS: usize = 2;
/// Processes that answer at the same time.
const TOGETHER: usize = 2;
/// The target at whose setting a fresh process is asked.
const COLD_TARGET: f64 = 0.95;

/// What the command line asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Options {
    quick: bool,
    /// Systems by id; empty: all.
    only: Vec<String>,
    /// Sets by id; empty: all.
    sets: Vec<String>,
    /// The .kb of the sets of text.
    file: Option<PathBuf>,
    /// Where the tables go.
    out: Option<PathBuf>,
    /// Whether tables and indexes stay.
    keep: bool,
}

/// Runs the verb.
pub(crate) fn run(arguments: &[String]) -> Result<bool> {
    if let Some((first, rest)) = arguments.split_first()
        && first == "--as-process"
    {
        kb_process::run(rest)?;
        return Ok(true);
    }
    let options = parse(arguments)?;
    let sets = sets::chosen(&options.sets, options.quick)?;
    let systems = systems::chosen(&options.only, options.quick)?;
    ensure!(
        options.file.is_some() || !sets.iter().any(sets::Set::needs_file),
        "sets of text need --file FILE.kb; --sets names others"
    );
    let folder = corpus::bench_folder().join("vectors");
    let runner = Runner::new(&folder)?;
    // The peers, and what makes tables.
    scripts::install()?;
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let command = [&["vectors".to_owned()], arguments].concat().join(" ");
    let mut figures = Figures {
        date: machine::today(),
        machine: machine::describe(),
        commit: machine::commit(),
        command: format!("cargo xtask bench {}", named_only(&command, &options)),
        load: machine::load(),
        pinned: runner.pinned,
        together: TOGETHER.min(cores),
        sets: Vec::new(),
    };
    let default = || results::default_table("vectors", options.quick, &folder);
    let out = options.out.clone().unwrap_or_else(default);
    if let Some(parent) = out.parent() {
        fs::create_dir_all(parent)?;
    }
    for set in sets {
        eprintln!("{}: tables", set.id);
        let data = set.make(options.file.as_deref(), &folder.join("data"), options.quick)?;
        let mut outcomes = Vec::new();
        let mut truth = Truth::open(&data.folder)?;
        for system in &systems {
            if data.rows > MANY_ROWS && !system.many {
                continue;
            }
            eprintln!("{}: {}", set.id, system.name);
            outcomes.push(outcome(&runner, system, &data, &mut truth, &options)?);
        }
        if !options.keep {
            fs::remove_dir_all(&data.folder)?;
        }
        figures.sets.push(SetFigures {
            data,
            systems: outcomes,
        });
        // After every set: a large one may take hours, or fail.
        write_all(&figures, &out)?;
    }
    println!("{}", fs::read_to_string(&out)?);
    println!("written to {}, .json and .svg", out.display());
    Ok(true)
}

fn parse(arguments: &[String]) -> Result<Options> {
    let mut options = Options::default();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let mut value = || {
            let value = arguments.next();
            value.with_context(|| format!("{argument} needs a value"))
        };
        let list = |names: &String| names.split(',').map(str::to_owned).collect();
        match argument.as_str() {
            "--quick" => options.quick = true,
            "--keep" => options.keep = true,
            "--only" => options.only = list(value()?),
            "--sets" => options.sets = list(value()?),
            "--file" => options.file = Some(PathBuf::from(value()?)),
            "--out" => options.out = Some(PathBuf::from(value()?).with_extension("md")),
            other => bail!("bench vectors does not know {other}"),
        }
    }
    Ok(options)
}

/// The command with the names of files alone: where they lie says nothing to a reader.
fn named_only(command: &str, options: &Options) -> String {
    let mut command = command.to_owned();
    for path in [&options.file, &options.out].into_iter().flatten() {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let whole = path.with_extension("").display().to_string();
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        command = command
            .replace(&*path.to_string_lossy(), &name)
            .replace(&whole, &stem);
    }
    command
}

/// What becomes of a system on a set. What is wrong with a peer is told in the tables.
fn outcome(
    runner: &Runner,
    system: &System,
    data: &Data,
    truth: &mut Truth,
    options: &Options,
) -> Result<Outcome<Measured>> {
    let measured = measure(runner, system, data, truth, options.quick);
    let outcome = Outcome::of(system.name, system.note, system.is_ours(), measured)?;
    let place = runner.place(system);
    if !options.keep && place.is_dir() {
        fs::remove_dir_all(&place)?;
    } else if !options.keep && place.is_file() {
        fs::remove_file(&place)?;
    }
    Ok(outcome)
}

/// All figures of one system on one set.
fn measure(
    runner: &Runner,
    system: &System,
    data: &Data,
    truth: &mut Truth,
    quick: bool,
) -> Result<Measured> {
    let (built, peak) = runner.build(system, data)?;
    let seconds = if quick {
        QUICK_SWEEP_SECONDS
    } else {
        SWEEP_SECONDS
    };
    let swept = runner.sweep(system, data, seconds)?;
    let points = swept["points"].as_array().context("no settings")?;
    let points: Vec<Point> = points
        .iter()
        .map(|point| {
            let (recall, queries) = truth.recall(&point["found"])?;
            Point::from_json(point, recall, queries)
        })
        .collect::<Result<_>>()?;
    Ok(Measured {
        version: swept["version"].as_str().unwrap_or_default().to_owned(),
        build: Build::from_json(&built, peak)?,
        cold: cold(runner, system, data, &points, quick)?,
        reached: reached(runner, system, data, &points, quick)?,
        points,
    })
}

/// Fresh processes at the setting of [`COLD_TARGET`], or at the last one where none reaches it.
fn cold(
    runner: &Runner,
    system: &System,
    data: &Data,
    points: &[Point],
    quick: bool,
) -> Result<Cold> {
    let last = points.len().checked_sub(1).context("no settings")?;
    let setting = figures::fastest(points, COLD_TARGET).unwrap_or(last);
    let runs = if quick { QUICK_COLD_RUNS } else { COLD_RUNS };
    let (mut opened, mut first) = (Vec::new(), Vec::new());
    let mut cold = Cold::default();
    for _ in 0..runs {
        let said = runner.cold(system, data, setting)?;
        ensure!(
            said["hits"].as_u64() > Some(0),
            "the first query found nothing"
        );
        opened.push(said["open_us"].as_f64().context("no time")?);
        first.push(said["first_us"].as_f64().context("no time")?);
        let bytes = |name: &str| said[name].as_u64().unwrap_or(0);
        cold.start_private_bytes = bytes("start_private_bytes");
        cold.private_bytes = bytes("private_bytes");
    }
    cold.setting = points
        .get(setting)
        .map(|point| point.setting.clone())
        .unwrap_or_default();
    cold.open_us = median(opened);
    cold.first_us = median(first);
    Ok(cold)
}

/// Queries a second at the fastest setting of each target.
fn reached(
    runner: &Runner,
    system: &System,
    data: &Data,
    points: &[Point],
    quick: bool,
) -> Result<Vec<Option<Reached>>> {
    let (seconds, rounds) = if quick {
        (QUICK_LOAD_SECONDS, QUICK_LOAD_ROUNDS)
    } else {
        (LOAD_SECONDS, LOAD_ROUNDS)
    };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let mut all: Vec<Option<Reached>> = Vec::new();
    for target in TARGETS {
        let Some(point) = figures::fastest(points, target) else {
            all.push(None);
            continue;
        };
        // One setting may be the fastest for several targets.
        let known = all.iter().flatten().find(|reached| reached.point == point);
        let one = match known {
            Some(known) => *known,
            None => {
                let (mut alone, mut together) = (Vec::new(), Vec::new());
                for _ in 0..rounds {
                    alone.push(runner.load(system, data, point, seconds, 1)?);
                    if cores >= TOGETHER {
                        together.push(runner.load(system, data, point, seconds, TOGETHER)?);
                    }
                }
                Reached {
                    point,
                    alone: median(alone),
                    together: (!together.is_empty()).then(|| median(together)),
                }
            }
        };
        all.push(Some(one));
    }
    Ok(all)
}

/// Tables, figures and a picture for each set.
fn write_all(figures: &Figures, out: &Path) -> Result<()> {
    let stem = out.file_stem().unwrap_or_default().to_string_lossy();
    let picture = |set: &str| format!("{stem}-{set}.svg");
    for set in &figures.sets {
        let path = out.with_file_name(picture(set.data.name));
        results::write(&path, &plot::svg(set, &figures.date))?;
    }
    let text = table::markdown(figures, &picture);
    results::write_tables(out, &text, &figures.to_json())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn options_are_read_and_unknown_ones_refused() {
        let line =
            "--quick --keep --only kb-i8,hnswlib --sets real-1m --file b/all.kb --out a/table";
        let options = parse(&words(line)).unwrap();
        assert!(options.quick && options.keep);
        assert_eq!(options.only, ["kb-i8", "hnswlib"]);
        assert_eq!(options.sets, ["real-1m"]);
        assert_eq!(options.out, Some(PathBuf::from("a/table.md")));
        let named = named_only("vectors --file b/all.kb --out a/table", &options);
        assert_eq!(named, "vectors --file all.kb --out table");
        assert!(parse(&words("--file")).is_err() && parse(&words("--fast")).is_err());
    }
}
