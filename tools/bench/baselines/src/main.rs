//! The chunks and queries of a bench put to other search engines.
//!
//! `kb-bench-baselines CHUNKS.jsonl QUERIES.jsonl FOLDER` prints one JSON object per baseline. Lines hold
//! `path`, `title`, `text` and `terms` (queries: `text` and `terms`), where `terms` are ready terms
//! joined by spaces. FOLDER is replaced. `kb-bench-baselines search ...`: see `protocol`.

mod lines;
mod protocol;
mod summary;
mod tantivy_baseline;

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::lines::Query;
use crate::tantivy_baseline::Field;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some((name, rest)) = arguments.split_first()
        && name == "search"
    {
        println!("{}", protocol::run(rest)?);
        return Ok(());
    }
    let arguments: Vec<PathBuf> = arguments.iter().map(PathBuf::from).collect();
    let [chunks, queries, folder] = &arguments[..] else {
        bail!("usage: kb-bench-baselines CHUNKS.jsonl QUERIES.jsonl FOLDER");
    };
    run(chunks, queries, folder)
}

fn run(chunks: &Path, queries: &Path, folder: &Path) -> Result<()> {
    let queries: Vec<Query> = lines::queries(queries)?;
    for field in [Field::ReadyTerms, Field::OwnAnalysis] {
        println!("{}", tantivy_baseline::run(chunks, &queries, folder, field)?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_small_collection_is_indexed_and_asked() {
        let folder = std::env::temp_dir().join(format!("kb-bench-baselines-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let chunks = folder.join("chunks.jsonl");
        let mut text = String::new();
        for number in 0..50 {
            let word = ["apple", "pear", "plum"][number % 3];
            text.push_str(&format!(
                "{{\"path\":\"p{number}\",\"title\":\"t\",\"text\":\"one {word}\",\
                 \"terms\":\"one {word}\"}}\n"
            ));
        }
        fs::write(&chunks, text).unwrap();
        let queries = folder.join("queries.jsonl");
        fs::write(&queries, "{\"text\":\"Pears?\",\"terms\":\"pear\"}\n").unwrap();
        let queries = lines::queries(&queries).unwrap();
        for field in [Field::ReadyTerms, Field::OwnAnalysis] {
            let index = folder.join("index");
            let figures = tantivy_baseline::run(&chunks, &queries, &index, field).unwrap();
            assert_eq!(figures["chunks"], 50);
            assert_eq!(figures["hits"], 10, "{figures}");
            assert!(figures["index_bytes"].as_u64().unwrap() > 0);
        }
        fs::remove_dir_all(&folder).unwrap();
    }
}
