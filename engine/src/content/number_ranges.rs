//! Pages and slides by their numbers: the ranges that a call selects.

use std::ops::RangeInclusive;

/// Ranges of numbers from 1, first and last included, in the order of the call.
#[derive(Debug, Clone)]
pub(super) struct NumberRanges(Vec<(u32, u32)>);

impl NumberRanges {
    pub(super) fn new(ranges: &[(u32, u32)]) -> NumberRanges {
        NumberRanges(ranges.to_vec())
    }

    /// The ranges as in the arguments of commands and tools: `3`, `1-3` or `3-`, with commas between. Empty for
    /// all.
    pub(super) fn text(&self) -> String {
        self.0.iter().map(range_text).collect::<Vec<_>>().join(",")
    }

    /// Whether each range begins with one of the numbers up to `total`, and is not reversed.
    pub(super) fn are_within(&self, total: u32) -> bool {
        self.0
            .iter()
            .all(|(first, last)| 0 < *first && first <= last && *first <= total)
    }

    /// The ranges without what is beyond `total`; without any, all numbers.
    pub(super) fn clipped(&self, total: u32) -> Vec<RangeInclusive<u32>> {
        if self.0.is_empty() {
            return vec![1..=total];
        }
        let clipped = self.0.iter().map(|(first, last)| *first..=total.min(*last));
        clipped.collect()
    }
}

fn range_text((first, last): &(u32, u32)) -> String {
    match *last {
        last if last == *first => first.to_string(),
        u32::MAX => format!("{first}-"),
        last => format!("{first}-{last}"),
    }
}

/// How many numbers clipped ranges have.
pub(super) fn count(ranges: &[RangeInclusive<u32>]) -> u64 {
    let counts = ranges.iter().map(|range| range.clone().count() as u64);
    counts.sum()
}
