//! The signature block in page 0, which says whose file this is and what a reader must know, and its
//! authoritative copy in the tables.

use std::hash::{BuildHasher, RandomState};
use std::ops::Range;
use std::path::{Path, PathBuf};

use kb_types::error::{Error, Result};
use wincode::{SchemaRead, SchemaWrite};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use crate::container::layout::codec::{
    array_at, decode_record, encode_record, put, u16_at, u32_at, u64_at,
};
use crate::container::layout::page::PAGE_SIZE;

/// Version of the format that this program writes, as (major, minor).
///
/// While major is 0 every minor may break readers; from 1.0 on a newer minor is readable.
// A minor is raised when a reader of the old version would misread the new bytes; additions that
// old readers ignore are feature bits or new columns. docs/versioning.md has the policy,
// format-spec/ the list of changes.
pub const FORMAT_VERSION: (u16, u16) = (0, 13);

/// Oldest version that this program reads. No released program wrote an older one: the sources of such a file have to
/// be indexed again.
pub const OLDEST_READABLE: (u16, u16) = FORMAT_VERSION;

/// Oldest version whose roots, settings and documents have rows that this program can decode, so that an index run can
/// make such a file anew. 0.5 is the oldest of which there were files to try it with.
pub(crate) const OLDEST_REMADE: (u16, u16) = (0, 5);

/// Incompatible feature: segments are columns in page extents.
pub const FEATURE_PAGE_EXTENTS: u64 = 1 << 0;

/// Incompatible feature: chunk text is in text blocks.
pub const FEATURE_TEXT_BLOCKS: u64 = 1 << 1;

/// Incompatible features that this program reads.
// A reader that ignored an unknown bit here would return wrong text, so it refuses the file and
// names the bit.
const KNOWN_INCOMPAT: u64 = FEATURE_PAGE_EXTENTS | FEATURE_TEXT_BLOCKS;

/// Feature for writers: statistics of the keyword index are kept in step with the chunks.
pub const FEATURE_KEYWORD_STATISTICS: u64 = 1 << 0;

/// Features for writers that this program keeps.
// A writer that ignored an unknown bit would leave statistics behind that no longer match the
// chunks. Readers may ignore it.
const KNOWN_RO_COMPAT: u64 = FEATURE_KEYWORD_STATISTICS;

// Layout of the signature block, at 512 of the file.
//
// The magic bytes follow PNG's signature: a byte above 127 shows transfers that strip the eighth
// bit, CR LF and LF show changed line ends, and 0x1A stops `type` on Windows.
pub(crate) const MAGIC: [u8; 8] = [0x89, b'K', b'B', b'F', 0x0D, 0x0A, 0x1A, 0x0A];

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

// At the end, so that fields can be added before it and old readers still find it.
const CHECKSUM_AT: usize = BLOCK_LEN - 8;

const BLOCK_LEN: usize = 512;

/// Where the signature block lies in the file.
// redb uses the first 320 bytes of page 0 and leaves the rest zero. 512 is the next sector, so a
// disk writes the block whole or not at all.
pub(crate) const BLOCK: Range<usize> = 512..512 + BLOCK_LEN;

