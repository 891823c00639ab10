//! Checked pages of trees, kept from request to request.
//!
//! A page is kept under its pointer, which has the checksum of what the page holds. So what is kept is right whatever
//! commit asks for it, also when the page of the file was reused since: then another checksum is asked for.

use std::sync::{Mutex, PoisonError};

use crate::container::layout::node::Node;
use crate::container::layout::page::PagePointer;
use crate::container::layout::table::Widths;

/// Pages that are kept at most.
// 2 MiB of pages of 4 KiB, as SQLite keeps by default. Each new request would copy and hash the inner pages of all trees
// again: 4 % of a search.
const PAGES: u64 = 512;

/// Keeps the pages that were read last.
#[derive(Debug, Default)]
pub(crate) struct PageCache {
    /// One page a slot, each page in one; none before the first.
    slots: Mutex<Vec<Option<KeptPage>>>,
}

#[derive(Debug)]
struct KeptPage {
    pointer: PagePointer,
    widths: Widths,
    node: Node,
}

impl PageCache {
    /// The page of a pointer, parsed for a table of these widths, if it is kept.
    pub(crate) fn get(&self, pointer: PagePointer, widths: Widths) -> Option<Node> {
        let slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = slots.get(slot_of(pointer))?.as_ref()?;
        let is_same = kept.pointer == pointer && kept.widths == widths;
        is_same.then(|| kept.node.clone())
    }

    /// Keeps a page that was checked, in the place of another one; a long page is not kept.
    pub(crate) fn put(&self, pointer: PagePointer, widths: Widths, node: &Node) {
        if pointer.order() > 0 {
            return;
        }
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        if slots.is_empty() {
            slots.resize_with(PAGES as usize, || None);
        }
        if let Some(slot) = slots.get_mut(slot_of(pointer)) {
            *slot = Some(KeptPage {
                pointer,
                widths,
                node: node.clone(),
            });
        }
    }
}

/// The slot of a page. Neighbours have different ones.
fn slot_of(pointer: PagePointer) -> usize {
    (pointer.page % PAGES) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::container::layout::node::LEAF;
    use xxhash_rust::xxh3::xxh3_128;

    const WIDTHS: Widths = Widths {
        key: Some(1),
        value: Some(1),
    };

    /// A leaf of one pair, and its pointer.
    fn leaf(page: u64, value: u8) -> (PagePointer, Node) {
        let bytes = vec![LEAF, 0, 1, 0, 7, value];
        let checksum = xxh3_128(&bytes);
        let pointer = PagePointer { page, checksum };
        (pointer, Node::checked(bytes, pointer, WIDTHS).unwrap())
    }

    fn value(node: Option<Node>) -> Option<u8> {
        match node? {
            Node::Leaf(leaf) => leaf.value(0).unwrap().first().copied(),
            Node::Branch(_) => None,
        }
    }

    #[test]
    fn a_page_is_kept_until_another_takes_its_slot() {
        let cache = PageCache::default();
        let (first, node) = leaf(3, 1);
        assert_eq!(value(cache.get(first, WIDTHS)), None);
        cache.put(first, WIDTHS, &node);
        let (next, node) = leaf(4, 2);
        cache.put(next, WIDTHS, &node);
        assert_eq!(value(cache.get(first, WIDTHS)), Some(1));
        assert_eq!(value(cache.get(next, WIDTHS)), Some(2));
        let (other, node) = leaf(3 + PAGES, 3);
        cache.put(other, WIDTHS, &node);
        assert_eq!(value(cache.get(first, WIDTHS)), None);
        assert_eq!(value(cache.get(other, WIDTHS)), Some(3));
    }

    #[test]
    fn another_content_or_another_table_is_another_page() {
        let cache = PageCache::default();
        let (pointer, node) = leaf(3, 1);
        cache.put(pointer, WIDTHS, &node);
        let (reused, _) = leaf(3, 2);
        assert_eq!(value(cache.get(reused, WIDTHS)), None);
        let texts = Widths {
            key: None,
            value: None,
        };
        assert_eq!(value(cache.get(pointer, texts)), None);
        let long = PagePointer {
            page: pointer.page | 1 << 59,
            ..pointer
        };
        cache.put(long, WIDTHS, &node);
        assert_eq!(value(cache.get(long, WIDTHS)), None);
    }
}
