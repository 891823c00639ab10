//! The two columns of a vector index, and what the segment record says about them.

use kb_types::error::{Error, Result};
use wincode::{SchemaRead, SchemaWrite};

use crate::container::codec::{decode_record, encode_record};
use crate::container::column::ColumnId;

/// Column of the rows: signed bytes, padded with zeros to a multiple of 64, or nibbles, to one of
/// 32.
pub const ROWS: ColumnId = ColumnId(32);
/// Column of the sign bits, in blocks of 64 rows: see [`super::sign_bits`].
pub const CODES: ColumnId = ColumnId(34);

/// Column of the squared lengths of the vectors before they were quantised, f32 each: only of columns of other models
/// that are compared by distance.
pub const NORMS: ColumnId = ColumnId(44);

/// Bytes of a row of [`NORMS`].
pub(crate) const NORM_BYTES: usize = 4;

/// Codec number of signed bytes with one scale for the whole file.
pub const CODEC_I8: u8 = 1;
/// Codec number of nibbles, made from signed bytes by [`super::quantise::to_i4`].
pub const CODEC_I4: u8 = 2;

/// How rows are stored, chosen by the user for a whole file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Codec {
    /// Signed bytes: the nearest rows are nearly always those of the unquantised vectors.
    I8,
    /// Nibbles: half the bytes, and somewhat less exact.
    I4,
}

impl Codec {
    /// The number in records.
    pub fn number(self) -> u8 {
        match self {
            Codec::I8 => CODEC_I8,
            Codec::I4 => CODEC_I4,
        }
    }

    /// The codec of that number.
    ///
    /// # Errors
    /// [`Error::FormatUnsupported`] for another number.
    pub fn of(number: u8) -> Result<Codec> {
        check_codec(number)?;
        Ok(match number {
            CODEC_I4 => Codec::I4,
            _ => Codec::I8,
        })
    }

    /// The name that users see.
    pub fn name(self) -> &'static str {
        match self {
            Codec::I8 => "i8",
            Codec::I4 => "i4",
        }
    }
}

/// Version of a record without inverted lists.
const FLAT_VERSION: u8 = 1;

/// Version of a record with inverted lists. A program that does not know lists must refuse the segment, because it
/// has no sign bits.
const LISTS_VERSION: u8 = 2;

/// Most dimensions of a vector.
// Above the widest common embeddings (4,096). A product of 8,192 * 127 * 128 fits an i32, and sums
// over the tables fit 16 bits with smaller tables; see `sign_tables`.
pub(crate) const DIM_LIMIT: u32 = 8192;

/// What the segment record says about its vector index.
#[derive(Debug, Clone, PartialEq)]
pub struct VectorRecord {
    /// How rows are stored: [`CODEC_I8`] or [`CODEC_I4`].
    pub codec: u8,
    /// Dimensions.
    pub dim: u32,
    /// Bytes of a row: `dim` rounded up to a multiple of 64; of nibbles half of that.
    pub stride: u32,
    /// Rows.
    pub rows: u32,
    /// The quantiser: `x` is stored as `round(x / range * 127)`.
    pub range: f32,
    /// Inverted lists; 0: none, and the segment has sign bits instead.
    pub lists: u32,
}

/// The stored form of version 1.
#[derive(SchemaRead, SchemaWrite)]
struct Flat {
    codec: u8,
    dim: u32,
    stride: u32,
    rows: u32,
    range: f32,
}

/// The stored form of version 2.
#[derive(SchemaRead, SchemaWrite)]
struct WithLists {
    flat: Flat,
    lists: u32,
}

impl VectorRecord {
    /// The bytes stored in the segment record.
    pub fn encode(&self) -> Result<Vec<u8>> {
        let flat = Flat {
            codec: self.codec,
            dim: self.dim,
            stride: self.stride,
            rows: self.rows,
            range: self.range,
        };
        match self.lists {
            0 => encode_record(FLAT_VERSION, &flat),
            lists => encode_record(LISTS_VERSION, &WithLists { flat, lists }),
        }
    }

    /// Reads and checks the bytes that [`VectorRecord::encode`] made.
    ///
    /// # Errors
    /// [`Error::FormatUnsupported`] for another version or codec, [`Error::Damaged`] for numbers
    /// that contradict each other.
    pub fn decode(bytes: &[u8]) -> Result<VectorRecord> {
        let (flat, lists): (Flat, u32) = match bytes.first() {
            Some(&LISTS_VERSION) => {
                let record: WithLists = decode_record("a vector index", LISTS_VERSION, bytes)?;
                (record.flat, record.lists)
            }
            _ => (decode_record("a vector index", FLAT_VERSION, bytes)?, 0),
        };
        let record = VectorRecord {
            codec: flat.codec,
            dim: flat.dim,
            stride: flat.stride,
            rows: flat.rows,
            range: flat.range,
            lists,
        };
        check_codec(record.codec)?;
        let sound = record.dim > 0
            && record.dim <= DIM_LIMIT
            && record.stride == row_bytes(record.codec, record.dim)
            && record.range.is_finite()
            && record.range > 0.0;
        if !sound {
            return Err(Error::damaged(
                "the numbers of a vector index contradict each other",
            ));
        }
        Ok(record)
    }
}

/// Checks that this version reads rows of a codec.
///
/// # Errors
/// [`Error::FormatUnsupported`] for another one than [`CODEC_I8`] and [`CODEC_I4`].
pub(crate) fn check_codec(codec: u8) -> Result<()> {
    match codec {
        CODEC_I8 | CODEC_I4 => Ok(()),
        _ => Err(Error::FormatUnsupported {
            needs: format!("vector codec {codec}"),
            reads: format!("codecs {CODEC_I8} and {CODEC_I4}"),
        }),
    }
}

/// Bytes of a row of `dim` signed bytes.
pub(crate) fn stride(dim: u32) -> u32 {
    // A whole number of cache lines and of AVX-512 registers: kernels need no code for a remainder.
    dim.next_multiple_of(64)
}

/// Bytes of a row of `dim` numbers in a codec.
pub(crate) fn row_bytes(codec: u8, dim: u32) -> u32 {
    match codec {
        CODEC_I4 => stride(dim) / 2,
        _ => stride(dim),
    }
}
