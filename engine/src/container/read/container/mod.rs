//! One .kb, open for reading.

use std::fs;
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, PoisonError, RwLock};

use kb_types::error::{Error, Result};

use crate::container::layout::commit_slot::CommitSlot;
#[cfg(feature = "ingest")]
use crate::container::layout::signature::OLDEST_REMADE;
use crate::container::layout::signature::{OLDEST_READABLE, Signature};
#[cfg(feature = "ingest")]
use crate::container::layout::writer_record::WriterInfo;
#[cfg(feature = "ingest")]
use crate::container::layout::writer_record::{RECORD_LEN, WHOLE_LEN, WRITER_RECORD, read_writer};
#[cfg(feature = "ingest")]
use crate::container::read::byte_lock::{ByteLock, LEASE_BYTE, WRITER_BYTE};
use crate::container::read::map::{HasMap, Map};
use crate::container::read::mapped_file::{MappedFile, is_same_file};
use crate::container::read::snapshot::Snapshot;

/// Attempts at one request before it counts as overtaken.
// Retained commits make one retry rare: none of 132,356 requests beside 197 commits expired
// (docs/decisions/03-readers-without-locks.md). Without a bound a slow request could repeat forever
// beside a fast writer.
pub(crate) const MAX_ATTEMPTS: usize = 5;

/// One .kb, open for reading. Follows commits, and the file that is renamed over its path. Clones are
/// cheap and share what is mapped.
#[derive(Debug, Clone)]
pub struct Container {
    /// Where it was opened, absolute; `None` for bytes.
    path: Option<PathBuf>,
    /// Whether it reads what the path names, and not one file whatever its name.
    follows_path: bool,
    /// What is read now. Requests under way keep what they began with.
    current: Arc<RwLock<Arc<MappedFile>>>,
}

impl Container {
    /// Opens the file at `path` through a memory map. Takes no lock and needs no write access.
    ///
    /// Cost: the signature and the commit slot are checked, nothing else is read. A foreign program
    /// that truncates the file while it is mapped ends this process with SIGBUS; our own writer takes
    /// back only room at its end that no commit ever used.
    ///
    /// # Errors
    /// [`Error::PathNotFound`], [`Error::Io`]; [`Error::NotAKb`] when the bytes are something else,
    /// [`Error::FormatUnsupported`] when a version or feature is not known, [`Error::Damaged`] when
    /// header or signature fail their checksums.
    pub fn open(path: &Path) -> Result<Container> {
        let path = std::path::absolute(path).map_err(|source| Error::io("open", path, source))?;
        let opened = MappedFile::of_path(&path, 0)?;
        Ok(Container::new(Some(path), true, opened))
    }

    /// Opens an open file, whatever becomes of its name. `path` is the name it was opened by.
    pub(crate) fn of_file(file: &File, path: &Path) -> Result<Container> {
        Container::of_file_since(file, path, OLDEST_READABLE)
    }

    /// The same of a file that an index run makes anew. It may have an older format: then only the rows that
    /// [`crate::catalog::Catalog::load_older`] reads can be decoded, and no column.
    ///
    /// # Errors
    /// As [`Container::open`].
    #[cfg(feature = "ingest")]
    pub(crate) fn of_remade(file: &File, path: &Path) -> Result<Container> {
        Container::of_file_since(file, path, OLDEST_REMADE)
    }

    fn of_file_since(file: &File, path: &Path, oldest: (u16, u16)) -> Result<Container> {
        let opening = |source| Error::io("open", path, source);
        let path = std::path::absolute(path).map_err(opening)?;
        let file = file.try_clone().map_err(opening)?;
        let opened = MappedFile::of_file(file, &path, 0, oldest)?;
        Ok(Container::new(Some(path), false, opened))
    }

    fn new(path: Option<PathBuf>, follows_path: bool, opened: MappedFile) -> Container {
        Container {
            path,
            follows_path,
            current: Arc::new(RwLock::new(Arc::new(opened))),
        }
    }

    /// Opens a file held in memory.
    ///
    /// # Errors
    /// As [`Container::open`], without those of the file system.
    pub fn from_bytes(bytes: impl Into<Arc<[u8]>>) -> Result<Container> {
        let opened = MappedFile::of_map(Map::Bytes(bytes.into()), 0, None, OLDEST_READABLE)?;
        Ok(Container::new(None, false, opened))
    }

    /// What the file says of itself.
    pub fn signature(&self) -> Signature {
        self.current().signature
    }

    /// Length of the file as last mapped. May exceed what is used: a file keeps its largest size.
    pub fn len_bytes(&self) -> u64 {
        self.current().map.len()
    }

