//! Reads all trees of one commit, checks every page and goes on after damage.

use kb_types::SegmentId;
use kb_types::error::{Error, Result};

use crate::container::layout::codec::array_at;
use crate::container::layout::column::MAX_ORDER;
use crate::container::layout::commit_slot::{HEADER_LEN, check_resting_header};
use crate::container::layout::extent::{ExtentPage, segment_of};
use crate::container::layout::node::{LEAF, Leaf, MAX_DEPTH, Node, named_table, too_deep};
use crate::container::layout::page::{PAGE_SIZE, PagePointer};
use crate::container::layout::signature::{BLOCK, HEADER_KEY, HEADER_TABLE, Signature};
use crate::container::layout::table::{Key, Table};
use crate::container::read::map::Map;
use crate::container::read::mapped_file::MappedFile;
use crate::container::read::snapshot::Snapshot;

/// What [`Container::verify`] read, and what is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Verified {
    /// Pages of trees that were read: of tables, of the names of tables and of redb's own tables.
    pub pages: u64,
    /// Extents that were read.
    pub extents: u64,
    /// Bytes of all of them.
    pub bytes: u64,
    /// Whether redb's own tables (free lists, allocator state) were read too. False when commits kept
    /// replacing them; readers never need them.
    pub system_checked: bool,
    /// What is wrong, in the order of the file's tables; empty: nothing. At most 100.
    pub damage: Vec<String>,
}

/// Cap on reported problems.
// A damaged disk can break every page of a file of gigabytes. A hundred lines show where; more
// would only fill memory.
const MAX_DAMAGE: usize = 100;

impl Snapshot<'_> {
    /// Reads the names of the tables, and redb's own tables whole: what redb reads when it opens the
    /// file. For the one writer, so that damage there is found before the file is touched.
    ///
    /// Cost: redb's own tables have about 1/16 000 of the size of the file.
    ///
    /// # Errors
    /// [`Error::Damaged`] naming the first thing that is wrong.
    pub(crate) fn check_system(&self) -> Result<()> {
        let mut ignore = |_| {};
        let mut check = BtreeCheck::new(self, Verified::default(), &mut ignore);
        check.user_names();
        check.system_tables();
        match check.verified.damage.into_iter().next() {
            Some(what) => Err(Error::Damaged { what }),
            None => Ok(()),
        }
    }
}

/// One walk over trees of one commit.
pub(crate) struct BtreeCheck<'w, 'a> {
    /// The commit.
    snapshot: &'w Snapshot<'a>,
    /// One bit for each smallest page of the file: whether some tree uses it. Also bounds the walk
    /// through trees that refer to themselves.
    used: Vec<u64>,
    /// What was found.
    pub(crate) verified: Verified,
    /// Hears of bytes.
    progress: &'w mut dyn FnMut(u64),
}

impl<'w, 'a> BtreeCheck<'w, 'a> {
    pub(crate) fn new(
        snapshot: &'w Snapshot<'a>,
        verified: Verified,
        progress: &'w mut dyn FnMut(u64),
    ) -> BtreeCheck<'w, 'a> {
        // 32 KiB of bits for each GiB of the file.
        let pages = snapshot.btree().len_bytes() / u64::from(PAGE_SIZE);
        BtreeCheck {
            snapshot,
            // Of the length of the map, not of what the trees say: a hostile file cannot make it
            // larger.
            used: vec![0; pages as usize / 64 + 1],
            verified,
            progress,
        }
    }

    fn damaged(&mut self, place: &str, error: &Error) {
        if self.verified.damage.len() < MAX_DAMAGE {
            let what = match error {
                Error::Damaged { what } => what.clone(),
                error => error.to_string(),
            };
            self.verified.damage.push(format!("{place}: {what}"));
        }
    }

    /// Signature and the parts of redb's header that no tree page is needed for.
    pub(crate) fn header(&mut self, opened: &MappedFile) {
        if let Err(error) = self.signature(&opened.map) {
            self.damaged("the signature", &error);
        }
        if let Err(error) = resting_header(opened) {
            self.damaged("the header", &error);
        }
    }

