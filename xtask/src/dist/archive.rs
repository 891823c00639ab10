//! A folder as one file to download: `.tar.gz`, for Windows `.zip`.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use xtask::repository;

use super::workspace::commit_time;
use crate::python;

/// Packs a folder under its own name, into another folder.
pub(super) fn pack(stage: &Path, is_windows: bool, packages: &Path) -> Result<PathBuf> {
    let parent = stage.parent().context("a stage without a folder")?;
    let name = stage.file_name().context("a stage without a name")?;
    let suffix = if is_windows { "zip" } else { "tar.gz" };
    let archive = packages.join(format!("{}.{suffix}", name.to_string_lossy()));
    let mut pack;
    if is_windows && has_gnu_tar() {
        pack = zipfile()?;
        pack.arg("-c").arg(&archive).arg(name).current_dir(parent);
    } else {
        pack = Command::new("tar");
        // The tar of Windows and macOS is that of libarchive, which takes the format from the suffix.
        let format = if is_windows { "-a" } else { "-z" };
        pack.args([format, "-c", "-f"]).arg(&archive);
        if has_gnu_tar() {
            // The same bytes from the same files, whoever packs them.
            pack.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner"]);
            pack.arg(format!("--mtime=@{}", commit_time()));
        }
        pack.arg("-C").arg(parent).arg(name);
    }
    repository::run(&mut pack)?;
    Ok(archive)
}

/// Unpacks an archive into a folder that is there.
pub(super) fn unpack(archive: &Path, folder: &Path) -> Result<()> {
    let is_zip = archive
        .extension()
        .is_some_and(|extension| extension == "zip");
    if is_zip && has_gnu_tar() {
        return repository::run(zipfile()?.arg("-e").arg(archive).arg(folder));
    }
    let mut tar = Command::new("tar");
    repository::run(tar.arg("-x").arg("-f").arg(archive).arg("-C").arg(folder))
}

/// Whether `tar` is that of GNU, which knows no `.zip`.
fn has_gnu_tar() -> bool {
    cfg!(target_os = "linux")
}

/// Python's reader and writer of `.zip`.
fn zipfile() -> Result<Command> {
    let python = python::interpreter().context("python3 (3.11 or newer) is needed for .zip")?;
    let mut command = Command::new(python);
    command.args(["-m", "zipfile"]);
    Ok(command)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn both_kinds_of_archives_are_packed_and_unpacked() {
        let folder = tempfile::tempdir().unwrap();
        let stage = folder.path().join("stage/kb-1");
        fs::create_dir_all(stage.join("man")).unwrap();
        fs::write(stage.join("man/kb.1"), "page").unwrap();
        for (is_windows, start) in [(true, b"PK".as_slice()), (false, b"\x1f\x8b")] {
            let archive = pack(&stage, is_windows, folder.path()).unwrap();
            assert!(fs::read(&archive).unwrap().starts_with(start));
            let unpacked = tempfile::tempdir().unwrap();
            unpack(&archive, unpacked.path()).unwrap();
            let page = fs::read_to_string(unpacked.path().join("kb-1/man/kb.1"));
            assert_eq!(page.unwrap(), "page");
        }
    }
}
