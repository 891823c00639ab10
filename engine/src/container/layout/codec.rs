//! Reads and writes numbers and records: the only place where bytes become numbers.
//!
//! Records have the wire format of bincode 2 "standard": little-endian, integers as varints, strings
//! and sequences behind their length. The byte before a record is its version; within a version
//! fields are only appended, and a reader ignores bytes after the fields that it knows. Bulk columns
//! are arrays of little-endian numbers of fixed width.

use kb_types::error::{Error, Result};
use roaring::RoaringBitmap;
use wincode::config::Configuration;
use wincode::int_encoding::{LittleEndian, VarInt};
use wincode::len::BincodeLen;
use wincode::{ReadError, SchemaRead, SchemaWrite, WriteError};

/// Longest sequence of a record, in bytes of memory.
// A length is read before the items behind it. Without a bound a lying length of a few bytes would
// allocate any amount. 16 MiB is also the largest value of a table (MAX_VALUE_BYTES), so no honest
// record needs more.
pub const MAX_SEQUENCE_BYTES: usize = 16 << 20;

/// Settings of the wire format; types with `derive(SchemaRead, SchemaWrite)` suit it.
// The parameters are wincode's, in its order: check alignment of borrowed slices, limit of
// preallocation, u64 varint lengths, byte order, varint integers, and u32 tags of enums. The last
// three are those of bincode 2 "standard".
pub(crate) type RecordConfig =
    Configuration<true, MAX_SEQUENCE_BYTES, BincodeLen, LittleEndian, VarInt, u32>;

/// The only value of [`RecordConfig`].
const RECORD_CONFIG: RecordConfig = Configuration::default()
    .with_varint_encoding()
    // wincode takes the limit as a type parameter and as a setting. Both must agree.
    .with_preallocation_size_limit::<MAX_SEQUENCE_BYTES>();

/// Writes `record` behind its version.
///
/// # Errors
/// [`Error::TooLarge`] when a sequence needs more than [`MAX_SEQUENCE_BYTES`].
pub fn encode_record<T>(version: u8, record: &T) -> Result<Vec<u8>>
where
    T: SchemaWrite<RecordConfig, Src = T> + ?Sized,
{
    // The size is computed first, so that the vector is allocated once: records of large documents
    // have megabytes.
    let size = wincode::config::serialized_size(record, RECORD_CONFIG).map_err(write_error)?;
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0).saturating_add(1));
    bytes.push(version);
    wincode::config::serialize_into(&mut bytes, record, RECORD_CONFIG).map_err(write_error)?;
    Ok(bytes)
}

/// Appends fields to a written record, which readers that do not know them ignore.
///
/// # Errors
/// As [`encode_record`].
#[cfg(feature = "ingest")]
pub(crate) fn append_fields<T>(bytes: &mut Vec<u8>, fields: &T) -> Result<()>
where
    T: SchemaWrite<RecordConfig, Src = T> + ?Sized,
{
    wincode::config::serialize_into(&mut *bytes, fields, RECORD_CONFIG).map_err(write_error)
}

fn write_error(error: WriteError) -> Error {
    let (size, limit) = match error {
        WriteError::PreallocationSizeLimit { needed, limit } => (needed, limit),
        // Types with derived schemas give no other error. Should one come, it is reported and does
        // not panic.
        _ => (usize::MAX, MAX_SEQUENCE_BYTES),
    };
    Error::TooLarge {
        what: "a list inside a record".to_owned(),
        size: size as u64,
        limit: limit as u64,
    }
}

/// Reads a record of `version`; `what` names it in errors. Bytes after the known fields are ignored.
///
/// # Errors
/// [`Error::FormatUnsupported`] for another version; [`Error::Damaged`] when the bytes end early or
/// are no such record.
pub fn decode_record<'a, T>(what: &'static str, version: u8, bytes: &'a [u8]) -> Result<T>
where
    T: SchemaRead<'a, RecordConfig, Dst = T>,
{
    wincode::config::deserialize(fields_of(what, version, bytes)?, RECORD_CONFIG)
        .map_err(|error| read_error(what, &error))
}

/// As [`decode_record`], with the fields that were appended to it; without them, their default.
///
/// # Errors
/// As [`decode_record`].
pub(crate) fn decode_appended<'a, T, A>(
    what: &'static str,
    version: u8,
    bytes: &'a [u8],
) -> Result<(T, A)>
where
    T: SchemaRead<'a, RecordConfig, Dst = T>,
    A: SchemaRead<'a, RecordConfig, Dst = A> + Default,
{
    let mut rest = fields_of(what, version, bytes)?;
    let record = T::get(&mut rest).map_err(|error| read_error(what, &error))?;
    let appended = match rest {
        [] => A::default(),
        mut rest => A::get(&mut rest).map_err(|error| read_error(what, &error))?,
    };
    Ok((record, appended))
}

