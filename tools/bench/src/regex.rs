//! `cargo xtask bench regex`: `kb search --mode regex` beside ripgrep, on the same texts. The stored texts of a sealed
//! file are written to a folder, which ripgrep searches; both are processes with one thread, and everything they read
//! is in memory. Both count the lines that match, and must count alike.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use kb_engine::{IndexOptions, Kb, KbWriter, PageOptions, Progress, SealOptions};
use serde_json::Value;

use crate::{corpus, machine, shipped_build};

/// A pattern with the flags that both programs have for it.
struct Pattern {
    pattern: &'static str,
    flags: &'static [&'static str],
    /// Whether few texts can match, as their trigrams say.
    is_selective: bool,
}

const fn selective(pattern: &'static str, flags: &'static [&'static str]) -> Pattern {
    Pattern {
        pattern,
        flags,
        is_selective: true,
    }
}

const fn other(pattern: &'static str, flags: &'static [&'static str]) -> Pattern {
    Pattern {
        pattern,
        flags,
        is_selective: false,
    }
}

/// Literals, alternations, words, either case, rare and common, and without a match.
const PATTERNS: [Pattern; 22] = [
    selective("parse_header", &[]),
    selective("CrawlerProcess", &[]),
    selective("zz_nowhere_zz", &[]),
    selective("nowhere to be seen|not in any file", &[]),
    selective("memchr_iter|memrchr_iter|OneByteFinder", &[]),
    selective(r"\bBTreeSet\b", &[]),
    selective("unsafe_op_in_unsafe_fn", &["-i"]),
    selective("WebSocketHandler", &["-i"]),
    selective(r"fn \w+_header\b", &[]),
    selective(r"impl<\w+> Iterator for \w+Iter", &[]),
    selective(r"^\s*#\[derive\(Debug, Hash", &[]),
    selective("semver", &["-w"]),
    selective("size_of::<usize>()", &["-F"]),
    selective(r"TODO\(\w+\)", &[]),
    other("fn ", &[]),
    other("return", &["-w"]),
    other("error", &["-i"]),
    other(r"\w+\s+=\s+\w+", &[]),
    other("[a-z]{12}", &[]),
    other("if|else|match", &[]),
    other("", &[]),
    other(r"^\s*$", &[]),
];

/// Least ratio of the times of ripgrep and kb at the median of selective patterns, and of any.
const SELECTIVE_BAR: f64 = 3.0;
const ANY_BAR: f64 = 0.5;

/// Most of the text that trigrams may take.
const TRIGRAMS_BAR: f64 = 0.10;

struct Options {
    folders: Vec<PathBuf>,
    file: Option<PathBuf>,
    program: Option<PathBuf>,
    rg: PathBuf,
    times: usize,
}

fn options(arguments: &[String]) -> Result<Options> {
    let mut options = Options {
        folders: Vec::new(),
        file: None,
        program: None,
        rg: PathBuf::from("rg"),
        times: 7,
    };
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut value = || {
            rest.next()
                .with_context(|| format!("{argument} needs a value"))
        };
        match argument.as_str() {
            "--folder" => options.folders.push(PathBuf::from(value()?)),
            "--file" => options.file = Some(PathBuf::from(value()?)),
            "--program" => options.program = Some(fs::canonicalize(value()?)?),
            "--rg" => options.rg = PathBuf::from(value()?),
            "--times" => options.times = value()?.parse().context("--times")?,
            other => bail!("bench regex does not know {other:?}"),
        }
    }
    Ok(options)
}

/// Runs the verb; false where a bar is missed.
pub(super) fn run(arguments: &[String]) -> Result<bool> {
    let options = options(arguments)?;
    let program = match &options.program {
        Some(program) => program.clone(),
        None => {
            shipped_build::build()?;
            shipped_build::program()
        }
    };
    let version = Command::new(&options.rg).arg("--version").output();
    let version =
        version.context("ripgrep 14 or later is needed: cargo install ripgrep, or --rg PROGRAM")?;
    let version = String::from_utf8_lossy(&version.stdout);
    let number = version.split_whitespace().nth(1).unwrap_or_default();
    let major: u32 = number.split('.').next().unwrap_or_default().parse()?;
    ensure!(
        major >= 14,
        "ripgrep {number} does not end lines at a single CR, so it counts others than kb: 14 or later is wanted \
         (cargo install ripgrep), or --rg PROGRAM"
    );
    let folder = tempfile::tempdir()?;
    let file = match &options.file {
        Some(file) => file.clone(),
        None => sealed(&options, folder.path())?,
    };
    let texts = folder.path().join("texts");
    let (documents, bytes) = write_texts(&file, &texts)?;
    let trigrams = trigram_share(&file)?;
    println!("{}", machine::describe());
    println!(
        "{documents} documents, {:.1} MB of text; {}; times of {} runs each",
        bytes as f64 / 1e6,
        version.lines().next().unwrap_or_default(),
        options.times
    );
    println!("| pattern | lines | kb ms | rg ms | rg / kb |\n|---|---|---|---|---|");
    let mut ratios = Vec::new();
    for pattern in &PATTERNS {
        let (mut of_kb, mut of_rg) = (Vec::new(), Vec::new());
        let mut lines = (0, 0);
        // One more, which is not counted: it brings everything into memory.
        for time in 0..=options.times {
            let kb = kb_lines(&program, &file, pattern)?;
            let rg = rg_lines(&options.rg, &texts, pattern)?;
            lines = (kb.0, rg.0);
            if time > 0 {
                of_kb.push(kb.1);
                of_rg.push(rg.1);
            }
        }
        ensure!(
            lines.0 == lines.1,
            "{:?}: kb counts {} lines, ripgrep {}",
            pattern.pattern,
            lines.0,
            lines.1
        );
        let (kb, rg) = (median(&mut of_kb), median(&mut of_rg));
        let ratio = rg.as_secs_f64() / kb.as_secs_f64();
        ratios.push((pattern.is_selective, ratio));
        let milliseconds = |time: Duration| format!("{:.1}", time.as_secs_f64() * 1e3);
        let flags = pattern.flags.join(" ");
        println!(
            "| `{}` {flags} | {} | {} | {} | {ratio:.2} |",
            pattern.pattern.replace('|', "\\|"),
            lines.0,
            milliseconds(kb),
            milliseconds(rg),
        );
    }
    Ok(is_met(&ratios, trigrams))
}

/// Prints and judges how many times faster kb is by pattern, each with whether it is selective, and the share of
/// trigrams.
fn is_met(ratios: &[(bool, f64)], trigrams: f64) -> bool {
    let mut of_selective: Vec<f64> = ratios
        .iter()
        .filter(|(is, _)| *is)
        .map(|(_, ratio)| *ratio)
        .collect();
    of_selective.sort_by(f64::total_cmp);
    let median = of_selective
        .get(of_selective.len() / 2)
        .copied()
        .unwrap_or(0.0);
    let least = ratios
        .iter()
        .map(|(_, ratio)| *ratio)
        .fold(f64::MAX, f64::min);
    let mut is_met = true;
    for (what, is, bar, meets) in [
        (
            "median of selective patterns",
            median,
            SELECTIVE_BAR,
            median >= SELECTIVE_BAR,
        ),
        ("least of any pattern", least, ANY_BAR, least >= ANY_BAR),
        (
            "trigrams of the text",
            trigrams,
            TRIGRAMS_BAR,
            trigrams <= TRIGRAMS_BAR,
        ),
    ] {
        println!(
            "{what}: {is:.3}, bar {bar}: {}",
            if meets { "met" } else { "MISSED" }
        );
        is_met &= meets;
    }
    is_met
}

/// A sealed file of the folders, or of the corpus.
fn sealed(options: &Options, folder: &Path) -> Result<PathBuf> {
    let folders = if options.folders.is_empty() {
        corpus::fetch()?
            .into_iter()
            .map(|part| part.folder)
            .collect()
    } else {
        options.folders.clone()
    };
    let file = folder.join("bench.kb");
    let mut writer = KbWriter::open_or_create(&file)?;
    writer.index(&folders, &IndexOptions::new(), &mut Progress::ignore)?;
    writer.seal(None, &SealOptions::new(), &mut Progress::ignore)?;
    Ok(file)
}

/// Writes the text of every document as a file of its own; how many there are, and their bytes.
fn write_texts(file: &Path, folder: &Path) -> Result<(u64, u64)> {
    let kb = Kb::open(file)?;
    let (mut count, mut bytes) = (0, 0);
    let mut page = PageOptions::default();
    loop {
        let documents = kb.documents(None, true, &page)?;
        for document in documents.iter() {
            let text = kb.text(&document.path, None)?.text;
            // As in a repository: some hundred files in a folder.
            let path = folder
                .join((count / 200).to_string())
                .join(count.to_string());
            fs::create_dir_all(path.parent().unwrap_or(folder))?;
            fs::write(&path, &text)?;
            count += 1;
            bytes += text.len() as u64;
        }
        match documents.next {
            Some(next) => page.cursor = Some(next),
            None => return Ok((count, bytes)),
        }
    }
}

fn trigram_share(file: &Path) -> Result<f64> {
    let sizes = Kb::open(file)?.sizes()?;
    let trigrams = sizes.sections.iter().find(|(name, _)| name == "trigrams");
    Ok(trigrams.map_or(0.0, |(_, bytes)| *bytes as f64 / sizes.text_bytes as f64))
}

/// Lines that match, and the time of the processes that count them: as many as there are pages of the answer.
fn kb_lines(program: &Path, file: &Path, pattern: &Pattern) -> Result<(u64, Duration)> {
    let (mut lines, mut took) = (0, Duration::ZERO);
    let mut token: Option<String> = None;
    loop {
        let mut command = Command::new(program);
        command.args([
            "search", "--mode", "regex", "--count", "--json", "-k", "10000", "-f",
        ]);
        command.arg(file).args(pattern.flags);
        command.args(token.iter().flat_map(|token| ["--continue", token]));
        command.arg("--").arg(pattern.pattern);
        let started = Instant::now();
        let output = command.output().context("kb")?;
        took += started.elapsed();
        ensure!(
            output.status.code().is_some_and(|code| code < 2),
            "{output:?}"
        );
        token = None;
        for line in output
            .stdout
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
        {
            let object: Value = serde_json::from_slice(line)?;
            lines += object["matching_lines"].as_u64().unwrap_or(0);
            token = object["paging"]["continuation"].as_str().map(str::to_owned);
        }
        if token.is_none() {
            return Ok((lines, took));
        }
    }
}

fn rg_lines(program: &Path, folder: &Path, pattern: &Pattern) -> Result<(u64, Duration)> {
    let mut command = Command::new(program);
    command.args([
        "-j1",
        "--no-config",
        "--no-ignore",
        "--hidden",
        "--text",
        "--crlf",
        "--no-filename",
        "--count",
    ]);
    command
        .args(pattern.flags)
        .arg("-e")
        .arg(pattern.pattern)
        .arg(folder);
    let started = Instant::now();
    let output = command.output().context("ripgrep")?;
    let took = started.elapsed();
    ensure!(
        output.status.code().is_some_and(|code| code < 2),
        "{output:?}"
    );
    let text = String::from_utf8(output.stdout)?;
    let counts = text.lines().map(str::parse::<u64>);
    Ok((counts.sum::<Result<u64, _>>()?, took))
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
