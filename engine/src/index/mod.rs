//! The indexes of a segment: keywords, vectors and trigrams.

pub mod keyword;
pub mod trigram;
pub mod vector;