    /// Where the file was opened; `None` for bytes.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Runs `request` on the newest commit and returns its result once it is
    /// certain that no page was reused while it was read. Otherwise runs it again, at most five
    /// times. `request` must have no effects that a second run would repeat.
    ///
    /// # Errors
    /// [`Error::SnapshotExpired`] when commits overtook every attempt; what `request` says; as
    /// [`Container::open`] when another file was renamed over the path.
    pub fn read<T>(&self, request: impl FnMut(&Snapshot<'_>) -> Result<T>) -> Result<T> {
        self.read_cancellable(None, request)
    }

    /// As [`Container::read`], for requests that read very much: once `cancel` is set, the next page
    /// that is read ends the request.
    ///
    /// # Errors
    /// As [`Container::read`]; [`Error::Cancelled`].
    pub fn read_cancellable<T>(
        &self,
        cancel: Option<&AtomicBool>,
        mut request: impl FnMut(&Snapshot<'_>) -> Result<T>,
    ) -> Result<T> {
        let mut opened = self.reopen_if_replaced()?;
        let mut attempts = 0;
        // A remap does not count as an attempt: the map then has the file's length, and the file
        // grows only by commits.
        while attempts < MAX_ATTEMPTS {
            let slot = CommitSlot::read(&opened.map)?;
            let file: Arc<dyn HasMap> = Arc::<MappedFile>::clone(&opened);
            let snapshot = Snapshot::new(&opened.map, slot, opened.generation)
                .with_file(file)
                .with_cache(&opened.pages)
                .with_cancel(cancel);
            let answer = request(&snapshot);
            if answer.is_err()
                && snapshot.btree().went_beyond_map()
                && let Some(longer) = self.remap_if_grown(&opened)?
            {
                opened = longer;
                continue;
            }
            // Errors are confirmed as well: what looks like damage may be a page that was reused
            // while it was read.
            if slot.is_valid(&opened.map) {
                return answer;
            }
            attempts += 1;
        }
        Err(Error::SnapshotExpired)
    }

    /// Who writes the file now, in this process or another; `None` when nobody does, or the system does not
    /// tell. The lock decides, not the record: a writer that was killed is none. What the record says is
    /// empty for the moment between the two.
    ///
    /// # Errors
    /// As [`Container::open`] when another file was renamed over the path.
    #[cfg(feature = "ingest")]
    pub fn writer(&self) -> Result<Option<WriterInfo>> {
        let opened = self.reopen_if_replaced()?;
        let Some((file, _)) = &opened.file else {
            return Ok(None);
        };
        // The lock ends with its process; the record of a killed writer stays in the file.
        if !ByteLock::is_held(file, WRITER_BYTE).unwrap_or(false) {
            return Ok(None);
        }
        let bytes = opened
            .map
            .copy(WRITER_RECORD.start as u64, WHOLE_LEN as u64);
        let bytes = bytes.unwrap_or_default();
        let (record, text) = bytes.split_at_checked(RECORD_LEN).unwrap_or_default();
        Ok(Some(read_writer(record, text).unwrap_or(WriterInfo {
            program: String::new(),
            host: String::new(),
            process_id: 0,
            since_ms: 0,
        })))
    }

    /// Asks a writer in another process to keep commits readable for longer, up to 60 s, while the
    /// guard lives: for requests that read very much. Only a wish; [`Container::read`] decides. A
    /// build that cannot write cannot ask either: redb has the locks.
    pub fn lease(&self) -> ReadLease {
        ReadLease {
            #[cfg(feature = "ingest")]
            _lock: self.lease_lock(),
        }
    }

    #[cfg(feature = "ingest")]
    fn lease_lock(&self) -> Option<ByteLock> {
        let path = self.path.as_ref().filter(|_| self.follows_path)?;
        // A file handle of its own: locks of one open file are one lock, and the first guard that is
        // dropped would end all.
        let file = File::open(path).ok()?;
        ByteLock::shared(&file, LEASE_BYTE).ok().flatten()
    }

    pub(crate) fn current(&self) -> Arc<MappedFile> {
        // The lock guards one assignment, which cannot leave a half-made value, so a poisoned lock
        // is used.
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&current)
    }

    fn replace(&self, opened: MappedFile) -> Arc<MappedFile> {
        let opened = Arc::new(opened);
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        *current = Arc::clone(&opened);
        opened
    }

    /// What is under the path now: a rebuild or a seal renames a new file over it. A path that is
    /// gone is no reason to stop reading what is mapped.
    pub(crate) fn reopen_if_replaced(&self) -> Result<Arc<MappedFile>> {
        let opened = self.current();
        let (Some(path), Some((_, mapped)), true) = (&self.path, &opened.file, self.follows_path)
        else {
            return Ok(opened);
        };
        match fs::metadata(path) {
            // One `stat` for each request finds a file that a rebuild or a seal renamed over the
            // path.
            Ok(named) if !is_same_file(&named, mapped) || opened.has_other_signature() => {
                let opened = MappedFile::of_path(path, opened.generation + 1)?;
                Ok(self.replace(opened))
            }
            _ => Ok(opened),
        }
    }

    /// Whether nothing is under the path any more, so that what is read has no name. Looks once.
    pub fn is_gone(&self) -> bool {
        let Some(path) = self.path.as_ref().filter(|_| self.follows_path) else {
            return false;
        };
        matches!(fs::metadata(path), Err(error) if error.kind() == ErrorKind::NotFound)
    }

    /// Maps what was appended to the file since it was mapped. [`Container::read`] finds that out by
    /// itself, and then asks once more; a reader that cannot do its work twice calls this before.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn map_growth(&self) -> Result<()> {
        self.remap_if_grown(&self.current()).map(|_| ())
    }

    /// Maps the file again if it is longer than the map.
    pub(crate) fn remap_if_grown(&self, opened: &MappedFile) -> Result<Option<Arc<MappedFile>>> {
        let Some(path) = &self.path else {
            return Ok(None);
        };
        Ok(opened.remapped(path)?.map(|longer| self.replace(longer)))
    }
}

/// While it lives, writers are asked to keep commits readable. See [`Container::lease`].
#[derive(Debug)]
pub struct ReadLease {
    /// The lock that says so, if it could be taken.
    #[cfg(feature = "ingest")]
    _lock: Option<ByteLock>,
}

#[cfg(test)]
mod tests;
