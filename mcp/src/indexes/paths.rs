//! Which folders a client may have indexed, and which names an upload may have.

use std::io;
use std::path::{Path, PathBuf};

use crate::answer::ToolError;

/// The folders that clients may have indexed, without symbolic links.
#[derive(Debug)]
pub(crate) struct Roots {
    allowed: Vec<PathBuf>,
}

impl Roots {
    /// Those given; none given: the working directory.
    pub(super) fn new(given: &[PathBuf]) -> Result<Roots, (PathBuf, io::Error)> {
        let here = [PathBuf::from(".")];
        let given = if given.is_empty() { &here } else { given };
        let real = |path: &PathBuf| path.canonicalize().map_err(|error| (path.clone(), error));
        let allowed: Result<_, _> = given.iter().map(real).collect();
        Ok(Roots { allowed: allowed? })
    }

    /// The folder itself, where it lies in one of ours with all symbolic links followed.
    pub(crate) fn folder(&self, path: &str) -> Result<PathBuf, ToolError> {
        let real = Path::new(path).canonicalize().map_err(|_| {
            ToolError::new("PATH_NOT_FOUND", format!("path: {path:?} does not exist"))
                .with_hint("Give an absolute path of a folder on the machine of the server")
        })?;
        if !self.allowed.iter().any(|root| real.starts_with(root)) {
            let allowed: Vec<String> = self
                .allowed
                .iter()
                .map(|root| root.display().to_string())
                .collect();
            return Err(ToolError::new(
                "PATH_NOT_ALLOWED",
                format!("path: {path:?} lies outside the folders that may be indexed"),
            )
            .with_hint(format!(
                "Allowed are {} and what lies below",
                allowed.join(", ")
            )));
        }
        if !real.is_dir() {
            return Err(ToolError::new(
                "PATH_NOT_FOUND",
                format!("path: {path:?} is not a folder"),
            ));
        }
        Ok(real)
    }
}
