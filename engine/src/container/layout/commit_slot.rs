//! redb's header: which of its two commit slots is served, the roots in it, and the layout of the file.

use kb_types::error::{Error, Result};
use xxhash_rust::xxh3::xxh3_128;

use crate::container::layout::codec::{array_at, u8_at, u64_at, u128_at};
use crate::container::layout::page::{Geometry, Root};
use crate::container::layout::table::Table;

/// First bytes of every redb file.
// From redb's `tree_store/page_store/header.rs`, as are all offsets and flags in this file. Its
// design page has the same layout.
pub(crate) const REDB_MAGIC: [u8; 9] = *b"redb\x1A\x0A\xA9\x0D\x0A";

/// Bytes of redb's header with both commit slots.
// 64 bytes of header and two slots of 128.
pub(crate) const HEADER_LEN: u64 = 320;

// Flags of byte 9. A writer that is open, or died, does not concern readers.
const PRIMARY_SLOT: u8 = 1;
// redb's RECOVERY_REQUIRED: set while a database is open, cleared by a clean close.
const WRITER_OPEN: u8 = 2;
// Set by a two-phase commit. Readers depend on it: see [`CommitSlot::from_header`].
const TWO_PHASE: u8 = 4;
// Set in redb's multi-process modes from the write of a commit until it is flushed. The other slot,
// the previous commit, is served until then.
const PRIMARY_UNFLUSHED: u8 = 8;
pub(crate) const FLAGS_AT: u64 = 9;

// Layout of a commit slot, in redb's order. Gaps between the fields are padding or unused; the
// checksum covers them too.
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
// redb's `FILE_FORMAT_VERSION3`. redb 4 writes no other and asks for an upgrade of earlier ones.
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
        // The checksum comes first: a torn slot could say anything in the fields that are tested
        // below. `None` makes the caller read again.
        let (fields, checksum) = slot.split_at(SLOT_CHECKSUM_AT);
        if xxh3_128(fields) != u128_at(checksum, 0)? {
            return Ok(None);
        }
        // After a one-phase commit an unchanged slot does not prove that no page was overwritten:
        // four of four trial readers met wrong pages (docs/decisions/03-readers-without-locks.md).
        if flags & TWO_PHASE == 0 {
            return Err(Error::FormatUnsupported {
                needs: "a reader of one-phase commits (another program wrote to it)".to_owned(),
                reads: "commits in two phases".to_owned(),
            });
        }
        // Format 2 has other table definitions and other checksums; redb upgrades such files
        // itself.
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

/// Checks redb's header of a file that no writer has open: both slots are whole, and the layout fits into the file.
/// While a writer is open, or after one died, there is nothing to check.
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

/// The layout in redb's header: bytes of a page, pages of the header of a region and of its data, full regions, and
/// pages of the last one that is not full.
fn layout_numbers(header: &[u8; 64]) -> [u64; 5] {
    [12, 16, 20, 24, 28].map(|offset| {
        let bytes = header.get(offset..offset + 4).and_then(|b| b.first_chunk());
        bytes.map_or(0, |bytes| u64::from(u32::from_le_bytes(*bytes)))
    })
}

