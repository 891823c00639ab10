use std::fs;
use std::time::Duration;

use kb_types::SegmentId;

use super::*;
use crate::container::layout::column::{ColumnId, ColumnWriter, MAX_ORDER};
use crate::container::layout::extent::segment_table_name;
use crate::container::layout::table::KeyKind;
use crate::container::layout::writer_record::{NO_WRITER, WRITER_RECORD};
use crate::container::testing::fixture::{
    Numbers, build, dump, fill, identity, names, temp_path, value,
};

#[test]
fn a_new_file_appears_whole_or_not_at_all() {
    let (folder, path) = temp_path();
    let mut writer = ContainerWriter::create(&path, &identity()).unwrap();
    assert!(!path.exists() && writer.reader().is_none());
    let mut transaction = writer.begin().unwrap();
    fill(&mut transaction, 1).unwrap();
    transaction.commit().unwrap();
    assert_eq!(names(folder.path()).len(), 1);
    drop(writer);
    assert_eq!(names(folder.path()), [""; 0]);

    build(&path, |transaction| fill(transaction, 1));
    assert_eq!(names(folder.path()), ["test.kb"]);
    assert!(dump(&Container::open(&path).unwrap()).is_ok());
    // Trimmed: less than a quarter is not in some table.
    let sizes = Container::open(&path)
        .unwrap()
        .read(|s| s.file_bytes())
        .unwrap();
    assert!(sizes.remainder_bytes * 4 < sizes.file_bytes, "{sizes:?}");
}

#[test]
fn both_copies_of_the_signature_agree() {
    let (_folder, path) = temp_path();
    build(&path, |transaction| fill(transaction, 1));
    let container = Container::open(&path).unwrap();
    let record = value(&container, HEADER_TABLE, Key::Str(HEADER_KEY)).unwrap();
    assert_eq!(
        Signature::from_record(&record).unwrap(),
        container.signature()
    );
}

#[test]
fn dropping_writer_or_transaction_keeps_the_old_state() {
    let (folder, path) = temp_path();
    build(&path, |transaction| fill(transaction, 2));
    let before = dump(&Container::open(&path).unwrap()).unwrap();
    let mut writer = ContainerWriter::open(&path, &identity()).unwrap();
    let mut transaction = writer.begin().unwrap();
    fill(&mut transaction, 3).unwrap();
    transaction.delete_table("names").unwrap();
    drop(transaction);
    let mut transaction = writer.begin().unwrap();
    transaction.put("numbers", Key::U64(0), b"lost").unwrap();
    drop(transaction);
    drop(writer);
    assert!(dump(&Container::open(&path).unwrap()).unwrap() == before);
    assert_eq!(names(folder.path()), ["test.kb"]);
}

#[test]
fn a_second_writer_is_refused_and_told_who_writes() {
    let (_folder, path) = temp_path();
    build(&path, |transaction| fill(transaction, 4));
    let writer = ContainerWriter::open(&path, &identity()).unwrap();
    let attempts = [
        ContainerWriter::open(&path, &identity()),
        ContainerWriter::create(&path, &identity()),
    ];
    for attempt in attempts {
        let Err(Error::IndexLocked { holder }) = attempt else {
            panic!("{attempt:?}");
        };
        let process = format!("kb test, process {}", std::process::id());
        assert!(holder.starts_with(&process), "{holder}");
        assert!(
            holder.ends_with("since 2024-02-29 12:34:56 UTC"),
            "{holder}"
        );
    }
    writer.finish().unwrap();
    let bytes = fs::read(&path).unwrap();
    assert_eq!(bytes[WRITER_RECORD.start..][..NO_WRITER.len()], NO_WRITER);
    ContainerWriter::open(&path, &identity())
        .unwrap()
        .finish()
        .unwrap();
    // While a new file is built, the old one cannot be changed.
    let creator = ContainerWriter::create(&path, &identity()).unwrap();
    let refused = ContainerWriter::open(&path, &identity());
    assert!(matches!(refused, Err(Error::IndexLocked { .. })));
    drop(creator);
}

