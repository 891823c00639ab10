//! Page extents as bytes: a value of a segment table that fills a whole page, behind a header of its own.

use kb_types::SegmentId;
use kb_types::error::{Error, Result};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use crate::container::layout::codec::{array_at, u8_at, u16_at, u32_at, u64_at};
use crate::container::layout::column::{ColumnId, EXTENT_OVERHEAD, MAX_ORDER, payload_capacity};
use crate::container::layout::page::PagePointer;
use crate::container::layout::table::{KeyKind, Table};

/// What the names of segment tables begin with.
pub(crate) const SEGMENT_TABLE_PREFIX: &str = "seg/";

/// Bytes of redb's leaf header with one u64 key: type, count, end of the value, key.
pub(crate) const LEAF_HEADER_LEN: usize = 16;

// Layout of the extent header, right behind the leaf header.
const MAGIC: [u8; 4] = *b"KBVX";
// Of the extent header alone. A change of it costs a reader one clear refusal instead of a wrong
// payload.
const VERSION: u16 = 1;
const VERSION_AT: usize = MAGIC.len();
const HEADER_LEN_AT: usize = VERSION_AT + 2;
// Segment, number, column and position repeat what the key and the segment record say. A page that
// redb or a bad disk put in the wrong place has a right checksum, but names another extent.
const SEGMENT_AT: usize = HEADER_LEN_AT + 2;
const NUMBER_AT: usize = SEGMENT_AT + 8;
const COLUMN_AT: usize = NUMBER_AT + 4;
const FIRST_AT: usize = COLUMN_AT + 4;
const PAYLOAD_LEN_AT: usize = FIRST_AT + 8;
const FLAGS_AT: usize = PAYLOAD_LEN_AT + 4;
const CHECKSUM_AT: usize = FLAGS_AT + 4;
const HEADER_LEN: usize = CHECKSUM_AT + 8;
// Alignment of all payloads to 64 bytes depends on this sum.
const _: () = assert!(LEAF_HEADER_LEN + HEADER_LEN == EXTENT_OVERHEAD);

/// Name of the table that holds the extents of `segment`.
pub(crate) fn segment_table_name(segment: SegmentId) -> String {
    format!("{SEGMENT_TABLE_PREFIX}{:016x}", segment.0)
}

/// The segment whose extents a table holds.
pub(crate) fn segment_of(name: &str, table: &Table) -> Result<Option<SegmentId>> {
    let Some(number) = name.strip_prefix(SEGMENT_TABLE_PREFIX) else {
        return Ok(None);
    };
    let segment = u32::from_str_radix(number, 16).map(SegmentId).ok();
    // Leading zeros or upper case would give one segment two names.
    match segment.filter(|segment| segment_table_name(*segment) == name) {
        None => Err(Error::damaged("its name is not that of a segment")),
        Some(_) if table.key_kind != KeyKind::U64 || table.widths.value.is_some() => {
            Err(Error::damaged("it holds no extents"))
        }
        segment => Ok(segment),
    }
}

/// Key of an extent in its table.
pub(crate) fn extent_key(column: ColumnId, number: u32) -> u64 {
    // Column first: extents of one column are neighbours in the tree, in the order of their
    // numbers. 48 bits are more than a number has, so the parts never overlap.
    u64::from(column.0) << 48 | u64::from(number)
}

/// Length of the value of the smallest extent that holds `payload_len` bytes; `None` when no page
/// does.
pub(crate) fn value_len(payload_len: usize) -> Option<usize> {
    (0..=MAX_ORDER)
        .map(payload_capacity)
        // With redb's leaf header of 16 bytes this length fills a page exactly. So redb stores the
        // pair in a page of its own and wastes nothing, and the payload is aligned.
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
    // redb may hand out a page that was used before. Its old bytes would reach the file behind the
    // payload, and two equal indexing runs would differ.
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

    /// Bytes of the page.
    pub fn size_bytes(&self) -> u64 {
        self.pointer.size_bytes()
    }

    /// The page and the checksum that its parent holds.
    pub(crate) fn pointer(&self) -> PagePointer {
        self.pointer
    }

    /// Checks `page`, the bytes of this page, without a segment record: its checksum, both headers against each other,
    /// and the checksum of the payload.
    ///
    /// # Errors
    /// [`Error::Damaged`] naming what is wrong.
    pub(crate) fn check(&self, page: &[u8], segment: SegmentId) -> Result<()> {
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
        // The page checksum covers the payload already. This one lets other tools verify a payload
        // without redb's tree.
        if xxh3_64(payload) != u64_at(page, LEAF_HEADER_LEN + CHECKSUM_AT)? {
            return Err(damaged("checksum of the payload", expected));
        }
        Ok(())
    }
}

/// What the header of an extent must say.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expected {
    pub(crate) segment: SegmentId,
    pub(crate) column: ColumnId,
    pub(crate) number: u32,
    pub(crate) first: u64,
    pub(crate) payload_len: u32,
}

fn damaged(what: &str, expected: Expected) -> Error {
    Error::damaged(format!(
        "{what} of extent {} of column {} of segment {}",
        expected.number, expected.column.0, expected.segment.0
    ))
}

/// Checks a whole extent page against its parent and its segment record.
pub(crate) fn check_extent(page: &[u8], pointer: PagePointer, expected: Expected) -> Result<()> {
    if xxh3_128(page) != pointer.checksum {
        return Err(damaged("checksum", expected));
    }
    // The page must be a leaf with exactly one pair that ends where the page does. Otherwise the
    // payload would not lie where the reader lends it.
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
        // Reserved: a set flag would mean an encoding of the payload that this program does not
        // know.
        && u32_at(&header, FLAGS_AT)? == 0;
    if !header_fits {
        return Err(damaged("header", expected));
    }
    Ok(())
}