/// The length of the file by the layout in redb's header; `None` when it overflows.
pub(crate) fn layout_len(header: &[u8; 64]) -> Option<u64> {
    let [page, region_header, region, full_regions, trailing] = layout_numbers(header);
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

/// Returns the length that redb is told when it opens the file, in bytes. After a clean close that is the length by the
/// layout, because the backend does not shrink the file when redb asks for it. After a crash it is the length of the
/// file, from which redb recomputes the layout.
pub(crate) fn length_for_redb(header: &[u8; 64], file_len: u64) -> u64 {
    resting_layout_len(header).map_or(file_len, |layout| layout.min(file_len))
}

/// Returns the length with which redb opens a file that was closed cleanly: the layout with room behind it, in bytes.
///
/// The room ends at a power of two of pages. redb's buddy allocator splits at multiples of powers of two and takes the
/// smallest free block that fits. With such an end, free blocks behind the used pages grow towards the end of the file,
/// also after redb has doubled it: pages are taken in ascending order, and the rest is cut when the file is closed. With
/// other ends redb leaves the largest block in the middle: of a file of 117 MB just indexed 19 MB were never written.
/// The room stays below half of the file, because redb gives more than that back at once.
///
/// After a crash, and for a file of more than one region, this is [`length_for_redb`].
pub(crate) fn length_with_room(header: &[u8; 64], file_len: u64) -> u64 {
    // In pages: a tiny file gets room for a few records. Other sizes were not measured.
    const LEAST_BLOCK: u64 = 8;
    let len = length_for_redb(header, file_len);
    let Some((page, pages)) = resting_layout_len(header)
        .filter(|layout| *layout == len)
        .and_then(|_| pages_of_only_region(header))
    else {
        return len;
    };
    let [_, _, region, ..] = layout_numbers(header);
    // Near the end of a region only a power of two of at most a quarter of the file is left.
    let block = 1u64 << (pages / 4).max(LEAST_BLOCK).ilog2();
    let wanted = [
        (pages + 1).next_power_of_two(),
        pages.next_multiple_of(block) + block,
    ];
    // A file that fills its region gets a second one from redb, whose layout is not computed here.
    match wanted.into_iter().find(|wanted| *wanted < region) {
        // Page 0 is the header and belongs to no region.
        Some(wanted) => (1 + wanted) * page,
        None => len,
    }
}

/// Size of a page, and pages of the data of a file of one region.
fn pages_of_only_region(header: &[u8; 64]) -> Option<(u64, u64)> {
    let [page, region_header, region, full_regions, pages] = layout_numbers(header);
    // The last page of a region is found without headers of regions only. Other layouts keep the
    // length that redb finds.
    let is_one = region_header == 0 && full_regions == 0 && (1..region).contains(&pages);
    is_one.then_some((page, pages))
}

/// The length by the layout of a file that was closed; `None` while a writer has it open, after one died, and when
/// it overflows.
pub(crate) fn resting_layout_len(header: &[u8; 64]) -> Option<u64> {
    let flags = header.get(FLAGS_AT as usize)?;
    if flags & WRITER_OPEN != 0 {
        return None;
    }
    layout_len(header)
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
    fn a_closed_file_of_one_region_is_opened_with_some_room() {
        let header = |pages: u32| {
            let mut header = [0u8; 64];
            for (offset, number) in [(12, 4096), (16, 0), (20, 1 << 20), (24, 0), (28, pages)] {
                header[offset..offset + 4].copy_from_slice(&number.to_le_bytes());
            }
            header
        };
        for (pages, wanted) in [
            (97, 128),
            (1231, 2048),
            (2048, 4096),
            (100_000, 131_072),
            (600_000, 786_432),
            // The region would be full, and redb would begin another.
            (900_000, 900_000),
        ] {
            let len = (1 + u64::from(pages)) * 4096;
            let with_room = length_with_room(&header(pages), len + 4096);
            assert_eq!(with_room, (1 + wanted) * 4096, "{pages}");
            // A file that is cut is damaged, not to be made longer.
            let cut = length_with_room(&header(pages), len - 4096);
            assert_eq!(cut, len - 4096, "{pages}");
        }
    }

    #[test]
    fn after_a_crash_the_length_of_the_file_counts() {
        let mut header = [0u8; 64];
        for (offset, number) in [(12, 4096u32), (16, 0), (20, 100), (24, 1), (28, 7)] {
            header[offset..offset + 4].copy_from_slice(&number.to_le_bytes());
        }
        assert_eq!(length_for_redb(&header, 1 << 20), 108 * 4096);
        assert_eq!(length_for_redb(&header, 4096), 4096);
        assert_eq!(length_with_room(&header, 1 << 20), 108 * 4096);
        header[9] = 2;
        assert_eq!(length_for_redb(&header, 1 << 20), 1 << 20);
        assert_eq!(length_with_room(&header, 1 << 20), 1 << 20);
    }
}
