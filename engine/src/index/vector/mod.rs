//! Vectors to nearest rows: the vector index of a segment.
//!
//! Each chunk has one row of signed bytes or nibbles, in row order, and its sign bits in a column
//! of their own. A search scans all rows, or it scans the sign bits of all rows and rescores the
//! best of them. This room knows rows, not documents; filters come in as bitmaps of rows.

mod cursor;
#[cfg(test)]
mod fixture;
pub(crate) mod kernels;
pub mod knn;
pub(crate) mod lists;
pub(crate) mod quantise;
pub(crate) mod query;
pub(crate) mod reader;
pub(crate) mod record;
pub(crate) mod row_filter;
pub(crate) mod sign_bits;
pub(crate) mod writer;

pub use knn::effort::Effort;
pub(crate) use knn::effort::MIN_CANDIDATES;
pub(crate) use knn::search::uses_rescoring;
pub use knn::search::{Method, Scan, ScanStats, knn, knn_batch, knn_with_stats};
pub use knn::segments::{KnnSegment, Neighbor};
pub use lists::layout::{CENTROIDS, LIST_BLOCKS, LISTS};
pub use lists::probe::WHOLE_REACH;
#[cfg(feature = "testing")]
pub use record::CODEC_I4;
pub use record::{CODEC_I8, CODES, Codec, NORMS, ROWS, VectorRecord};
pub(crate) use record::{NORM_BYTES, check_codec, stride};
