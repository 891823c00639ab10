//! Lines of JSON as the bench writes them.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

/// One chunk.
pub(crate) struct Chunk {
    pub(crate) path: String,
    pub(crate) title: String,
    pub(crate) text: String,
    pub(crate) terms: String,
    /// Whether the filters of `bench search` let it through, widest first.
    pub(crate) filters: [bool; 3],
}

/// Calls `each` for every chunk.
pub(crate) fn for_each_chunk(path: &Path, mut each: impl FnMut(Chunk) -> Result<()>) -> Result<()> {
    for_each_line(path, |mut value| {
        let filters = ["half", "tenth", "hundredth"].map(|name| value[name] == 1);
        let mut take = |field: &str| match value[field].take() {
            Value::String(text) => Ok(text),
            other => Err(anyhow::anyhow!("field {field:?} is {other}, not text")),
        };
        each(Chunk {
            path: take("path")?,
            title: take("title")?,
            text: take("text")?,
            terms: take("terms")?,
            filters,
        })
    })
}

/// The terms of all queries.
pub(crate) fn queries(path: &Path) -> Result<Vec<Vec<String>>> {
    let mut queries = Vec::new();
    for_each_line(path, |value| {
        let terms = value["terms"].as_str().context("a query without terms")?;
        queries.push(terms.split_whitespace().map(str::to_owned).collect());
        Ok(())
    })?;
    Ok(queries)
}

fn for_each_line(path: &Path, mut each: impl FnMut(Value) -> Result<()>) -> Result<()> {
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut reader = BufReader::with_capacity(1 << 20, file);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line)? > 0 {
        each(serde_json::from_slice(&line).with_context(|| format!("{}", path.display()))?)?;
        line.clear();
    }
    Ok(())
}
