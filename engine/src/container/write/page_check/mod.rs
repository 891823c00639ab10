//! Checks every page of a file in place that redb reads, before redb sees it.
//!
//! redb verifies no checksum when it reads; it would build on a damaged page and give the result a
//! new, right checksum. So the storage under it asks here. redb comes to a page only by a page that
//! refers to it: when it reads a branch, the checksums of the children are noted; when it reads a
//! leaf of a tree of names, those of the roots of the tables named there; the first two roots are in
//! the commit slot. What redb has written since is its own and is trusted.
//!
//! This covers whatever redb does with the tree, rebalancing, dropped tables and its own tables
//! included, and costs nothing when a file is opened. What contradicts itself below right checksums,
//! which no accident does, is refused as far as redb would follow it: a page that two pages refer to,
//! and a tree of more than [`MAX_DEPTH`] levels.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Mutex, MutexGuard, PoisonError};

use kb_types::error::{Error, Result};

use crate::container::layout::node::{Branch, Leaf, MAX_DEPTH, Node, named_table, too_deep};
use crate::container::layout::page::{Geometry, PAGE_SIZE, PagePointer};
use crate::container::layout::table::{Table, Widths};
use crate::container::read::snapshot::Snapshot;

/// The pages of one opened file.
///
/// Memory: about 50 bytes for each page that a page read so far refers to, at most 1.3 % of the file;
/// and one bit for each smallest page of the file.
#[derive(Debug)]
pub(crate) struct PageCheck {
    /// Where pages lie.
    geometry: Geometry,
    /// What is known so far.
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// By offset in the file: the pages of the opened commit that a page read so far refers to.
    expected: HashMap<u64, Expected>,
    /// The trees that they belong to.
    trees: Vec<Tree>,
    /// One bit for each smallest page: whether it was written since.
    written: Vec<u64>,
}

/// A tree of the opened commit.
#[derive(Debug)]
struct Tree {
    /// What it is called in messages.
    name: String,
    /// Width of its keys and values.
    widths: Widths,
    /// If its values are definitions of tables: what these are called.
    kind_of_tables: Option<&'static str>,
}

/// What a page must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Expected {
    /// XXH3-128 of its used bytes, little-endian. As bytes, because a u128 would be aligned to 16.
    checksum: [u8; 16],
    /// Offset of the page that refers to it; 0: the commit slot.
    parent: u64,
    /// Which of the references of that page.
    number: u32,
    /// Index of its tree.
    tree: u32,
    /// `log2` of its size in smallest pages.
    order: u8,
    /// Its level, the root being 1.
    depth: u8,
}

