//! The holder record and text in page 0: who writes the file, and what the writer protects.

use crate::container::codec::{u32_at, u64_at};
use crate::container::disk::{read_at, write_at};
use crate::container::redb_file::Opener;
use crate::container::signature::put;
use crate::error::Error;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::time::Duration;
use xxhash_rust::xxh3::xxh3_64;

// Layout of the holder record, at 1024 of the file.
const HOLDER_MAGIC: [u8; 8] = *b"KBHOLDR1";
const STATE_AT: usize = HOLDER_MAGIC.len();
const PROCESS_AT: usize = STATE_AT + 4;
const STARTED_AT: usize = PROCESS_AT + 4;
const OLDEST_AT: usize = STARTED_AT + 8;
const UPTO_AT: usize = OLDEST_AT + 8;
const HOLDER_SUM_AT: usize = HOLDER_LEN - 8;
const HOLDER_LEN: usize = 64;
const HOLDER_TEXT_LEN: usize = 256;

/// Looks at the record of a locked file until it names somebody.
const LOOKS_FOR_HOLDER: usize = 4;
/// Between two of them.
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

/// Where the holder record lies in the file.
pub(crate) const HOLDER: Range<usize> = 1024..1024 + HOLDER_LEN;
/// Zeros over the record and the text, which stands right behind it.
pub(crate) const NO_HOLDER: [u8; HOLDER_LEN + HOLDER_TEXT_LEN] = [0; HOLDER_LEN + HOLDER_TEXT_LEN];

/// How far a writer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HolderState {
    /// Opening or closing: nothing is protected.
    Opening = 1,
    /// The transactions `oldest..=upto` are protected.
    Serving = 2,
}

/// The writer's word on what it protects. Who may write is decided by the lock, not by this.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Holder {
    /// How far the writer is.
    pub(crate) state: HolderState,
    /// Its process.
    pub(crate) process_id: u32,
    /// When it opened the file, in milliseconds since 1970-01-01 UTC.
    pub(crate) started_unix_ms: u64,
    /// Oldest transaction whose pages are not reused.
    pub(crate) oldest: u64,
    /// Newest transaction that the writer has begun to commit.
    pub(crate) upto: u64,
}

impl Holder {
    /// The record as it stands in the file.
    pub(crate) fn to_bytes(self) -> [u8; HOLDER_LEN] {
        let mut record = [0; HOLDER_LEN];
        put(&mut record, 0, &HOLDER_MAGIC);
        put(&mut record, STATE_AT, &(self.state as u32).to_le_bytes());
        put(&mut record, PROCESS_AT, &self.process_id.to_le_bytes());
        put(&mut record, STARTED_AT, &self.started_unix_ms.to_le_bytes());
        put(&mut record, OLDEST_AT, &self.oldest.to_le_bytes());
        put(&mut record, UPTO_AT, &self.upto.to_le_bytes());
        let sum = xxh3_64(record.split_at(HOLDER_SUM_AT).0);
        put(&mut record, HOLDER_SUM_AT, &sum.to_le_bytes());
        record
    }

    /// Reads the record; `None` when there is none or it is torn: then nothing is protected.
    pub(crate) fn from_bytes(record: &[u8]) -> Option<Holder> {
        let whole = record.starts_with(&HOLDER_MAGIC)
            && xxh3_64(record.get(..HOLDER_SUM_AT)?) == u64_at(record, HOLDER_SUM_AT).ok()?;
        let state = match u32_at(record, STATE_AT).ok()? {
            1 => HolderState::Opening,
            2 => HolderState::Serving,
            _ => return None,
        };
        whole.then_some(Holder {
            state,
            process_id: u32_at(record, PROCESS_AT).ok()?,
            started_unix_ms: u64_at(record, STARTED_AT).ok()?,
            oldest: u64_at(record, OLDEST_AT).ok()?,
            upto: u64_at(record, UPTO_AT).ok()?,
        })
    }

    /// Whether transaction `then` is protected while `now` is the newest.
    pub(crate) fn protects(&self, then: u64, now: u64) -> bool {
        self.state == HolderState::Serving && self.oldest <= then && then <= now && now <= self.upto
    }
}