    /// The block is written before the row, so it may announce more features than the row.
    fn signature(&mut self, map: &Map) -> Result<()> {
        let short = || Error::damaged("the file ends inside its first page");
        let block = map
            .copy(BLOCK.start as u64, BLOCK.len() as u64)
            .ok_or_else(short)?;
        let row = match self.snapshot.table(HEADER_TABLE)? {
            Some(table) => self.snapshot.get(&table, Key::Str(HEADER_KEY))?,
            None => None,
        };
        let row = row.ok_or_else(|| Error::damaged("its row in the tables is missing"))?;
        let row = Signature::from_record(&row)?;
        match Signature::from_block(&array_at(&block, 0)?)? {
            Some(block) if !block.announces(&row) => {
                Err(Error::damaged("block and row contradict each other"))
            }
            _ => Ok(()),
        }
    }

    /// All tables of ours.
    pub(crate) fn user_tables(&mut self) {
        let names = self.snapshot.slot().names();
        self.tables(names, "the names of tables", "table");
    }

    /// redb's own tables.
    pub(crate) fn system_tables(&mut self) {
        let names = self.snapshot.slot().system_names();
        self.tables(names, "redb's own names", "redb's own table");
    }

    /// The names of our tables, without the tables.
    fn user_names(&mut self) {
        let names = self.snapshot.slot().names();
        self.named_tables(names, "the names of tables");
    }

    fn tables(&mut self, names: Result<Table>, place: &str, kind: &str) {
        for (name, table) in self.named_tables(names, place) {
            let place = format!("{kind} {name:?}");
            match segment_of(&name, &table) {
                Ok(segment) => self.tree(&place, &table, segment, &mut |_| {}),
                Err(error) => self.damaged(&place, &error),
            }
        }
    }

    /// Reads a tree of names.
    fn named_tables(&mut self, names: Result<Table>, place: &str) -> Vec<(String, Table)> {
        let (mut tables, mut wrong) = (Vec::new(), Vec::new());
        let names = match names {
            Ok(names) => names,
            Err(error) => {
                self.damaged(place, &error);
                return tables;
            }
        };
        self.tree(place, &names, None, &mut |leaf| {
            for pair in 0..leaf.pairs() {
                match named_table(leaf, pair) {
                    Ok(table) => tables.push(table),
                    Err(error) => wrong.push(error),
                }
            }
        });
        for error in wrong {
            self.damaged(place, &error);
        }
        tables
    }

    /// Reads one tree. `segment`: its leaves are extents of that segment.
    fn tree(
        &mut self,
        place: &str,
        table: &Table,
        segment: Option<SegmentId>,
        visit: &mut dyn FnMut(&Leaf),
    ) {
        let Some(root) = table.root else {
            return;
        };
        let damage_before = self.verified.damage.len();
        let (mut pairs, mut leaf_depth) = (0, None);
        let mut stack = vec![(root.pointer, 1)];
        while let Some((pointer, depth)) = stack.pop() {
            let read = self.page(table, segment, pointer, depth, &mut leaf_depth);
            match read {
                Ok(Some(Node::Branch(branch))) => {
                    // Reversed, so that the stack gives them back in the order of keys and the file
                    // is read mostly forwards.
                    for child in (0..branch.children()).rev() {
                        match branch.child(child) {
                            Ok(child) => stack.push((child, depth + 1)),
                            Err(error) => self.damaged(place, &error),
                        }
                    }
                }
                Ok(Some(Node::Leaf(leaf))) => {
                    pairs += leaf.pairs() as u64;
                    visit(&leaf);
                }
                Ok(None) => pairs += 1,
                Err(error) => self.damaged(place, &error),
            }
            (self.progress)(self.verified.bytes);
        }
        // A tree with damaged pages has fewer pairs than its root says; that would be reported
        // twice.
        let whole = self.verified.damage.len() == damage_before;
        if whole && damage_before < MAX_DAMAGE && pairs != root.length {
            let error = Error::damaged(format!("{pairs} pairs instead of {}", root.length));
            self.damaged(place, &error);
        }
    }

