//! Files made to exhaust memory, time or stack, and the results of reading them.

mod archive;
mod bomb;
mod markup;
mod office;
mod pdf;
mod records;

use std::fs;
use std::time::Duration;

use anyhow::Result;
use bomb::Bomb;
use serde_json::{Value, json};

use super::child::{self, Limits, Outcome, Reading};

/// What a reader may use: as much as a worker process of the indexer.
const LIMITS: Limits = Limits {
    memory_bytes: 2 << 30,
    cpu_seconds: if cfg!(debug_assertions) { 120 } else { 30 },
    elapsed: Duration::from_secs(900),
};

/// All of them.
fn all() -> Vec<Bomb> {
    [pdf::BOMBS, office::BOMBS, records::BOMBS, markup::BOMBS].concat()
}

/// Has each read, in a quick run those that take no time; the results, and whether all are bounded.
pub(super) fn run(formats: Option<&[String]>, is_quick: bool) -> Result<(Value, bool)> {
    let folder = tempfile::tempdir()?;
    let mut rows = Vec::new();
    let mut unbounded = 0;
    println!("| file | bytes | result | CPU s | peak MB | |\n|---|---|---|---|---|---|");
    for bomb in all() {
        let format = bomb.name.rsplit('.').next().unwrap_or_default();
        let is_asked = formats.is_none_or(|formats| formats.iter().any(|asked| asked == format));
        if !is_asked || is_quick && bomb.is_long {
            continue;
        }
        let bytes = (bomb.make)();
        let path = folder.path().join("bomb");
        fs::write(&path, &bytes)?;
        let reading = Reading {
            file: &path,
            name: bomb.name,
            format,
            oracle: None,
            is_timed: false,
        };
        let measured = child::read(&reading, LIMITS)?;
        let (result, is_bounded) = match &measured.outcome {
            Outcome::Document(document) => {
                let (bytes, parts) = (document.text_bytes, document.parts);
                (format!("read: {bytes} bytes, {parts} parts"), true)
            }
            Outcome::Refused(reason) => (format!("refused: {reason}"), true),
            // The library that reads PDF has no limits; those of the process are its.
            Outcome::Stopped(limit) => (format!("stopped: {limit}"), format == "pdf"),
            Outcome::Crashed(how) => (format!("CRASHED: {how}"), false),
        };
        unbounded += usize::from(!is_bounded);
        let (seconds, peak) = (measured.cpu.as_secs_f64(), measured.peak_bytes / 1_000_000);
        println!(
            "| {format}: {} | {} | {result} | {seconds:.2} | {peak} | {} |",
            bomb.what,
            bytes.len(),
            if is_bounded { "" } else { "NOT BOUNDED" }
        );
        rows.push(json!({
            "format": format, "what": bomb.what, "bytes": bytes.len(), "result": result,
            "cpu_s": seconds, "peak_mb": peak, "bounded": is_bounded,
        }));
    }
    println!("\nbombs: {}, {unbounded} not bounded", rows.len());
    Ok((Value::from(rows), unbounded == 0))
}
