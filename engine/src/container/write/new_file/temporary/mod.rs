//! A file that is built under a temporary name and takes its real name when it is whole.
//!
//! The temporary name follows from the real one, and the file of that name is locked: two creators of
//! one file meet at once. What a dead creator left is removed. The file that will be replaced stays
//! locked meanwhile, so that no writer can commit to it what the rename would lose. While it is built
//! the file is its owner's alone; its permissions are set right before it gets its name.

use std::fs::{File, Metadata};
use std::path::{Path, PathBuf};
use std::{fs, io};

use kb_types::error::{Error, Result};

use crate::container::layout::commit_slot::length_for_redb;
use crate::container::layout::signature::{BLOCK, MAGIC};
use crate::container::layout::writer_record::{WRITER_MAGIC, WRITER_RECORD};
use crate::container::read::byte_lock::{ByteLock, WRITER_BYTE};
use crate::container::read::container::Container;
use crate::container::read::mapped_file::is_same_file;
use crate::container::write::disk;
use crate::container::write::disk::{create_new, open_for_writing, read_at};
use crate::container::write::identity::{
    WriterIdentity, clear_record, locked_by_writer, publish_opening,
};
use crate::container::write::lock::{LockTimeout, MAX_REOPENS, lock_file, replaced_too_often};
use crate::container::write::new_file::access;
use crate::container::write::new_file::access::Access;
use crate::container::write::new_file::replaceable::check_replaceable;

/// Most symbolic links that are followed from one to the next.
// Linux has the same limit (`MAXSYMLINKS`, path_resolution(7)); a loop of links ends here.
const MAX_LINKS: usize = 40;

/// Bytes that are copied at once.
const COPY_BLOCK: usize = 1 << 20;

/// A file under construction; removed when it is dropped.
#[derive(Debug)]
pub(crate) struct Temporary {
    /// Where it is built.
    path: PathBuf,
    /// What it will be called.
    target: PathBuf,
    /// The file.
    file: File,
    /// The file that it will replace, and the lock that keeps writers away from it.
    replaced: Option<(File, ByteLock)>,
    /// The access that it must not exceed.
    source: Option<Access>,
    /// Whether it has its real name.
    renamed: bool,
    /// Keeps other creators of the same target away.
    _lock: ByteLock,
}

impl Temporary {
    /// Creates an empty file beside `target` that names `identity` as its holder, and locks the file that
    /// is at `target` now, if any. A link at `target` is followed, also to where nothing is yet.
    pub(crate) fn create(target: &Path, identity: &WriterIdentity) -> Result<Temporary> {
        let waiting = LockTimeout::new(identity.lock_timeout);
        // The temporary file is locked before the target. All creators take the two locks in this
        // order, so they cannot deadlock.
        let mut temporary = waiting.retry(|| Temporary::lock(target))?;
        let creating = |source| Error::io("create", &temporary.path, source);
        // The observer of tests learns the file's number by this call. The file is empty already.
        disk::set_len(&temporary.file, 0).map_err(creating)?;
        publish_opening(&temporary.file, identity).map_err(creating)?;
        // Only now: what another creator finished until here is replaced knowingly.
        temporary.replaced = waiting.retry(|| lock_replaced(&temporary.target))?;
        Ok(temporary)
    }

