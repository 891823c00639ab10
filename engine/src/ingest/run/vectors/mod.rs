//! Columns of vectors that other models made: imported, removed, chosen as the default.

mod import;
mod options;

pub use options::{ImportReport, NewVectors, VectorTarget};
