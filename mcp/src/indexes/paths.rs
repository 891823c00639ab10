//! Which folders a client may have indexed, and which names an upload may have.

use std::io;
use std::path::{Path, PathBuf};

use crate::response::{ToolError, short};

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

    /// None, for a server that does not write.
    pub(super) fn none() -> Roots {
        Roots {
            allowed: Vec::new(),
        }
    }

    /// The folder itself, where it lies in one of ours with all symbolic links followed.
    pub(crate) fn folder(&self, path: &str) -> Result<PathBuf, ToolError> {
        let Ok(real) = Path::new(path).canonicalize() else {
            // Whether something is there is told of what lies in ours only.
            if !path.is_empty() && !self.would_hold(Path::new(path)) {
                return Err(self.outside(path));
            }
            let sentence = format!("path: {:?} does not exist", short(path));
            return Err(ToolError::new("PATH_NOT_FOUND", sentence)
                .with_hint("Give an absolute path of a folder on the machine of the server"));
        };
        if !self.holds(&real) {
            return Err(self.outside(path));
        }
        if !real.is_dir() {
            return Err(ToolError::new(
                "PATH_NOT_FOUND",
                format!("path: {:?} is not a folder", short(path)),
            ));
        }
        Ok(real)
    }

    /// Whether a folder that was allowed still is where it was, behind no link.
    pub(crate) fn check_still(&self, folder: &Path) -> Result<(), ToolError> {
        match folder.canonicalize() {
            Ok(real) if real == folder && self.holds(&real) => Ok(()),
            Ok(_) => Err(self.outside(&folder.to_string_lossy())),
            Err(_) => {
                let name = folder.to_string_lossy();
                let sentence = format!("path: {:?} is not there any more", short(&name));
                Err(ToolError::new("PATH_NOT_FOUND", sentence))
            }
        }
    }

    /// The folders themselves, for the engine to keep to.
    pub(crate) fn allowed(&self) -> &[PathBuf] {
        &self.allowed
    }

    fn holds(&self, real: &Path) -> bool {
        self.allowed.iter().any(|root| real.starts_with(root))
    }

    /// Whether the deepest folder above a path that is there lies in one of ours.
    fn would_hold(&self, path: &Path) -> bool {
        let path = std::path::absolute(path).unwrap_or_default();
        let above = path.ancestors().find_map(|above| above.canonicalize().ok());
        above.is_some_and(|above| self.holds(&above))
    }

    fn outside(&self, path: &str) -> ToolError {
        let allowed = self.allowed.iter();
        let allowed: Vec<String> = allowed.map(|root| root.display().to_string()).collect();
        let path = short(path);
        ToolError::new(
            "PATH_NOT_ALLOWED",
            format!("path: {path:?} lies outside the folders that may be indexed"),
        )
        .with_hint(format!(
            "Allowed are {} and what lies below",
            allowed.join(", ")
        ))
    }
}
