//! `cargo xtask bench search`: answers of kb beside those of other systems, same chunks, same vectors,
//! same run.

mod collection;
mod facet;
mod figures;
mod kb_process;
mod plot;
mod recall;
mod systems;
mod table;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use collection::Collection;
use figures::{Cell, Figures, Measured, Times};
use recall::Truth;
use serde_json::Value;
use systems::{Program, Runner, SYSTEMS, System};

use crate::peers::results::{self, Outcome, median};
use crate::{corpus, machine, shipped_build};

/// Time for one mode with one filter; a slow system answers fewer queries in it.
const SECONDS_PER_CELL: f64 = 5.0;
/// The same for a short try.
const QUICK_SECONDS_PER_CELL: f64 = 0.5;
/// Fresh processes for the first answer.
const FIRST_RUNS: usize = 9;
const QUICK_FIRST_RUNS: usize = 3;

/// What the command line asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Options {
    quick: bool,
    /// Systems by id; empty: all.
    only: Vec<String>,
    /// A .kb that is already there.
    file: Option<PathBuf>,
    /// Folders to index in place of the corpus.
    folders: Vec<PathBuf>,
    /// Where the tables go.
    out: Option<PathBuf>,
}

/// The .kb that is searched, and where it came from.
struct Searched {
    file: PathBuf,
    corpus: String,
    build: Option<Duration>,
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
    let all: Vec<String> = ["search".to_owned()]
        .into_iter()
        .chain(arguments.iter().cloned())
        .collect();
    let figures = measure(&options, &all)?;
    let default = || results::default_table("search", options.quick, &folder());
    let table = options.out.clone().unwrap_or_else(default);
    if let Some(parent) = table.parent() {
        fs::create_dir_all(parent)?;
    }
    let picture = table.with_extension("svg");
    let name = picture.file_name().unwrap_or_default().to_string_lossy();
    let text = table::markdown(&figures, &name);
    println!("{text}");
    results::write_tables(&table, &text, &figures.to_json())?;
    results::write(&picture, &plot::svg(&figures))?;
    println!("written to {}, .json and .svg", table.display());
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
        match argument.as_str() {
            "--quick" => options.quick = true,
            "--only" => {
                for id in value()?.split(',') {
                    let known = || SYSTEMS.map(|system| system.id).join(", ");
                    ensure!(
                        SYSTEMS.iter().any(|system| system.id == id),
                        "no system {id:?}; there are: {}",
                        known()
                    );
                    options.only.push(id.to_owned());
                }
            }
            "--file" => options.file = Some(PathBuf::from(value()?)),
            "--folder" => options.folders.push(PathBuf::from(value()?)),
            "--out" => options.out = Some(PathBuf::from(value()?).with_extension("md")),
            other => bail!("bench search does not know {other}"),
        }
    }
    ensure!(
        options.file.is_none() || options.folders.is_empty(),
        "--file names a .kb that is there; --folder makes one: give one of the two"
    );
    Ok(options)
}

/// Where everything of this bench lies.
fn folder() -> PathBuf {
    corpus::bench_folder().join("search")
}

fn measure(options: &Options, arguments: &[String]) -> Result<Figures> {
    let folder = folder();
    fs::create_dir_all(&folder)?;
    let searched = searched(options, &folder)?;
    let queries = corpus::queries()?;
    eprintln!("chunks and vectors of {}", searched.file.display());
    let data = folder.join("data");
    let collection = collection::write(&searched.file, &queries, &data)?;
    let truth = Truth::of(&collection);
    let chosen =
        |system: &System| options.only.is_empty() || options.only.iter().any(|id| id == system.id);
    let systems: Vec<System> = SYSTEMS.into_iter().filter(chosen).collect();
    let runner = Runner::new(&folder, &data, &searched.file, collection.places.len())?;
    runner.prepare(&systems);
    let mut outcomes = Vec::new();
    for system in systems {
        eprintln!("{}", system.name);
        let measured = one(
            &runner,
            &system,
            &searched,
            &collection,
            &truth,
            options.quick,
        );
        let is_ours = system.program == Program::Ours;
        outcomes.push(Outcome::of(system.name, system.note, is_ours, measured)?);
    }
    Ok(Figures {
        date: machine::today(),
        machine: machine::describe(),
        commit: machine::commit(),
        command: format!("cargo xtask bench {}", arguments.join(" ")),
        corpus: searched.corpus,
        chunks: collection.places.len(),
        text_bytes: collection.text_bytes,
        dim: collection.dim,
        queries: collection.queries,
        pinned: runner.pinned,
        facets: collection.facets.clone(),
        systems: outcomes,
    })
}

