//! Errors of changes to the configuration of a host.

use std::fmt;

/// Why a configuration cannot be changed. It was not.
#[derive(Debug)]
pub enum InstallError {
    /// The file is not what the host reads, for this reason.
    Broken(String),
    /// Another server has the name.
    NameTaken,
    /// This server has the name, and serves other files: these.
    ServesOthers(Vec<String>),
    /// The system refused to read or write it.
    Io(std::io::Error),
}

impl fmt::Display for InstallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InstallError::Broken(reason) => write!(f, "it cannot be read: {reason}"),
            InstallError::NameTaken => f.write_str("another server has that name"),
            InstallError::ServesOthers(what) => {
                write!(
                    f,
                    "the server of that name serves other files: {}",
                    what.join(", ")
                )
            }
            InstallError::Io(error) => error.fmt(f),
        }
    }
}

impl From<std::io::Error> for InstallError {
    fn from(error: std::io::Error) -> InstallError {
        InstallError::Io(error)
    }
}
