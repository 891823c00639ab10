//! `eval symbols [FOLDER ...]`: the symbols of programs beside those that universal-ctags finds, and how fast each
//! language is parsed.
//!
//! A symbol of ctags is found when one of ours with its name stands on its line, or has its line within itself (a
//! `typedef` closes the structure that it names). Fields, variables, labels, macros' arguments and what an import
//! names are symbols of ctags and none of ours.

mod definitions;
mod tags;

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, bail};
pub(crate) use definitions::run as run_definitions;
use kb_engine::testing::syntax::{SyntaxOptions, SyntaxParser};
use kb_engine::{Symbol, file_types};
use tags::{Tag, counts, last_name, list, tags};
use xtask::repository;

/// Bytes a second that one core must parse over all files.
const LEAST_BYTES_PER_SECOND: f64 = 4e6;

/// The share of symbols that the prototype of 2026-11-20 found in 197 files.
const LEAST_SHARES: &[(&str, f64)] = &[
    ("bash", 108.0 / 124.0),
    ("c", 160.0 / 181.0),
    ("cpp", 117.0 / 127.0),
    ("csharp", 50.0 / 51.0),
    ("go", 1.0),
    ("java", 1.0),
    ("javascript", 310.0 / 384.0),
    ("php", 1.0),
    ("python", 78.0 / 83.0),
    ("ruby", 281.0 / 283.0),
    ("rust", 905.0 / 907.0),
    ("typescript", 1.0),
];
/// Symbols of ctags from which a share is judged.
const LEAST_SYMBOLS: usize = 5;

/// What became of one language.
#[derive(Debug, Default)]
struct Language {
    files: usize,
    bytes: usize,
    seconds: f64,
    symbols: usize,
    fallbacks: usize,
    expected: usize,
    found: usize,
    ends: usize,
    same_ends: usize,
    missed: Vec<String>,
}

/// One program with its symbols.
#[derive(Debug)]
struct Program {
    language: &'static str,
    symbols: Vec<(u32, Symbol)>,
}

/// Runs the verb; false when a language is below its share, or all are too slow.
pub(crate) fn run(arguments: &[String]) -> Result<bool> {
    let mut shows_missed = false;
    let mut folders = Vec::new();
    for argument in arguments {
        match argument.as_str() {
            "--missed" => shows_missed = true,
            flag if flag.starts_with('-') => bail!("eval symbols does not know {flag}"),
            folder => folders.push(PathBuf::from(folder)),
        }
    }
    if folders.is_empty() {
        let root = repository::root();
        let beside = root.parent().unwrap_or(Path::new("/"));
        folders.push(beside.join("shared/documents/corpus/code"));
    }
    if let Some(missing) = folders.iter().find(|folder| !folder.is_dir()) {
        println!("symbols: skipped, there is no folder {}", missing.display());
        return Ok(true);
    }
    let mut files = Vec::new();
    for folder in &folders {
        list(folder, &mut files)?;
    }
    files.sort();
    let mut languages = BTreeMap::new();
    let programs = parse(&files, &mut languages)?;
    match tags(&files) {
        Ok(tags) => compare(&tags, &programs, &mut languages),
        Err(error) => println!("symbols: not compared, ctags cannot be run: {error:#}"),
    }
    Ok(print(&languages, shows_missed))
}

fn parse(
    files: &[PathBuf],
    languages: &mut BTreeMap<&'static str, Language>,
) -> Result<HashMap<String, Program>> {
    let mut parser = SyntaxParser::new(SyntaxOptions::default());
    let mut programs = HashMap::new();
    for file in files {
        let (Some(path), Ok(text)) = (file.to_str(), fs::read_to_string(file)) else {
            continue;
        };
        let first_line = text.lines().next().unwrap_or_default();
        let named = file_types::from_name(path).or_else(|| file_types::from_first_line(first_line));
        let Some(language) = named.map(|named| named.language) else {
            continue;
        };
        let start = cpu_time();
        let syntax = parser.parse(language, path, &text);
        let seconds = cpu_time().saturating_sub(start).as_secs_f64();
        if syntax.cuts.is_empty() && syntax.fallback.is_none() {
            continue;
        }
        let measured: &mut Language = languages.entry(language).or_default();
        measured.files += 1;
        measured.bytes += text.len();
        measured.seconds += seconds;
        measured.symbols += syntax.symbols.len();
        measured.fallbacks += usize::from(syntax.fallback.is_some());
        let line_of = |symbol: Symbol| {
            let head = text.get(..symbol.name_start as usize).unwrap_or_default();
            let ends = head.bytes().filter(|byte| *byte == b'\n').count();
            (u32::try_from(ends + 1).unwrap_or(u32::MAX), symbol)
        };
        let symbols = syntax.symbols.into_iter().map(line_of).collect();
        programs.insert(path.to_owned(), Program { language, symbols });
    }
    Ok(programs)
}

