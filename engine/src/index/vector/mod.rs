//! Room 2c: vector -> nearest chunks.
//!
//! One row of signed bytes a chunk, in row order, scanned from the map. Exact over what is stored:
//! the only loss against the vectors of the model is the rounding to a byte. It knows rows, not
//! documents; filters come in as bitmaps of rows.

pub mod distance;
pub mod quantise;
pub mod reader;
pub mod topk;
pub mod writer;

use wincode::{SchemaRead, SchemaWrite};

use crate::container::codec::{decode_record, encode_record};
use crate::container::column::ColumnId;
use crate::error::{Error, Result};

/// Rows of signed bytes, padded with zeros to a multiple of 64.
pub const ROWS: ColumnId = ColumnId(32);
/// Sum of each row, i32: kernels that need unsigned operands subtract it.
pub const ROW_SUMS: ColumnId = ColumnId(33);

/// Codec number of signed bytes with one scale for the whole file.
pub const CODEC_I8: u8 = 1;

/// Version of the column layout.
const VECTOR_VERSION: u8 = 1;

/// Most dimensions of a vector.
pub const DIM_LIMIT: u32 = 8192;

/// What a segment says of its vectors.
#[derive(Debug, Clone, PartialEq, SchemaRead, SchemaWrite)]
pub struct VectorRecord {
    /// How rows are stored: [`CODEC_I8`].
    pub codec: u8,
    /// Dimensions.
    pub dim: u32,
    /// Bytes of a row: `dim` rounded up to a multiple of 64.
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
        if record.codec != CODEC_I8 {
            return Err(Error::FormatUnsupported {
                needs: format!("vector codec {}", record.codec),
                reads: format!("codec {CODEC_I8}"),
            });
        }
        let sound = record.dim > 0
            && record.dim <= DIM_LIMIT
            && record.stride == stride(record.dim)
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

/// Bytes of a row of `dim` signed bytes.
pub fn stride(dim: u32) -> u32 {
    dim.next_multiple_of(64)
}
