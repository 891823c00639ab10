//! Which commit a reader is served, and whether it may still rely on it.
//!
//! The writer commits in two phases: pages of the commit in the primary slot are overwritten only
//! after a newer slot is visible, and not at all while the writer record protects them. So a result
//! is valid when the slot is the same after the work, or when the record, read after that, still
//! protects the commit. No clock takes part, and readers take no lock.

use std::sync::atomic::{Ordering, fence};

use kb_types::error::{Error, Result};

use crate::container::layout::codec::array_at;
use crate::container::layout::commit_slot::{CommitSlot, FLAGS_AT, HEADER_LEN};
use crate::container::layout::writer_record::{WRITER_RECORD, WriterRecord};
use crate::container::read::map::Map;

/// Reads of a header that a writer is changing before the file counts as damaged.
// A writer changes the slot in one small write, so a second read nearly always finds it whole. A
// checksum that still fails after a hundred reads is damage, not a race.
const MAX_ATTEMPTS: usize = 100;

impl CommitSlot {
    /// Reads the slot, again while a writer tears it.
    pub(crate) fn read(map: &Map) -> Result<CommitSlot> {
        let short = || Error::damaged("the file ends inside redb's header");
        for _ in 0..MAX_ATTEMPTS {
            let header = map.copy(0, HEADER_LEN).ok_or_else(short)?;
            // Torn: read again at once. Sleeping would cost more than the write that is in
            // progress.
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

    /// Whether a result read through this slot is valid. All reads of the result must come before this call.
    pub(crate) fn is_valid(&self, map: &Map) -> bool {
        if !map.is_shared() {
            return true;
        }
        // Reads of pages must not be moved behind the read of the slot that confirms them.
        fence(Ordering::Acquire);
        // A header that cannot be read now proves nothing, so the result does not count.
        let Ok(now) = CommitSlot::read(map) else {
            return false;
        };
        // Two-phase commits make this a proof: pages of the served commit are overwritten only
        // after another slot is visible.
        if now.bytes() == self.bytes() {
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::container::testing::fixture::{build, fill, temp_path};
    use crate::container::write::writer::ContainerWriter;

    #[test]
    fn a_slot_that_stays_torn_is_damage() {
        let (_folder, path) = temp_path();
        build(&path, |transaction| fill(transaction, 1));
        let mut torn = fs::read(&path).unwrap();
        let primary = 64 + 128 * usize::from(torn[9] & 1);
        torn[primary + 20] ^= 1;
        let error = CommitSlot::read(&Map::Bytes(torn.into())).unwrap_err();
        assert!(error.to_string().contains("commit slot"), "{error}");
    }

    #[test]
    fn a_slot_is_valid_while_newest_or_protected() {
        let (_folder, path) = temp_path();
        build(&path, |transaction| fill(transaction, 3));
        let slot_now = || {
            let map = Map::of_file(&fs::File::open(&path).unwrap()).unwrap();
            (CommitSlot::read(&map).unwrap(), map)
        };
        let (before, map) = slot_now();
        assert!(before.is_valid(&map));
        let mut writer =
            ContainerWriter::open(&path, &crate::container::testing::fixture::identity()).unwrap();
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
