//! Page extents: values of a segment table that fill whole pages, so that their payload is one
//! aligned slice of the map.
//!
//! Where the extents lie is taken from branch pages when a segment is located; an extent itself is
//! touched, and then checked once, when its payload is first read.

use crate::container::codec::{array_at, u8_at, u16_at, u32_at, u64_at};
use crate::container::column::{
    ColumnId, ColumnRecord, ColumnView, EXTENT_OVERHEAD, ExtentSource, MAX_ORDER, extent_starts,
    payload_capacity,
};
use crate::container::page::{KeyKind, PagePointer, Root, Table};
use crate::container::snapshot::{SlotIdentity, Snapshot};
use crate::error::{Error, Result};
use crate::types::SegmentId;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

/// What the names of segment tables begin with.
pub(crate) const SEGMENT_TABLE_PREFIX: &str = "seg/";

/// Bytes of redb's leaf header with one u64 key: type, count, end of the value, key.
pub(crate) const LEAF_HEADER_LEN: usize = 16;

// Layout of the extent header, right behind the leaf header.
const MAGIC: [u8; 4] = *b"KBVX";
const VERSION: u16 = 1;
const VERSION_AT: usize = MAGIC.len();
const HEADER_LEN_AT: usize = VERSION_AT + 2;
const SEGMENT_AT: usize = HEADER_LEN_AT + 2;
const NUMBER_AT: usize = SEGMENT_AT + 8;
const COLUMN_AT: usize = NUMBER_AT + 4;
const FIRST_AT: usize = COLUMN_AT + 4;
const PAYLOAD_LEN_AT: usize = FIRST_AT + 8;
const FLAGS_AT: usize = PAYLOAD_LEN_AT + 4;
const CHECKSUM_AT: usize = FLAGS_AT + 4;
const HEADER_LEN: usize = CHECKSUM_AT + 8;
const _: () = assert!(LEAF_HEADER_LEN + HEADER_LEN == EXTENT_OVERHEAD);

/// Name of the table that holds the extents of `segment`.
pub fn segment_table_name(segment: SegmentId) -> String {
    format!("{SEGMENT_TABLE_PREFIX}{:016x}", segment.0)
}

/// Key of an extent in its table.
pub(crate) fn extent_key(column: ColumnId, number: u32) -> u64 {
    u64::from(column.0) << 48 | u64::from(number)
}

/// Length of the value of the smallest extent that holds `payload_len` bytes; `None` when no page
/// does.
pub(crate) fn value_len(payload_len: usize) -> Option<usize> {
    (0..=MAX_ORDER)
        .map(payload_capacity)
        .find(|capacity| *capacity >= payload_len)
        .map(|capacity| capacity + HEADER_LEN)
}

/// Fills `value`, which has [`value_len`] bytes: header, payload, zeros.
pub(crate) fn write_extent(
    value: &mut [u8],
    segment: SegmentId,
    column: ColumnId,
    number: u32,
    first: u64,
    payload: &[u8],
) {
    value.fill(0);
    let (header, rest) = value.split_at_mut(HEADER_LEN.min(value.len()));
    let fields: [(usize, &[u8]); 9] = [
        (0, &MAGIC),
        (VERSION_AT, &VERSION.to_le_bytes()),
        (HEADER_LEN_AT, &(HEADER_LEN as u16).to_le_bytes()),
        (SEGMENT_AT, &u64::from(segment.0).to_le_bytes()),
        (NUMBER_AT, &number.to_le_bytes()),
        (COLUMN_AT, &column.0.to_le_bytes()),
        (FIRST_AT, &first.to_le_bytes()),
        (PAYLOAD_LEN_AT, &(payload.len() as u32).to_le_bytes()),
        (CHECKSUM_AT, &xxh3_64(payload).to_le_bytes()),
    ];
    for (offset, bytes) in fields {
        if let Some(target) = header.get_mut(offset..offset + bytes.len()) {
            target.copy_from_slice(bytes);
        }
    }
    if let Some(target) = rest.get_mut(..payload.len()) {
        target.copy_from_slice(payload);
    }
}

/// A leaf page of a segment table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExtentPage {
    /// Page and checksum.
    pointer: PagePointer,
}

impl ExtentPage {
    pub(crate) fn new(pointer: PagePointer) -> ExtentPage {
        ExtentPage { pointer }
    }

