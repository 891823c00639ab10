//! The state of an open writer: redb over a new file or a file in place, commits and closing.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{fs, io};

use kb_types::error::{Error, Result};
use redb::{Database, WriteTransaction};

use crate::container::layout::commit_slot::resting_layout_len;
use crate::container::read::byte_lock::ByteLock;
use crate::container::read::container::Container;
use crate::container::read::mapped_file::is_same_file;
use crate::container::write::backend::Written;
use crate::container::write::disk::{read_at, set_len};
use crate::container::write::new_file::temporary::Temporary;
use crate::container::write::panic_guard::{PanicGuard, from_redb};
use crate::container::write::retained::{RetainedSnapshots, newest_transaction};

/// Where a writer writes.
#[derive(Debug)]
pub(crate) enum Target {
    /// Under a temporary name.
    New(Box<Temporary>),
    /// Where readers are.
    Live(Box<Live>),
}

/// A file in place.
#[derive(Debug)]
pub(crate) struct Live {
    /// The recent commits that readers may still use.
    pub(crate) retained: RetainedSnapshots,
    /// The name that it was opened by, absolute.
    pub(crate) path: PathBuf,
    /// The last commit of this file, whatever its name, through the B-tree reader.
    pub(crate) reader: Container,
    /// Bytes of tree pages, and where the last write ended: the file is cut there when it is closed.
    pub(crate) written: Arc<Written>,
    /// Length of the file when it was opened.
    pub(crate) len_before: u64,
    /// Bytes of extents and large values that were dropped.
    pub(crate) dropped_bytes: u64,
    /// Released last.
    pub(crate) _lock: ByteLock,
}

/// An open writer without its public face: what [`ContainerWriter`](crate::container::ContainerWriter)
/// and its transactions share.
#[derive(Debug)]
pub(crate) struct OpenWriter {
    /// redb; `None` once closed.
    pub(crate) database: Option<Database>,
    /// Where it writes; `None` once closed.
    pub(crate) target: Option<Target>,
    /// Set by the first failure of storage; nothing is accepted after it.
    pub(crate) failed: bool,
    /// Contains panics of redb.
    pub(crate) guard: PanicGuard,
    /// Once it is set, changes are refused.
    pub(crate) cancel: Option<Arc<AtomicBool>>,
}

impl OpenWriter {
    pub(crate) fn new(database: Database, target: Target, guard: PanicGuard) -> OpenWriter {
        OpenWriter {
            database: Some(database),
            target: Some(target),
            failed: false,
            guard,
            cancel: None,
        }
    }

    /// Whether this process may use the writer, and, for a file in place, whether the path that it was
    /// opened by still leads to it.
    ///
    /// # Errors
    /// [`Error::ForkedWriter`]; [`Error::FileReplaced`] when the file was moved, removed or replaced;
    /// [`Error::Io`] when the system does not tell.
    pub(crate) fn check(&self) -> Result<()> {
        self.guard.check_process()?;
        match &self.target {
            Some(Target::Live(live)) => live.check_path(),
            _ => Ok(()),
        }
    }

    /// The last commit of a file in place, as readers see it; `None` for a new file, which nobody
    /// reads before it is finished.
    pub(crate) fn reader(&self) -> Option<&Container> {
        match &self.target {
            Some(Target::Live(live)) => Some(&live.reader),
            _ => None,
        }
    }

    /// Begins the changes of one commit.
    ///
    /// # Errors
    /// As [`OpenWriter::check`]; [`Error::WriterFailed`] after a failure; [`Error::Storage`].
    pub(crate) fn begin(&mut self) -> Result<WriteTransaction> {
        self.check()?;
        let database = match &self.database {
            Some(database) if !self.failed => database,
            _ => return Err(Error::WriterFailed),
        };
        let begun = self.guard.call(|| {
            let mut changes = database.begin_write().map_err(from_redb)?;
            // Two-phase commit with the allocator state in it. Readers need the two phases; the
            // state makes reopening after a SIGKILL take 9 ms instead of 5.0 s with 1.1 GB
            // (docs/decisions/03-readers-without-locks.md).
            changes.set_quick_repair(true);
            Ok(changes)
        });
        begun.inspect_err(|_| self.failed = true)
    }

    /// Contains panics of redb.
    pub(crate) fn guard(&self) -> &PanicGuard {
        &self.guard
    }

    /// # Errors
    /// [`Error::Cancelled`] once the caller wants it to stop.
    pub(crate) fn check_cancel(&self) -> Result<()> {
        match &self.cancel {
            Some(cancel) if cancel.load(Ordering::Relaxed) => Err(Error::Cancelled),
            _ => Ok(()),
        }
    }

    /// Refuses everything from now on.
    pub(crate) fn fail(&mut self) {
        self.failed = true;
    }

