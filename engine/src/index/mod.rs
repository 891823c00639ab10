//! The indexes of a segment: keywords, vectors and trigrams.

pub(crate) mod bitset;
pub mod keyword;
pub mod trigram;
pub mod vector;
