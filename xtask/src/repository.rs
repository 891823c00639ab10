//! Where things are in this repository, and cargo started on it.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

/// The folder of the workspace manifest.
pub(crate) fn root() -> PathBuf {
    let manifest = env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    manifest
        .parent()
        .map_or_else(|| manifest.clone(), Path::to_path_buf)
}

/// The target folder that all verbs share.
pub(crate) fn target() -> PathBuf {
    match env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => root().join(folder),
        None => root().join("target"),
    }
}

/// The packages and features of all that is tested, as arguments of cargo. Every step names the same,
/// because cargo builds a library once for each set of its features.
pub(crate) const TESTED: [&str; 3] = ["--workspace", "--features", "xtask/measure"];

/// Makes a build without tests take the features that the dev-dependencies ask for, as one with tests
/// does: to cargo an example is a kind of test. It is the smallest there is, and tests build it too.
pub(crate) const AS_TESTS: [&str; 2] = ["--example", "quickstart"];

/// A cargo command that starts in the root of the repository.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let program = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
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
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command
        .status()
        .with_context(|| format!("cannot start {command:?}"))?;
    if !status.success() {
        bail!("{command:?} ended with {status}");
    }
    Ok(())
}

/// What a build is for.
#[cfg_attr(
    feature = "measure",
    expect(dead_code, reason = "this already is the build")
)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Profile {
    /// Figures of speed.
    Release,
    /// Everything else: nothing is built that the tests have built.
    Dev,
}

/// Builds this tool with the engine in it and runs a verb in that build.
#[cfg(not(feature = "measure"))]
pub(crate) fn run_measuring(verb: &str, arguments: &[String], profile: Profile) -> Result<bool> {
    let folder = match profile {
        Profile::Release => {
            let features = ["--package", "xtask", "--features", "xtask/measure"];
            let release = ["build", "--quiet", "--release"];
            run(cargo(&release).args(features))?;
            "release"
        }
        Profile::Dev => {
            // The packages and features of the tests, so that cargo takes the libraries it has.
            let tested = ["build", "--quiet", "--bin", "xtask"];
            run(cargo(&tested).args(TESTED).args(AS_TESTS))?;
            "debug"
        }
    };
    let program = format!("{folder}/xtask{}", env::consts::EXE_SUFFIX);
    let mut command = Command::new(target().join(program));
    // Where the caller stands: relative paths were meant from there.
    let status = command.arg(verb).args(arguments).status();
    let status = status.with_context(|| format!("cannot start {command:?}"))?;
    match status.code() {
        Some(0) => Ok(true),
        Some(1) => Ok(false),
        _ => bail!("the build of this tool that measures ended with {status}"),
    }
}
