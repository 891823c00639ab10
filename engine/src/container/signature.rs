//! Page 0 outside of redb's header: the signature block, which says whose file this is and what a
//! reader must know, and the holder record, in which the writer publishes what it protects.

use crate::container::codec::{array_at, decode_record, encode_record, u16_at, u32_at, u64_at};
use crate::error::{Error, Result};
use std::ops::Range;
use wincode::{SchemaRead, SchemaWrite};
use xxhash_rust::xxh3::xxh3_64;

/// Version of the format that this program writes, as (major, minor).
///
/// While major is 0 every minor may break readers; from 1.0 on a newer minor is readable.
pub const FORMAT_VERSION: (u16, u16) = (0, 1);

/// Oldest version that this program reads.
pub const OLDEST_READABLE: (u16, u16) = (0, 1);

/// Incompatible feature: segments are columns in page extents.
pub const FEATURE_PAGE_EXTENTS: u64 = 1 << 0;

/// Incompatible feature: chunk text is in text blocks.
pub const FEATURE_TEXT_BLOCKS: u64 = 1 << 1;

/// Incompatible features that this program reads.
const KNOWN_INCOMPAT: u64 = FEATURE_PAGE_EXTENTS | FEATURE_TEXT_BLOCKS;

/// Feature for writers: statistics of the keyword index are kept in step with the chunks.
pub const FEATURE_KEYWORD_STATISTICS: u64 = 1 << 0;

/// Features for writers that this program keeps.
const KNOWN_RO_COMPAT: u64 = FEATURE_KEYWORD_STATISTICS;

// Layout of the signature block, at 512 of the file.
const MAGIC: [u8; 8] = [0x89, b'K', b'B', b'F', 0x0D, 0x0A, 0x1A, 0x0A];
const MAJOR_AT: usize = MAGIC.len();
const MINOR_AT: usize = MAJOR_AT + 2;
const BLOCK_LEN_AT: usize = MINOR_AT + 2;
const COMPAT_AT: usize = BLOCK_LEN_AT + 4;
const RO_COMPAT_AT: usize = COMPAT_AT + 8;
const INCOMPAT_AT: usize = RO_COMPAT_AT + 8;
const UUID_AT: usize = INCOMPAT_AT + 8;
const UNDERLYING_AT: usize = UUID_AT + 16;
const PAGE_SIZE_AT: usize = UNDERLYING_AT + 4;
const CREATED_AT: usize = PAGE_SIZE_AT + 4;
const RECORD_CODEC_AT: usize = CREATED_AT + 8;
const TEXT_CODEC_AT: usize = RECORD_CODEC_AT + 2;
const SUM_AT: usize = BLOCK_LEN - 8;
const BLOCK_LEN: usize = 512;

/// Where the signature block lies in the file.
pub(crate) const BLOCK: Range<usize> = 512..512 + BLOCK_LEN;

/// The only underlying format: redb, file format 3.
const REDB_V3: u32 = 3;
/// The only page size.
pub(crate) const PAGE_SIZE: u32 = 4096;
/// The only record codec: bincode 2 standard wire format.
const RECORDS_BINCODE: u16 = 1;
/// The only text codec: blocks of one zstd frame.
const TEXT_ZSTD_BLOCKS: u16 = 1;

/// Table and key of the authoritative copy of the signature.
pub(crate) const HEADER_TABLE: &str = "kb";
/// See [`HEADER_TABLE`].
pub(crate) const HEADER_KEY: &str = "header";
/// Version of the record under [`HEADER_KEY`].
const HEADER_RECORD_VERSION: u8 = 1;

/// What a .kb says of itself before anything else is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, SchemaRead, SchemaWrite)]
pub struct Signature {
    /// Major version of the format.
    pub major: u16,
    /// Minor version of the format.
    pub minor: u16,
    /// Features that a reader and a writer may ignore, as bits.
    pub compat: u64,
    /// Features that only a writer must know, as bits.
    pub ro_compat: u64,
    /// Features that a reader must know, as bits.
    pub incompat: u64,
    /// Random name of the file, kept by every later commit.
    pub uuid: [u8; 16],
    /// When the file was created, in milliseconds since 1970-01-01 UTC.
    pub created_unix_ms: u64,
    /// Format of the pages: 3 = redb file format 3.
    underlying: u32,
    /// Smallest page in bytes.
    page_size: u32,
    /// Encoding of records: 1.
    record_codec: u16,
    /// Encoding of chunk text: 1.
    text_codec: u16,
}

impl Signature {
    /// The signature of a new file.
    pub(crate) fn new(uuid: [u8; 16], created_unix_ms: u64) -> Signature {
        Signature {
            major: FORMAT_VERSION.0,
            minor: FORMAT_VERSION.1,
            compat: 0,
            ro_compat: KNOWN_RO_COMPAT,
            incompat: KNOWN_INCOMPAT,
            uuid,
            created_unix_ms,
            underlying: REDB_V3,
            page_size: PAGE_SIZE,
            record_codec: RECORDS_BINCODE,
            text_codec: TEXT_ZSTD_BLOCKS,
        }
    }

