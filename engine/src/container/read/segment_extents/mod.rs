//! The columns of a segment in one commit.
//!
//! Where the extents lie is taken from branch pages when a segment is located; an extent itself is
//! touched, and then checked once, when its payload is first read.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use kb_types::SegmentId;
use kb_types::error::{Error, Result};

use crate::container::layout::column::{
    ColumnId, ColumnRecord, ColumnView, EXTENT_OVERHEAD, ExtentSource, MAX_ORDER, extent_starts,
};
use crate::container::layout::extent::{Expected, check_extent, segment_table_name};
use crate::container::layout::page::{PagePointer, Root};
use crate::container::layout::table::{KeyKind, Table};
use crate::container::read::snapshot::{SlotIdentity, Snapshot};

/// How far ahead of a scan extents are requested from the system, in bytes.
// The map is random-access, so the system reads nothing ahead by itself. Two extents of 1 MiB or 32
// of 64 KiB keep a disk busy while the processor works on the current one. The best distance was
// not measured.
const AHEAD_BYTES: u32 = 2 << 20;
// Cap in extents: each request is a system call of about a microsecond, and small extents would
// cause many.
const AHEAD_EXTENTS: u32 = 32;

/// One extent whose place is known.
#[derive(Debug)]
struct LocatedExtent {
    /// Page and checksum.
    pointer: PagePointer,
    /// Bytes of the payload.
    payload_len: u32,
    /// Whether the page was checked; pages of a live commit do not change.
    verified: AtomicBool,
}

/// One column whose place is known.
#[derive(Debug)]
struct LocatedColumn {
    /// Number in the registry.
    column: ColumnId,
    /// Bytes of a row; 0 for items.
    width: u32,
    /// Logical starts, one more than extents.
    starts: Vec<u64>,
    /// Which extents of the segment are its.
    extents: Range<usize>,
}

/// Columns and extents of a segment, in key order.
#[derive(Debug)]
struct Located {
    /// The segment.
    segment: SegmentId,
    /// Root of its table: as long as it is the same, so is everything below.
    root: Option<Root>,
    /// By number.
    columns: Vec<LocatedColumn>,
    /// Of all columns.
    extents: Vec<LocatedExtent>,
}

/// Where the columns of one segment lie in one commit. Keep it as long as the commit is served: each
/// extent is checked only once.
#[derive(Debug, Clone)]
pub struct SegmentExtents {
    /// The commit it belongs to.
    identity: SlotIdentity,
    /// What was found, shared with later commits that did not touch the segment.
    located: Arc<Located>,
}

impl SegmentExtents {
    /// Finds all columns that `records` name in the table `table_name`, without touching an extent.
    ///
    /// # Errors
    /// [`Error::Damaged`] when the table is missing, has other keys, or another number or size of
    /// extents than the records say.
    pub fn locate(
        snapshot: &Snapshot<'_>,
        table_name: &str,
        segment: SegmentId,
        records: &[ColumnRecord],
    ) -> Result<SegmentExtents> {
        let wrong = |what: &str| Error::damaged(format!("table {table_name:?} {what}"));
        let table = segment_table(snapshot, table_name)?;
        // A segment of documents without text has no extent, and so no table.
        let is_empty = records.iter().all(|record| record.payload_lens.is_empty());
        let (root, pages) = match table {
            // Before the tree is walked, which may be endless in a hostile file. A table of a
            // hostile file may claim any number of extents; the records bound what is walked and
            // allocated.
            Some(table) if table.len() > extents_of(records) => {
                return Err(wrong("has more extents than its records"));
            }
            Some(table) => (table.root, snapshot.extent_pages(&table)?),
            None if is_empty => (None, Vec::new()),
            None => return Err(wrong("is missing")),
        };
        let mut pages = pages.into_iter();
        let mut sorted: Vec<&ColumnRecord> = records.iter().collect();
        // Extents lie in key order, so by column and number, and are handed out in this order
        // below.
        sorted.sort_by_key(|record| record.column);
        if sorted
            .windows(2)
            // Two records of one column would share its extents or shift those of the columns
            // behind it.
            .any(|pair| matches!(pair, [a, b] if a.column == b.column))
        {
            return Err(wrong("has two records of one column"));
        }
        let mut columns = Vec::with_capacity(sorted.len());
        let mut extents = Vec::with_capacity(pages.len());
        for record in sorted {
            let first = extents.len();
            for payload_len in &record.payload_lens {
                let page = pages.next().ok_or_else(|| wrong("has too few extents"))?;
                let order = page.pointer().order();
                if order > u32::from(MAX_ORDER)
                    // So a payload ends inside its page, and the slice below cannot fail for a
                    // checked extent.
                    || u64::from(*payload_len) + EXTENT_OVERHEAD as u64 > page.size_bytes()
                {
                    return Err(wrong("has an extent of another size than its record"));
                }
                extents.push(LocatedExtent {
                    pointer: page.pointer(),
                    payload_len: *payload_len,
                    // Lazy: checking all extents here would read the whole segment.
                    verified: AtomicBool::new(false),
                });
            }
            columns.push(LocatedColumn {
                column: ColumnId(record.column),
                width: record.width,
                starts: extent_starts(record),
                extents: first..extents.len(),
            });
        }
        if pages.next().is_some() {
            return Err(wrong("has more extents than its records"));
        }
        Ok(SegmentExtents {
            identity: snapshot.identity(),
            located: Arc::new(Located {
                segment,
                root,
                columns,
                extents,
            }),
        })
    }

