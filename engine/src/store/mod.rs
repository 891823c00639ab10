//! What is stored of each document: records, outline, chunks, text, facets.
//!
//! It knows tables and columns, not words or vectors: the records of the indexes pass through it as
//! bytes. Ranking, extraction and files lie elsewhere.

pub(crate) mod block_writer;
pub(crate) mod blocks;
pub(crate) mod chunks;
pub(crate) mod decoder;
pub(crate) mod deleted;
pub(crate) mod dictionary;
pub(crate) mod documents;
#[cfg(feature = "ingest")]
pub(crate) mod embedding_cache;
pub(crate) mod facets;
pub(crate) mod fields;
pub(crate) mod handles;
pub(crate) mod links;
pub(crate) mod meta;
pub(crate) mod outline;
pub(crate) mod segments;
pub(crate) mod skipped;
pub(crate) mod tables;

pub(crate) use documents::{parts, symbols};
pub(crate) use meta::{effort, vector_columns};
