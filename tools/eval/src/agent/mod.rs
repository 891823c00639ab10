//! `cargo xtask eval agent` and `cargo xtask eval where`: questions about real checkouts, put to the real
//! MCP server over stdin and stdout.
//!
//! *agent*: a loop without a language model plays an agent ([`policy`]): it searches, reads lines and
//! cites `path:lines`. Counted are calls, the tokens of all answers, and whether the citation is right.
//! *where*: the rank of the right file in the results of `search` and of `search_code`.

mod client;
mod evidence;
mod files;
mod policy;
mod table;
mod tasks;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use client::Server;
use tasks::Checkouts;
use tempfile::TempDir;
use xtask::repository;

use crate::checkout;

/// What the command line asks for.
struct Options {
    checkouts: Checkouts,
    /// The build of `kb` that is asked.
    program: PathBuf,
    json: Option<PathBuf>,
    /// Also print what was read and cited.
    verbose: bool,
}

/// Runs the tasks of [`policy`]; `false` when a threshold is missed.
pub(crate) fn run_agent(arguments: &[String]) -> Result<bool> {
    let options = parse(arguments)?;
    let tasks = tasks::agent_tasks(&options.checkouts)?;
    if tasks.is_empty() {
        return Ok(skipped(&options.checkouts));
    }
    let mut solved = Vec::new();
    for_each_checkout(&options, |name, server| {
        for task in tasks.iter().filter(|task| task.checkout == name) {
            let outcome = policy::solve(server, &task.question)
                .with_context(|| format!("task {}", task.id))?;
            if options.verbose {
                table::print_steps(task, &outcome);
            }
            solved.push(table::Row::new(task, outcome));
        }
        Ok(())
    })?;
    let good = table::print(&solved);
    checkout::write_json(options.json.as_deref(), &table::to_json(&solved))?;
    Ok(good)
}

/// Puts the where-is-it questions.
pub(crate) fn run_where(arguments: &[String]) -> Result<bool> {
    let options = parse(arguments)?;
    let questions = tasks::where_questions(&options.checkouts)?;
    if questions.is_empty() {
        return Ok(skipped(&options.checkouts));
    }
    let mut ranked = Vec::new();
    for_each_checkout(&options, |name, server| {
        for question in questions.iter().filter(|asked| asked.checkout == name) {
            ranked.push(files::rank(server, question)?);
        }
        Ok(())
    })?;
    files::print(&ranked, options.verbose);
    checkout::write_json(options.json.as_deref(), &files::to_json(&ranked))?;
    Ok(true)
}

/// Says what is missing and how to get it.
fn skipped(checkouts: &Checkouts) -> bool {
    println!("eval: skipped, no checkout was given. Get them with\n");
    for line in checkouts.recipe() {
        println!("{line}");
    }
    true
}

/// Indexes each given checkout and starts a server on it.
fn for_each_checkout(
    options: &Options,
    mut work: impl FnMut(&str, &mut Server) -> Result<()>,
) -> Result<()> {
    let folder = TempDir::new()?;
    for (name, sources) in options.checkouts.given() {
        let file = folder.path().join(format!("{name}.kb"));
        repository::index_with(&options.program, sources, &file)?;
        let mut server = Server::start(&options.program, &file)?;
        work(name, &mut server).with_context(|| format!("checkout {name}"))?;
    }
    Ok(())
}

fn parse(arguments: &[String]) -> Result<Options> {
    let mut options = Options {
        checkouts: Checkouts::load()?,
        program: checkout::default_program(),
        json: None,
        verbose: false,
    };
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let mut value = || {
            arguments
                .next()
                .with_context(|| format!("{argument} needs a value"))
        };
        match argument.as_str() {
            "--checkout" => {
                let given = value()?;
                let Some((name, folder)) = given.split_once('=') else {
                    bail!("--checkout takes NAME=DIR, not {given:?}");
                };
                options.checkouts.give(name, Path::new(folder))?;
            }
            "--checkouts" => options.checkouts.give_all(Path::new(value()?)),
            "--kb" => options.program = PathBuf::from(value()?),
            "--json" => options.json = Some(PathBuf::from(value()?)),
            "--verbose" => options.verbose = true,
            other => bail!(
                "eval agent and eval where know --checkout NAME=DIR, --checkouts DIR, --kb PROGRAM, --json \
                 FILE and --verbose, not {other}"
            ),
        }
    }
    checkout::require_program(&options.program)?;
    Ok(options)
}
