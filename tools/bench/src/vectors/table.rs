//! The tables of one run, as Markdown.

use std::fmt::{Result, Write};

use super::figures::{Figures, SetFigures, TARGETS};
use super::systems::MANY_ROWS;
use crate::peers::results::measured;

/// All tables, with what a reader must know to judge them. `plot` names the picture of a set.
pub(crate) fn markdown(figures: &Figures, plot: &dyn Fn(&str) -> String) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = write_all(&mut text, figures, plot);
    text
}

fn write_all(text: &mut String, figures: &Figures, plot: &dyn Fn(&str) -> String) -> Result {
    writeln!(text, "# Vectors alone, beside peers, {}\n", figures.date)?;
    writeln!(text, "- machine: {}", figures.machine)?;
    writeln!(
        text,
        "- load average of 1, 5 and 15 minutes when the run began: {}",
        figures.load
    )?;
    writeln!(text, "- command: `{}`", figures.command)?;
    writeln!(text, "- commit: {}", figures.commit)?;
    let core = if figures.pinned {
        "kept to one core"
    } else {
        "as far as libraries can be told (no `taskset` here)"
    };
    writeln!(
        text,
        "- all systems got the same f32 rows of unit length and are asked for the ten nearest by cosine, one \
         query a call, one thread, {core}, each system in a process of its own; peers are called from Python, \
         kb from Rust. Building may use all cores"
    )?;
    writeln!(
        text,
        "- recall@10 is against the exact f32 order; a row that ties with the tenth counts. For each recall \
         the setting of the least p50 that reaches it; p50, p95 and processor time (of all threads, a query) are of the \
         pass over all settings, queries a second of runs of their own, medians, with one process and with {} at \
         the same time, each on a core of its own",
        figures.together
    )?;
    writeln!(
        text,
        "- cold: a fresh process, the index's files out of the page cache of this system (`posix_fadvise`; \
         what lies below a virtual machine may still have them). Private memory is `RssAnon` after opening \
         and 100 queries, less what the process had before: mapped files do not count\n"
    )?;
    for set in &figures.sets {
        write_set(text, figures, set, &plot(set.data.name))?;
    }
    Ok(())
}

fn write_set(text: &mut String, figures: &Figures, set: &SetFigures, plot: &str) -> Result {
    let data = &set.data;
    writeln!(text, "## {}\n", data.name)?;
    writeln!(
        text,
        "{} rows of {} numbers ({:.0} MB as f32), {} queries: {}.\n\n![queries a second by recall]({plot})\n",
        data.rows,
        data.dim,
        (data.rows * data.dim * 4) as f64 / 1e6,
        data.queries,
        data.source
    )?;
    writeln!(
        text,
        "| system | build s | build CPU s | build peak private MB | disk MB | bytes a row | private MB | \
         cold open ms | cold first query ms |\n|---|---|---|---|---|---|---|---|---|"
    )?;
    for (name, measured) in measured(&set.systems) {
        let (build, cold) = (&measured.build, &measured.cold);
        writeln!(
            text,
            "| {name} | {:.1} | {:.1} | {} | {} | {:.0} | {} | {} | {} |",
            build.wall_seconds,
            build.cpu_seconds,
            megabytes(build.peak_private_bytes),
            megabytes(build.disk_bytes),
            build.disk_bytes as f64 / data.rows.max(1) as f64,
            megabytes(cold.private_bytes.saturating_sub(cold.start_private_bytes)),
            milliseconds(cold.open_us),
            milliseconds(cold.first_us),
        )?;
    }
    for (place, target) in TARGETS.iter().enumerate() {
        write_target(text, figures, set, place, *target)?;
    }
    write_notes(text, set)
}

fn write_target(
    text: &mut String,
    figures: &Figures,
    set: &SetFigures,
    place: usize,
    target: f64,
) -> Result {
    writeln!(
        text,
        "\nRecall@10 of at least {target:.2}:\n\n| system | setting | recall | p50 ms | p95 ms | CPU ms | \
         queries a second | with {} processes |\n|---|---|---|---|---|---|---|---|",
        figures.together
    )?;
    for (name, measured) in measured(&set.systems) {
        let reached = measured.reached.get(place).copied().flatten();
        let point = reached.and_then(|reached| measured.points.get(reached.point));
        if let (Some(reached), Some(point)) = (reached, point) {
            writeln!(
                text,
                "| {name} | {} | {:.3} | {} | {} | {} | {:.0} | {} |",
                point.setting,
                point.recall,
                milliseconds(point.p50_us),
                milliseconds(point.p95_us),
                milliseconds(point.cpu_us),
                reached.alone,
                reached
                    .together
                    .map(|rate| format!("{rate:.0}"))
                    .unwrap_or_default(),
            )?;
        } else if let Some(best) = measured.best() {
            writeln!(
                text,
                "| {name} | not reached; best: {} | {:.3} | | | | | |",
                best.setting, best.recall
            )?;
        }
    }
    Ok(())
}

