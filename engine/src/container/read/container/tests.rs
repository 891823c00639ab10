use kb_types::SegmentId;

use super::*;
use crate::container::layout::column::{ColumnId, ColumnWriter, MAX_ORDER};
use crate::container::layout::extent::segment_table_name;
use crate::container::layout::signature::BLOCK;
use crate::container::layout::table::Key;
use crate::container::read::segment_extents::SegmentExtents;
use crate::container::testing::fixture::{Numbers, build, dump, fill, identity, temp_path};
use crate::container::write::disk;
use crate::container::write::writer::ContainerWriter;

fn sample(seed: u64) -> (Vec<u8>, Vec<u8>) {
    let (_folder, path) = temp_path();
    build(&path, |transaction| fill(transaction, seed));
    let all = dump(&Container::open(&path).unwrap()).unwrap();
    (fs::read(&path).unwrap(), all)
}

#[test]
fn path_and_bytes_give_the_same() {
    let (bytes, all) = sample(1);
    assert!(all.len() > 80_000);
    let container = Container::from_bytes(bytes).unwrap();
    assert_eq!(dump(&container).unwrap(), all);
    assert_eq!(container.path(), None);
    assert_eq!(container.signature().created_unix_ms, identity().unix_ms);
}

#[test]
fn every_flipped_bit_is_an_error_or_the_same_answer() {
    let (mut refused, mut same) = (0, 0);
    for seed in [2, 3] {
        let (bytes, all) = sample(seed);
        let mut bytes: Arc<[u8]> = Arc::from(bytes);
        let mut numbers = Numbers(seed);
        for round in 0..10_500 {
            // The first page is small and says most: 500 of the flips are there.
            let limit = if round < 500 {
                1400
            } else {
                bytes.len() as u64
            };
            let (at, bit) = (numbers.below(limit) as usize, numbers.below(8));
            Arc::get_mut(&mut bytes).unwrap()[at] ^= 1 << bit;
            let container = Container::from_bytes(Arc::clone(&bytes));
            match container.and_then(|container| dump(&container)) {
                Ok(found) => {
                    assert!(found == all, "byte {at} bit {bit} changed the answer");
                    same += 1;
                }
                Err(_) => refused += 1,
            }
            Arc::get_mut(&mut bytes).unwrap()[at] ^= 1 << bit;
        }
    }
    assert!(
        refused > 5000 && same > 500,
        "{refused} refused, {same} same"
    );
}

#[test]
fn random_bytes_over_pages_never_panic() {
    let (bytes, all) = sample(4);
    let mut numbers = Numbers(4);
    for _ in 0..1000 {
        let mut changed = bytes.clone();
        for _ in 0..=numbers.below(4) {
            let at = numbers.below(changed.len() as u64 - 64) as usize;
            let len = 1 + numbers.below(64) as usize;
            let noise = numbers.bytes(len);
            changed[at..at + len].copy_from_slice(&noise);
        }
        let read = Container::from_bytes(changed).and_then(|c| dump(&c));
        assert!(read.is_err() || read.is_ok_and(|found| found == all));
    }
}

#[test]
fn every_truncation_is_an_error_or_the_same_answer() {
    let (bytes, all) = sample(5);
    let pages = (0..bytes.len()).step_by(4096);
    let odd = [1, 8, 9, 63, 64, 319, 320, 511, 512, 1023, 1024, 4097];
    let mut refused = 0;
    for len in pages.chain(odd) {
        match Container::from_bytes(&bytes[..len]).and_then(|c| dump(&c)) {
            Ok(found) => assert!(found == all, "{len} of {}", bytes.len()),
            Err(error) => {
                let expected = match len {
                    0..9 => matches!(error, Error::NotAKb { .. }),
                    _ => matches!(error, Error::Damaged { .. }),
                };
                assert!(expected, "{len}: {error}");
                refused += 1;
            }
        }
    }
    assert!(refused > 12);
}

