//! Room: bytes <-> one file. redb writes, our own B-tree reader reads.
//!
//! A .kb is a redb file (format 3) with a signature in its first page. [`ContainerWriter`] changes it
//! through redb, one transaction per commit; [`Container`] reads it through a reader of redb's
//! B-tree, over a memory map or bytes, without a lock and without write access. Bulk data lies in
//! page extents ([`extent`]), cut by [`mod@column`]; small things are records ([`codec`]) under keys.
//!
//! This room knows tables, pages and extents. It does not know documents, words or vectors, and it
//! never answers readers through redb.

pub mod codec;
pub mod column;
pub mod extent;

mod access;
mod backend;
mod btree_check;
mod btree_reader;
mod disk;
#[cfg(all(unix, any(test, feature = "faults")))]
pub mod faults;
#[cfg(test)]
pub(crate) mod fixture;
mod lock;
mod map;
mod page;
mod page_check;
mod panic_guard;
mod redb_file;
mod replaceable;
mod retained;
mod signature;
mod snapshot;
mod temporary;
mod transaction;
mod verify;
mod writer_record;

pub use page::{Key, Table};
pub use redb_file::{ContainerWriter, WriterIdentity};
pub use signature::{
    FEATURE_KEYWORD_STATISTICS, FEATURE_PAGE_EXTENTS, FEATURE_TEXT_BLOCKS, FORMAT_VERSION,
    OLDEST_READABLE, Signature,
};
pub use snapshot::{FileBytes, SlotIdentity, Snapshot, TableBytes};
pub use transaction::{MAX_KEY_BYTES, MAX_VALUE_BYTES, Transaction};
pub use verify::Verified;

use crate::error::{Error, Result};
use lock::{ByteLock, LEASE_BYTE};
use map::Map;
use signature::BLOCK;
use snapshot::CommitSlot;
use std::fs::{self, File, Metadata};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, PoisonError, RwLock};
use xxhash_rust::xxh3::xxh3_64;

/// Attempts at one request before it counts as overtaken.
const MAX_ATTEMPTS: usize = 5;

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

/// One file under the path, as long as it was when it was mapped.
#[derive(Debug)]
struct MappedFile {
    /// Its bytes.
    map: Map,
    /// Its signature.
    signature: Signature,
    /// Hash of the bytes that the signature was read from.
    block_hash: u64,
    /// Counts the files that the container has followed.
    generation: u64,
    /// The file, to map it again when it has grown, and which file it is; `None` for bytes.
    file: Option<(File, Metadata)>,
}

impl MappedFile {
    /// Whether the signature block changed: a writer announces a new feature there before it uses it.
    fn has_other_signature(&self) -> bool {
        let block = self.map.slice(BLOCK.start as u64, BLOCK.len() as u64);
        block.is_some_and(|block| xxh3_64(block) != self.block_hash)
    }

    fn of_map(map: Map, generation: u64, file: Option<(File, Metadata)>) -> Result<MappedFile> {
        let signature = signature::read_signature(&map)?;
        let block = map
            .slice(BLOCK.start as u64, BLOCK.len() as u64)
            .unwrap_or(&[]);
        let block_hash = xxh3_64(block);
        Ok(MappedFile {
            map,
            signature,
            block_hash,
            generation,
            file,
        })
    }

    fn of_path(path: &Path, generation: u64) -> Result<MappedFile> {
        let metadata = fs::metadata(path).map_err(|source| Error::io("open", path, source))?;
        // Opening a pipe would wait for its other end.
        if !metadata.is_file() {
            return Err(Error::NotAKb {
                reason: "it is a folder or a device",
            });
        }
        let file = File::open(path).map_err(|source| Error::io("open", path, source))?;
        MappedFile::of_file(file, path, generation)
    }

