//! Indexes: words and vectors.

pub mod text;
pub mod vector;
