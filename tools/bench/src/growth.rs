//! `cargo xtask bench growth`: what more documents cost. Trees of 10 000, 100 000 and 1 000 000 small
//! documents are generated and each verb is timed on them; the slope says how cost grows with size.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use kb_engine::{Kb, KbWriter, Mode, Request};
use xtask::repository;

use crate::child::{self, Measured};
use crate::{corpus, machine, shipped_build};

const SIZES: [usize; 3] = [10_000, 100_000, 1_000_000];

/// Documents in one folder.
const IN_A_FOLDER: usize = 100;

/// Above this slope something grows faster than the documents.
const LINEAR: f64 = 1.1;

/// One row of the table: a verb on each size.
struct Row {
    what: &'static str,
    measured: Vec<Measured>,
}

/// Runs the verb; `--quick` leaves out the largest tree, `--program KB` measures that binary.
pub(super) fn run(arguments: &[String]) -> Result<bool> {
    let (mut sizes, mut program) = (SIZES.as_slice(), None);
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--quick" => sizes = &SIZES[..2],
            "--program" => {
                let path = rest.next().context("--program needs a file")?;
                program = Some(fs::canonicalize(path).with_context(|| path.clone())?);
            }
            other => bail!("bench growth does not know {other:?}"),
        }
    }
    let program = match program {
        Some(program) => program,
        None => {
            shipped_build::build()?;
            shipped_build::program()
        }
    };
    let mut rows: Vec<Row> = Vec::new();
    for &documents in sizes {
        let tree = tree(documents)?;
        println!("{documents} documents");
        for (number, (what, measured)) in
            measure(&program, &tree, documents)?.into_iter().enumerate()
        {
            println!("  {what}: {}", cell(&measured));
            match rows.get_mut(number) {
                Some(row) => row.measured.push(measured),
                None => rows.push(Row {
                    what,
                    measured: vec![measured],
                }),
            }
        }
    }
    let text = markdown(sizes, &rows);
    println!("\n{text}");
    let file = format!("tests/bench-results/growth-{}.md", machine::today());
    let path = repository::root().join(file);
    fs::write(&path, text)?;
    println!("written to {}", path.display());
    Ok(true)
}

/// Numbers that are the same in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// A made-up word; low numbers are asked for more often than high ones.
fn word(number: usize) -> String {
    const SYLLABLES: [&str; 16] = [
        "ba", "cor", "den", "fi", "gal", "ho", "in", "lor", "mu", "nes", "op", "ri", "sta", "tu",
        "ver", "zan",
    ];
    let mut rest = number + SYLLABLES.len();
    let mut word = String::new();
    while rest > 0 {
        word.push_str(SYLLABLES[rest % SYLLABLES.len()]);
        rest /= SYLLABLES.len();
    }
    word
}

/// The tree of this many documents of 20 to 60 words; made once.
fn tree(documents: usize) -> Result<PathBuf> {
    let tree = corpus::bench_folder().join(format!("growth-{documents}"));
    let done = tree.with_extension("done");
    if done.exists() {
        return Ok(tree);
    }
    println!("making {}", tree.display());
    let mut random = Random(7);
    for number in 0..documents {
        let folder = number / IN_A_FOLDER;
        let folder = tree.join(format!("d{:03}/s{:02}", folder / 100, folder % 100));
        if number % IN_A_FOLDER == 0 {
            fs::create_dir_all(&folder)?;
        }
        let words = 20 + (random.next() * 40.0) as usize;
        let words: Vec<String> = (0..words)
            .map(|_| word((30_000.0 * random.next().powi(3)) as usize))
            .collect();
        fs::write(
            folder.join(format!("note-{number:07}.txt")),
            words.join(" ") + "\n",
        )?;
    }
    fs::write(done, "")?;
    Ok(tree)
}

/// Every verb once, in the order of a file's life.
fn measure(program: &Path, tree: &Path, documents: usize) -> Result<Vec<(&'static str, Measured)>> {
    let file = tree.with_extension("kb");
    let sealed = tree.with_extension("sealed.kb");
    for old in [&file, &sealed] {
        if old.exists() {
            fs::remove_file(old)?;
        }
    }
    let kb =
        |arguments: &[&std::ffi::OsStr]| child::measured(Command::new(program).args(arguments));
    let index = || {
        kb(&[
            "index".as_ref(),
            "-o".as_ref(),
            file.as_os_str(),
            tree.as_os_str(),
        ])
    };
    let mut rows = vec![("first index", index()?), ("nothing changed", index()?)];
    let changed = tree.join("d000/s00/note-0000000.txt");
    let before = fs::read(&changed)?;
    let mut text = fs::OpenOptions::new().append(true).open(&changed)?;
    text.write_all(b"one more line\n")?;
    rows.push(("one document changed", index()?));
    fs::write(&changed, before)?;
    let own = tree.with_extension("added.txt");
    fs::write(&own, "a document by name\n")?;
    rows.push((
        "add one document",
        kb(&[
            "add".as_ref(),
            own.as_os_str(),
            "-f".as_ref(),
            file.as_os_str(),
        ])?,
    ));
    rows.push(("open for writing (library)", opened(&file)?));
    rows.push(("first answer (library)", answered(&file)?));
    rows.push(("verify", kb(&["verify".as_ref(), file.as_os_str()])?));
    rows.push((
        "seal",
        kb(&[
            "seal".as_ref(),
            file.as_os_str(),
            "-o".as_ref(),
            sealed.as_os_str(),
        ])?,
    ));
    let found = [&file, &sealed].map(|file| anyhow::Ok(Kb::open(file)?.info()?.documents));
    for found in found {
        let found = found?;
        if found != documents as u64 + 1 {
            bail!("{found} documents of {} are in the file", documents + 1);
        }
    }
    fs::remove_file(&file)?;
    fs::remove_file(&sealed)?;
    Ok(rows)
}

