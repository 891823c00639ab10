//! `cargo xtask eval`: answer quality of the real engine on judged collections.
//!
//! Six tables. *Rows*: each row one document of one uncut chunk; most thresholds rest on this one.
//! *Chunked*: the same rows cut as any document. *Spans*: whole documents cut by the engine, and what the
//! tools show of them.
//! *Vectors*: rows searched in two stages, or stored as nibbles, against all rows of signed bytes.
//! *Verdict*: questions put to their own rows and to those of other fields. *Calibration*: the scores of
//! the hits of both, fitted again.
//! `cargo xtask documents` scores what is read in files of other programs ([`documents`]).
//! `eval symbols` scores the symbols of programs ([`symbols`]), `eval definitions` where searches for them end.
//! `eval agent` and `eval where` put questions about real checkouts to the MCP server instead ([`agent`]), `eval
//! questions` to `kb search` ([`questions`]).

mod agent;
mod bootstrap;
mod calibration;
mod candidates;
mod checkout;
mod columns;
#[cfg(unix)]
mod documents;
mod languages;
mod metrics;
mod questions;
mod ranking;
mod reference;
mod runner;
mod scores;
mod sets;
mod spans;
mod sweep;
#[cfg(unix)]
mod symbols;
mod thresholds;
mod vectors;
mod verdict;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use candidates::Candidates;
use columns::Columns;
use runner::Cut;
use serde_json::{Map, Value};
use sets::JudgedSet;
use vectors::{SetVectors, Together};
use xtask::repository;

/// What the command line asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Options {
    folder: PathBuf,
    /// Only these collections.
    sets: Option<Vec<String>>,
    tables: Tables,
    sweep: bool,
    json: Option<PathBuf>,
    /// The calibration asks these checkouts, too.
    checkouts: PathBuf,
    /// Where the diagram of the calibration goes.
    svg: Option<PathBuf>,
    /// The model of a second column of vectors.
    embedder: Option<String>,
    /// Where files with such a column are kept.
    files: Option<PathBuf>,
    /// Where the candidates of all questions go.
    candidates: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Tables {
    rows: bool,
    chunked: bool,
    spans: bool,
    vectors: bool,
    verdict: bool,
    /// Takes minutes, and is not among all tables.
    calibration: bool,
}

