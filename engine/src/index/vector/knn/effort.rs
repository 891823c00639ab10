//! How much of an index a search reads.

use crate::index::vector::lists::probe::WHOLE_REACH;

/// Neighbours that a search asks for at least. Deeper lists find what only the keyword and the vector
/// part together rank high, and all pages of a result come from them.
// One list of 100 for each part serves every page of ten results; at least 400 candidates are
// rescored anyway.
pub const MIN_CANDIDATES: usize = 100;

/// The number of candidates when `k` rows are requested: `4 k + 200`, at least 400.
///
/// On 114,641 chunks of code and prose, with 126 questions and with 300 sentences of chunks as queries: for k = 100,
/// recall@10 with 300 candidates is 0.983 and 0.973, with 600 candidates 0.994 and 0.988. Recall@100 with 600 is 0.957
/// and 0.914.
pub fn oversample(k: usize) -> usize {
    // 1,400 candidates for k = 100 take 215 us instead of 175 us and change no judged mean
    // (docs/decisions/08-vector-codes.md).
    k.saturating_mul(4).saturating_add(200).max(400)
}

/// How much a search reads of segments that are not compared row by row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effort {
    /// How many standard deviations above its centroid, as seen from the query, a row of an inverted list is expected
    /// to lie at most: lists of which no row would then be among the nearest are not read. From [`WHOLE_REACH`] on all
    /// are.
    pub reach: f32,
    /// Candidates, as a multiple of [`oversample`]; at least 1.
    pub candidates: f32,
}

impl Default for Effort {
    /// What is read without a measurement: files with inverted lists have one.
    fn default() -> Effort {
        Effort {
            // Far enough for most lists with near rows. A file that was written whole stores a
            // measured reach (decision 9).
            reach: 7.0,
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

    /// Whether all lists are read.
    pub(super) fn is_whole(&self) -> bool {
        self.reach >= WHOLE_REACH
    }
}