#[test]
fn a_writer_waits_for_the_other_as_long_as_it_is_told() {
    let (_folder, path) = temp_path();
    build(&path, |transaction| fill(transaction, 4));
    let first = ContainerWriter::open(&path, &identity()).unwrap();
    let waits = |lock_timeout: Duration| WriterIdentity {
        lock_timeout,
        ..identity()
    };
    let started = std::time::Instant::now();
    let refused = ContainerWriter::open(&path, &waits(Duration::from_millis(150)));
    assert!(matches!(refused, Err(Error::IndexLocked { .. })));
    assert!(started.elapsed() >= Duration::from_millis(150));
    // Also when the file is another one in the end.
    let second = std::thread::scope(|scope| {
        let second = scope.spawn(|| {
            let writer = ContainerWriter::open(&path, &waits(Duration::from_secs(60)))?;
            let reader = writer.reader().ok_or(Error::WriterFailed)?;
            dump(reader)
        });
        first.finish().unwrap();
        build(&path, |transaction| fill(transaction, 5));
        second.join().unwrap()
    });
    let found = dump(&Container::open(&path).unwrap()).unwrap();
    // It came before or after the new file, and never to the one that was replaced.
    assert!(second.is_ok_and(|second| !second.is_empty()) && !found.is_empty());
}

#[test]
fn a_compacted_file_holds_the_same_in_less_room() {
    let (folder, path) = temp_path();
    build(&path, |transaction| fill(transaction, 6));
    let write = |segment: u32, rows: usize| {
        let mut writer = ContainerWriter::open(&path, &identity()).unwrap();
        let mut transaction = writer.begin().unwrap();
        // `fill` made segment 1, and its records stay.
        if segment > 2 {
            let before = segment_table_name(SegmentId(segment - 1));
            assert!(transaction.delete_table(&before).unwrap());
        }
        let mut column = ColumnWriter::rows(SegmentId(segment), ColumnId(1), 1024, MAX_ORDER);
        for row in 0..rows {
            column.push(&mut transaction, &[row as u8; 1024]).unwrap();
        }
        column.finish(&mut transaction).unwrap();
        transaction.commit().unwrap();
        writer.finish().unwrap();
    };
    write(2, 5000);
    write(3, 3000);
    let sizes = |path: &Path| {
        let container = Container::open(path).unwrap();
        container.read(|snapshot| snapshot.file_bytes()).unwrap()
    };
    let before = sizes(&path);
    assert!(before.remainder_bytes > before.file_bytes / 2, "{before:?}");
    let reader = Container::open(&path).unwrap();
    let content = dump(&reader).unwrap();
    let signature = reader.signature();
    // Nothing happens beside a writer.
    let writer = ContainerWriter::open(&path, &identity()).unwrap();
    let refused = ContainerWriter::compact(&path, &identity());
    assert!(matches!(refused, Err(Error::IndexLocked { .. })));
    writer.finish().unwrap();
    assert_eq!(sizes(&path), before);

    ContainerWriter::compact(&path, &identity()).unwrap();
    let after = sizes(&path);
    assert!(after.remainder_bytes * 8 < after.file_bytes, "{after:?}");
    assert_eq!(names(folder.path()), ["test.kb"]);
    let bytes = fs::read(&path).unwrap();
    assert_eq!(bytes[WRITER_RECORD.start..][..NO_WRITER.len()], NO_WRITER);
    let compacted = Container::open(&path).unwrap();
    assert!(dump(&compacted).unwrap() == content);
    assert_eq!(compacted.signature(), signature);
    assert!(compacted.verify(&mut |_| {}).unwrap().damage.is_empty());
    // The reader of the old file reads the new one.
    assert!(dump(&reader).unwrap() == content);
    assert_eq!(reader.len_bytes(), after.file_bytes);
    write(4, 100);
    assert!(dump(&reader).unwrap() != content);
}