fn only_time(elapsed: Duration) -> Measured {
    Measured {
        elapsed,
        ..Measured::default()
    }
}

/// The lock, the newest commit and the first look-up of a writer; the best of five.
fn opened(file: &Path) -> Result<Measured> {
    let mut best = Duration::MAX;
    for _ in 0..5 {
        let started = Instant::now();
        let mut writer = KbWriter::open_or_create(file)?;
        writer.add_bytes("never/committed.txt", b"a document that is not kept\n")?;
        best = best.min(started.elapsed());
    }
    Ok(only_time(best))
}

/// Opening and one question, in this process; the best of five.
fn answered(file: &Path) -> Result<Measured> {
    let mut best = Duration::MAX;
    for _ in 0..5 {
        let started = Instant::now();
        let kb = Kb::open(file)?;
        let request = Request::new(format!("{} {}", word(5), word(9))).mode(Mode::Keyword);
        if kb.search(&request)?.hits.is_empty() {
            bail!("nothing was found");
        }
        best = best.min(started.elapsed());
    }
    Ok(only_time(best))
}

fn seconds(elapsed: Duration) -> String {
    match elapsed.as_secs_f64() {
        seconds if seconds < 1.0 => format!("{:.1} ms", seconds * 1e3),
        seconds => format!("{seconds:.2} s"),
    }
}

fn cell(measured: &Measured) -> String {
    let mut text = seconds(measured.elapsed);
    if measured.peak_private_bytes > 0 {
        text.push_str(&format!(
            ", {:.0} MB, writes {:.1} MB",
            measured.peak_private_bytes as f64 / 1e6,
            measured.written_bytes as f64 / 1e6
        ));
    }
    text
}

/// The exponent with which `values` grow from the first size to the last; 1 is linear. `None` for
/// what is too small to tell.
fn slope(sizes: &[usize], values: &[f64], least: f64) -> Option<f64> {
    let ((first, last), (from, to)) = (
        (sizes.first()?, sizes.last()?),
        (values.first()?, values.last()?),
    );
    let is_large = *to > least && *from > 0.0;
    is_large.then(|| (to / from).ln() / (*last as f64 / *first as f64).ln())
}

fn markdown(sizes: &[usize], rows: &[Row]) -> String {
    let mut text = format!(
        "# Growth, {}\n\n`cargo xtask bench growth`, commit {}.\n{}\n\nSmall generated documents of 20 to \
         60 words, {IN_A_FOLDER} in a folder. Time, peak of private memory, bytes handed to the system \
         for writing. The slope is the exponent between the first size and the last: 1 is linear, 0 is \
         constant.\n\n| |",
        machine::today(),
        machine::commit(),
        machine::describe()
    );
    for size in sizes {
        text.push_str(&format!(" {size} |"));
    }
    text.push_str(" slope of time | of memory |\n|---|");
    text.push_str(&"---|".repeat(sizes.len() + 2));
    text.push('\n');
    let mut steeper = Vec::new();
    for Row { what, measured } in rows {
        text.push_str(&format!("| {what} |"));
        for one in measured {
            text.push_str(&format!(" {} |", cell(one)));
        }
        let times: Vec<f64> = measured
            .iter()
            .map(|one| one.elapsed.as_secs_f64())
            .collect();
        let memory: Vec<f64> = measured
            .iter()
            .map(|one| one.peak_private_bytes as f64)
            .collect();
        for (name, slope) in [
            ("time", slope(sizes, &times, 0.05)),
            ("memory", slope(sizes, &memory, 50e6)),
        ] {
            text.push_str(&slope.map_or(" - |".to_owned(), |slope| format!(" {slope:.2} |")));
            if slope.is_some_and(|slope| slope > LINEAR) {
                steeper.push(format!("{what} ({name})"));
            }
        }
        text.push('\n');
    }
    text.push_str(&match steeper.as_slice() {
        [] => "\nNothing grows faster than the documents.\n".to_owned(),
        steeper => format!(
            "\nFaster than the documents grows: {}.\n",
            steeper.join(", ")
        ),
    });
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slope_of_a_line_is_one_and_of_a_square_two() {
        let sizes = [10, 100, 1000];
        assert_eq!(slope(&sizes, &[1.0, 10.0, 100.0], 0.0), Some(1.0));
        assert_eq!(slope(&sizes, &[1.0, 100.0, 10_000.0], 0.0), Some(2.0));
        assert_eq!(slope(&sizes, &[0.01, 0.01, 0.02], 0.05), None);
    }

    #[test]
    fn what_grows_faster_than_the_documents_is_named() {
        let row = |what, last: f64| {
            let seconds = [0.1, 1.0, last];
            let measured = seconds.map(|s| only_time(Duration::from_secs_f64(s)));
            Row {
                what,
                measured: measured.to_vec(),
            }
        };
        let text = markdown(
            &[10, 100, 1000],
            &[row("line", 10.0), row("square", 1000.0)],
        );
        assert!(
            text.contains("| line | 100.0 ms | 1.00 s | 10.00 s | 1.00 | - |"),
            "{text}"
        );
        assert!(text.contains("grows: square (time)."), "{text}");
    }

    #[test]
    fn words_differ() {
        let words: std::collections::HashSet<String> = (0..30_000).map(word).collect();
        assert_eq!(words.len(), 30_000);
    }
}
