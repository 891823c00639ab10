//! What the writer of a live file keeps readable: read transactions over its recent commits, and the
//! writer record that tells readers so.
//!
//! The order of two steps is what readers rely on. A commit is protected before the record says so, and the record
//! withdraws a commit before its protection ends. So the record never promises more than is true.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::time::{Duration, Instant};

use kb_types::error::{Error, Result};
use redb::{Database, ReadTransaction, ReadableDatabase};

use crate::container::layout::commit_slot::{CommitSlot, HEADER_LEN};
use crate::container::layout::writer_record::{
    NO_WRITER, WRITER_RECORD, WriterRecord, WriterState,
};
use crate::container::read::byte_lock::{ByteLock, LEASE_BYTE};
use crate::container::write::disk::{read_at, write_at};
use crate::container::write::identity::{WriterIdentity, clear_record, publish_opening};
use crate::container::write::panic_guard::from_redb;

/// How long a replaced commit stays readable, and how many bytes may be kept for that.
#[derive(Debug, Clone, Copy)]
struct RetentionPolicy {
    keep: Duration,
    cap_bytes: u64,
}

/// Retention without a lease.
// 2 s is longer than nearly every request. The bytes bound the growth of the file: retention of 10
// s without a limit made a file of 19 MB grow to 721 MB at 50 commits a second
// (docs/decisions/03-readers-without-locks.md).
const DEFAULT: RetentionPolicy = RetentionPolicy {
    keep: Duration::from_secs(2),
    cap_bytes: 64 << 20,
};

/// Retention while a reader holds the lease byte, as a check of the whole file does.
// A reader that holds the lease longer, or has stopped, cannot make the file grow without end.
const EXTENDED: RetentionPolicy = RetentionPolicy {
    keep: Duration::from_secs(60),
    cap_bytes: 256 << 20,
};

/// A read transaction protects its own and every later commit, so one per this time is enough.
// At most 20 read transactions for 2 s and 600 for 60 s, however fast the commits are.
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
        // redb numbers transactions in sequence, so the next commit has this number or, after
        // aborted transactions, a larger one. Larger numbers are published by `committed`; until
        // then readers of older commits retry.
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
            // The last snapshot has no successor yet. The one before it was replaced when the last
            // one was made, so its time is the time of the last retained commit.
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
            // Bytes replaced since the snapshot are what it keeps from being reused.
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
        // Before the snapshots are dropped, which lets redb reuse their pages.
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
mod tests;
