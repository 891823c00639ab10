//! Who writes a file: publishing the writer record, and naming the writer that holds the lock.

use std::fs::File;
use std::io;
use std::time::Duration;

use kb_types::error::Error;

use crate::container::layout::writer_record::{
    NO_WRITER, RECORD_LEN, WRITER_RECORD, WriterRecord, WriterState, describe_writer, writer_text,
};
use crate::container::write::disk::{read_at, write_at};

/// Who opens a file for writing, and when: what others are told while it is locked.
#[derive(Debug, Clone)]
pub struct WriterIdentity {
    /// Name of the program, as a user knows it.
    pub program: String,
    /// Milliseconds since 1970-01-01 UTC.
    pub unix_ms: u64,
    /// How long to wait while another writes the file; zero: not at all.
    pub lock_timeout: Duration,
}

/// Attempts to read who holds the lock, before the message says "another program".
// A writer takes the lock first and writes the record next. Four attempts, 5 ms apart, wait 15 ms
// for that one write. It delays only an error message.
const READ_ATTEMPTS: usize = 4;
/// Pause between two of them.
const RETRY_INTERVAL: Duration = Duration::from_millis(5);

/// Publishes in one write that `program` is opening the file, and returns the record.
pub(crate) fn publish_opening(file: &File, identity: &WriterIdentity) -> io::Result<WriterRecord> {
    let writer = WriterRecord {
        state: WriterState::Opening,
        process_id: std::process::id(),
        started_unix_ms: identity.unix_ms,
        oldest: 0,
        upto: 0,
    };
    // In one write: a reader never meets the record of one writer with the text of another.
    let mut bytes = writer.to_bytes().to_vec();
    bytes.extend(writer_text(&host_name(), &identity.program));
    write_at(file, &bytes, WRITER_RECORD.start as u64)?;
    Ok(writer)
}

/// Removes record and text.
pub(crate) fn clear_record(file: &File) -> io::Result<()> {
    write_at(file, &NO_WRITER, WRITER_RECORD.start as u64)
}

/// The error that names who has locked `file`. Who has just locked it may be about to say so: looked
/// at again for a moment.
pub(crate) fn locked_by_writer(file: &File) -> Error {
    let mut bytes = NO_WRITER;
    for look in 0..READ_ATTEMPTS {
        if look > 0 {
            std::thread::sleep(RETRY_INTERVAL);
        }
        // A file that is too short for a record names nobody.
        let read = read_at(file, &mut bytes, WRITER_RECORD.start as u64);
        if read.is_ok() && WriterRecord::from_bytes(bytes.split_at(RECORD_LEN).0).is_some() {
            break;
        }
    }
    let (record, text) = bytes.split_at(RECORD_LEN);
    Error::IndexLocked {
        holder: describe_writer(record, text),
    }
}

#[cfg(unix)]
fn host_name() -> String {
    let name = rustix::system::uname();
    name.nodename().to_string_lossy().into_owned()
}

#[cfg(not(unix))]
fn host_name() -> String {
    String::new()
}
