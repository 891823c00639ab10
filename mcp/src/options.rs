//! What a server is started with.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Tells the person who started the server one line; never on stdout.
pub type Note = Arc<dyn Fn(&str) + Send + Sync>;

/// Longest name of an index, in characters.
pub(crate) const NAME_LIMIT: usize = 64;

/// Whether an index may be called that: names stand in addresses and in lists.
pub fn is_index_name(name: &str) -> bool {
    let is_plain =
        |character: char| !character.is_control() && !matches!(character, '/' | '\\' | '=' | ',');
    let is_path_word = name == "." || name == "..";
    let length = name.chars().count();
    (1..=NAME_LIMIT).contains(&length)
        && name.chars().all(is_plain)
        && name.trim() == name
        && !is_path_word
}

/// Hears of every .kb that is opened: those given, and those made later. Its name and its path.
pub type Opened = Arc<dyn Fn(&str, &Path) + Send + Sync>;

/// What a server serves, and what it lets clients do.
#[derive(Clone)]
pub struct Options {
    /// Name and path of each .kb, at least one; names are unique.
    pub files: Vec<(String, PathBuf)>,
    /// Whether the tools that write are offered.
    pub allow_write: bool,
    /// Folders that `index_codebase` may read; empty: the working directory.
    pub allow_roots: Vec<PathBuf>,
    /// Takes the notes of the server.
    pub note: Note,
    /// Hears of the files.
    pub opened: Option<Opened>,
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("files", &self.files)
            .field("allow_write", &self.allow_write)
            .field("allow_roots", &self.allow_roots)
            .finish_non_exhaustive()
    }
}

/// What a server over HTTP is started with beside [`Options`].
#[derive(Debug, Clone, Default)]
pub struct HttpOptions {
    /// `ADDRESS:PORT`; port 0 is any free one.
    pub address: String,
    /// Names that clients may know the server by, beside those of the loopback and its own address.
    pub allow_hosts: Vec<String>,
    /// Web pages that may ask, as `scheme://host:port`, beside those of this machine.
    pub allow_origins: Vec<String>,
    /// The file of tokens; `None`: the user's own where other machines can reach the server, else no
    /// token is asked for.
    pub tokens: Option<PathBuf>,
}

/// Why a server cannot start.
#[derive(Debug)]
pub enum StartError {
    /// A .kb cannot be opened.
    File {
        /// Which one.
        path: PathBuf,
        /// Why.
        error: kb_engine::Error,
    },
    /// The command line asks for what cannot be.
    Usage {
        /// What is wrong.
        message: String,
        /// What would be right.
        hint: Option<String>,
    },
    /// The system refused.
    Io {
        /// What was tried, as a verb: "listen on 127.0.0.1:80".
        action: String,
        /// Its reason.
        error: std::io::Error,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_and_are_no_paths() {
        for name in ["team", "a b", "v1.2", "\u{6587}"] {
            assert!(is_index_name(name), "{name:?}");
        }
        let long = "a".repeat(65);
        for name in [
            "", " a", ".", "..", "a/b", "a\\b", "a\nb", "a=b", "a,b", &long,
        ] {
            assert!(!is_index_name(name), "{name:?}");
        }
    }
}
