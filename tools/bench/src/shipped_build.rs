//! The build of `kb` that is measured: the one that is shipped.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;
use xtask::repository;

use crate::child::{self, Measured};

/// Builds `kb` as it is shipped.
pub(crate) fn build() -> Result<()> {
    let arguments = ["build", "--profile", "dist", "--package", "kb-cli"];
    repository::run(&mut repository::cargo(&arguments))
}

/// The program that [`build`] makes.
pub(crate) fn program() -> PathBuf {
    repository::target()
        .join("dist")
        .join(format!("kb{}", std::env::consts::EXE_SUFFIX))
}

/// `kb index` of the folders into the file, in a process of its own.
pub(crate) fn index(file: &Path, folders: &[impl AsRef<Path>]) -> Result<Measured> {
    let mut command = Command::new(program());
    let folders = folders.iter().map(AsRef::as_ref);
    command.arg("index").args(folders).arg("-o").arg(file);
    child::measured(&mut command)
}

/// The same into a new file.
pub(crate) fn index_anew(file: &Path, folders: &[impl AsRef<Path>]) -> Result<Measured> {
    if file.exists() {
        fs::remove_file(file)?;
    }
    index(file, folders)
}
