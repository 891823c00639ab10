//! A path as a person gives it.

use std::fs;
use std::path::{Path, PathBuf};

use kb_types::error::{Error, Result};

/// What is asked of the given paths beside being read.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ResolveOptions<'a> {
    /// Whether a path that no longer exists counts when the file knows it.
    pub allow_missing: bool,
    /// The only path is the folder of the root of that name: see
    /// [`crate::IndexOptions::root`].
    pub root: Option<&'a str>,
    /// The folders that every path must lie in: see [`crate::IndexOptions::within`].
    pub within: Option<&'a [PathBuf]>,
}

impl ResolveOptions<'_> {
    /// What a given path is, if it may be indexed.
    pub(super) fn given_path(&self, path: &Path) -> Result<GivenPath> {
        let given = given_path(path)?;
        let folder = match &given {
            GivenPath::Folder(folder) | GivenPath::File { folder, .. } => folder,
            // Nothing is read of it.
            GivenPath::Missing(_) => return Ok(given),
        };
        let is_in = |within: &[PathBuf]| within.iter().any(|allowed| folder.starts_with(allowed));
        if self.within.is_none_or(is_in) {
            Ok(given)
        } else {
            Err(Error::PathNotAllowed {
                path: path.to_owned(),
            })
        }
    }
}

/// What a given path is.
pub(super) enum GivenPath {
    Folder(PathBuf),
    File { folder: PathBuf, name: PathBuf },
    Missing(PathBuf),
}

fn given_path(path: &Path) -> Result<GivenPath> {
    let opening = |error| Error::io("open", path, error);
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return std::path::absolute(path)
                .map(GivenPath::Missing)
                .map_err(opening);
        }
        Err(error) => return Err(opening(error)),
    };
    if metadata.is_dir() {
        return fs::canonicalize(path)
            .map(GivenPath::Folder)
            .map_err(opening);
    }
    if !metadata.is_file() {
        return Err(Error::InvalidArgument {
            argument: "path",
            reason: format!("{} is neither a file nor a folder", path.display()),
        });
    }
    // The folder in which the name stands, also when the name is a link to elsewhere.
    let folder = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let folder = fs::canonicalize(folder.unwrap_or(Path::new("."))).map_err(opening)?;
    let name = path.file_name().map(PathBuf::from).unwrap_or_default();
    Ok(GivenPath::File { folder, name })
}
