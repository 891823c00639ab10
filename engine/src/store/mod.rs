//! What is stored of each document: records, outline, chunks, text, facets.
//!
//! It knows tables and columns, not words or vectors: the records of the indexes pass through it as
//! bytes. Ranking, extraction and files lie elsewhere.

pub mod block_writer;
pub mod blocks;
pub mod chunks;
pub mod decoder;
pub mod deleted;
pub mod dictionary;
pub mod documents;
pub mod facets;
pub mod handles;
pub mod meta;
pub mod outline;
pub mod segments;
pub mod skipped;
pub mod tables;

pub use documents::{parts, symbols};
pub use meta::{effort, vector_columns};
