//! The result of a check.

use std::time::Duration;

/// What [`crate::Kb::verify`] read, and what is wrong with it.
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
