//! The lock of the one writer, and how long to wait for it.

use std::fs;
use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

use kb_types::error::{Error, Result};

use crate::container::read::byte_lock::{ByteLock, WRITER_BYTE};
use crate::container::read::mapped_file::is_same_file;
use crate::container::write::disk::open_for_writing;
use crate::container::write::identity::locked_by_writer;

/// Pause between two attempts to get the lock.
// Locks of byte ranges cannot be waited for with a time limit, so they are polled. 50 ms is short
// beside a commit (174 ms for one changed file among 114,648 chunks) and costs 20 system calls a
// second.
const RETRY_INTERVAL: Duration = Duration::from_millis(50);

/// Attempts to lock a file that others keep replacing.
// Each attempt fails only if a rename falls between opening and locking. Ten in a row mean programs
// that replace the file in a loop, and an endless wait would hide that.
pub(crate) const MAX_REOPENS: usize = 10;

/// How long a writer still waits for others.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LockTimeout {
    /// Since when.
    started: Instant,
    /// How long at most.
    most: Duration,
}

impl LockTimeout {
    /// Waits from now on; zero: one try.
    pub(crate) fn new(most: Duration) -> LockTimeout {
        LockTimeout {
            started: Instant::now(),
            most,
        }
    }

    /// Repeats `attempt` while it says that the file is locked. It must open the file anew, because
    /// the one that it finds locked may be renamed over.
    pub(crate) fn retry<T>(&self, mut attempt: impl FnMut() -> Result<T>) -> Result<T> {
        loop {
            let result = attempt();
            let left = self.most.saturating_sub(self.started.elapsed());
            match result {
                Err(Error::IndexLocked { .. }) if !left.is_zero() => {
                    std::thread::sleep(left.min(RETRY_INTERVAL));
                }
                result => return result,
            }
        }
    }
}

/// Opens and locks the file that `path` names, also when another is renamed over it meanwhile.
pub(crate) fn lock_file(path: &Path) -> Result<(File, ByteLock)> {
    let opening = |source| Error::io("open", path, source);
    for _ in 0..MAX_REOPENS {
        // Before it is opened: opening a pipe waits for its other end.
        if !fs::metadata(path).map_err(opening)?.is_file() {
            return Err(Error::NotAKb {
                reason: "it is a folder or a device",
            });
        }
        let file = open_for_writing(path)?;
        let Some(lock) = ByteLock::exclusive(&file, WRITER_BYTE).map_err(opening)? else {
            return Err(locked_by_writer(&file));
        };
        // A seal or rebuild may have renamed a new file over the path between opening and locking.
        // Writing to the old one would lose the changes.
        let named = fs::metadata(path).map_err(opening)?;
        if is_same_file(&named, &file.metadata().map_err(opening)?) {
            return Ok((file, lock));
        }
    }
    Err(replaced_too_often())
}

/// The error when every file that was locked had lost its name by then.
pub(crate) fn replaced_too_often() -> Error {
    Error::IndexLocked {
        holder: "programs that keep replacing it".to_owned(),
    }
}
