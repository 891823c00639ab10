//! The table of one bench run, as Markdown.

use std::fmt::Write;
use std::time::Duration;

use super::figures::Figures;
use crate::latency::{ModeLatency, Summary};
use crate::machine;

/// The whole table with date, machine and command.
pub(crate) fn markdown(figures: &Figures, arguments: &[String]) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = write_all(&mut text, figures, arguments);
    text
}

fn write_all(text: &mut String, figures: &Figures, arguments: &[String]) -> std::fmt::Result {
    writeln!(text, "# Bench {}\n", machine::today())?;
    writeln!(text, "- machine: {}", machine::describe())?;
    let words = [&["main".to_owned()], arguments].concat().join(" ");
    writeln!(text, "- command: `cargo xtask bench {words}`")?;
    writeln!(text, "- commit: {}", machine::commit())?;
    writeln!(
        text,
        "- corpus: `tools/bench/corpus.txt`; {} documents, {} chunks of {:.0} bytes on \
         average; {} queries\n",
        figures.documents,
        figures.chunks,
        figures.sizes.text_bytes as f64 / figures.chunks.max(1) as f64,
        figures.queries
    )?;
    write_indexing(text, figures)?;
    write_sizes(text, figures)?;
    write_latency(text, figures)
}

fn write_indexing(text: &mut String, figures: &Figures) -> std::fmt::Result {
    writeln!(text, "## Indexing, `kb index` in a process of its own\n")?;
    writeln!(
        text,
        "| tree | text files | MB | seconds | MB/s | peak memory MB | of it private MB |"
    )?;
    writeln!(text, "|---|---|---|---|---|---|---|")?;
    for indexed in &figures.indexed {
        let seconds = indexed.run.elapsed.as_secs_f64();
        let megabytes = megabytes(indexed.count.bytes);
        writeln!(
            text,
            "| {} | {} | {megabytes:.1} | {seconds:.2} | {:.1} | {:.0} | {:.0} |",
            indexed.name,
            indexed.count.files,
            megabytes / seconds,
            self::megabytes(indexed.run.peak_bytes),
            self::megabytes(indexed.run.peak_private_bytes),
        )?;
    }
    writeln!(text)
}

fn write_sizes(text: &mut String, figures: &Figures) -> std::fmt::Result {
    let sizes = &figures.sizes;
    let share = |bytes: u64| bytes as f64 / sizes.text_bytes.max(1) as f64;
    writeln!(
        text,
        "## Size of the file\n\n| section | MB | share of the text |\n|---|---|---|"
    )?;
    for (name, bytes) in &sizes.sections {
        writeln!(
            text,
            "| {name} | {:.2} | {:.3} |",
            megabytes(*bytes),
            share(*bytes)
        )?;
    }
    let whole = sizes.file_bytes;
    writeln!(
        text,
        "| **file** | {:.2} | {:.3} |",
        megabytes(whole),
        share(whole)
    )?;
    writeln!(
        text,
        "| text before compression | {:.2} | 1 |\n",
        megabytes(sizes.text_bytes)
    )
}

fn write_latency(text: &mut String, figures: &Figures) -> std::fmt::Result {
    writeln!(text, "## Answers, best ten with text, warm page cache\n")?;
    writeln!(
        text,
        "| how | p50 ms | p95 ms | mean ms | runs |\n|---|---|---|---|---|"
    )?;
    for ModeLatency { mode, summary } in &figures.process {
        write_summary(
            text,
            &format!("`kb search`, whole process, {}", mode.name()),
            summary,
        )?;
    }
    write_summary(
        text,
        "`kb --version`, whole process",
        &figures.process_floor,
    )?;
    write_summary(
        text,
        "library, open and first hybrid answer",
        &figures.open_and_first,
    )?;
    for ModeLatency { mode, summary } in &figures.library {
        write_summary(
            text,
            &format!("library, open file, one thread, {}", mode.name()),
            summary,
        )?;
    }
    write_summary(
        text,
        "library, keyword, the best ten without text",
        &figures.ranking,
    )?;
    writeln!(
        text,
        "\nprivate memory of a process that answered all of these: {:.1} MB\n",
        megabytes(figures.private_bytes)
    )
}

fn write_summary(text: &mut String, name: &str, summary: &Summary) -> std::fmt::Result {
    writeln!(
        text,
        "| {name} | {:.3} | {:.3} | {:.3} | {} |",
        milliseconds(summary.p50),
        milliseconds(summary.p95),
        milliseconds(summary.mean),
        summary.runs
    )
}

fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests {
    use kb_engine::{Mode, Sizes};

    use super::*;
    use crate::child::Measured;
    use crate::corpus::Count;
    use crate::speed::figures::Indexed;

    fn figures() -> Figures {
        let summary = Summary::of(vec![Duration::from_millis(2)]);
        let run = Measured {
            elapsed: Duration::from_secs(2),
            peak_bytes: 50_000_000,
            peak_private_bytes: 40_000_000,
            written_bytes: 0,
        };
        let count = Count {
            files: 10,
            bytes: 22_000_000,
            others: 1,
        };
        let mut sizes = Sizes::default();
        (sizes.file_bytes, sizes.text_bytes) = (12_000_000, 20_000_000);
        sizes.sections = vec![("text".to_owned(), 6_000_000)];
        Figures {
            indexed: vec![Indexed {
                name: "part 1",
                count,
                run,
            }],
            sizes,
            documents: 10,
            chunks: 20_000,
            process: vec![ModeLatency {
                mode: Mode::Hybrid,
                summary,
            }],
            process_floor: summary,
            library: vec![ModeLatency {
                mode: Mode::Keyword,
                summary,
            }],
            ranking: summary,
            open_and_first: summary,
            private_bytes: 30_000_000,
            queries: 100,
        }
    }

    #[test]
    fn the_table_shows_rates_shares_and_times() {
        let text = markdown(&figures(), &["--part1".to_owned()]);
        assert!(
            text.contains("| part 1 | 10 | 22.0 | 2.00 | 11.0 | 50 | 40 |"),
            "{text}"
        );
        assert!(text.contains("| text | 6.00 | 0.300 |"), "{text}");
        assert!(text.contains("| **file** | 12.00 | 0.600 |"), "{text}");
        assert!(
            text.contains("whole process, hybrid | 2.000 | 2.000 | 2.000 | 1 |"),
            "{text}"
        );
        assert!(
            text.contains("without text | 2.000 | 2.000 | 2.000 | 1 |"),
            "{text}"
        );
        assert!(text.contains("cargo xtask bench main --part1`"), "{text}");
    }
}
