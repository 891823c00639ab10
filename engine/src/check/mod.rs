//! Room 3c: what a whole file promises, and whether it keeps it. Reads only; it repairs nothing.
//!
//! [`verify`] reads pages and extents against their checksums; deep, it also compares everything that
//! a file says twice: tables with tables, rows with records, text with its hash, facets with tags,
//! words with lengths. Whether a document is what its source was is not known here.

pub mod content_root;

mod block_text;
mod deep;
mod document_checker;
mod documents;
mod facets;
mod orphans;
mod pages;
mod problems;
mod rows;
mod seal;
mod segments;
mod vectors;
mod verify;

pub use verify::verify;

use std::time::Duration;

/// What [`verify`] read, and what is wrong with it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VerifyReport {
    /// Pages of trees that were read.
    pub pages: u64,
    /// Extents that were read.
    pub extents: u64,
    /// Bytes of both.
    pub bytes: u64,
    /// Documents; of a deep check those that were found, else those that the file states.
    pub documents: u64,
    /// Chunks, likewise.
    pub chunks: u64,
    /// Whether contents were compared, not only checksums.
    pub deep: bool,
    /// Whether the tables were read by which the writer finds free pages. Readers never need them.
    pub system_checked: bool,
    /// What a sealed file states as its content root: 64 hexadecimal digits. A deep check has
    /// compared it. `None`: not sealed.
    pub content_root: Option<String>,
    /// What is wrong, each with the document, segment, row or table it is about; empty: nothing. At
    /// most 100.
    pub problems: Vec<String>,
    /// How long it took.
    pub elapsed: Duration,
}