fn read_error(what: &'static str, error: &ReadError) -> Error {
    Error::damaged(format!("record of {what}: {error}"))
}

/// The bytes behind the version.
fn fields_of<'a>(what: &'static str, version: u8, bytes: &'a [u8]) -> Result<&'a [u8]> {
    let (found, fields) = bytes
        .split_first()
        .ok_or_else(|| Error::damaged(format!("record of {what} is empty")))?;
    // An unknown version is not damage: a newer program wrote the record, and the message says so.
    if *found != version {
        return Err(Error::FormatUnsupported {
            needs: format!("version {found} of the record of {what}"),
            reads: format!("version {version}"),
        });
    }
    Ok(fields)
}

/// `N` bytes at `offset`.
///
/// # Errors
/// [`Error::Damaged`] when the bytes end before.
pub(crate) fn array_at<const N: usize>(bytes: &[u8], offset: usize) -> Result<[u8; N]> {
    bytes
        .get(offset..)
        // `get(offset..)` fails beyond the end, and `first_chunk` when fewer than `N` bytes follow.
        // No sum of offset and length is computed that could overflow.
        .and_then(|rest| rest.first_chunk())
        .copied()
        .ok_or_else(|| {
            Error::damaged(format!(
                "{N} bytes expected at {offset} of {} bytes",
                bytes.len()
            ))
        })
}

/// The byte at `offset`.
///
/// # Errors
/// [`Error::Damaged`] when the bytes end before.
pub(crate) fn u8_at(bytes: &[u8], offset: usize) -> Result<u8> {
    array_at(bytes, offset).map(u8::from_le_bytes)
}

/// The little-endian u16 at `offset`.
///
/// # Errors
/// [`Error::Damaged`] when the bytes end before.
pub(crate) fn u16_at(bytes: &[u8], offset: usize) -> Result<u16> {
    array_at(bytes, offset).map(u16::from_le_bytes)
}

/// The little-endian u32 at `offset`.
///
/// # Errors
/// [`Error::Damaged`] when the bytes end before.
pub(crate) fn u32_at(bytes: &[u8], offset: usize) -> Result<u32> {
    array_at(bytes, offset).map(u32::from_le_bytes)
}

/// The little-endian u64 at `offset`.
///
/// # Errors
/// [`Error::Damaged`] when the bytes end before.
pub(crate) fn u64_at(bytes: &[u8], offset: usize) -> Result<u64> {
    array_at(bytes, offset).map(u64::from_le_bytes)
}

/// The little-endian u128 at `offset`.
///
/// # Errors
/// [`Error::Damaged`] when the bytes end before.
pub(crate) fn u128_at(bytes: &[u8], offset: usize) -> Result<u128> {
    array_at(bytes, offset).map(u128::from_le_bytes)
}

/// Copies `bytes` to `offset` of a fixed layout; does nothing when they would not fit.
pub(crate) fn put(block: &mut [u8], offset: usize, bytes: &[u8]) {
    if let Some(target) = block.get_mut(offset..offset + bytes.len()) {
        target.copy_from_slice(bytes);
    }
}

/// Decodes a stored bitmap of rows: a roaring bitmap in the portable format. `what` names it in
/// errors.
///
/// # Errors
/// [`Error::Damaged`] when the bytes do not decode.
pub(crate) fn decode_rows(what: &str, bytes: &[u8]) -> Result<RoaringBitmap> {
    RoaringBitmap::deserialize_from(bytes)
        .map_err(|error| Error::damaged(format!("{what}: {error}")))
}

