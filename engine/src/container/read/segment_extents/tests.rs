use std::fs;

use super::*;
use crate::container::layout::codec::encode_record;
use crate::container::layout::column::{ColumnWriter, MAX_ITEM_BYTES};
use crate::container::layout::extent::value_len;
use crate::container::layout::table::Key;
use crate::container::read::container::Container;
use crate::container::testing::fixture::{
    ITEMS, Numbers, ROWS, build, column_records, fill, identity, temp_path, write_segment,
};
use crate::container::write::writer::ContainerWriter;

const SEGMENT: SegmentId = SegmentId(1);

fn locate(snapshot: &Snapshot<'_>, records: &[ColumnRecord]) -> Result<SegmentExtents> {
    SegmentExtents::locate(snapshot, &segment_table_name(SEGMENT), SEGMENT, records)
}

#[test]
fn a_segment_of_one_extent_has_no_branch_page_and_is_found_too() {
    let (_folder, path) = temp_path();
    let mut records = Vec::new();
    build(&path, |transaction| {
        let mut writer = ColumnWriter::items(SEGMENT, ITEMS, MAX_ORDER);
        writer.push(transaction, b"alone")?;
        records.push(writer.finish(transaction)?);
        Ok(())
    });
    let container = Container::open(&path).unwrap();
    let read = container.read(|snapshot| {
        let segment = locate(snapshot, &records)?;
        let column = segment.column(snapshot, ITEMS).unwrap();
        assert_eq!(column.view().bytes(0, 5)?, b"alone");
        Ok(())
    });
    read.unwrap();
}

#[test]
fn records_that_contradict_the_table_are_damage() {
    let (_folder, path) = temp_path();
    build(&path, |transaction| fill(transaction, 1));
    let container = Container::open(&path).unwrap();
    let refused = |change: &dyn Fn(&mut Vec<ColumnRecord>)| {
        let refused = container.read(|snapshot| {
            let mut records = column_records(snapshot)?;
            change(&mut records);
            let segment = locate(snapshot, &records)?;
            for record in &records {
                let column = segment.column(snapshot, ColumnId(record.column)).unwrap();
                for number in 0..column.extents() {
                    column.payload(number)?;
                }
            }
            Ok(())
        });
        refused.map_or_else(|error| error.to_string(), |()| "accepted".to_owned())
    };
    assert_eq!(refused(&|_| ()), "accepted");
    type Lie<'a> = (&'a dyn Fn(&mut Vec<ColumnRecord>), &'a str);
    let cases: [Lie<'_>; 7] = [
        (&|r| drop(r.pop()), "more extents"),
        (&|r| r[1].payload_lens.push(1), "too few extents"),
        (&|r| r[0].payload_lens[0] = 1 << 20, "another size"),
        (&|r| r[0].payload_lens[0] -= 1, "header of extent 0"),
        (&|r| r[1].column = r[0].column, "two records of one column"),
        (&|r| r[1].column += 1, "leaf header of extent 0"),
        (&|r| r[1].column = r[0].column - 1, "another size"),
    ];
    for (change, expected) in cases {
        let found = refused(change);
        assert!(found.contains(expected), "{found} instead of {expected}");
    }
}

#[test]
fn a_changed_byte_of_an_extent_is_found_when_it_is_first_read() {
    let (_folder, path) = temp_path();
    build(&path, |transaction| fill(transaction, 1));
    let mut bytes = fs::read(&path).unwrap();
    let container = Container::from_bytes(&bytes[..]).unwrap();
    let offset = container
        .read(|snapshot| {
            let table = snapshot.table(&segment_table_name(SEGMENT))?.unwrap();
            let page = snapshot.extent_pages(&table)?[0];
            snapshot.check_extent(page, SEGMENT)?;
            assert!(snapshot.check_extent(page, SegmentId(2)).is_err());
            snapshot.btree().geometry().offset(page.pointer())
        })
        .unwrap();
    for at in [0, 20, 64, 4095] {
        bytes[offset as usize + at] ^= 1;
        let container = Container::from_bytes(&bytes[..]).unwrap();
        container
            .read(|snapshot| {
                // Located without a look at the extent, refused when its payload is read.
                let segment = match locate(snapshot, &column_records(snapshot)?) {
                    Ok(segment) => segment,
                    Err(error) => {
                        assert_eq!(at, 0, "{error}");
                        return Ok(());
                    }
                };
                let error = segment
                    .column(snapshot, ROWS)
                    .unwrap()
                    .payload(0)
                    .unwrap_err();
                assert!(
                    error.to_string().contains("checksum of extent 0"),
                    "{error}"
                );
                Ok(())
            })
            .unwrap();
        bytes[offset as usize + at] ^= 1;
    }
}

#[test]
fn located_extents_serve_later_commits() {
    let (_folder, path) = temp_path();
    build(&path, |transaction| fill(transaction, 1));
    let container = Container::open(&path).unwrap();
    let locate_all = |snapshot: &Snapshot<'_>| locate(snapshot, &column_records(snapshot)?);
    let first = container.read(locate_all).unwrap();
    let mut writer = ContainerWriter::open(&path, &identity()).unwrap();
    let mut transaction = writer.begin().unwrap();
    transaction
        .put("numbers", Key::U64(1), b"elsewhere")
        .unwrap();
    transaction.commit().unwrap();
    let second = container
        .read(|snapshot| {
            let expired = first
                .column(snapshot, ROWS)
                .unwrap()
                .payload(0)
                .unwrap_err();
            assert!(matches!(expired, Error::SnapshotExpired));
            let second = first.in_commit(snapshot)?.unwrap();
            second.column(snapshot, ROWS).unwrap().payload(0)?;
            assert!(Arc::ptr_eq(&first.located, &second.located));
            Ok(second)
        })
        .unwrap();
    let mut transaction = writer.begin().unwrap();
    transaction
        .delete_table(&segment_table_name(SEGMENT))
        .unwrap();
    for record in write_segment(&mut transaction, SEGMENT, &mut Numbers(5)).unwrap() {
        let bytes = encode_record(1, &record).unwrap();
        transaction
            .put("columns", Key::U64(u64::from(record.column)), &bytes)
            .unwrap();
    }
    transaction.commit().unwrap();
    let read = container.read(|snapshot| {
        assert!(second.in_commit(snapshot)?.is_none());
        locate_all(snapshot)?
            .column(snapshot, ROWS)
            .unwrap()
            .payload(0)?;
        Ok(())
    });
    read.unwrap();
}

#[test]
fn values_fill_the_smallest_page() {
    assert_eq!(value_len(0), Some(4096 - 16));
    assert_eq!(value_len(4096 - 64), Some(4096 - 16));
    assert_eq!(value_len(4096 - 63), Some(8192 - 16));
    assert_eq!(value_len(MAX_ITEM_BYTES), Some((1 << 20) - 16));
    assert_eq!(value_len(MAX_ITEM_BYTES + 1), None);
}
