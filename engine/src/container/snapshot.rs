//! One commit, as a reader sees it: the commit slot chosen before the work and looked at again after
//! it, and what can be asked in between.
//!
//! The writer commits in two phases: pages of the commit in the primary slot are overwritten only
//! after a newer slot is visible, and not at all while the writer record protects them. So an answer
//! is valid when the slot is the same after the work, or when the record, read after that, still
//! protects the commit. No clock takes part, and readers take no lock.

use crate::container::backend::layout_len;
use crate::container::btree_reader::BtreeReader;
use crate::container::codec::{array_at, u8_at, u64_at, u128_at};
use crate::container::extent::ExtentPage;
use crate::container::map::Map;
use crate::container::page::{Geometry, Key, Root, Table};
use crate::container::signature::PAGE_SIZE;
use crate::container::writer_record::{WRITER_RECORD, WriterRecord};
use crate::error::{Error, Result};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering, fence};
use xxhash_rust::xxh3::xxh3_128;

/// First bytes of every redb file.
pub(crate) const REDB_MAGIC: [u8; 9] = *b"redb\x1A\x0A\xA9\x0D\x0A";

/// Bytes of redb's header with both commit slots.
pub(crate) const HEADER_LEN: u64 = 320;

// Flags of byte 9. A writer that is open, or died, does not concern readers.
const PRIMARY_SLOT: u8 = 1;
const WRITER_OPEN: u8 = 2;
const TWO_PHASE: u8 = 4;
const PRIMARY_UNFLUSHED: u8 = 8;
const FLAGS_AT: u64 = 9;

// Layout of a commit slot.
const SLOTS_AT: usize = 64;
const SLOT_LEN: usize = 128;
const ROOT_PRESENT_AT: usize = 1;
const SYSTEM_ROOT_PRESENT_AT: usize = 2;
const ROOT_AT: usize = 8;
const SYSTEM_ROOT_AT: usize = ROOT_AT + ROOT_LEN;
const ROOT_LEN: usize = 32;
const TRANSACTION_AT: usize = 104;
const SLOT_CHECKSUM_AT: usize = 112;

/// redb's file format in byte 0 of a slot.
const SLOT_VERSION: u8 = 3;

/// Looks at a header that a writer is changing before the file counts as damaged.
const MAX_ATTEMPTS: usize = 100;

/// Names one commit of one file: equal identities answer every question the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SlotIdentity {
    /// The commit slot.
    slot: [u8; SLOT_LEN],
    /// Counts the files that the container has followed under its path.
    generation: u64,
}

/// The commit slot that a reader serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CommitSlot {
    /// Its bytes.
    slot: [u8; SLOT_LEN],
    /// Where pages lie.
    geometry: Geometry,
}

impl CommitSlot {
    /// Chooses the slot from the header; `None` when it is torn.
    pub(crate) fn from_header(header: &[u8]) -> Result<Option<CommitSlot>> {
        let flags = u8_at(header, FLAGS_AT as usize)?;
        let primary = usize::from(flags & PRIMARY_SLOT != 0);
        let unflushed = usize::from(flags & PRIMARY_UNFLUSHED != 0);
        let slot: [u8; SLOT_LEN] = array_at(header, SLOTS_AT + SLOT_LEN * (primary ^ unflushed))?;
        let (fields, checksum) = slot.split_at(SLOT_CHECKSUM_AT);
        if xxh3_128(fields) != u128_at(checksum, 0)? {
            return Ok(None);
        }
        if flags & TWO_PHASE == 0 {
            return Err(Error::FormatUnsupported {
                needs: "a reader of one-phase commits (another program wrote to it)".to_owned(),
                reads: "commits in two phases".to_owned(),
            });
        }
        if u8_at(&slot, 0)? != SLOT_VERSION {
            return Err(Error::FormatUnsupported {
                needs: format!("redb file format {}", u8_at(&slot, 0)?),
                reads: format!("redb file format {SLOT_VERSION}"),
            });
        }
        let geometry = Geometry::from_header(header)?;
        Ok(Some(CommitSlot { slot, geometry }))
    }

