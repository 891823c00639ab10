use xxhash_rust::xxh3::xxh3_128;

use super::*;
use crate::container::layout::page::Root;
use crate::container::layout::table::KeyKind;
use crate::container::testing::fixture::{GEOMETRY, branch, leaf, pointer_to};

const WIDTHS: Widths = Widths {
    key: Some(8),
    value: None,
};

/// Expects a tree of that root.
fn expecting(pointer: PagePointer) -> PageCheck {
    let check = PageCheck {
        geometry: GEOMETRY,
        state: Mutex::default(),
    };
    let tree = Tree {
        name: "table \"t\"".to_owned(),
        widths: WIDTHS,
        kind_of_tables: None,
    };
    let table = Table {
        root: Some(Root { pointer, length: 1 }),
        widths: WIDTHS,
        key_kind: KeyKind::U64,
    };
    let expected = check.expect_tree(&mut check.state(), tree, &table, (0, 0));
    expected.unwrap();
    check
}

fn at(pointer: PagePointer) -> u64 {
    GEOMETRY.offset(pointer).unwrap()
}

fn refusal(checked: Result<()>) -> String {
    checked.unwrap_err().to_string()
}

#[test]
fn a_page_is_known_once_the_page_that_refers_to_it_was_read() {
    let page = leaf();
    let child = |number| PagePointer {
        page: number,
        checksum: xxh3_128(&page[..20]),
    };
    let top = branch(&[child(0), child(1)]);
    let root = pointer_to(2, &top, 2);
    let check = expecting(root);
    let early = refusal(check.check(at(child(1)), &page));
    assert!(early.contains("no page of a tree begins"), "{early}");
    for _ in 0..2 {
        check.check(at(root), &top).unwrap();
        check.check(at(child(0)), &page).unwrap();
        check.check(at(child(1)), &page).unwrap();
    }
    let mut flipped = page;
    flipped[10] ^= 1;
    let error = refusal(check.check(at(child(1)), &flipped));
    assert!(error.contains("table \"t\": the checksum"), "{error}");
    let error = refusal(check.check(at(child(1)), &[page, page].concat()));
    assert!(error.contains("another size"), "{error}");
    // What redb wrote is redb's, with whatever order.
    check.written(at(child(0)), 8192);
    check.check(at(child(1)), &flipped).unwrap();
    check
        .check(at(child(0)), &[flipped, page].concat())
        .unwrap();
    assert!(check.check(at(root), &flipped).is_err());
    // The first page is none of a tree.
    check.check(0, &[0; 320]).unwrap();
}

#[test]
fn trees_that_share_a_page_or_never_end_are_refused() {
    let page = leaf();
    let child = PagePointer {
        page: 0,
        checksum: xxh3_128(&page[..20]),
    };
    let top = branch(&[child, child]);
    let root = pointer_to(1, &top, 2);
    let error = refusal(expecting(root).check(at(root), &top));
    assert!(error.contains("used twice"), "{error}");

    let mut pages = vec![page];
    let mut pointers = vec![child];
    for level in 1..=MAX_DEPTH as u64 {
        let other = PagePointer {
            page: 1000 + level,
            checksum: 0,
        };
        let below = pointers[pointers.len() - 1];
        pages.push(branch(&[below, other]));
        pointers.push(pointer_to(level, &pages[level as usize], 2));
    }
    let check = expecting(pointers[MAX_DEPTH]);
    let mut way = pages.iter().zip(&pointers).rev();
    let refused = way.find_map(|(page, pointer)| check.check(at(*pointer), page).err());
    assert!(refused.unwrap().to_string().contains("48 levels"));
}
