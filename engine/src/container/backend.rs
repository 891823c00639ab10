//! What redb writes through, and locks on single bytes of the file.

use crate::error::{Error, Result};
use redb::backends::FileBackend;
use redb::{BackendError, StorageBackend};
use std::fs::File;
use std::io;
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Locked exclusively by the writer. Lies between the ranges that redb locks, in the part that it
/// leaves to backends.
pub(crate) const WRITER_BYTE: u64 = (1 << 62) + 900;

/// Locked shared by readers that ask for time.
pub(crate) const HOLD_BYTE: u64 = (1 << 62) + 901;

/// Pages above this are extents; smaller ones replace older pages of the tree.
const LARGEST_TREE_WRITE: usize = 64 << 10;

/// A lock on one byte, released when it is dropped. The lock belongs to the open file, not to the
/// process: opened twice, a file conflicts with itself.
#[derive(Debug)]
pub(crate) struct ByteLock {
    /// redb's way to lock ranges on this system.
    #[cfg(unix)]
    locks: FileBackend,
}

#[cfg(unix)]
impl ByteLock {
    /// Takes the byte alone; `None` when another holds it.
    pub(crate) fn exclusive(file: &File, byte: u64) -> io::Result<Option<ByteLock>> {
        let locks = locks_of(file)?;
        let taken = locks.try_lock_range(Bound::Included(byte), Bound::Included(byte))?;
        Ok(taken.then_some(ByteLock { locks }))
    }

    /// Takes the byte together with others; `None` when one holds it alone.
    pub(crate) fn shared(file: &File, byte: u64) -> io::Result<Option<ByteLock>> {
        let locks = locks_of(file)?;
        let taken = locks.try_lock_shared_range(Bound::Included(byte), Bound::Included(byte))?;
        Ok(taken.then_some(ByteLock { locks }))
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
        let _ = self.locks.close();
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

/// Opens an existing file for writing.
pub(crate) fn open_for_writing(path: &Path) -> Result<File> {
    let mut options = File::options();
    options.read(true).write(true);
    #[cfg(windows)]
    {
        use std::os::windows::fs::OpenOptionsExt;
        // FILE_SHARE_READ | FILE_SHARE_DELETE: no second writer.
        options.share_mode(1 | 4);
    }
    options
        .open(path)
        .map_err(|source| Error::io("open", path, source))
}

/// Writes all of `bytes` at `offset`.
pub(crate) fn write_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    #[cfg(unix)]
    return std::os::unix::fs::FileExt::write_all_at(file, bytes, offset);
    #[cfg(not(unix))]
    return FileBackend::new(file.try_clone()?)
        .map_err(io::Error::other)?
        .write(offset, bytes);
}

/// Fills `bytes` from `offset`.
pub(crate) fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    #[cfg(unix)]
    return std::os::unix::fs::FileExt::read_exact_at(file, bytes, offset);
    #[cfg(not(unix))]
    return FileBackend::new(file.try_clone()?)
        .map_err(io::Error::other)?
        .read(offset, bytes);
}

/// The length that redb shall see when it opens the file. After a clean close that is what the layout
/// says, because a shrink may have been swallowed; after a crash the file's own, from which redb
/// works out the layout again.
pub(crate) fn length_for_redb(header: &[u8; 64], file_len: u64) -> u64 {
    const RECOVERY_REQUIRED: u8 = 2;
    let number = |offset: usize| {
        let bytes = header.get(offset..offset + 4).and_then(|b| b.first_chunk());
        bytes.map_or(0, |bytes| u64::from(u32::from_le_bytes(*bytes)))
    };
    let (page, region_header, region) = (number(12), number(16), number(20));
    let (full_regions, trailing) = (number(24), number(28));
    let trailing_pages = if trailing > 0 {
        region_header + trailing
    } else {
        0
    };
    let layout = full_regions
        .checked_mul(region_header + region)
        .and_then(|pages| pages.checked_add(1 + trailing_pages))
        .and_then(|pages| pages.checked_mul(page));
    match layout {
        Some(layout)
            if header
                .get(9)
                .is_some_and(|flags| flags & RECOVERY_REQUIRED == 0) =>
        {
            layout.min(file_len)
        }
        _ => file_len,
    }
}

/// A file that readers may have mapped: grows as redb asks, never shrinks.
#[derive(Debug)]
pub(crate) struct InPlaceBackend {
    /// redb's access to the file, and its locks.
    inner: FileBackend,
    /// The same file.
    file: File,
    /// What redb asked for last; the file may be longer.
    len: AtomicU64,
    /// Bytes written to pages of the tree, over all time.
    tree_bytes: Arc<AtomicU64>,
}

impl InPlaceBackend {
    /// `len` from [`length_for_redb`]; bytes written to pages of the tree are added to `tree_bytes`.
    pub(crate) fn new(file: &File, len: u64, tree_bytes: Arc<AtomicU64>) -> io::Result<Self> {
        Ok(InPlaceBackend {
            inner: FileBackend::new(file.try_clone()?).map_err(io::Error::other)?,
            file: file.try_clone()?,
            len: AtomicU64::new(len),
            tree_bytes,
        })
    }
}

