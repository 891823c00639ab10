//! `cargo xtask bench main`: speed and size of a release build on a corpus of published crates.

pub(crate) mod fields;
mod figures;
mod report;
pub(crate) mod slips;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use figures::{Figures, Indexed};
use kb_engine::{Info, Kb, Sizes};
use xtask::repository;

use crate::child;
use crate::corpus::{self, Count, Part};
use crate::latency;
use crate::{machine, shipped_build};

/// What the command line asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Options {
    part1_only: bool,
    fetch_only: bool,
    out: Option<PathBuf>,
}

/// Runs the verb.
pub(crate) fn run(arguments: &[String]) -> Result<bool> {
    let options = parse(arguments)?;
    let parts = corpus::fetch()?;
    for part in &parts {
        let Count {
            files,
            bytes,
            others,
        } = part.count;
        println!(
            "{}: {files} text files, {:.1} MB; {others} other files",
            part.name,
            bytes as f64 / 1e6
        );
    }
    if options.fetch_only {
        return Ok(true);
    }
    shipped_build::build()?;
    let figures = measure(&options, &parts)?;
    let text = report::markdown(&figures, arguments);
    println!("{text}");
    let path = options.out.unwrap_or_else(default_table);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    println!("written to {}", path.display());
    Ok(true)
}

fn parse(arguments: &[String]) -> Result<Options> {
    let mut options = Options::default();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--part1" => options.part1_only = true,
            "--fetch" => options.fetch_only = true,
            "--out" => {
                let path = arguments.next().context("--out needs a file")?;
                options.out = Some(PathBuf::from(path));
            }
            other => bail!("bench main does not know {other}"),
        }
    }
    Ok(options)
}

fn measure(options: &Options, parts: &[Part]) -> Result<Figures> {
    let folder = corpus::bench_folder();
    let [first, rest @ ..] = parts else {
        bail!("the corpus has no part");
    };
    let mut indexed = Vec::new();
    let mut file = folder.join("part1.kb");
    indexed.push(index("part 1", &file, &[first], true)?);
    indexed.push(index(
        "part 1 again, nothing changed",
        &file,
        &[first],
        false,
    )?);
    if !options.part1_only {
        file = folder.join("main.kb");
        let all: Vec<&Part> = [first].into_iter().chain(rest).collect();
        indexed.push(index("all parts", &file, &all, true)?);
    }
    let (info, sizes) = facts(&file)?;
    check_documents(info.documents, indexed.last())?;

    let queries = corpus::queries()?;
    let process = latency::of_processes(&shipped_build::program(), &file, &queries)?;
    let process_floor = latency::of_idle_process(&shipped_build::program())?;
    let library = latency::of_library(&file, &queries)?;
    let private_bytes = child::own_private_bytes();
    let ranking = latency::of_keyword_ranking(&file, &queries)?;
    let open_and_first = latency::of_opening(&file, &queries)?;
    Ok(Figures {
        indexed,
        sizes,
        documents: info.documents,
        chunks: info.chunks,
        process,
        process_floor,
        library,
        ranking,
        open_and_first,
        private_bytes,
        queries: queries.len(),
    })
}

/// What the file says about itself; it is closed again, so that it does not count as memory.
fn facts(file: &Path) -> Result<(Info, Sizes)> {
    let kb = Kb::open(file)?;
    Ok((kb.info()?, kb.sizes()?))
}

/// Indexes the parts in a process of its own.
fn index(name: &'static str, file: &Path, parts: &[&Part], from_nothing: bool) -> Result<Indexed> {
    eprintln!("index: {name}");
    let folders: Vec<&Path> = parts.iter().map(|part| part.folder.as_path()).collect();
    let run = if from_nothing {
        shipped_build::index_anew(file, &folders)?
    } else {
        shipped_build::index(file, &folders)?
    };
    let mut count = Count::default();
    for part in parts {
        count.add(part.count);
    }
    Ok(Indexed { name, count, run })
}

/// Refuses to give figures of a file that lacks a good part of the corpus.
fn check_documents(documents: u64, indexed: Option<&Indexed>) -> Result<()> {
    let files = indexed.map_or(0, |indexed| indexed.count.files);
    if documents * 10 < files * 9 {
        bail!("the .kb holds {documents} documents, but the corpus has {files} text files");
    }
    Ok(())
}

fn default_table() -> PathBuf {
    let name = format!("main-{}.md", machine::today());
    repository::root().join("tests/bench-results").join(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::child::Measured;

    #[test]
    fn options_are_read() {
        let arguments = ["--part1", "--out", "table.md"].map(str::to_owned);
        let read = parse(&arguments).unwrap();
        assert!(read.part1_only && !read.fetch_only);
        assert_eq!(read.out, Some(PathBuf::from("table.md")));
        assert!(parse(&["--fast".to_owned()]).is_err());
    }

    #[test]
    fn a_file_without_the_corpus_gives_no_figures() {
        let count = Count {
            files: 100,
            bytes: 1,
            others: 0,
        };
        let indexed = Indexed {
            name: "all",
            count,
            run: Measured::default(),
        };
        assert!(check_documents(95, Some(&indexed)).is_ok());
        assert!(check_documents(89, Some(&indexed)).is_err());
    }
}
