//! The options that a server is started with.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Receives notes for the person who started the server, one line each. Never written to stdout.
pub type Note = Arc<dyn Fn(&str) + Send + Sync>;

/// Longest name of an index, in characters.
pub(crate) const NAME_LIMIT: usize = 64;

/// Whether an index may have that name, which becomes part of URIs and of lists: 1 to 64 characters, no
/// control characters, none of `/\=,`, no space at either end, and neither `.` nor `..`.
pub fn is_index_name(name: &str) -> bool {
    let is_plain =
        |character: char| !character.is_control() && !matches!(character, '/' | '\\' | '=' | ',');
    let is_relative = name == "." || name == "..";
    let length = name.chars().count();
    (1..=NAME_LIMIT).contains(&length)
        && name.chars().all(is_plain)
        && name.trim() == name
        && !is_relative
}

/// Called with name and path of every .kb that is opened: those given, and those created later.
pub type Opened = Arc<dyn Fn(&str, &Path) + Send + Sync>;

/// What a server serves, and what it allows clients to do.
#[derive(Clone)]
pub struct Options {
    /// The command that serves the files, as advice names it: `kb mcp`.
    pub command: &'static str,
    /// Name and path of each .kb, at least one; names are unique.
    pub files: Vec<(String, PathBuf)>,
    /// Whether the tools that write are offered.
    pub allow_write: bool,
    /// Folders that `index_codebase` may read; empty: the working directory.
    pub allow_roots: Vec<PathBuf>,
    /// Which tools are offered: `all`, `code`, `docs` or names, with commas between. `None`: all.
    pub tools: Option<String>,
    /// What comes before the name of each tool, so that it differs from those of other servers.
    pub tool_prefix: Option<String>,
    /// Threads that one search may use, 1 to [`THREADS_LIMIT`](kb_engine::THREADS_LIMIT): see
    /// [`Request::threads`](kb_engine::Request::threads).
    pub threads: usize,
    /// Receives the notes of the server.
    pub note: Note,
    /// Called for every file that is opened.
    pub opened: Option<Opened>,
}

#[cfg(test)]
impl Options {
    /// Of a server that reads these files, on one thread, and tells nobody.
    pub(crate) fn reading(files: Vec<(String, PathBuf)>) -> Options {
        Options {
            command: "kb mcp",
            files,
            allow_write: false,
            allow_roots: Vec::new(),
            threads: 1,
            tools: None,
            tool_prefix: None,
            note: Arc::new(|_| ()),
            opened: None,
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("files", &self.files)
            .field("allow_write", &self.allow_write)
            .field("allow_roots", &self.allow_roots)
            .field("threads", &self.threads)
            .finish_non_exhaustive()
    }
}

/// Called with the address for a browser, once a server listens.
pub type Started = Arc<dyn Fn(&str) + Send + Sync>;

/// The options of a server over HTTP, beside [`Options`].
#[derive(Clone, Default)]
pub struct HttpOptions {
    /// `ADDRESS:PORT`; port 0 is any free port.
    pub address: String,
    /// Host names that requests may be for, beside those of the loopback and the server's own address.
    pub allow_hosts: Vec<String>,
    /// Origins that requests may come from, as `scheme://host:port`, beside pages of this machine.
    pub allow_origins: Vec<String>,
    /// The token file. `None`: the user's default file if other machines can reach the server, else no
    /// token is required.
    pub tokens: Option<PathBuf>,
    /// Called once, when the server listens.
    pub started: Option<Started>,
}

impl fmt::Debug for HttpOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpOptions")
            .field("address", &self.address)
            .field("allow_hosts", &self.allow_hosts)
            .field("allow_origins", &self.allow_origins)
            .field("tokens", &self.tokens)
            .finish_non_exhaustive()
    }
}

/// The options of a bridge from stdin and stdout to a server over HTTP.
#[derive(Clone)]
pub struct ConnectOptions {
    /// `http://HOST:PORT/mcp`.
    pub url: String,
    /// The access token, if the server requires one.
    pub token: Option<String>,
    /// Receives the notes of the bridge.
    pub note: Note,
}

impl fmt::Debug for ConnectOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not the token, which is a secret.
        f.debug_struct("ConnectOptions")
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

/// Why a server or a bridge cannot start.
#[derive(Debug)]
pub enum StartError {
    /// The server to connect to does not accept the token, or requires one.
    InvalidToken {
        /// What it said.
        message: String,
        /// What to do about it.
        hint: Option<String>,
    },
    /// The server to connect to cannot be reached, or is not an MCP server.
    NotConnected {
        /// What happened.
        message: String,
        /// What to do about it.
        hint: Option<String>,
    },
    /// A .kb cannot be opened.
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: kb_engine::Error,
    },
    /// The options contradict each other, or one is invalid.
    Usage {
        /// What is wrong.
        message: String,
        /// What to do about it.
        hint: Option<String>,
    },
    /// The system refused an operation.
    Io {
        /// The operation, as a verb: "listen on 127.0.0.1:80".
        action: String,
        /// The reason given by the system.
        error: std::io::Error,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_and_not_paths() {
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
