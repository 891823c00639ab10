//! `cargo xtask documents`: what is read in real files beside what other programs read in them, and what
//! comes of files made to harm.
//!
//! Every file is read by a process of its own under limits ([`child`]), so that a crash is a result.

mod accuracy;
mod bars;
mod bombs;
mod cells;
mod child;
mod corpus;
mod metric;
mod mutants;
mod mutate;
mod reader;
mod score;
mod words;

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use corpus::{CorpusFile, FORMATS};
use serde_json::{Map, Value};

/// Broken files of a run that does not say how many, and of a quick run.
const MUTANTS: usize = 840;
const QUICK_MUTANTS: usize = 60;

/// What the command line asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Options {
    folder: PathBuf,
    /// Only these formats, each file with its misses.
    formats: Option<Vec<String>>,
    /// Broken files instead of the corpus: how many.
    mutants: Option<usize>,
    seed: u64,
    /// Files made to harm instead of the corpus.
    bombs: bool,
    is_quick: bool,
    json: Option<PathBuf>,
}

/// Runs the verb.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    if let Some((first, rest)) = arguments.split_first()
        && first == child::READER
    {
        return reader::run(rest);
    }
    let options = parse(arguments)?;
    let mut figures = Map::new();
    let mut good = true;
    if options.mutants.is_none() && !options.bombs {
        good &= run_accuracy(&options, &mut figures)?;
    }
    let mutants = options
        .mutants
        .or(options.is_quick.then_some(QUICK_MUTANTS));
    if let Some(count) = mutants {
        good &= run_mutants(&options, count, &mut figures)?;
    }
    if options.bombs || options.is_quick {
        let (results, is_bounded) = bombs::run(options.formats.as_deref(), options.is_quick)?;
        figures.insert("bombs".to_owned(), results);
        good &= is_bounded;
    }
    if let Some(path) = &options.json {
        let text = serde_json::to_string(&Value::Object(figures))? + "\n";
        fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(1)
    })
}

/// Scores the corpus; whether all bars are reached.
fn run_accuracy(options: &Options, figures: &mut Map<String, Value>) -> Result<bool> {
    if !options.folder.is_dir() {
        println!(
            "documents: skipped, there is no corpus at {}",
            options.folder.display()
        );
        return Ok(true);
    }
    let start = Instant::now();
    let is_asked = |file: &CorpusFile| match &options.formats {
        Some(formats) => formats.contains(&file.format),
        None => true,
    };
    let mut files = corpus::files(&options.folder)?;
    files.retain(is_asked);
    let is_timed = !options.is_quick;
    let results = accuracy::measure(&files, is_timed)?;
    if options.formats.is_some() {
        accuracy::print_files(&results);
    }
    let good = accuracy::print_table(&results, is_timed);
    eprintln!(
        "{} files: {:.1} s",
        files.len(),
        start.elapsed().as_secs_f64()
    );
    figures.insert("accuracy".to_owned(), accuracy::to_json(&results, is_timed));
    Ok(good)
}

/// Has broken files read; whether none did harm.
fn run_mutants(options: &Options, count: usize, figures: &mut Map<String, Value>) -> Result<bool> {
    let start = Instant::now();
    let is_asked = |format: &str| match &options.formats {
        Some(formats) => formats.iter().any(|asked| asked == format),
        None => format != "code",
    };
    let mut paths: Vec<(String, PathBuf)> = Vec::new();
    if options.folder.is_dir() {
        let files = corpus::files(&options.folder)?;
        let good = files.into_iter().filter(|file| !file.is_negative);
        paths.extend(good.map(|file| (file.format, file.path)));
    } else {
        paths.extend(corpus::carried_files()?.into_iter().map(|path| {
            let extension = path.extension().unwrap_or_default();
            (extension.to_string_lossy().into_owned(), path)
        }));
    }
    paths.retain(|(format, _)| is_asked(format));
    // Neighbours are of different formats, so that a short run has some of each.
    let mut random = mutate::Random(0);
    for last in (1..paths.len()).rev() {
        paths.swap(last, random.below(last + 1));
    }
    let summary = mutants::run(&mutants::originals(&paths)?, count, options.seed)?;
    summary.print();
    eprintln!("{:.1} s", start.elapsed().as_secs_f64());
    figures.insert("mutants".to_owned(), summary.to_json());
    Ok(summary.is_good())
}

fn parse(arguments: &[String]) -> Result<Options> {
    let mut options = Options {
        folder: corpus::default_folder(),
        formats: None,
        mutants: None,
        seed: 1,
        bombs: false,
        is_quick: false,
        json: None,
    };
    let mut arguments = arguments.iter().peekable();
    while let Some(argument) = arguments.next() {
        if argument == "--mutants" {
            let count = arguments.next_if(|next| next.parse::<usize>().is_ok());
            options.mutants = Some(count.map_or(Ok(MUTANTS), |count| count.parse())?);
            continue;
        }
        let mut value = || {
            arguments
                .next()
                .with_context(|| format!("{argument} needs a value"))
        };
        match argument.as_str() {
            "--format" | "--formats" => options.formats = Some(formats(value()?)?),
            "--json" => options.json = Some(PathBuf::from(value()?)),
            "--seed" => options.seed = value()?.parse()?,
            "--bombs" => options.bombs = true,
            "--quick" => options.is_quick = true,
            flag if flag.starts_with('-') => bail!("documents does not know {flag}"),
            folder => options.folder = PathBuf::from(folder),
        }
    }
    Ok(options)
}

/// What bombs have besides the formats of the corpus.
const FURTHER_FORMATS: [&str; 8] = [
    "json", "jsonl", "ipynb", "rst", "adoc", "eml", "epub", "zip",
];

fn formats(list: &str) -> Result<Vec<String>> {
    let formats: Vec<String> = list.split(',').map(str::to_owned).collect();
    let all = [FORMATS.as_slice(), &FURTHER_FORMATS].concat();
    if let Some(unknown) = formats.iter().find(|name| !all.contains(&name.as_str())) {
        bail!("no format {unknown:?}; there are {}", all.join(", "));
    }
    Ok(formats)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(line: &str) -> Result<Options> {
        let words = line.split_whitespace().map(str::to_owned);
        parse(&words.collect::<Vec<_>>())
    }

    #[test]
    fn options_are_read() {
        let read = options("some/folder --format docx,eml --mutants 9 --seed 7 --json a").unwrap();
        assert_eq!(read.folder, PathBuf::from("some/folder"));
        assert_eq!(
            read.formats,
            Some(vec!["docx".to_owned(), "eml".to_owned()])
        );
        assert_eq!((read.mutants, read.seed), (Some(9), 7));
        assert_eq!(read.json, Some(PathBuf::from("a")));
        assert!(!read.bombs && !read.is_quick);
    }

    #[test]
    fn a_number_of_mutants_is_optional() {
        assert_eq!(options("--mutants").unwrap().mutants, Some(MUTANTS));
        let read = options("--mutants --bombs").unwrap();
        assert_eq!((read.mutants, read.bombs), (Some(MUTANTS), true));
    }

    #[test]
    fn unknown_words_are_refused() {
        assert!(options("--fast").is_err());
        assert!(options("--format wpd").is_err());
        assert!(options("--seed").is_err());
    }
}