#[cfg(unix)]
#[test]
fn a_redb_tool_cannot_write_beside_the_writer() {
    let (_folder, path) = temp_path();
    build(&path, |transaction| fill(transaction, 5));
    let writer = ContainerWriter::open(&path, &identity()).unwrap();
    let foreign = Database::open(&path);
    assert!(
        matches!(foreign, Err(redb::DatabaseError::DatabaseAlreadyOpen)),
        "{foreign:?}"
    );
    drop(writer);
}

#[test]
fn changes_in_place_are_read_back_after_every_reopening() {
    let (_folder, path) = temp_path();
    build(&path, |transaction| fill(transaction, 6));
    let reader = Container::open(&path).unwrap();
    let mut last = 0;
    for round in 0..5u64 {
        let mut writer = ContainerWriter::open(&path, &identity()).unwrap();
        let mut transaction = writer.begin().unwrap();
        transaction
            .put("names", Key::Str("round"), &round.to_le_bytes())
            .unwrap();
        assert!(transaction.remove("numbers", Key::U64(7 * round)).unwrap());
        assert!(!transaction.remove("numbers", Key::U64(7 * round)).unwrap());
        let found = transaction.get("names", Key::Str("round")).unwrap();
        assert_eq!(found, Some(round.to_le_bytes().to_vec()));
        let commit = transaction.commit().unwrap();
        assert!(commit > last);
        last = commit;
        let found = value(writer.reader().unwrap(), "names", Key::Str("round"));
        assert_eq!(found, Some(round.to_le_bytes().to_vec()));
        writer.finish().unwrap();
        assert_eq!(value(&reader, "numbers", Key::U64(7 * round)), None);
        let found = value(&reader, "names", Key::Str("round"));
        assert_eq!(found, Some(round.to_le_bytes().to_vec()));
    }
}

/// A file of trees of several levels, changed once in place, so that redb has lists of free pages.
fn deep_file(path: &Path) {
    build(path, |transaction| {
        fill(transaction, 8)?;
        for number in 0..4000u64 {
            transaction.put("deep", Key::U64(number), &number.to_le_bytes())?;
            let name = format!("{:x}/{number}", number % 13);
            transaction.put("paths", Key::Str(&name), &[7; 40])?;
        }
        Ok(())
    });
    let mut writer = ContainerWriter::open(path, &identity()).unwrap();
    let mut transaction = writer.begin().unwrap();
    for number in (0..4000u64).step_by(3) {
        transaction.remove("deep", Key::U64(number)).unwrap();
    }
    transaction.commit().unwrap();
    writer.finish().unwrap();
}

/// Changes of every kind: near each other, far apart, so many that pages are merged, whole tables.
fn change_much(path: &Path, kind: u64) -> Result<()> {
    let mut writer = ContainerWriter::open(path, &identity())?;
    for round in 0..2u64 {
        let mut transaction = writer.begin()?;
        match kind {
            0 => transaction.put("names", Key::Str("one"), &round.to_le_bytes())?,
            1 => {
                for number in (1..4000).step_by(97) {
                    transaction.remove("deep", Key::U64(number + round))?;
                }
            }
            2 => {
                for number in 1000..2600 {
                    transaction.remove("deep", Key::U64(number + round))?;
                }
                for part in 0..9 {
                    let (first, end) = (format!("{part:x}/"), format!("{part:x}0"));
                    for number in (part..4000).step_by(13) {
                        let name = format!("{first}{number}");
                        transaction.get("paths", Key::Str(&name))?;
                        transaction.remove("paths", Key::Str(&name))?;
                    }
                    transaction.put("paths", Key::Str(&end), &[1; 30])?;
                }
            }
            3 => {
                transaction.delete_table("paths")?;
                transaction.delete_table(&segment_table_name(SegmentId(1)))?;
                transaction.remove_range("bytes", &[7], None)?;
            }
            _ => {
                transaction.delete_table(&segment_table_name(SegmentId(1)))?;
                fill(&mut transaction, 50 + round)?;
            }
        }
        transaction.commit()?;
    }
    writer.finish()
}

