//! redb's header: which of its two commit slots is served, the roots in it, and the layout of the file.

use xxhash_rust::xxh3::xxh3_128;

use crate::container::layout::codec::{array_at, u8_at, u64_at, u128_at};
use crate::container::layout::page::{Geometry, Root};
use crate::container::layout::table::Table;
use crate::error::{Error, Result};

/// First bytes of every redb file.
pub(crate) const REDB_MAGIC: [u8; 9] = *b"redb\x1A\x0A\xA9\x0D\x0A";

/// Bytes of redb's header with both commit slots.
pub(crate) const HEADER_LEN: u64 = 320;

// Flags of byte 9. A writer that is open, or died, does not concern readers.
const PRIMARY_SLOT: u8 = 1;
const WRITER_OPEN: u8 = 2;
const TWO_PHASE: u8 = 4;
const PRIMARY_UNFLUSHED: u8 = 8;
pub(crate) const FLAGS_AT: u64 = 9;

// Layout of a commit slot.
const SLOTS_AT: usize = 64;
pub(crate) const SLOT_LEN: usize = 128;
const ROOT_PRESENT_AT: usize = 1;
const SYSTEM_ROOT_PRESENT_AT: usize = 2;
const ROOT_AT: usize = 8;
const SYSTEM_ROOT_AT: usize = ROOT_AT + ROOT_LEN;
const ROOT_LEN: usize = 32;
const TRANSACTION_AT: usize = 104;
const SLOT_CHECKSUM_AT: usize = 112;

/// redb's file format in byte 0 of a slot.
const SLOT_VERSION: u8 = 3;

/// A commit slot of redb's header, with where pages lie.
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

    /// The bytes of the slot, which name the commit.
    pub(crate) fn bytes(&self) -> &[u8; SLOT_LEN] {
        &self.slot
    }

    /// Where pages lie.
    pub(crate) fn geometry(&self) -> Geometry {
        self.geometry
    }

    /// The same commit with pages elsewhere.
    #[cfg(test)]
    pub(crate) fn with_geometry(self, geometry: Geometry) -> CommitSlot {
        CommitSlot { geometry, ..self }
    }
}

/// What holds of redb's header while no writer is open: both slots are whole, and the layout fits into
/// the file. While one is open, or after one died, there is nothing to check.
///
/// # Errors
/// [`Error::Damaged`] naming what is wrong.
pub(crate) fn check_resting_header(header: &[u8], file_len: u64) -> Result<()> {
    if u8_at(header, FLAGS_AT as usize)? & WRITER_OPEN != 0 {
        return Ok(());
    }
    let mut transactions = [0; 2];
    for (number, transaction) in transactions.iter_mut().enumerate() {
        let slot: [u8; SLOT_LEN] = array_at(header, SLOTS_AT + SLOT_LEN * number)?;
        let (fields, checksum) = slot.split_at(SLOT_CHECKSUM_AT);
        if xxh3_128(fields) != u128_at(checksum, 0)? {
            return Err(Error::damaged(format!("the checksum of slot {number}")));
        }
        *transaction = u64_at(&slot, TRANSACTION_AT)?;
    }
    // No checksum covers the byte that says which slot is served. A writer that closed the file has
    // served the newer one.
    let served = CommitSlot::from_header(header)?.map(|slot| slot.transaction());
    if served != transactions.iter().max().copied() {
        return Err(Error::damaged("an older commit is served than the last"));
    }
    let layout = layout_len(&array_at(header, 0)?);
    if layout.is_none_or(|layout| layout > file_len) {
        return Err(Error::damaged("the layout is longer than the file"));
    }
    Ok(())
}

/// The length of the file by the layout in redb's header; `None` when it overflows.
pub(crate) fn layout_len(header: &[u8; 64]) -> Option<u64> {
    let number = |offset: usize| {
        let bytes = header.get(offset..offset + 4).and_then(|b| b.first_chunk());
        bytes.map_or(0, |bytes| u64::from(u32::from_le_bytes(*bytes)))
    };
    let (page, region_header, region) = (number(12), number(16), number(20));
    let (full_regions, trailing) = (number(24), number(28));
    let trailing_pages = if trailing > 0 {
        region_header + trailing
    } else {
        0
    };
    full_regions
        .checked_mul(region_header + region)
        .and_then(|pages| pages.checked_add(1 + trailing_pages))
        .and_then(|pages| pages.checked_mul(page))
}

/// The length that redb shall see when it opens the file. After a clean close that is what the layout
/// says, because a shrink may have been swallowed; after a crash the file's own, from which redb
/// works out the layout again.
pub(crate) fn length_for_redb(header: &[u8; 64], file_len: u64) -> u64 {
    const RECOVERY_REQUIRED: u8 = 2;
    match layout_len(header) {
        Some(layout)
            if header
                .get(9)
                .is_some_and(|flags| flags & RECOVERY_REQUIRED == 0) =>
        {
            layout.min(file_len)
        }
        _ => file_len,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::container::testing::fixture::{build, fill, temp_path};

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
    fn after_a_crash_the_length_of_the_file_counts() {
        let mut header = [0u8; 64];
        for (offset, number) in [(12, 4096u32), (16, 0), (20, 100), (24, 1), (28, 7)] {
            header[offset..offset + 4].copy_from_slice(&number.to_le_bytes());
        }
        assert_eq!(length_for_redb(&header, 1 << 20), 108 * 4096);
        assert_eq!(length_for_redb(&header, 4096), 4096);
        header[9] = 2;
        assert_eq!(length_for_redb(&header, 1 << 20), 1 << 20);
    }
}
