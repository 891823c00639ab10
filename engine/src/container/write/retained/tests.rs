use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use kb_types::SegmentId;

use super::*;
use crate::container::layout::codec::{decode_record, encode_record, u64_at};
use crate::container::layout::column::{ColumnId, ColumnWriter, MAX_ORDER};
use crate::container::layout::extent::segment_table_name;
use crate::container::layout::table::Key;
use crate::container::read::container::Container;
use crate::container::read::segment_extents::SegmentExtents;
use crate::container::read::snapshot::Snapshot;
use crate::container::testing::fixture::{build, fill, identity, temp_path};
use crate::container::write::transaction::Transaction;
use crate::container::write::writer::ContainerWriter;

#[test]
fn pinned_commits_stay_readable_while_the_writer_goes_on() {
    let (_folder, path) = temp_path();
    build(&path, |transaction| fill(transaction, 9));
    let mut writer = ContainerWriter::open(&path, &identity()).unwrap();
    let reader = Container::open(&path).unwrap();
    let numbers = |snapshot: &Snapshot<'_>| {
        let table = snapshot.table("numbers")?.unwrap();
        let mut all: Vec<u8> = Vec::new();
        snapshot.range(&table, Key::U64(0), |_, value| {
            all.extend(value);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(all)
    };
    let before = reader.read(numbers).unwrap();
    let mut attempts = 0;
    let answer = reader.read(|snapshot| {
        attempts += 1;
        // Commits that replace all that the request has yet to read.
        for seed in 20..25 {
            let mut transaction = writer.begin()?;
            transaction.delete_table(&segment_table_name(SegmentId(1)))?;
            fill(&mut transaction, seed)?;
            transaction.commit()?;
        }
        numbers(snapshot)
    });
    assert!(answer.unwrap() == before);
    assert_eq!(attempts, 1);
    assert!(reader.read(numbers).unwrap() != before);
    writer.finish().unwrap();
}

#[test]
fn a_request_that_outlasts_its_writer_runs_again() {
    let (_folder, path) = temp_path();
    build(&path, |transaction| fill(transaction, 10));
    let reader = Container::open(&path).unwrap();
    let mut attempts = 0;
    let mut commit_while_reading = |rounds: usize| {
        attempts = 0;
        reader.read(|_| {
            attempts += 1;
            if attempts <= rounds {
                let mut writer = ContainerWriter::open(&path, &identity())?;
                let mut transaction = writer.begin()?;
                transaction.put("numbers", Key::U64(1), b"changed")?;
                transaction.commit()?;
                writer.finish()?;
            }
            Ok(attempts)
        })
    };
    assert_eq!(commit_while_reading(2).unwrap(), 3);
    assert!(matches!(
        commit_while_reading(100),
        Err(Error::SnapshotExpired)
    ));
    assert_eq!(attempts, 5);
}

#[cfg(unix)]
#[test]
fn a_writer_record_never_goes_into_a_refused_file() {
    use std::{fs, sync::Arc};

    use crate::container::layout::signature::BLOCK;
    use crate::container::write::observer::{Observer, Op, observed};
    #[derive(Default)]
    struct Offsets(std::sync::Mutex<Vec<u64>>);
    impl Observer for Offsets {
        fn before(&self, op: &Op<'_>) -> std::io::Result<()> {
            if let Op::Write { offset, .. } = op {
                self.0.lock().unwrap().push(*offset);
            }
            Ok(())
        }
    }
    let (_folder, path) = temp_path();
    build(&path, |transaction| fill(transaction, 9));
    let mut good = fs::read(&path).unwrap();
    // Left by a writer that died.
    good[WRITER_RECORD.start..WRITER_RECORD.start + 100].fill(b'x');
    let opened = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        let offsets = Arc::new(Offsets::default());
        let observer: Arc<dyn Observer> = Arc::clone(&offsets) as _;
        let error = observed(observer, || ContainerWriter::open(&path, &identity())).unwrap_err();
        assert!(fs::read(&path).unwrap() == bytes);
        let offsets = offsets.0.lock().unwrap().clone();
        (error.code(), offsets)
    };
    let mut signature = Container::open(&path).unwrap().signature();
    signature.ro_compat |= 1 << 20;
    let mut newer = good.clone();
    newer[BLOCK].copy_from_slice(&signature.to_block());
    assert_eq!(opened(&newer), ("FORMAT_UNSUPPORTED", vec![]));
    signature.major = 9;
    newer[BLOCK].copy_from_slice(&signature.to_block());
    assert_eq!(opened(&newer), ("FORMAT_UNSUPPORTED", vec![]));
    let container = Container::from_bytes(&good[..]).unwrap();
    let root = container.read(|snapshot| {
        let names = snapshot.slot().system_names()?;
        let pointer = names.root.ok_or(Error::WriterFailed)?.pointer;
        snapshot.btree().geometry().offset(pointer)
    });
    let mut damaged = good.clone();
    damaged[root.unwrap() as usize + 5] ^= 1;
    let record_at = WRITER_RECORD.start as u64;
    assert_eq!(opened(&damaged), ("DAMAGED", vec![record_at, record_at]));
}

