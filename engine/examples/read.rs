//! Searches a .kb and shows the first document found. `cargo run --example read FILE [QUERY]`
#![expect(clippy::print_stdout, reason = "an example shows its result")]

use std::path::PathBuf;

use kb_engine::{Kb, Request, Result};

fn main() -> Result<()> {
    let mut arguments = std::env::args_os().skip(1);
    let path = arguments
        .next()
        .map_or_else(|| std::env::temp_dir().join("example.kb"), PathBuf::from);
    let query = arguments
        .next()
        .unwrap_or_else(|| "why does the sea rise".into());

    let kb = Kb::open(&path)?;
    let response = kb.search(&Request::new(query.to_string_lossy()))?;
    for hit in &response.hits {
        println!("{:.3}  {}:{}", hit.score, hit.document, hit.lines.first);
    }
    if let Some(hit) = response.hits.first() {
        println!("{}", kb.text(&hit.document, None)?.text);
    }
    Ok(())
}
