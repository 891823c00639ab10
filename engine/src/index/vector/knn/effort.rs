//! How much of an index a search reads.

use super::rescoring::oversample;

/// How much a search reads of segments that are not compared row by row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effort {
    /// Share of the rows of a segment with inverted lists whose lists are read, above 0 and at most 1.
    pub lists: f32,
    /// Candidates, as a multiple of [`oversample`]; at least 1.
    pub candidates: f32,
}

impl Default for Effort {
    /// What is read without a measurement: files with inverted lists have one.
    fn default() -> Effort {
        Effort {
            lists: 0.4,
            candidates: 1.0,
        }
    }
}

impl Effort {
    /// Candidates for `k` rows.
    pub fn candidates(&self, k: usize) -> usize {
        let candidates = oversample(k) as f32 * self.candidates.clamp(1.0, 1000.0);
        candidates as usize
    }

    /// Rows whose lists are read, of a segment of `rows`.
    pub(super) fn rows_of_lists(&self, rows: u64, candidates: usize) -> u64 {
        let share = f64::from(self.lists.clamp(0.0, 1.0)) * rows as f64;
        (share.ceil() as u64).max(8 * candidates as u64)
    }
}
