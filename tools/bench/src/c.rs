//! `cargo xtask bench c FILE.kb`: what a search through libkb takes beside the same call of the engine.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use kb_engine::{Kb, Request};
use xtask::repository;

/// Queries drawn from the file.
const QUERIES: usize = 50;

/// Times each query is asked by each side in one turn.
const ROUNDS: u32 = 20;

/// Turns; the least time of a query counts.
const TURNS: usize = 5;

/// Most microseconds that C may add to a search of ten hits.
const LIMIT_US: f64 = 5.0;

/// Runs the verb.
pub(crate) fn run(arguments: &[String]) -> Result<bool> {
    let [file] = arguments else {
        bail!("bench c takes one FILE.kb");
    };
    let file = fs::canonicalize(file).with_context(|| file.clone())?;
    repository::run(&mut repository::cargo(&[
        "build",
        "--profile",
        "dist",
        "--package",
        "kb-ffi",
    ]))?;
    let folder = repository::target().join("bench/c");
    fs::create_dir_all(&folder)?;
    let program = folder.join("calls");
    let source = repository::root().join("ffi");
    let mut compile = Command::new("cc");
    compile
        .args(["-std=c11", "-O2", "-I"])
        .arg(source.join("include"))
        .arg(source.join("benches/calls.c"))
        .arg(repository::target().join("dist/libkb.a"))
        .args(["-lpthread", "-ldl", "-lm", "-o"])
        .arg(&program);
    repository::run(&mut compile)?;
    let kb = Kb::open(&file)?;
    let mut queries = kb.sample_queries(QUERIES)?;
    queries.retain(|query| !query.contains('\n'));
    let list = folder.join("queries.txt");
    fs::write(&list, queries.join("\n") + "\n")?;
    let (mut rust, mut c) = (vec![f64::MAX; queries.len()], vec![f64::MAX; queries.len()]);
    for _ in 0..TURNS {
        keep_least(&mut rust, of_engine(&kb, &queries)?);
        keep_least(&mut c, of_library(&program, &file, &list)?);
    }
    let mut added: Vec<f64> = rust.iter().zip(&c).map(|(rust, c)| c - rust).collect();
    added.sort_by(f64::total_cmp);
    let median = |times: &[f64]| times.get(times.len() / 2).copied().unwrap_or_default();
    rust.sort_by(f64::total_cmp);
    c.sort_by(f64::total_cmp);
    let over = median(&added);
    println!(
        "{} queries: engine {:.1} us, libkb {:.1} us (medians of least times); median added {over:.2} us, bar {LIMIT_US}",
        queries.len(),
        median(&rust),
        median(&c),
    );
    Ok(over <= LIMIT_US)
}

fn keep_least(least: &mut [f64], times: Vec<f64>) {
    for (least, time) in least.iter_mut().zip(times) {
        *least = least.min(time);
    }
}

fn of_engine(kb: &Kb, queries: &[String]) -> Result<Vec<f64>> {
    let mut times = Vec::with_capacity(queries.len());
    for query in queries {
        let mut least = f64::MAX;
        for _ in 0..ROUNDS {
            let start = Instant::now();
            let response = kb.search(&Request::new(query.as_str()))?;
            let read: usize = response.hits.iter().map(|hit| hit.text.len()).sum();
            drop(std::hint::black_box((read, response)));
            least = least.min(start.elapsed().as_secs_f64() * 1e6);
        }
        times.push(least);
    }
    Ok(times)
}

fn of_library(program: &Path, file: &Path, list: &Path) -> Result<Vec<f64>> {
    let mut calls = Command::new(program);
    let output = calls.arg(file).arg(list).arg(ROUNDS.to_string()).output()?;
    ensure!(
        output.status.success(),
        "{calls:?} ended with {}",
        output.status
    );
    let text = String::from_utf8(output.stdout)?;
    let times = text.lines().map(|line| Ok(line.parse()?));
    times.collect()
}
