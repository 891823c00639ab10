use std::fs;

use super::*;
use crate::container::layout::page::PagePointer;
use crate::container::layout::signature::{BLOCK, Signature};
use crate::container::layout::table::Key;
use crate::container::read::map::Map;
use crate::container::testing::fixture::{Numbers, build, dump, fill, identity, temp_path};
use crate::container::write::writer::ContainerWriter;

fn verify(bytes: &[u8]) -> Verified {
    let container = Container::from_bytes(bytes).unwrap();
    container.verify(&mut |_| {}).unwrap()
}

fn sample() -> Vec<u8> {
    let (_folder, path) = temp_path();
    build(&path, |transaction| fill(transaction, 1));
    fs::read(&path).unwrap()
}

/// Offset of redb's root page of its own tables.
fn system_root(bytes: &[u8]) -> usize {
    let map = Map::Bytes(bytes.into());
    let slot = CommitSlot::read(&map).unwrap();
    let root = slot.system_names().unwrap().root.unwrap();
    let snapshot = Snapshot::new(&map, slot, 0);
    snapshot.btree().geometry().offset(root.pointer).unwrap() as usize
}

#[test]
fn a_whole_file_is_read_whole_and_without_complaint() {
    let (_folder, path) = temp_path();
    build(&path, |transaction| fill(transaction, 1));
    let container = Container::open(&path).unwrap();
    let mut last = 0;
    let verified = container.verify(&mut |bytes| {
        assert!(bytes >= last);
        last = bytes;
    });
    let verified = verified.unwrap();
    assert_eq!(
        (&verified.damage[..], verified.system_checked),
        (&[][..], true)
    );
    assert_eq!(last, verified.bytes);
    let sizes = container.read(|snapshot| snapshot.file_bytes()).unwrap();
    let in_tables: u64 = sizes
        .tables
        .iter()
        .map(|t| t.branch_bytes + t.leaf_bytes)
        .sum();
    assert!(verified.bytes > in_tables + sizes.names_bytes);
    assert!(verified.bytes + 4096 <= sizes.file_bytes);
    let segment = sizes
        .tables
        .iter()
        .find(|t| t.name.starts_with("seg/"))
        .unwrap();
    assert_eq!(verified.extents, segment.pairs);
}

#[test]
fn every_byte_of_an_extent_counts_zero_fill_too() {
    let bytes = sample();
    let mut offsets = Vec::new();
    let container = Container::from_bytes(&bytes[..]).unwrap();
    let read = container.read(|snapshot| {
        let table = snapshot.table("seg/0000000000000001")?.unwrap();
        for page in snapshot.extent_pages(&table)? {
            let pointer = PagePointer {
                page: page.pointer().page,
                checksum: 0,
            };
            let offset = snapshot.btree().geometry().offset(pointer)?;
            offsets.push((offset as usize, page.size_bytes() as usize));
        }
        Ok(())
    });
    read.unwrap();
    let mut numbers = Numbers(2);
    for (offset, size) in offsets {
        let picks = (0..20).map(|_| numbers.below(size as u64) as usize);
        for at in picks.chain([0, 15, 16, 63, size - 1]) {
            let mut changed = bytes.clone();
            changed[offset + at] ^= 0x10;
            let damage = verify(&changed).damage;
            assert!(
                damage.len() == 1 && damage[0].contains("seg/"),
                "{at}: {damage:?}"
            );
        }
    }
}