#[test]
fn not_a_kb_newer_and_damaged_are_three_answers() {
    let (bytes, _) = sample(6);
    let open = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut changed = bytes.clone();
        change(&mut changed);
        Container::from_bytes(changed)
            .map(|_| ())
            .unwrap_err()
            .code()
    };
    assert_eq!(open(&|b| b[..4096].fill(b' ')), "NOT_A_KB");
    assert_eq!(open(&|b| b.clear()), "NOT_A_KB");
    assert_eq!(open(&|b| b[0] = 0), "DAMAGED");
    assert_eq!(open(&|b| b[600] = 1), "DAMAGED");
    assert_eq!(open(&|b| b[9] &= !4), "FORMAT_UNSUPPORTED");
    let mut later = Signature::from_block(&bytes[BLOCK].try_into().unwrap())
        .unwrap()
        .unwrap();
    later.major = 7;
    assert_eq!(
        open(&|b| b[BLOCK].copy_from_slice(&later.to_block())),
        "FORMAT_UNSUPPORTED"
    );
    assert_eq!(
        Container::open(Path::new("/no/such")).unwrap_err().code(),
        "PATH_NOT_FOUND"
    );
    assert_eq!(
        Container::open(&std::env::temp_dir()).unwrap_err().code(),
        "NOT_A_KB"
    );
}

#[test]
fn a_lost_signature_block_is_replaced_by_the_copy_in_the_tables() {
    let (mut bytes, all) = sample(7);
    let signature = Container::from_bytes(&bytes[..]).unwrap().signature();
    bytes[BLOCK].fill(0);
    let container = Container::from_bytes(bytes).unwrap();
    assert_eq!(container.signature(), signature);
    assert_eq!(dump(&container).unwrap(), all);
}

#[test]
fn a_plain_redb_file_is_not_a_kb() {
    let (_folder, path) = temp_path();
    let database = redb::Database::create(&path).unwrap();
    let mut changes = database.begin_write().unwrap();
    changes.set_two_phase_commit(true);
    changes
        .open_table(redb::TableDefinition::<u64, u64>::new("t"))
        .unwrap();
    changes.commit().unwrap();
    drop(database);
    let error = Container::open(&path).unwrap_err();
    assert!(matches!(error, Error::NotAKb { .. }), "{error}");
}

#[test]
fn a_file_renamed_over_the_path_is_followed() {
    let (_folder, path) = temp_path();
    build(&path, |transaction| fill(transaction, 8));
    let container = Container::open(&path).unwrap();
    let (first, uuid) = (dump(&container).unwrap(), container.signature().uuid);
    let identity = container.read(|snapshot| Ok(snapshot.identity())).unwrap();
    build(&path, |transaction| fill(transaction, 9));
    let second = dump(&container).unwrap();
    assert!(first != second);
    // It replaced the file of that name, so it is that file, in a new state.
    assert!(container.signature().uuid == uuid);
    assert!(container.read(|snapshot| Ok(snapshot.identity())).unwrap() != identity);
    fs::remove_file(&path).unwrap();
    assert!(dump(&container).unwrap() == second);
}

#[test]
fn open_readers_see_commits_that_grow_the_file() {
    let (_folder, path) = temp_path();
    build(&path, |transaction| fill(transaction, 10));
    let container = Container::open(&path).unwrap();
    let len = container.len_bytes();
    let commit = container.read(|snapshot| Ok(snapshot.commit())).unwrap();
    let mut writer = ContainerWriter::open(&path, &identity()).unwrap();
    let mut transaction = writer.begin().unwrap();
    for number in 0..100u64 {
        transaction
            .put("numbers", Key::U64(number), &[5; 60_000])
            .unwrap();
    }
    let made = transaction.commit().unwrap();
    let found = container
        .read(|snapshot| {
            let table = snapshot.table("numbers")?.unwrap();
            Ok((snapshot.commit(), snapshot.get(&table, Key::U64(99))?))
        })
        .unwrap();
    assert_eq!(found, (made, Some(vec![5; 60_000])));
    assert!(made > commit && container.len_bytes() > len);
    writer.finish().unwrap();
}

