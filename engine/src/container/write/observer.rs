//! The hook for doubles of the disk: an observer that hears of every change which a writer of this thread makes
//! to a .kb or its temporary file, before it is made, and that can refuse it.
//!
//! For tests of crashes and full disks. Only with the feature `testing`, on Unix; without it nothing of
//! this is compiled. redb writes on the thread that calls it, and a writer that lends its transaction to
//! another thread lends the observer too, so what one writer does is heard whole and in order.

use std::cell::RefCell;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

/// Which file, whatever its name: the same before and after a rename. A file that is created after
/// another was removed may get the same id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId {
    /// Number of the device.
    pub device: u64,
    /// Number of the file on it.
    pub inode: u64,
}

impl FileId {
    /// The id of an open file.
    ///
    /// # Errors
    /// What the system says.
    pub fn of(file: &File) -> io::Result<FileId> {
        file.metadata().map(|metadata| FileId {
            device: metadata.dev(),
            inode: metadata.ino(),
        })
    }

    /// The id of the file that `path` names, through links.
    ///
    /// # Errors
    /// What the system says.
    pub fn at(path: &Path) -> io::Result<FileId> {
        File::open(path).and_then(|file| FileId::of(&file))
    }
}

/// One change on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op<'a> {
    /// A new empty file. Its id is that of the `SetLen` to 0 which comes next.
    Create {
        /// Its name.
        path: &'a Path,
    },
    /// Bytes are overwritten or appended.
    Write {
        /// The file.
        file: FileId,
        /// First byte that is written, from the start of the file.
        offset: u64,
        /// The bytes that will be there.
        data: &'a [u8],
    },
    /// The file is cut, or grows by zeros.
    SetLen {
        /// The file.
        file: FileId,
        /// Its new length in bytes.
        len: u64,
    },
    /// The file gets the permissions of the one that it replaces.
    SetPermissions {
        /// The file.
        file: FileId,
    },
    /// All changes of the file until now become durable.
    Sync {
        /// The file.
        file: FileId,
    },
    /// A file takes another name, and what had that name loses it.
    Rename {
        /// The old name.
        from: &'a Path,
        /// The new name.
        to: &'a Path,
    },
    /// The names in a folder become durable.
    SyncFolder {
        /// The folder.
        path: &'a Path,
    },
    /// A file loses its name.
    Remove {
        /// The name.
        path: &'a Path,
    },
}

/// Hears of changes before they are made.
///
/// Other threads may write for the one that is observed.
pub trait Observer: Send + Sync {
    /// Called once for each change.
    ///
    /// # Errors
    /// The writer gets the error instead of the change.
    fn before(&self, op: &Op<'_>) -> io::Result<()>;
}

thread_local! {
    static OBSERVER: RefCell<Option<Arc<dyn Observer>>> = const { RefCell::new(None) };
}

/// Puts the former observer back, also when the work panicked.
struct Restore(Option<Arc<dyn Observer>>);

impl Drop for Restore {
    fn drop(&mut self) {
        OBSERVER.set(self.0.take());
    }
}

/// Does `run` while `observer` hears of all changes that this thread makes to .kb files. Observers may
/// be nested: only the innermost hears.
pub fn observed<T>(observer: Arc<dyn Observer>, run: impl FnOnce() -> T) -> T {
    let _restore = Restore(OBSERVER.replace(Some(observer)));
    run()
}

/// `work` for another thread, whose changes the observer of this thread hears of as well.
pub(crate) fn inherited<T>(work: impl FnOnce() -> T + Send) -> impl FnOnce() -> T + Send {
    let observer = OBSERVER.with_borrow(Option::clone);
    move || match observer {
        Some(observer) => observed(observer, work),
        None => work(),
    }
}

/// Asks the observer of this thread, if there is one. `op` is worked out only then.
pub(crate) fn announce<'a>(op: impl FnOnce() -> io::Result<Op<'a>>) -> io::Result<()> {
    // Cloned, so that an observer may itself write files.
    let observer = OBSERVER.with_borrow(Option::clone);
    match observer {
        Some(observer) => observer.before(&op()?),
        None => Ok(()),
    }
}
