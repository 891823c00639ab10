use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;

use proptest::prelude::*;
use redb::backends::InMemoryBackend;
use redb::{Database, ReadableDatabase, ReadableTable, StorageBackend, TableDefinition};
use xxhash_rust::xxh3::xxh3_128;

use super::*;
use crate::container::layout::codec::u64_at;
use crate::container::layout::commit_slot::CommitSlot;
use crate::container::layout::page::Root;
use crate::container::layout::table::KeyKind;
use crate::container::read::snapshot::Snapshot;
use crate::container::testing::fixture::{GEOMETRY, Numbers, branch, leaf, map_of, pointer_to};

/// redb's bytes in memory, which the test can look at while redb runs.
#[derive(Debug, Clone, Default)]
struct Shared(Arc<InMemoryBackend>);

impl StorageBackend for Shared {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }
    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read(offset, out)
    }
    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }
    fn sync_data(&self) -> io::Result<()> {
        self.0.sync_data()
    }
    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.write(offset, data)
    }
}

impl Shared {
    fn map(&self) -> Map {
        let mut bytes = vec![0; self.0.len().unwrap() as usize];
        self.0.read(0, &mut bytes).unwrap();
        Map::Bytes(bytes.into())
    }
}

const NUMBERS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("numbers");
const NAMES: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("names");
const BYTES: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("bytes");
const FIXED: TableDefinition<'_, &str, u64> = TableDefinition::new("fixed");

/// One change: key material, length of the value, and whether to delete instead.
type Change = (u16, u32, bool);

fn value(change: &Change) -> Vec<u8> {
    Numbers(u64::from(change.0)).bytes(change.1 as usize)
}

fn name(material: u16) -> String {
    format!(
        "{:x}/{}/\u{e9}{material}",
        material % 5,
        "d".repeat(usize::from(material % 90))
    )
}

fn commit(database: &Database, changes: &[Change]) {
    let mut transaction = database.begin_write().unwrap();
    transaction.set_quick_repair(true);
    {
        let mut numbers = transaction.open_table(NUMBERS).unwrap();
        let mut names = transaction.open_table(NAMES).unwrap();
        let mut bytes = transaction.open_table(BYTES).unwrap();
        let mut fixed = transaction.open_table(FIXED).unwrap();
        for change in changes {
            let (name, value) = (name(change.0), value(change));
            // Little-endian keys sort by value, not by bytes.
            let number = u64::from(change.0).wrapping_mul(0x0101_0001);
            let raw = &name.as_bytes()[..name.len().min(usize::from(change.0 % 40))];
            if change.2 {
                numbers.remove(number).unwrap();
                names.remove(name.as_str()).unwrap();
                bytes.remove(raw).unwrap();
                fixed.remove(name.as_str()).unwrap();
            } else {
                numbers.insert(number, value.as_slice()).unwrap();
                names.insert(name.as_str(), value.as_slice()).unwrap();
                bytes.insert(raw, value.as_slice()).unwrap();
                fixed.insert(name.as_str(), number).unwrap();
            }
        }
    }
    transaction.commit().unwrap();
}

