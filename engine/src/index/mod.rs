//! The indexes of a segment: keywords, vectors and trigrams.

pub(crate) mod keyword;
pub(crate) mod trigram;
pub(crate) mod vector;
