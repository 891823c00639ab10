//! The scripts in Python of this bench, and the virtual environment that they run in.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;
use xtask::repository;

use crate::corpus;
use crate::peers::python;

/// Where the scripts are.
pub(super) fn folder() -> PathBuf {
    repository::root().join("tools/bench/baselines/python/vectors")
}

/// The interpreter that runs them.
pub(super) fn python() -> PathBuf {
    python::program(&venv())
}

/// Installs the peers.
pub(super) fn install() -> Result<()> {
    python::install(&folder().join("requirements.txt"), &venv())
}

/// Has Python make a table of a set.
pub(super) fn make_table(words: &[String]) -> Result<()> {
    let mut command = Command::new(python());
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    repository::run(command.arg(folder().join("tables.py")).args(words))
}

fn venv() -> PathBuf {
    corpus::bench_folder().join("vectors-venv")
}