    /// Makes and locks the file of the temporary name.
    fn lock(target: &Path) -> Result<Temporary> {
        for _ in 0..MAX_REOPENS {
            let target = resolved(target).map_err(|source| Error::io("create", target, source))?;
            // Before anything is made; what is replaced is looked at again once it is locked.
            match fs::metadata(&target) {
                Ok(found) if !found.is_file() => {
                    return Err(Error::NotAKb {
                        reason: "a folder or a device is where the .kb shall be",
                    });
                }
                Ok(_) => {
                    let opening = |source| Error::io("open", &target, source);
                    check_replaceable(&target, &File::open(&target).map_err(opening)?)?;
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(Error::io("open", &target, error)),
            }
            let path = temporary_path(&target);
            let creating = |source| Error::io("create", &path, source);
            if !remove_leftover(&path)? {
                continue;
            }
            let file = match create_new(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                created => created.map_err(creating)?,
            };
            let Some(lock) = ByteLock::exclusive(&file, WRITER_BYTE).map_err(creating)? else {
                return Err(locked_by_writer(&file));
            };
            // Another creator may have taken it for a leftover before it was locked.
            if is_open_file(fs::symlink_metadata(&path), &file) {
                return Ok(Temporary {
                    path,
                    target,
                    file,
                    replaced: None,
                    source: None,
                    renamed: false,
                    _lock: lock,
                });
            }
        }
        Err(replaced_too_often())
    }

    /// The file, to be written.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Where it is built.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether there is a file that it will replace.
    pub(crate) fn replaces(&self) -> bool {
        self.replaced.is_some()
    }

    /// The .kb that it will replace, as it was locked; `None` when there is none, or an empty file.
    pub(crate) fn replaced(&self) -> Option<Result<Container>> {
        let (file, _) = self.replaced.as_ref()?;
        (!is_empty(file)).then(|| Container::of_file(file, &self.target))
    }

    /// The same, of an older format too: see [`Container::of_remade`].
    pub(crate) fn remade(&self) -> Option<Result<Container>> {
        let (file, _) = self.replaced.as_ref()?;
        (!is_empty(file)).then(|| Container::of_remade(file, &self.target))
    }

    /// Copies what redb reads of the file that this one will replace, and returns its length in bytes.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(crate) fn copy_replaced(&self, identity: &WriterIdentity) -> Result<u64> {
        let Some((replaced, _)) = &self.replaced else {
            return Ok(0);
        };
        let copying = |source| Error::io("copy", &self.target, source);
        let mut header = [0; 64];
        read_at(replaced, &mut header, 0).map_err(copying)?;
        let file_len = replaced.metadata().map_err(copying)?.len();
        let len = length_for_redb(&header, file_len);
        let mut block = vec![0; COPY_BLOCK];
        let mut offset = 0;
        while offset < len {
            let rest = usize::try_from(len - offset).unwrap_or(COPY_BLOCK);
            let (bytes, _) = block.split_at_mut(rest.min(COPY_BLOCK));
            read_at(replaced, bytes, offset).map_err(copying)?;
            disk::write_at(&self.file, bytes, offset).map_err(copying)?;
            offset += bytes.len() as u64;
        }
        // The copy of the first page names no writer.
        publish_opening(&self.file, identity).map_err(copying)?;
        Ok(len)
    }

    /// The file will give nobody access who has none to `source`.
    pub(crate) fn limit_access(&mut self, source: &File) -> Result<()> {
        let reading = |error| Error::io("read the permissions of the source of", &self.path, error);
        self.source = Some(Access::of(source).map_err(reading)?);
        Ok(())
    }

    /// Makes the bytes durable and gives the file its real name, which is durable on return. It names
    /// no holder any more.
    ///
    /// # Errors
    /// [`Error::FileReplaced`] when somebody put another file in the place of this one;
    /// [`Error::IndexLocked`] when the target was replaced meanwhile; [`Error::Io`].
    pub(crate) fn rename(mut self) -> Result<()> {
        let path = &self.path;
        // The order of the next steps is what makes the file safe: the record goes, then the
        // permissions are set, all is synced, and only then the name changes. A crash between two
        // of them leaves the old file.
        clear_record(&self.file).map_err(|source| Error::io("write", path, source))?;
        let replaced = self.replaced.as_ref().map(|(replaced, _)| replaced);
        access::apply_access(&self.file, replaced, self.source)
            .map_err(|source| Error::io("set permissions of", path, source))?;
        disk::sync_all(&self.file).map_err(|source| Error::io("sync", path, source))?;
        // In a shared folder another user may have moved the file away; renaming by name would
        // publish a foreign file.
        if !is_open_file(fs::symlink_metadata(path), &self.file) {
            return Err(Error::FileReplaced {
                path: path.clone(),
                is_gone: fs::symlink_metadata(path).is_err(),
            });
        }
        let renamed = match replaced {
            Some(replaced) if !is_open_file(fs::metadata(&self.target), replaced) => {
                Err(io::ErrorKind::AlreadyExists.into())
            }
            Some(_) => disk::rename(path, &self.target),
            None => disk::rename_new(path, &self.target),
        };
        renamed.map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists => Error::IndexLocked {
                holder: "another program, which has just replaced it".to_owned(),
            },
            _ => Error::io("rename", &self.target, source),
        })?;
        // Set before the folder is synced: if that fails, the file has its real name and must not
        // be removed.
        self.renamed = true;
        let folder = self.target.parent().unwrap_or(&self.target);
        disk::sync_folder(folder).map_err(|source| Error::io("sync", folder, source))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // While it is locked, so that it is not removed as a leftover before. What cannot be removed
        // now is removed by the next creator; what is another file by now is not ours to remove.
        if !self.renamed && is_open_file(fs::symlink_metadata(&self.path), &self.file) {
            let _ = disk::remove(&self.path);
        }
    }
}

