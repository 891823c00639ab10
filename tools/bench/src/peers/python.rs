//! Virtual environments for the baselines in Python.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;
use xtask::repository;

/// The interpreter of a virtual environment.
pub(crate) fn program(venv: &Path) -> PathBuf {
    let program = if cfg!(windows) {
        "Scripts/python.exe"
    } else {
        "bin/python"
    };
    venv.join(program)
}

/// Makes the virtual environment, unless it already has what the list of requirements names. A package
/// that cannot be had does not keep the others away.
pub(crate) fn install(list: &Path, venv: &Path) -> Result<()> {
    let wanted = fs::read_to_string(list)?;
    // Written last: an installation that failed has none.
    let stamp = venv.join("requirements.txt");
    if fs::read_to_string(&stamp).ok().as_deref() == Some(wanted.as_str()) {
        return Ok(());
    }
    let python = if cfg!(windows) { "python" } else { "python3" };
    repository::run(Command::new(python).args(["-m", "venv"]).arg(venv))?;
    let pip = || {
        let mut command = Command::new(program(venv));
        command.args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
        ]);
        command
    };
    eprintln!("installing {} into {}", list.display(), venv.display());
    if repository::run(pip().arg("-r").arg(list)).is_err() {
        let packages = wanted.lines().filter(|line| !line.starts_with('#'));
        for package in packages.filter(|line| !line.trim().is_empty()) {
            repository::run(pip().arg(package))
                .unwrap_or_else(|error| eprintln!("{package}: {error:#}"));
        }
        return Ok(());
    }
    Ok(fs::write(stamp, wanted)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_requirement_is_pinned() {
        let folder = repository::root().join("tools/bench/baselines/python");
        for list in ["requirements.txt", "vectors/requirements.txt"] {
            let list = fs::read_to_string(folder.join(list)).unwrap();
            let packages = list.lines().filter(|line| !line.starts_with('#'));
            assert!(packages.clone().count() > 3);
            assert!(packages.into_iter().all(|line| line.contains("==")));
        }
    }
}
