//! Reads thousands of broken files. No file may cause a crash, a hang or unbounded memory.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use serde_json::{Value, json};
use xtask::repository;

use super::child::{self, Limits, Outcome, Reading};
use super::mutate::{self, Damage, Random};

/// Memory above which a mutant counts as too large.
const MAX_PEAK_BYTES: u64 = 1 << 30;
/// Processor time above which one hangs, in a release build; the others take some times as long.
const MAX_CPU: Duration = Duration::from_secs(if cfg!(debug_assertions) { 20 } else { 5 });

const LIMITS: Limits = Limits {
    memory_bytes: MAX_PEAK_BYTES + (256 << 20),
    cpu_seconds: MAX_CPU.as_secs() + 1,
    elapsed: Duration::from_secs(600),
};

/// A real file to break.
#[derive(Debug, Clone)]
pub(super) struct Original {
    pub(super) name: String,
    pub(super) format: String,
    pub(super) bytes: Vec<u8>,
}

/// What came of all mutants.
#[derive(Debug, Default)]
pub(super) struct Summary {
    mutants: usize,
    read: usize,
    refused: usize,
    /// What must not be, one line each.
    failures: Vec<String>,
}

/// Breaks the originals in turn, `count` times in all, and has each read.
pub(super) fn run(originals: &[Original], count: usize, seed: u64) -> Result<Summary> {
    let folder = tempfile::tempdir()?;
    let kept = repository::target().join("broken-documents");
    let mut summary = Summary::default();
    for number in 0..count {
        let Some(original) = originals.get(number % originals.len().max(1)) else {
            break;
        };
        let round = number / originals.len();
        let mut random = Random(seed.wrapping_mul(0x1_0000_0001).wrapping_add(number as u64));
        let damage = Damage::ALL[random.below(Damage::ALL.len())];
        let other = &originals[random.below(originals.len())].bytes;
        // Every second round goes behind the checksums of packages.
        let inside = (round % 2 == 1)
            .then(|| mutate::broken_inside(&original.bytes, damage, &mut random))
            .flatten();
        let place = if inside.is_some() { "inside" } else { "file" };
        let bytes =
            inside.unwrap_or_else(|| mutate::broken(&original.bytes, other, damage, &mut random));
        let path = folder.path().join("mutant");
        fs::write(&path, &bytes)?;
        let reading = Reading {
            file: &path,
            name: &original.name,
            format: &original.format,
            oracle: None,
            is_timed: false,
        };
        let measured = child::read(&reading, LIMITS)?;
        summary.mutants += 1;
        let fault = match &measured.outcome {
            Outcome::Crashed(how) => Some(how.clone()),
            Outcome::Stopped(limit) => Some(format!("stopped at the limit of {limit}")),
            _ if measured.cpu > MAX_CPU => Some("took too long".to_owned()),
            _ if measured.peak_bytes > MAX_PEAK_BYTES => Some("took too much memory".to_owned()),
            Outcome::Document(_) => {
                summary.read += 1;
                None
            }
            Outcome::Refused(_) => {
                summary.refused += 1;
                None
            }
        };
        if let Some(fault) = fault {
            fs::create_dir_all(&kept)?;
            let copy = kept.join(format!("{seed}-{number}-{}", original.name));
            fs::write(&copy, &bytes)?;
            let line = format!(
                "{fault}; {}/{}, {place} {}, seed {seed}, mutant {number}; {:.1} s, {} MB; {}",
                original.format,
                original.name,
                damage.name(),
                measured.cpu.as_secs_f64(),
                measured.peak_bytes / 1_000_000,
                copy.display()
            );
            println!("{line}");
            summary.failures.push(line);
        }
    }
    Ok(summary)
}

impl Summary {
    /// Whether none failed.
    pub(super) fn is_good(&self) -> bool {
        self.failures.is_empty()
    }

    pub(super) fn print(&self) {
        println!(
            "mutants: {}; {} read, {} refused, {} crashed, hung or too large",
            self.mutants,
            self.read,
            self.refused,
            self.failures.len()
        );
    }

    pub(super) fn to_json(&self) -> Value {
        json!({
            "mutants": self.mutants, "read": self.read, "refused": self.refused,
            "failures": self.failures,
        })
    }
}

/// The files that can be read, each once.
pub(super) fn originals(paths: &[(String, PathBuf)]) -> Result<Vec<Original>> {
    let read = |(format, path): &(String, PathBuf)| -> Result<Original> {
        let name = path.file_name().unwrap_or_default();
        Ok(Original {
            name: name.to_string_lossy().into_owned(),
            format: format.clone(),
            bytes: fs::read(path)?,
        })
    };
    paths.iter().map(read).collect()
}
