//! BtreeReader of redb's B-tree as bytes: page numbers, table definitions, leaves, branches.
//!
//! Parsing only: whether the bytes are the right ones is checked by the B-tree reader.

use crate::container::codec::{u8_at, u16_at, u32_at, u64_at, u128_at};
use crate::container::signature::PAGE_SIZE;
use crate::error::{Error, Result};
use std::cmp::Ordering;
use std::ops::Range;

/// First byte of a leaf page.
pub(crate) const LEAF: u8 = 1;

/// First byte of a branch page.
pub(crate) const BRANCH: u8 = 2;

/// A page and the checksum that its parent holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PagePointer {
    /// Packed order, region and index.
    pub(crate) page: u64,
    /// XXH3-128 of the used bytes of the page.
    pub(crate) checksum: u128,
}

impl PagePointer {
    /// `log2` of the page's size in smallest pages.
    pub(crate) fn order(self) -> u32 {
        (self.page >> 59) as u32
    }

    /// Bytes of the page.
    pub(crate) fn size_bytes(self) -> u64 {
        u64::from(PAGE_SIZE) << self.order()
    }
}

/// Root of a tree as slots and table definitions hold it: page, checksum, number of pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Root {
    /// The topmost page.
    pub(crate) pointer: PagePointer,
    /// Pairs in the tree.
    pub(crate) length: u64,
}

impl Root {
    /// Reads the root at `offset` of `bytes`.
    pub(crate) fn at(bytes: &[u8], offset: usize) -> Result<Root> {
        Ok(Root {
            pointer: PagePointer {
                page: u64_at(bytes, offset)?,
                checksum: u128_at(bytes, offset + 8)?,
            },
            length: u64_at(bytes, offset + 24)?,
        })
    }
}

/// Where regions and pages lie; fixed when the file is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Geometry {
    /// BtreeReader before the data of each region.
    pub(crate) region_header_pages: u64,
    /// Data pages of a full region.
    pub(crate) region_pages: u64,
}

impl Geometry {
    /// Reads the geometry from redb's header.
    pub(crate) fn from_header(header: &[u8]) -> Result<Geometry> {
        let geometry = Geometry {
            region_header_pages: u64::from(u32_at(header, 16)?),
            region_pages: u64::from(u32_at(header, 20)?),
        };
        if u32_at(header, 12)? != PAGE_SIZE
            || geometry.region_header_pages > 1 << 20
            || !(1..=1 << 20).contains(&geometry.region_pages)
        {
            return Err(Error::damaged("the page geometry in redb's header"));
        }
        Ok(geometry)
    }

    /// Bytes of a whole region.
    fn region_bytes(self) -> u64 {
        (self.region_header_pages + self.region_pages) * u64::from(PAGE_SIZE)
    }

    /// Bytes of region headers in a file of `len_bytes`.
    pub(crate) fn header_bytes(self, len_bytes: u64) -> u64 {
        let regions = len_bytes
            .saturating_sub(u64::from(PAGE_SIZE))
            .div_ceil(self.region_bytes());
        regions * self.region_header_pages * u64::from(PAGE_SIZE)
    }

    /// Where a page begins in the file.
    pub(crate) fn offset(self, pointer: PagePointer) -> Result<u64> {
        let order = pointer.order();
        // Bits of the index that the order makes meaningless are ignored, as redb does.
        let index = pointer.page & (0xF_FFFF >> order);
        let region = pointer.page >> 20 & 0xF_FFFF;
        if (index + 1) << order > self.region_pages {
            return Err(Error::damaged(format!(
                "page number {:#x} lies outside its region",
                pointer.page
            )));
        }
        let first_page = u64::from(PAGE_SIZE)
            + region * self.region_bytes()
            + self.region_header_pages * u64::from(PAGE_SIZE);
        Ok(first_page + index * pointer.size_bytes())
    }
}

/// Width of keys and values of a table; `None`: each has its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Widths {
    /// Bytes of a key.
    pub(crate) key: Option<usize>,
    /// Bytes of a value.
    pub(crate) value: Option<usize>,
}

/// How the keys of a table are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyKind {
    /// u64, by value.
    U64,
    /// Text, by bytes.
    Str,
    /// Bytes.
    Bytes,
    /// A type that we never write.
    Other,
}

