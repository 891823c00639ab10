//! Pages of redb's B-tree: leaves and branches.
//!
//! [`Node::checked`] compares a page with the checksum that its parent holds; the parsers below it only
//! check bounds.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use kb_types::error::{Error, Result};
use xxhash_rust::xxh3::xxh3_128;

use crate::container::layout::codec::{u16_at, u32_at, u64_at, u128_at};
use crate::container::layout::page::PagePointer;
use crate::container::layout::table::{Key, Table, Widths};

/// First byte of a leaf page.
// From redb's `tree_store/btree_base.rs`, as is the next one.
pub(crate) const LEAF: u8 = 1;

/// First byte of a branch page.
pub(crate) const BRANCH: u8 = 2;

/// Most levels of a tree. redb fills branches at least to a third; 4 PiB are under 40 levels.
// A tree of a hostile file can point to itself. The bound ends such a walk long before a stack or
// memory is exhausted.
pub(crate) const MAX_DEPTH: usize = 48;

/// A checked page of a tree.
#[derive(Debug, Clone)]
pub(crate) enum Node {
    /// Pairs.
    Leaf(Arc<Leaf>),
    /// Children and the keys between them.
    Branch(Arc<Branch>),
}

impl Node {
    /// Parses a page and compares it with the checksum that its parent holds.
    ///
    /// # Errors
    /// [`Error::Damaged`] when the page is not the one that the parent means.
    pub(crate) fn checked(bytes: Vec<u8>, pointer: PagePointer, widths: Widths) -> Result<Node> {
        // One message for every failure: which bytes are wrong cannot be told from a page whose
        // checksum fails.
        let wrong = || Error::damaged(format!("the checksum of page {:#x}", pointer.page));
        let check = |bytes: &[u8], end: usize| match bytes.get(..end) {
            Some(used) if xxh3_128(used) == pointer.checksum => Ok(()),
            _ => Err(wrong()),
        };
        // The type byte must be parsed before the checksum is compared, because redb's checksum
        // covers only the used bytes, and where these end is written in the page. So the parsers
        // check every bound themselves.
        match bytes.first() {
            Some(&LEAF) => {
                let (leaf, end) = Leaf::parse(bytes, widths).map_err(|_| wrong())?;
                check(leaf.bytes(), end).map(|()| Node::Leaf(Arc::new(leaf)))
            }
            Some(&BRANCH) => {
                let (branch, end) = Branch::parse(bytes, widths).map_err(|_| wrong())?;
                check(branch.bytes(), end).map(|()| Node::Branch(Arc::new(branch)))
            }
            _ => Err(wrong()),
        }
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
            // Type, padding and count take 4 bytes; then come the ends of keys, then of values, for
            // sides without a fixed width.
            keys_start: 4 + 4 * variable * pairs,
            values_start: 0,
        };
        let last = pairs
            // redb never leaves an empty page in a tree; zero would make `last` wrap below.
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
            // 8 bytes of type and count, then a checksum (16 bytes) and a page number (8) for each
            // child.
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
    // A saturated end fails the bounds check of `slice`; a wrapped one might pass it.
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
            // Keys are unique in a table, so the first equal pair is the only one.
            Ordering::Equal => return Ok((middle, true)),
            Ordering::Greater => high = middle,
        }
    }
    Ok((low, false))
}

/// Name and definition in a leaf of a tree of names.
pub(crate) fn named_table(leaf: &Leaf, pair: usize) -> Result<(String, Table)> {
    let name = std::str::from_utf8(leaf.key(pair)?)
        .map_err(|_| Error::damaged("the name of a table is not UTF-8"))?;
    let table = Table::from_definition(name, leaf.value(pair)?)?;
    Ok((name.to_owned(), table))
}

pub(crate) fn too_deep() -> Error {
    Error::damaged(format!("a tree of more than {MAX_DEPTH} levels"))
}
