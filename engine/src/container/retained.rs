//! What the writer of a live file keeps readable: read transactions over its recent commits, and the
//! writer record that tells readers so.
//!
//! The order is everything: what is protected is published only after it is, and what is given up is
//! published before it is.

use crate::container::disk::{read_at, write_at};
use crate::container::lock::{ByteLock, LEASE_BYTE};
use crate::container::redb_file::WriterIdentity;
use crate::container::snapshot::{CommitSlot, HEADER_LEN};
use crate::container::transaction::from_redb;
use crate::container::writer_record::{
    NO_WRITER, WRITER_RECORD, WriterRecord, WriterState, clear_record, publish_opening,
};
use crate::error::{Error, Result};
use redb::{Database, ReadTransaction, ReadableDatabase};
use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::time::{Duration, Instant};

/// How long a replaced commit stays readable, and how many bytes may be kept for that.
#[derive(Debug, Clone, Copy)]
struct RetentionPolicy {
    keep: Duration,
    cap_bytes: u64,
}

/// Usually: longer than nearly every request.
const DEFAULT: RetentionPolicy = RetentionPolicy {
    keep: Duration::from_secs(2),
    cap_bytes: 64 << 20,
};

/// While a reader holds the hold byte.
const EXTENDED: RetentionPolicy = RetentionPolicy {
    keep: Duration::from_secs(60),
    cap_bytes: 256 << 20,
};

/// A read transaction protects its own and every later commit, so one per this time is enough.
const MIN_INTERVAL: Duration = Duration::from_millis(100);

/// An open read transaction.
#[derive(Debug)]
struct RetainedSnapshot {
    /// Number of the commit.
    transaction: u64,
    /// When the next commit was seen after it; the newest snapshot has none.
    replaced: Option<Instant>,
    /// Value of the byte count when the snapshot was made.
    replaced_bytes_before: u64,
    /// Keeps redb from reusing pages.
    _read: OpenRead,
}

/// redb's read transaction, with a `Debug` of its own.
struct OpenRead(#[expect(dead_code, reason = "held for its drop")] ReadTransaction);

impl std::fmt::Debug for OpenRead {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ReadTransaction")
    }
}

/// The retained snapshots and their publication.
#[derive(Debug)]
pub(crate) struct RetainedSnapshots {
    /// The file, for header and writer record.
    file: File,
    /// Record and text as a writer before this one left them.
    previous: [u8; NO_WRITER.len()],
    /// What was published last.
    record: WriterRecord,
    /// Oldest first; never empty while serving.
    snapshots: VecDeque<RetainedSnapshot>,
}

impl RetainedSnapshots {
    /// Publishes who opens the file, and that nothing is protected. Must come before redb touches the
    /// file, because a record left by a dead writer holds until it is replaced.
    pub(crate) fn begin(file: File, identity: &WriterIdentity) -> io::Result<RetainedSnapshots> {
        let mut before = NO_WRITER;
        read_at(&file, &mut before, WRITER_RECORD.start as u64)?;
        let record = publish_opening(&file, identity).inspect_err(|_| {
            let _ = write_at(&file, &before, WRITER_RECORD.start as u64);
        })?;
        Ok(RetainedSnapshots {
            file,
            previous: before,
            record,
            snapshots: VecDeque::new(),
        })
    }

    /// Puts back what [`RetainedSnapshots::begin`] found. Only while redb has not touched the file: what a dead
    /// writer protects is still there then.
    pub(crate) fn restore_previous(&self) -> io::Result<()> {
        write_at(&self.file, &self.previous, WRITER_RECORD.start as u64)
    }