    /// `path` is for messages.
    fn of_file(file: File, path: &Path, generation: u64) -> Result<MappedFile> {
        let mapping = |source| Error::io("map", path, source);
        // Of the open file: another may have taken the name since.
        let metadata = file.metadata().map_err(mapping)?;
        let map = Map::of_file(&file).map_err(mapping)?;
        MappedFile::of_map(map, generation, Some((file, metadata)))
    }
}

impl Container {
    /// Opens the file at `path` through a memory map. Takes no lock and needs no write access.
    ///
    /// Cost: the signature and the commit slot are checked, nothing else is read. A foreign program
    /// that truncates the file while it is mapped ends this process with SIGBUS; our own writer
    /// never shortens a file in place.
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
        let opening = |source| Error::io("open", path, source);
        let path = std::path::absolute(path).map_err(opening)?;
        let opened = MappedFile::of_file(file.try_clone().map_err(opening)?, &path, 0)?;
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
        let opened = MappedFile::of_map(Map::Bytes(bytes.into()), 0, None)?;
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
        while attempts < MAX_ATTEMPTS {
            let slot = CommitSlot::read(&opened.map)?;
            let snapshot = Snapshot::new(&opened.map, slot, opened.generation).with_cancel(cancel);
            let answer = request(&snapshot);
            if answer.is_err()
                && snapshot.btree().went_beyond_map()
                && let Some(longer) = self.remap_if_grown(&opened)?
            {
                opened = longer;
                continue;
            }
            if slot.is_valid(&opened.map) {
                return answer;
            }
            attempts += 1;
        }
        Err(Error::SnapshotExpired)
    }

    /// Asks a writer in another process to keep commits readable for longer, up to 60 s, while the
    /// guard lives: for requests that read very much. Only a wish; [`Container::read`] decides.
    pub fn lease(&self) -> ReadLease {
        // MappedFile for itself: locks of one open file are one lock, and the first guard would end all.
        let path = self.path.as_ref().filter(|_| self.follows_path);
        let file = path.and_then(|path| File::open(path).ok());
        let lock = file.and_then(|file| ByteLock::shared(&file, LEASE_BYTE).ok().flatten());
        ReadLease { _lock: lock }
    }

    fn current(&self) -> Arc<MappedFile> {
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
    fn reopen_if_replaced(&self) -> Result<Arc<MappedFile>> {
        let opened = self.current();
        let (Some(path), Some((_, mapped)), true) = (&self.path, &opened.file, self.follows_path)
        else {
            return Ok(opened);
        };
        match fs::metadata(path) {
            Ok(named) if !is_same_file(&named, mapped) || opened.has_other_signature() => {
                let opened = MappedFile::of_path(path, opened.generation + 1)?;
                Ok(self.replace(opened))
            }
            _ => Ok(opened),
        }
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
    fn remap_if_grown(&self, opened: &MappedFile) -> Result<Option<Arc<MappedFile>>> {
        let (Some(path), Some((file, metadata))) = (&self.path, &opened.file) else {
            return Ok(None);
        };
        let mapping = |source| Error::io("map", path, source);
        let len = file.metadata().map_err(mapping)?.len();
        if len <= opened.map.len() {
            return Ok(None);
        }
        let longer = MappedFile {
            map: Map::of_file(file).map_err(mapping)?,
            signature: opened.signature,
            block_hash: opened.block_hash,
            generation: opened.generation,
            file: Some((file.try_clone().map_err(mapping)?, metadata.clone())),
        };
        Ok(Some(self.replace(longer)))
    }
}

/// While it lives, writers are asked to keep commits readable. See [`Container::lease`].
#[derive(Debug)]
pub struct ReadLease {
    /// The lock that says so, if it could be taken.
    _lock: Option<ByteLock>,
}

/// Whether both describe one file and not two of the same name.
#[cfg(unix)]
fn is_same_file(a: &Metadata, b: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

/// A mapped file cannot be replaced on Windows.
#[cfg(not(unix))]
fn is_same_file(_: &Metadata, _: &Metadata) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::container::column::{ColumnId, ColumnWriter, MAX_ORDER};
    use crate::container::extent::{SegmentExtents, segment_table_name};
    use crate::container::fixture::{Numbers, build, dump, fill, identity, temp_path};
    use crate::types::SegmentId;

    fn sample(seed: u64) -> (Vec<u8>, Vec<u8>) {
        let (_folder, path) = temp_path();
        build(&path, |transaction| fill(transaction, seed));
        let all = dump(&Container::open(&path).unwrap()).unwrap();
        (fs::read(&path).unwrap(), all)
    }

    #[test]
    fn path_and_bytes_give_the_same() {
        let (bytes, all) = sample(1);
        assert!(all.len() > 80_000);
        let container = Container::from_bytes(bytes).unwrap();
        assert_eq!(dump(&container).unwrap(), all);
        assert_eq!(container.path(), None);
        assert_eq!(container.signature().created_unix_ms, identity().unix_ms);
    }

    #[test]
    fn every_flipped_bit_is_an_error_or_the_same_answer() {
        let (mut refused, mut same) = (0, 0);
        for seed in [2, 3] {
            let (bytes, all) = sample(seed);
            let mut bytes: Arc<[u8]> = Arc::from(bytes);
            let mut numbers = Numbers(seed);
            for round in 0..10_500 {
                // The first page is small and says most: 500 of the flips are there.
                let limit = if round < 500 {
                    1400
                } else {
                    bytes.len() as u64
                };
                let (at, bit) = (numbers.below(limit) as usize, numbers.below(8));
                Arc::get_mut(&mut bytes).unwrap()[at] ^= 1 << bit;
                let container = Container::from_bytes(Arc::clone(&bytes));
                match container.and_then(|container| dump(&container)) {
                    Ok(found) => {
                        assert!(found == all, "byte {at} bit {bit} changed the answer");
                        same += 1;
                    }
                    Err(_) => refused += 1,
                }
                Arc::get_mut(&mut bytes).unwrap()[at] ^= 1 << bit;
            }
        }
        assert!(
            refused > 5000 && same > 500,
            "{refused} refused, {same} same"
        );
    }

    #[test]
    fn random_bytes_over_pages_never_panic() {
        let (bytes, all) = sample(4);
        let mut numbers = Numbers(4);
        for _ in 0..1000 {
            let mut changed = bytes.clone();
            for _ in 0..=numbers.below(4) {
                let at = numbers.below(changed.len() as u64 - 64) as usize;
                let len = 1 + numbers.below(64) as usize;
                let noise = numbers.bytes(len);
                changed[at..at + len].copy_from_slice(&noise);
            }
            let read = Container::from_bytes(changed).and_then(|c| dump(&c));
            assert!(read.is_err() || read.is_ok_and(|found| found == all));
        }
    }

    #[test]
    fn every_truncation_is_an_error_or_the_same_answer() {
        let (bytes, all) = sample(5);
        let pages = (0..bytes.len()).step_by(4096);
        let odd = [1, 8, 9, 63, 64, 319, 320, 511, 512, 1023, 1024, 4097];
        let mut refused = 0;
        for len in pages.chain(odd) {
            match Container::from_bytes(&bytes[..len]).and_then(|c| dump(&c)) {
                Ok(found) => assert!(found == all, "{len} of {}", bytes.len()),
                Err(error) => {
                    let expected = match len {
                        0..9 => matches!(error, Error::NotAKb { .. }),
                        _ => matches!(error, Error::Damaged { .. }),
                    };
                    assert!(expected, "{len}: {error}");
                    refused += 1;
                }
            }
        }
        assert!(refused > 12);
    }

    #[test]
    fn not_a_kb_newer_and_damaged_are_three_answers() {
        let (bytes, _) = sample(6);
        let open = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut changed = bytes.clone();
            change(&mut changed);
            Container::from_bytes(changed)
                .map(|_| ())
                .unwrap_err()
                .code()
        };
        assert_eq!(open(&|b| b[..4096].fill(b' ')), "NOT_A_KB");
        assert_eq!(open(&|b| b.clear()), "NOT_A_KB");
        assert_eq!(open(&|b| b[0] = 0), "DAMAGED");
        assert_eq!(open(&|b| b[600] = 1), "DAMAGED");
        assert_eq!(open(&|b| b[9] &= !4), "FORMAT_UNSUPPORTED");
        let mut later = Signature::from_block(&bytes[BLOCK].try_into().unwrap())
            .unwrap()
            .unwrap();
        later.major = 7;
        assert_eq!(
            open(&|b| b[BLOCK].copy_from_slice(&later.to_block())),
            "FORMAT_UNSUPPORTED"
        );
        assert_eq!(
            Container::open(Path::new("/no/such")).unwrap_err().code(),
            "PATH_NOT_FOUND"
        );
        assert_eq!(
            Container::open(&std::env::temp_dir()).unwrap_err().code(),
            "NOT_A_KB"
        );
    }

    #[test]
    fn a_lost_signature_block_is_replaced_by_the_copy_in_the_tables() {
        let (mut bytes, all) = sample(7);
        let signature = Container::from_bytes(&bytes[..]).unwrap().signature();
        bytes[BLOCK].fill(0);
        let container = Container::from_bytes(bytes).unwrap();
        assert_eq!(container.signature(), signature);
        assert_eq!(dump(&container).unwrap(), all);
    }

    #[test]
    fn a_plain_redb_file_is_not_a_kb() {
        let (_folder, path) = temp_path();
        let database = redb::Database::create(&path).unwrap();
        let mut changes = database.begin_write().unwrap();
        changes.set_two_phase_commit(true);
        changes
            .open_table(redb::TableDefinition::<u64, u64>::new("t"))
            .unwrap();
        changes.commit().unwrap();
        drop(database);
        let error = Container::open(&path).unwrap_err();
        assert!(matches!(error, Error::NotAKb { .. }), "{error}");
    }

    #[test]
    fn a_file_renamed_over_the_path_is_followed() {
        let (_folder, path) = temp_path();
        build(&path, |transaction| fill(transaction, 8));
        let container = Container::open(&path).unwrap();
        let (first, uuid) = (dump(&container).unwrap(), container.signature().uuid);
        let identity = container.read(|snapshot| Ok(snapshot.identity())).unwrap();
        build(&path, |transaction| fill(transaction, 9));
        let second = dump(&container).unwrap();
        assert!(first != second);
        // It replaced the file of that name, so it is that file, in a new state.
        assert!(container.signature().uuid == uuid);
        assert!(container.read(|snapshot| Ok(snapshot.identity())).unwrap() != identity);
        fs::remove_file(&path).unwrap();
        assert!(dump(&container).unwrap() == second);
    }

    #[test]
    fn commits_in_place_are_seen_by_open_readers_also_when_the_file_grows() {
        let (_folder, path) = temp_path();
        build(&path, |transaction| fill(transaction, 10));
        let container = Container::open(&path).unwrap();
        let len = container.len_bytes();
        let commit = container.read(|snapshot| Ok(snapshot.commit())).unwrap();
        let mut writer = ContainerWriter::open(&path, &identity()).unwrap();
        let mut transaction = writer.begin().unwrap();
        for number in 0..100u64 {
            transaction
                .put("numbers", Key::U64(number), &[5; 60_000])
                .unwrap();
        }
        let made = transaction.commit().unwrap();
        let found = container
            .read(|snapshot| {
                let table = snapshot.table("numbers")?.unwrap();
                Ok((snapshot.commit(), snapshot.get(&table, Key::U64(99))?))
            })
            .unwrap();
        assert_eq!(found, (made, Some(vec![5; 60_000])));
        assert!(made > commit && container.len_bytes() > len);
        writer.finish().unwrap();
    }

    #[test]
    fn a_feature_added_in_place_is_noticed_by_open_readers() {
        let (_folder, path) = temp_path();
        build(&path, |transaction| fill(transaction, 11));
        let container = Container::open(&path).unwrap();
        container.read(|_| Ok(())).unwrap();
        let mut signature = container.signature();
        signature.incompat |= 1 << 9;
        let file = disk::open_for_writing(&path).unwrap();
        disk::write_at(&file, &signature.to_block(), BLOCK.start as u64).unwrap();
        let error = container.read(|_| Ok(())).unwrap_err();
        assert!(error.to_string().contains("feature bit 9"), "{error}");
    }

    #[test]
    fn a_container_is_shared_between_threads_and_so_is_a_snapshot() {
        fn shared<T: Send + Sync>() {}
        shared::<Container>();
        shared::<Snapshot<'_>>();
        shared::<SegmentExtents>();
    }

    #[test]
    fn a_hold_is_seen_by_writers_until_the_last_guard_is_dropped() {
        let (_folder, path) = temp_path();
        build(&path, |transaction| fill(transaction, 12));
        let container = Container::open(&path).unwrap();
        let file = disk::open_for_writing(&path).unwrap();
        let held = || ByteLock::is_held(&file, LEASE_BYTE).unwrap();
        let (first, second) = (container.lease(), container.lease());
        drop(first);
        assert!(held());
        drop(second);
        assert!(!held());
    }

    #[test]
    #[ignore = "measures; run with --release --nocapture"]
    fn what_open_begin_and_get_cost() {
        let (_folder, path) = temp_path();
        // Nanoseconds on a processor, which a busy machine does not change.
        let cpu_ns = || -> u64 {
            let stat = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
            stat.split(' ').next().unwrap().parse().unwrap()
        };
        build(&path, |transaction| {
            let mut numbers = Numbers(1);
            let start = cpu_ns();
            for number in 0..200_000u64 {
                let len = 300 + numbers.below(200) as usize;
                transaction.put("numbers", Key::U64(number), &vec![number as u8; len])?;
            }
            println!("put: {} ns", (cpu_ns() - start) / 200_000);
            let mut rows = ColumnWriter::items(SegmentId(1), ColumnId(1), MAX_ORDER);
            for _ in 0..64 {
                rows.push(transaction, &vec![1; 1 << 20 >> 1])?;
            }
            rows.finish(transaction).map(|_| ())
        });
        let time = |name: &str, rounds: u64, work: &mut dyn FnMut(u64)| {
            let start = cpu_ns();
            (0..rounds).for_each(work);
            println!("{name}: {} ns", (cpu_ns() - start) / rounds);
        };
        time("open", 1000, &mut |_| drop(Container::open(&path).unwrap()));
        let container = Container::open(&path).unwrap();
        time("empty read", 100_000, &mut |_| {
            container.read(|_| Ok(())).unwrap()
        });
        let opened = container.current();
        time("begin", 100_000, &mut |_| {
            let _ = CommitSlot::read(&opened.map).unwrap();
        });
        let slot = CommitSlot::read(&opened.map).unwrap();
        time("is_valid", 100_000, &mut |_| {
            assert!(slot.is_valid(&opened.map))
        });
        container
            .read(|snapshot| {
                let table = snapshot.table("numbers")?.unwrap();
                let mut numbers = Numbers(2);
                for name in ["get, pages touched first", "get"] {
                    time(name, 100_000, &mut |_| {
                        let key = Key::U64(numbers.below(200_000));
                        assert!(snapshot.get(&table, key).unwrap().is_some());
                    });
                }
                time("table", 10_000, &mut |_| {
                    let _ = snapshot.table("numbers").unwrap();
                });
                let segment = snapshot.table(&segment_table_name(SegmentId(1)))?.unwrap();
                time("locate 64 extents", 1000, &mut |_| {
                    assert_eq!(snapshot.extent_pages(&segment).unwrap().len(), 64);
                });
                Ok(())
            })
            .unwrap();
    }
}