    /// The same segment in another commit, if that commit left its table as it was: nothing is
    /// located or checked again. `None`: locate it anew.
    ///
    /// # Errors
    /// [`Error::Damaged`] when a page on the way fails its checks.
    pub fn in_commit(&self, snapshot: &Snapshot<'_>) -> Result<Option<SegmentExtents>> {
        let identity = snapshot.identity();
        // A root of another file may have equal bytes and other pages.
        if !self.identity.is_same_file(&identity) {
            return Ok(None);
        }
        let table = segment_table(snapshot, &segment_table_name(self.located.segment))?;
        let root = table.and_then(|table| table.root);
        // The root holds the checksum of its page, which holds those of its children: an equal root
        // means equal extents, except that `verified` flags stay too.
        Ok((root == self.located.root).then(|| SegmentExtents {
            identity,
            located: Arc::clone(&self.located),
        }))
    }

    /// Number of the segment.
    pub fn segment(&self) -> SegmentId {
        self.located.segment
    }

    /// A column, read through `snapshot`; `None` when the segment has no such column.
    pub fn column<'s>(
        &'s self,
        snapshot: &'s Snapshot<'_>,
        column: ColumnId,
    ) -> Option<BoundColumn<'s>> {
        let at = self
            .located
            .columns
            .binary_search_by_key(&column, |located| located.column)
            .ok()?;
        let column = self.located.columns.get(at)?;
        Some(BoundColumn {
            segment: self.located.segment,
            column,
            extents: self.located.extents.get(column.extents.clone())?,
            snapshot,
            expired: self.identity != snapshot.identity(),
        })
    }
}

fn extents_of(records: &[ColumnRecord]) -> u64 {
    records
        .iter()
        .map(|record| record.payload_lens.len() as u64)
        .sum()
}

fn segment_table(snapshot: &Snapshot<'_>, name: &str) -> Result<Option<Table>> {
    let table = snapshot.table(name)?;
    let holds_extents =
        |table: &Table| table.key_kind == KeyKind::U64 && table.widths.value.is_none();
    if table.as_ref().is_none_or(holds_extents) {
        Ok(table)
    } else {
        Err(Error::damaged(format!("table {name:?} holds no extents")))
    }
}

/// One column of a segment in one snapshot.
#[derive(Debug, Clone, Copy)]
pub struct BoundColumn<'s> {
    /// The segment.
    segment: SegmentId,
    /// Where it lies.
    column: &'s LocatedColumn,
    /// Its extents.
    extents: &'s [LocatedExtent],
    /// Where bytes are read.
    snapshot: &'s Snapshot<'s>,
    /// Whether it was located in another commit.
    expired: bool,
}

impl BoundColumn<'_> {
    /// The column as rows or items.
    pub fn view(&self) -> ColumnView<'_> {
        ColumnView::new(&self.column.starts, self.column.width, self)
    }

    /// Has the system read ahead where extents are read one after the other: the one before `number` was read.
    fn read_on(&self, number: usize) {
        let of_before = number.checked_sub(1).and_then(|at| self.extents.get(at));
        if let Some(before) = of_before
            // Two neighbours in a row are taken for a scan. A search that jumps requests its
            // extents itself.
            && before.verified.load(Ordering::Acquire)
        {
            let ahead = AHEAD_BYTES / before.payload_len.max(1);
            self.will_read(number.saturating_add(ahead.clamp(1, AHEAD_EXTENTS) as usize));
        }
    }

    /// Number of extents.
    #[cfg(test)]
    pub fn extents(&self) -> usize {
        self.extents.len()
    }
}

impl ExtentSource for BoundColumn<'_> {
    /// # Errors
    /// [`Error::Damaged`] when there is no such extent or it fails its checks;
    /// [`Error::SnapshotExpired`] when the column was located in another commit.
    fn payload(&self, number: usize) -> Result<&[u8]> {
        // Its pages may have been reused since, and their checksums fail as damage. Expired is the
        // true reason.
        if self.expired {
            return Err(Error::SnapshotExpired);
        }
        let outside = || {
            Error::damaged(format!(
                "extent {number} of column {} of segment {} does not exist",
                self.column.column.0, self.segment.0
            ))
        };
        let extent = self.extents.get(number).ok_or_else(outside)?;
        let page = self.snapshot.btree().slice(extent.pointer)?;
        if !extent.verified.load(Ordering::Acquire) {
            self.snapshot.btree().will_read(extent.pointer);
            self.read_on(number);
            let expected = Expected {
                segment: self.segment,
                column: self.column.column,
                number: number as u32,
                first: *self.column.starts.get(number).ok_or_else(outside)?,
                payload_len: extent.payload_len,
            };
            check_extent(page, extent.pointer, expected)?;
            // Two threads may check one extent at the same time: both find the same, so no lock is
            // needed.
            extent.verified.store(true, Ordering::Release);
        }
        page.get(EXTENT_OVERHEAD..EXTENT_OVERHEAD + extent.payload_len as usize)
            .ok_or_else(outside)
    }

    fn will_read(&self, number: usize) {
        if let Some(extent) = self.extents.get(number)
            && !extent.verified.load(Ordering::Acquire)
        {
            self.snapshot.btree().will_read(extent.pointer);
        }
    }
}

#[cfg(test)]
mod tests;
