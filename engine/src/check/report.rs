//! How to check a file, and the result.

use std::time::Duration;

/// How thoroughly [`crate::Kb::verify`] checks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct VerifyOptions {
    /// Also compare everything that the file says twice; without it only pages and extents are compared
    /// with their checksums.
    pub deep: bool,
}

impl VerifyOptions {
    /// Checksums only.
    pub fn new() -> VerifyOptions {
        VerifyOptions::default()
    }

    /// Sets [`VerifyOptions::deep`].
    #[must_use]
    pub fn deep(mut self, deep: bool) -> VerifyOptions {
        self.deep = deep;
        self
    }
}

/// What [`crate::Kb::verify`] read, and what is wrong with it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
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
