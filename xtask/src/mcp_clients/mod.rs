//! `cargo xtask mcp-clients`: every outside client and suite against a release build of the server,
//! with a file of the corpus of `bench main`.

mod listening;
mod official;
#[cfg(feature = "measure")]
mod outside;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::repository;
pub(crate) use listening::Listening;

/// What the command line asks for.
struct Options {
    /// Where the runners of the clients are.
    clients: PathBuf,
    /// Where the clients are installed.
    tools: PathBuf,
    /// Only the conformance suite, against the build that has its fixtures.
    only_fixtures: bool,
}

/// Runs the verb.
pub(crate) fn run(arguments: &[String]) -> Result<bool> {
    if arguments == ["--official"] {
        return official::run();
    }
    let options = parse(arguments)?;
    if !options.clients.join("run_all.sh").is_file() {
        println!(
            "skipped: {} holds no runners (--clients DIR)",
            options.clients.display()
        );
        return Ok(true);
    }
    #[cfg(feature = "measure")]
    return outside::run(&options);
    #[cfg(not(feature = "measure"))]
    repository::run_measuring("mcp-clients", arguments, repository::Profile::Release)
}

fn parse(arguments: &[String]) -> Result<Options> {
    let mut options = Options {
        clients: repository::root().join("../shared/mcp/clients"),
        tools: repository::target().join("mcp-clients"),
        only_fixtures: false,
    };
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut folder = || -> Result<PathBuf> {
            let folder = rest
                .next()
                .with_context(|| format!("{argument} needs a folder"))?;
            std::path::absolute(folder).context("the folder of the working directory")
        };
        match argument.as_str() {
            "--clients" => options.clients = folder()?,
            "--tools" => options.tools = folder()?,
            "--fixtures" => options.only_fixtures = true,
            other => bail!("mcp-clients does not know {other:?}"),
        }
    }
    Ok(options)
}

/// Has `program` make a file of a folder.
fn index(program: &Path, sources: &Path, file: &Path) -> Result<()> {
    let mut command = Command::new(program);
    command
        .arg("index")
        .arg(sources)
        .arg("-o")
        .arg(file)
        .arg("-q");
    repository::run(&mut command)
}
