//! Reads files of vectors that other programs wrote, row by row: NumPy arrays and JSON Lines, and with the feature
//! `parquet` also Parquet and Arrow.
//!
//! These files are untrusted. A length is checked against the bytes of the file before it is used. Memory is bounded by
//! a few rows, whatever a header claims. An error names the file and the row. Rows count from 0, as in the errors of the
//! engine.

#[cfg(feature = "parquet")]
mod columns;
mod error;
mod file;
#[cfg(feature = "parquet")]
mod from_arrow;
#[cfg(feature = "parquet")]
mod from_parquet;
mod jsonl;
mod npy;
mod npy_header;
mod one_vector;
#[cfg(feature = "parquet")]
mod parquet_pages;
mod row;
#[cfg(feature = "parquet")]
mod unwinding;

pub(crate) use error::VectorFileError;
pub(crate) use file::VectorFile;
pub(crate) use one_vector::one_vector;

#[cfg(test)]
mod tests;