/// CPU time of this thread.
fn cpu_time() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(
        u64::try_from(now.tv_sec).unwrap_or(0),
        u32::try_from(now.tv_nsec).unwrap_or(0),
    )
}

fn compare(
    tags: &[Tag],
    programs: &HashMap<String, Program>,
    languages: &mut BTreeMap<&'static str, Language>,
) {
    for tag in tags {
        let Some(program) = programs.get(&tag.path) else {
            continue;
        };
        let Some(measured) = languages.get_mut(program.language) else {
            continue;
        };
        if !counts(tag, program.language) {
            continue;
        }
        measured.expected += 1;
        let is_named = |symbol: &Symbol| last_name(&symbol.name) == last_name(&tag.name);
        let is_there = |(line, symbol): &&(u32, Symbol)| {
            *line == tag.line && (is_named(symbol) || symbol.name.contains(&tag.name))
        };
        let is_around = |(_, symbol): &&(u32, Symbol)| {
            symbol.lines.first <= tag.line && tag.line <= symbol.lines.last && is_named(symbol)
        };
        let mut symbols = program.symbols.iter();
        let there = symbols.clone().find(is_there);
        let Some((_, symbol)) = there.or_else(|| symbols.find(is_around)) else {
            let Tag {
                path,
                name,
                kind,
                line,
                ..
            } = tag;
            measured
                .missed
                .push(format!("{path}:{line}: {kind} {name}"));
            continue;
        };
        measured.found += 1;
        if let Some(end) = tag.end {
            measured.ends += 1;
            measured.same_ends += usize::from(symbol.lines.last == end);
        }
    }
}

/// Prints the table; whether all bars are reached.
fn print(languages: &BTreeMap<&'static str, Language>, shows_missed: bool) -> bool {
    let mut good = true;
    println!("\n## Symbols beside universal-ctags, and speed of one core\n");
    println!(
        "| language | files | MB | MB/s | symbols | by lines | of ctags | found | share | least | same end |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    let (mut bytes, mut seconds) = (0, 0.0);
    for (name, measured) in languages {
        bytes += measured.bytes;
        seconds += measured.seconds;
        let share = measured.found as f64 / measured.expected.max(1) as f64;
        let least = LEAST_SHARES.iter().find(|(language, _)| language == name);
        let least = least.map_or(0.0, |(_, least)| *least);
        let is_low = measured.expected >= LEAST_SYMBOLS && share < least;
        good &= !is_low;
        println!(
            "| {name} | {} | {:.2} | {:.1} | {} | {} | {} | {} | {share:.3}{} | {least:.3} | {}/{} |",
            measured.files,
            measured.bytes as f64 / 1e6,
            measured.bytes as f64 / 1e6 / measured.seconds.max(1e-9),
            measured.symbols,
            measured.fallbacks,
            measured.expected,
            measured.found,
            if is_low { " LOW" } else { "" },
            measured.same_ends,
            measured.ends,
        );
    }
    let speed = bytes as f64 / f64::max(seconds, 1e-9);
    println!(
        "\nall: {:.1} MB at {:.1} MB/s a core",
        bytes as f64 / 1e6,
        speed / 1e6
    );
    if shows_missed {
        for missed in languages.values().flat_map(|language| &language.missed) {
            println!("missed {missed}");
        }
    }
    // Speed is judged over enough to measure.
    let is_slow = bytes > 5_000_000 && speed < LEAST_BYTES_PER_SECOND;
    if is_slow {
        println!(
            "symbols: slower than {:.0} MB/s",
            LEAST_BYTES_PER_SECOND / 1e6
        );
    }
    good && !is_slow
}
