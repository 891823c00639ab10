//! What `kb bench` measures a file by: queries drawn from it, and passes over its vectors.

mod sample_queries;
mod vector_passes;

pub(crate) use sample_queries::sample_queries;
pub use vector_passes::VectorPass;
pub(crate) use vector_passes::{read_vector_rows, scan_vector_rows};
