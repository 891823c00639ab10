//! Errors of files of vectors: the problem, the row, and what to do.

use std::io;
use std::path::Path;

use crate::failure::Failure;

/// Why a file of vectors cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct VectorFileError {
    code: &'static str,
    /// The problem, with the file and the row.
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

impl VectorFileError {
    /// Returns an error about the whole file.
    pub(crate) fn new(path: &Path, reason: impl AsRef<str>, hint: &str) -> VectorFileError {
        VectorFileError::named(&path.display().to_string(), None, reason, hint)
    }

    /// Returns an error about a row.
    pub(super) fn row(
        path: &Path,
        row: u64,
        reason: impl AsRef<str>,
        hint: &str,
    ) -> VectorFileError {
        VectorFileError::named(&path.display().to_string(), Some(row), reason, hint)
    }

    pub(super) fn named(
        file: &str,
        row: Option<u64>,
        reason: impl AsRef<str>,
        hint: &str,
    ) -> VectorFileError {
        let reason = reason.as_ref();
        let message = match row {
            Some(row) => format!("{file}, row {row}: {reason}"),
            None => format!("{file}: {reason}"),
        };
        VectorFileError {
            code: "INVALID_ARGUMENT",
            message,
            hint: Some(hint.to_owned()),
        }
    }

    /// Returns the error for a file that cannot be read.
    pub(super) fn io(path: &Path, error: &io::Error) -> VectorFileError {
        let code = match error.kind() {
            io::ErrorKind::NotFound => "PATH_NOT_FOUND",
            _ => "IO",
        };
        VectorFileError {
            code,
            message: format!("cannot read {}: {error}", path.display()),
            hint: None,
        }
    }
}

impl From<VectorFileError> for Failure {
    fn from(error: VectorFileError) -> Failure {
        Failure::new(error.code, error.message, error.hint)
    }
}