/// A key of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key<'a> {
    /// Ordered by value.
    U64(u64),
    /// Ordered by UTF-8 bytes.
    Str(&'a str),
    /// Ordered bytewise.
    Bytes(&'a [u8]),
}

impl Key<'_> {
    /// Bytes of the stored key.
    pub(crate) fn len_bytes(self) -> usize {
        match self {
            Key::U64(_) => 8,
            Key::Str(text) => text.len(),
            Key::Bytes(bytes) => bytes.len(),
        }
    }

    pub(crate) fn kind(self) -> KeyKind {
        match self {
            Key::U64(_) => KeyKind::U64,
            Key::Str(_) => KeyKind::Str,
            Key::Bytes(_) => KeyKind::Bytes,
        }
    }

    /// Order of a stored key relative to this one.
    fn compare_stored(self, stored: &[u8]) -> Result<Ordering> {
        Ok(match self {
            Key::U64(number) => u64_at(stored, 0)?.cmp(&number),
            Key::Str(text) => stored.cmp(text.as_bytes()),
            Key::Bytes(bytes) => stored.cmp(bytes),
        })
    }
}

/// What the file says of one table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Table {
    /// Its tree; `None` when it is empty.
    pub(crate) root: Option<Root>,
    /// Width of keys and values.
    pub(crate) widths: Widths,
    /// Order of keys.
    pub(crate) key_kind: KeyKind,
}

impl Table {
    /// Number of pairs.
    pub fn len(&self) -> u64 {
        self.root.map_or(0, |root| root.length)
    }

    /// Whether the table has no pair.
    pub fn is_empty(&self) -> bool {
        self.root.is_none()
    }

    /// The tree of table names.
    pub(crate) fn of_names(root: Option<Root>) -> Table {
        Table {
            root,
            widths: Widths::default(),
            key_kind: KeyKind::Str,
        }
    }

    /// Reads a table definition: type, length, root, widths, alignments, type names.
    pub(crate) fn from_definition(name: &str, definition: &[u8]) -> Result<Table> {
        let width = |offset: usize| -> Result<Option<usize>> {
            let width = u32_at(definition, offset + 1)?;
            Ok((u8_at(definition, offset)? != 0).then_some(width as usize))
        };
        if u8_at(definition, 0)? != 3 {
            return Err(Error::damaged(format!("table {name:?} is no plain table")));
        }
        let root = match u8_at(definition, 9)? {
            0 => None,
            _ => Some(Root::at(definition, 10)?),
        };
        let widths = Widths {
            key: width(42)?,
            value: width(47)?,
        };
        let key_type_len = u32_at(definition, 60)? as usize;
        let key_type = definition
            .get(64..)
            .and_then(|rest| rest.get(..key_type_len));
        let key_kind = match (key_type, widths.key) {
            (Some(b"\x01u64"), Some(8)) => KeyKind::U64,
            (Some(b"\x01&str"), None) => KeyKind::Str,
            (Some(b"\x01&[u8]"), None) => KeyKind::Bytes,
            _ => KeyKind::Other,
        };
        Ok(Table {
            root,
            widths,
            key_kind,
        })
    }

    /// # Errors
    /// [`Error::Damaged`] when the table has keys of another type.
    pub(crate) fn check_key(&self, key: Key<'_>) -> Result<()> {
        if self.key_kind == key.kind() {
            return Ok(());
        }
        Err(Error::damaged(format!(
            "a table has keys of kind {:?} where {:?} is expected",
            self.key_kind,
            key.kind()
        )))
    }
}

/// Pairs in ascending order of keys.
#[derive(Debug)]
pub(crate) struct Leaf {
    /// The page.
    bytes: Vec<u8>,
    /// Widths of the table.
    widths: Widths,
    /// Number of pairs, at least 1.
    pairs: usize,
    /// Where the first key begins.
    keys_start: usize,
    /// Where the first value begins.
    values_start: usize,
}

impl Leaf {
    /// The leaf in `bytes`, and where its used bytes end.
    pub(crate) fn parse(bytes: Vec<u8>, widths: Widths) -> Result<(Leaf, usize)> {
        let pairs = usize::from(u16_at(&bytes, 2)?);
        let variable = usize::from(widths.key.is_none()) + usize::from(widths.value.is_none());
        let mut leaf = Leaf {
            bytes,
            widths,
            pairs,
            keys_start: 4 + 4 * variable * pairs,
            values_start: 0,
        };
        let last = pairs
            .checked_sub(1)
            .ok_or_else(|| Error::damaged("a leaf page without pairs"))?;
        leaf.values_start = leaf.key_end(last)?;
        let end = leaf.value_end(last)?;
        Ok((leaf, end))
    }

    /// The whole page.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Number of pairs.
    pub(crate) fn pairs(&self) -> usize {
        self.pairs
    }

    fn key_end(&self, pair: usize) -> Result<usize> {
        match self.widths.key {
            Some(width) => Ok(end_of(self.keys_start, width, pair)),
            None => Ok(u32_at(&self.bytes, 4 + 4 * pair)? as usize),
        }
    }

