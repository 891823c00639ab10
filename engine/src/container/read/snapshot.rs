//! One commit, as a reader sees it: the commit slot chosen before the work, and what can be read
//! through it.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use kb_types::SegmentId;
use kb_types::error::{Error, Result};

use crate::container::layout::commit_slot::{CommitSlot, SLOT_LEN};
use crate::container::layout::extent::ExtentPage;
use crate::container::layout::table::{Key, Table};
use crate::container::read::btree_reader::BtreeReader;
use crate::container::read::map::{HasMap, Map};
use crate::container::read::mapped_bytes::MappedBytes;
use crate::container::read::page_cache::PageCache;

/// Names one commit of one file: equal identities answer every question the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SlotIdentity {
    /// The commit slot.
    slot: [u8; SLOT_LEN],
    /// Counts the files that the container has followed under its path.
    generation: u64,
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
    /// The file that they are mapped from, for what outlives the request.
    file: Option<Arc<dyn HasMap>>,
}

impl<'a> Snapshot<'a> {
    pub(crate) fn new(map: &'a Map, slot: CommitSlot, generation: u64) -> Snapshot<'a> {
        Snapshot {
            slot,
            generation,
            btree: BtreeReader::new(map, slot.geometry()),
            file: None,
        }
    }

    /// The same, of which bytes can be kept: see [`Snapshot::keep`].
    pub(crate) fn with_file(mut self, file: Arc<dyn HasMap>) -> Snapshot<'a> {
        self.file = Some(file);
        self
    }

    /// Bytes that were read through this snapshot, for longer than the request; `None` when they were
    /// copied, or the snapshot was not opened from a file or bytes.
    pub fn keep(&self, bytes: &[u8]) -> Option<MappedBytes> {
        MappedBytes::new(self.file.as_ref()?, self.slot, bytes)
    }

    /// The same, which keeps the pages of trees for other requests.
    pub(crate) fn with_cache(mut self, kept: &'a PageCache) -> Snapshot<'a> {
        self.btree.set_cache(kept);
        self
    }

    /// The same, of which no page is read any more once `cancel` is set.
    pub(crate) fn with_cancel(mut self, cancel: Option<&'a AtomicBool>) -> Snapshot<'a> {
        self.btree.set_cancel(cancel);
        self
    }

    /// With pages elsewhere than the slot says.
    #[cfg(test)]
    pub(crate) fn of_geometry(
        map: &'a Map,
        slot: CommitSlot,
        geometry: crate::container::layout::page::Geometry,
    ) -> Snapshot<'a> {
        Snapshot::new(map, slot.with_geometry(geometry), 0)
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
            // The slot has the transaction number and the checksum of the root page, so two commits
            // never have equal slots.
            slot: *self.slot.bytes(),
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
            // One leaf is decoded at a time: a walk over a million pairs holds one page.
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

    /// Checks an extent without its segment record: checksums and both headers against each other.
    ///
    /// # Errors
    /// [`Error::Damaged`] naming what is wrong.
    pub fn check_extent(&self, extent: ExtentPage, segment: SegmentId) -> Result<()> {
        extent.check(self.btree.slice(extent.pointer())?, segment)
    }
}

impl SlotIdentity {
    /// Whether both name commits of the same opened file.
    pub(crate) fn is_same_file(&self, other: &SlotIdentity) -> bool {
        self.generation == other.generation
    }
}
