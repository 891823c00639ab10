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

/// Starts this verb again as a release build, because figures of a debug build mean nothing.
/// `None` when this already is one.
pub(crate) fn rerun_in_release(verb: &str, arguments: &[String]) -> Result<Option<bool>> {
    if !cfg!(debug_assertions) {
        return Ok(None);
    }
    let mut command = cargo(&[
        "run",
        "--quiet",
        "--release",
        "--package",
        "xtask",
        "--",
        verb,
    ]);
    // Relative paths were meant from where the caller stands.
    command.args(arguments).current_dir(env::current_dir()?);
    let status = command.status().context("cannot start cargo")?;
    match status.code() {
        Some(0) => Ok(Some(true)),
        Some(1) => Ok(Some(false)),
        _ => bail!("the release build of this tool ended with {status}"),
    }
}
