//! Access tokens of HTTP clients: a file with their hashes, kept where only its owner reads it.
//!
//! A token is shown once, when it is made. `secret` makes, hashes and compares them, `store` reads
//! and writes the file, `file` knows how it looks. Nothing here knows HTTP: [`Tokens::check`] takes the text of a header.

mod file;
mod secret;
mod store;

use std::fmt;
use std::io;
use std::path::PathBuf;

use kb_engine::escape::is_hidden;

pub(crate) use secret::Hash;
pub use store::{Tokens, default_path};

/// Most tokens of one file.
pub const TOKENS_LIMIT: usize = 10;

/// Longest name, in characters.
const NAME_LIMIT: usize = 64;

/// What is known of a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenInfo {
    /// What its owner calls it.
    pub name: String,
    /// Whether it lets a client write.
    pub may_write: bool,
    /// When it was made, in milliseconds since 1970.
    pub created_ms: i64,
    /// When it was last used, to the minute; `None`: not yet.
    pub last_used_ms: Option<i64>,
}

/// What a token allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    /// Name of the token.
    pub name: String,
    /// Whether it lets a client write.
    pub may_write: bool,
    /// Which token it is; another one may have its name later.
    pub(crate) hash: Hash,
}

/// Why tokens cannot be read or changed.
#[derive(Debug)]
#[non_exhaustive]
pub enum TokenError {
    /// No name for a token: 1 to 64 printable characters.
    Name(String),
    /// There is one of that name.
    Taken(String),
    /// There is none of that name.
    Unknown {
        /// As given.
        name: String,
        /// Those that there are.
        names: Vec<String>,
    },
    /// There are as many as there may be.
    Full,
    /// Others may read the file.
    Exposed(PathBuf),
    /// The file is none of ours, or damaged.
    Unreadable(PathBuf),
    /// The system refused.
    Io {
        /// The file.
        path: PathBuf,
        /// Its reason.
        error: io::Error,
    },
}

impl TokenError {
    /// What to do about it, if that is known.
    pub fn hint(&self) -> Option<String> {
        match self {
            TokenError::Name(_) => Some(format!("give 1 to {NAME_LIMIT} printable characters")),
            TokenError::Taken(name) => Some(format!("revoke {name:?} first, or take another name")),
            TokenError::Unknown { names, .. } if !names.is_empty() => {
                Some(format!("there are {}", names.join(", ")))
            }
            TokenError::Full => Some("revoke one that is not used any more".to_owned()),
            TokenError::Exposed(path) => Some(format!("chmod 600 {}", path.display())),
            _ => None,
        }
    }
}

impl fmt::Display for TokenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TokenError::Name(name) => write!(f, "{name:?} cannot be the name of a token"),
            TokenError::Taken(name) => write!(f, "there is a token {name:?} already"),
            TokenError::Unknown { name, .. } => write!(f, "no token is called {name:?}"),
            TokenError::Full => write!(f, "there are {TOKENS_LIMIT} tokens, and no more can be"),
            TokenError::Exposed(path) => {
                write!(f, "others than its owner may read {}", path.display())
            }
            TokenError::Unreadable(path) => {
                write!(f, "{} does not hold tokens, or is damaged", path.display())
            }
            TokenError::Io { path, error } => write!(f, "{}: {error}", path.display()),
        }
    }
}

impl std::error::Error for TokenError {}

/// Whether a token may be called that.
fn is_name(name: &str) -> bool {
    let length = name.chars().count();
    (1..=NAME_LIMIT).contains(&length) && name.trim() == name && !name.chars().any(is_hidden)
}
