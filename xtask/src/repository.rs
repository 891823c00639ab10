//! Paths in this repository, and running cargo in it.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

/// The folder of the workspace manifest.
pub fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest
        .parent()
        .map_or_else(|| manifest.to_path_buf(), Path::to_path_buf)
}

/// The target folder that all verbs share.
pub fn target() -> PathBuf {
    match env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => root().join(folder),
        None => root().join("target"),
    }
}

/// The packages and features of all that is tested, as arguments of cargo. Every step names the same,
/// because cargo builds a library once for each set of its features.
pub const TESTED: [&str; 1] = ["--workspace"];

/// Makes a build without tests take the features that the dev-dependencies ask for, as one with tests
/// does: to cargo an example is a kind of test. It is the smallest there is, and tests build it too.
pub const AS_TESTS: [&str; 2] = ["--example", "write"];

/// A cargo command that starts in the root of the repository.
pub fn cargo(arguments: &[&str]) -> Command {
    let program = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    program_at_root(Path::new(&program), arguments)
}

/// A command that starts in the root of the repository, for cargo or a program that starts cargo.
pub fn program_at_root(program: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root());
    // These describe the package of this tool, not the one that is started.
    for (name, _) in env::vars_os() {
        if name.to_string_lossy().starts_with("CARGO_PKG_") {
            command.env_remove(name);
        }
    }
    command
        .env_remove("CARGO_MANIFEST_DIR")
        .env_remove("CARGO_MANIFEST_PATH");
    command
}

/// Runs a command to its end; an error names it when it fails.
pub fn run(command: &mut Command) -> Result<()> {
    let status = command
        .status()
        .with_context(|| format!("cannot start {command:?}"))?;
    if !status.success() {
        bail!("{command:?} ended with {status}");
    }
    Ok(())
}

/// Has a build of `kb` index a folder into a new file.
pub fn index_with(program: &Path, sources: &Path, file: &Path) -> Result<()> {
    let mut command = Command::new(program);
    command
        .arg("index")
        .arg(sources)
        .arg("-o")
        .arg(file)
        .arg("-q");
    run(&mut command)
}

/// How a tool is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// As it is shipped: for figures of speed and size.
    Dist,
    /// For everything else: takes the libraries that the tests have built.
    Dev,
}

/// Builds a program of this workspace as [`Profile::Dev`] does.
pub fn build_tested(name: &str) -> Result<()> {
    run(&mut tested_build(name))
}

/// The packages and features of the tests, so that cargo takes the libraries it has.
fn tested_build(name: &str) -> Command {
    let mut build = cargo(&["build", "--quiet", "--bin", name]);
    build.args(TESTED).args(AS_TESTS);
    build
}

/// Builds a program of this workspace and runs it; `false` when it ended with status 1.
///
/// It starts in the folder of the caller, so that relative paths mean what they say.
pub fn run_tool(name: &str, arguments: &[String], profile: Profile) -> Result<bool> {
    let (folder, mut build) = match profile {
        Profile::Dist => {
            let build = ["build", "--quiet", "--profile", "dist", "--package", name];
            ("dist", cargo(&build))
        }
        Profile::Dev => ("debug", tested_build(name)),
    };
    run(&mut build)?;
    let program = format!("{folder}/{name}{}", env::consts::EXE_SUFFIX);
    let mut command = Command::new(target().join(program));
    let status = command.args(arguments).status();
    let status = status.with_context(|| format!("cannot start {command:?}"))?;
    match status.code() {
        Some(0) => Ok(true),
        Some(1) => Ok(false),
        _ => bail!("{name} ended with {status}"),
    }
}
