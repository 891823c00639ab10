//! Reading everything once: every page and extent of one commit against its checksum, and redb's own
//! tables.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering, fence};

use kb_types::error::{Error, Result};

use crate::container::layout::commit_slot::CommitSlot;
use crate::container::read::btree_check::{BtreeCheck, Verified};
use crate::container::read::container::{Container, MAX_ATTEMPTS};
use crate::container::read::mapped_file::MappedFile;
use crate::container::read::snapshot::Snapshot;

/// Attempts to read redb's own tables while no commit replaces them.
// Each commit replaces these tables, and they have about 1/16,000 of the file's size, so one quiet
// moment is enough. After five the result says that they were not checked (`system_checked`).
const SYSTEM_ATTEMPTS: usize = 5;

/// Lets the system read ahead in the map as long as this value lives. Reading a cold file of 876 MB page by page takes
/// 10.7 s without read-ahead and 1.1 s with it.
struct InOrder(Arc<MappedFile>);

impl InOrder {
    fn of(file: &Arc<MappedFile>) -> InOrder {
        file.map.reads_in_order(true);
        InOrder(Arc::clone(file))
    }
}

impl Drop for InOrder {
    fn drop(&mut self) {
        self.0.map.reads_in_order(false);
    }
}

impl Container {
    /// Reads all of the newest commit and checks it: signature block against header row, commit slots,
    /// every page of every table against the checksum in its parent, the shape of the trees, every
    /// extent with its headers and its payload, and redb's own tables. Goes on after damage.
    ///
    /// Asks a writer for time meanwhile. An answer that was overtaken by commits is worked out again.
    /// `progress` hears the number of bytes read so far, about once for each page; it starts again at
    /// 0 with each attempt. Cost: reads everything that is in use, at memory speed when it is cached.
    ///
    /// # Errors
    /// [`Error::SnapshotExpired`] when commits overtook every attempt; [`Error::Damaged`] when the
    /// commit slot itself is; as [`Container::open`] when another file was renamed over the path.
    /// Everything else is in [`Verified::damage`].
    #[cfg(any(test, feature = "testing"))]
    pub fn verify(&self, progress: &mut dyn FnMut(u64)) -> Result<Verified> {
        self.verify_cancellable(None, progress)
    }

    /// As [`Container::verify`]; once `cancel` is set, no page is read any more.
    ///
    /// # Errors
    /// As [`Container::verify`]; [`Error::Cancelled`].
    pub fn verify_cancellable(
        &self,
        cancel: Option<&AtomicBool>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Verified> {
        // Pages that were not read because of a cancellation are counted as damage; that result is
        // dropped.
        let is_cancelled = || cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed));
        // Reading a large file takes longer than the 2 s that a writer retains commits by default.
        let _lease = self.lease();
        let mut opened = self.reopen_if_replaced()?;
        let mut attempts = 0;
        while attempts < MAX_ATTEMPTS {
            let _in_order = InOrder::of(&opened);
            let slot = CommitSlot::read(&opened.map)?;
            let snapshot = Snapshot::new(&opened.map, slot, opened.generation).with_cancel(cancel);
            let mut check = BtreeCheck::new(&snapshot, Verified::default(), progress);
            check.header(&opened);
            check.user_tables();
            let verified = check.verified;
            if is_cancelled() {
                return Err(Error::Cancelled);
            }
            if snapshot.btree().went_beyond_map()
                && let Some(longer) = self.remap_if_grown(&opened)?
            {
                opened = longer;
                continue;
            }
            if slot.is_valid(&opened.map) {
                return self.verify_system(opened, verified, progress);
            }
            attempts += 1;
        }
        Err(Error::SnapshotExpired)
    }

    /// Adds redb's own tables. A writer reuses their pages right after the next commit, retained or not,
    /// so what was read counts only while the slot is the same.
    fn verify_system(
        &self,
        mut opened: Arc<MappedFile>,
        verified: Verified,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Verified> {
        for _ in 0..SYSTEM_ATTEMPTS {
            let slot = CommitSlot::read(&opened.map)?;
            let snapshot = Snapshot::new(&opened.map, slot, opened.generation);
            let mut check = BtreeCheck::new(&snapshot, verified.clone(), progress);
            check.system_tables();
            let mut with_system = check.verified;
            if snapshot.btree().went_beyond_map()
                && let Some(longer) = self.remap_if_grown(&opened)?
            {
                opened = longer;
                continue;
            }
            fence(Ordering::Acquire);
            if !opened.map.is_shared() || CommitSlot::read(&opened.map)? == slot {
                with_system.system_checked = true;
                return Ok(with_system);
            }
        }
        Ok(verified)
    }
}

#[cfg(test)]
mod tests;
