//! Vectors to nearest rows: the vector index of a segment.
//!
//! Each chunk has one row of signed bytes or nibbles, in row order, and its sign bits in a column
//! of their own. A search scans all rows, or it scans the sign bits of all rows and rescores the
//! best of them. This room knows rows, not documents; filters come in as bitmaps of rows.

mod cursor;
#[cfg(test)]
mod fixture;
pub mod kernels;
pub mod knn;
pub mod lists;
pub mod quantise;
pub mod query;
pub mod reader;
pub mod record;
pub mod row_filter;
pub mod sign_bits;
pub mod writer;

pub use knn::effort::{Effort, MIN_CANDIDATES};
pub use knn::search::{Method, Scan, ScanStats, knn, knn_batch, knn_with_stats, uses_rescoring};
pub use knn::segments::{KnnSegment, Neighbor};
pub use lists::layout::{CENTROIDS, LIST_BLOCKS, LISTS};
pub use lists::probe::WHOLE_REACH;
#[cfg(feature = "testing")]
pub use record::CODEC_I4;
pub use record::{
    CODEC_I8, CODES, Codec, NORM_BYTES, NORMS, ROWS, VectorRecord, check_codec, stride,
};
