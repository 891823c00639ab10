//! Locks on single bytes of the file.

use std::fs::File;
use std::io;
use std::ops::Bound;

#[cfg(unix)]
use redb::StorageBackend;
use redb::backends::FileBackend;

/// Locked exclusively by the writer. Lies between the ranges that redb locks, in the part that it
/// leaves to backends.
// Locks work beyond the end of a file, so no byte of data is touched. redb leaves 896..1024 behind
// 1 << 62 to backends (`BACKEND_LOCK_RANGE`) and uses the first two itself; this number is free in
// it.
pub(crate) const WRITER_BYTE: u64 = (1 << 62) + 900;

/// Locked shared by readers that ask for time.
// A byte of its own: the writer holds [`WRITER_BYTE`] exclusively while readers take this one.
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
        // A clone of the handle: the lock belongs to the open file, which both share, and
        // `FileBackend` wants to own one.
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

#[cfg(unix)]
fn locks_of(file: &File) -> io::Result<FileBackend> {
    FileBackend::new(file.try_clone()?).map_err(io::Error::other)
}

#[cfg(unix)]
impl Drop for ByteLock {
    fn drop(&mut self) {
        // The lock would outlive this value as long as another handle of the same open file does. A
        // fork copies this value. Closing there would unlock the byte for the parent, which still
        // writes.
        if self.process_id == std::process::id() {
            let _ = self.locks.close();
        }
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
