//! The writer record and the text behind it in page 0: who writes the file, and what the writer protects.

use std::ops::Range;

use kb_types::calendar::UtcTime;
use xxhash_rust::xxh3::xxh3_64;

use crate::container::layout::codec::{put, u32_at, u64_at};

/// The program that writes a file now.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WriterInfo {
    /// Its name, such as `kb index`; empty when unknown.
    pub program: String,
    /// The machine that it runs on; empty when unknown.
    pub host: String,
    /// Its process id on that machine.
    pub process_id: u32,
    /// When it opened the file for writing, milliseconds since 1970.
    pub since_ms: i64,
}

// Layout of the writer record, at 1024 of the file.
//
// The magic bytes are part of the format, so they stay although the code says "writer record".
pub(crate) const WRITER_MAGIC: [u8; 8] = *b"KBHOLDR1";
const STATE_AT: usize = WRITER_MAGIC.len();
const PROCESS_AT: usize = STATE_AT + 4;
const STARTED_AT: usize = PROCESS_AT + 4;
const OLDEST_AT: usize = STARTED_AT + 8;
const UPTO_AT: usize = OLDEST_AT + 8;
const CHECKSUM_AT: usize = RECORD_LEN - 8;
// One cache line at a multiple of 64. A reader copies it beside a writer; a torn copy fails the
// checksum and is read again.
pub(crate) const RECORD_LEN: usize = 64;
// Room for a host name of 64 bytes, which is Linux's limit, and a program name. It is for messages
// only, so it is cut.
const TEXT_LEN: usize = 256;
/// Bytes of the record and the text behind it.
pub(crate) const WHOLE_LEN: usize = RECORD_LEN + TEXT_LEN;

/// Where the writer record lies in the file.
// At 1024, behind the signature block (512..1024), in the part of page 0 that redb leaves zero.
pub(crate) const WRITER_RECORD: Range<usize> = 1024..1024 + RECORD_LEN;
/// Zeros over the record and the text, which follows it.
pub(crate) const NO_WRITER: [u8; WHOLE_LEN] = [0; WHOLE_LEN];

/// How far a writer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WriterState {
    /// Opening or closing: nothing is protected.
    // 0 is what a file without a writer has there.
    Opening = 1,
    /// The transactions `oldest..=upto` are protected.
    Serving = 2,
}

/// The writer's word on what it protects. Who may write is decided by the lock, not by this.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WriterRecord {
    /// How far the writer is.
    pub(crate) state: WriterState,
    /// Its process.
    pub(crate) process_id: u32,
    /// When it opened the file, in milliseconds since 1970-01-01 UTC.
    pub(crate) started_unix_ms: u64,
    /// Oldest transaction whose pages are not reused.
    pub(crate) oldest: u64,
    /// Newest transaction that the writer has begun to commit.
    pub(crate) upto: u64,
}

impl WriterRecord {
    /// The record as it is stored in the file.
    pub(crate) fn to_bytes(self) -> [u8; RECORD_LEN] {
        let mut record = [0; RECORD_LEN];
        put(&mut record, 0, &WRITER_MAGIC);
        put(&mut record, STATE_AT, &(self.state as u32).to_le_bytes());
        put(&mut record, PROCESS_AT, &self.process_id.to_le_bytes());
        put(&mut record, STARTED_AT, &self.started_unix_ms.to_le_bytes());
        put(&mut record, OLDEST_AT, &self.oldest.to_le_bytes());
        put(&mut record, UPTO_AT, &self.upto.to_le_bytes());
        let checksum = xxh3_64(record.split_at(CHECKSUM_AT).0);
        put(&mut record, CHECKSUM_AT, &checksum.to_le_bytes());
        record
    }

    /// Reads the record; `None` when there is none or it is torn: then nothing is protected.
    pub(crate) fn from_bytes(record: &[u8]) -> Option<WriterRecord> {
        // The checksum is compared before any field is used; the state is only parsed early.
        let whole = record.starts_with(&WRITER_MAGIC)
            && xxh3_64(record.get(..CHECKSUM_AT)?) == u64_at(record, CHECKSUM_AT).ok()?;
        let state = match u32_at(record, STATE_AT).ok()? {
            1 => WriterState::Opening,
            2 => WriterState::Serving,
            _ => return None,
        };
        whole.then_some(WriterRecord {
            state,
            process_id: u32_at(record, PROCESS_AT).ok()?,
            started_unix_ms: u64_at(record, STARTED_AT).ok()?,
            oldest: u64_at(record, OLDEST_AT).ok()?,
            upto: u64_at(record, UPTO_AT).ok()?,
        })
    }

    /// Whether transaction `then` is protected while `now` is the newest.
    pub(crate) fn protects(&self, then: u64, now: u64) -> bool {
        // `now <= upto` fails when a writer that died before had announced less than what is served
        // now.
        self.state == WriterState::Serving && self.oldest <= then && then <= now && now <= self.upto
    }
}

