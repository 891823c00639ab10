//! Facts of the workspace that packages state.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result};
use xtask::repository::root;

/// The text of a key that stands once in the manifest of the workspace, such as `version` or `repository`.
pub(super) fn workspace_value(key: &str) -> Result<String> {
    let manifest = fs::read_to_string(root().join("Cargo.toml"))?;
    let start = format!("{key} = \"");
    let line = manifest.lines().find_map(|line| line.strip_prefix(&start));
    let value = line.and_then(|rest| rest.split('"').next());
    Ok(value
        .with_context(|| format!("no {key} in Cargo.toml"))?
        .to_owned())
}

/// When the commit was made, in seconds since 1970: the time of all files in packages, so that the same commit makes the same
/// bytes. 0 without git.
pub(super) fn commit_time() -> String {
    let mut git = Command::new("git");
    git.args(["log", "-1", "--format=%ct"]).current_dir(root());
    let output = git.output().map(|output| output.stdout);
    let time = String::from_utf8(output.unwrap_or_default()).unwrap_or_default();
    match time.trim() {
        "" => "0".to_owned(),
        time => time.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_packages_is_that_of_the_commit() {
        let seconds: u64 = commit_time().parse().unwrap();
        // Debian's lintian calls files from before 1984 ancient.
        let is_recent = seconds > 1_700_000_000;
        assert!(is_recent || !root().join(".git").exists(), "{seconds}");
    }

    #[test]
    fn values_of_the_workspace_are_found() {
        assert_eq!(workspace_value("edition").unwrap(), "2024");
        assert!(
            workspace_value("repository")
                .unwrap()
                .starts_with("https://")
        );
        assert!(workspace_value("nothing").is_err());
    }
}
