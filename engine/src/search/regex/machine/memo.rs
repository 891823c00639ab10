//! [`Memo`]: what scans found out behind their match.
//!
//! A scan that has met a match reads on while a longer one is possible, and the next scan begins at that match: it
//! may read the same text again, in the worst case to the end for each match. Two scans that are in the same state at
//! the same position go on alike, so what the first found is the answer of the second.

use rustc_hash::FxHashMap;

/// Number of outcomes that are kept, approximately.
// 12 bytes each and the overhead of the map: 10 to 20 MB. For longer texts the distance between
// kept positions grows instead.
const LIMIT: usize = 1 << 19;

/// Least distance of the positions whose outcome is kept.
// An outcome for each byte would take more memory than the text. A search that starts between two
// kept positions reads at most 64 bytes more.
const LEAST_DISTANCE: usize = 64;

/// Outcomes in one text, by position and state.
#[derive(Debug, Default)]
pub(super) struct Memo {
    /// The end of the last match at or behind the position, 0 for none.
    outcomes: FxHashMap<(u32, u32), u32>,
    /// Positions and states of the scan under way.
    passed: Vec<(u32, u32)>,
    /// Positions are multiples of this power of two.
    distance: usize,
    /// Where scans end.
    to: usize,
}

impl Memo {
    /// Forgets everything, for a text of so many bytes.
    pub(super) fn begin_text(&mut self, len: usize) {
        self.forget();
        // A power of two, so that `is_kept` is a mask.
        self.distance = (len / LIMIT).next_power_of_two().max(LEAST_DISTANCE);
    }

    /// Forgets all outcomes.
    pub(super) fn forget(&mut self) {
        self.outcomes.clear();
        self.passed.clear();
    }

    /// Begins a scan that ends at `to`.
    pub(super) fn begin_scan(&mut self, to: usize) {
        self.passed.clear();
        // An outcome says what follows up to the end of the scan; with another end it may differ.
        if self.to != to {
            self.to = to;
            self.outcomes.clear();
        }
    }

    /// Whether a position is one to look at.
    #[inline]
    pub(super) fn is_kept(&self, at: usize) -> bool {
        at & self.distance.wrapping_sub(1) == 0
    }

    /// What follows from a state at a position: the end of the last match at or behind it, `Some(None)` for none;
    /// `None` where that is not known.
    pub(super) fn outcome(&mut self, at: usize, state: u32) -> Option<Option<usize>> {
        let key = (u32::try_from(at).ok()?, state);
        if let Some(end) = self.outcomes.get(&key) {
            return Some(Some(*end as usize).filter(|end| *end > 0));
        }
        self.passed.push(key);
        None
    }

    /// Keeps what the scan under way came to.
    pub(super) fn end_scan(&mut self, last: Option<usize>) {
        // Clearing all is simple and keeps the time linear up to a constant: what was forgotten is
        // found again once.
        if self.outcomes.len() + self.passed.len() > LIMIT * 2 {
            self.outcomes.clear();
        }
        for (at, state) in self.passed.drain(..) {
            // A match that ended before a position says nothing about what follows there.
            let end = last.filter(|end| *end >= at as usize);
            let end = end.and_then(|end| u32::try_from(end).ok()).unwrap_or(0);
            self.outcomes.insert((at, state), end);
        }
    }
}
