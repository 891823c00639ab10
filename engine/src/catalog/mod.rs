//! The records of one commit: loaded once, shared by all that read it until the next commit.
//!
//! Search, merges and checks stand on it. It ranks nothing and reads no text.

mod bound_columns;
mod cache;
pub mod columns;
mod commit;
mod directory;
mod more_vectors;
mod segment;

pub use cache::CatalogCache;
pub use commit::Catalog;
pub use directory::DirectoryEntry;
pub use more_vectors::BoundVectors;
pub use segment::{BoundSegment, Segment};
