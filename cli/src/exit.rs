//! The ways a command ends.

/// How a command ended; its number is the status of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// Something was found, or the work is done.
    Found = 0,
    /// The question was fine, nothing answers it; or the file is not what its folders hold now.
    Nothing = 1,
    /// Something went wrong and was reported.
    Error = 2,
    /// Ctrl-C stopped it: what shells say of a process that the signal ended.
    Interrupted = 130,
}
