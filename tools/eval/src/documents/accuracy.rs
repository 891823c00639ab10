//! The corpus read and scored: the table of floors, bars and measured means.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::Result;
use serde_json::{Value, json};

use super::bars::{self, PDF_PAGES_A_SECOND};
use super::child::{self, Limits, Measured, Outcome, Reading};
use super::corpus::{CorpusFile, FORMATS};
use super::metric::Metric;

/// What a file of the corpus may use: many times what any of them needs.
const LIMITS: Limits = Limits {
    memory_bytes: 2 << 30,
    cpu_seconds: 60,
    elapsed: Duration::from_secs(240),
};

/// A file and what came of it.
pub(super) struct FileResult {
    pub(super) file: CorpusFile,
    pub(super) measured: Measured,
}

/// One line of the table.
struct Row {
    format: &'static str,
    what: String,
    floor: String,
    bar: String,
    measured: String,
    is_reached: bool,
    /// Why it may be below its bar.
    excuse: Option<&'static str>,
    value: Value,
}

/// Reads and scores the files.
pub(super) fn measure(files: &[CorpusFile], is_timed: bool) -> Result<Vec<FileResult>> {
    let read = |file: &CorpusFile| {
        let reading = Reading {
            file: &file.path,
            name: &file.name,
            format: &file.format,
            oracle: (!file.is_negative).then_some(file.oracle.as_path()),
            is_timed,
        };
        let measured = child::read(&reading, LIMITS)?;
        Ok(FileResult {
            file: file.clone(),
            measured,
        })
    };
    files.iter().map(read).collect()
}

impl FileResult {
    /// Whether it was read or refused as it should be.
    fn is_as_expected(&self) -> bool {
        match &self.measured.outcome {
            Outcome::Document(_) => !self.file.is_negative || self.may_be_read(),
            Outcome::Refused(reason) => self.file.is_negative && !is_vague(reason),
            Outcome::Stopped(_) | Outcome::Crashed(_) => false,
        }
    }

    /// One negative need only be bounded, another has the password that programs try by themselves.
    fn may_be_read(&self) -> bool {
        matches!(
            self.file.name.as_str(),
            "calamine__OOM_alloc3.xls" | "tika__protect.xlsx"
        )
    }

    fn words(&self) -> String {
        match &self.measured.outcome {
            Outcome::Document(document) => {
                let scores: Vec<String> = document
                    .metrics
                    .iter()
                    .map(|(metric, value)| format!("{} {value:.3}", metric.name()))
                    .collect();
                format!(
                    "read, {} bytes, {} parts; {}",
                    document.text_bytes,
                    document.parts,
                    scores.join("; ")
                )
            }
            Outcome::Refused(reason) => format!("refused: {reason}"),
            Outcome::Stopped(limit) => format!("STOPPED at the limit of {limit}"),
            Outcome::Crashed(how) => format!("CRASHED: {how}"),
        }
    }
}

/// Whether a reason says no more than that a file is not text.
fn is_vague(reason: &str) -> bool {
    reason.starts_with("binary file")
}

/// Every file with its misses.
pub(super) fn print_files(results: &[FileResult]) {
    for result in results {
        println!(
            "{}/{}: {}",
            result.file.format,
            result.file.name,
            result.words()
        );
        if let Outcome::Document(document) = &result.measured.outcome {
            for line in &document.misses {
                println!("    {}", shortened(line, 400));
            }
            let more = document.missed.saturating_sub(document.misses.len() as u64);
            if more > 0 {
                println!("    and {more} more");
            }
        }
    }
    println!();
}

fn shortened(line: &str, limit: usize) -> String {
    match line.char_indices().nth(limit) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line.to_owned(),
    }
}

/// Prints the table; whether all bars are reached.
pub(super) fn print_table(results: &[FileResult], is_timed: bool) -> bool {
    let rows = rows(results, is_timed);
    println!("| format | score | floor | bar | measured | |\n|---|---|---|---|---|---|");
    for row in &rows {
        let word = match (row.is_reached, row.excuse) {
            (true, _) => String::new(),
            (false, Some(reason)) => format!("accepted: {reason}"),
            (false, None) => "BELOW".to_owned(),
        };
        println!(
            "| {} | {} | {} | {} | {} | {word} |",
            row.format, row.what, row.floor, row.bar, row.measured
        );
    }
    println!("\nNegatives:");
    for result in results.iter().filter(|result| result.file.is_negative) {
        let word = if result.is_as_expected() {
            ""
        } else {
            "NOT AS EXPECTED "
        };
        println!(
            "  {word}{}/{}: {}",
            result.file.format,
            result.file.name,
            result.words()
        );
    }
    let failed: Vec<&FileResult> = results
        .iter()
        .filter(|result| !result.file.is_negative && !result.is_as_expected())
        .collect();
    if !failed.is_empty() {
        println!("\nNot read:");
    }
    for result in failed {
        println!(
            "  {}/{}: {}",
            result.file.format,
            result.file.name,
            result.words()
        );
    }
    let reached = rows.iter().filter(|row| row.is_reached).count();
    let below = rows
        .iter()
        .filter(|row| !row.is_reached && row.excuse.is_none())
        .count();
    println!(
        "\n{reached} of {} bars reached, {below} missed without a reason",
        rows.len()
    );
    below == 0
}

