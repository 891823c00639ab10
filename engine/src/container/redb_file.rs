//! The writer: stock redb, one transaction per commit, every commit in two phases with the allocator
//! state in it, so that a reader can trust an unchanged slot and a crash costs no repair.
//!
//! A new file is built under a temporary name; nobody reads it before it is renamed. A file in place
//! is written beside its readers: through a backend that never shrinks it, behind a lock and a writer
//! record, with recent commits kept readable.

use crate::container::backend::{FileStorage, length_for_redb};
use crate::container::disk::{read_at, write_at};
use crate::container::lock::{ByteLock, LockTimeout, lock_file};
use crate::container::page::Key;
use crate::container::page_check::PageCheck;
use crate::container::panic_guard::PanicGuard;
use crate::container::retained::{RetainedSnapshots, newest_transaction};
use crate::container::signature::{BLOCK, HEADER_KEY, HEADER_TABLE, Signature, new_uuid};
use crate::container::temporary::Temporary;
use crate::container::transaction::{Transaction, from_redb};
use crate::container::{Container, is_same_file};
use crate::error::{Error, Result};
use redb::{Builder, Database, WriteTransaction};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// redb's page cache, which also bounds what a transaction keeps in memory before it is written.
const CACHE_BYTES: usize = 64 << 20;

/// Who opens a file for writing, and when: what others are told while it is locked.
#[derive(Debug, Clone)]
pub struct WriterIdentity {
    /// Name of the program, as a user knows it.
    pub program: String,
    /// Milliseconds since 1970-01-01 UTC.
    pub unix_ms: u64,
    /// How long to wait while another writes the file; zero: not at all.
    pub lock_timeout: Duration,
}

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
    /// redb; `None` once closed.
    database: Option<Database>,
    /// Where it writes; `None` once closed.
    target: Option<Target>,
    /// Set by the first failure of storage; nothing is accepted after it.
    failed: bool,
    /// Contains panics of redb.
    guard: PanicGuard,
    /// Once it is set, changes are refused.
    cancel: Option<Arc<AtomicBool>>,
}

#[derive(Debug)]
enum Target {
    /// Under a temporary name.
    New(Box<Temporary>),
    /// Where readers are.
    Live(Box<Live>),
}

