//! The two columns of a vector index, and what the segment record says about them.

use wincode::{SchemaRead, SchemaWrite};

use crate::container::codec::{decode_record, encode_record};
use crate::container::column::ColumnId;
use crate::error::{Error, Result};

/// Rows of signed bytes, padded with zeros to a multiple of 64, or of nibbles, to one of 32.
pub const ROWS: ColumnId = ColumnId(32);
/// Sign codes in blocks of 64 rows: see [`super::sign_bits`].
pub const CODES: ColumnId = ColumnId(34);

/// Codec number of signed bytes with one scale for the whole file.
pub const CODEC_I8: u8 = 1;
/// Codec number of nibbles, made from signed bytes by [`super::quantise::to_i4`].
pub const CODEC_I4: u8 = 2;

/// How rows are stored, as people choose it: one way for a whole file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Codec {
    /// Signed bytes: the nearest rows are those of the model in nearly all places.
    I8,
    /// Nibbles: half of the bytes.
    I4,
}

impl Codec {
    /// Its number in records.
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

    /// What fronts call it.
    pub fn name(self) -> &'static str {
        match self {
            Codec::I8 => "i8",
            Codec::I4 => "i4",
        }
    }
}

/// Version of the column layout.
const VECTOR_VERSION: u8 = 1;

/// Most dimensions of a vector.
pub const DIM_LIMIT: u32 = 8192;

/// What a segment says of its vectors.
#[derive(Debug, Clone, PartialEq, SchemaRead, SchemaWrite)]
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
}

impl VectorRecord {
    /// The bytes kept in the segment record.
    pub fn encode(&self) -> Result<Vec<u8>> {
        encode_record(VECTOR_VERSION, self)
    }

    /// Reads and checks those bytes.
    ///
    /// # Errors
    /// [`Error::FormatUnsupported`] for another version or codec, [`Error::Damaged`] for numbers
    /// that contradict each other.
    pub fn decode(bytes: &[u8]) -> Result<VectorRecord> {
        let record: VectorRecord = decode_record("a vector index", VECTOR_VERSION, bytes)?;
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

/// Whether rows of that codec can be read.
///
/// # Errors
/// [`Error::FormatUnsupported`] for another one than [`CODEC_I8`] and [`CODEC_I4`].
pub fn check_codec(codec: u8) -> Result<()> {
    match codec {
        CODEC_I8 | CODEC_I4 => Ok(()),
        _ => Err(Error::FormatUnsupported {
            needs: format!("vector codec {codec}"),
            reads: format!("codecs {CODEC_I8} and {CODEC_I4}"),
        }),
    }
}

/// Bytes of a row of `dim` signed bytes.
pub fn stride(dim: u32) -> u32 {
    dim.next_multiple_of(64)
}

/// Bytes of a row of `dim` numbers in a codec.
pub fn row_bytes(codec: u8, dim: u32) -> u32 {
    match codec {
        CODEC_I4 => stride(dim) / 2,
        _ => stride(dim),
    }
}