/// What a file holds in all tables, and whether verifying it finds damage.
fn state_of(path: &Path) -> (Result<Vec<u8>>, bool) {
    let Ok(container) = Container::open(path) else {
        return (Err(Error::WriterFailed), true);
    };
    let all = container.read(|snapshot| {
        let mut all = Vec::new();
        for (name, table) in snapshot.tables()? {
            all.extend(name.as_bytes());
            for (page, _) in snapshot.extent_pages(&table)?.iter().zip(0..) {
                if name.starts_with("seg/") {
                    snapshot.check_extent(*page, SegmentId(1))?;
                    all.extend(page.pointer().checksum.to_le_bytes());
                }
            }
            let first = match table.key_kind {
                KeyKind::U64 => Key::U64(0),
                KeyKind::Bytes => Key::Bytes(&[]),
                _ => Key::Str(""),
            };
            if !name.starts_with("seg/") {
                snapshot.range(&table, first, |key, value| {
                    all.extend(key);
                    all.extend(value);
                    Ok(std::ops::ControlFlow::Continue(()))
                })?;
            }
        }
        Ok(all)
    });
    let verified = container.verify(&mut |_| {});
    let is_damaged = verified.is_err() || verified.is_ok_and(|found| !found.damage.is_empty());
    (all, is_damaged)
}

#[test]
fn damage_is_found_before_anything_is_built_on_it() {
    let (_folder, path) = crate::container::testing::fixture::temp_path_in_memory();
    deep_file(&path);
    let good = fs::read(&path).unwrap();
    let right: Vec<Vec<u8>> = (0..5)
        .map(|kind| {
            fs::write(&path, &good).unwrap();
            change_much(&path, kind).unwrap();
            let (all, is_damaged) = state_of(&path);
            assert!(!is_damaged);
            all.unwrap()
        })
        .collect();
    let live: Vec<usize> = (1..good.len() / 4096)
        .filter(|page| {
            let mut bytes = good.clone();
            bytes[page * 4096..][..4096]
                .iter_mut()
                .for_each(|b| *b ^= 0xa5);
            let container = Container::from_bytes(bytes);
            let verified = container.and_then(|container| container.verify(&mut |_| {}));
            !verified.is_ok_and(|found| found.damage.is_empty())
        })
        .collect();
    assert!(live.len() > 100, "{}", live.len());
    let rounds = std::env::var("KB_FLIPS").map_or(400, |flips| flips.parse().unwrap());
    let mut numbers = Numbers(8);
    let (mut refused, mut untouched, mut replaced, mut harmless) = (0, 0, 0, 0);
    for round in 0..rounds {
        let mut bytes = good.clone();
        // One in eight anywhere, free pages included. What the first page holds is not in the trees.
        let at = match numbers.below(8) {
            0 => 4096 + numbers.below(good.len() as u64 - 4096) as usize,
            _ => {
                let page = live[numbers.below(live.len() as u64) as usize];
                page * 4096 + numbers.below(4096) as usize
            }
        };
        bytes[at] ^= 1 << numbers.below(8);
        fs::write(&path, &bytes).unwrap();
        let (_, was_damaged) = state_of(&path);
        let kind = round % 5;
        let changed = change_much(&path, kind);
        let (all, is_damaged) = state_of(&path);
        let what = format!("byte {at}, changes of kind {kind}: {changed:?}");
        match changed {
            Ok(()) if is_damaged => {
                assert!(was_damaged, "{what}");
                untouched += 1;
            }
            // Of what was damaged nothing is left, or nothing was damaged.
            Ok(()) => {
                let right = &right[kind as usize];
                assert!(all.is_ok_and(|all| all == *right), "laundered: {what}");
                replaced += usize::from(was_damaged);
                harmless += usize::from(!was_damaged);
            }
            Err(error) => {
                assert_eq!(error.code(), "DAMAGED", "{what}");
                // What was committed before the damage was met stays, and so does the damage.
                assert!(was_damaged && is_damaged, "{what}");
                refused += 1;
            }
        }
    }
    println!("{refused} refused, {untouched} untouched, {replaced} replaced, {harmless} harmless");
    assert!(
        refused > 50 && untouched > 50 && harmless > 10,
        "{refused} {untouched} {harmless}"
    );
}