    /// The block as it stands in the file.
    pub(crate) fn to_block(self) -> [u8; BLOCK_LEN] {
        let fields: [(usize, &[u8]); 12] = [
            (0, &MAGIC),
            (MAJOR_AT, &self.major.to_le_bytes()),
            (MINOR_AT, &self.minor.to_le_bytes()),
            (BLOCK_LEN_AT, &(BLOCK_LEN as u32).to_le_bytes()),
            (COMPAT_AT, &self.compat.to_le_bytes()),
            (RO_COMPAT_AT, &self.ro_compat.to_le_bytes()),
            (INCOMPAT_AT, &self.incompat.to_le_bytes()),
            (UUID_AT, &self.uuid),
            (UNDERLYING_AT, &self.underlying.to_le_bytes()),
            (PAGE_SIZE_AT, &self.page_size.to_le_bytes()),
            (CREATED_AT, &self.created_unix_ms.to_le_bytes()),
            (RECORD_CODEC_AT, &self.record_codec.to_le_bytes()),
        ];
        let mut block = [0; BLOCK_LEN];
        for (offset, bytes) in fields {
            put(&mut block, offset, bytes);
        }
        put(&mut block, TEXT_CODEC_AT, &self.text_codec.to_le_bytes());
        let sum = xxh3_64(block.split_at(SUM_AT).0);
        put(&mut block, SUM_AT, &sum.to_le_bytes());
        block
    }

    /// Reads the block; `None` when it is all zero, and the copy in the tables decides.
    ///
    /// # Errors
    /// [`Error::Damaged`] when it is something else than a whole block; [`Error::FormatUnsupported`]
    /// when this program cannot read such a file.
    pub(crate) fn from_block(block: &[u8; BLOCK_LEN]) -> Result<Option<Signature>> {
        if block.iter().all(|byte| *byte == 0) {
            return Ok(None);
        }
        let sum = xxh3_64(block.split_at(SUM_AT).0);
        if array_at::<8>(block, 0)? != MAGIC
            || u64_at(block, SUM_AT)? != sum
            || u32_at(block, BLOCK_LEN_AT)? as usize != BLOCK_LEN
        {
            return Err(Error::damaged("the signature block at byte 512"));
        }
        let signature = Signature {
            major: u16_at(block, MAJOR_AT)?,
            minor: u16_at(block, MINOR_AT)?,
            compat: u64_at(block, COMPAT_AT)?,
            ro_compat: u64_at(block, RO_COMPAT_AT)?,
            incompat: u64_at(block, INCOMPAT_AT)?,
            uuid: array_at(block, UUID_AT)?,
            created_unix_ms: u64_at(block, CREATED_AT)?,
            underlying: u32_at(block, UNDERLYING_AT)?,
            page_size: u32_at(block, PAGE_SIZE_AT)?,
            record_codec: u16_at(block, RECORD_CODEC_AT)?,
            text_codec: u16_at(block, TEXT_CODEC_AT)?,
        };
        signature.check_readable().map(|()| Some(signature))
    }

    /// Whether the bytes of the block begin as one of ours.
    pub(crate) fn looks_like_block(block: &[u8]) -> bool {
        block.starts_with(&MAGIC)
    }

    /// The authoritative copy, under [`HEADER_KEY`].
    pub(crate) fn to_record(self) -> Result<Vec<u8>> {
        encode_record(HEADER_RECORD_VERSION, &self)
    }

    /// Reads the authoritative copy.
    pub(crate) fn from_record(bytes: &[u8]) -> Result<Signature> {
        let signature: Signature = decode_record("the header", HEADER_RECORD_VERSION, bytes)?;
        signature.check_readable().map(|()| signature)
    }

    fn check_readable(&self) -> Result<()> {
        let version = (self.major, self.minor);
        let newest = match FORMAT_VERSION {
            (0, minor) => (0, minor),
            (major, _) => (major, u16::MAX),
        };
        if version < OLDEST_READABLE || version > newest {
            return Err(unsupported(
                format!("format version {}.{}", self.major, self.minor),
                format!(
                    "{}.{} to {}.{}",
                    OLDEST_READABLE.0, OLDEST_READABLE.1, FORMAT_VERSION.0, FORMAT_VERSION.1
                ),
            ));
        }
        refuse_unknown_bits("feature", self.incompat, KNOWN_INCOMPAT)?;
        let numbers = [
            ("underlying format", self.underlying, REDB_V3),
            ("page size", self.page_size, PAGE_SIZE),
            (
                "record codec",
                u32::from(self.record_codec),
                u32::from(RECORDS_BINCODE),
            ),
            (
                "text codec",
                u32::from(self.text_codec),
                u32::from(TEXT_ZSTD_BLOCKS),
            ),
        ];
        for (name, found, known) in numbers {
            if found != known {
                return Err(unsupported(
                    format!("{name} {found}"),
                    format!("{name} {known}"),
                ));
            }
        }
        Ok(())
    }

