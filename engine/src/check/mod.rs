//! Checks a whole file against what the format promises. Reads only; it repairs nothing.
//!
//! [`verify`] reads pages and extents against their checksums; deep, it also compares everything that
//! a file says twice: tables with tables, rows with records, text with its hash, facets with tags,
//! terms with lengths. Whether a document is what its source was is not known here.

pub(crate) mod content_root;

mod deep;
mod difference;
mod problems;
mod report;
mod verify;

pub(crate) use difference::difference;
pub use difference::{ChangedDocument, Difference, DocumentChange};
pub use report::{VerifyOptions, VerifyReport};
pub(crate) use verify::verify;