/// Host and program of the writer, cut to what fits, for messages.
pub(crate) fn writer_text(host: &str, program: &str) -> [u8; TEXT_LEN] {
    let mut text = [0; TEXT_LEN];
    let mut offset = 0;
    // Two length bytes and a host of 64 leave 190 bytes for the program.
    for (word, limit) in [(host, 64), (program, TEXT_LEN - 66)] {
        let end = (0..=limit.min(word.len()))
            .rev()
            .find(|end| word.is_char_boundary(*end));
        let word = end.and_then(|end| word.get(..end)).unwrap_or("");
        put(&mut text, offset, &[word.len() as u8]);
        put(&mut text, offset + 1, word.as_bytes());
        offset += 1 + word.len();
    }
    text
}

/// The writer that the record and the text behind it name; `None` when there is none or they are torn.
pub(crate) fn read_writer(record: &[u8], text: &[u8]) -> Option<WriterInfo> {
    let word = |text: &[u8]| {
        let (len, rest) = text.split_first()?;
        let (word, rest) = rest.split_at_checked(usize::from(*len))?;
        let word = String::from_utf8_lossy(word).into_owned();
        // The text comes from the file and goes to a terminal.
        Some((word.replace(char::is_control, "?"), rest.to_vec()))
    };
    let writer = WriterRecord::from_bytes(record)?;
    let (host, rest) = word(text).unwrap_or_default();
    let (program, _) = word(&rest).unwrap_or_default();
    Some(WriterInfo {
        program,
        host,
        process_id: writer.process_id,
        since_ms: i64::try_from(writer.started_unix_ms).unwrap_or(i64::MAX),
    })
}

/// Describes the writer for error messages, from the record and the text behind it.
pub(crate) fn describe_writer(record: &[u8], text: &[u8]) -> String {
    let Some(writer) = read_writer(record, text) else {
        return "another program".to_owned();
    };
    let program = if writer.program.is_empty() {
        "a program"
    } else {
        &writer.program
    };
    let host = if writer.host.is_empty() {
        String::new()
    } else {
        format!(" on {}", writer.host)
    };
    format!(
        "{program}, process {}{host}, since {}",
        writer.process_id,
        utc_time(writer.since_ms)
    )
}

/// `YYYY-MM-DD HH:MM:SS UTC`.
fn utc_time(unix_ms: i64) -> String {
    let UtcTime {
        date,
        hour,
        minute,
        second,
        ..
    } = UtcTime::from_unix_seconds(unix_ms / 1000);
    format!("{date} {hour:02}:{minute:02}:{second:02} UTC")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_stand_where_the_spec_says() {
        assert_eq!(
            [STATE_AT, PROCESS_AT, STARTED_AT, OLDEST_AT, UPTO_AT],
            [8, 12, 16, 24, 32]
        );
    }

    #[test]
    fn a_torn_writer_record_protects_nothing() {
        let writer = WriterRecord {
            state: WriterState::Serving,
            process_id: 42,
            started_unix_ms: 1_795_256_553_000,
            oldest: 5,
            upto: 9,
        };
        let bytes = writer.to_bytes();
        assert_eq!(WriterRecord::from_bytes(&bytes), Some(writer));
        for bit in 0..RECORD_LEN * 8 {
            let mut torn = bytes;
            torn[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(WriterRecord::from_bytes(&torn), None, "bit {bit}");
        }
        assert_eq!(WriterRecord::from_bytes(&[]), None);
        assert_eq!(WriterRecord::from_bytes(&[0; RECORD_LEN]), None);
    }

    #[test]
    fn only_the_published_range_is_protected() {
        let mut writer = WriterRecord {
            state: WriterState::Serving,
            process_id: 1,
            started_unix_ms: 0,
            oldest: 5,
            upto: 9,
        };
        assert!(writer.protects(5, 9) && writer.protects(9, 9));
        assert!(!writer.protects(4, 9) && !writer.protects(5, 10) && !writer.protects(8, 7));
        writer.state = WriterState::Opening;
        assert!(!writer.protects(5, 9));
    }

    #[test]
    fn the_writer_is_named_with_program_process_host_and_time() {
        let writer = WriterRecord {
            state: WriterState::Opening,
            process_id: 42,
            started_unix_ms: 1_709_210_096_000,
            oldest: 0,
            upto: 0,
        };
        let text = writer_text("alpha", "kb watch");
        assert_eq!(
            describe_writer(&writer.to_bytes(), &text),
            "kb watch, process 42 on alpha, since 2024-02-29 12:34:56 UTC"
        );
        let long = writer_text(&"\u{e9}".repeat(200), &"p".repeat(500));
        assert!(describe_writer(&writer.to_bytes(), &long).contains("ppp, process 42 on \u{e9}"));
        assert_eq!(describe_writer(&[0; 64], &[0; 256]), "another program");
        assert_eq!(utc_time(0), "1970-01-01 00:00:00 UTC");
    }
}
