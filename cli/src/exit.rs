//! The three ways a command ends.

use std::process::ExitCode;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Something was found, or the work is done.
    Found,
    /// The question was fine, nothing answers it; or the file is not what its folders hold now.
    Nothing,
    /// Something went wrong and was reported.
    Error,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(match exit {
            Exit::Found => 0,
            Exit::Nothing => 1,
            Exit::Error => 2,
        })
    }
}
