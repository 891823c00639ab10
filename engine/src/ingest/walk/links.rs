//! Symbolic links that are followed: where they may lead.

use std::path::{Path, PathBuf};

use crate::ingest::source::names::is_own_file;

/// Where links of a root may lead.
#[derive(Debug, Clone)]
pub(super) struct Links {
    /// The folder of the root.
    pub(super) root: PathBuf,
    /// Folders of other roots: their files belong to these.
    pub(super) elsewhere: Vec<PathBuf>,
    /// The folders that everything must lie in; `None`: any.
    pub(super) within: Option<Vec<PathBuf>>,
}

/// A link that is followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    /// Where it leads, absolute and without links.
    pub(super) real: PathBuf,
    pub(super) is_folder: bool,
}

impl Links {
    /// Where the link at `path` leads; else why it is not followed.
    pub(super) fn target(&self, path: &Path) -> Result<Target, String> {
        let real = std::fs::canonicalize(path)
            .map_err(|error| format!("symbolic link that leads nowhere: {error}"))?;
        let metadata = std::fs::symlink_metadata(&real)
            .map_err(|error| format!("symbolic link that leads nowhere: {error}"))?;
        let reason = if real.starts_with(&self.root) {
            "symbolic link to a place in the same folder"
        } else if self.root.starts_with(&real) {
            "symbolic link to a folder around this one"
        } else if self.is_elsewhere(&real) {
            "symbolic link to another indexed folder"
        } else if !self.is_within(&real) {
            "symbolic link to a place that may not be read"
        } else if real
            .file_name()
            .is_some_and(|name| name == ".git" || is_own_file(name))
        {
            "symbolic link to what is not indexed"
        } else if metadata.is_dir() || metadata.is_file() {
            let is_folder = metadata.is_dir();
            return Ok(Target { real, is_folder });
        } else {
            "symbolic link to what is not a regular file"
        };
        Err(reason.to_owned())
    }

    fn is_elsewhere(&self, real: &Path) -> bool {
        let mut roots = self.elsewhere.iter();
        roots.any(|root| real.starts_with(root) || root.starts_with(real))
    }

    fn is_within(&self, real: &Path) -> bool {
        let is_in = |within: &Vec<PathBuf>| within.iter().any(|allowed| real.starts_with(allowed));
        self.within.as_ref().is_none_or(is_in)
    }
}