    /// Reads one page; `None` for an extent.
    fn page(
        &mut self,
        table: &Table,
        segment: Option<SegmentId>,
        pointer: PagePointer,
        depth: usize,
        leaf_depth: &mut Option<usize>,
    ) -> Result<Option<Node>> {
        if depth > MAX_DEPTH {
            return Err(too_deep());
        }
        // Before the page is read: the claim bounds the walk by the number of pages in the file, so
        // a tree that points to itself ends.
        self.claim(pointer)?;
        let pages = self.snapshot.btree();
        if let Some(segment) = segment {
            // The first leaf tells where leaves are, so that no other must be touched for that.
            let is_extent = match leaf_depth {
                Some(leaf_depth) => *leaf_depth == depth,
                None => pages.slice(pointer)?.first() == Some(&LEAF),
            };
            if is_extent {
                check_extent(self.snapshot, pointer, segment)?;
                self.verified.bytes += pointer.size_bytes();
                *leaf_depth = Some(depth);
                self.verified.extents += 1;
                return Ok(None);
            }
        }
        let node = pages.read(pointer, table.widths)?;
        self.verified.pages += 1;
        self.verified.bytes += pointer.size_bytes();
        let is_leaf = matches!(node, Node::Leaf(_));
        match leaf_depth {
            // `leaf_pointers` and the test for extents above rely on leaves at one depth.
            Some(leaf_depth) if is_leaf != (*leaf_depth == depth) => {
                return Err(Error::damaged("leaves at different depths"));
            }
            None if is_leaf => *leaf_depth = Some(depth),
            _ => {}
        }
        Ok(Some(node))
    }

    /// Notes that a page is in use.
    fn claim(&mut self, pointer: PagePointer) -> Result<()> {
        // Lies in the file, so all its bits exist.
        self.snapshot.btree().slice(pointer)?;
        let first = self.snapshot.btree().geometry().offset(pointer)? / u64::from(PAGE_SIZE);
        for page in first..first + (1 << pointer.order()) {
            let (word, bit) = (page as usize / 64, 1 << (page % 64));
            match self.used.get_mut(word) {
                Some(word) if *word & bit == 0 => *word |= bit,
                _ => {
                    let page = pointer.page;
                    return Err(Error::damaged(format!("page {page:#x} is used twice")));
                }
            }
        }
        Ok(())
    }
}

fn check_extent(snapshot: &Snapshot<'_>, pointer: PagePointer, segment: SegmentId) -> Result<()> {
    if pointer.order() > u32::from(MAX_ORDER) {
        let order = pointer.order();
        return Err(Error::damaged(format!("an extent of order {order}")));
    }
    snapshot.check_extent(ExtentPage::new(pointer), segment)
}

fn resting_header(opened: &MappedFile) -> Result<()> {
    let copy = || opened.map.copy(0, HEADER_LEN);
    let header = copy().ok_or_else(|| Error::damaged("the file ends inside redb's header"))?;
    let checked = check_resting_header(&header, opened.len_now());
    // A writer may have changed both between the look at one and at the other.
    if copy().as_deref() == Some(header.as_slice()) {
        checked
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::container::layout::codec::u64_at;
    use crate::container::layout::commit_slot::CommitSlot;
    use crate::container::layout::page::Root;
    use crate::container::layout::table::{KeyKind, Widths};
    use crate::container::testing::fixture::{
        GEOMETRY, branch, build, fill, leaf, map_of, pointer_to, temp_path,
    };

    #[test]
    fn a_shared_page_or_a_false_length_is_damage() {
        let (_folder, path) = temp_path();
        build(&path, |transaction| fill(transaction, 1));
        let file = Map::Bytes(fs::read(&path).unwrap().into());
        let leaf = leaf();
        let first = PagePointer {
            page: 0,
            checksum: xxhash_rust::xxh3::xxh3_128(&leaf[..20]),
        };
        let other = PagePointer { page: 1, ..first };
        let complaint = |children: &[PagePointer], length: u64| {
            let top = branch(children);
            let pointer = pointer_to(2, &top, children.len());
            let map = map_of(&[leaf, leaf, top]);
            let slot = CommitSlot::read(&file).unwrap();
            let snapshot = Snapshot::of_geometry(&map, slot, GEOMETRY);
            let table = Table {
                root: Some(Root { pointer, length }),
                widths: Widths {
                    key: Some(8),
                    value: None,
                },
                key_kind: KeyKind::U64,
            };
            let mut ignore = |_| {};
            let mut check = BtreeCheck::new(&snapshot, Verified::default(), &mut ignore);
            check.tree("tree", &table, None, &mut |_| {});
            check.verified.damage.join("; ")
        };
        assert_eq!(complaint(&[first, other], 2), "");
        assert_eq!(complaint(&[first, other], 3), "tree: 2 pairs instead of 3");
        assert_eq!(
            complaint(&[first, first], 2),
            "tree: page 0x0 is used twice"
        );
        assert_eq!(u64_at(&leaf, 8).unwrap(), 0);
    }
}