/// All figures.
pub(super) fn to_json(results: &[FileResult], is_timed: bool) -> Value {
    let rows: Vec<Value> = rows(results, is_timed)
        .into_iter()
        .map(|row| {
            json!({
                "format": row.format, "score": row.what, "floor": row.floor, "bar": row.bar,
                "measured": row.value, "reached": row.is_reached, "accepted": row.excuse,
            })
        })
        .collect();
    let files: Vec<Value> = results
        .iter()
        .map(|result| {
            let mut file = json!({
                "format": result.file.format, "file": result.file.name,
                "negative": result.file.is_negative, "as_expected": result.is_as_expected(),
                "result": result.words(),
                "cpu_ms": result.measured.cpu.as_secs_f64() * 1000.0,
                "peak_bytes": result.measured.peak_bytes,
            });
            if let Outcome::Document(document) = &result.measured.outcome {
                for (metric, value) in &document.metrics {
                    file[metric.name()] = json!(value);
                }
                file["misses"] = json!(document.misses);
            }
            file
        })
        .collect();
    json!({"bars": rows, "files": files})
}

fn rows(results: &[FileResult], is_timed: bool) -> Vec<Row> {
    let mut rows = Vec::new();
    for format in FORMATS {
        let of_format: Vec<&FileResult> = results
            .iter()
            .filter(|result| result.file.format == format)
            .collect();
        if of_format.is_empty() {
            continue;
        }
        rows.push(count_row(format, "files read", &of_format, false));
        if of_format.iter().any(|result| result.file.is_negative) {
            rows.push(count_row(format, "negatives refused", &of_format, true));
        }
        score_rows(format, &of_format, &mut rows);
        if is_timed {
            cost_rows(format, &of_format, &mut rows);
        }
    }
    rows
}

fn count_row(format: &'static str, what: &str, results: &[&FileResult], is_negative: bool) -> Row {
    let those = results
        .iter()
        .filter(|result| result.file.is_negative == is_negative);
    let all = those.clone().count();
    let good = those.filter(|result| result.is_as_expected()).count();
    Row {
        format,
        what: what.to_owned(),
        floor: format!("{all}/{all}"),
        bar: format!("{all}/{all}"),
        measured: format!("{good}/{all}"),
        is_reached: good == all,
        excuse: None,
        value: json!(good),
    }
}

fn score_rows(format: &'static str, results: &[&FileResult], rows: &mut Vec<Row>) {
    let mut values: BTreeMap<Metric, Vec<f64>> = BTreeMap::new();
    for result in results {
        if let Outcome::Document(document) = &result.measured.outcome {
            for (metric, value) in &document.metrics {
                values.entry(*metric).or_default().push(*value);
            }
        }
    }
    for metric in Metric::ALL {
        let bar = bars::of(format, metric);
        let values = values.get(&metric).map(Vec::as_slice).unwrap_or_default();
        if values.is_empty() && bar.is_none() {
            continue;
        }
        let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
        // Documents whose breaks are known may be none.
        let has_none = values.is_empty() && metric == Metric::BrokenPages;
        rows.push(Row {
            format,
            what: metric.name().to_owned(),
            floor: bar
                .and_then(|bar| bar.floor)
                .map_or_else(String::new, |it| format!("{it:.3}")),
            bar: bar.map_or_else(String::new, bars::Bar::words),
            measured: match values.len() {
                0 => "-".to_owned(),
                n => format!("{mean:.3} (n={n})"),
            },
            is_reached: has_none || bar.is_none_or(|bar| bar.is_reached(mean)),
            excuse: bar.and_then(|bar| bar.excuse(mean)),
            value: json!({"mean": mean, "files": values.len()}),
        });
    }
}

fn cost_rows(format: &'static str, results: &[&FileResult], rows: &mut Vec<Row>) {
    let read: Vec<(&Measured, u64)> = results
        .iter()
        .filter_map(|result| match &result.measured.outcome {
            Outcome::Document(document) => Some((&result.measured, document.pages)),
            _ => None,
        })
        .collect();
    if read.is_empty() {
        return;
    }
    let mut ms: Vec<f64> = read
        .iter()
        .map(|(it, _)| it.cpu.as_secs_f64() * 1000.0)
        .collect();
    let peak = read.iter().map(|(it, _)| it.peak_bytes).max().unwrap_or(0) as f64 / 1e6;
    ms.sort_by(f64::total_cmp);
    let at = |share: f64| {
        ms.get(((ms.len() - 1) as f64 * share) as usize)
            .copied()
            .unwrap_or(0.0)
    };
    let (median, largest) = (at(0.5), at(1.0));
    let plain = |what: &str, measured: String, value: Value| Row {
        format,
        what: what.to_owned(),
        floor: String::new(),
        bar: String::new(),
        measured,
        is_reached: true,
        excuse: None,
        value,
    };
    rows.push(plain(
        "CPU ms median / max",
        format!("{median:.1} / {largest:.1}"),
        json!({"median": median, "max": largest}),
    ));
    rows.push(plain("peak MB max", format!("{peak:.0}"), json!(peak)));
    if format == "pdf" {
        let mut speeds: Vec<f64> = read
            .iter()
            .map(|(it, pages)| *pages as f64 / it.cpu.as_secs_f64().max(1e-6))
            .collect();
        speeds.sort_by(f64::total_cmp);
        let median = speeds.get(speeds.len() / 2).copied().unwrap_or(0.0);
        rows.push(Row {
            bar: format!(">= {PDF_PAGES_A_SECOND}"),
            is_reached: median >= PDF_PAGES_A_SECOND,
            ..plain(
                "pages/s a core, median file",
                format!("{median:.0}"),
                json!(median),
            )
        });
    }
}
