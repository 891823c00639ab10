//! The tables of one run, as Markdown.

use std::fmt::{Result, Write};

use super::figures::{Figures, MODES, Times};
use crate::peers::results::measured;

/// All tables, with what a reader must know to judge them.
pub(crate) fn markdown(figures: &Figures, plot: &str) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = write_all(&mut text, figures, plot);
    text
}

fn write_all(text: &mut String, figures: &Figures, plot: &str) -> Result {
    writeln!(text, "# Search beside baselines, {}\n", figures.date)?;
    writeln!(text, "- machine: {}", figures.machine)?;
    writeln!(text, "- command: `{}`", figures.command)?;
    writeln!(text, "- commit: {}", figures.commit)?;
    writeln!(
        text,
        "- corpus: {}; {} chunks, {:.1} MB of text, vectors of {} numbers; {} queries",
        figures.corpus,
        figures.chunks,
        megabytes(figures.text_bytes),
        figures.dim,
        figures.queries
    )?;
    for facet in &figures.facets {
        writeln!(
            text,
            "- filter \"{}\": {}, {} chunks ({:.1} %)",
            facet.name,
            facet.value.describe(),
            facet.chunks,
            facet.share * 100.0
        )?;
    }
    let core = if figures.pinned {
        "one thread, kept to one core"
    } else {
        "one thread as far as libraries can be told (no `taskset` here)"
    };
    writeln!(
        text,
        "- all baselines got the same chunks and f32 vectors, made by kb's engine. Query vectors are ready \
         for baselines; kb embeds each query itself. Answers are the best ten with their texts, warm, {core}; \
         each system in a process of its own\n\n![p50 by mode]({plot})\n"
    )?;
    write_answers(text, figures)?;
    write_filtered(text, figures)?;
    write_costs(text, figures)?;
    write_notes(text, figures)
}

fn write_answers(text: &mut String, figures: &Figures) -> Result {
    writeln!(text, "## Answers, p50 / p95 ms\n")?;
    writeln!(
        text,
        "| system | keyword | semantic | hybrid | recall@10 of semantic | 16 vectors at once, p50 ms |"
    )?;
    writeln!(text, "|---|---|---|---|---|---|")?;
    for (name, measured) in measured(&figures.systems) {
        write!(text, "| {name} |")?;
        for mode in MODES {
            write!(text, " {} |", p50_p95(measured.times(mode, None)))?;
        }
        let recall = measured.recall.first().copied().flatten();
        let batch = measured.batch.map(|times| milliseconds(times.p50));
        writeln!(
            text,
            " {} | {} |",
            share(recall),
            batch.unwrap_or_else(none)
        )?;
    }
    writeln!(text)
}

fn write_filtered(text: &mut String, figures: &Figures) -> Result {
    writeln!(text, "## The same with a filter, p50 / p95 ms\n")?;
    write!(text, "| system | mode | no filter |")?;
    for facet in &figures.facets {
        write!(text, " {:.1} % |", facet.share * 100.0)?;
    }
    write!(text, " recall@10 no filter |")?;
    for facet in &figures.facets {
        write!(text, " {:.1} % |", facet.share * 100.0)?;
    }
    writeln!(
        text,
        "\n|---|---|{}",
        "---|".repeat(2 + 2 * figures.facets.len())
    )?;
    for (name, measured) in measured(&figures.systems) {
        for mode in MODES {
            if measured.times(mode, None).is_none() {
                continue;
            }
            write!(text, "| {name} | {mode} |")?;
            let facets = figures.facets.iter().map(|facet| Some(facet.name));
            for filter in [None].into_iter().chain(facets) {
                write!(text, " {} |", p50_p95(measured.times(mode, filter)))?;
            }
            for place in 0..=figures.facets.len() {
                let recall = measured.recall.get(place).copied().flatten();
                let recall = recall.filter(|_| mode == "semantic");
                write!(text, " {} |", share(recall))?;
            }
            writeln!(text)?;
        }
    }
    writeln!(text)
}

fn write_costs(text: &mut String, figures: &Figures) -> Result {
    writeln!(text, "## What it costs\n")?;
    writeln!(
        text,
        "| system | build s | disk MB | open + first answer ms | whole process ms | private MB \
         | of it before opening | mapped pages MB |\n|---|---|---|---|---|---|---|---|"
    )?;
    for (name, measured) in measured(&figures.systems) {
        let build = measured
            .build_seconds
            .map(|seconds| format!("{seconds:.1}"));
        writeln!(
            text,
            "| {name} | {} | {:.1} | {} ({}) | {} | {:.1} | {:.1} | {:.1} |",
            build.unwrap_or_else(none),
            megabytes(measured.disk_bytes),
            milliseconds(measured.first_us),
            measured.mode,
            milliseconds(measured.process_us),
            megabytes(measured.private_bytes),
            megabytes(measured.start_private_bytes),
            megabytes(measured.mapped_bytes),
        )?;
    }
    writeln!(
        text,
        "\nBuilding may use all cores, and is not the same work: kb reads files, cuts and embeds them; baselines \
         get ready chunks and vectors. First answers are medians of fresh processes with a warm page \
         cache. Private memory is dirty private pages; mapped pages belong to files and may be dropped.\n"
    )
}

