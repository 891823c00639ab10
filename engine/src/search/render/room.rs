//! How much text of the next hit there is room for.

use crate::search::render::window::{LINE_BYTES, WindowLimit};

/// Least text of a hit in bytes, however little of a token budget is its share, if the budget still has it.
// Three lines. Less does not tell whether the hit is worth opening.
const LEAST_TEXT_BYTES: u64 = 240;

/// Least text of a hit in bytes, even where the budget does not have it.
// A hit without any text would look like an empty document.
const LEAST_ONLY_TEXT_BYTES: u64 = 60;

/// Bytes that a whole symbol leaves for each hit behind it.
// The names of a hit and some lines of text.
const RESERVED_BYTES: u64 = 700;

/// How much text there is room for, of the hit that is rendered next.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    /// Bytes of the budget that are left.
    pub(crate) left_bytes: u64,
    /// The share of them that is for the next hit.
    pub(crate) share: f64,
    /// What the hits behind it need at least.
    pub(crate) reserved_bytes: u64,
}

impl Room {
    /// What is left of a budget for the hit number `number`, from 0, of `count`. Each gets less than the one
    /// before, by the square root of its number: the first hit is the right one most often.
    pub(crate) fn new(left_bytes: u64, number: usize, count: usize) -> Room {
        let weight = |number: usize| 1.0 / (number as f64 + 1.0).sqrt();
        // Beyond some hits it makes no difference.
        let others: f64 = (number..count.min(number + 100)).map(weight).sum();
        let behind = count.saturating_sub(number.saturating_add(1)) as u64;
        Room {
            left_bytes,
            share: (weight(number) / others).min(1.0),
            reserved_bytes: behind.saturating_mul(RESERVED_BYTES),
        }
    }

    /// The limit of a text of at most `lines` lines, where the rest of the hit costs `others` bytes. A symbol may take
    /// more than its share, up to what those behind it need.
    pub(super) fn limit(self, lines: u32, others: u64, is_symbol: bool) -> WindowLimit {
        let lines = lines as usize;
        let most = lines.saturating_mul(LINE_BYTES);
        let left = self.left_bytes.saturating_sub(others);
        let mut share = (self.left_bytes as f64 * self.share) as u64;
        if is_symbol {
            share = share.max(self.left_bytes.saturating_sub(self.reserved_bytes));
        }
        let least = LEAST_TEXT_BYTES.min(left).max(LEAST_ONLY_TEXT_BYTES);
        let bytes = share.saturating_sub(others).max(least);
        WindowLimit {
            lines,
            bytes: usize::try_from(bytes).unwrap_or(usize::MAX).min(most),
        }
    }
}
