//! What redb writes through.

use std::fs::File;
use std::io;
#[cfg(unix)]
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

#[cfg(unix)]
use redb::BackendError;
use redb::StorageBackend;
use redb::backends::FileBackend;

use crate::container::write::disk::announce;
use crate::container::write::page_check::PageCheck;
use crate::container::write::panic_guard::PanicGuard;

/// Largest write that counts as a page of the tree, in bytes.
// Retention is bounded by the bytes that commits replace. Tree pages replace older ones of about
// their size, so they are counted here when they are written. Extents are new bytes; those that are
// dropped are counted by the transaction. An extent of up to 64 KiB is counted here as well, which
// ends retention a little early.
const LARGEST_TREE_WRITE: usize = 64 << 10;

/// What was written through a [`FileStorage`].
#[derive(Debug, Default)]
pub(crate) struct Written {
    /// Bytes written to pages of the tree.
    pub(crate) tree_bytes: AtomicU64,
    /// Where the write that reached farthest ended, from the start of the file.
    pub(crate) end: AtomicU64,
}

/// The file under redb. One that readers may have mapped grows as redb asks and never shrinks.
#[derive(Debug)]
pub(crate) struct FileStorage {
    /// redb's access to the file, and its locks.
    inner: FileBackend,
    /// The same file.
    file: File,
    /// What redb asked for last; the file may be longer.
    len: AtomicU64,
    /// Counts what is written.
    written: Arc<Written>,
    /// Whether nobody else has the file: it may shrink, and what it holds counts only once it is whole,
    /// synced and renamed to its place.
    is_new: bool,
    /// Says when redb must not write any more.
    guard: PanicGuard,
    /// Checks what redb reads; `None` for a new file, of which all that is read was written before.
    pages: Option<PageCheck>,
}

impl FileStorage {
    /// For a file in place: `len` from [`length_for_redb`]; `written` counts; `pages` of the commit
    /// that is opened.
    pub(crate) fn in_place(
        file: &File,
        len: u64,
        written: Arc<Written>,
        guard: PanicGuard,
        pages: PageCheck,
    ) -> io::Result<Self> {
        Ok(FileStorage {
            inner: FileBackend::new(file.try_clone()?).map_err(io::Error::other)?,
            file: file.try_clone()?,
            len: AtomicU64::new(len),
            written,
            is_new: false,
            guard,
            pages: Some(pages),
        })
    }

    /// For a file that nobody else reads. redb takes it for empty, whatever its first page holds.
    pub(crate) fn of_new_file(file: &File, guard: PanicGuard) -> io::Result<Self> {
        Ok(FileStorage {
            inner: FileBackend::new(file.try_clone()?).map_err(io::Error::other)?,
            file: file.try_clone()?,
            len: AtomicU64::new(0),
            written: Arc::default(),
            is_new: true,
            guard,
            pages: None,
        })
    }

    /// For a copy of `len` bytes of a file in place that nobody else reads; `pages` of the commit that was copied.
    pub(crate) fn of_copy(
        file: &File,
        len: u64,
        guard: PanicGuard,
        pages: PageCheck,
    ) -> io::Result<Self> {
        Ok(FileStorage {
            len: AtomicU64::new(len),
            pages: Some(pages),
            ..FileStorage::of_new_file(file, guard)?
        })
    }
}