    /// Reads the slot, again while a writer tears it.
    pub(crate) fn read(map: &Map) -> Result<CommitSlot> {
        let short = || Error::damaged("the file ends inside redb's header");
        for _ in 0..MAX_ATTEMPTS {
            let header = map.copy(0, HEADER_LEN).ok_or_else(short)?;
            let Some(slot) = CommitSlot::from_header(&header)? else {
                continue;
            };
            // A slot that became secondary while it was copied may hold a commit not yet published.
            let flags = map.copy(FLAGS_AT, 1).ok_or_else(short)?;
            if array_at(&flags, 0)? == array_at::<1>(&header, FLAGS_AT as usize)? {
                return Ok(slot);
            }
        }
        Err(Error::damaged("the commit slot in redb's header"))
    }

    /// Number of the commit.
    pub(crate) fn transaction(&self) -> u64 {
        u64_at(&self.slot, TRANSACTION_AT).unwrap_or(0)
    }

    /// Root of the tree of names of redb's own tables.
    pub(crate) fn system_names(&self) -> Result<Table> {
        let present = u8_at(&self.slot, SYSTEM_ROOT_PRESENT_AT)? != 0;
        let root = present.then(|| Root::at(&self.slot, SYSTEM_ROOT_AT));
        Ok(Table::of_names(root.transpose()?))
    }

    /// Root of the tree of table names.
    pub(crate) fn names(&self) -> Result<Table> {
        let present = u8_at(&self.slot, ROOT_PRESENT_AT)? != 0;
        let root = present.then(|| Root::at(&self.slot, ROOT_AT)).transpose()?;
        Ok(Table::of_names(root))
    }

    /// Whether a result read through this slot is valid. All reads of the result must come before this call.
    pub(crate) fn is_valid(&self, map: &Map) -> bool {
        if !map.is_shared() {
            return true;
        }
        fence(Ordering::Acquire);
        let Ok(now) = CommitSlot::read(map) else {
            return false;
        };
        if now.slot == self.slot {
            return true;
        }
        // The record is read after the slot: lowered protection is published before it is used.
        let record = (0..MAX_ATTEMPTS).find_map(|_| {
            let record = map.copy(WRITER_RECORD.start as u64, WRITER_RECORD.len() as u64)?;
            WriterRecord::from_bytes(&record)
        });
        record.is_some_and(|record| record.protects(self.transaction(), now.transaction()))
    }
}

/// What holds of redb's header while no writer is open: both slots are whole, and the layout fits into
/// the file. While one is open, or after one died, there is nothing to check.
///
/// # Errors
/// [`Error::Damaged`] naming what is wrong.
pub(crate) fn check_resting_header(map: &Map) -> Result<()> {
    let short = || Error::damaged("the file ends inside redb's header");
    let header = map.copy(0, HEADER_LEN).ok_or_else(short)?;
    if u8_at(&header, FLAGS_AT as usize)? & WRITER_OPEN != 0 {
        return Ok(());
    }
    let mut transactions = [0; 2];
    for (number, transaction) in transactions.iter_mut().enumerate() {
        let slot: [u8; SLOT_LEN] = array_at(&header, SLOTS_AT + SLOT_LEN * number)?;
        let (fields, checksum) = slot.split_at(SLOT_CHECKSUM_AT);
        if xxh3_128(fields) != u128_at(checksum, 0)? {
            return Err(Error::damaged(format!("the checksum of slot {number}")));
        }
        *transaction = u64_at(&slot, TRANSACTION_AT)?;
    }
    // No checksum covers the byte that says which slot is served. A writer that closed the file has
    // served the newer one.
    let served = CommitSlot::from_header(&header)?.map(|slot| slot.transaction());
    if served != transactions.iter().max().copied() {
        return Err(Error::damaged("an older commit is served than the last"));
    }
    let layout = layout_len(&array_at(&header, 0)?);
    if layout.is_none_or(|layout| layout > map.len()) {
        return Err(Error::damaged("the layout is longer than the file"));
    }
    Ok(())
}

