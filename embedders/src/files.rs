//! Reads files of models, whose sizes are not trusted.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use kb_types::EmbedError;
use serde::de::DeserializeOwned;

/// Most bytes of a file of settings. Those of known models have less than 100 KB.
const SETTINGS_LIMIT_BYTES: u64 = 4 << 20;

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

/// What a JSON file says; `None` if there is no such file.
///
/// # Errors
/// [`EmbedError::Unfit`] if the file does not say what it should, and the errors of [`read`].
pub(crate) fn read_settings<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, EmbedError> {
    match read(path, SETTINGS_LIMIT_BYTES) {
        Ok(bytes) => from_json(path, &bytes).map(Some),
        Err(EmbedError::Missing { .. }) => Ok(None),
        Err(error) => Err(error),
    }
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