/// Compares one table key by key, whole, and from every key on.
fn compare<K: redb::Key + 'static, V: redb::Value + 'static>(
    database: &Database,
    map: &Map,
    definition: TableDefinition<'_, K, V>,
    key_of: fn(&[u8]) -> Key<'_>,
    absent: &[Key<'_>],
) {
    let read = database.begin_read().unwrap();
    let expected: Vec<(Vec<u8>, Vec<u8>)> = read
        .open_table(definition)
        .unwrap()
        .iter()
        .unwrap()
        .map(|pair| {
            let (key, value) = pair.unwrap();
            let value = V::as_bytes(&value.value()).as_ref().to_vec();
            (K::as_bytes(&key.value()).as_ref().to_vec(), value)
        })
        .collect();
    let slot = CommitSlot::read(map).unwrap();
    let snapshot = Snapshot::new(map, slot, 0);
    let table = snapshot
        .table(redb::TableHandle::name(&definition))
        .unwrap()
        .unwrap();
    assert_eq!(table.len(), expected.len() as u64);
    let from = |key: Key<'_>, most: usize| {
        let mut found = Vec::new();
        let visit = |key: &[u8], value: &[u8]| {
            found.push((key.to_vec(), value.to_vec()));
            let full = found.len() == most;
            Ok(if full {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            })
        };
        snapshot.range(&table, key, visit).unwrap();
        found
    };
    for (at, (key, value)) in expected.iter().enumerate() {
        let key = key_of(key);
        assert_eq!(snapshot.get(&table, key).unwrap().as_ref(), Some(value));
        let most = if at % 16 == 0 { usize::MAX } else { 3 };
        let rest = &expected[at..expected.len().min(at.saturating_add(most))];
        assert!(from(key, most) == rest, "range from pair {at}");
    }
    for key in absent {
        assert_eq!(snapshot.get(&table, *key).unwrap(), None);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    #[test]
    fn the_reader_agrees_with_redb(
        commits in prop::collection::vec(
            prop::collection::vec(
                (
                    any::<u16>(),
                    prop_oneof![40 => 0u32..300, 4 => 300u32..9000, 1 => 9000u32..200_000],
                    prop::bool::weighted(0.3),
                ),
                0..160,
            ),
            1..5,
        )
    ) {
        let shared = Shared::default();
        let database = redb::Builder::new().create_with_backend(shared.clone()).unwrap();
        for changes in &commits {
            commit(&database, changes);
            let map = shared.map();
            compare(&database, &map, NUMBERS, |key| Key::U64(u64_at(key, 0).unwrap()), &[
                Key::U64(u64::MAX), Key::U64(3),
            ]);
            compare(&database, &map, NAMES, str_key, &[Key::Str(""), Key::Str("\u{10ffff}")]);
            compare(&database, &map, BYTES, |key| Key::Bytes(key), &[Key::Bytes(&[255])]);
            compare(&database, &map, FIXED, str_key, &[Key::Str("absent")]);
        }
    }
}

fn str_key(key: &[u8]) -> Key<'_> {
    Key::Str(std::str::from_utf8(key).unwrap())
}

#[test]
fn keys_of_another_type_are_refused() {
    let shared = Shared::default();
    let database = redb::Builder::new()
        .create_with_backend(shared.clone())
        .unwrap();
    commit(&database, &[(1, 10, false)]);
    let map = shared.map();
    let snapshot = Snapshot::new(&map, CommitSlot::read(&map).unwrap(), 0);
    let table = snapshot.table("numbers").unwrap().unwrap();
    for key in [Key::Str("numbers"), Key::Bytes(&[0; 8])] {
        assert!(matches!(
            snapshot.get(&table, key),
            Err(Error::Damaged { .. })
        ));
    }
    assert_eq!(snapshot.table("number").unwrap(), None);
}

#[test]
fn the_work_budget_ends_an_endless_tree() {
    // Every level is one page whose 100 children are the page below: 100^20 leaves.
    let leaf = leaf();
    let mut pages = vec![leaf];
    let mut pointer = PagePointer {
        page: 0,
        checksum: xxh3_128(&leaf[..20]),
    };
    for level in 1..=20 {
        let page = branch(&[pointer; 100]);
        pointer = pointer_to(level, &page, 100);
        pages.push(page);
    }
    let map = map_of(&pages);
    let reader = BtreeReader::new(&map, GEOMETRY);
    let root = Some(Root {
        pointer,
        length: u64::MAX,
    });
    let widths = Widths {
        key: Some(8),
        value: None,
    };
    let table = Table {
        root,
        widths,
        key_kind: KeyKind::U64,
    };
    assert!(reader.leaf_for(&table, Key::U64(0)).unwrap().is_some());
    let error = reader.leaf_pointers(&table).unwrap_err();
    assert!(error.to_string().contains("refers to itself"), "{error}");
    let mut leaves = 0;
    let result = reader.leaves_from(&table, Some(Key::U64(0)), |_, _| {
        leaves += 1;
        Ok(true)
    });
    assert!(result.unwrap_err().to_string().contains("refers to itself"));
    assert!((1..=pages.len()).contains(&leaves), "{leaves}");
}