/// Host and program of the writer, cut to what fits, for messages.
fn holder_text(host: &str, program: &str) -> [u8; HOLDER_TEXT_LEN] {
    let mut text = [0; HOLDER_TEXT_LEN];
    let mut offset = 0;
    for (word, limit) in [(host, 64), (program, HOLDER_TEXT_LEN - 66)] {
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

/// Names the holder of the writer lock for people, from the record and the text behind it.
fn describe_holder(record: &[u8], text: &[u8]) -> String {
    let word = |text: &[u8]| {
        let (len, rest) = text.split_first()?;
        let (word, rest) = rest.split_at_checked(usize::from(*len))?;
        let word = String::from_utf8_lossy(word).into_owned();
        Some((word.replace(char::is_control, "?"), rest.to_vec()))
    };
    let (host, rest) = word(text).unwrap_or_default();
    let (program, _) = word(&rest).unwrap_or_default();
    let Some(holder) = Holder::from_bytes(record) else {
        return "another program".to_owned();
    };
    let program = if program.is_empty() {
        "a program"
    } else {
        &program
    };
    let host = if host.is_empty() {
        String::new()
    } else {
        format!(" on {host}")
    };
    format!(
        "{program}, process {}{host}, since {}",
        holder.process_id,
        utc_time(holder.started_unix_ms)
    )
}

/// `YYYY-MM-DD HH:MM:SS UTC`.
fn utc_time(unix_ms: u64) -> String {
    let seconds = unix_ms / 1000;
    let (days, of_day) = (seconds / 86_400, seconds % 86_400);
    // Years that begin in March have their leap day last; 400 of them have 146 097 days.
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 {
        march_month + 3
    } else {
        march_month - 9
    };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!(
        "{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02} UTC",
        of_day / 3600,
        of_day / 60 % 60,
        of_day % 60
    )
}

/// Publishes in one write that `program` is opening the file, and returns the record.
pub(crate) fn publish_opening(file: &File, opener: &Opener) -> io::Result<Holder> {
    let holder = Holder {
        state: HolderState::Opening,
        process_id: std::process::id(),
        started_unix_ms: opener.unix_ms,
        oldest: 0,
        upto: 0,
    };
    let mut bytes = holder.to_bytes().to_vec();
    bytes.extend(holder_text(&host_name(), &opener.program));
    write_at(file, &bytes, HOLDER.start as u64)?;
    Ok(holder)
}

/// Removes record and text.
pub(crate) fn publish_nobody(file: &File) -> io::Result<()> {
    write_at(file, &NO_HOLDER, HOLDER.start as u64)
}

/// The error that names who has locked `file`. Who has just locked it may be about to say so: looked
/// at again for a moment.
pub(crate) fn locked_by_holder(file: &File) -> Error {
    let mut bytes = NO_HOLDER;
    for look in 0..LOOKS_FOR_HOLDER {
        if look > 0 {
            std::thread::sleep(BETWEEN_LOOKS);
        }
        // A file that is too short for a record names nobody.
        let read = read_at(file, &mut bytes, HOLDER.start as u64);
        if read.is_ok() && Holder::from_bytes(bytes.split_at(HOLDER_LEN).0).is_some() {
            break;
        }
    }
    let (record, text) = bytes.split_at(HOLDER_LEN);
    Error::IndexLocked {
        holder: describe_holder(record, text),
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
    fn a_torn_holder_record_protects_nothing() {
        let holder = Holder {
            state: HolderState::Serving,
            process_id: 42,
            started_unix_ms: 1_795_256_553_000,
            oldest: 5,
            upto: 9,
        };
        let bytes = holder.to_bytes();
        assert_eq!(Holder::from_bytes(&bytes), Some(holder));
        for bit in 0..HOLDER_LEN * 8 {
            let mut torn = bytes;
            torn[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Holder::from_bytes(&torn), None, "bit {bit}");
        }
        assert_eq!(Holder::from_bytes(&[]), None);
        assert_eq!(Holder::from_bytes(&[0; HOLDER_LEN]), None);
    }

    #[test]
    fn only_the_published_range_is_protected() {
        let mut holder = Holder {
            state: HolderState::Serving,
            process_id: 1,
            started_unix_ms: 0,
            oldest: 5,
            upto: 9,
        };
        assert!(holder.protects(5, 9) && holder.protects(9, 9));
        assert!(!holder.protects(4, 9) && !holder.protects(5, 10) && !holder.protects(8, 7));
        holder.state = HolderState::Opening;
        assert!(!holder.protects(5, 9));
    }

    #[test]
    fn the_holder_is_named_with_program_process_host_and_time() {
        let holder = Holder {
            state: HolderState::Opening,
            process_id: 42,
            started_unix_ms: 1_709_210_096_000,
            oldest: 0,
            upto: 0,
        };
        let text = holder_text("alpha", "kb watch");
        assert_eq!(
            describe_holder(&holder.to_bytes(), &text),
            "kb watch, process 42 on alpha, since 2024-02-29 12:34:56 UTC"
        );
        let long = holder_text(&"\u{e9}".repeat(200), &"p".repeat(500));
        assert!(describe_holder(&holder.to_bytes(), &long).contains("ppp, process 42 on \u{e9}"));
        assert_eq!(describe_holder(&[0; 64], &[0; 256]), "another program");
        assert_eq!(utc_time(0), "1970-01-01 00:00:00 UTC");
    }
}
