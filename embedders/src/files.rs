//! Reads files of models, whose sizes are not trusted.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use kb_types::{EmbedError, ModelFile};
use serde::de::DeserializeOwned;

/// Most bytes of a file of settings. Those of known models have less than 100 KB.
const SETTINGS_LIMIT_BYTES: u64 = 4 << 20;

/// The file that says where a downloaded model is from. It becomes a part of `NOTICE.txt`.
pub(crate) const ORIGIN: &str = "kb-origin.txt";

/// Most bytes of a licence that is kept with a model.
const LICENCE_LIMIT_BYTES: u64 = 1 << 20;
/// Most licences that are kept with a model.
const LICENCES_LIMIT: usize = 16;

/// Where the files of a model are.
pub(crate) enum Files {
    /// On disk.
    Disk,
    /// In a .kb; their paths begin with the name.
    Kept(Vec<ModelFile>),
}

impl Files {
    fn kept(&self, path: &Path) -> Option<&ModelFile> {
        match self {
            Files::Disk => None,
            Files::Kept(files) => files.iter().find(|file| Path::new(&file.name) == path),
        }
    }

    /// As [`read`].
    pub(crate) fn read(&self, path: &Path, limit_bytes: u64) -> Result<Vec<u8>, EmbedError> {
        match (self, self.kept(path)) {
            (Files::Disk, _) => read(path, limit_bytes),
            (_, Some(file)) if file.bytes.len() as u64 > limit_bytes => Err(EmbedError::Budget {
                limit: format!("{limit_bytes} bytes of {}", path.display()),
            }),
            (_, Some(file)) => Ok(file.bytes.clone()),
            (_, None) => Err(EmbedError::Missing {
                what: path.display().to_string(),
            }),
        }
    }

    /// As [`read_settings`].
    pub(crate) fn read_settings<T: DeserializeOwned>(
        &self,
        path: &Path,
    ) -> Result<Option<T>, EmbedError> {
        match self.read(path, SETTINGS_LIMIT_BYTES) {
            Ok(bytes) => from_json(path, &bytes).map(Some),
            Err(EmbedError::Missing { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Files of a model on disk, with the names that they get in a .kb.
#[derive(Debug, Clone, Default)]
pub(crate) struct Origin(Vec<(String, PathBuf)>);

impl Origin {
    /// A file that makes the model.
    pub(crate) fn add(&mut self, name: &str, path: &Path) {
        self.0.push((name.to_owned(), path.to_path_buf()));
    }

    /// Reads all files, the settings of a folder, and the licences beside them.
    ///
    /// # Errors
    /// As [`read`]; [`EmbedError::Unfit`] for a model that is in a .kb itself.
    pub(crate) fn read(
        &self,
        home: &Path,
        settings: &[&str],
    ) -> Result<Vec<ModelFile>, EmbedError> {
        if self.0.is_empty() {
            return Err(EmbedError::Unfit {
                reason: "its files are in another .kb".to_owned(),
            });
        }
        let mut files = Vec::new();
        for (name, path) in &self.0 {
            files.push(ModelFile {
                name: name.clone(),
                bytes: read(path, u64::MAX >> 1)?,
            });
        }
        let licences = licences(home);
        let optional = settings.iter().map(|name| (*name).to_owned());
        let optional = optional.map(|name| (name, SETTINGS_LIMIT_BYTES));
        let licences = licences.into_iter().map(|name| (name, LICENCE_LIMIT_BYTES));
        for (name, limit_bytes) in optional.chain(licences) {
            match read(&home.join(&name), limit_bytes) {
                Ok(bytes) => files.push(ModelFile { name, bytes }),
                Err(EmbedError::Missing { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(files)
    }
}

/// Names of the licences in the folder of a model. Who gives weights away gives these with them.
fn licences(home: &Path) -> Vec<String> {
    let list = |folder: &str| {
        let entries = fs::read_dir(home.join(folder)).into_iter().flatten();
        let names = entries.flatten().filter(|entry| entry.path().is_file());
        let names = names.filter_map(|entry| entry.file_name().into_string().ok());
        names.collect::<Vec<String>>()
    };
    let is_licence = |name: &String| {
        let name = name.to_ascii_lowercase();
        name.starts_with("licen") || name.starts_with("notice")
    };
    let own = list("").into_iter().filter(is_licence);
    let of_folder = list("licences").into_iter();
    let of_folder = of_folder.map(|name| format!("licences/{name}"));
    let mut names: Vec<String> = own.chain(of_folder).collect();
    names.sort();
    names.truncate(LICENCES_LIMIT);
    names
}

/// The bytes of a file.
///
/// # Errors
/// [`EmbedError::Missing`] if there is no such file, [`EmbedError::Budget`] if it is longer than `limit_bytes`, and
/// [`EmbedError::Unfit`] if it is no regular file or cannot be read.
pub(crate) fn read(path: &Path, limit_bytes: u64) -> Result<Vec<u8>, EmbedError> {
    let unreadable = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => EmbedError::Missing {
            what: path.display().to_string(),
        },
        _ => EmbedError::Unfit {
            reason: format!("{}: {error}", path.display()),
        },
    };
    // Asked before opening: a pipe would wait for its other end.
    let metadata = path.metadata().map_err(unreadable)?;
    if !metadata.is_file() {
        return Err(EmbedError::Unfit {
            reason: format!("{} is not a file", path.display()),
        });
    }
    let too_long = || EmbedError::Budget {
        limit: format!("{limit_bytes} bytes of {}", path.display()),
    };
    if metadata.len() > limit_bytes {
        return Err(too_long());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0));
    // The file may grow meanwhile.
    File::open(path)
        .and_then(|file| file.take(limit_bytes + 1).read_to_end(&mut bytes))
        .map_err(unreadable)?;
    if bytes.len() as u64 > limit_bytes {
        return Err(too_long());
    }
    Ok(bytes)
}

/// What a JSON file on disk says; `None` if there is no such file.
///
/// # Errors
/// [`EmbedError::Unfit`] if the file does not say what it should, and the errors of [`read`].
pub(crate) fn read_settings<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, EmbedError> {
    Files::Disk.read_settings(path)
}

/// What the bytes of a JSON file say.
///
/// # Errors
/// [`EmbedError::Unfit`] if they do not say what they should.
pub(crate) fn from_json<T: DeserializeOwned>(path: &Path, bytes: &[u8]) -> Result<T, EmbedError> {
    serde_json::from_slice(bytes).map_err(|error| EmbedError::Unfit {
        reason: format!("{}: {error}", path.display()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_too_long_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, [1; 10]).unwrap();
        assert_eq!(read(&path, 10).unwrap(), [1; 10]);
        assert!(matches!(read(&path, 9), Err(EmbedError::Budget { .. })));
        // Longer than any memory, and takes no space on disk.
        let sparse = File::create(folder.path().join("b")).unwrap();
        sparse.set_len(1 << 40).unwrap();
        let read = read(&folder.path().join("b"), 1 << 30);
        assert!(matches!(read, Err(EmbedError::Budget { .. })), "{read:?}");
    }

    #[test]
    fn what_is_no_file_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let missing = read(&folder.path().join("a"), 10);
        assert!(matches!(missing, Err(EmbedError::Missing { .. })));
        assert!(matches!(
            read(folder.path(), 10),
            Err(EmbedError::Unfit { .. })
        ));
    }
}