/// The .kb: the one that was named, or one made now.
fn searched(options: &Options, folder: &Path) -> Result<Searched> {
    if let Some(file) = &options.file {
        ensure!(file.is_file(), "there is no file {}", file.display());
        return Ok(Searched {
            file: file.clone(),
            corpus: file
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
            build: None,
        });
    }
    let (corpus, folders) = if options.folders.is_empty() {
        let mut parts: Vec<PathBuf> = corpus::fetch()?
            .into_iter()
            .map(|part| part.folder)
            .collect();
        let mut name = "`tools/bench/corpus.txt`".to_owned();
        if options.quick {
            parts.truncate(1);
            name.push_str(", part 1");
        }
        (name, parts)
    } else {
        (
            format!("{} folders", options.folders.len()),
            options.folders.clone(),
        )
    };
    shipped_build::build()?;
    let file = folder.join("all.kb");
    eprintln!("kb index");
    let run = shipped_build::index_anew(&file, &folders)?;
    Ok(Searched {
        file,
        corpus,
        build: Some(run.elapsed),
    })
}

/// All figures of one system.
fn one(
    runner: &Runner,
    system: &System,
    searched: &Searched,
    collection: &Collection,
    truth: &Truth<'_>,
    quick: bool,
) -> Result<Measured> {
    let (build_seconds, disk_bytes) = if system.program == Program::Ours {
        let bytes = fs::metadata(&searched.file)?.len();
        (searched.build.map(|time| time.as_secs_f64()), bytes)
    } else {
        let built = runner.build(system)?;
        let bytes = built["disk_bytes"].as_u64().context("no size on disk")?;
        (built["build_seconds"].as_f64(), bytes)
    };
    let firsts = if quick { QUICK_FIRST_RUNS } else { FIRST_RUNS };
    let (mut inside, mut whole, mut start_private_bytes) = (Vec::new(), Vec::new(), 0);
    for _ in 0..firsts {
        let (first, elapsed) = runner.first(system)?;
        ensure!(
            first["hits"].as_u64() > Some(0),
            "the first query found nothing"
        );
        inside.push(first["first_us"].as_f64().context("no time")?);
        whole.push(elapsed.as_secs_f64() * 1e6);
        start_private_bytes = first["start_private_bytes"].as_u64().unwrap_or(0);
    }
    let seconds = if quick {
        QUICK_SECONDS_PER_CELL
    } else {
        SECONDS_PER_CELL
    };
    let asked = runner.ask(system, seconds)?;
    if system.program == Program::Ours {
        check_filters(&asked["searched"], collection)?;
    }
    Ok(Measured {
        version: asked["version"].as_str().unwrap_or_default().to_owned(),
        mode: system.mode,
        build_seconds,
        disk_bytes,
        first_us: median(inside),
        process_us: median(whole),
        start_private_bytes,
        private_bytes: asked["private_bytes"].as_u64().unwrap_or(0),
        mapped_bytes: asked["mapped_bytes"].as_u64().unwrap_or(0),
        cells: cells(&asked["cells"])?,
        recall: recalls(&asked["nearest"], collection, truth)?,
        batch: Times::from_json(&asked["batch"]),
    })
}

/// A filter that lets other chunks through than those marked for the baselines would compare nothing.
fn check_filters(searched: &Value, collection: &Collection) -> Result<()> {
    for (facet, allowed) in collection.facets.iter().zip(&collection.allowed) {
        let marked = allowed.iter().filter(|lets_through| **lets_through).count();
        let ours = searched[facet.name].as_u64();
        ensure!(
            ours == Some(marked as u64),
            "the filter {} lets {ours:?} chunks through, {marked} are marked",
            facet.value.describe()
        );
    }
    Ok(())
}

fn cells(list: &Value) -> Result<Vec<Cell>> {
    let cell = |value: &Value| {
        Ok(Cell {
            mode: value["mode"]
                .as_str()
                .context("times of no mode")?
                .to_owned(),
            filter: value["filter"].as_str().map(str::to_owned),
            times: Times::from_json(value).context("a cell without times")?,
        })
    };
    list.as_array()
        .context("no times")?
        .iter()
        .map(cell)
        .collect()
}