#[test]
fn a_snapshot_may_be_asked_as_often_as_somebody_likes() {
    // A budget for all reads of a snapshot once ended the sealing of a million documents.
    let leaf = leaf();
    let pointer = PagePointer {
        page: 0,
        checksum: xxh3_128(&leaf[..20]),
    };
    let top = branch(&[pointer, pointer]);
    let map = map_of(&[leaf, top]);
    let reader = BtreeReader::new(&map, GEOMETRY);
    let table = Table {
        root: Some(Root {
            pointer: pointer_to(1, &top, 2),
            length: 2,
        }),
        widths: Widths {
            key: Some(8),
            value: None,
        },
        key_kind: KeyKind::U64,
    };
    // Of 16 MiB each, so that the budget of that time was used up soon; none of them exists.
    let large = PagePointer {
        page: 12 << 59,
        checksum: 0,
    };
    for round in 0..2000 {
        assert!(reader.read(large, table.widths).is_err());
        let found = reader.leaf_for(&table, Key::U64(0));
        assert!(found.is_ok_and(|leaf| leaf.is_some()), "round {round}");
        let result = reader.leaves_from(&table, None, |_, _| Ok(false));
        assert!(result.is_ok(), "round {round}");
    }
}

#[test]
fn a_tree_that_is_too_deep_is_refused() {
    let mut pointer = PagePointer {
        page: 0,
        checksum: 0,
    };
    let mut pages = vec![[0; 4096]];
    for level in 1..=MAX_DEPTH as u64 + 1 {
        let page = branch(&[pointer; 2]);
        pointer = pointer_to(level, &page, 2);
        pages.push(page);
    }
    let map = map_of(&pages);
    let reader = BtreeReader::new(&map, GEOMETRY);
    let root = Some(Root { pointer, length: 1 });
    let widths = Widths {
        key: Some(8),
        value: None,
    };
    let table = Table {
        root,
        widths,
        key_kind: KeyKind::U64,
    };
    let deep = "more than 48 levels";
    assert!(
        reader
            .leaf_for(&table, Key::U64(0))
            .unwrap_err()
            .to_string()
            .contains(deep)
    );
    assert!(
        reader
            .leaf_pointers(&table)
            .unwrap_err()
            .to_string()
            .contains(deep)
    );
    let result = reader.leaves_from(&table, None, |_, _| Ok(true));
    assert!(result.unwrap_err().to_string().contains(deep));
}

#[test]
fn page_numbers_outside_the_region_or_the_file_are_refused() {
    let small = Geometry {
        region_header_pages: 1,
        region_pages: 100,
    };
    let pointer = |order: u64, region: u64, index: u64| PagePointer {
        page: order << 59 | region << 20 | index,
        checksum: 0,
    };
    assert_eq!(small.offset(pointer(0, 0, 0)).unwrap(), 8192);
    assert_eq!(
        small.offset(pointer(1, 2, 3)).unwrap(),
        8192 + 2 * 101 * 4096 + 3 * 8192
    );
    assert!(small.offset(pointer(0, 0, 100)).is_err());
    assert!(small.offset(pointer(6, 0, 1)).is_err());
    assert!(small.offset(pointer(31, 0xF_FFFF, 0)).is_err());
    let map = map_of(&[]);
    let reader = BtreeReader::new(&map, GEOMETRY);
    assert!(reader.read(pointer(0, 0, 0), Widths::default()).is_err());
    assert!(reader.went_beyond_map());
    let too_large = reader
        .read(pointer(14, 0, 0), Widths::default())
        .unwrap_err();
    assert!(too_large.to_string().contains("order 14"), "{too_large}");
}