    /// Whether this program may write the file.
    ///
    /// # Errors
    /// [`Error::FormatUnsupported`] naming the feature bit that only readers may ignore.
    pub(crate) fn check_writable(&self) -> Result<()> {
        refuse_unknown_bits("writer feature", self.ro_compat, KNOWN_RO_COMPAT)
    }
}

fn refuse_unknown_bits(name: &str, bits: u64, known: u64) -> Result<()> {
    match bits & !known {
        0 => Ok(()),
        unknown => Err(unsupported(
            format!("{name} bit {}", unknown.trailing_zeros()),
            format!("{name} bits {known:#x}"),
        )),
    }
}

fn unsupported(needs: String, reads: String) -> Error {
    Error::FormatUnsupported { needs, reads }
}

/// Copies `bytes` to `offset`; the offsets of this file lie inside by construction.
fn put(block: &mut [u8], offset: usize, bytes: &[u8]) {
    if let Some(target) = block.get_mut(offset..offset + bytes.len()) {
        target.copy_from_slice(bytes);
    }
}

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

/// Where the holder record lies in the file.
pub(crate) const HOLDER: Range<usize> = 1024..1024 + HOLDER_LEN;
/// Where the holder text lies in the file.
pub(crate) const HOLDER_TEXT: Range<usize> = HOLDER.end..HOLDER.end + HOLDER_TEXT_LEN;
/// Zeros over both.
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
pub(crate) fn holder_text(host: &str, program: &str) -> [u8; HOLDER_TEXT_LEN] {
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
pub(crate) fn describe_holder(record: &[u8], text: &[u8]) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn signature() -> Signature {
        Signature::new([7; 16], 1_700_000_000_000)
    }

    /// The block with `bytes` at `offset` and the sum made right again.
    fn patched(offset: usize, bytes: &[u8]) -> [u8; BLOCK_LEN] {
        let mut block = signature().to_block();
        put(&mut block, offset, bytes);
        let sum = xxh3_64(&block[..SUM_AT]);
        put(&mut block, SUM_AT, &sum.to_le_bytes());
        block
    }

    #[test]
    fn block_and_record_read_back_as_written() {
        let block = signature().to_block();
        assert_eq!(Signature::from_block(&block).unwrap(), Some(signature()));
        let record = signature().to_record().unwrap();
        assert_eq!(Signature::from_record(&record).unwrap(), signature());
    }

    #[test]
    fn the_fields_stand_where_the_registry_says() {
        assert_eq!(
            [
                MAJOR_AT,
                COMPAT_AT,
                INCOMPAT_AT,
                UUID_AT,
                UNDERLYING_AT,
                CREATED_AT,
                TEXT_CODEC_AT
            ],
            [8, 16, 32, 40, 56, 64, 74]
        );
        assert_eq!(
            [STATE_AT, PROCESS_AT, STARTED_AT, OLDEST_AT, UPTO_AT],
            [8, 12, 16, 24, 32]
        );
    }

    #[test]
    fn a_zero_block_leaves_the_decision_to_the_tables() {
        assert_eq!(Signature::from_block(&[0; BLOCK_LEN]).unwrap(), None);
    }

    #[test]
    fn every_flipped_bit_of_the_block_is_damage() {
        let good = signature().to_block();
        for bit in 0..BLOCK_LEN * 8 {
            let mut block = good;
            block[bit / 8] ^= 1 << (bit % 8);
            let read = Signature::from_block(&block);
            assert!(matches!(read, Err(Error::Damaged { .. })), "bit {bit}");
        }
    }

    #[test]
    fn what_a_reader_must_know_is_refused_by_name() {
        let lies: [(usize, &[u8], &str); 8] = [
            (MAJOR_AT, &[9, 0], "format version 9.1"),
            (MINOR_AT, &[2, 0], "format version 0.2"),
            (MINOR_AT, &[0, 0], "format version 0.0"),
            (INCOMPAT_AT, &[3 | 1 << 5], "feature bit 5"),
            (INCOMPAT_AT + 7, &[0x80], "feature bit 63"),
            (UNDERLYING_AT, &[4], "underlying format 4"),
            (PAGE_SIZE_AT, &[0, 0x20], "page size 8192"),
            (TEXT_CODEC_AT, &[2], "text codec 2"),
        ];
        for (offset, bytes, expected) in lies {
            let error = Signature::from_block(&patched(offset, bytes)).unwrap_err();
            assert!(
                matches!(&error, Error::FormatUnsupported { needs, .. } if needs == expected),
                "{error}"
            );
        }
    }

    #[test]
    fn features_for_writers_stop_writers_only() {
        let block = patched(RO_COMPAT_AT + 1, &[1]);
        let signature = Signature::from_block(&block).unwrap().unwrap();
        let error = signature.check_writable().unwrap_err();
        assert!(
            error.to_string().contains("writer feature bit 8"),
            "{error}"
        );
        let block = patched(COMPAT_AT, &[0xff; 8]);
        assert!(
            Signature::from_block(&block)
                .unwrap()
                .unwrap()
                .check_writable()
                .is_ok()
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
