//! Files for the tests of this room.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use kb_types::SegmentId;
use kb_types::error::Result;
use tempfile::TempDir;
use xxhash_rust::xxh3::xxh3_128;

use crate::container::layout::column::{ColumnId, ColumnRecord, ColumnWriter, MAX_ORDER};
use crate::container::layout::extent::segment_table_name;
use crate::container::layout::node::{BRANCH, LEAF};
use crate::container::layout::page::{Geometry, PagePointer};
use crate::container::layout::table::Key;
use crate::container::read::container::Container;
use crate::container::read::map::Map;
use crate::container::read::segment_extents::SegmentExtents;
use crate::container::read::snapshot::Snapshot;
use crate::container::write::identity::WriterIdentity;
use crate::container::write::transaction::Transaction;
use crate::container::write::writer::ContainerWriter;

/// Rows of the segment of [`fill`].
pub(crate) const ROWS: ColumnId = ColumnId(3);

/// Items of the segment of [`fill`].
pub(crate) const ITEMS: ColumnId = ColumnId(9);

/// A folder of its own and the path of a file in it.
pub(crate) fn temp_path() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.kb");
    (folder, path)
}

/// As [`place`], where syncing costs nothing if there is such a place.
pub(crate) fn temp_path_in_memory() -> (TempDir, PathBuf) {
    let memory = tempfile::tempdir_in("/dev/shm");
    let folder = memory.unwrap_or_else(|_| tempfile::tempdir().unwrap());
    let path = folder.path().join("test.kb");
    (folder, path)
}

/// The program under test at a fixed time.
pub(crate) fn identity() -> WriterIdentity {
    WriterIdentity {
        program: "kb test".to_owned(),
        unix_ms: 1_709_210_096_000,
        lock_timeout: Duration::ZERO,
    }
}

/// Names of what is in a folder.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

/// The value under a key of the newest commit.
pub(crate) fn value(container: &Container, table: &str, key: Key<'_>) -> Option<Vec<u8>> {
    let found = container.read(|snapshot| match snapshot.table(table)? {
        Some(table) => snapshot.get(&table, key),
        None => Ok(None),
    });
    found.unwrap()
}

/// Numbers that look random and are the same in every run.
#[derive(Debug, Clone)]
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    pub(crate) fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.next() as u8).collect()
    }
}