    /// The file.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    fn publish(&self) -> io::Result<()> {
        write_at(
            &self.file,
            &self.record.to_bytes(),
            WRITER_RECORD.start as u64,
        )
    }

    fn retain(&mut self, database: &Database, replaced_bytes: u64) -> Result<()> {
        let read = database.begin_read().map_err(from_redb)?;
        self.snapshots.push_back(RetainedSnapshot {
            transaction: newest_transaction(&self.file)?,
            replaced: None,
            replaced_bytes_before: replaced_bytes,
            _read: OpenRead(read),
        });
        Ok(())
    }

    /// Protects the newest commit and publishes that.
    pub(crate) fn start_serving(&mut self, database: &Database) -> Result<()> {
        self.retain(database, 0)?;
        let newest = newest_transaction(&self.file)?;
        self.record.state = WriterState::Serving;
        self.record.oldest = newest;
        self.record.upto = newest;
        self.publish().map_err(Error::storage)
    }

    /// Tells readers that a newer commit is about to be seen, and that theirs is still protected.
    pub(crate) fn announce_commit(&mut self) -> Result<()> {
        self.record.upto = newest_transaction(&self.file)? + 1;
        self.publish().map_err(Error::storage)
    }

    /// Protects the new commit, gives up what is old or too much, and returns the commit's number.
    /// `replaced_bytes` counts all bytes that commits replaced so far.
    pub(crate) fn committed(&mut self, database: &Database, replaced_bytes: u64) -> Result<u64> {
        // Aborted transactions use up numbers too, so this can be more than was announced.
        let newest = newest_transaction(&self.file)?;
        self.record.upto = newest;
        let now = Instant::now();
        let last_retained = self
            .snapshots
            .iter()
            .rev()
            .nth(1)
            .and_then(|snapshot| snapshot.replaced);
        if last_retained.is_none_or(|replaced| now - replaced >= MIN_INTERVAL) {
            if let Some(snapshot) = self.snapshots.back_mut() {
                snapshot.replaced = Some(now);
            }
            self.retain(database, replaced_bytes)?;
        }
        let is_leased = ByteLock::is_held(&self.file, LEASE_BYTE).unwrap_or(false);
        let policy = if is_leased { EXTENDED } else { DEFAULT };
        let expired = |snapshot: &&RetainedSnapshot| {
            let old = snapshot.replaced.is_some_and(|at| now - at >= policy.keep);
            old || replaced_bytes - snapshot.replaced_bytes_before > policy.cap_bytes
        };
        let newest_retained = self.snapshots.len().saturating_sub(1);
        let released = self
            .snapshots
            .iter()
            .take(newest_retained)
            .take_while(expired)
            .count();
        if let Some(snapshot) = self.snapshots.get(released) {
            self.record.oldest = snapshot.transaction;
        }
        self.publish().map_err(Error::storage)?;
        self.snapshots.drain(..released);
        Ok(newest)
    }

    /// Gives everything up: closing commits once more, without retained snapshots.
    pub(crate) fn release_all(&mut self) -> io::Result<()> {
        self.record.state = WriterState::Opening;
        self.publish()?;
        self.snapshots.clear();
        Ok(())
    }

    /// Removes the record. Only after redb has closed the file.
    pub(crate) fn clear_record(&self) -> io::Result<()> {
        clear_record(&self.file)
    }
}

/// Number of the commit in the primary slot.
pub(crate) fn newest_transaction(file: &File) -> Result<u64> {
    let mut header = [0; HEADER_LEN as usize];
    read_at(file, &mut header, 0).map_err(Error::storage)?;
    let slot = CommitSlot::from_header(&header)?;
    slot.map(|slot| slot.transaction())
        .ok_or_else(|| Error::damaged("the commit slot in redb's header"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::container::codec::{decode_record, encode_record, u64_at};
    use crate::container::column::{ColumnId, ColumnWriter, MAX_ORDER};
    use crate::container::extent::{SegmentExtents, segment_table_name};
    use crate::container::fixture::{build, fill, identity, temp_path};
    use crate::container::{Container, ContainerWriter, Key, Snapshot, Transaction};
    use crate::types::SegmentId;
    use std::ops::ControlFlow;
    use std::sync::atomic::{AtomicBool, Ordering};

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
    fn the_writer_is_published_first_and_never_into_a_file_that_is_refused() {
        use crate::container::faults::{Observer, Op, observed};
        use crate::container::signature::BLOCK;
        use std::{fs, sync::Arc};
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
            let error =
                observed(observer, || ContainerWriter::open(&path, &identity())).unwrap_err();
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
}