    /// redb's number of the page: order, region, index.
    pub fn page_number(&self) -> u64 {
        self.pointer.page
    }

    /// XXH3-128 of the whole page.
    pub fn checksum(&self) -> u128 {
        self.pointer.checksum
    }

    /// Bytes of the page.
    pub fn size_bytes(&self) -> u64 {
        self.pointer.size_bytes()
    }

    /// Checks the page alone: checksum, both headers against each other, and the checksum of the
    /// payload.
    ///
    /// # Errors
    /// [`Error::Damaged`] naming what is wrong.
    pub fn check(&self, snapshot: &Snapshot<'_>, segment: SegmentId) -> Result<()> {
        let page = snapshot.btree().slice(self.pointer)?;
        let expected = Expected {
            segment,
            column: ColumnId(u16_at(page, LEAF_HEADER_LEN + COLUMN_AT)?),
            number: u32_at(page, LEAF_HEADER_LEN + NUMBER_AT)?,
            first: u64_at(page, LEAF_HEADER_LEN + FIRST_AT)?,
            payload_len: u32_at(page, LEAF_HEADER_LEN + PAYLOAD_LEN_AT)?,
        };
        check_extent(page, self.pointer, expected)?;
        let payload = page
            .get(EXTENT_OVERHEAD..EXTENT_OVERHEAD + expected.payload_len as usize)
            .ok_or_else(|| damaged("length", expected))?;
        if xxh3_64(payload) != u64_at(page, LEAF_HEADER_LEN + CHECKSUM_AT)? {
            return Err(damaged("checksum of the payload", expected));
        }
        Ok(())
    }
}

/// What a header must say.
#[derive(Debug, Clone, Copy)]
struct Expected {
    segment: SegmentId,
    column: ColumnId,
    number: u32,
    first: u64,
    payload_len: u32,
}

fn damaged(what: &str, expected: Expected) -> Error {
    Error::damaged(format!(
        "{what} of extent {} of column {} of segment {}",
        expected.number, expected.column.0, expected.segment.0
    ))
}

