//! The release build of `kb` that is measured.

use std::path::PathBuf;

use anyhow::Result;
use xtask::repository;

/// Builds `kb` as it is shipped.
pub(crate) fn build() -> Result<()> {
    let arguments = ["build", "--release", "--package", "kb-cli"];
    repository::run(&mut repository::cargo(&arguments))
}

/// The program that [`build`] makes.
pub(crate) fn program() -> PathBuf {
    repository::target()
        .join("release")
        .join(format!("kb{}", std::env::consts::EXE_SUFFIX))
}
