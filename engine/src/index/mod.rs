//! Indexes: words and vectors.

pub mod keyword;
pub mod vector;