#[test]
fn several_damages_are_all_listed_up_to_a_hundred() {
    let (_folder, path) = temp_path();
    build(&path, |transaction| {
        for number in 0..3000u64 {
            let table = format!("table {}", number % 150);
            transaction.put(&table, Key::U64(number), &[7; 300])?;
        }
        fill(transaction, 3)
    });
    let good = fs::read(&path).unwrap();
    let mut bytes = good.clone();
    let container = Container::from_bytes(&good[..]).unwrap();
    let read = container.read(|snapshot| {
        let mut roots = Vec::new();
        for (name, table) in snapshot.tables()? {
            if name.starts_with("table") {
                roots.push(
                    snapshot
                        .btree()
                        .geometry()
                        .offset(table.root.unwrap().pointer)?,
                );
            }
        }
        Ok(roots)
    });
    let roots = read.unwrap();
    for root in &roots[..7] {
        bytes[*root as usize + 9] ^= 1;
    }
    let verified = verify(&bytes);
    assert_eq!(verified.damage.len(), 7, "{:?}", verified.damage);
    assert!(
        verified
            .damage
            .iter()
            .all(|what| what.contains("table \"table "))
    );
    assert!(verified.extents > 0);
    for root in &roots[7..] {
        bytes[*root as usize + 9] ^= 1;
    }
    assert_eq!(verify(&bytes).damage.len(), 100);
}

#[test]
fn no_writer_builds_on_damaged_pages_of_redb() {
    let bytes = sample();
    let mut changed = bytes.clone();
    changed[system_root(&bytes) + 2] ^= 1;
    let verified = verify(&changed);
    assert!(verified.damage[0].contains("redb's own"), "{verified:?}");
    // No answer depends on them.
    let container = Container::from_bytes(&changed[..]).unwrap();
    assert!(dump(&container).is_ok());
    let (_folder, path) = temp_path();
    fs::write(&path, &changed).unwrap();
    let refused = ContainerWriter::open(&path, &identity()).unwrap_err();
    assert!(refused.to_string().contains("redb's own"), "{refused}");
    assert!(fs::read(&path).unwrap() == changed);
}

#[test]
fn slots_and_signature_of_a_resting_file_are_checked() {
    let bytes = sample();
    let complaint = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut changed = bytes.clone();
        change(&mut changed);
        verify(&changed).damage.join("; ")
    };
    assert_eq!(complaint(&|_| {}), "");
    let secondary = 64 + 128 * usize::from(bytes[9] & 1 == 0);
    assert!(complaint(&|b| b[secondary + 30] ^= 1).contains("the header"));
    // Layout: the number of pages at the end.
    assert!(complaint(&|b| b[29] ^= 0x40).contains("the header"));
    let block = Signature::from_block(&bytes[BLOCK].try_into().unwrap());
    let mut other = block.unwrap().unwrap();
    other.uuid[0] ^= 1;
    assert!(complaint(&|b| b[BLOCK].copy_from_slice(&other.to_block())).contains("signature"));
    assert_eq!(complaint(&|b| b[BLOCK].fill(0)), "");
    other.uuid[0] ^= 1;
    other.compat |= 1 << 40;
    assert_eq!(
        complaint(&|b| b[BLOCK].copy_from_slice(&other.to_block())),
        ""
    );
}

#[test]
fn a_live_file_is_verified_beside_its_writer() {
    let (_folder, path) = temp_path();
    build(&path, |transaction| fill(transaction, 4));
    let container = Container::open(&path).unwrap();
    let mut writer = ContainerWriter::open(&path, &identity()).unwrap();
    let mut commits = 0;
    let verified = container.verify(&mut |_| {
        // Protected as retained snapshots, so the pages of tables stand; redb's own are read after the last.
        if commits < 3 {
            commits += 1;
            let mut transaction = writer.begin().unwrap();
            fill(&mut transaction, commits).unwrap();
            transaction.commit().unwrap();
        }
    });
    let verified = verified.unwrap();
    assert_eq!(
        (&verified.damage[..], verified.system_checked),
        (&[][..], true)
    );
    let mut commits = 0;
    let verified = container.verify(&mut |bytes| {
        if bytes > verified.bytes * 9 / 10 {
            commits += 1;
            let mut transaction = writer.begin().unwrap();
            transaction.put("names", Key::Str("again"), &[7]).unwrap();
            transaction.commit().unwrap();
        }
    });
    let verified = verified.unwrap();
    assert_eq!(
        (&verified.damage[..], verified.system_checked),
        (&[][..], false)
    );
    assert!(commits >= 5);
    writer.finish().unwrap();
}