/// Decodes a stored bitmap of rows of a segment that has `rows` rows.
///
/// # Errors
/// [`Error::Damaged`] when the bytes do not decode or name rows beyond the segment: some hundred KB
/// of runs over all 2^32 rows would take 512 MB once they are joined with other rows.
pub(crate) fn decode_rows_below(what: &str, bytes: &[u8], rows: u32) -> Result<RoaringBitmap> {
    let bitmap = decode_rows(what, bytes)?;
    match bitmap.max() {
        // The largest row is enough: rows of a bitmap are sorted and never negative.
        Some(last) if last >= rows => Err(Error::damaged(format!(
            "{what} names row {last}, the segment has {rows}"
        ))),
        _ => Ok(bitmap),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Clone, PartialEq, SchemaRead, SchemaWrite)]
    enum Kind {
        Plain,
        Named(String),
        Sized { width: u16, height: i32 },
    }

    #[derive(Debug, Clone, PartialEq, SchemaRead, SchemaWrite)]
    struct Representative {
        tiny: u8,
        flag: bool,
        small: u16,
        medium: u32,
        large: u64,
        negative: i64,
        score: f32,
        name: String,
        uuid: [u8; 16],
        list: Vec<u32>,
        pairs: Vec<(String, String)>,
        maybe: Option<u64>,
        none: Option<String>,
        kind: Kind,
    }

    fn representative(large: u64) -> Representative {
        Representative {
            tiny: large as u8,
            flag: large % 2 == 1,
            small: large as u16,
            medium: large as u32,
            large,
            negative: -(large as i64 / 2),
            score: large as f32 / 3.0,
            name: "Gr\u{f6}\u{df}e ".repeat(large as usize % 60),
            uuid: std::array::from_fn(|i| i as u8 * 17),
            list: (0..(large % 300) as u32).map(|i| i.pow(3)).collect(),
            pairs: vec![("author".to_owned(), "A. Uthor".to_owned()); large as usize % 3],
            maybe: Some(large),
            none: None,
            kind: match large % 3 {
                0 => Kind::Plain,
                1 => Kind::Named("x".to_owned()),
                _ => Kind::Sized {
                    width: 300,
                    height: -70_000,
                },
            },
        }
    }

    fn bincode_bytes(record: &Representative) -> Vec<u8> {
        let config = bincode::config::standard();
        let mut bytes = vec![7];
        let r = record.clone();
        let first = (
            r.tiny, r.flag, r.small, r.medium, r.large, r.negative, r.score, r.name,
        );
        let second = (r.uuid, r.list, r.pairs, r.maybe, r.none);
        bytes.extend(bincode::encode_to_vec(first, config).unwrap());
        bytes.extend(bincode::encode_to_vec(second, config).unwrap());
        bytes.extend(match r.kind {
            Kind::Plain => bincode::encode_to_vec(0u32, config).unwrap(),
            Kind::Named(name) => bincode::encode_to_vec((1u32, name), config).unwrap(),
            Kind::Sized { width, height } => {
                bincode::encode_to_vec((2u32, width, height), config).unwrap()
            }
        });
        bytes
    }

    #[test]
    fn records_are_byte_identical_with_bincode_standard() {
        for shift in 0..64 {
            for offset in [0u64, 1, 2] {
                let record = representative((1u64 << shift).wrapping_sub(offset));
                let bytes = encode_record(7, &record).unwrap();
                assert_eq!(bytes, bincode_bytes(&record));
                let back: Representative = decode_record("test", 7, &bytes).unwrap();
                assert_eq!(back, record);
            }
        }
    }

    #[test]
    fn a_record_of_another_version_is_unsupported_not_damaged() {
        let bytes = encode_record(2, &representative(5)).unwrap();
        let error = decode_record::<Representative>("test", 1, &bytes).unwrap_err();
        assert!(
            matches!(&error, Error::FormatUnsupported { needs, .. } if needs.contains("version 2")),
            "{error}"
        );
    }

    #[test]
    fn appended_fields_are_ignored_and_missing_bytes_are_damage() {
        let record = representative(1000);
        let mut bytes = encode_record(1, &record).unwrap();
        for len in 0..bytes.len() {
            let short = decode_record::<Representative>("test", 1, &bytes[..len]);
            assert!(matches!(short, Err(Error::Damaged { .. })), "{len}");
        }
        bytes.extend([1, 2, 3]);
        let longer: Representative = decode_record("test", 1, &bytes).unwrap();
        assert_eq!(longer, record);
    }

    #[test]
    fn a_lying_length_is_refused_before_memory_is_taken() {
        // Version, then the varint 253 + u64::MAX as the length of a list.
        let mut bytes = vec![1, 253];
        bytes.extend(u64::MAX.to_le_bytes());
        for bytes in [&bytes[..], &[1, 252, 255, 255, 255, 255]] {
            let list = decode_record::<Vec<u64>>("test", 1, bytes);
            assert!(matches!(list, Err(Error::Damaged { .. })));
            let text = decode_record::<String>("test", 1, bytes);
            assert!(matches!(text, Err(Error::Damaged { .. })));
        }
    }

    #[test]
    fn a_record_too_long_to_read_back_is_not_written() {
        let list = vec![0u64; MAX_SEQUENCE_BYTES / 8 + 1];
        assert!(matches!(
            encode_record(1, &list),
            Err(Error::TooLarge { .. })
        ));
    }

    #[test]
    fn numbers_are_read_little_endian_and_never_past_the_end() {
        let bytes: Vec<u8> = (1..=16).collect();
        assert_eq!(u16_at(&bytes, 1).unwrap(), 0x0302);
        assert_eq!(u32_at(&bytes, 0).unwrap(), 0x0403_0201);
        assert_eq!(u64_at(&bytes, 8).unwrap(), 0x100f_0e0d_0c0b_0a09);
        assert_eq!(u128_at(&bytes, 0).unwrap() >> 120, 16);
        assert!(u8_at(&bytes, 16).is_err());
        assert!(u128_at(&bytes, 1).is_err());
        assert!(u32_at(&bytes, usize::MAX).is_err());
    }
}
