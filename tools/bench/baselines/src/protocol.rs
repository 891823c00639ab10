//! The verbs of `cargo xtask bench search` for tantivy, as `python/protocol.py` has them for the others:
//! `build DATA FOLDER`, `first DATA FOLDER MODE` and `ask DATA FOLDER SECONDS` print one JSON object.
//!
//! One joined field of ready terms, texts in tantivy's store, one term per filter.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, ConstScoreQuery, Occur, Query as TantivyQuery, TermQuery};
use tantivy::schema::{
    Field, IndexRecordOption, STORED, STRING, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::WhitespaceTokenizer;
use tantivy::{Index, IndexWriter, Searcher, TantivyDocument, Term};

use crate::lines;
use crate::summary;

const HITS: usize = 10;
const WRITER_THREADS: usize = 2;
const WRITER_BYTES: usize = 512 << 20;

/// Filters as the chunks name them.
const FILTERS: [&str; 3] = ["half", "tenth", "hundredth"];
/// As in `python/protocol.py`.
const PASSES: usize = 3;
const LEAST_RUNS: usize = 30;

const VERSION: &str = "tantivy 0.27";
const TOKENIZER: &str = "ready";

/// Runs the verb and gives what it prints.
pub(crate) fn run(arguments: &[String]) -> Result<Value> {
    let (verb, data, folder, rest) = match arguments {
        [verb, data, folder, rest @ ..] => (verb, Path::new(data), Path::new(folder), rest),
        _ => bail!("usage: kb-bench-baselines build|first|ask DATA FOLDER [MODE|SECONDS]"),
    };
    match (verb.as_str(), rest) {
        ("build", []) => build(data, folder),
        ("first", [_mode]) => first(data, folder),
        ("ask", [seconds]) => ask(data, folder, Duration::from_secs_f64(seconds.parse()?)),
        _ => bail!("unknown verb {verb:?}, or not what it needs"),
    }
}

fn build(data: &Path, folder: &Path) -> Result<Value> {
    fs::create_dir_all(folder)?;
    let mut schema = Schema::builder();
    let indexing = TextFieldIndexing::default()
        .set_tokenizer(TOKENIZER)
        .set_index_option(IndexRecordOption::WithFreqs);
    let terms = schema.add_text_field(
        "terms",
        TextOptions::default().set_indexing_options(indexing),
    );
    let stored = ["path", "title", "text"].map(|name| schema.add_text_field(name, STORED));
    let allowed = schema.add_text_field("allowed", STRING);
    let index = Index::create_in_dir(folder, schema.build())?;
    register(&index);

    let start = Instant::now();
    let mut writer: IndexWriter = index.writer_with_num_threads(WRITER_THREADS, WRITER_BYTES)?;
    lines::for_each_chunk(&data.join("chunks.jsonl"), |chunk| {
        let mut document = TantivyDocument::default();
        document.add_text(terms, chunk.terms);
        for (field, text) in stored.iter().zip([chunk.path, chunk.title, chunk.text]) {
            document.add_text(*field, text);
        }
        for (name, lets_through) in FILTERS.iter().zip(chunk.filters) {
            if lets_through {
                document.add_text(allowed, name);
            }
        }
        writer.add_document(document)?;
        Ok(())
    })?;
    writer.commit()?;
    let segments = index.searchable_segment_ids()?;
    if segments.len() > 1 {
        writer.merge(&segments).wait()?;
    }
    writer.wait_merging_threads()?;
    Ok(json!({
        "version": VERSION,
        "build_seconds": start.elapsed().as_secs_f64(),
        "disk_bytes": folder_bytes(folder)?,
    }))
}

fn register(index: &Index) {
    let tokenizer = WhitespaceTokenizer::default();
    index.tokenizers().register(TOKENIZER, tokenizer);
}

fn open(folder: &Path) -> Result<Searcher> {
    let index = Index::open_in_dir(folder)?;
    register(&index);
    Ok(index.reader()?.searcher())
}

/// The ten best with their texts, counted.
fn answer(searcher: &Searcher, query: &[String], filter: Option<&str>) -> Result<usize> {
    let schema = searcher.schema();
    let mut asked: Box<dyn TantivyQuery> = Box::new(any_of(schema.get_field("terms")?, query));
    if let Some(filter) = filter {
        let term = Term::from_field_text(schema.get_field("allowed")?, filter);
        let lets_through = TermQuery::new(term, IndexRecordOption::Basic);
        let allowed = ConstScoreQuery::new(Box::new(lets_through), 0.0);
        asked = Box::new(BooleanQuery::new(vec![
            (Occur::Must, asked),
            (Occur::Must, Box::new(allowed)),
        ]));
    }
    let best = searcher.search(&asked, &TopDocs::with_limit(HITS).order_by_score())?;
    for (_, address) in &best {
        std::hint::black_box(searcher.doc::<TantivyDocument>(*address)?);
    }
    Ok(best.len())
}

/// The OR of all terms of the query.
fn any_of(field: Field, terms: &[String]) -> BooleanQuery {
    let clauses = terms.iter().map(|term| {
        let term = Term::from_field_text(field, term);
        let clause = TermQuery::new(term, IndexRecordOption::WithFreqs);
        (Occur::Should, Box::new(clause) as Box<dyn TantivyQuery>)
    });
    BooleanQuery::new(clauses.collect())
}

/// Bytes of all files of an index.
fn folder_bytes(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        bytes += entry?.metadata()?.len();
    }
    Ok(bytes)
}

