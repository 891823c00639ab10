//! Errors of reading and changing tokens.

use std::fmt;
use std::io;
use std::path::PathBuf;

use super::token::{NAME_LIMIT, TOKENS_LIMIT};

/// Why tokens cannot be read or changed.
#[derive(Debug)]
#[non_exhaustive]
pub enum TokenError {
    /// The name is not valid: 1 to 64 printable characters.
    Name(String),
    /// There is a token of that name already.
    Taken(String),
    /// There is no token of that name.
    Unknown {
        /// The name as given.
        name: String,
        /// The names of all tokens.
        names: Vec<String>,
    },
    /// The file has [`TOKENS_LIMIT`] tokens.
    Full,
    /// Other users can read the file.
    Exposed(PathBuf),
    /// The file is no token file, or damaged.
    Unreadable(PathBuf),
    /// The system refused an operation on the file.
    Io {
        /// The file.
        path: PathBuf,
        /// The reason given by the system.
        error: io::Error,
    },
}

impl TokenError {
    /// What to do about it, if that is known.
    pub fn hint(&self) -> Option<String> {
        match self {
            TokenError::Name(_) => Some(format!("give 1 to {NAME_LIMIT} printable characters")),
            TokenError::Taken(name) => {
                Some(format!("revoke {name:?} first, or choose another name"))
            }
            TokenError::Unknown { names, .. } => match names.as_slice() {
                [] => None,
                [only] => Some(format!("the only token is {only}")),
                several => Some(format!("the tokens are {}", several.join(", "))),
            },
            TokenError::Full => Some("revoke one that is no longer used".to_owned()),
            TokenError::Exposed(path) => Some(format!("chmod 600 {}", path.display())),
            _ => None,
        }
    }
}

impl fmt::Display for TokenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TokenError::Name(name) => write!(f, "{name:?} is not a valid token name"),
            TokenError::Taken(name) => write!(f, "a token is already called {name:?}"),
            TokenError::Unknown { name, .. } => write!(f, "no token is called {name:?}"),
            TokenError::Full => write!(f, "there are already {TOKENS_LIMIT} tokens, the maximum"),
            TokenError::Exposed(path) => {
                write!(f, "other users can read {}", path.display())
            }
            TokenError::Unreadable(path) => {
                write!(f, "{} is not a token file, or is damaged", path.display())
            }
            TokenError::Io { path, error } => write!(f, "{}: {error}", path.display()),
        }
    }
}

impl std::error::Error for TokenError {}
