//! Values of the manifest of the workspace.

use std::fs;

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

#[cfg(test)]
mod tests {
    use super::*;

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
