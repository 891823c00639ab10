//! A file that is built under a temporary name and takes its real name when it is whole.
//!
//! The temporary name follows from the real one, and the file of that name is locked: two creators of
//! one file meet at once. What a dead creator left is taken over. The file that will be replaced stays
//! locked meanwhile, so that no writer can commit to it what the rename would lose.

use crate::container::disk::{self, create_new, open_for_writing};
use crate::container::holder::{locked_by_holder, publish_nobody, publish_opening};
use crate::container::is_same_file;
use crate::container::lock::{
    ByteLock, MOST_REOPENS, WRITER_BYTE, Waiting, kept_replacing, lock_file,
};
use crate::container::redb_file::Opener;
use crate::container::signature::{BLOCK, Signature};
use crate::container::snapshot::REDB_MAGIC;
use crate::error::{Error, Result};
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

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
    /// Whether it has its real name.
    renamed: bool,
    /// Keeps other creators of the same target away.
    _lock: ByteLock,
}

impl Temporary {
    /// Creates an empty file beside `target` that names `opener` as its holder, and locks the file that
    /// is at `target` now, if any.
    pub(crate) fn create(target: &Path, opener: &Opener) -> Result<Temporary> {
        let waiting = Waiting::new(opener.wait);
        let mut temporary = waiting.until_free(|| Temporary::lock(target))?;
        let creating = |source| Error::io("create", &temporary.path, source);
        disk::set_len(&temporary.file, 0).map_err(creating)?;
        publish_opening(&temporary.file, opener).map_err(creating)?;
        // Only now: what another creator finished until here is replaced knowingly.
        temporary.replaced = waiting.until_free(|| lock_replaced(&temporary.target))?;
        Ok(temporary)
    }

    /// Opens and locks the file of the temporary name, whatever it holds.
    fn lock(target: &Path) -> Result<Temporary> {
        for _ in 0..MOST_REOPENS {
            let target = match fs::canonicalize(target) {
                Ok(existing) => existing,
                Err(_) => std::path::absolute(target)
                    .map_err(|source| Error::io("create", target, source))?,
            };
            check_replaceable(&target)?;
            let path = temporary_path(&target);
            let creating = |source| Error::io("create", &path, source);
            let file = match fs::symlink_metadata(&path) {
                // Not through a link: what it names is not ours to truncate.
                Ok(found) if !found.is_file() => {
                    return Err(creating(io::ErrorKind::AlreadyExists.into()));
                }
                Ok(found) if has_other_names(&found) => {
                    disk::remove(&path).map_err(creating)?;
                    continue;
                }
                Ok(_) => match open_for_writing(&path) {
                    Err(Error::PathNotFound { .. }) => continue,
                    opened => opened?,
                },
                Err(error) if error.kind() == io::ErrorKind::NotFound => match create_new(&path) {
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                    created => created.map_err(creating)?,
                },
                Err(error) => return Err(creating(error)),
            };
            let Some(lock) = ByteLock::exclusive(&file, WRITER_BYTE).map_err(creating)? else {
                return Err(locked_by_holder(&file));
            };
            // Its creator may have renamed or removed it before the lock was free.
            let named = fs::symlink_metadata(&path);
            if named.is_ok_and(|named| is_open_file(&named, &file)) {
                return Ok(Temporary {
                    path,
                    target,
                    file,
                    replaced: None,
                    renamed: false,
                    _lock: lock,
                });
            }
        }
        Err(kept_replacing())
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

    /// Makes the bytes durable and gives the file its real name, which is durable on return. It names
    /// no holder any more.
    pub(crate) fn rename(mut self) -> Result<()> {
        let path = &self.path;
        publish_nobody(&self.file).map_err(|source| Error::io("write", path, source))?;
        if let Some((replaced, _)) = &self.replaced {
            let copied = replaced
                .metadata()
                .and_then(|metadata| disk::set_permissions(&self.file, metadata.permissions()));
            copied.map_err(|source| Error::io("set permissions of", path, source))?;
        }
        disk::sync_all(&self.file).map_err(|source| Error::io("sync", path, source))?;
        let unchanged = match &self.replaced {
            Some((replaced, _)) => {
                let named = fs::metadata(&self.target);
                named.is_ok_and(|named| is_open_file(&named, replaced))
            }
            None => !self.target.exists(),
        };
        if !unchanged {
            return Err(Error::IndexLocked {
                holder: "another program, which has just replaced it".to_owned(),
            });
        }
        disk::rename(path, &self.target)
            .map_err(|source| Error::io("rename", &self.target, source))?;
        self.renamed = true;
        let folder = self.target.parent().unwrap_or(&self.target);
        disk::sync_folder(folder).map_err(|source| Error::io("sync", folder, source))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.renamed {
            // While it is locked, so that it is not taken over before it is gone. What cannot be
            // removed now is taken over by the next creator.
            let _ = disk::remove(&self.path);
        }
    }
}

/// `.notes.kb.tmp` for `notes.kb`.
fn temporary_path(target: &Path) -> PathBuf {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.strip_suffix(".kb").unwrap_or(&name);
    target.with_file_name(format!(".{stem}.kb.tmp"))
}

fn is_open_file(named: &Metadata, file: &File) -> bool {
    file.metadata().is_ok_and(|open| is_same_file(named, &open))
}

/// Whether the file has names beside the one that it was found by.
#[cfg(unix)]
fn has_other_names(found: &Metadata) -> bool {
    std::os::unix::fs::MetadataExt::nlink(found) > 1
}

/// Not known on Windows.
#[cfg(not(unix))]
fn has_other_names(_: &Metadata) -> bool {
    false
}

/// # Errors
/// [`Error::NotAKb`] when there is something at `target` that must not be lost.
fn check_replaceable(target: &Path) -> Result<()> {
    let opening = |source| Error::io("open", target, source);
    match fs::metadata(target) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(opening(error)),
        Ok(metadata) if !metadata.is_file() => {
            return Err(Error::NotAKb {
                reason: "a folder or a device is where the .kb shall be",
            });
        }
        Ok(_) => {}
    }
    let mut head = Vec::new();
    File::open(target)
        .and_then(|file| file.take(BLOCK.end as u64).read_to_end(&mut head))
        .map_err(opening)?;
    let ours =
        head.starts_with(&REDB_MAGIC) || head.get(BLOCK).is_some_and(Signature::looks_like_block);
    if !head.is_empty() && !ours {
        return Err(Error::NotAKb {
            reason: "another file is where the .kb shall be, and would be lost",
        });
    }
    Ok(())
}