    fn value_end(&self, pair: usize) -> Result<usize> {
        let ends = if self.widths.key.is_none() {
            4 + 4 * self.pairs
        } else {
            4
        };
        match self.widths.value {
            Some(width) => Ok(end_of(self.values_start, width, pair)),
            None => Ok(u32_at(&self.bytes, ends + 4 * pair)? as usize),
        }
    }

    /// Key of pair `pair`.
    pub(crate) fn key(&self, pair: usize) -> Result<&[u8]> {
        let start = match pair.checked_sub(1) {
            Some(before) => self.key_end(before)?,
            None => self.keys_start,
        };
        slice(&self.bytes, start..self.key_end(pair)?)
    }

    /// Value of pair `pair`.
    pub(crate) fn value(&self, pair: usize) -> Result<&[u8]> {
        let start = match pair.checked_sub(1) {
            Some(before) => self.value_end(before)?,
            None => self.values_start,
        };
        slice(&self.bytes, start..self.value_end(pair)?)
    }

    /// First pair whose key is at least `key`, and whether it is equal.
    pub(crate) fn lower_bound(&self, key: Key<'_>) -> Result<(usize, bool)> {
        lower_bound(self.pairs, |pair| key.compare_stored(self.key(pair)?))
    }
}

/// Children of a branch; key `n` is at least every key under child `n`.
#[derive(Debug)]
pub(crate) struct Branch {
    /// The page.
    bytes: Vec<u8>,
    /// Bytes of a key; `None`: each has its own.
    key_width: Option<usize>,
    /// Number of keys, at least 1; there is one child more.
    keys: usize,
    /// Where the first key begins.
    keys_start: usize,
}

impl Branch {
    /// The branch in `bytes`, and where its used bytes end.
    pub(crate) fn parse(bytes: Vec<u8>, widths: Widths) -> Result<(Branch, usize)> {
        let keys = usize::from(u16_at(&bytes, 2)?);
        let ends = if widths.key.is_none() { 4 * keys } else { 0 };
        let branch = Branch {
            bytes,
            key_width: widths.key,
            keys,
            keys_start: 8 + 24 * (keys + 1) + ends,
        };
        let last = keys
            .checked_sub(1)
            .ok_or_else(|| Error::damaged("a branch page without keys"))?;
        let end = branch.key_end(last)?;
        Ok((branch, end))
    }

    /// The whole page.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Number of children.
    pub(crate) fn children(&self) -> usize {
        self.keys + 1
    }

    fn key_end(&self, key: usize) -> Result<usize> {
        match self.key_width {
            Some(width) => Ok(end_of(self.keys_start, width, key)),
            None => Ok(u32_at(&self.bytes, 8 + 24 * self.children() + 4 * key)? as usize),
        }
    }

    fn key(&self, key: usize) -> Result<&[u8]> {
        let start = match key.checked_sub(1) {
            Some(before) => self.key_end(before)?,
            None => self.keys_start,
        };
        slice(&self.bytes, start..self.key_end(key)?)
    }

    /// Child `child`, counted from 0.
    pub(crate) fn child(&self, child: usize) -> Result<PagePointer> {
        let pages = 8 + 16 * self.children();
        Ok(PagePointer {
            page: u64_at(&self.bytes, pages + 8 * child)?,
            checksum: u128_at(&self.bytes, 8 + 16 * child)?,
        })
    }

    /// The child under which `key` lies if it is there.
    pub(crate) fn child_for(&self, key: Key<'_>) -> Result<usize> {
        let (child, _) = lower_bound(self.keys, |at| key.compare_stored(self.key(at)?))?;
        Ok(child)
    }
}

/// End of item `item` of items of `width` from `start`; too large to exist when it overflows.
fn end_of(start: usize, width: usize, item: usize) -> usize {
    width.saturating_mul(item + 1).saturating_add(start)
}

fn slice(bytes: &[u8], range: Range<usize>) -> Result<&[u8]> {
    bytes.get(range.clone()).ok_or_else(|| {
        Error::damaged(format!(
            "an item at {range:?} of a page of {} bytes",
            bytes.len()
        ))
    })
}

fn lower_bound(
    len: usize,
    mut compare: impl FnMut(usize) -> Result<Ordering>,
) -> Result<(usize, bool)> {
    let (mut low, mut high) = (0, len);
    while low < high {
        let middle = low.midpoint(high);
        match compare(middle)? {
            Ordering::Less => low = middle + 1,
            Ordering::Equal => return Ok((middle, true)),
            Ordering::Greater => high = middle,
        }
    }
    Ok((low, false))
}