fn first(data: &Path, folder: &Path) -> Result<Value> {
    let queries = lines::queries(&data.join("queries.jsonl"))?;
    let query = queries.first().context("there is no query")?;
    let [before, _] = memory();
    let start = Instant::now();
    let hits = answer(&open(folder)?, query, None)?;
    Ok(json!({
        "version": VERSION,
        "first_us": start.elapsed().as_secs_f64() * 1e6,
        "hits": hits,
        "start_private_bytes": before,
    }))
}

fn ask(data: &Path, folder: &Path, limit: Duration) -> Result<Value> {
    let queries = lines::queries(&data.join("queries.jsonl"))?;
    let searcher = open(folder)?;
    let filters = FILTERS.iter().map(|name| Some(*name));
    let mut cells = Vec::new();
    for filter in [None].into_iter().chain(filters) {
        for query in queries.iter().take(LEAST_RUNS) {
            answer(&searcher, query, filter)?;
        }
        let mut times = Vec::new();
        let end = Instant::now() + limit;
        for query in std::iter::repeat_n(&queries, PASSES).flatten() {
            let start = Instant::now();
            answer(&searcher, query, filter)?;
            times.push(start.elapsed());
            if times.len() >= LEAST_RUNS && Instant::now() > end {
                break;
            }
        }
        let runs = times.len();
        let [p50, p95, mean] = summary::microseconds(times);
        cells.push(json!({
            "mode": "keyword", "filter": filter,
            "p50_us": p50, "p95_us": p95, "mean_us": mean, "runs": runs,
        }));
    }
    let [private_bytes, mapped_bytes] = memory();
    Ok(json!({
        "version": VERSION,
        "cells": cells,
        "nearest": {},
        "private_bytes": private_bytes,
        "mapped_bytes": mapped_bytes,
    }))
}

/// Memory of this process alone in bytes: what it holds, and pages of files that it has mapped, which
/// the system may drop. Both 0 where the system does not tell.
fn memory() -> [u64; 2] {
    let rollup = fs::read_to_string("/proc/self/smaps_rollup").unwrap_or_default();
    ["Private_Dirty:", "Private_Clean:"].map(|field| {
        let line = rollup.lines().find_map(|line| line.strip_prefix(field));
        let number = line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
        number.unwrap_or(0) * 1024
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_collection_is_indexed_and_asked() {
        let name = format!("kb-bench-baselines-{}", std::process::id());
        let data = std::env::temp_dir().join(name);
        fs::create_dir_all(&data).unwrap();
        let mut chunks = String::new();
        for number in 0..50 {
            let word = ["apple", "pear", "plum"][number % 3];
            let half = number % 2;
            chunks.push_str(&format!(
                "{{\"path\":\"p{number}\",\"title\":\"t\",\"text\":\"one {word}\",\
                 \"terms\":\"one {word}\",\"half\":{half}}}\n"
            ));
        }
        fs::write(data.join("chunks.jsonl"), chunks).unwrap();
        let query = "{\"text\":\"Pears?\",\"terms\":\"pear\"}\n";
        fs::write(data.join("queries.jsonl"), query).unwrap();
        let index = data.join("index");
        let run = |verb: &str, rest: &[&str]| {
            let start = [verb, data.to_str().unwrap(), index.to_str().unwrap()];
            let words = [&start, rest].concat();
            run(&words.into_iter().map(str::to_owned).collect::<Vec<_>>())
        };
        let built = run("build", &[]).unwrap();
        assert!(built["disk_bytes"].as_u64().unwrap() > 0, "{built}");
        assert_eq!(run("first", &["keyword"]).unwrap()["hits"], 10);
        let asked = run("ask", &["0.1"]).unwrap();
        let filters = asked["cells"].as_array().unwrap();
        assert_eq!(filters.len(), 1 + FILTERS.len(), "{asked}");
        let searcher = open(&index).unwrap();
        let hits = |filter| answer(&searcher, &["pear".to_owned()], filter).unwrap();
        assert_eq!((hits(Some("half")), hits(Some("tenth"))), (9, 0));
        assert!(run("ask", &[]).is_err());
        fs::remove_dir_all(&data).unwrap();
    }
}