#[test]
fn an_untouched_damaged_page_does_no_harm() {
    let (_folder, path) = temp_path();
    deep_file(&path);
    let mut bytes = fs::read(&path).unwrap();
    let container = Container::open(&path).unwrap();
    let leaf = container.read(|snapshot| {
        let deep = snapshot.table("deep")?.ok_or(Error::WriterFailed)?;
        let (leaves, _) = snapshot.btree().leaf_pointers(&deep)?;
        let last = leaves.last().ok_or(Error::WriterFailed)?;
        snapshot.btree().geometry().offset(*last)
    });
    bytes[leaf.unwrap() as usize + 9] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let mut writer = ContainerWriter::open(&path, &identity()).unwrap();
    let mut transaction = writer.begin().unwrap();
    transaction.put("deep", Key::U64(1), b"changed!").unwrap();
    transaction.commit().unwrap();
    let mut transaction = writer.begin().unwrap();
    let error = transaction.get("deep", Key::U64(3999)).unwrap_err();
    assert!(error.to_string().contains("table \"deep\""), "{error}");
    drop(transaction);
    assert!(matches!(writer.begin(), Err(Error::WriterFailed)));
    drop(writer);
    let container = Container::open(&path).unwrap();
    let found = value(&container, "deep", Key::U64(1));
    assert_eq!(found.as_deref(), Some(&b"changed!"[..]));
    let damage = container.verify(&mut |_| {}).unwrap().damage;
    assert_eq!(damage.len(), 1, "{damage:?}");
    // A new writer finds the file as it was left.
    let mut writer = ContainerWriter::open(&path, &identity()).unwrap();
    let mut transaction = writer.begin().unwrap();
    transaction.put("deep", Key::U64(2), b"changed!").unwrap();
    transaction.commit().unwrap();
    writer.finish().unwrap();
}

#[test]
fn a_file_whose_writer_died_is_read_at_once_and_written_again() {
    let (folder, path) = temp_path();
    build(&path, |transaction| fill(transaction, 11));
    let mut writer = ContainerWriter::open(&path, &identity()).unwrap();
    let mut dead = Vec::new();
    for seed in 30..34 {
        let mut transaction = writer.begin().unwrap();
        transaction
            .delete_table(&segment_table_name(SegmentId(1)))
            .unwrap();
        fill(&mut transaction, seed).unwrap();
        if seed % 2 == 0 {
            transaction.commit().unwrap();
        }
        // What a process that ends here leaves behind, its uncommitted changes included.
        dead.push((
            fs::read(&path).unwrap(),
            dump(&Container::open(&path).unwrap()).unwrap(),
        ));
    }
    writer.finish().unwrap();
    for (bytes, expected) in dead {
        let path = folder.path().join("dead.kb");
        fs::write(&path, &bytes).unwrap();
        let container = Container::open(&path).unwrap();
        assert!(dump(&container).unwrap() == expected);
        let mut writer = ContainerWriter::open(&path, &identity()).unwrap();
        assert!(dump(&container).unwrap() == expected);
        let mut transaction = writer.begin().unwrap();
        transaction
            .put("names", Key::Str("again"), b"alive")
            .unwrap();
        transaction.commit().unwrap();
        writer.finish().unwrap();
        let found = value(&container, "names", Key::Str("again"));
        assert_eq!(found.as_deref(), Some(&b"alive"[..]));
    }
}
