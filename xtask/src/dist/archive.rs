//! A folder as one file to download: `.tar.gz`, for Windows `.zip`.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use xtask::repository;

/// Packs a folder under its own name, into another folder.
pub(super) fn pack(stage: &Path, is_windows: bool, packages: &Path) -> Result<PathBuf> {
    let parent = stage.parent().context("a stage without a folder")?;
    let name = stage.file_name().context("a stage without a name")?;
    let suffix = if is_windows { "zip" } else { "tar.gz" };
    let archive = packages.join(format!("{}.{suffix}", name.to_string_lossy()));
    let mut tar = Command::new("tar");
    if is_windows {
        // The tar of Windows is that of libarchive, which takes the format from the suffix.
        tar.args(["-a", "-c", "-f"]);
    } else {
        tar.args(["-c", "-z", "-f"]);
    }
    tar.arg(&archive);
    if cfg!(target_os = "linux") {
        // The same bytes from the same files, whoever packs them.
        tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner"]);
        tar.arg("--mtime=@0");
    }
    tar.arg("-C").arg(parent).arg(name);
    repository::run(&mut tar)?;
    Ok(archive)
}

/// Unpacks an archive into a folder that is there.
pub(super) fn unpack(archive: &Path, folder: &Path) -> Result<()> {
    let mut tar = Command::new("tar");
    repository::run(tar.arg("-x").arg("-f").arg(archive).arg("-C").arg(folder))
}