/// A file in place.
#[derive(Debug)]
struct Live {
    /// The recent commits that readers may still use.
    retained: RetainedSnapshots,
    /// The name that it was opened by, absolute.
    path: PathBuf,
    /// The last commit of this file, whatever its name, through the B-tree reader.
    reader: Container,
    /// Bytes written to pages of the tree.
    tree_bytes: Arc<AtomicU64>,
    /// Bytes of extents and large values that were dropped.
    dropped_bytes: u64,
    /// Released last.
    _lock: ByteLock,
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
        let signature = match temporary.replaced().and_then(Result::ok) {
            Some(replaced) => {
                let replaced = replaced.signature();
                Signature::new(replaced.uuid, replaced.created_unix_ms)
            }
            None => Signature::new(new_uuid(path, identity.unix_ms), identity.unix_ms),
        };
        let mut writer = ContainerWriter {
            database: Some(database),
            target: Some(Target::New(Box::new(temporary))),
            failed: false,
            guard,
            cancel: None,
        };
        if let Some(Target::New(temporary)) = &writer.target {
            let block = signature.to_block();
            write_at(temporary.file(), &block, BLOCK.start as u64).map_err(creating)?;
        }
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
        let path = std::path::absolute(path).map_err(opening)?;
        // Into a file of a format that this program does not know, nothing is written.
        let reader = Container::of_file(&file, &path)?;
        reader.signature().check_writable()?;
        let mut retained = RetainedSnapshots::begin(file, identity).map_err(opening)?;
        let checked = reader.read(|snapshot| {
            snapshot.check_system()?;
            PageCheck::new(snapshot)
        });
        let pages = checked.inspect_err(|_| {
            let _ = retained.restore_previous();
        })?;
        let tree_bytes = Arc::new(AtomicU64::new(0));
        let guard = PanicGuard::default();
        let opened = open_in_place(&mut retained, &tree_bytes, &guard, pages);
        let database = opened.inspect_err(|_| {
            // The record protects nothing, so leaving it does no harm either.
            let _ = retained.clear_record();
        })?;
        Ok(ContainerWriter {
            database: Some(database),
            target: Some(Target::Live(Box::new(Live {
                retained,
                path,
                reader,
                tree_bytes,
                dropped_bytes: 0,
                _lock: lock,
            }))),
            failed: false,
            guard,
            cancel: None,
        })
    }

    /// Refuses changes with [`Error::Cancelled`] once `cancel` is set, so that a long series of them
    /// can be stopped. The writer can only be dropped then.
    pub fn set_cancel(&mut self, cancel: Option<Arc<AtomicBool>>) {
        self.cancel = cancel;
    }

    /// Gives a new file no more readers than `source` has, to whose content it will testify: its
    /// permissions are those of both the usual ones and those of `source`.
    ///
    /// # Errors
    /// [`Error::Io`] when the permissions of `source` cannot be read.
    pub fn limit_access(&mut self, source: &Container) -> Result<()> {
        match (&mut self.target, &source.current().file) {
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
        self.guard.check_process()?;
        match &self.target {
            Some(Target::Live(live)) => live.check_path(),
            _ => Ok(()),
        }
    }

    /// Whether this is a new file that will replace one which is there now.
    pub fn replaces(&self) -> bool {
        matches!(&self.target, Some(Target::New(temporary)) if temporary.replaces())
    }

    /// The file that a new one will replace, as it was locked; `None` when there is none, or when it
    /// is empty.
    ///
    /// # Errors
    /// As [`Container::open`].
    pub fn replaced(&self) -> Result<Option<Container>> {
        match &self.target {
            Some(Target::New(temporary)) => temporary.replaced().transpose(),
            _ => Ok(None),
        }
    }

    /// What is written, also before it is finished: the last commit.
    ///
    /// # Errors
    /// As [`Container::open`]; [`Error::WriterFailed`] once it is closed.
    pub fn written(&self) -> Result<Container> {
        match &self.target {
            Some(Target::New(temporary)) => Container::of_file(temporary.file(), temporary.path()),
            Some(Target::Live(live)) => Ok(live.reader.clone()),
            None => Err(Error::WriterFailed),
        }
    }

    /// The last commit of a file in place, as readers see it; `None` for a new file, which nobody
    /// reads before it is finished.
    pub fn reader(&self) -> Option<&Container> {
        match &self.target {
            Some(Target::Live(live)) => Some(&live.reader),
            _ => None,
        }
    }

    /// Where the bytes are written: for a new file its temporary name.
    pub fn path(&self) -> Option<&Path> {
        match &self.target {
            Some(Target::New(temporary)) => Some(temporary.path()),
            Some(Target::Live(live)) => live.reader.path(),
            None => None,
        }
    }

    /// Begins the changes of one commit.
    ///
    /// # Errors
    /// As [`ContainerWriter::check`]; [`Error::WriterFailed`] after a failure; [`Error::Storage`].
    pub fn begin(&mut self) -> Result<Transaction<'_>> {
        self.check()?;
        let database = match &self.database {
            Some(database) if !self.failed => database,
            _ => return Err(Error::WriterFailed),
        };
        let begun = self.guard.call(|| {
            let mut changes = database.begin_write().map_err(from_redb)?;
            changes.set_quick_repair(true);
            Ok(changes)
        });
        let changes = begun.inspect_err(|_| self.failed = true)?;
        Ok(Transaction {
            changes: Some(changes),
            dropped_bytes: 0,
            writer: self,
        })
    }

    /// Contains panics of redb.
    pub(super) fn guard(&self) -> &PanicGuard {
        &self.guard
    }

    /// # Errors
    /// [`Error::Cancelled`] once the caller wants it to stop.
    pub(super) fn check_cancel(&self) -> Result<()> {
        match &self.cancel {
            Some(cancel) if cancel.load(Ordering::Relaxed) => Err(Error::Cancelled),
            _ => Ok(()),
        }
    }

    /// Refuses everything from now on.
    pub(super) fn fail(&mut self) {
        self.failed = true;
    }

    /// Commits what a [`Transaction`] gathered.
    pub(super) fn commit(&mut self, changes: WriteTransaction, dropped_bytes: u64) -> Result<u64> {
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
                changes.commit().map_err(from_redb)?;
                live.dropped_bytes += dropped_bytes;
                let replaced_bytes = live.tree_bytes.load(Ordering::Relaxed) + live.dropped_bytes;
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

    /// Closes the file. A new one is trimmed, made durable and renamed to its path.
    ///
    /// # Errors
    /// [`Error::WriterFailed`] after a failure; [`Error::Storage`] or [`Error::Io`] when closing
    /// fails. A new file is gone then; in a file in place every commit stays.
    pub fn finish(mut self) -> Result<()> {
        self.guard.check_process()?;
        let failed = self.failed;
        let target = self.close()?;
        if failed {
            return Err(Error::WriterFailed);
        }
        match target {
            Some(Target::New(temporary)) => temporary.rename(),
            Some(Target::Live(_)) | None => Ok(()),
        }
    }

    /// Closes redb; afterwards only the target is left.
    fn close(&mut self) -> Result<Option<Target>> {
        if let Err(error) = self.guard.check_process() {
            // Dropping them would write to the file, unlock it or wait for locks that threads of the
            // other process held.
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
                // BtreeReader of dropped branches may lie at the end of a new file, and closing trims free
                // pages only there. Nobody reads the file yet, so its pages may move.
                let compacted = match target {
                    Some(Target::New(_)) if !self.failed => database.compact().map_err(from_redb),
                    _ => Ok(false),
                };
                compacted.and(database.close().map_err(from_redb))
            }),
            None => Ok(()),
        };
        let ended = match &target {
            Some(Target::Live(live)) => live.retained.clear_record().map_err(Error::storage),
            _ => Ok(()),
        };
        released.and(closed).and(ended).map(|()| target)
    }
}

