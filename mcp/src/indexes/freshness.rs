//! Whether an index is what its sources are now.

use super::Index;

/// What is known of an index that is out of date.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Stale {
    /// Days since its content changed last.
    pub(crate) age_days: f64,
    /// Files that differ now; `None` where its sources are not on this machine, or not looked at yet.
    pub(crate) changed: Option<u64>,
}

/// What the last look found.
#[derive(Debug, Default)]
pub(super) struct Freshness {}

impl Freshness {
    pub(super) fn of(&self, index: &Index) -> Option<Stale> {
        let _ = index;
        None
    }
}
