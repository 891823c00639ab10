//! The records of one commit: loaded once, shared by all that read it until the next commit.
//!
//! Search, merges and checks stand on it. It ranks nothing and reads no text.

mod bound_columns;
mod cache;
pub(crate) mod columns;
mod commit;
mod directory;
mod more_vectors;
mod path_rows;
mod roles;
mod segment;

pub(crate) use cache::CatalogCache;
pub use commit::Catalog;
pub(crate) use directory::DirectoryEntry;
pub(crate) use more_vectors::BoundVectors;
pub(crate) use roles::ChunkRoles;
pub(crate) use segment::{BoundSegment, Segment};