const GENERATION: &str = "generation";

fn write_generation(transaction: &mut Transaction<'_>, generation: u64) -> Result<()> {
    let segment = SegmentId(generation as u32);
    if generation > 0 {
        transaction.delete_table(&segment_table_name(SegmentId(segment.0 - 1)))?;
    }
    let mut rows = ColumnWriter::rows(segment, ColumnId(1), 64, MAX_ORDER);
    for _ in 0..3000 {
        rows.push(transaction, &[generation as u8; 64])?;
    }
    let record = rows.finish(transaction)?;
    transaction.put("kb", Key::Str(GENERATION), &encode_record(1, &record)?)?;
    for number in 0..40u64 {
        transaction.put("numbers", Key::U64(number), &generation.to_le_bytes())?;
    }
    Ok(())
}

fn read_generation(snapshot: &Snapshot<'_>) -> Result<u64> {
    let mixed = || Error::damaged("two generations in one answer");
    let numbers = snapshot.table("numbers")?.ok_or_else(mixed)?;
    let mut generations = Vec::new();
    snapshot.range(&numbers, Key::U64(0), |_, value| {
        generations.push(u64_at(value, 0)?);
        Ok(ControlFlow::Continue(()))
    })?;
    let generation = *generations.first().ok_or_else(mixed)?;
    if generations.len() != 40 || generations.iter().any(|other| *other != generation) {
        return Err(mixed());
    }
    let kb = snapshot.table("kb")?.ok_or_else(mixed)?;
    let record = snapshot.get(&kb, Key::Str(GENERATION))?.ok_or_else(mixed)?;
    let record = decode_record("columns", 1, &record)?;
    let segment = SegmentId(generation as u32);
    let name = segment_table_name(segment);
    let located = SegmentExtents::locate(snapshot, &name, segment, &[record])?;
    let column = located.column(snapshot, ColumnId(1)).ok_or_else(mixed)?;
    for number in 0..column.extents() {
        let (_, payload) = column.view().extent(number)?;
        if payload.iter().any(|byte| *byte != generation as u8) {
            return Err(mixed());
        }
    }
    Ok(generation)
}

#[test]
fn readers_beside_a_writer_see_exactly_one_generation_each_time() {
    const COMMITS: u64 = 200;
    let (_folder, path) = temp_path();
    build(&path, |transaction| write_generation(transaction, 0));
    let done = AtomicBool::new(false);
    let seen = std::thread::scope(|scope| {
        let readers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    let container = Container::open(&path).unwrap();
                    let (mut newest, mut different, mut answers) = (0, 0, 0);
                    while !done.load(Ordering::Relaxed) || newest != COMMITS {
                        let generation = container.read(read_generation).unwrap();
                        assert!(generation >= newest);
                        different += u64::from(generation != newest);
                        newest = generation;
                        answers += 1;
                    }
                    (different, answers)
                })
            })
            .collect();
        let mut writer = ContainerWriter::open(&path, &identity()).unwrap();
        for generation in 1..=COMMITS {
            let mut transaction = writer.begin().unwrap();
            write_generation(&mut transaction, generation).unwrap();
            transaction.commit().unwrap();
        }
        done.store(true, Ordering::Relaxed);
        writer.finish().unwrap();
        readers
            .into_iter()
            .map(|reader| reader.join().unwrap())
            .collect::<Vec<_>>()
    });
    for (different, answers) in seen {
        assert!(
            different >= 5 && answers >= different,
            "{different} of {answers}"
        );
    }
}
