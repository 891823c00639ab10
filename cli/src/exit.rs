//! Exit statuses.

/// How a command ended; the number is the exit status of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// Something was found, or the command is done.
    Found = 0,
    /// Nothing was found, or the file differs from its folders.
    Nothing = 1,
    /// An error was reported.
    Error = 2,
    /// Ctrl-C stopped the command; shells use this status for a process that SIGINT ended.
    Interrupted = 130,
}