impl Tables {
    const ALL: Tables = Tables {
        rows: true,
        chunked: true,
        spans: true,
        vectors: true,
        verdict: true,
        calibration: false,
    };
    const ROWS: Tables = Tables {
        rows: true,
        chunked: false,
        spans: false,
        vectors: false,
        verdict: false,
        calibration: false,
    };
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Runs what is asked for; status 1 when a threshold is missed.
fn run(arguments: &[String]) -> Result<ExitCode> {
    let good = match arguments.split_first() {
        #[cfg(unix)]
        Some((verb, rest)) if verb == "documents" => return documents::run(rest),
        Some((verb, rest)) if verb == "agent" => agent::run_agent(rest)?,
        Some((verb, rest)) if verb == "where" => agent::run_where(rest)?,
        Some((verb, rest)) if verb == "questions" => questions::run(rest)?,
        Some((verb, rest)) if verb == "ranking" => ranking::run(rest)?,
        #[cfg(unix)]
        Some((verb, rest)) if verb == "symbols" => symbols::run(rest)?,
        #[cfg(unix)]
        Some((verb, rest)) if verb == "definitions" => symbols::run_definitions(rest)?,
        _ => run_judged(arguments)?,
    };
    Ok(ExitCode::from(u8::from(!good)))
}

/// Judges the collections; `false` when a threshold is missed.
fn run_judged(arguments: &[String]) -> Result<bool> {
    let options = parse(arguments)?;
    if !options.folder.is_dir() {
        println!(
            "eval: skipped, there are no collections at {}",
            options.folder.display()
        );
        return Ok(true);
    }
    let names = choose(sets::names(&options.folder)?, options.sets.as_deref())?;
    if names.is_empty() {
        println!(
            "eval: skipped, {} holds no collection",
            options.folder.display()
        );
        return Ok(true);
    }
    let mut figures = Map::new();
    let good = if options.sweep {
        let (mut chosen, sweeps) = sweep::run(&options.folder, &names)?;
        let languages = if names.iter().any(|name| name == languages::SET) {
            languages::run(&sets::load(&options.folder, languages::SET)?, &sweeps)?
        } else {
            Value::Null
        };
        chosen.insert("languages".to_owned(), languages);
        figures.insert("sweep".to_owned(), chosen.into());
        run_calibration(&options, &names, &mut figures)?;
        true
    } else {
        run_tables(&options, &names, &mut figures)?
    };
    if let Some(path) = &options.json {
        let text = serde_json::to_string(&Value::Object(figures))? + "\n";
        fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(good)
}

fn run_tables(
    options: &Options,
    names: &[String],
    figures: &mut Map<String, Value>,
) -> Result<bool> {
    let mut rows = Vec::new();
    let mut chunked = Vec::new();
    let mut found = spans::Measured::default();
    let (mut own, mut together) = (Vec::new(), Together::default());
    let mut kept = Vec::new();
    let columns = Columns::new(options.embedder.as_deref(), options.files.as_deref())?;
    let build = |set: &JudgedSet, cut| match &columns {
        Some(columns) => runner::embedded_rows(set, cut, columns),
        None => runner::build_rows(set, cut),
    };
    let mut candidates = match &options.candidates {
        Some(path) => Some(Candidates::create(path)?),
        None => None,
    };
    for name in names {
        let set = sets::load(&options.folder, name)?;
        let start = Instant::now();
        let tables = &options.tables;
        if tables.rows || tables.vectors || tables.verdict {
            let built = build(&set, Cut::Uncut)?;
            if let Some(candidates) = &mut candidates {
                candidates.add(&built.kb, &set)?;
            }
            if options.tables.rows {
                rows.push(scores::measure(&built.kb, &set, Cut::Uncut)?);
            }
            if options.tables.vectors {
                own.push(vectors::measure(&set, &built)?);
                together.add(&set)?;
            }
            if options.tables.verdict {
                kept.push(verdict::Built::new(&set, built));
            }
        }
        if options.tables.chunked {
            let built = build(&set, Cut::Chunked)?;
            chunked.push(scores::measure(&built.kb, &set, Cut::Chunked)?);
        }
        if options.tables.spans {
            let measured = spans::measure(&set)?;
            found.spans.extend(measured.spans);
            found.shown.extend(measured.shown);
        }
        eprintln!("{name}: {:.1} s", start.elapsed().as_secs_f64());
    }
    let mut good = true;
    if options.tables.calibration {
        good &= run_calibration(options, names, figures)?;
    }
    if options.tables.rows {
        scores::print_table(
            "Rows as they are, nDCG@10 (reference figures in brackets)",
            &rows,
        );
        let judged = thresholds::judge(&rows);
        good &= thresholds::print(&judged);
        figures.insert("rows".to_owned(), scores::to_json(&rows));
        figures.insert("thresholds".to_owned(), thresholds::to_json(&judged));
    }
    if options.tables.chunked {
        scores::print_table(
            "Rows cut by the engine, best chunk counts, nDCG@10",
            &chunked,
        );
        figures.insert("chunked".to_owned(), scores::to_json(&chunked));
    }
    if options.tables.spans {
        spans::print_tables(&found);
        figures.insert("spans".to_owned(), spans::to_json(&found));
    }
    if options.tables.vectors {
        let start = Instant::now();
        good &= run_vectors(&own, &together.measure()?, figures);
        eprintln!("vectors: {:.1} s", start.elapsed().as_secs_f64());
    }
    if options.tables.verdict {
        let start = Instant::now();
        let verdicts = verdict::measure(&kept)?;
        eprintln!("verdict: {:.1} s", start.elapsed().as_secs_f64());
        if verdicts.is_empty() {
            println!("\nverdict: skipped, no two of these collections are of different fields");
        } else {
            verdict::print_table(&verdicts);
            let judged = thresholds::judge_verdicts(&verdicts);
            good &= thresholds::print(&judged);
            figures.insert("verdict".to_owned(), verdict::to_json(&verdicts));
            figures.insert(
                "verdict_thresholds".to_owned(),
                thresholds::to_json(&judged),
            );
        }
    }
    Ok(good)
}

/// Fits the scores again, prints, judges and draws them; whether all thresholds were reached.
fn run_calibration(
    options: &Options,
    names: &[String],
    figures: &mut Map<String, Value>,
) -> Result<bool> {
    let Some(report) = calibration::run(&options.folder, names, &options.checkouts)? else {
        return Ok(true);
    };
    if let Some(path) = &options.svg {
        report.draw(path)?;
    }
    figures.insert("calibration".to_owned(), report.to_json());
    Ok(thresholds::print(&report.judged()))
}

/// Prints and judges the two tables of vectors; whether all thresholds were reached.
fn run_vectors(
    own: &[SetVectors],
    together: &[SetVectors],
    figures: &mut Map<String, Value>,
) -> bool {
    let places = [
        ("own rows", "Vectors, each collection a file", own),
        ("one file", "Vectors, one file of all rows", together),
    ];
    let mut judged = Vec::new();
    for (place, title, sets) in places {
        vectors::print_table(title, sets);
        judged.extend(thresholds::judge_vectors(place, sets));
    }
    figures.insert("vectors".to_owned(), vectors::to_json(own));
    figures.insert("vectors_one_file".to_owned(), vectors::to_json(together));
    figures.insert(
        "vectors_thresholds".to_owned(),
        thresholds::to_json(&judged),
    );
    thresholds::print(&judged)
}

/// The collections asked for, all of which must exist.
fn choose(names: Vec<String>, wanted: Option<&[String]>) -> Result<Vec<String>> {
    let Some(wanted) = wanted else {
        return Ok(names);
    };
    if let Some(missing) = wanted.iter().find(|name| !names.contains(name)) {
        bail!("no collection {missing:?}; there are: {}", names.join(", "));
    }
    Ok(names
        .into_iter()
        .filter(|name| wanted.contains(name))
        .collect())
}

fn parse(arguments: &[String]) -> Result<Options> {
    let mut options = Options {
        folder: default_folder(),
        sets: None,
        tables: Tables::ALL,
        sweep: false,
        json: None,
        checkouts: default_checkouts(),
        svg: None,
        embedder: None,
        files: None,
        candidates: None,
    };
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let mut value = || {
            arguments
                .next()
                .with_context(|| format!("{argument} needs a value"))
        };
        match argument.as_str() {
            "--sets" => options.sets = Some(split(value()?)),
            "--tables" => options.tables = parse_tables(&split(value()?))?,
            "--checkouts" => options.checkouts = PathBuf::from(value()?),
            "--svg" => options.svg = Some(PathBuf::from(value()?)),
            "--json" => options.json = Some(PathBuf::from(value()?)),
            "--embedder" => options.embedder = Some(value()?.clone()),
            "--files" => options.files = Some(PathBuf::from(value()?)),
            "--candidates" => options.candidates = Some(PathBuf::from(value()?)),
            "--sweep" => options.sweep = true,
            "--quick" => {
                options.sets = Some(reference::QUICK.map(str::to_owned).to_vec());
                options.tables = Tables::ROWS;
            }
            flag if flag.starts_with('-') => bail!("eval does not know {flag}"),
            folder => options.folder = PathBuf::from(folder),
        }
    }
    // It is a picture of that table.
    options.tables.calibration |= options.svg.is_some();
    Ok(options)
}

fn parse_tables(names: &[String]) -> Result<Tables> {
    let mut tables = Tables {
        rows: false,
        chunked: false,
        spans: false,
        vectors: false,
        verdict: false,
        calibration: false,
    };
    for name in names {
        match name.as_str() {
            "rows" => tables.rows = true,
            "chunked" => tables.chunked = true,
            "spans" => tables.spans = true,
            "vectors" => tables.vectors = true,
            "verdict" => tables.verdict = true,
            "calibration" => tables.calibration = true,
            other => bail!(
                "no table {other:?}; there are rows, chunked, spans, vectors, verdict, calibration"
            ),
        }
    }
    Ok(tables)
}

fn split(list: &str) -> Vec<String> {
    list.split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

/// The folder of the checkouts that natural questions are about.
fn default_checkouts() -> PathBuf {
    repository::root()
        .parent()
        .unwrap_or(Path::new("/"))
        .join("checkouts")
}

fn default_folder() -> PathBuf {
    repository::root()
        .parent()
        .unwrap_or(Path::new("/"))
        .join("shared/eval/dev")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(line: &str) -> Result<Options> {
        parse(
            &line
                .split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>(),
        )
    }

    #[test]
    fn options_are_read() {
        let read = options("some/folder --sets a,b --tables spans,rows --json out.json").unwrap();
        assert_eq!(read.folder, PathBuf::from("some/folder"));
        assert_eq!(read.sets, Some(vec!["a".to_owned(), "b".to_owned()]));
        assert_eq!(
            read.tables,
            Tables {
                rows: true,
                chunked: false,
                spans: true,
                vectors: false,
                verdict: false,
                calibration: false
            }
        );
        assert_eq!(read.json, Some(PathBuf::from("out.json")));
    }

    #[test]
    fn a_second_model_is_named_with_the_place_of_its_files() {
        let read = options("--embedder onnx:m --files f --candidates c").unwrap();
        assert_eq!(read.embedder.as_deref(), Some("onnx:m"));
        assert_eq!(read.files, Some(PathBuf::from("f")));
        assert_eq!(read.candidates, Some(PathBuf::from("c")));
        assert!(options("--embedder").is_err());
    }

    #[test]
    fn a_diagram_has_its_table_made() {
        assert!(!options("--tables rows").unwrap().tables.calibration);
        for line in ["--svg a.svg --tables rows", "--tables rows --svg a.svg"] {
            let read = options(line).unwrap();
            assert!(read.tables.calibration && read.tables.rows, "{line}");
        }
    }

    #[test]
    fn a_quick_run_judges_rows_only() {
        let read = options("--quick").unwrap();
        assert_eq!(read.tables, Tables::ROWS);
        assert_eq!(read.sets.unwrap().len(), reference::QUICK.len());
    }

    #[test]
    fn unknown_words_are_refused() {
        assert!(options("--fast").is_err());
        assert!(options("--tables lines").is_err());
        assert!(options("--sets").is_err());
        assert!(choose(vec!["a".to_owned()], Some(&["b".to_owned()])).is_err());
    }
}
