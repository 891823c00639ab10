//! Locks on single bytes of the file, and how long to wait for them.

use crate::container::disk::open_for_writing;
use crate::container::is_same_file;
use crate::container::writer_record::locked_by_writer;
use crate::error::{Error, Result};
#[cfg(unix)]
use redb::StorageBackend;
#[cfg(unix)]
use redb::backends::FileBackend;
use std::fs::{self, File};
use std::io;
#[cfg(unix)]
use std::ops::Bound;
use std::path::Path;
use std::time::{Duration, Instant};

/// Locked exclusively by the writer. Lies between the ranges that redb locks, in the part that it
/// leaves to backends.
pub(crate) const WRITER_BYTE: u64 = (1 << 62) + 900;

/// Locked shared by readers that ask for time.
pub(crate) const LEASE_BYTE: u64 = (1 << 62) + 901;

/// A lock on one byte, released when it is dropped. The lock belongs to the open file, not to the
/// process: opened twice, a file conflicts with itself.
#[derive(Debug)]
pub(crate) struct ByteLock {
    /// redb's way to lock ranges on this system.
    #[cfg(unix)]
    locks: FileBackend,
    /// The process that took it. A forked one has the same open file, so it could release the lock.
    #[cfg(unix)]
    process_id: u32,
}

#[cfg(unix)]
impl ByteLock {
    /// Takes the byte alone; `None` when another holds it.
    pub(crate) fn exclusive(file: &File, byte: u64) -> io::Result<Option<ByteLock>> {
        let locks = locks_of(file)?;
        let taken = locks.try_lock_range(Bound::Included(byte), Bound::Included(byte))?;
        Ok(taken.then(|| ByteLock::of(locks)))
    }

    /// Takes the byte together with others; `None` when one holds it alone.
    pub(crate) fn shared(file: &File, byte: u64) -> io::Result<Option<ByteLock>> {
        let locks = locks_of(file)?;
        let taken = locks.try_lock_shared_range(Bound::Included(byte), Bound::Included(byte))?;
        Ok(taken.then(|| ByteLock::of(locks)))
    }

    fn of(locks: FileBackend) -> ByteLock {
        ByteLock {
            locks,
            process_id: std::process::id(),
        }
    }

    /// Whether another open file holds the byte in any way.
    pub(crate) fn is_held(file: &File, byte: u64) -> io::Result<bool> {
        let held =
            locks_of(file)?.query_lock_range(Bound::Included(byte), Bound::Included(byte))?;
        Ok(held)
    }
}

#[cfg(unix)]
fn locks_of(file: &File) -> io::Result<FileBackend> {
    FileBackend::new(file.try_clone()?).map_err(io::Error::other)
}

#[cfg(unix)]
impl Drop for ByteLock {
    fn drop(&mut self) {
        // The lock would outlive this value as long as another handle of the same open file does.
        if self.process_id == std::process::id() {
            let _ = self.locks.close();
        }
    }
}

/// Locks of Windows would keep readers out of the locked bytes. There the writer opens the file so
/// that nobody else can open it for writing, and readers cannot ask for time.
#[cfg(not(unix))]
impl ByteLock {
    pub(crate) fn exclusive(_: &File, _: u64) -> io::Result<Option<ByteLock>> {
        Ok(Some(ByteLock {}))
    }

    pub(crate) fn shared(_: &File, _: u64) -> io::Result<Option<ByteLock>> {
        Ok(None)
    }

    pub(crate) fn is_held(_: &File, _: u64) -> io::Result<bool> {
        Ok(false)
    }
}

/// Between two tries to get a lock.
const RETRY_INTERVAL: Duration = Duration::from_millis(50);

/// Renames that may overtake one attempt to lock a file.
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
        if !fs::metadata(path).map_err(opening)?.is_file() {
            return Err(Error::NotAKb {
                reason: "it is a folder or a device",
            });
        }
        let file = open_for_writing(path)?;
        let Some(lock) = ByteLock::exclusive(&file, WRITER_BYTE).map_err(opening)? else {
            return Err(locked_by_writer(&file));
        };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_is_held_by_one_open_file_until_the_lock_is_dropped() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let other = file.reopen().unwrap();
        let lock = ByteLock::exclusive(file.as_file(), WRITER_BYTE).unwrap();
        assert!(lock.is_some());
        assert!(ByteLock::exclusive(&other, WRITER_BYTE).unwrap().is_none());
        assert!(ByteLock::is_held(&other, WRITER_BYTE).unwrap());
        assert!(ByteLock::shared(&other, LEASE_BYTE).unwrap().is_some());
        drop(lock);
        assert!(!ByteLock::is_held(&other, WRITER_BYTE).unwrap());
        assert!(ByteLock::exclusive(&other, WRITER_BYTE).unwrap().is_some());
    }
}