fn write_notes(text: &mut String, figures: &Figures) -> Result {
    writeln!(text, "## Systems\n")?;
    for system in &figures.systems {
        match &system.measured {
            Ok(measured) => writeln!(
                text,
                "- {}: {}; {}",
                system.name, measured.version, system.note
            )?,
            Err(reason) => writeln!(text, "- {}: **missing**: {reason}", system.name)?,
        }
    }
    Ok(())
}

fn p50_p95(times: Option<Times>) -> String {
    times.map_or_else(none, |times| {
        format!("{} / {}", milliseconds(times.p50), milliseconds(times.p95))
    })
}

fn none() -> String {
    "-".to_owned()
}

fn share(value: Option<f64>) -> String {
    value.map_or_else(none, |value| format!("{value:.3}"))
}

/// Three digits that count, up to a millisecond's hundredth.
pub(crate) fn milliseconds(microseconds: f64) -> String {
    let milliseconds = microseconds / 1e3;
    match milliseconds {
        ..1.0 => format!("{milliseconds:.3}"),
        ..100.0 => format!("{milliseconds:.2}"),
        _ => format!("{milliseconds:.0}"),
    }
}

fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::peers::results::Outcome;
    use crate::search::facet::{Allowed, Facet};
    use crate::search::figures::{Cell, Measured};

    pub(crate) fn figures() -> Figures {
        let cell = |mode: &str, filter: Option<&str>, p50: f64| Cell {
            mode: mode.to_owned(),
            filter: filter.map(str::to_owned),
            times: Times {
                p50,
                p95: p50 * 2.0,
                mean: p50,
                runs: 5,
            },
        };
        let ours = Measured {
            version: "kb 1".to_owned(),
            mode: "hybrid",
            build_seconds: Some(8.0),
            disk_bytes: 80_000_000,
            first_us: 8_400.0,
            recall: vec![Some(0.99), None],
            cells: vec![
                cell("keyword", None, 500.0),
                cell("hybrid", None, 4_000.0),
                cell("hybrid", Some("half"), 2_000.0),
            ],
            ..Measured::default()
        };
        Figures {
            date: "2026-01-01".to_owned(),
            machine: "m".to_owned(),
            commit: "c".to_owned(),
            command: "cargo xtask bench search".to_owned(),
            corpus: "crates".to_owned(),
            chunks: 3,
            text_bytes: 3_000_000,
            dim: 192,
            queries: 2,
            pinned: true,
            facets: vec![Facet {
                name: "half",
                value: Allowed::Language("rust".to_owned()),
                chunks: 1,
                share: 0.5,
            }],
            systems: vec![
                Outcome {
                    name: "kb",
                    note: "ours",
                    is_ours: true,
                    measured: Ok(ours),
                },
                Outcome {
                    name: "other <x>",
                    note: "theirs",
                    is_ours: false,
                    measured: Err("no wheel".to_owned()),
                },
            ],
        }
    }

    #[test]
    fn missing_modes_are_dashes_and_systems_are_named() {
        let text = markdown(&figures(), "a.svg");
        assert!(
            text.contains("| kb | 0.500 / 1.00 | - | 4.00 / 8.00 | 0.990 | - |"),
            "{text}"
        );
        assert!(
            text.contains("| kb | hybrid | 4.00 / 8.00 | 2.00 / 4.00 | - | - |"),
            "{text}"
        );
        assert!(
            text.contains("| kb | 8.0 | 80.0 | 8.40 (hybrid) |"),
            "{text}"
        );
        assert!(
            text.contains("- other <x>: **missing**: no wheel"),
            "{text}"
        );
        assert!(text.contains("language rust, 1 chunks (50.0 %)"), "{text}");
    }

    #[test]
    fn the_json_has_every_cell_and_every_reason() {
        let value = figures().to_json();
        assert_eq!(value["systems"][0]["cells"].as_array().unwrap().len(), 3);
        assert_eq!(value["systems"][0]["cells"][2]["filter"], "half");
        assert_eq!(value["systems"][1]["missing"], "no wheel");
    }
}
