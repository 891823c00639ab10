//! The writer: stock redb, one transaction per commit, every commit in two phases with the allocator
//! state in it, so that a reader can trust an unchanged slot and a crash costs no repair.
//!
//! A new file is built under a temporary name; nobody reads it before it is renamed. A file in place
//! is written beside its readers: through a backend that never takes away what was written, behind a lock and a writer
//! record, with recent commits kept readable.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use kb_types::error::{Error, Result};
use redb::{Builder, Database};

use crate::container::layout::commit_slot::{length_for_redb, length_with_room};
use crate::container::layout::signature::{BLOCK, HEADER_KEY, HEADER_TABLE, Signature, new_uuid};
use crate::container::layout::table::Key;
use crate::container::read::container::Container;
use crate::container::write::backend::{FileStorage, Written};
use crate::container::write::disk::{read_at, set_len, write_at};
use crate::container::write::identity::WriterIdentity;
use crate::container::write::lock::{LockTimeout, lock_file};
use crate::container::write::new_file::temporary::{self, Temporary};
use crate::container::write::open_writer::{Live, OpenWriter, Target};
use crate::container::write::page_check::PageCheck;
use crate::container::write::panic_guard::{PanicGuard, from_redb};
use crate::container::write::retained::RetainedSnapshots;
use crate::container::write::transaction::Transaction;

/// Size of redb's page cache, in bytes.
// It also bounds the dirty pages that a transaction keeps before they are written. redb's default
// is 1 GiB, which an indexing run would fill; a writer hardly reads pages twice, and readers use
// the map.
const CACHE_BYTES: usize = 64 << 20;

/// The one writer of a file.
///
/// Dropped without [`ContainerWriter::finish`], a new file vanishes and a file in place keeps what
/// was committed.
///
/// It belongs to the process that opened it. In a process forked from that one every call fails with
/// [`Error::ForkedWriter`], and dropping it neither writes nor unlocks: its memory and its handles of
/// the file are left to the end of that process. The lock is one of the open file, which both
/// processes have: it ends when the writer is closed where it was opened, but when that process is
/// killed, only with the last process that has inherited the file.
#[derive(Debug)]
pub struct ContainerWriter {
    /// What its transactions share.
    state: OpenWriter,
}

impl ContainerWriter {
    /// Starts a new file, which replaces what is at `path` when it is finished. Until then it has a
    /// hidden temporary name in the same folder; both it and the file at `path` are locked against
    /// creators and writers. A .kb that is replaced hands on its uuid and its time of creation.
    ///
    /// A file that another process finished at `path` a moment ago is replaced too: who has just
    /// looked and seen nothing there must ask [`ContainerWriter::replaces`].
    ///
    /// # Errors
    /// [`Error::IndexLocked`] naming who creates or writes the file, after the time that `identity`
    /// waits; [`Error::NotAKb`] when something else than a .kb is there; [`Error::Io`],
    /// [`Error::Storage`].
    pub fn create(path: &Path, identity: &WriterIdentity) -> Result<ContainerWriter> {
        let temporary = Temporary::create(path, identity)?;
        let creating = |source| Error::io("create", path, source);
        let guard = PanicGuard::default();
        let storage =
            FileStorage::of_new_file(temporary.file(), guard.clone()).map_err(creating)?;
        let database = guard.call(|| builder().create_with_backend(storage).map_err(from_redb))?;
        let signature = match temporary.remade().and_then(Result::ok) {
            // The uuid names the content's history: clients that know a file keep knowing it after
            // a rebuild.
            Some(replaced) => {
                let replaced = replaced.signature();
                Signature::new(replaced.uuid, replaced.created_unix_ms)
            }
            None => Signature::new(new_uuid(path, identity.unix_ms), identity.unix_ms),
        };
        let block = signature.to_block();
        write_at(temporary.file(), &block, BLOCK.start as u64).map_err(creating)?;
        let target = Target::New(Box::new(temporary));
        let mut writer = ContainerWriter {
            state: OpenWriter::new(database, target, guard),
        };
        let mut transaction = writer.begin()?;
        let record = signature.to_record()?;
        transaction.put(HEADER_TABLE, Key::Str(HEADER_KEY), &record)?;
        transaction.commit()?;
        Ok(writer)
    }

