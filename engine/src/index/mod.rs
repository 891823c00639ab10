//! Indexes: words and vectors.

pub mod text;
