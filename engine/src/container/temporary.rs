//! A file that is built under a temporary name and takes its real name when it is whole.
//!
//! The file that it replaces stays locked meanwhile, so that no writer can commit to it what the
//! rename would lose. A temporary file whose maker died is recognised by its free lock.

use crate::container::backend::{ByteLock, WRITER_BYTE, open_for_writing};
use crate::container::is_same_file;
use crate::container::redb_file::locked_by_holder;
use crate::container::signature::{BLOCK, Signature};
use crate::container::snapshot::REDB_MAGIC;
use crate::error::{Error, Result};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Tells temporary files of one process apart.
static SERIAL: AtomicU32 = AtomicU32::new(0);

/// Names tried before it counts as an error.
const MOST_NAMES: usize = 100;

/// A file under construction; removed when it is dropped.
#[derive(Debug)]
pub(crate) struct Temporary {
    /// Where it is built.
    path: PathBuf,
    /// What it will be called.
    target: PathBuf,
    /// The file.
    file: File,
    /// Shows others that its maker lives.
    _lock: ByteLock,
    /// The file that it will replace, and the lock that keeps writers away from it.
    replaced: Option<(File, ByteLock)>,
    /// Whether it has its real name.
    renamed: bool,
}

impl Temporary {
    /// Creates an empty file beside `target` and locks the file that is there now, if any.
    pub(crate) fn create(target: &Path) -> Result<Temporary> {
        let target = match fs::canonicalize(target) {
            Ok(existing) => existing,
            Err(_) => {
                std::path::absolute(target).map_err(|source| Error::io("create", target, source))?
            }
        };
        let replaced = lock_replaced(&target)?;
        remove_stale(&target);
        for _ in 0..MOST_NAMES {
            let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
            let name = format!("{}{}-{serial}", name_prefix(&target), std::process::id());
            let path = target.with_file_name(name);
            let creating = |source| Error::io("create", &path, source);
            let file = match File::options()
                .read(true)
                .write(true)
                .create_new(true)
                .open(&path)
            {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                created => created.map_err(creating)?,
            };
            // Another creator may have taken the file for stale before it was locked.
            let lock = ByteLock::exclusive(&file, WRITER_BYTE).map_err(creating)?;
            if let Some(lock) = lock
                && names_file(&path, &file)
            {
                return Ok(Temporary {
                    path,
                    target,
                    file,
                    _lock: lock,
                    replaced,
                    renamed: false,
                });
            }
        }
        Err(Error::io(
            "create",
            target,
            io::ErrorKind::AlreadyExists.into(),
        ))
    }