/// Locks what `target` names now; `None` when there is nothing.
fn lock_replaced(target: &Path) -> Result<Option<(File, ByteLock)>> {
    check_replaceable(target)?;
    match lock_file(target) {
        Err(Error::PathNotFound { .. }) => Ok(None),
        locked => locked.map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::container::fixture::{names, opener};
    use std::time::Duration;

    #[test]
    fn a_dropped_file_is_gone_and_a_renamed_one_has_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("notes.kb");
        let temporary = Temporary::create(&target, &opener()).unwrap();
        assert_eq!(names(folder.path()), [".notes.kb.tmp"]);
        drop(temporary);
        assert_eq!(names(folder.path()), [""; 0]);
        let temporary = Temporary::create(&target, &opener()).unwrap();
        temporary.rename().unwrap();
        assert_eq!(names(folder.path()), ["notes.kb"]);
        // Nobody is named in what was renamed.
        assert!(fs::read(&target).unwrap().iter().all(|byte| *byte == 0));
    }

    #[test]
    fn the_second_of_two_creators_is_refused_at_once_and_works_after_the_first() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("notes.kb");
        let first = Temporary::create(&target, &opener()).unwrap();
        let Err(Error::IndexLocked { holder }) = Temporary::create(&target, &opener()) else {
            panic!("two creators");
        };
        let process = format!("kb test, process {}", std::process::id());
        assert!(holder.starts_with(&process), "{holder}");
        assert!(first.path().exists());
        first.rename().unwrap();
        fs::write(&target, b"").unwrap();
        let second = Temporary::create(&target, &opener()).unwrap();
        // What the first made is not taken for nothing.
        assert!(second.replaces());
        assert!(matches!(lock_file(&target), Err(Error::IndexLocked { .. })));
    }

    #[test]
    fn a_creator_waits_for_the_other_as_long_as_it_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("notes.kb");
        let first = Temporary::create(&target, &opener()).unwrap();
        let patient = Opener {
            wait: Duration::from_secs(60),
            ..opener()
        };
        let second = std::thread::scope(|scope| {
            let second = scope.spawn(|| Temporary::create(&target, &patient));
            std::thread::sleep(Duration::from_millis(120));
            assert!(!second.is_finished());
            drop(first);
            second.join().unwrap()
        });
        assert!(!second.unwrap().replaces());
    }

    #[test]
    fn a_leftover_of_the_dead_is_taken_over() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("notes.kb");
        let leftover = folder.path().join(".notes.kb.tmp");
        fs::write(&leftover, vec![7; 10_000]).unwrap();
        fs::write(folder.path().join(".other.kb.tmp"), b"half").unwrap();
        let temporary = Temporary::create(&target, &opener()).unwrap();
        assert_eq!(temporary.path(), fs::canonicalize(&leftover).unwrap());
        assert!(fs::read(&leftover).unwrap().len() < 4096);
        drop(temporary);
        assert_eq!(names(folder.path()), [".other.kb.tmp"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_of_the_temporary_name_does_not_lead_to_the_loss_of_another_file() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("notes.kb");
        let (diary, link) = (
            folder.path().join("diary"),
            folder.path().join(".notes.kb.tmp"),
        );
        fs::write(&diary, b"dear diary").unwrap();
        std::os::unix::fs::symlink(&diary, &link).unwrap();
        let refused = Temporary::create(&target, &opener());
        assert!(matches!(refused, Err(Error::Io { .. })), "{refused:?}");
        fs::remove_file(&link).unwrap();
        fs::hard_link(&diary, &link).unwrap();
        drop(Temporary::create(&target, &opener()).unwrap());
        assert_eq!(fs::read(&diary).unwrap(), b"dear diary");
    }

    #[test]
    fn a_file_that_is_no_kb_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("notes.txt");
        fs::write(&target, b"dear diary").unwrap();
        let error = Temporary::create(&target, &opener()).unwrap_err();
        assert!(matches!(error, Error::NotAKb { .. }), "{error}");
        let error = Temporary::create(folder.path(), &opener()).unwrap_err();
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
        let temporary = Temporary::create(&link, &opener()).unwrap();
        disk::write_at(temporary.file(), b"new", 0).unwrap();
        temporary.rename().unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert!(fs::read(&target).unwrap().starts_with(b"new"));
        assert_eq!(
            fs::metadata(&target).unwrap().permissions().mode() & 0o777,
            0o600
        );
    }
}
