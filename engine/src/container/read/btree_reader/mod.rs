//! redb's B-tree, read from bytes.
//!
//! Every page is copied, checked against the XXH3-128 that its parent holds, and parsed with bounds; or it comes from a
//! cache of pages that were checked before. A lookup reads at most [`MAX_DEPTH`] pages, and a walk visits no more pages
//! than the file has. So both end even in trees that refer to themselves. The number of requests to a snapshot is not
//! limited.
//!
//! redb itself does not verify checksums when it reads. Of 5,000 corrupted files 144 gave wrong data or a panic through
//! redb; through this reader, none of 100,000 flipped bits changed an answer (docs/decisions/01-redb-writes.md).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use kb_types::error::{Error, Result};

use crate::container::layout::codec::array_at;
use crate::container::layout::node::{LEAF, Leaf, MAX_DEPTH, Node, too_deep};
use crate::container::layout::page::{Geometry, PAGE_SIZE, PagePointer};
use crate::container::layout::table::{Key, Table, Widths};
use crate::container::read::map::Map;
use crate::container::read::page_cache::PageCache;

/// Largest order of a page of the tree: 32 MiB. Extents have an order of their own.
// The largest value is 16 MiB (MAX_VALUE_BYTES), and with its header it needs a page of 32 MiB. A
// larger order would make `read` copy more than that for one lookup.
const MAX_TREE_ORDER: u32 = 13;

/// Reads checked pages for one snapshot.
#[derive(Debug)]
pub(crate) struct BtreeReader<'a> {
    /// The bytes.
    map: &'a Map,
    /// Where pages lie.
    geometry: Geometry,
    /// Set when a page lay beyond the map: the file may have grown since.
    beyond_map: AtomicBool,
    /// No page is read once this is set.
    cancel: Option<&'a AtomicBool>,
    /// Keeps pages for other requests.
    kept: Option<&'a PageCache>,
}

impl<'a> BtreeReader<'a> {
    pub(crate) fn new(map: &'a Map, geometry: Geometry) -> BtreeReader<'a> {
        BtreeReader {
            map,
            geometry,
            beyond_map: AtomicBool::new(false),
            cancel: None,
            kept: None,
        }
    }

    /// Keeps pages in a cache, and takes them from there.
    pub(crate) fn set_cache(&mut self, kept: &'a PageCache) {
        self.kept = Some(kept);
    }

    /// Reads no page any more once `cancel` is set.
    pub(crate) fn set_cancel(&mut self, cancel: Option<&'a AtomicBool>) {
        self.cancel = cancel;
    }

    /// Whether some page lay beyond the map.
    pub(crate) fn went_beyond_map(&self) -> bool {
        self.beyond_map.load(Ordering::Relaxed)
    }

    /// Length of the map.
    pub(crate) fn len_bytes(&self) -> u64 {
        self.map.len()
    }

    /// Where pages lie.
    pub(crate) fn geometry(&self) -> Geometry {
        self.geometry
    }

    fn beyond(&self, pointer: PagePointer) -> Error {
        // Not always damage: a commit that was made after the file was mapped may use new pages.
        // The caller maps the file again and repeats the request.
        self.beyond_map.store(true, Ordering::Relaxed);
        Error::damaged(format!(
            "page {:#x} lies beyond the end of the file",
            pointer.page
        ))
    }

    /// A whole page in place, unchecked.
    pub(crate) fn slice(&self, pointer: PagePointer) -> Result<&'a [u8]> {
        let offset = self.geometry.offset(pointer)?;
        self.map
            .slice(offset, pointer.size_bytes())
            .ok_or_else(|| self.beyond(pointer))
    }

    /// Has a page read ahead; nothing where it lies beyond the map.
    pub(crate) fn will_read(&self, pointer: PagePointer) {
        if let Ok(offset) = self.geometry.offset(pointer) {
            self.map.will_read(offset, pointer.size_bytes());
        }
    }

    /// What one walk may still visit, in smallest pages: all that the map has.
    fn budget(&self) -> u64 {
        self.map.len() / u64::from(PAGE_SIZE)
    }

    /// Takes a page from the budget of a walk.
    fn spend(&self, budget: &mut u64, pointer: PagePointer) -> Result<()> {
        let left = budget.checked_sub(1 << pointer.order());
        *budget = left.ok_or_else(|| {
            // Or the file has grown, and the tree with it.
            self.beyond_map.store(true, Ordering::Relaxed);
            Error::damaged("a tree that refers to itself")
        })?;
        Ok(())
    }