impl PageCheck {
    /// Begins with the two roots of a commit.
    ///
    /// # Errors
    /// [`Error::Damaged`] when the commit slot contradicts itself.
    pub(crate) fn new(snapshot: &Snapshot<'_>) -> Result<PageCheck> {
        let check = PageCheck {
            geometry: snapshot.btree().geometry(),
            state: Mutex::default(),
        };
        let slot = snapshot.slot();
        let names = [
            ("the names of tables", "table", slot.names()?),
            ("redb's own names", "redb's own table", slot.system_names()?),
        ];
        let mut state = check.state();
        for (number, (name, kind, table)) in (0..).zip(names) {
            let tree = Tree {
                name: name.to_owned(),
                widths: table.widths,
                kind_of_tables: Some(kind),
            };
            check.expect_tree(&mut state, tree, &table, (0, number))?;
        }
        drop(state);
        Ok(check)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Every change leaves it whole, so a panic elsewhere says nothing against it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that the page at `offset` was written.
    pub(crate) fn written(&self, offset: u64, len_bytes: usize) {
        let page_size = u64::from(PAGE_SIZE);
        let end = offset.saturating_add(len_bytes as u64).div_ceil(page_size);
        let mut state = self.state();
        // Grows with what redb writes, so a new file of any size costs one bit for 4 KiB.
        let words = (end / 64) as usize + 1;
        if state.written.len() < words {
            state.written.resize(words, 0);
        }
        for page in offset / page_size..end {
            if let Some(word) = state.written.get_mut((page / 64) as usize) {
                *word |= 1 << (page % 64);
            }
        }
    }

    /// Checks the page that was read at `offset`.
    ///
    /// # Errors
    /// [`Error::Damaged`] naming tree and page.
    pub(crate) fn check(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        // The first page is no page of a tree: redb's header has checksums of its own.
        if offset < u64::from(PAGE_SIZE) {
            return Ok(());
        }
        let mut state = self.state();
        if state.is_written(offset) {
            return Ok(());
        }
        // redb follows references, so the parent of each page was read, and noted, before.
        let known = state.expected.get(&offset).copied();
        let expected = known.ok_or_else(|| {
            Error::damaged(format!(
                "redb reads byte {offset}, where no page of a tree begins"
            ))
        })?;
        let tree = state.trees.get(expected.tree as usize);
        let tree = tree.ok_or_else(|| Error::damaged("a page of no tree"))?;
        let (widths, kind) = (tree.widths, tree.kind_of_tables);
        let checked = self.check_page(&mut state, offset, bytes, expected, widths, kind);
        checked.map_err(
            |error| match (error, state.trees.get(expected.tree as usize)) {
                (Error::Damaged { what }, Some(tree)) => {
                    Error::damaged(format!("{}: {what}", tree.name))
                }
                (error, _) => error,
            },
        )
    }

    fn check_page(
        &self,
        state: &mut State,
        offset: u64,
        bytes: &[u8],
        expected: Expected,
        widths: Widths,
        kind_of_tables: Option<&str>,
    ) -> Result<()> {
        let pointer = PagePointer {
            page: offset / u64::from(PAGE_SIZE),
            checksum: u128::from_le_bytes(expected.checksum),
        };
        if bytes.len() as u64 != u64::from(PAGE_SIZE) << expected.order {
            return Err(Error::damaged(format!(
                "the page at byte {offset} is read with another size than it has"
            )));
        }
        match (
            Node::checked(bytes.to_vec(), pointer, widths)?,
            kind_of_tables,
        ) {
            (Node::Branch(branch), _) => self.expect_children(state, offset, expected, &branch),
            (Node::Leaf(leaf), Some(kind)) => self.expect_tables(state, offset, kind, &leaf),
            // Leaves of data refer to no page.
            (Node::Leaf(_), None) => Ok(()),
        }
    }

    fn expect_children(
        &self,
        state: &mut State,
        offset: u64,
        parent: Expected,
        branch: &Branch,
    ) -> Result<()> {
        // redb recurses by depth: a tree that points to itself would overflow its stack.
        if usize::from(parent.depth) >= MAX_DEPTH {
            return Err(too_deep());
        }
        for (number, child) in (0..).zip(0..branch.children()) {
            let pointer = branch.child(child)?;
            let child = Expected {
                checksum: pointer.checksum.to_le_bytes(),
                parent: offset,
                number,
                tree: parent.tree,
                order: pointer.order() as u8,
                depth: parent.depth + 1,
            };
            state.expect(self.geometry.offset(pointer)?, child)?;
        }
        Ok(())
    }

    fn expect_tables(&self, state: &mut State, offset: u64, kind: &str, leaf: &Leaf) -> Result<()> {
        for (number, pair) in (0..).zip(0..leaf.pairs()) {
            let (name, table) = named_table(leaf, pair)?;
            let tree = Tree {
                name: format!("{kind} {name:?}"),
                widths: table.widths,
                kind_of_tables: None,
            };
            self.expect_tree(state, tree, &table, (offset, number))?;
        }
        Ok(())
    }

    /// Expects the root of a tree, to which the reference `number` of the page at `parent` leads.
    fn expect_tree(
        &self,
        state: &mut State,
        tree: Tree,
        table: &Table,
        (parent, number): (u64, u32),
    ) -> Result<()> {
        let Some(root) = table.root else {
            return Ok(());
        };
        let offset = self.geometry.offset(root.pointer)?;
        // The same leaf of names may be read again and again.
        let index = match state.expected.get(&offset) {
            Some(known) if (known.parent, known.number) == (parent, number) => known.tree,
            _ => {
                state.trees.push(tree);
                state.trees.len() as u32 - 1
            }
        };
        let expected = Expected {
            checksum: root.pointer.checksum.to_le_bytes(),
            parent,
            number,
            tree: index,
            order: root.pointer.order() as u8,
            depth: 1,
        };
        state.expect(offset, expected)
    }
}

impl State {
    fn is_written(&self, offset: u64) -> bool {
        let page = offset / u64::from(PAGE_SIZE);
        let word = self.written.get((page / 64) as usize);
        word.is_some_and(|word| word & 1 << (page % 64) != 0)
    }

    fn expect(&mut self, offset: u64, page: Expected) -> Result<()> {
        match self.expected.entry(offset) {
            Entry::Vacant(entry) => {
                entry.insert(page);
                Ok(())
            }
            // The parent was read before.
            Entry::Occupied(entry) if *entry.get() == page => Ok(()),
            Entry::Occupied(_) => Err(Error::damaged(format!(
                "the page at byte {offset} is used twice"
            ))),
        }
    }
}

#[cfg(test)]
mod tests;