#[test]
fn a_feature_added_in_place_is_noticed_by_open_readers() {
    let (_folder, path) = temp_path();
    build(&path, |transaction| fill(transaction, 11));
    let container = Container::open(&path).unwrap();
    container.read(|_| Ok(())).unwrap();
    let mut signature = container.signature();
    signature.incompat |= 1 << 9;
    let file = disk::open_for_writing(&path).unwrap();
    disk::write_at(&file, &signature.to_block(), BLOCK.start as u64).unwrap();
    let error = container.read(|_| Ok(())).unwrap_err();
    assert!(error.to_string().contains("feature bit 9"), "{error}");
}

#[test]
fn a_container_is_shared_between_threads_and_so_is_a_snapshot() {
    fn shared<T: Send + Sync>() {}
    shared::<Container>();
    shared::<Snapshot<'_>>();
    shared::<SegmentExtents>();
}

#[test]
fn a_hold_is_seen_by_writers_until_the_last_guard_is_dropped() {
    let (_folder, path) = temp_path();
    build(&path, |transaction| fill(transaction, 12));
    let container = Container::open(&path).unwrap();
    let file = disk::open_for_writing(&path).unwrap();
    let held = || ByteLock::is_held(&file, LEASE_BYTE).unwrap();
    let (first, second) = (container.lease(), container.lease());
    drop(first);
    assert!(held());
    drop(second);
    assert!(!held());
}

#[test]
#[ignore = "measures; run with --release --nocapture"]
fn what_open_begin_and_get_cost() {
    let (_folder, path) = temp_path();
    // Nanoseconds on a processor, which a busy machine does not change.
    let cpu_ns = || -> u64 {
        let stat = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
        stat.split(' ').next().unwrap().parse().unwrap()
    };
    build(&path, |transaction| {
        let mut numbers = Numbers(1);
        let start = cpu_ns();
        for number in 0..200_000u64 {
            let len = 300 + numbers.below(200) as usize;
            transaction.put("numbers", Key::U64(number), &vec![number as u8; len])?;
        }
        println!("put: {} ns", (cpu_ns() - start) / 200_000);
        let mut rows = ColumnWriter::items(SegmentId(1), ColumnId(1), MAX_ORDER);
        for _ in 0..64 {
            rows.push(transaction, &vec![1; 1 << 20 >> 1])?;
        }
        rows.finish(transaction).map(|_| ())
    });
    let time = |name: &str, rounds: u64, work: &mut dyn FnMut(u64)| {
        let start = cpu_ns();
        (0..rounds).for_each(work);
        println!("{name}: {} ns", (cpu_ns() - start) / rounds);
    };
    time("open", 1000, &mut |_| drop(Container::open(&path).unwrap()));
    let container = Container::open(&path).unwrap();
    time("empty read", 100_000, &mut |_| {
        container.read(|_| Ok(())).unwrap()
    });
    let opened = container.current();
    time("begin", 100_000, &mut |_| {
        let _ = CommitSlot::read(&opened.map).unwrap();
    });
    let slot = CommitSlot::read(&opened.map).unwrap();
    time("is_valid", 100_000, &mut |_| {
        assert!(slot.is_valid(&opened.map))
    });
    container
        .read(|snapshot| {
            let table = snapshot.table("numbers")?.unwrap();
            let mut numbers = Numbers(2);
            for name in ["get, pages touched first", "get"] {
                time(name, 100_000, &mut |_| {
                    let key = Key::U64(numbers.below(200_000));
                    assert!(snapshot.get(&table, key).unwrap().is_some());
                });
            }
            time("table", 10_000, &mut |_| {
                let _ = snapshot.table("numbers").unwrap();
            });
            let segment = snapshot.table(&segment_table_name(SegmentId(1)))?.unwrap();
            time("locate 64 extents", 1000, &mut |_| {
                assert_eq!(snapshot.extent_pages(&segment).unwrap().len(), 64);
            });
            Ok(())
        })
        .unwrap();
}