impl Drop for ContainerWriter {
    fn drop(&mut self) {
        // Who wants to know of failures calls `finish`. What was committed is durable already.
        let _ = self.close();
    }
}

impl Live {
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

/// Gives the file to redb and publishes what is protected.
fn open_in_place(
    retained: &mut RetainedSnapshots,
    tree_bytes: &Arc<AtomicU64>,
    guard: &PanicGuard,
    pages: PageCheck,
) -> Result<Database> {
    let mut header = [0; 64];
    read_at(retained.file(), &mut header, 0).map_err(Error::storage)?;
    let len = length_for_redb(
        &header,
        retained.file().metadata().map_err(Error::storage)?.len(),
    );
    let (tree_bytes, redbs_guard) = (Arc::clone(tree_bytes), guard.clone());
    let storage_of_redb =
        FileStorage::in_place(retained.file(), len, tree_bytes, redbs_guard, pages);
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
mod tests {
    use super::*;
    use crate::container::extent::segment_table_name;
    use crate::container::fixture::{
        Numbers, build, dump, fill, identity, names, temp_path, value,
    };
    use crate::container::writer_record::{NO_WRITER, WRITER_RECORD};
    use crate::types::SegmentId;
    use std::fs;

    #[test]
    fn a_new_file_appears_whole_or_not_at_all() {
        let (folder, path) = temp_path();
        let mut writer = ContainerWriter::create(&path, &identity()).unwrap();
        assert!(!path.exists() && writer.reader().is_none());
        let mut transaction = writer.begin().unwrap();
        fill(&mut transaction, 1).unwrap();
        transaction.commit().unwrap();
        assert_eq!(names(folder.path()).len(), 1);
        drop(writer);
        assert_eq!(names(folder.path()), [""; 0]);

        build(&path, |transaction| fill(transaction, 1));
        assert_eq!(names(folder.path()), ["test.kb"]);
        assert!(dump(&Container::open(&path).unwrap()).is_ok());
        // Trimmed: less than a quarter is not in some table.
        let sizes = Container::open(&path)
            .unwrap()
            .read(|s| s.file_bytes())
            .unwrap();
        assert!(sizes.remainder_bytes * 4 < sizes.file_bytes, "{sizes:?}");
    }

    #[test]
    fn both_copies_of_the_signature_agree() {
        let (_folder, path) = temp_path();
        build(&path, |transaction| fill(transaction, 1));
        let container = Container::open(&path).unwrap();
        let record = value(&container, HEADER_TABLE, Key::Str(HEADER_KEY)).unwrap();
        assert_eq!(
            Signature::from_record(&record).unwrap(),
            container.signature()
        );
    }

    #[test]
    fn dropping_writer_or_transaction_keeps_the_old_state() {
        let (folder, path) = temp_path();
        build(&path, |transaction| fill(transaction, 2));
        let before = dump(&Container::open(&path).unwrap()).unwrap();
        let mut writer = ContainerWriter::open(&path, &identity()).unwrap();
        let mut transaction = writer.begin().unwrap();
        fill(&mut transaction, 3).unwrap();
        transaction.delete_table("names").unwrap();
        drop(transaction);
        let mut transaction = writer.begin().unwrap();
        transaction.put("numbers", Key::U64(0), b"lost").unwrap();
        drop(transaction);
        drop(writer);
        assert!(dump(&Container::open(&path).unwrap()).unwrap() == before);
        assert_eq!(names(folder.path()), ["test.kb"]);
    }

    #[test]
    fn a_second_writer_is_refused_and_told_who_writes() {
        let (_folder, path) = temp_path();
        build(&path, |transaction| fill(transaction, 4));
        let writer = ContainerWriter::open(&path, &identity()).unwrap();
        let attempts = [
            ContainerWriter::open(&path, &identity()),
            ContainerWriter::create(&path, &identity()),
        ];
        for attempt in attempts {
            let Err(Error::IndexLocked { holder }) = attempt else {
                panic!("{attempt:?}");
            };
            let process = format!("kb test, process {}", std::process::id());
            assert!(holder.starts_with(&process), "{holder}");
            assert!(
                holder.ends_with("since 2024-02-29 12:34:56 UTC"),
                "{holder}"
            );
        }
        writer.finish().unwrap();
        let bytes = fs::read(&path).unwrap();
        assert_eq!(bytes[WRITER_RECORD.start..][..NO_WRITER.len()], NO_WRITER);
        ContainerWriter::open(&path, &identity())
            .unwrap()
            .finish()
            .unwrap();
        // While a new file is built, the old one cannot be changed.
        let creator = ContainerWriter::create(&path, &identity()).unwrap();
        let refused = ContainerWriter::open(&path, &identity());
        assert!(matches!(refused, Err(Error::IndexLocked { .. })));
        drop(creator);
    }

    #[test]
    fn a_writer_waits_for_the_other_as_long_as_it_is_told() {
        let (_folder, path) = temp_path();
        build(&path, |transaction| fill(transaction, 4));
        let first = ContainerWriter::open(&path, &identity()).unwrap();
        let waits = |lock_timeout: Duration| WriterIdentity {
            lock_timeout,
            ..identity()
        };
        let started = std::time::Instant::now();
        let refused = ContainerWriter::open(&path, &waits(Duration::from_millis(150)));
        assert!(matches!(refused, Err(Error::IndexLocked { .. })));
        assert!(started.elapsed() >= Duration::from_millis(150));
        // Also when the file is another one in the end.
        let second = std::thread::scope(|scope| {
            let second = scope.spawn(|| {
                let writer = ContainerWriter::open(&path, &waits(Duration::from_secs(60)))?;
                let reader = writer.reader().ok_or(Error::WriterFailed)?;
                dump(reader)
            });
            first.finish().unwrap();
            build(&path, |transaction| fill(transaction, 5));
            second.join().unwrap()
        });
        let found = dump(&Container::open(&path).unwrap()).unwrap();
        // It came before or after the new file, and never to the one that was replaced.
        assert!(second.is_ok_and(|second| !second.is_empty()) && !found.is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn a_redb_tool_cannot_write_beside_the_writer() {
        let (_folder, path) = temp_path();
        build(&path, |transaction| fill(transaction, 5));
        let writer = ContainerWriter::open(&path, &identity()).unwrap();
        let foreign = Database::open(&path);
        assert!(
            matches!(foreign, Err(redb::DatabaseError::DatabaseAlreadyOpen)),
            "{foreign:?}"
        );
        drop(writer);
    }

    #[test]
    fn changes_in_place_are_read_back_after_every_reopening() {
        let (_folder, path) = temp_path();
        build(&path, |transaction| fill(transaction, 6));
        let reader = Container::open(&path).unwrap();
        let mut last = 0;
        for round in 0..5u64 {
            let mut writer = ContainerWriter::open(&path, &identity()).unwrap();
            let mut transaction = writer.begin().unwrap();
            transaction
                .put("names", Key::Str("round"), &round.to_le_bytes())
                .unwrap();
            assert!(transaction.remove("numbers", Key::U64(7 * round)).unwrap());
            assert!(!transaction.remove("numbers", Key::U64(7 * round)).unwrap());
            let found = transaction.get("names", Key::Str("round")).unwrap();
            assert_eq!(found, Some(round.to_le_bytes().to_vec()));
            let commit = transaction.commit().unwrap();
            assert!(commit > last);
            last = commit;
            let found = value(writer.reader().unwrap(), "names", Key::Str("round"));
            assert_eq!(found, Some(round.to_le_bytes().to_vec()));
            writer.finish().unwrap();
            assert_eq!(value(&reader, "numbers", Key::U64(7 * round)), None);
            let found = value(&reader, "names", Key::Str("round"));
            assert_eq!(found, Some(round.to_le_bytes().to_vec()));
        }
    }

    /// A file of trees of several levels, changed once in place, so that redb has lists of free pages.
    fn deep_file(path: &Path) {
        build(path, |transaction| {
            fill(transaction, 8)?;
            for number in 0..4000u64 {
                transaction.put("deep", Key::U64(number), &number.to_le_bytes())?;
                let name = format!("{:x}/{number}", number % 13);
                transaction.put("paths", Key::Str(&name), &[7; 40])?;
            }
            Ok(())
        });
        let mut writer = ContainerWriter::open(path, &identity()).unwrap();
        let mut transaction = writer.begin().unwrap();
        for number in (0..4000u64).step_by(3) {
            transaction.remove("deep", Key::U64(number)).unwrap();
        }
        transaction.commit().unwrap();
        writer.finish().unwrap();
    }

    /// Changes of every kind: near each other, far apart, so many that pages are merged, whole tables.
    fn change_much(path: &Path, kind: u64) -> Result<()> {
        let mut writer = ContainerWriter::open(path, &identity())?;
        for round in 0..2u64 {
            let mut transaction = writer.begin()?;
            match kind {
                0 => transaction.put("names", Key::Str("one"), &round.to_le_bytes())?,
                1 => {
                    for number in (1..4000).step_by(97) {
                        transaction.remove("deep", Key::U64(number + round))?;
                    }
                }
                2 => {
                    for number in 1000..2600 {
                        transaction.remove("deep", Key::U64(number + round))?;
                    }
                    for part in 0..9 {
                        let (first, end) = (format!("{part:x}/"), format!("{part:x}0"));
                        for number in (part..4000).step_by(13) {
                            let name = format!("{first}{number}");
                            transaction.get("paths", Key::Str(&name))?;
                            transaction.remove("paths", Key::Str(&name))?;
                        }
                        transaction.put("paths", Key::Str(&end), &[1; 30])?;
                    }
                }
                3 => {
                    transaction.delete_table("paths")?;
                    transaction.delete_table(&segment_table_name(SegmentId(1)))?;
                    transaction.remove_range("bytes", &[7], None)?;
                }
                _ => {
                    transaction.delete_table(&segment_table_name(SegmentId(1)))?;
                    fill(&mut transaction, 50 + round)?;
                }
            }
            transaction.commit()?;
        }
        writer.finish()
    }

    /// What a file holds in all tables, and whether verifying it finds damage.
    fn state_of(path: &Path) -> (Result<Vec<u8>>, bool) {
        let Ok(container) = Container::open(path) else {
            return (Err(Error::WriterFailed), true);
        };
        let all = container.read(|snapshot| {
            let mut all = Vec::new();
            for (name, table) in snapshot.tables()? {
                all.extend(name.as_bytes());
                for (page, _) in snapshot.extent_pages(&table)?.iter().zip(0..) {
                    if name.starts_with("seg/") {
                        page.check(snapshot, SegmentId(1))?;
                        all.extend(page.checksum().to_le_bytes());
                    }
                }
                let first = match table.key_kind {
                    crate::container::page::KeyKind::U64 => Key::U64(0),
                    crate::container::page::KeyKind::Bytes => Key::Bytes(&[]),
                    _ => Key::Str(""),
                };
                if !name.starts_with("seg/") {
                    snapshot.range(&table, first, |key, value| {
                        all.extend(key);
                        all.extend(value);
                        Ok(std::ops::ControlFlow::Continue(()))
                    })?;
                }
            }
            Ok(all)
        });
        let verified = container.verify(&mut |_| {});
        let is_damaged = verified.is_err() || verified.is_ok_and(|found| !found.damage.is_empty());
        (all, is_damaged)
    }

    #[test]
    fn damage_is_found_before_anything_is_built_on_it() {
        let (_folder, path) = crate::container::fixture::temp_path_in_memory();
        deep_file(&path);
        let good = fs::read(&path).unwrap();
        let right: Vec<Vec<u8>> = (0..5)
            .map(|kind| {
                fs::write(&path, &good).unwrap();
                change_much(&path, kind).unwrap();
                let (all, is_damaged) = state_of(&path);
                assert!(!is_damaged);
                all.unwrap()
            })
            .collect();
        let live: Vec<usize> = (1..good.len() / 4096)
            .filter(|page| {
                let mut bytes = good.clone();
                bytes[page * 4096..][..4096]
                    .iter_mut()
                    .for_each(|b| *b ^= 0xa5);
                let container = Container::from_bytes(bytes);
                let verified = container.and_then(|container| container.verify(&mut |_| {}));
                !verified.is_ok_and(|found| found.damage.is_empty())
            })
            .collect();
        assert!(live.len() > 100, "{}", live.len());
        let rounds = std::env::var("KB_FLIPS").map_or(400, |flips| flips.parse().unwrap());
        let mut numbers = Numbers(8);
        let (mut refused, mut untouched, mut replaced, mut harmless) = (0, 0, 0, 0);
        for round in 0..rounds {
            let mut bytes = good.clone();
            // One in eight anywhere, free pages included. What the first page holds is not in the trees.
            let at = match numbers.below(8) {
                0 => 4096 + numbers.below(good.len() as u64 - 4096) as usize,
                _ => {
                    let page = live[numbers.below(live.len() as u64) as usize];
                    page * 4096 + numbers.below(4096) as usize
                }
            };
            bytes[at] ^= 1 << numbers.below(8);
            fs::write(&path, &bytes).unwrap();
            let (_, was_damaged) = state_of(&path);
            let kind = round % 5;
            let changed = change_much(&path, kind);
            let (all, is_damaged) = state_of(&path);
            let what = format!("byte {at}, changes of kind {kind}: {changed:?}");
            match changed {
                Ok(()) if is_damaged => {
                    assert!(was_damaged, "{what}");
                    untouched += 1;
                }
                // Of what was damaged nothing is left, or nothing was damaged.
                Ok(()) => {
                    let right = &right[kind as usize];
                    assert!(all.is_ok_and(|all| all == *right), "laundered: {what}");
                    replaced += usize::from(was_damaged);
                    harmless += usize::from(!was_damaged);
                }
                Err(error) => {
                    assert_eq!(error.code(), "DAMAGED", "{what}");
                    // What was committed before the damage was met stays, and so does the damage.
                    assert!(was_damaged && is_damaged, "{what}");
                    refused += 1;
                }
            }
        }
        println!(
            "{refused} refused, {untouched} untouched, {replaced} replaced, {harmless} harmless"
        );
        assert!(
            refused > 50 && untouched > 50 && harmless > 10,
            "{refused} {untouched} {harmless}"
        );
    }

    #[test]
    fn a_damaged_page_that_nobody_touches_keeps_nobody_from_the_rest() {
        let (_folder, path) = temp_path();
        deep_file(&path);
        let mut bytes = fs::read(&path).unwrap();
        let container = Container::open(&path).unwrap();
        let leaf = container.read(|snapshot| {
            let deep = snapshot.table("deep")?.ok_or(Error::WriterFailed)?;
            let (leaves, _) = snapshot.btree().leaf_pointers(&deep)?;
            let last = leaves.last().ok_or(Error::WriterFailed)?;
            snapshot.btree().geometry().offset(*last)
        });
        bytes[leaf.unwrap() as usize + 9] ^= 1;
        fs::write(&path, &bytes).unwrap();
        let mut writer = ContainerWriter::open(&path, &identity()).unwrap();
        let mut transaction = writer.begin().unwrap();
        transaction.put("deep", Key::U64(1), b"changed!").unwrap();
        transaction.commit().unwrap();
        let mut transaction = writer.begin().unwrap();
        let error = transaction.get("deep", Key::U64(3999)).unwrap_err();
        assert!(error.to_string().contains("table \"deep\""), "{error}");
        drop(transaction);
        assert!(matches!(writer.begin(), Err(Error::WriterFailed)));
        drop(writer);
        let container = Container::open(&path).unwrap();
        let found = value(&container, "deep", Key::U64(1));
        assert_eq!(found.as_deref(), Some(&b"changed!"[..]));
        let damage = container.verify(&mut |_| {}).unwrap().damage;
        assert_eq!(damage.len(), 1, "{damage:?}");
        // A new writer finds the file as it was left.
        let mut writer = ContainerWriter::open(&path, &identity()).unwrap();
        let mut transaction = writer.begin().unwrap();
        transaction.put("deep", Key::U64(2), b"changed!").unwrap();
        transaction.commit().unwrap();
        writer.finish().unwrap();
    }

    #[test]
    fn a_file_whose_writer_died_is_read_at_once_and_written_again() {
        let (folder, path) = temp_path();
        build(&path, |transaction| fill(transaction, 11));
        let mut writer = ContainerWriter::open(&path, &identity()).unwrap();
        let mut dead = Vec::new();
        for seed in 30..34 {
            let mut transaction = writer.begin().unwrap();
            transaction
                .delete_table(&segment_table_name(SegmentId(1)))
                .unwrap();
            fill(&mut transaction, seed).unwrap();
            if seed % 2 == 0 {
                transaction.commit().unwrap();
            }
            // What a process that ends here leaves behind, its uncommitted changes included.
            dead.push((
                fs::read(&path).unwrap(),
                dump(&Container::open(&path).unwrap()).unwrap(),
            ));
        }
        writer.finish().unwrap();
        for (bytes, expected) in dead {
            let path = folder.path().join("dead.kb");
            fs::write(&path, &bytes).unwrap();
            let container = Container::open(&path).unwrap();
            assert!(dump(&container).unwrap() == expected);
            let mut writer = ContainerWriter::open(&path, &identity()).unwrap();
            assert!(dump(&container).unwrap() == expected);
            let mut transaction = writer.begin().unwrap();
            transaction
                .put("names", Key::Str("again"), b"alive")
                .unwrap();
            transaction.commit().unwrap();
            writer.finish().unwrap();
            let found = value(&container, "names", Key::Str("again"));
            assert_eq!(found.as_deref(), Some(&b"alive"[..]));
        }
    }
}