/// Recall by filter, none first; `None` where the system was not asked.
fn recalls(
    nearest: &Value,
    collection: &Collection,
    truth: &Truth<'_>,
) -> Result<Vec<Option<f64>>> {
    let rows: HashMap<(&str, u64), usize> = collection
        .places
        .iter()
        .enumerate()
        .map(|(row, (path, number))| ((path.as_str(), u64::from(*number)), row))
        .collect();
    let rows = &rows;
    // A baseline names a row, kb a path and a chunk of it, and the documents with copies of it.
    let row_of = |hit: &Value| {
        let of_place = || {
            let place = (hit[0].as_str()?, hit[1].as_u64()?);
            rows.get(&place).copied()
        };
        let row = hit.as_u64().and_then(|row| usize::try_from(row).ok());
        row.or_else(of_place)
            .with_context(|| format!("no chunk is at {hit}"))
    };
    let copies_of = |hit: &Value, row: usize| -> Vec<usize> {
        let paths = hit[2].as_array().map_or(&[][..], Vec::as_slice);
        let paths = paths.iter().filter_map(Value::as_str);
        let chunks = |path| (0..).map_while(move |number| rows.get(&(path, number)).copied());
        paths
            .filter_map(|path| truth.most_alike(row, chunks(path)))
            .collect()
    };
    let names = ["all"]
        .into_iter()
        .chain(collection.facets.iter().map(|facet| facet.name));
    names
        .enumerate()
        .map(|(filter, name)| {
            let Some(queries) = nearest[name].as_array() else {
                return Ok(None);
            };
            let hits = |query: &Value| {
                let mut found = Vec::new();
                for hit in query.as_array().map_or(&[][..], Vec::as_slice) {
                    let row = row_of(hit)?;
                    found.push(row);
                    found.extend(copies_of(hit, row));
                }
                Ok(found)
            };
            let found: Vec<Vec<usize>> = queries.iter().map(hits).collect::<Result<_>>()?;
            Ok(truth.recall(filter, &found))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn options_are_read_and_unknown_systems_refused() {
        let options = parse(&words("--quick --only kb,faiss-sq8 --out a/table")).unwrap();
        assert!(options.quick);
        assert_eq!(options.only, ["kb", "faiss-sq8"]);
        assert_eq!(options.out, Some(PathBuf::from("a/table.md")));
        let error = parse(&words("--only tantiwy")).unwrap_err().to_string();
        assert!(error.contains("tantivy"), "{error}");
        assert!(parse(&words("--file a.kb --folder b")).is_err());
        assert!(parse(&words("--file")).is_err() && parse(&words("--fast")).is_err());
    }

    #[test]
    fn rows_and_places_name_the_same_chunks() {
        let collection = Collection {
            folder: PathBuf::new(),
            places: vec![
                ("a".to_owned(), 0),
                ("a".to_owned(), 1),
                ("b".to_owned(), 0),
            ],
            vectors: vec![1.0, 0.5, 0.25],
            query_vectors: vec![1.0],
            dim: 1,
            queries: 1,
            facets: Vec::new(),
            allowed: Vec::new(),
            text_bytes: 0,
        };
        let truth = Truth::of(&collection);
        let recall = |hits: &str| {
            let nearest: Value = serde_json::from_str(&format!("{{\"all\":[{hits}]}}")).unwrap();
            recalls(&nearest, &collection, &truth)
        };
        assert_eq!(recall("[0, 1, 2]").unwrap(), [Some(1.0)]);
        let places = recall("[[\"a\", 0], [\"b\", 0]]").unwrap();
        assert_eq!(places, [Some(2.0 / 3.0)]);
        assert_eq!(recall("[[\"a\", 1]]").unwrap(), [Some(1.0 / 3.0)]);
        assert!(recall("[[\"a\", 2]]").is_err());
        // The copy of b's chunk is the chunk of a that is most like it, not the other one.
        let copies = recall("[[\"b\", 0, [\"a\", \"gone\"]]]").unwrap();
        assert_eq!(copies, [Some(2.0 / 3.0)]);
        let one = recall("[[\"b\", 0, [\"a\"]], [\"a\", 0]]").unwrap();
        assert_eq!(one, [Some(2.0 / 3.0)]);
        assert_eq!(recalls(&Value::Null, &collection, &truth).unwrap(), [None]);
    }

    #[test]
    fn filters_that_differ_are_refused() {
        let collection = Collection {
            folder: PathBuf::new(),
            places: Vec::new(),
            vectors: Vec::new(),
            query_vectors: Vec::new(),
            dim: 1,
            queries: 0,
            facets: vec![facet::Facet {
                name: "half",
                value: facet::Allowed::Language("rust".to_owned()),
                chunks: 2,
                share: 0.5,
            }],
            allowed: vec![vec![true, false, true]],
            text_bytes: 0,
        };
        assert!(check_filters(&serde_json::json!({"half": 2}), &collection).is_ok());
        assert!(check_filters(&serde_json::json!({"half": 3}), &collection).is_err());
        assert!(check_filters(&Value::Null, &collection).is_err());
    }
}