impl StorageBackend for InPlaceBackend {
    fn len(&self) -> io::Result<u64> {
        Ok(self.len.load(Ordering::Acquire))
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.inner.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        // A shorter file would take mapped pages away from readers: SIGBUS.
        if len > self.file.metadata()?.len() {
            self.inner.set_len(len)?;
        }
        self.len.store(len, Ordering::Release);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        self.inner.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        if data.len() <= LARGEST_TREE_WRITE {
            self.tree_bytes
                .fetch_add(data.len() as u64, Ordering::Relaxed);
        }
        self.inner.write(offset, data)
    }

    fn close(&self) -> io::Result<()> {
        self.inner.close()
    }

    // Without these redb would take no lock at all, and a foreign redb tool could write beside us.
    // On Windows they would lock readers out.

    #[cfg(unix)]
    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Locked<bool> {
        self.inner.try_lock_range(start, end)
    }

    #[cfg(unix)]
    fn try_lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Locked<bool> {
        self.inner.try_lock_shared_range(start, end)
    }

    #[cfg(unix)]
    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Locked<()> {
        self.inner.lock_range(start, end)
    }

    #[cfg(unix)]
    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Locked<()> {
        self.inner.lock_shared_range(start, end)
    }

    #[cfg(unix)]
    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Locked<()> {
        self.inner.unlock_range(start, end)
    }

    #[cfg(unix)]
    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Locked<bool> {
        self.inner.query_lock_range(start, end)
    }
}

#[cfg(unix)]
type Locked<T> = std::result::Result<T, BackendError>;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::container::column::{ColumnId, ColumnWriter};
    use crate::container::extent::segment_table_name;
    use crate::container::fixture::{build, everything, fill, opener, place};
    use crate::container::{Container, ContainerWriter};
    use crate::types::SegmentId;
    use std::fs;

    #[test]
    fn a_byte_is_held_by_one_open_file_until_the_lock_is_dropped() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let other = file.reopen().unwrap();
        let lock = ByteLock::exclusive(file.as_file(), WRITER_BYTE).unwrap();
        assert!(lock.is_some());
        assert!(ByteLock::exclusive(&other, WRITER_BYTE).unwrap().is_none());
        assert!(ByteLock::is_held(&other, WRITER_BYTE).unwrap());
        assert!(ByteLock::shared(&other, HOLD_BYTE).unwrap().is_some());
        drop(lock);
        assert!(!ByteLock::is_held(&other, WRITER_BYTE).unwrap());
        assert!(ByteLock::exclusive(&other, WRITER_BYTE).unwrap().is_some());
    }

    #[test]
    fn a_shrink_is_noted_and_the_file_stays_long() {
        let file = tempfile::tempfile().unwrap();
        let backend = InPlaceBackend::new(&file, 0, Arc::default()).unwrap();
        backend.set_len(8192).unwrap();
        backend.set_len(4096).unwrap();
        assert_eq!(backend.len().unwrap(), 4096);
        assert_eq!(file.metadata().unwrap().len(), 8192);
        backend.set_len(12_288).unwrap();
        assert_eq!(file.metadata().unwrap().len(), 12_288);
    }

    #[test]
    fn after_a_crash_the_length_of_the_file_counts() {
        let mut header = [0u8; 64];
        for (offset, number) in [(12, 4096u32), (16, 0), (20, 100), (24, 1), (28, 7)] {
            header[offset..offset + 4].copy_from_slice(&number.to_le_bytes());
        }
        assert_eq!(length_for_redb(&header, 1 << 20), 108 * 4096);
        assert_eq!(length_for_redb(&header, 4096), 4096);
        header[9] = 2;
        assert_eq!(length_for_redb(&header, 1 << 20), 1 << 20);
    }

    #[test]
    fn a_file_in_place_never_shrinks_and_its_space_is_used_again() {
        let (_folder, path) = place();
        build(&path, |transaction| fill(transaction, 7));
        let write = |segment: u32, rows: u64| {
            let mut writer = ContainerWriter::open(&path, &opener()).unwrap();
            let mut transaction = writer.begin().unwrap();
            if segment > 2 {
                let name = segment_table_name(SegmentId(segment - 1));
                assert!(transaction.delete_table(&name).unwrap());
                assert!(!transaction.delete_table(&name).unwrap());
            }
            let column = ColumnId(1);
            let mut column = ColumnWriter::rows(SegmentId(segment), column, 1024);
            for row in 0..rows {
                column.push(&mut transaction, &[row as u8; 1024]).unwrap();
            }
            column.finish(&mut transaction).unwrap();
            transaction.commit().unwrap();
            writer.finish().unwrap();
            fs::metadata(&path).unwrap().len()
        };
        let long = write(2, 8000);
        assert!(long > 8_000_000);
        let after_deletion = write(3, 1);
        assert!(after_deletion >= long);
        let lengths: Vec<u64> = (4..16).map(|segment| write(segment, 7000)).collect();
        assert!(lengths.is_sorted());
        // Old and new segment at once are twice as much, and pages of 1 MiB leave gaps; after a few
        // rounds nothing grows any more.
        assert_eq!(lengths[8..], [lengths[8]; 4], "{lengths:?} after {long}");
        assert!(lengths[8] <= 3 * long, "{lengths:?} after {long}");
        let all = everything(&Container::open(&path).unwrap()).unwrap();
        assert!(!all.is_empty());
    }
}
