//! Files of vectors that other programs wrote, read row by row: NumPy arrays and JSON Lines; with the feature `parquet`
//! also Parquet and Arrow.
//!
//! Nothing that such a file says of itself is believed. A length counts once the bytes are there, memory is that of
//! some rows whatever the header claims, and an error names the file and the row. Rows count from 0, as in the
//! errors of the engine.

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