/// Checks a whole extent page against its parent and its segment record.
fn check_extent(page: &[u8], pointer: PagePointer, expected: Expected) -> Result<()> {
    if xxh3_128(page) != pointer.checksum {
        return Err(damaged("checksum", expected));
    }
    let leaf_is_one_value = u8_at(page, 0)? == 1
        && u16_at(page, 2)? == 1
        && u32_at(page, 4)? as usize == page.len()
        && u64_at(page, 8)? == extent_key(expected.column, expected.number);
    if !leaf_is_one_value {
        return Err(damaged("leaf header", expected));
    }
    let header: [u8; HEADER_LEN] = array_at(page, LEAF_HEADER_LEN)?;
    let version = u16_at(&header, VERSION_AT)?;
    if version != VERSION {
        return Err(Error::FormatUnsupported {
            needs: format!("version {version} of extents"),
            reads: format!("version {VERSION}"),
        });
    }
    let header_fits = array_at::<4>(&header, 0)? == MAGIC
        && usize::from(u16_at(&header, HEADER_LEN_AT)?) == HEADER_LEN
        && u64_at(&header, SEGMENT_AT)? == u64::from(expected.segment.0)
        && u32_at(&header, NUMBER_AT)? == expected.number
        && u16_at(&header, COLUMN_AT)? == expected.column.0
        && u64_at(&header, FIRST_AT)? == expected.first
        && u32_at(&header, PAYLOAD_LEN_AT)? == expected.payload_len
        && u32_at(&header, FLAGS_AT)? == 0;
    if !header_fits {
        return Err(damaged("header", expected));
    }
    Ok(())
}

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
            // Before the tree is walked, which may be endless in a hostile file.
            Some(table) if table.len() > extents_of(records) => {
                return Err(wrong("has more extents than its records"));
            }
            Some(table) => (table.root, snapshot.extent_pages(&table)?),
            None if is_empty => (None, Vec::new()),
            None => return Err(wrong("is missing")),
        };
        let mut pages = pages.into_iter();
        let mut sorted: Vec<&ColumnRecord> = records.iter().collect();
        sorted.sort_by_key(|record| record.column);
        if sorted
            .windows(2)
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
                let order = page.pointer.order();
                if order > u32::from(MAX_ORDER)
                    || u64::from(*payload_len) + EXTENT_OVERHEAD as u64 > page.size_bytes()
                {
                    return Err(wrong("has an extent of another size than its record"));
                }
                extents.push(LocatedExtent {
                    pointer: page.pointer,
                    payload_len: *payload_len,
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
        if !self.identity.is_same_file(&identity) {
            return Ok(None);
        }
        let table = segment_table(snapshot, &segment_table_name(self.located.segment))?;
        let root = table.and_then(|table| table.root);
        Ok((root == self.located.root).then(|| SegmentExtents {
            identity,
            located: Arc::clone(&self.located),
        }))
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
    match table.as_ref().is_none_or(holds_extents) {
        true => Ok(table),
        false => Err(Error::damaged(format!("table {name:?} holds no extents"))),
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

    /// Number of extents.
    pub fn extents(&self) -> usize {
        self.extents.len()
    }
}

impl ExtentSource for BoundColumn<'_> {
    /// # Errors
    /// [`Error::Damaged`] when there is no such extent or it fails its checks;
    /// [`Error::SnapshotExpired`] when the column was located in another commit.
    fn payload(&self, number: usize) -> Result<&[u8]> {
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
            let expected = Expected {
                segment: self.segment,
                column: self.column.column,
                number: number as u32,
                first: *self.column.starts.get(number).ok_or_else(outside)?,
                payload_len: extent.payload_len,
            };
            check_extent(page, extent.pointer, expected)?;
            extent.verified.store(true, Ordering::Release);
        }
        page.get(EXTENT_OVERHEAD..EXTENT_OVERHEAD + extent.payload_len as usize)
            .ok_or_else(outside)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::container::codec::encode_record;
    use crate::container::column::{ColumnWriter, MAX_ITEM_BYTES};
    use crate::container::fixture::{
        ITEMS, Numbers, ROWS, build, column_records, fill, identity, temp_path, write_segment,
    };
    use crate::container::{Container, ContainerWriter, Key};
    use std::fs;

    const SEGMENT: SegmentId = SegmentId(1);

    fn locate(snapshot: &Snapshot<'_>, records: &[ColumnRecord]) -> Result<SegmentExtents> {
        SegmentExtents::locate(snapshot, &segment_table_name(SEGMENT), SEGMENT, records)
    }

    #[test]
    fn a_segment_of_one_extent_has_no_branch_page_and_is_found_too() {
        let (_folder, path) = temp_path();
        let mut records = Vec::new();
        build(&path, |transaction| {
            let mut writer = ColumnWriter::items(SEGMENT, ITEMS, MAX_ORDER);
            writer.push(transaction, b"alone")?;
            records.push(writer.finish(transaction)?);
            Ok(())
        });
        let container = Container::open(&path).unwrap();
        let read = container.read(|snapshot| {
            let segment = locate(snapshot, &records)?;
            let column = segment.column(snapshot, ITEMS).unwrap();
            assert_eq!(column.view().bytes(0, 5)?, b"alone");
            Ok(())
        });
        read.unwrap();
    }

    #[test]
    fn records_that_contradict_the_table_are_damage() {
        let (_folder, path) = temp_path();
        build(&path, |transaction| fill(transaction, 1));
        let container = Container::open(&path).unwrap();
        let refused = |change: &dyn Fn(&mut Vec<ColumnRecord>)| {
            let refused = container.read(|snapshot| {
                let mut records = column_records(snapshot)?;
                change(&mut records);
                let segment = locate(snapshot, &records)?;
                for record in &records {
                    let column = segment.column(snapshot, ColumnId(record.column)).unwrap();
                    for number in 0..column.extents() {
                        column.payload(number)?;
                    }
                }
                Ok(())
            });
            refused.map_or_else(|error| error.to_string(), |()| "accepted".to_owned())
        };
        assert_eq!(refused(&|_| ()), "accepted");
        type Lie<'a> = (&'a dyn Fn(&mut Vec<ColumnRecord>), &'a str);
        let cases: [Lie<'_>; 7] = [
            (&|r| drop(r.pop()), "more extents"),
            (&|r| r[1].payload_lens.push(1), "too few extents"),
            (&|r| r[0].payload_lens[0] = 1 << 20, "another size"),
            (&|r| r[0].payload_lens[0] -= 1, "header of extent 0"),
            (&|r| r[1].column = r[0].column, "two records of one column"),
            (&|r| r[1].column += 1, "leaf header of extent 0"),
            (&|r| r[1].column = r[0].column - 1, "another size"),
        ];
        for (change, expected) in cases {
            let found = refused(change);
            assert!(found.contains(expected), "{found} instead of {expected}");
        }
    }

    #[test]
    fn a_changed_byte_of_an_extent_is_found_when_it_is_first_read() {
        let (_folder, path) = temp_path();
        build(&path, |transaction| fill(transaction, 1));
        let mut bytes = fs::read(&path).unwrap();
        let container = Container::from_bytes(&bytes[..]).unwrap();
        let offset = container
            .read(|snapshot| {
                let table = snapshot.table(&segment_table_name(SEGMENT))?.unwrap();
                let page = snapshot.extent_pages(&table)?[0];
                page.check(snapshot, SEGMENT)?;
                assert!(page.check(snapshot, SegmentId(2)).is_err());
                snapshot.btree().geometry().offset(page.pointer)
            })
            .unwrap();
        for at in [0, 20, 64, 4095] {
            bytes[offset as usize + at] ^= 1;
            let container = Container::from_bytes(&bytes[..]).unwrap();
            container
                .read(|snapshot| {
                    // Located without a look at the extent, refused when its payload is read.
                    let segment = match locate(snapshot, &column_records(snapshot)?) {
                        Ok(segment) => segment,
                        Err(error) => {
                            assert_eq!(at, 0, "{error}");
                            return Ok(());
                        }
                    };
                    let error = segment
                        .column(snapshot, ROWS)
                        .unwrap()
                        .payload(0)
                        .unwrap_err();
                    assert!(
                        error.to_string().contains("checksum of extent 0"),
                        "{error}"
                    );
                    Ok(())
                })
                .unwrap();
            bytes[offset as usize + at] ^= 1;
        }
    }

    #[test]
    fn what_was_located_serves_later_commits_until_the_segment_changes() {
        let (_folder, path) = temp_path();
        build(&path, |transaction| fill(transaction, 1));
        let container = Container::open(&path).unwrap();
        let locate_all = |snapshot: &Snapshot<'_>| locate(snapshot, &column_records(snapshot)?);
        let first = container.read(locate_all).unwrap();
        let mut writer = ContainerWriter::open(&path, &identity()).unwrap();
        let mut transaction = writer.begin().unwrap();
        transaction
            .put("numbers", Key::U64(1), b"elsewhere")
            .unwrap();
        transaction.commit().unwrap();
        let second = container
            .read(|snapshot| {
                let expired = first
                    .column(snapshot, ROWS)
                    .unwrap()
                    .payload(0)
                    .unwrap_err();
                assert!(matches!(expired, Error::SnapshotExpired));
                let second = first.in_commit(snapshot)?.unwrap();
                second.column(snapshot, ROWS).unwrap().payload(0)?;
                assert!(Arc::ptr_eq(&first.located, &second.located));
                Ok(second)
            })
            .unwrap();
        let mut transaction = writer.begin().unwrap();
        transaction
            .delete_table(&segment_table_name(SEGMENT))
            .unwrap();
        for record in write_segment(&mut transaction, SEGMENT, &mut Numbers(5)).unwrap() {
            let bytes = encode_record(1, &record).unwrap();
            transaction
                .put("columns", Key::U64(u64::from(record.column)), &bytes)
                .unwrap();
        }
        transaction.commit().unwrap();
        let read = container.read(|snapshot| {
            assert!(second.in_commit(snapshot)?.is_none());
            locate_all(snapshot)?
                .column(snapshot, ROWS)
                .unwrap()
                .payload(0)?;
            Ok(())
        });
        read.unwrap();
    }

    #[test]
    fn values_fill_the_smallest_page() {
        assert_eq!(value_len(0), Some(4096 - 16));
        assert_eq!(value_len(4096 - 64), Some(4096 - 16));
        assert_eq!(value_len(4096 - 63), Some(8192 - 16));
        assert_eq!(value_len(MAX_ITEM_BYTES), Some((1 << 20) - 16));
        assert_eq!(value_len(MAX_ITEM_BYTES + 1), None);
    }
}
