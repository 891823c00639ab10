//! The two indexes of a segment: keywords and vectors.

mod bitset;
pub mod keyword;
pub mod vector;
