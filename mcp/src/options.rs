//! What a server is started with.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// Tells the person who started the server one line; never on stdout.
pub type Note = Arc<dyn Fn(&str) + Send + Sync>;

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