/// The only underlying format: redb, file format 3.
const REDB_V3: u32 = 3;

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
        let checksum = xxh3_64(block.split_at(CHECKSUM_AT).0);
        put(&mut block, CHECKSUM_AT, &checksum.to_le_bytes());
        block
    }

    /// Reads the block of a file that this program reads; see [`Signature::from_block_since`].
    pub(crate) fn from_block(block: &[u8; BLOCK_LEN]) -> Result<Option<Signature>> {
        Signature::from_block_since(block, OLDEST_READABLE)
    }

    /// Reads the block; `None` when it is all zero, and the copy in the tables decides.
    ///
    /// # Errors
    /// [`Error::Damaged`] when it is something else than a whole block; [`Error::FormatUnsupported`]
    /// when the version is older than `oldest`, or this program cannot read such a file.
    pub(crate) fn from_block_since(
        block: &[u8; BLOCK_LEN],
        oldest: (u16, u16),
    ) -> Result<Option<Signature>> {
        // A tool that does not know the block may lose it. The copy in the tables is complete, and
        // the checksum of its page covers it.
        if block.iter().all(|byte| *byte == 0) {
            return Ok(None);
        }
        let checksum = xxh3_64(block.split_at(CHECKSUM_AT).0);
        if array_at::<8>(block, 0)? != MAGIC
            || u64_at(block, CHECKSUM_AT)? != checksum
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
        signature.check_readable(oldest).map(|()| Some(signature))
    }

    /// Whether this is the signature `row`, perhaps with features that the row has yet to get.
    pub(crate) fn announces(&self, row: &Signature) -> bool {
        let with_row = Signature {
            compat: self.compat | row.compat,
            ro_compat: self.ro_compat | row.ro_compat,
            incompat: self.incompat | row.incompat,
            // A writer that enables a feature writes the block before the row, so the block may
            // have more bits, never other values.
            ..*row
        };
        *self == with_row
    }

    /// Whether the bytes of the block begin as one of ours.
    pub(crate) fn looks_like_block(block: &[u8]) -> bool {
        block.starts_with(&MAGIC)
    }

    /// The authoritative copy, under [`HEADER_KEY`].
    pub(crate) fn to_record(self) -> Result<Vec<u8>> {
        encode_record(HEADER_RECORD_VERSION, &self)
    }

    /// Reads the authoritative copy of a file that this program reads.
    pub(crate) fn from_record(bytes: &[u8]) -> Result<Signature> {
        Signature::from_record_since(bytes, OLDEST_READABLE)
    }

    /// Reads the authoritative copy.
    ///
    /// # Errors
    /// As [`Signature::from_block_since`].
    pub(crate) fn from_record_since(bytes: &[u8], oldest: (u16, u16)) -> Result<Signature> {
        let signature: Signature = decode_record("the header", HEADER_RECORD_VERSION, bytes)?;
        signature.check_readable(oldest).map(|()| signature)
    }

    /// Whether only an index run can make use of the file, because it has an older format.
    pub(crate) fn is_older(&self) -> bool {
        (self.major, self.minor) < OLDEST_READABLE
    }

    /// Whether `bytes` are the authoritative copy of some .kb, perhaps of one that this program cannot
    /// read. Another program may have a table and a key of these names.
    pub(crate) fn is_record(bytes: &[u8]) -> bool {
        let signature: Result<Signature> =
            decode_record("the header", HEADER_RECORD_VERSION, bytes);
        signature.is_ok_and(|signature| {
            (signature.underlying, signature.page_size) == (REDB_V3, PAGE_SIZE)
        })
    }

    fn check_readable(&self, oldest: (u16, u16)) -> Result<()> {
        let version = (self.major, self.minor);
        let newest = match FORMAT_VERSION {
            // While major is 0 there is no promise between minors.
            (0, minor) => (0, minor),
            (major, _) => (major, u16::MAX),
        };
        if version < oldest || version > newest {
            return Err(unsupported(
                format!("format version {}.{}", self.major, self.minor),
                format!("{}.{}", FORMAT_VERSION.0, FORMAT_VERSION.1),
            ));
        }
        // The version comes first: the meaning of the bits depends on it.
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

/// A random name for a file (UUID version 4). The hasher's keys come from the system's randomness;
/// process, time and path keep forked processes apart, which share those keys.
pub(crate) fn new_uuid(path: &Path, unix_ms: u64) -> [u8; 16] {
    let random = RandomState::new();
    let parts = [
        // The standard library has no other access to the system's randomness, and a dependency for
        // 16 bytes would cost more.
        random.hash_one(1u8),
        random.hash_one(2u8),
        u64::from(std::process::id()),
        unix_ms,
        random.hash_one(PathBuf::from(path)),
    ];
    let bytes: Vec<u8> = parts.iter().flat_map(|part| part.to_le_bytes()).collect();
    let mut uuid = xxh3_128(&bytes);
    // Version 4 in bits 76..80 and variant 2 in bits 62..64, as RFC 9562 places them.
    uuid = uuid & !(0xF << 76) | 4 << 76;
    uuid = uuid & !(0x3 << 62) | 2 << 62;
    uuid.to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signature() -> Signature {
        Signature::new([7; 16], 1_700_000_000_000)
    }

    /// The block with `bytes` at `offset` and the checksum made right again.
    fn patched(offset: usize, bytes: &[u8]) -> [u8; BLOCK_LEN] {
        let mut block = signature().to_block();
        put(&mut block, offset, bytes);
        let checksum = xxh3_64(&block[..CHECKSUM_AT]);
        put(&mut block, CHECKSUM_AT, &checksum.to_le_bytes());
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
        let minor = FORMAT_VERSION.1;
        let other_major = format!("format version 9.{minor}");
        let next_minor = format!("format version 0.{}", minor + 1);
        let lies: [(usize, &[u8], &str); 8] = [
            (MAJOR_AT, &[9, 0], &other_major),
            (MINOR_AT, &(minor + 1).to_le_bytes(), &next_minor),
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
    fn the_uuid_is_of_version_4_and_differs_between_files() {
        let path = Path::new("notes.kb");
        let (a, b) = (new_uuid(path, 1), new_uuid(path, 1));
        assert!(a != b);
        assert_eq!((a[6] >> 4, a[8] >> 6), (4, 2));
    }
}