/// Bytes of one table, as `kb info --sizes` shows them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableBytes {
    /// Name of the table.
    pub name: String,
    /// Number of pairs.
    pub pairs: u64,
    /// Bytes of its branch pages.
    pub branch_bytes: u64,
    /// Bytes of its leaf pages; for a segment table, its extents.
    pub leaf_bytes: u64,
}

/// Where the bytes of a file are; the parts add up to `file_bytes`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileBytes {
    /// The whole file.
    pub file_bytes: u64,
    /// redb's header, signature block, writer record: the first page.
    pub header_bytes: u64,
    /// Headers of regions.
    pub region_header_bytes: u64,
    /// BtreeReader of the tree that names the tables.
    pub names_bytes: u64,
    /// Each table, by name.
    pub tables: Vec<TableBytes>,
    /// redb's own tables (free lists, allocator state) and free pages.
    pub remainder_bytes: u64,
}

/// One commit. Everything read through it belongs together; what it says counts once
/// [`crate::container::Container::read`] returns.
#[derive(Debug)]
pub struct Snapshot<'a> {
    /// The commit.
    slot: CommitSlot,
    /// See [`SlotIdentity`].
    generation: u64,
    /// Its pages, checked as they are read.
    btree: BtreeReader<'a>,
}

impl<'a> Snapshot<'a> {
    pub(crate) fn new(map: &'a Map, slot: CommitSlot, generation: u64) -> Snapshot<'a> {
        Snapshot {
            slot,
            generation,
            btree: BtreeReader::new(map, slot.geometry),
        }
    }

    /// The same, of which no page is read any more once `cancel` is set.
    pub(crate) fn with_cancel(mut self, cancel: Option<&'a AtomicBool>) -> Snapshot<'a> {
        self.btree.set_cancel(cancel);
        self
    }

    /// With pages elsewhere than the slot says.
    #[cfg(test)]
    pub(crate) fn of_geometry(map: &'a Map, slot: CommitSlot, geometry: Geometry) -> Snapshot<'a> {
        Snapshot::new(map, CommitSlot { geometry, ..slot }, 0)
    }

    /// The commit slot.
    pub(crate) fn slot(&self) -> &CommitSlot {
        &self.slot
    }

    /// The trees of the snapshot.
    pub(crate) fn btree(&self) -> &BtreeReader<'a> {
        &self.btree
    }

    /// Number of the commit; later commits of the same file have larger ones.
    pub fn commit(&self) -> u64 {
        self.slot.transaction()
    }

    /// Names the commit, so that what was loaded from it can be kept.
    pub fn identity(&self) -> SlotIdentity {
        SlotIdentity {
            slot: self.slot.slot,
            generation: self.generation,
        }
    }

    /// The table of that name; `None` when there is none.
    ///
    /// # Errors
    /// [`Error::Damaged`] when a page on the way fails its checks.
    pub fn table(&self, name: &str) -> Result<Option<Table>> {
        let definition = self.get(&self.slot.names()?, Key::Str(name))?;
        definition
            .map(|definition| Table::from_definition(name, &definition))
            .transpose()
    }

    /// All tables with their names, in byte order of the names.
    ///
    /// # Errors
    /// As [`Snapshot::table`].
    pub fn tables(&self) -> Result<Vec<(String, Table)>> {
        let mut tables = Vec::new();
        self.visit(&self.slot.names()?, None, |name, definition| {
            let name = String::from_utf8(name.to_vec())
                .map_err(|_| Error::damaged("the name of a table is not UTF-8"))?;
            let table = Table::from_definition(&name, definition)?;
            tables.push((name, table));
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(tables)
    }

    /// The value under `key`.
    ///
    /// # Errors
    /// [`Error::Damaged`] when a page on the way fails its checks, or the table has other keys.
    pub fn get(&self, table: &Table, key: Key<'_>) -> Result<Option<Vec<u8>>> {
        let Some(leaf) = self.btree.leaf_for(table, key)? else {
            return Ok(None);
        };
        match leaf.lower_bound(key)? {
            (pair, true) => leaf.value(pair).map(|value| Some(value.to_vec())),
            (_, false) => Ok(None),
        }
    }

    /// Calls `visit` with key and value of each pair from `from` on, ascending, until it breaks. Keys
    /// are the stored bytes: u64 little-endian, text as UTF-8.
    ///
    /// # Errors
    /// [`Error::Damaged`] when a page on the way fails its checks, or the table has other keys; what
    /// `visit` says.
    pub fn range(
        &self,
        table: &Table,
        from: Key<'_>,
        visit: impl FnMut(&[u8], &[u8]) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        self.visit(table, Some(from), visit)
    }

    fn visit(
        &self,
        table: &Table,
        from: Option<Key<'_>>,
        mut visit: impl FnMut(&[u8], &[u8]) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        self.btree.leaves_from(table, from, |leaf, first| {
            for pair in first..leaf.pairs() {
                if visit(leaf.key(pair)?, leaf.value(pair)?)?.is_break() {
                    return Ok(false);
                }
            }
            Ok(true)
        })
    }

    /// The leaf pages of a segment table in key order. They are taken from the branch pages, so that
    /// no extent is touched before it is used.
    ///
    /// # Errors
    /// [`Error::Damaged`] when a branch page fails its checks.
    pub fn extent_pages(&self, table: &Table) -> Result<Vec<ExtentPage>> {
        let (leaves, _) = self.btree.leaf_pointers(table)?;
        Ok(leaves.into_iter().map(ExtentPage::new).collect())
    }

    /// Where every byte of the file is. Reads branch pages only.
    ///
    /// # Errors
    /// [`Error::Damaged`] when a branch page fails its checks.
    pub fn file_bytes(&self) -> Result<FileBytes> {
        let total = |table: &Table| -> Result<(u64, u64)> {
            let (leaves, branch_bytes) = self.btree.leaf_pointers(table)?;
            let leaf_bytes = leaves.iter().map(|leaf| leaf.size_bytes()).sum::<u64>();
            Ok((branch_bytes, leaf_bytes))
        };
        let mut tables = Vec::new();
        for (name, table) in self.tables()? {
            let (branch_bytes, leaf_bytes) = total(&table)?;
            tables.push(TableBytes {
                name,
                pairs: table.len(),
                branch_bytes,
                leaf_bytes,
            });
        }
        let names = total(&self.slot.names()?)?;
        let file_bytes = self.btree.len_bytes();
        let mut sizes = FileBytes {
            file_bytes,
            header_bytes: u64::from(PAGE_SIZE),
            region_header_bytes: self.btree.geometry().header_bytes(file_bytes),
            names_bytes: names.0 + names.1,
            tables,
            remainder_bytes: 0,
        };
        let known = sizes.header_bytes + sizes.region_header_bytes + sizes.names_bytes;
        let in_tables = sizes
            .tables
            .iter()
            .map(|table| table.branch_bytes + table.leaf_bytes)
            .sum::<u64>();
        sizes.remainder_bytes = file_bytes
            .checked_sub(known + in_tables)
            .ok_or_else(|| Error::damaged("tables that share pages"))?;
        Ok(sizes)
    }
}

impl SlotIdentity {
    /// Whether both name commits of the same opened file.
    pub(crate) fn is_same_file(&self, other: &SlotIdentity) -> bool {
        self.generation == other.generation
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::container::fixture::{build, fill, temp_path};
    use crate::container::{Container, ContainerWriter};
    use std::fs;

    fn header() -> Vec<u8> {
        let (_folder, path) = temp_path();
        build(&path, |transaction| fill(transaction, 1));
        fs::read(&path).unwrap()[..HEADER_LEN as usize].to_vec()
    }

    #[test]
    fn a_one_phase_commit_is_refused_and_a_torn_slot_is_no_slot() {
        let good = header();
        assert!(CommitSlot::from_header(&good).unwrap().is_some());
        let mut one_phase = good.clone();
        one_phase[9] &= !TWO_PHASE;
        let error = CommitSlot::from_header(&one_phase).unwrap_err();
        assert!(error.to_string().contains("one-phase"), "{error}");
        let mut torn = good.clone();
        let primary = 64 + 128 * usize::from(torn[9] & PRIMARY_SLOT);
        torn[primary + 20] ^= 1;
        assert_eq!(CommitSlot::from_header(&torn).unwrap(), None);
        let error = CommitSlot::read(&Map::Bytes(torn.into())).unwrap_err();
        assert!(error.to_string().contains("commit slot"), "{error}");
    }

    #[test]
    fn an_unflushed_primary_leaves_the_other_slot_to_readers() {
        let mut bytes = header();
        let primary = CommitSlot::from_header(&bytes).unwrap().unwrap();
        bytes[9] |= PRIMARY_UNFLUSHED;
        let secondary = CommitSlot::from_header(&bytes).unwrap().unwrap();
        assert!(secondary.transaction() < primary.transaction());
    }

    #[test]
    fn another_redb_format_is_unsupported_by_name() {
        let mut bytes = header();
        let at = 64 + 128 * usize::from(bytes[9] & PRIMARY_SLOT);
        bytes[at] = 4;
        let checksum = xxh3_128(&bytes[at..at + SLOT_CHECKSUM_AT]);
        bytes[at + SLOT_CHECKSUM_AT..at + SLOT_LEN].copy_from_slice(&checksum.to_le_bytes());
        let error = CommitSlot::from_header(&bytes).unwrap_err();
        assert!(error.to_string().contains("redb file format 4"), "{error}");
    }

    #[test]
    fn every_byte_of_the_file_is_accounted_for() {
        let (_folder, path) = temp_path();
        build(&path, |transaction| fill(transaction, 2));
        let container = Container::open(&path).unwrap();
        let sizes = container.read(|snapshot| snapshot.file_bytes()).unwrap();
        let in_tables: u64 = sizes
            .tables
            .iter()
            .map(|t| t.branch_bytes + t.leaf_bytes)
            .sum();
        assert_eq!(
            sizes.header_bytes
                + sizes.region_header_bytes
                + sizes.names_bytes
                + in_tables
                + sizes.remainder_bytes,
            fs::metadata(&path).unwrap().len()
        );
        let names: Vec<_> = sizes
            .tables
            .iter()
            .map(|table| table.name.as_str())
            .collect();
        let expected = [
            "bytes",
            "columns",
            "kb",
            "names",
            "numbers",
            "seg/0000000000000001",
        ];
        assert_eq!(names, expected);
        let table = |name: &str| {
            sizes
                .tables
                .iter()
                .find(|table| table.name == name)
                .unwrap()
        };
        assert_eq!(table("numbers").pairs, 300);
        assert!(table("numbers").leaf_bytes > 30_000);
        assert!((40_000..100_000).contains(&table("seg/0000000000000001").leaf_bytes));
        assert!(sizes.remainder_bytes < sizes.file_bytes / 2);
    }

    #[test]
    fn an_answer_stands_while_its_commit_is_newest_or_protected() {
        let (_folder, path) = temp_path();
        build(&path, |transaction| fill(transaction, 3));
        let slot_now = || {
            let map = Map::of_file(&fs::File::open(&path).unwrap()).unwrap();
            (CommitSlot::read(&map).unwrap(), map)
        };
        let (before, map) = slot_now();
        assert!(before.is_valid(&map));
        let mut writer =
            ContainerWriter::open(&path, &crate::container::fixture::identity()).unwrap();
        // Opening makes no commit, so the slot is the same or protected.
        assert!(before.is_valid(&map));
        let mut transaction = writer.begin().unwrap();
        transaction
            .put("numbers", crate::container::Key::U64(1), b"new")
            .unwrap();
        transaction.commit().unwrap();
        let (during, _) = slot_now();
        assert!(during.transaction() > before.transaction());
        assert!(before.is_valid(&map) && during.is_valid(&map));
        writer.finish().unwrap();
        // Closing commits once more and protects nothing.
        assert!(!before.is_valid(&map) && !during.is_valid(&map));
    }
}
