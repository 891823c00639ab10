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
    /// Whether the filters of `bench search` let it through, widest first; none do elsewhere.
    pub(crate) filters: [bool; 3],
}

/// One query, as typed and as ready terms.
pub(crate) struct Query {
    pub(crate) text: String,
    pub(crate) terms: Vec<String>,
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

/// All queries.
pub(crate) fn queries(path: &Path) -> Result<Vec<Query>> {
    let mut queries = Vec::new();
    for_each_line(path, |value| {
        let text = |field: &str| {
            value[field]
                .as_str()
                .with_context(|| format!("{field:?} of a query is not text"))
        };
        let terms = text("terms")?
            .split_whitespace()
            .map(str::to_owned)
            .collect();
        queries.push(Query {
            text: text("text")?.to_owned(),
            terms,
        });
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