    /// Opens the file at `path` to change it in place, beside its readers. Later it is this file that
    /// is changed, whatever its name; but a commit is refused once `path` does not lead to it any more.
    ///
    /// Damage is not built upon: redb's own tables are checked here, every other page when redb first
    /// reads it. So opening costs the same for every size of file, but for the 1/16 000 of it that
    /// redb's lists of pages are.
    ///
    /// # Errors
    /// [`Error::IndexLocked`] naming the other writer, after the time that `identity` waits; as
    /// [`Container::open`]; [`Error::FormatUnsupported`] for a feature that a writer must know.
    pub fn open(path: &Path, identity: &WriterIdentity) -> Result<ContainerWriter> {
        let opening = |source| Error::io("open", path, source);
        let (file, lock) = LockTimeout::new(identity.lock_timeout).retry(|| lock_file(path))?;
        // Only with the lock on the target: its creator would hold that lock.
        temporary::remove_dead(path);
        let path = std::path::absolute(path).map_err(opening)?;
        // Into a file of a format that this program does not know, nothing is written.
        let reader = Container::of_file(&file, &path)?;
        reader.signature().check_writable()?;
        // First the record, then redb: a record that a dead writer left promises commits which redb
        // is about to overwrite.
        let mut retained = RetainedSnapshots::begin(file, identity).map_err(opening)?;
        let checked = reader.read(|snapshot| {
            snapshot.check_system()?;
            PageCheck::new(snapshot)
        });
        let pages = checked.inspect_err(|_| {
            let _ = retained.restore_previous();
        })?;
        let written = Arc::<Written>::default();
        // Before redb lengthens the file.
        let len_before = retained.file().metadata().map_err(opening)?.len();
        let guard = PanicGuard::default();
        let opened = open_in_place(&mut retained, &written, &guard, pages);
        let database = opened.inspect_err(|_| {
            // The record protects nothing, so leaving it does no harm either.
            let _ = retained.clear_record();
        })?;
        let live = Live {
            retained,
            path,
            reader,
            written,
            len_before,
            dropped_bytes: 0,
            _lock: lock,
        };
        let target = Target::Live(Box::new(live));
        Ok(ContainerWriter {
            state: OpenWriter::new(database, target, guard),
        })
    }

    /// Builds the file at `path` anew without its unused space, and puts it in the place of the old one. Readers of the
    /// old one keep it until their next request. Both are on the disk meanwhile. An empty file stays as it is.
    ///
    /// # Errors
    /// As [`ContainerWriter::create`] and [`ContainerWriter::open`]. The old file stays then.
    pub fn compact(path: &Path, identity: &WriterIdentity) -> Result<()> {
        let temporary = Temporary::create(path, identity)?;
        let Some(source) = temporary.replaced().transpose()? else {
            return Ok(());
        };
        source.signature().check_writable()?;
        let pages = source.read(|snapshot| {
            snapshot.check_system()?;
            PageCheck::new(snapshot)
        })?;
        // Windows renames nothing over a mapped file.
        drop(source);
        let len = temporary.copy_replaced(identity)?;
        let guard = PanicGuard::default();
        let storage = FileStorage::of_copy(temporary.file(), len, guard.clone(), pages);
        let storage = storage.map_err(|source| Error::io("copy", path, source))?;
        let database = guard.call(|| builder().create_with_backend(storage).map_err(from_redb))?;
        let target = Target::New(Box::new(temporary));
        let writer = ContainerWriter {
            state: OpenWriter::new(database, target, guard),
        };
        // Closing a new file moves its pages together.
        writer.finish()
    }

    /// Refuses changes with [`Error::Cancelled`] once `cancel` is set, so that a long series of them
    /// can be stopped. The writer can only be dropped then.
    pub fn set_cancel(&mut self, cancel: Option<Arc<AtomicBool>>) {
        self.state.cancel = cancel;
    }

    /// Gives a new file no more readers than `source` has, to whose content it will testify: its
    /// permissions are those of both the usual ones and those of `source`.
    ///
    /// # Errors
    /// [`Error::Io`] when the permissions of `source` cannot be read.
    pub fn limit_access(&mut self, source: &Container) -> Result<()> {
        match (&mut self.state.target, &source.current().file) {
            (Some(Target::New(temporary)), Some((file, _))) => temporary.limit_access(file),
            _ => Ok(()),
        }
    }

    /// Whether this process may use the writer, and, for a file in place, whether the path that it was
    /// opened by still leads to it.
    ///
    /// # Errors
    /// [`Error::ForkedWriter`]; [`Error::FileReplaced`] when the file was moved, removed or replaced;
    /// [`Error::Io`] when the system does not tell.
    pub fn check(&self) -> Result<()> {
        self.state.check()
    }

    /// Whether this is a new file that will replace one which is there now.
    pub fn replaces(&self) -> bool {
        matches!(&self.state.target, Some(Target::New(temporary)) if temporary.replaces())
    }