    /// The file, to be written.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Where it is built.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Makes the bytes durable and gives the file its real name, which is durable on return.
    pub(crate) fn rename(mut self) -> Result<()> {
        let path = &self.path;
        if let Some((replaced, _)) = &self.replaced {
            let copied = replaced
                .metadata()
                .and_then(|metadata| self.file.set_permissions(metadata.permissions()));
            copied.map_err(|source| Error::io("set permissions of", path, source))?;
        }
        self.file
            .sync_all()
            .map_err(|source| Error::io("sync", path, source))?;
        let unchanged = match &self.replaced {
            Some((replaced, _)) => names_file(&self.target, replaced),
            None => !self.target.exists(),
        };
        if !unchanged {
            return Err(Error::IndexLocked {
                holder: "another program, which has just replaced it".to_owned(),
            });
        }
        fs::rename(path, &self.target)
            .map_err(|source| Error::io("rename", &self.target, source))?;
        self.renamed = true;
        sync_folder(&self.target)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.renamed {
            // A file that cannot be removed now is removed by the next creator.
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(unix)]
fn sync_folder(target: &Path) -> Result<()> {
    let folder = target.parent().unwrap_or(target);
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(|source| Error::io("sync", folder, source))
}

/// Windows has no handle of a folder to sync.
#[cfg(not(unix))]
fn sync_folder(_: &Path) -> Result<()> {
    Ok(())
}

/// Name of temporary files for `target` up to the process id: `.notes.kb.tmp-` for `notes.kb`.
fn name_prefix(target: &Path) -> String {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.strip_suffix(".kb").unwrap_or(&name);
    format!(".{stem}.kb.tmp-")
}

fn names_file(path: &Path, file: &File) -> bool {
    match (fs::metadata(path), file.metadata()) {
        (Ok(named), Ok(open)) => is_same_file(&named, &open),
        _ => false,
    }
}

/// Locks what `target` names now; `None` when there is nothing.
fn lock_replaced(target: &Path) -> Result<Option<(File, ByteLock)>> {
    let opening = |source| Error::io("open", target, source);
    let mut file = match fs::metadata(target) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(opening(error)),
        Ok(metadata) if !metadata.is_file() => {
            return Err(Error::NotAKb {
                reason: "a folder or a device is where the .kb shall be",
            });
        }
        Ok(_) => open_for_writing(target)?,
    };
    let mut head = Vec::new();
    let wanted = BLOCK.end as u64;
    (&mut file)
        .take(wanted)
        .read_to_end(&mut head)
        .map_err(opening)?;
    let ours =
        head.starts_with(&REDB_MAGIC) || head.get(BLOCK).is_some_and(Signature::looks_like_block);
    if !head.is_empty() && !ours {
        return Err(Error::NotAKb {
            reason: "another file is where the .kb shall be, and would be lost",
        });
    }
    match ByteLock::exclusive(&file, WRITER_BYTE).map_err(opening)? {
        Some(lock) => Ok(Some((file, lock))),
        None => Err(locked_by_holder(&file)),
    }
}

/// Removes what creators of the same target left when they died. Failures leave it where it is.
fn remove_stale(target: &Path) {
    let prefix = name_prefix(target);
    let folder = target.parent().unwrap_or(target);
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_candidate = entry.file_name().to_string_lossy().starts_with(&prefix)
            && entry.file_type().is_ok_and(|kind| kind.is_file());
        if !is_candidate {
            continue;
        }
        let Ok(file) = open_for_writing(&entry.path()) else {
            continue;
        };
        if let Ok(Some(_lock)) = ByteLock::exclusive(&file, WRITER_BYTE) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect()
    }

    #[test]
    fn a_dropped_file_is_gone_and_a_renamed_one_has_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("notes.kb");
        let temporary = Temporary::create(&target).unwrap();
        let name = temporary
            .path()
            .file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned();
        assert!(name.starts_with(".notes.kb.tmp-"), "{name}");
        assert_eq!(names(folder.path()), [name]);
        drop(temporary);
        assert_eq!(names(folder.path()), [""; 0]);
        Temporary::create(&target).unwrap().rename().unwrap();
        assert_eq!(names(folder.path()), ["notes.kb"]);
    }

    #[test]
    fn leftovers_of_the_dead_are_removed_and_those_of_the_living_stay() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("notes.kb");
        fs::write(folder.path().join(".notes.kb.tmp-1-0"), b"half").unwrap();
        fs::write(folder.path().join(".other.kb.tmp-1-0"), b"half").unwrap();
        let living = Temporary::create(&target).unwrap();
        let second = Temporary::create(&target).unwrap();
        assert!(living.path().exists() && second.path().exists());
        assert!(!folder.path().join(".notes.kb.tmp-1-0").exists());
        assert!(folder.path().join(".other.kb.tmp-1-0").exists());
        living.rename().unwrap();
        // The slower of two creators must not silently replace what the other has finished.
        assert!(matches!(second.rename(), Err(Error::IndexLocked { .. })));
        assert_eq!(fs::read(&target).unwrap(), b"");
    }

    #[test]
    fn a_file_that_is_no_kb_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("notes.txt");
        fs::write(&target, b"dear diary").unwrap();
        let error = Temporary::create(&target).unwrap_err();
        assert!(matches!(error, Error::NotAKb { .. }), "{error}");
        let error = Temporary::create(folder.path()).unwrap_err();
        assert!(matches!(error, Error::NotAKb { .. }), "{error}");
        assert_eq!(fs::read(&target).unwrap(), b"dear diary");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link_and_permissions_stay_too() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("real.kb");
        let link = folder.path().join("link.kb");
        fs::write(&target, b"").unwrap();
        fs::set_permissions(&target, fs::Permissions::from_mode(0o600)).unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        let temporary = Temporary::create(&link).unwrap();
        std::io::Write::write_all(&mut temporary.file(), b"new").unwrap();
        temporary.rename().unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&target).unwrap(), b"new");
        assert_eq!(
            fs::metadata(&target).unwrap().permissions().mode() & 0o777,
            0o600
        );
    }
}
