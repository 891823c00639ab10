//! The folders that clients may index.

use std::io;
use std::path::{Path, PathBuf};

use crate::response::{ToolError, short};

/// The folders that clients may index, with symbolic links resolved.
#[derive(Debug)]
pub(crate) struct Roots {
    allowed: Vec<PathBuf>,
}

impl Roots {
    /// The given folders, or the working directory if there are none.
    ///
    /// # Errors
    /// The first folder that cannot be resolved.
    pub(super) fn new(given: &[PathBuf]) -> Result<Roots, (PathBuf, io::Error)> {
        let here = [PathBuf::from(".")];
        let given = if given.is_empty() { &here } else { given };
        let real = |path: &PathBuf| path.canonicalize().map_err(|error| (path.clone(), error));
        let allowed: Result<_, _> = given.iter().map(real).collect();
        Ok(Roots { allowed: allowed? })
    }

    /// No folder, for a server that does not write.
    pub(super) fn none() -> Roots {
        Roots {
            allowed: Vec::new(),
        }
    }

    /// The real path of a folder, if it is in an allowed one.
    ///
    /// # Errors
    /// `PATH_NOT_ALLOWED`, or `PATH_NOT_FOUND`: only for paths in allowed folders, so that a client does
    /// not learn what else is there.
    pub(crate) fn folder(&self, path: &str) -> Result<PathBuf, ToolError> {
        let Ok(real) = Path::new(path).canonicalize() else {
            if !path.is_empty() && !self.would_hold(Path::new(path)) {
                return Err(self.outside(path));
            }
            let sentence = format!("path: {:?} does not exist", short(path));
            return Err(ToolError::new("PATH_NOT_FOUND", sentence)
                .with_hint("Give the absolute path of a folder on the server's machine"));
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

    /// Checks again that an allowed folder has not been replaced by a link to another one.
    pub(crate) fn check_still(&self, folder: &Path) -> Result<(), ToolError> {
        match folder.canonicalize() {
            Ok(real) if real == folder && self.holds(&real) => Ok(()),
            Ok(_) => Err(self.outside(&folder.to_string_lossy())),
            Err(_) => {
                let name = folder.to_string_lossy();
                let sentence = format!("path: {:?} no longer exists", short(&name));
                Err(ToolError::new("PATH_NOT_FOUND", sentence))
            }
        }
    }

    /// The allowed folders, for the engine to check each file against.
    pub(crate) fn allowed(&self) -> &[PathBuf] {
        &self.allowed
    }

    fn holds(&self, real: &Path) -> bool {
        self.allowed.iter().any(|root| real.starts_with(root))
    }

    /// Whether the deepest existing folder above a path is in an allowed one.
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
            format!("path: {path:?} is outside the folders that may be indexed"),
        )
        .with_hint(format!(
            "Allowed are {} and their subfolders",
            allowed.join(", ")
        ))
    }
}