/// A new finished file that `change` filled.
pub(crate) fn build(path: &Path, change: impl FnOnce(&mut Transaction<'_>) -> Result<()>) {
    let mut writer = ContainerWriter::create(path, &identity()).unwrap();
    let mut transaction = writer.begin().unwrap();
    change(&mut transaction).unwrap();
    transaction.commit().unwrap();
    writer.finish().unwrap();
}

/// Tables with each kind of key, and segment 1 with rows and items.
pub(crate) fn fill(transaction: &mut Transaction<'_>, seed: u64) -> Result<()> {
    let mut numbers = Numbers(seed);
    for number in 0..300u64 {
        let len = numbers.below(200) as usize;
        transaction.put("numbers", Key::U64(number * 7), &numbers.bytes(len))?;
        let name = format!("folder {}/file {number}", number % 7);
        transaction.put("names", Key::Str(&name), &number.to_le_bytes())?;
    }
    for len in [0usize, 1, 3000, 40_000] {
        transaction.put(
            "bytes",
            Key::Bytes(&vec![7; len.min(9)]),
            &numbers.bytes(len),
        )?;
    }
    let records = write_segment(transaction, SegmentId(1), &mut numbers)?;
    for record in records {
        let bytes = crate::container::codec::encode_record(1, &record)?;
        transaction.put("columns", Key::U64(u64::from(record.column)), &bytes)?;
    }
    Ok(())
}

/// Columns [`ROWS`] and [`ITEMS`] of random bytes.
pub(crate) fn write_segment(
    transaction: &mut Transaction<'_>,
    segment: SegmentId,
    numbers: &mut Numbers,
) -> Result<Vec<ColumnRecord>> {
    let mut rows = ColumnWriter::rows(segment, ROWS, 192, MAX_ORDER);
    for _ in 0..150 {
        rows.push(transaction, &numbers.bytes(192))?;
    }
    let rows = rows.finish(transaction)?;
    let mut items = ColumnWriter::items(segment, ITEMS, MAX_ORDER);
    for _ in 0..20 {
        let len = numbers.below(2000) as usize;
        items.push(transaction, &numbers.bytes(len))?;
    }
    Ok(vec![items.finish(transaction)?, rows])
}

/// Records of the columns that [`fill`] wrote.
pub(crate) fn column_records(snapshot: &Snapshot<'_>) -> Result<Vec<ColumnRecord>> {
    let mut records = Vec::new();
    if let Some(table) = snapshot.table("columns")? {
        snapshot.range(&table, Key::U64(0), |_, record| {
            let record = crate::container::codec::decode_record("columns", 1, record)?;
            records.push(record);
            Ok(ControlFlow::Continue(()))
        })?;
    }
    Ok(records)
}

/// Everything in the file, in order: names, keys, values, payloads.
pub(crate) fn dump(container: &Container) -> Result<Vec<u8>> {
    container.read(|snapshot| {
        let mut all = Vec::new();
        for (name, table) in snapshot.tables()? {
            all.extend(name.as_bytes());
            if name.starts_with("seg/") {
                continue;
            }
            let first = match name.as_str() {
                "numbers" | "columns" => Key::U64(0),
                "bytes" => Key::Bytes(&[]),
                _ => Key::Str(""),
            };
            snapshot.range(&table, first, |key, value| {
                all.extend(key);
                all.extend(value);
                Ok(ControlFlow::Continue(()))
            })?;
        }
        let records = column_records(snapshot)?;
        let name = segment_table_name(SegmentId(1));
        let segment = SegmentExtents::locate(snapshot, &name, SegmentId(1), &records)?;
        for record in &records {
            let column = segment.column(snapshot, ColumnId(record.column)).unwrap();
            for number in 0..column.extents() {
                all.extend(column.view().extent(number)?.1);
            }
        }
        Ok(all)
    })
}

/// One region of many pages.
pub(crate) const GEOMETRY: Geometry = Geometry {
    region_header_pages: 0,
    region_pages: 1 << 20,
};

/// A map of zeros with `pages` from page 1 on.
pub(crate) fn map_of(pages: &[[u8; 4096]]) -> Map {
    let mut bytes = vec![0; 4096];
    for page in pages {
        bytes.extend(page);
    }
    Map::Bytes(bytes.into())
}

/// A branch whose `children` all are page `child`. Its own checksum cannot be in itself, so the
/// children hold the checksum of another branch: with two such levels a walk comes back only by
/// reading more pages, which is what the budget is for.
pub(crate) fn branch(children: &[PagePointer]) -> [u8; 4096] {
    let mut page = [0; 4096];
    let keys = children.len() - 1;
    page[0] = BRANCH;
    page[2..4].copy_from_slice(&(keys as u16).to_le_bytes());
    for (at, child) in children.iter().enumerate() {
        page[8 + 16 * at..][..16].copy_from_slice(&child.checksum.to_le_bytes());
        page[8 + 16 * children.len() + 8 * at..][..8].copy_from_slice(&child.page.to_le_bytes());
    }
    page
}

/// The pointer to a [`branch`] at `page`.
pub(crate) fn pointer_to(page: u64, bytes: &[u8; 4096], children: usize) -> PagePointer {
    let used = 8 + 24 * children + 8 * (children - 1);
    PagePointer {
        page,
        checksum: xxh3_128(&bytes[..used]),
    }
}

/// A leaf with one pair: the key 0 and a value of 4 bytes.
pub(crate) fn leaf() -> [u8; 4096] {
    let mut leaf = [0; 4096];
    leaf[..4].copy_from_slice(&[LEAF, 0, 1, 0]);
    leaf[4..8].copy_from_slice(&20u32.to_le_bytes());
    leaf
}