fn is_empty(file: &File) -> bool {
    file.metadata().is_ok_and(|metadata| metadata.len() == 0)
}

/// Where a file made at `target` will be: at the end of links, also when nothing is there yet.
fn resolved(target: &Path) -> io::Result<PathBuf> {
    let mut path = std::path::absolute(target)?;
    for _ in 0..MAX_LINKS {
        match fs::canonicalize(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            found => return found,
        }
        let Ok(link) = fs::read_link(&path) else {
            return Ok(path);
        };
        path = match path.parent() {
            Some(folder) => folder.join(link),
            None => link,
        };
    }
    Err(io::Error::other("too many links lead from one to another"))
}

/// Removes what a dead creator left under the temporary name, so that nobody who has it open, or may
/// open it, reads what is built. False when it changed meanwhile.
///
/// # Errors
/// [`Error::IndexLocked`] when its creator lives; [`Error::Io`].
fn remove_leftover(path: &Path) -> Result<bool> {
    let creating = |source| Error::io("create", path, source);
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        Err(error) => return Err(creating(error)),
        // A link or a folder is nothing that a creator left.
        Ok(found) if !found.is_file() => {
            return Err(Error::NotReplaceable {
                path: path.to_owned(),
                reason: "it is no regular file, and the new .kb is built under this name"
                    .to_owned(),
            });
        }
        Ok(_) => {}
    }
    let file = match open_for_writing(path) {
        Err(Error::PathNotFound { .. }) => return Ok(false),
        Err(Error::Io { source, .. }) => return Err(creating(source)),
        opened => opened?,
    };
    let Some(_lock) = ByteLock::exclusive(&file, WRITER_BYTE).map_err(creating)? else {
        return Err(locked_by_writer(&file));
    };
    if !is_begun_by_creator(&file) {
        return Err(Error::NotReplaceable {
            path: path.to_owned(),
            reason: "it is no unfinished .kb, and the new .kb is built under this name".to_owned(),
        });
    }
    // Its creator may have renamed or removed it before the lock was free.
    if !is_open_file(fs::symlink_metadata(path), &file) {
        return Ok(false);
    }
    disk::remove(path).map_err(creating)?;
    Ok(true)
}

/// Removes what a dead creator of the file at `target` left, for a writer that has that file locked: so nobody makes
/// another one now. Whatever stands in the way is left to the next creator, who says so.
pub(crate) fn remove_dead(target: &Path) {
    if let Ok(target) = resolved(target) {
        let _ = remove_leftover(&temporary_path(&target));
    }
}

/// Whether a file was begun by a creator: nothing else is ever removed. It is empty for a moment, names its creator
/// then, and has a signature before that name goes.
fn is_begun_by_creator(file: &File) -> bool {
    let has = |offset: usize, magic: &[u8]| {
        let mut bytes = vec![0; magic.len()];
        read_at(file, &mut bytes, offset as u64).is_ok() && bytes == magic
    };
    file.metadata().is_ok_and(|metadata| metadata.len() == 0)
        || has(WRITER_RECORD.start, &WRITER_MAGIC)
        || has(BLOCK.start, &MAGIC)
}

/// `.notes.kb.tmp` for `notes.kb`.
fn temporary_path(target: &Path) -> PathBuf {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.strip_suffix(".kb").unwrap_or(&name);
    // In the same folder: a rename across file systems is a copy. Derived from the name, so that
    // two creators meet at the lock and a dead creator's file is found. Hidden, so that globs like
    // `*.kb` do not pick it up.
    target.with_file_name(format!(".{stem}.kb.tmp"))
}

/// Whether what was found by a name is this open file.
fn is_open_file(named: io::Result<Metadata>, file: &File) -> bool {
    let open = file.metadata();
    named.is_ok_and(|named| open.is_ok_and(|open| is_same_file(&named, &open)))
}

/// Locks what `target` names now; `None` when there is nothing.
fn lock_replaced(target: &Path) -> Result<Option<(File, ByteLock)>> {
    match lock_file(target) {
        Err(Error::PathNotFound { .. }) => Ok(None),
        Err(error) => Err(error),
        Ok((file, lock)) => {
            check_replaceable(target, &file)?;
            Ok(Some((file, lock)))
        }
    }
}

#[cfg(test)]
mod tests;