    /// Commits what a [`Transaction`](crate::container::Transaction) gathered.
    pub(crate) fn commit(&mut self, changes: WriteTransaction, dropped_bytes: u64) -> Result<u64> {
        let guard = self.guard.clone();
        let committed = guard.call(|| {
            if self.failed {
                return Err(Error::WriterFailed);
            }
            // Later moves meet a commit that is made: the file has it, under its new name.
            self.check()?;
            self.commit_or_fail(changes, dropped_bytes)
        });
        committed.inspect_err(|_| self.failed = true)
    }

    fn commit_or_fail(&mut self, changes: WriteTransaction, dropped_bytes: u64) -> Result<u64> {
        let (Some(target), Some(database)) = (&mut self.target, &self.database) else {
            return Err(Error::WriterFailed);
        };
        match target {
            Target::New(temporary) => {
                changes.commit().map_err(from_redb)?;
                newest_transaction(temporary.file())
            }
            Target::Live(live) => {
                live.retained.announce_commit()?;
                // Announced before: a reader that sees the new slot must find in the record that
                // its own commit is still protected.
                changes.commit().map_err(from_redb)?;
                live.dropped_bytes += dropped_bytes;
                let replaced_bytes =
                    live.written.tree_bytes.load(Ordering::Relaxed) + live.dropped_bytes;
                let served = self
                    .guard
                    .call(|| live.retained.committed(database, replaced_bytes));
                match served {
                    Ok(transaction) => Ok(transaction),
                    // What was committed stays committed; only the next commit is refused.
                    Err(_) => {
                        self.failed = true;
                        newest_transaction(live.retained.file())
                    }
                }
            }
        }
    }

    /// Closes redb; afterwards only the target is left.
    pub(crate) fn close(&mut self) -> Result<Option<Target>> {
        if let Err(error) = self.guard.check_process() {
            // Dropping them would write to the file, unlock it or wait for locks that threads of the
            // other process held.
            // The memory is lost to this process; the parent owns the file.
            std::mem::forget((self.database.take(), self.target.take()));
            return Err(error);
        }
        let mut target = self.target.take();
        let released = match &mut target {
            Some(Target::Live(live)) => self
                .guard
                .call(|| live.retained.release_all().map_err(Error::storage)),
            _ => Ok(()),
        };
        let closed = match self.database.take() {
            Some(mut database) => self.guard.call(|| {
                // Pages of dropped branches may lie at the end of a new file, and closing trims free
                // pages only there. Nobody reads the file yet, so its pages may move.
                let compacted = match target {
                    // A file in place is never compacted: moving its pages would take them from
                    // under its readers.
                    Some(Target::New(_)) if !self.failed => database.compact().map_err(from_redb),
                    _ => Ok(false),
                };
                compacted.and(database.close().map_err(from_redb))
            }),
            None => Ok(()),
        };
        let ended = match &target {
            Some(Target::Live(live)) => {
                if closed.is_ok() && !self.failed {
                    live.trim();
                }
                live.retained.clear_record().map_err(Error::storage)
            }
            _ => Ok(()),
        };
        released.and(closed).and(ended).map(|()| target)
    }
}

impl Drop for OpenWriter {
    fn drop(&mut self) {
        // Who wants to know of failures calls `finish`. What was committed is durable already.
        let _ = self.close();
    }
}

impl Live {
    /// Takes away the end of the file that redb asked for and nobody wrote to: redb doubles a file that needs room.
    /// No commit ever referred to it, so readers that have it mapped do not look there. Only after redb has closed
    /// the file: its layout is final then. Where the system refuses, the file stays long.
    fn trim(&self) {
        let file = self.retained.file();
        let mut header = [0; 64];
        let Ok(()) = read_at(file, &mut header, 0) else {
            return;
        };
        let Some(layout) = resting_layout_len(&header) else {
            return;
        };
        let written = self.written.end.load(Ordering::Relaxed);
        // Never below what was there at opening: a reader may have mapped it.
        let wanted = layout.max(written).max(self.len_before);
        if file
            .metadata()
            .is_ok_and(|metadata| metadata.len() > wanted)
        {
            let _ = set_len(file, wanted);
        }
    }

    /// # Errors
    /// [`Error::FileReplaced`] when the path does not lead to the open file any more.
    fn check_path(&self) -> Result<()> {
        let looking = |source| Error::Io {
            action: "look for",
            path: self.path.clone(),
            source,
        };
        let replaced = |is_gone| Error::FileReplaced {
            path: self.path.clone(),
            is_gone,
        };
        let open = self.retained.file().metadata().map_err(looking)?;
        match fs::metadata(&self.path) {
            Ok(named) if is_same_file(&named, &open) => Ok(()),
            Ok(_) => Err(replaced(false)),
            Err(error) => Err(match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => replaced(true),
                _ => looking(error),
            }),
        }
    }
}
