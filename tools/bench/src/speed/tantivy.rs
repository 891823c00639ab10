//! Baselines: a program of `tools/bench/baselines`, compiled only when the bench is asked for.

use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use serde_json::Value;
use xtask::repository;

use crate::export::Exported;

/// What one baseline needed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Figures {
    /// Which baseline, and how it was set up.
    pub(crate) name: String,
    pub(crate) chunks: u64,
    pub(crate) index_seconds: f64,
    pub(crate) index_bytes: u64,
    /// Microseconds for the best ten, without their text.
    pub(crate) search: [f64; 3],
    /// The same with the stored text of the ten.
    pub(crate) with_text: [f64; 3],
}

/// Builds and runs the baselines on the exported lines.
pub(crate) fn run(exported: &Exported, folder: &Path) -> Result<Vec<Figures>> {
    let manifest = repository::root().join("tools/bench/baselines/Cargo.toml");
    let target = repository::target().join("bench-baselines");
    let mut command = repository::cargo(&["run", "--release", "--quiet", "--manifest-path"]);
    command
        .arg(manifest)
        .arg("--target-dir")
        .arg(target)
        .arg("--");
    command
        .arg(&exported.chunks)
        .arg(&exported.queries)
        .arg(folder.join("tantivy"));
    eprintln!("baselines: {command:?}");
    let output = command
        .stderr(std::process::Stdio::inherit())
        .output()
        .context("cannot start the baselines")?;
    if !output.status.success() {
        bail!("the baselines ended with {}", output.status);
    }
    parse(&String::from_utf8_lossy(&output.stdout))
}

fn parse(lines: &str) -> Result<Vec<Figures>> {
    lines
        .lines()
        .map(|line| figures_of(&serde_json::from_str(line)?))
        .collect()
}

fn figures_of(value: &Value) -> Result<Figures> {
    let number = |field: &str| {
        value[field]
            .as_f64()
            .ok_or_else(|| anyhow!("a baseline gave no {field}: {value}"))
    };
    let count = |field: &str| {
        value[field]
            .as_u64()
            .ok_or_else(|| anyhow!("a baseline gave no {field}: {value}"))
    };
    Ok(Figures {
        name: value["name"]
            .as_str()
            .context("a baseline without a name")?
            .to_owned(),
        chunks: count("chunks")?,
        index_seconds: number("index_seconds")?,
        index_bytes: count("index_bytes")?,
        search: [
            number("search_p50_us")?,
            number("search_p95_us")?,
            number("search_mean_us")?,
        ],
        with_text: [
            number("text_p50_us")?,
            number("text_p95_us")?,
            number("text_mean_us")?,
        ],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_a_baseline_is_read() {
        let line = r#"{"name":"t","chunks":3,"index_seconds":1.5,"index_bytes":10,
            "search_p50_us":1,"search_p95_us":2,"search_mean_us":3,
            "text_p50_us":4,"text_p95_us":5,"text_mean_us":6}"#
            .replace('\n', "");
        let figures = parse(&line).unwrap();
        assert_eq!(figures[0].search, [1.0, 2.0, 3.0]);
        assert_eq!(figures[0].with_text, [4.0, 5.0, 6.0]);
        assert!(parse(&line.replace("\"chunks\":3,", "")).is_err());
    }
}