    /// A copied and checked page of a tree.
    pub(crate) fn read(&self, pointer: PagePointer, widths: Widths) -> Result<Node> {
        if self
            .cancel
            .is_some_and(|cancel| cancel.load(Ordering::Relaxed))
        {
            return Err(Error::Cancelled);
        }
        if pointer.order() > MAX_TREE_ORDER {
            return Err(Error::damaged(format!(
                "a page of the tree has order {}",
                pointer.order()
            )));
        }
        if let Some(node) = self.kept.and_then(|kept| kept.get(pointer, widths)) {
            return Ok(node);
        }
        let offset = self.geometry.offset(pointer)?;
        // A page of 4 KiB is read with one fault anyway; a system call for it would only cost time.
        if pointer.order() > 0 {
            self.map.will_read(offset, pointer.size_bytes());
        }
        let bytes = self
            .map
            // Copied before it is checked: bytes that another process changes between check and use
            // would defeat the check.
            .copy(offset, pointer.size_bytes())
            .ok_or_else(|| self.beyond(pointer))?;
        let node = Node::checked(bytes, pointer, widths)?;
        if let Some(kept) = self.kept {
            kept.put(pointer, widths, &node);
        }
        Ok(node)
    }

    /// The leaf that would hold `key`; `None` for an empty table.
    pub(crate) fn leaf_for(&self, table: &Table, key: Key<'_>) -> Result<Option<Arc<Leaf>>> {
        table.check_key(key)?;
        let Some(root) = table.root else {
            return Ok(None);
        };
        let mut pointer = root.pointer;
        for _ in 0..MAX_DEPTH {
            match self.read(pointer, table.widths)? {
                Node::Leaf(leaf) => return Ok(Some(leaf)),
                Node::Branch(branch) => pointer = branch.child(branch.child_for(key)?)?,
            }
        }
        Err(too_deep())
    }

    /// Calls `visit` with every leaf that can hold keys from `from` on, in ascending order, and the
    /// first pair to look at, until it returns false.
    pub(crate) fn leaves_from(
        &self,
        table: &Table,
        from: Option<Key<'_>>,
        mut visit: impl FnMut(&Leaf, usize) -> Result<bool>,
    ) -> Result<()> {
        if let Some(key) = from {
            table.check_key(key)?;
        }
        let Some(root) = table.root else {
            return Ok(());
        };
        let mut budget = self.budget();
        // Only the path to the first leaf is bounded by `from`; what is right of it is whole.
        let mut stack = vec![(root.pointer, 1, from)];
        while let Some((pointer, depth, bound)) = stack.pop() {
            if depth > MAX_DEPTH {
                return Err(too_deep());
            }
            self.spend(&mut budget, pointer)?;
            match self.read(pointer, table.widths)? {
                Node::Leaf(leaf) => {
                    let first = match bound {
                        Some(key) => leaf.lower_bound(key)?.0,
                        None => 0,
                    };
                    if !visit(&leaf, first)? {
                        return Ok(());
                    }
                }
                Node::Branch(branch) => {
                    let first = match bound {
                        Some(key) => branch.child_for(key)?,
                        None => 0,
                    };
                    // Reversed, so that the stack gives back the leftmost child first.
                    for child in (first..branch.children()).rev() {
                        let bound = bound.filter(|_| child == first);
                        stack.push((branch.child(child)?, depth + 1, bound));
                    }
                }
            }
        }
        Ok(())
    }

    /// All leaves of a table in key order, and the bytes of its branch pages. No leaf is read except
    /// the first, which tells the height: all leaves of a B-tree lie at the same depth.
    pub(crate) fn leaf_pointers(&self, table: &Table) -> Result<(Vec<PagePointer>, u64)> {
        let Some(root) = table.root else {
            return Ok((Vec::new(), 0));
        };
        // One leaf is looked at; all others stay untouched, so a segment of gigabytes is located by
        // its branch pages alone.
        let height = self.height(root.pointer, table.widths)?;
        let mut budget = self.budget();
        let mut branch_bytes = 0;
        let mut level = vec![root.pointer];
        for _ in 1..height {
            let mut below = Vec::new();
            for pointer in level {
                branch_bytes += pointer.size_bytes();
                let Node::Branch(branch) = self.read(pointer, table.widths)? else {
                    return Err(Error::damaged(
                        "a leaf page where a branch page is expected",
                    ));
                };
                for child in 0..branch.children() {
                    let child = branch.child(child)?;
                    // Each child counts when it is found, not when it is read: leaves are never
                    // read here.
                    self.spend(&mut budget, child)?;
                    below.push(child);
                }
                // Every leaf has a pair, and no level has more pages than the one of the leaves.
                if below.len() as u64 > table.len() {
                    return Err(Error::damaged("a table of fewer pairs than pages"));
                }
            }
            level = below;
        }
        Ok((level, branch_bytes))
    }

    /// Levels of a tree, at least 1.
    fn height(&self, root: PagePointer, widths: Widths) -> Result<usize> {
        let mut pointer = root;
        for height in 1..=MAX_DEPTH {
            // The type is enough: the leaf may be an extent, which is checked when its payload is read.
            let offset = self.geometry.offset(pointer)?;
            let head = self
                .map
                .copy(offset, 4)
                .ok_or_else(|| self.beyond(pointer))?;
            if array_at::<1>(&head, 0)? == [LEAF] {
                return Ok(height);
            }
            match self.read(pointer, widths)? {
                Node::Branch(branch) => pointer = branch.child(0)?,
                Node::Leaf(_) => return Ok(height),
            }
        }
        Err(too_deep())
    }
}

#[cfg(test)]
mod tests;