    /// The file that a new one will replace, as it was locked; `None` when there is none, or when it
    /// is empty.
    ///
    /// # Errors
    /// As [`Container::open`].
    pub fn replaced(&self) -> Result<Option<Container>> {
        match &self.state.target {
            Some(Target::New(temporary)) => temporary.replaced().transpose(),
            _ => Ok(None),
        }
    }

    /// The same, also where it has an older format: see [`Container::is_older`].
    ///
    /// # Errors
    /// As [`Container::open`].
    pub fn remade(&self) -> Result<Option<Container>> {
        match &self.state.target {
            Some(Target::New(temporary)) => temporary.remade().transpose(),
            _ => Ok(None),
        }
    }

    /// What is written, also before it is finished: the last commit.
    ///
    /// # Errors
    /// As [`Container::open`]; [`Error::WriterFailed`] once it is closed.
    pub fn written(&self) -> Result<Container> {
        match &self.state.target {
            Some(Target::New(temporary)) => Container::of_file(temporary.file(), temporary.path()),
            Some(Target::Live(live)) => Ok(live.reader.clone()),
            None => Err(Error::WriterFailed),
        }
    }

    /// The last commit of a file in place, as readers see it; `None` for a new file, which nobody
    /// reads before it is finished.
    pub fn reader(&self) -> Option<&Container> {
        self.state.reader()
    }

    /// Begins the changes of one commit.
    ///
    /// # Errors
    /// As [`ContainerWriter::check`]; [`Error::WriterFailed`] after a failure; [`Error::Storage`].
    pub fn begin(&mut self) -> Result<Transaction<'_>> {
        let changes = self.state.begin()?;
        Ok(Transaction::new(changes, &mut self.state))
    }

    /// Finishes a new file and goes on as its writer in place: what was committed is durable and readers have it.
    /// For a file in place it does nothing.
    ///
    /// # Errors
    /// As [`ContainerWriter::finish`] and [`ContainerWriter::open`]: another writer may be faster, and what it commits
    /// is not known here.
    pub fn publish(&mut self, path: &Path, identity: &WriterIdentity) -> Result<()> {
        if !matches!(self.state.target, Some(Target::New(_))) {
            return Ok(());
        }
        self.state.guard.check_process()?;
        let (failed, cancel) = (self.state.failed, self.state.cancel.clone());
        let target = self.state.close()?;
        if failed {
            return Err(Error::WriterFailed);
        }
        if let Some(Target::New(temporary)) = target {
            temporary.rename()?;
        }
        *self = ContainerWriter::open(path, identity)?;
        self.state.cancel = cancel;
        Ok(())
    }

    /// Closes the file. A new one is trimmed, made durable and renamed to its path.
    ///
    /// # Errors
    /// [`Error::WriterFailed`] after a failure; [`Error::Storage`] or [`Error::Io`] when closing
    /// fails. A new file is gone then; in a file in place every commit stays.
    pub fn finish(mut self) -> Result<()> {
        self.state.guard.check_process()?;
        let failed = self.state.failed;
        let target = self.state.close()?;
        if failed {
            return Err(Error::WriterFailed);
        }
        match target {
            Some(Target::New(temporary)) => temporary.rename(),
            Some(Target::Live(_)) | None => Ok(()),
        }
    }
}

/// Gives the file to redb and publishes what is protected.
fn open_in_place(
    retained: &mut RetainedSnapshots,
    written: &Arc<Written>,
    guard: &PanicGuard,
    pages: PageCheck,
) -> Result<Database> {
    let mut header = [0; 64];
    read_at(retained.file(), &mut header, 0).map_err(Error::storage)?;
    let file_len = retained.file().metadata().map_err(Error::storage)?.len();
    let mut len = length_with_room(&header, file_len);
    // redb takes a file that is longer than its layout as after a crash: its lists of pages get longer too.
    if len > file_len && set_len(retained.file(), len).is_err() {
        len = length_for_redb(&header, file_len);
    }
    let (written, redbs_guard) = (Arc::clone(written), guard.clone());
    let storage_of_redb = FileStorage::in_place(retained.file(), len, written, redbs_guard, pages);
    let storage_of_redb = storage_of_redb.map_err(Error::storage)?;
    guard.call(|| {
        let database = builder()
            .create_with_backend(storage_of_redb)
            .map_err(from_redb)?;
        retained.start_serving(&database).map(|()| database)
    })
}

fn builder() -> Builder {
    let mut builder = Builder::new();
    builder.set_cache_size(CACHE_BYTES);
    builder
}

#[cfg(test)]
mod tests;
