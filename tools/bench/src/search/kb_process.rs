//! kb put to the same verbs as its baselines, in a process of its own: `first DATA FILE MODE` and
//! `ask DATA FILE SECONDS` print one JSON object.

use std::cmp::Ordering;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use kb_engine::{Filters, Hit, Kb, Mode, Request};
use serde_json::{Map, Value, json};

use super::facet::Facet;
use crate::latency::{self, Summary};
use crate::peers::K;

/// As in `python/protocol.py`.
const PASSES: usize = 3;
const LEAST_RUNS: usize = 30;
/// Hits of which the nearest are taken: as many as a search for ten looks at.
const CANDIDATES: usize = 99;

/// Runs the verb and prints what it found.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let [verb, data, file, detail] = arguments else {
        bail!("a process of kb needs a verb, DATA, FILE and one word more");
    };
    let (data, file) = (Path::new(data), Path::new(file));
    let queries = queries(&data.join("queries.jsonl"))?;
    let result = match verb.as_str() {
        "first" => {
            let mode = Mode::from_name(detail).context("no such mode")?;
            first(file, queries.first().context("there is no query")?, mode)?
        }
        "ask" => ask(
            file,
            &queries,
            &facets(&data.join("facets.json"))?,
            Duration::from_secs_f64(detail.parse()?),
        )?,
        other => bail!("kb has no verb {other}"),
    };
    println!("{result}");
    Ok(())
}

fn queries(path: &Path) -> Result<Vec<String>> {
    let text = |line: &str| {
        let value: Value = serde_json::from_str(line)?;
        let text = value["text"].as_str().context("a query without a text")?;
        Ok(text.to_owned())
    };
    fs::read_to_string(path)?.lines().map(text).collect()
}

fn facets(path: &Path) -> Result<Vec<Facet>> {
    let list: Vec<Value> = serde_json::from_str(&fs::read_to_string(path)?)?;
    list.iter().map(Facet::from_json).collect()
}

fn request(query: &str, mode: Mode, filters: &Filters) -> Request {
    let mut request = Request::new(query);
    // Chunk for chunk, as baselines answer.
    request.join = false;
    request.plain = true;
    request.mode = mode;
    request.filters = filters.clone();
    request
}

fn version() -> String {
    format!("kb {}", env!("CARGO_PKG_VERSION"))
}

fn first(file: &Path, query: &str, mode: Mode) -> Result<Value> {
    let request = request(query, mode, &Filters::default());
    let [before, _] = memory();
    let start = Instant::now();
    let response = Kb::open(file)?.search(&request)?;
    let elapsed = start.elapsed();
    Ok(json!({
        "version": version(),
        "first_us": elapsed.as_secs_f64() * 1e6,
        "hits": response.hits.len(),
        "start_private_bytes": before,
    }))
}

fn ask(file: &Path, queries: &[String], facets: &[Facet], limit: Duration) -> Result<Value> {
    let kb = Kb::open(file)?;
    let mut filters = vec![(None, Filters::default())];
    filters.extend(
        facets
            .iter()
            .map(|facet| (Some(facet.name), facet.value.filters())),
    );
    let (mut cells, mut nearest, mut searched) = (Vec::new(), Map::new(), Map::new());
    for mode in [Mode::Keyword, Mode::Semantic, Mode::Hybrid] {
        for (name, filters) in &filters {
            let summary = timed(&kb, queries, mode, filters, limit)?;
            let mut cell = summary.to_json();
            cell["mode"] = mode.name().into();
            cell["filter"] = json!(name);
            cells.push(cell);
            if mode == Mode::Semantic {
                let name = name.unwrap_or("all");
                let (places, chunks) = places(&kb, queries, filters)?;
                nearest.insert(name.to_owned(), places);
                searched.insert(name.to_owned(), chunks.into());
            }
        }
    }
    let [private_bytes, mapped_bytes] = memory();
    Ok(json!({
        "version": version(),
        "cells": cells,
        "nearest": nearest,
        "searched": searched,
        "private_bytes": private_bytes,
        "mapped_bytes": mapped_bytes,
    }))
}

