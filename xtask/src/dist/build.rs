//! The program for one target.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};
use xtask::repository::{self, cargo, target};

use super::options::Options;
use crate::python;

/// Link for any Linux from any other: a C compiler and a C library for every target, from PyPI.
const TOOLS: [&str; 2] = ["ziglang==0.17.0", "cargo-zigbuild==0.24.0"];

/// Builds `kb` and says where it is.
pub(super) fn program(options: &Options) -> Result<PathBuf> {
    let mut build = cargo_for(options, Verb::Build)?;
    build.args(["--package", "kb-cli", "--bin", "kb"]);
    if let Some(model) = &options.model {
        build.args(["--features", "minilm"]).env("KB_MINILM", model);
    }
    repository::run(&mut build)?;
    let folder = target().join(&options.target).join(&options.profile);
    let program = folder.join(options.program_name());
    if !program.is_file() {
        bail!("cargo made no {}", program.display());
    }
    Ok(program)
}

/// What cargo is started for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    Build,
    Test,
}

/// A cargo that compiles for the target in the profile that is asked for.
pub(super) fn cargo_for(options: &Options, verb: Verb) -> Result<Command> {
    let mut command = match (options.is_linux(), verb) {
        (true, Verb::Build) => zig("zigbuild")?,
        (true, Verb::Test) => zig("test")?,
        (false, Verb::Build) => cargo(&["build"]),
        (false, Verb::Test) => cargo(&["test"]),
    };
    command.args(["--locked", "--profile", &options.profile]);
    command.args(["--target", &options.target]);
    if options.builds_std {
        // Unstable in a stable compiler, and the only way to a target whose standard library it does not have.
        command
            .arg("-Zbuild-std=std,panic_unwind")
            .env("RUSTC_BOOTSTRAP", "1");
    }
    Ok(command)
}

/// A verb of `cargo-zigbuild`, from an environment of its own.
fn zig(verb: &str) -> Result<Command> {
    let tools = tools()?;
    // Started by its path: `cargo zigbuild` knows no other verb.
    let mut command =
        repository::program_at_root(&python::programs(&tools).join("cargo-zigbuild"), &[verb]);
    command.env("PATH", with_programs_of(&tools)?);
    // It finds the zig of this environment by its Python.
    command.env("VIRTUAL_ENV", &tools);
    Ok(command)
}

fn tools() -> Result<PathBuf> {
    let Some(python) = python::interpreter() else {
        bail!("python3 (3.11 or newer) is needed for zig, which is installed from PyPI");
    };
    python::kept_environment(&python, "dist-tools", &TOOLS)
}

fn with_programs_of(environment: &Path) -> Result<std::ffi::OsString> {
    let path = env::var_os("PATH").unwrap_or_default();
    let first = python::programs(environment);
    Ok(env::join_paths(
        std::iter::once(first).chain(env::split_paths(&path)),
    )?)
}
