//! One file holds a knowledge base.
#![deny(missing_docs)]

pub mod container;
pub mod embed;
pub mod error;
pub mod file_types;
pub mod index;
#[cfg(feature = "ingest")]
pub mod ingest;
pub mod store;
pub mod types;