impl StorageBackend for FileStorage {
    fn len(&self) -> io::Result<u64> {
        Ok(self.len.load(Ordering::Acquire))
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.inner.read(offset, out)?;
        // redb verifies no checksum when it reads (docs/decisions/01-redb-writes.md).
        match &self.pages {
            // Carried through redb, which keeps its own errors apart from those of the storage.
            Some(pages) => pages.check(offset, out).map_err(io::Error::other),
            None => Ok(()),
        }
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.guard.check()?;
        // A shorter file would take mapped pages away from readers: SIGBUS. redb believes that the
        // file is shorter; `len` says so to it.
        if self.is_new || len > self.file.metadata()?.len() {
            announce!(Op::SetLen {
                file: FileId::of(&self.file)?,
                len,
            });
            self.inner.set_len(len)?;
        }
        self.len.store(len, Ordering::Release);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        self.guard.check()?;
        if self.is_new {
            // A crash leaves nothing of it anyway, and redb syncs up to forty times until the file is
            // closed; it is synced once before it is renamed.
            return Ok(());
        }
        announce!(Op::Sync {
            file: FileId::of(&self.file)?,
        });
        self.inner.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.guard.check()?;
        if data.len() <= LARGEST_TREE_WRITE {
            self.written
                .tree_bytes
                .fetch_add(data.len() as u64, Ordering::Relaxed);
        }
        // Also when it fails: some of it may be there then.
        self.written
            .end
            .fetch_max(offset + data.len() as u64, Ordering::Relaxed);
        announce!(Op::Write {
            file: FileId::of(&self.file)?,
            offset,
            data,
        });
        // Also when it fails: what is there then is nothing that the opened commit refers to.
        if let Some(pages) = &self.pages {
            pages.written(offset, data.len());
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
    use std::fs;

    use kb_types::SegmentId;

    use super::*;
    use crate::container::layout::column::{ColumnId, ColumnWriter, MAX_ORDER};
    use crate::container::layout::extent::segment_table_name;
    use crate::container::layout::table::Key;
    use crate::container::read::container::Container;
    use crate::container::testing::fixture::{build, dump, fill, identity, temp_path};
    use crate::container::write::writer::ContainerWriter;

    #[test]
    fn a_shrink_is_noted_and_the_file_stays_long() {
        let file = tempfile::tempfile().unwrap();
        let mut backend = FileStorage::of_new_file(&file, PanicGuard::default()).unwrap();
        backend.is_new = false;
        backend.set_len(8192).unwrap();
        backend.set_len(4096).unwrap();
        assert_eq!(backend.len().unwrap(), 4096);
        assert_eq!(file.metadata().unwrap().len(), 8192);
        backend.set_len(12_288).unwrap();
        assert_eq!(file.metadata().unwrap().len(), 12_288);
    }

    /// redb doubles a file that needs room; what nobody wrote to is given back when it is closed.
    #[test]
    fn a_small_change_makes_a_file_little_longer_also_under_a_reader() {
        let (_folder, path) = temp_path();
        build(&path, |transaction| {
            fill(transaction, 7)?;
            let mut column = ColumnWriter::rows(SegmentId(2), ColumnId(1), 1024, MAX_ORDER);
            for row in 0..4000 {
                column.push(transaction, &[row as u8; 1024])?;
            }
            column.finish(transaction).map(|_| ())
        });
        let len = || fs::metadata(&path).unwrap().len();
        let before = len();
        for round in 0..6 {
            let mut writer = ContainerWriter::open(&path, &identity()).unwrap();
            let mut transaction = writer.begin().unwrap();
            let key = Key::U64(1_000_000 + round);
            transaction.put("numbers", key, &[7; 20_000]).unwrap();
            transaction.commit().unwrap();
            let most = len();
            let reader = Container::open(&path).unwrap();
            writer.finish().unwrap();
            assert!(
                len() < before + before / 5,
                "{} after {before}, round {round}",
                len()
            );
            // Its map is as long as the file was.
            assert_eq!(reader.len_bytes(), most);
            assert!(reader.verify(&mut |_| {}).unwrap().damage.is_empty());
            assert!(dump(&reader).unwrap() == dump(&Container::open(&path).unwrap()).unwrap());
        }
    }

    #[test]
    fn a_file_in_place_never_shrinks_and_its_space_is_used_again() {
        let (_folder, path) = temp_path();
        build(&path, |transaction| fill(transaction, 7));
        let write = |segment: u32, rows: u64| {
            let mut writer = ContainerWriter::open(&path, &identity()).unwrap();
            let mut transaction = writer.begin().unwrap();
            if segment > 2 {
                let name = segment_table_name(SegmentId(segment - 1));
                assert!(transaction.delete_table(&name).unwrap());
                assert!(!transaction.delete_table(&name).unwrap());
            }
            let column = ColumnId(1);
            let mut column = ColumnWriter::rows(SegmentId(segment), column, 1024, MAX_ORDER);
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
        let all = dump(&Container::open(&path).unwrap()).unwrap();
        assert!(!all.is_empty());
    }
}