fn write_notes(text: &mut String, set: &SetFigures) -> Result {
    writeln!(text, "\n| system | version | what to know |\n|---|---|---|")?;
    for system in &set.systems {
        match &system.measured {
            Ok(measured) => writeln!(
                text,
                "| {} | {} | {} |",
                system.name, measured.version, system.note
            )?,
            Err(reason) => writeln!(
                text,
                "| {} | missing | {} |",
                system.name,
                reason.replace('|', "\\|").replace('\n', " ")
            )?,
        }
    }
    let fewest = measured(&set.systems)
        .flat_map(|(_, measured)| measured.points.iter().map(|point| point.queries))
        .min();
    if let Some(fewest) = fewest.filter(|fewest| *fewest < set.data.queries) {
        writeln!(
            text,
            "\nSlow settings were asked fewer queries than there are, never fewer than {fewest}."
        )?;
    }
    if set.data.rows > MANY_ROWS {
        writeln!(text, "\nOnly systems for so many rows were asked.")?;
    }
    writeln!(text)
}

/// Of a million bytes; one place after the point below ten.
fn megabytes(bytes: u64) -> String {
    let megabytes = bytes as f64 / 1e6;
    let places = usize::from(megabytes < 10.0);
    format!("{megabytes:.places$}")
}

/// Three digits that count.
fn milliseconds(micros: f64) -> String {
    let milliseconds = micros / 1e3;
    let places = match milliseconds {
        large if large >= 100.0 => 0,
        middle if middle >= 10.0 => 1,
        small if small >= 1.0 => 2,
        _ => 3,
    };
    format!("{milliseconds:.places$}")
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::figures::{Build, Cold, Measured, Point, Reached};
    use super::super::sets::Data;
    use super::*;
    use crate::peers::results::Outcome;

    pub(crate) fn figures() -> Figures {
        let point = |setting: &str, recall: f64, mean_us: f64| Point {
            setting: setting.to_owned(),
            recall,
            queries: 200,
            p50_us: mean_us,
            p95_us: 2.0 * mean_us,
            mean_us,
            cpu_us: mean_us,
        };
        let reached = Reached {
            point: 1,
            alone: 2500.0,
            together: Some(4900.0),
        };
        let outcome = |name, measured| Outcome {
            name,
            note: "mapped",
            is_ours: name == "kb",
            measured,
        };
        Figures {
            date: "2026-01-31".to_owned(),
            machine: "two cores".to_owned(),
            commit: "abc".to_owned(),
            command: "cargo xtask bench vectors".to_owned(),
            load: "0.10 0.20 0.30".to_owned(),
            pinned: true,
            together: 2,
            sets: vec![SetFigures {
                data: Data {
                    name: "real-100k",
                    source: "chunks".to_owned(),
                    rows: 1000,
                    dim: 192,
                    queries: 200,
                    ..Data::default()
                },
                systems: vec![
                    outcome(
                        "kb",
                        Ok(Measured {
                            version: "kb 1".to_owned(),
                            build: Build {
                                wall_seconds: 1.5,
                                disk_bytes: 216_000,
                                ..Build::default()
                            },
                            cold: Cold {
                                open_us: 120.0,
                                start_private_bytes: 1_000_000,
                                private_bytes: 3_500_000,
                                ..Cold::default()
                            },
                            points: vec![
                                point("lists=4", 0.85, 200.0),
                                point("lists=8", 0.96, 400.0),
                            ],
                            reached: vec![Some(reached), Some(reached), None],
                        }),
                    ),
                    outcome("gone", Err("build: no | module".to_owned())),
                ],
            }],
        }
    }

    #[test]
    fn every_system_is_in_the_tables_or_says_why_not() {
        let text = markdown(&figures(), &|set| format!("{set}.svg"));
        assert!(
            text.contains("| kb | 1.5 | 0.0 | 0.0 | 0.2 | 216 | 2.5 | 0.120 | 0.000 |"),
            "{text}"
        );
        assert!(text.contains("| kb | lists=8 | 0.960 | 0.400 | 0.800 | 0.400 | 2500 | 4900 |"));
        assert!(text.contains("| kb | not reached; best: lists=8 | 0.960 |"));
        assert!(text.contains("| gone | missing | build: no \\| module |"));
        assert!(text.contains("(real-100k.svg)") && !text.contains("never fewer"));
    }
}