fn timed(
    kb: &Kb,
    queries: &[String],
    mode: Mode,
    filters: &Filters,
    limit: Duration,
) -> Result<Summary> {
    for query in queries.iter().take(LEAST_RUNS) {
        kb.search(&request(query, mode, filters))?;
    }
    let requests: Vec<Request> = queries
        .iter()
        .map(|query| request(query, mode, filters))
        .collect();
    latency::of_passes(&requests, PASSES, LEAST_RUNS, limit, |request| {
        Ok(kb.search(request)?)
    })
}

/// The nearest chunks of each query by their vectors as `[path, number of the chunk, paths of copies]`, and how many
/// chunks could answer. Of [`CANDIDATES`] semantic hits, which the ranking orders by more than their vectors.
fn places(kb: &Kb, queries: &[String], filters: &Filters) -> Result<(Value, u64)> {
    let mut all = Vec::new();
    let mut chunks = 0;
    for query in queries {
        let response = kb.search(&request(query, Mode::Semantic, filters).k(CANDIDATES))?;
        chunks = response.searched_chunks;
        let mut hits: Vec<&Hit> = response.hits.iter().collect();
        hits.sort_by(|a, b| {
            b.vector_score
                .partial_cmp(&a.vector_score)
                .unwrap_or(Ordering::Equal)
        });
        let hits = hits.into_iter().take(K);
        let places: Vec<Value> = hits
            .map(|hit| json!([hit.document, hit.chunk_index, hit.copy_paths]))
            .collect();
        all.push(Value::from(places));
    }
    Ok((all.into(), chunks))
}

/// Memory of this process alone in bytes: what it holds, and pages of files that it has mapped,
/// which the system may drop. Both 0 where the system does not tell.
fn memory() -> [u64; 2] {
    let rollup = fs::read_to_string("/proc/self/smaps_rollup").unwrap_or_default();
    ["Private_Dirty:", "Private_Clean:"].map(|field| crate::child::field_bytes(&rollup, field))
}

#[cfg(test)]
mod tests {
    use kb_engine::KbWriter;

    use super::*;

    #[test]
    fn a_small_file_is_asked_in_every_mode_with_every_filter() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("all.kb");
        let mut writer = KbWriter::open_or_create(&file).unwrap();
        for number in 0..40 {
            let name = format!("{number}.{}", ["md", "rs"][number % 2]);
            writer.add_bytes(&name, b"the moon pulls the sea").unwrap();
        }
        writer.commit().unwrap();
        let queries = ["moon".to_owned(), "what pulls the sea".to_owned()];
        let facets = super::super::facet::choose(&Kb::open(&file).unwrap()).unwrap();
        let asked = ask(&file, &queries, &facets, Duration::ZERO).unwrap();
        let cells = asked["cells"].as_array().unwrap();
        assert_eq!(cells.len(), 12);
        assert!(cells.iter().all(|cell| cell["p50_us"].as_f64() > Some(0.0)));
        assert_eq!(asked["nearest"]["half"].as_array().unwrap().len(), 2);
        assert_eq!(asked["searched"]["half"], 20);
        let first = first(&file, "moon", Mode::Hybrid).unwrap();
        assert_eq!(first["hits"], 10);
    }

    #[test]
    fn the_nearest_name_their_copies() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("copies.kb");
        let mut writer = KbWriter::open_or_create(&file).unwrap();
        let text = "The moon pulls the sea. ".repeat(9);
        for name in ["a/tide.md", "b/tide.md"] {
            writer.add_bytes(name, text.as_bytes()).unwrap();
        }
        writer.commit().unwrap();
        let kb = Kb::open(&file).unwrap();
        let (found, _) = places(&kb, &["moon".to_owned()], &Filters::default()).unwrap();
        let named = [["a/tide.md", "b/tide.md"], ["b/tide.md", "a/tide.md"]];
        let named = named.map(|[hit, copy]| json!([[[hit, 0, [copy]]]]));
        assert!(named.contains(&found), "{found}");
    }
}
