//! Every change that this program makes on disk outside of redb's pages: the file's first page, its length, its name.
//! The backend makes the changes inside. Tests can watch both (see [`mod@crate::container::write::observer`]).

use std::fs::{File, Permissions};
use std::path::Path;
use std::{fs, io};

use kb_types::error::{Error, Result};

/// Announces a change to the observer of this thread, if a test set one, and returns the observer's error from the
/// function. Compiles to nothing without the feature `testing`.
macro_rules! announce {
    ($operation:expr) => {
        #[cfg(all(unix, any(test, feature = "testing")))]
        {
            #[allow(unused_imports, reason = "not every operation names a file")]
            use crate::container::write::observer::{FileId, Op};
            crate::container::write::observer::announce(|| Ok($operation))?;
        }
    };
}
pub(crate) use announce;

/// `work` for another thread, watched as this one is.
pub(crate) fn watched<T>(work: impl FnOnce() -> T + Send) -> impl FnOnce() -> T + Send {
    #[cfg(all(unix, any(test, feature = "testing")))]
    let work = crate::container::write::observer::inherited(work);
    work
}

/// Opens an existing file for writing.
pub(crate) fn open_for_writing(path: &Path) -> Result<File> {
    options()
        .open(path)
        .map_err(|source| Error::io("open", path, source))
}

/// Creates a file that must not exist, and that only its owner may read and write.
pub(crate) fn create_new(path: &Path) -> io::Result<File> {
    announce!(Op::Create { path });
    let mut options = options();
    // Never an existing file: another user may have made it, or a link to a file of ours, in a
    // shared folder.
    options.create_new(true);
    #[cfg(unix)]
    // The texts of a private source must not be readable by others while the file is built. The
    // final permissions are set before the rename.
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn options() -> fs::OpenOptions {
    let mut options = File::options();
    options.read(true).write(true);
    #[cfg(windows)]
    {
        use std::os::windows::fs::OpenOptionsExt;
        // FILE_SHARE_READ | FILE_SHARE_DELETE: no second writer.
        options.share_mode(1 | 4);
    }
    options
}

/// Writes all of `bytes` at `offset`.
pub(crate) fn write_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    announce!(Op::Write {
        file: FileId::of(file)?,
        offset,
        data: bytes,
    });
    #[cfg(unix)]
    return std::os::unix::fs::FileExt::write_all_at(file, bytes, offset);
    #[cfg(not(unix))]
    return redb::StorageBackend::write(&backend_of(file)?, offset, bytes);
}

/// Fills `bytes` from `offset`.
pub(crate) fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    #[cfg(unix)]
    return std::os::unix::fs::FileExt::read_exact_at(file, bytes, offset);
    #[cfg(not(unix))]
    return redb::StorageBackend::read(&backend_of(file)?, offset, bytes);
}

#[cfg(not(unix))]
fn backend_of(file: &File) -> io::Result<redb::backends::FileBackend> {
    redb::backends::FileBackend::new(file.try_clone()?).map_err(io::Error::other)
}

/// Makes the file `len` bytes long.
pub(crate) fn set_len(file: &File, len: u64) -> io::Result<()> {
    announce!(Op::SetLen {
        file: FileId::of(file)?,
        len,
    });
    file.set_len(len)
}

/// Gives the file `permissions`.
pub(crate) fn set_permissions(file: &File, permissions: Permissions) -> io::Result<()> {
    announce!(Op::SetPermissions {
        file: FileId::of(file)?,
    });
    file.set_permissions(permissions)
}

/// Makes bytes, length and permissions durable.
pub(crate) fn sync_all(file: &File) -> io::Result<()> {
    announce!(Op::Sync {
        file: FileId::of(file)?,
    });
    file.sync_all()
}

/// Gives the file at `from` the name `to`, which may be taken.
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    announce!(Op::Rename { from, to });
    fs::rename(from, to)
}

/// Gives the file at `from` the name `to`, which must be free.
pub(crate) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    announce!(Op::Rename { from, to });
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    {
        // One call decides whether the name is free, so no other program's file can be lost.
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        use rustix::io::Errno;
        match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
            // The file system, or the kernel, does not know the flag.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
            renamed => return Ok(renamed?),
        }
    }
    // Another program may take the name between the two.
    match fs::symlink_metadata(to) {
        Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
        Err(_) => fs::rename(from, to),
    }
}

/// Removes the file at `path`.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    announce!(Op::Remove { path });
    fs::remove_file(path)
}

/// Makes the names in `folder` durable.
#[cfg(unix)]
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    announce!(Op::SyncFolder { path: folder });
    // Without it a rename may be lost by a power failure, after the caller was told that the file
    // is there.
    File::open(folder)?.sync_all()
}

/// Windows has no handle of a folder to sync.
#[cfg(not(unix))]
pub(crate) fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
