//! BM25: the constants, the formula, and scores whose sums do not depend on the order of addition.
//!
//! ```text
//! score(row) = sum over the query's terms of  times * weight * idf * frequency / (frequency + norm)
//! idf        = ln(1 + (chunks - df + 0.5) / (df + 0.5))
//! norm       = k1 * (1 - b + b * length / mean length)
//! ```
//!
//! The formula is that of Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework: BM25
//! and Beyond", with the idf of Lucene (`BM25Similarity`), which is never negative. As in Lucene
//! since version 8 the constant factor k1 + 1 is left out, so a term contributes at most its idf,
//! and the sum of all idf bounds the score. The weight, at most 1, says how much a word of the query is about
//! something; whoever makes the query knows it.
//!
//! Sums of floats depend on their order, and a pruned search adds in another order than an
//! exhaustive one. So scores are whole numbers of *units*, a power of two chosen for each query:
//! every contribution is rounded to units once, and sums of units are exact, also as an f32.

/// Term frequency saturation: the larger, the more further occurrences count. 1.2 is the default of
/// Lucene and tantivy; Robertson and Zaragoza 2009 recommend 1.2 to 2.
pub(super) const K1: f32 = 1.2;

/// Length normalisation, from 0 (none) to 1 (full). 0.75 is the default of Lucene and tantivy;
/// Robertson and Zaragoza 2009 recommend 0.5 to 0.8.
pub(super) const B: f32 = 0.75;

/// Weight of a term of the title or of a heading above the chunk, in occurrences in the text.
// 1 means that a field is as good as text. Boosts of names are applied when the first texts are
// re-ranked (docs/decisions/12-reranking.md), where they can depend on the query.
pub(crate) const TITLE_WEIGHT: u32 = 1;

/// Weight of a term of the path, in occurrences in the text.
pub(crate) const PATH_WEIGHT: u32 = 1;

/// Upper bound of the sum of all contributions of a query, in units.
// An f32 holds whole numbers exactly up to 2^24. A quarter of that leaves room for rounding up each
// contribution. Fewer units would merge scores that differ; more would round sums.
const MAX_UNITS: f64 = (1 << 22) as f64;

/// Added to a number from 0 to 2^22, it leaves the nearest whole number in the low bits of the f32.
// From 2^23 on, neighbouring f32 numbers are 1 apart, so the addition rounds to a whole number.
const ROUNDING: f32 = (1 << 23) as f32;

/// Collection statistics: totals over all chunks that are searched.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Number of chunks.
    pub chunks: u64,
    /// Sum of their lengths in terms.
    pub total_length: u64,
}

impl Statistics {
    /// Mean length of a chunk; 1 when there are no chunks or no terms.
    pub fn mean_length(&self) -> f32 {
        let mean = self.total_length as f64 / self.chunks.max(1) as f64;
        if mean > 0.0 { mean as f32 } else { 1.0 }
    }

    /// Inverse document frequency of a term that `chunks_with_term` chunks have; above 0.
    pub fn idf(&self, chunks_with_term: u64) -> f32 {
        let with = chunks_with_term as f64;
        let without = self.chunks.saturating_sub(chunks_with_term) as f64;
        // The 1 keeps the idf above 0 for terms that more than half of the chunks have.
        (1.0 + (without + 0.5) / (with + 0.5)).ln() as f32
    }
}

/// The impact of a posting, `norm / k1 / frequency`: the score of a posting depends on nothing
/// else, and is the higher the smaller the impact. Blocks of postings store their least impact
/// (block-max indexes: Ding and Suel 2011, "Faster Top-k Document Retrieval Using Block-Max
/// Indexes").
pub(crate) fn impact(frequency: u32, length: u32, mean_length: f32) -> f32 {
    (1.0 - B + B * (length as f32 / mean_length)) / frequency as f32
}

/// The norm of the formula for a text of `length` terms.
pub(crate) fn norm(length: f32, mean_length: f32) -> f32 {
    K1 * (1.0 - B + B * (length / mean_length))
}

/// Units of one query: how many of them make a score of 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Units(f32);

impl Units {
    /// The finest units for scores up to `most`, a finite number.
    pub(crate) fn for_scores_up_to(most: f64) -> Units {
        let mut units = 1.0;
        // Powers of two: multiplying by one changes only the exponent, so no score is rounded
        // twice.
        while units < MAX_UNITS && most * units * 2.0 <= MAX_UNITS {
            units *= 2.0;
        }
        while most * units > MAX_UNITS {
            units /= 2.0;
        }
        Units(units as f32)
    }

    /// A number of units as a score.
    pub(crate) fn score(self, units: i32) -> f32 {
        units as f32 / self.0
    }

    /// The least number of units whose score is not below `score`.
    pub(crate) fn at_least(self, score: f32) -> i32 {
        (score * self.0).ceil() as i32
    }
}

/// The weight of one term: turns frequency and length of a posting into units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bm25Weight {
    /// Idf times weight times occurrences in the query, in units.
    weight: f32,
    /// The part of the norm that does not depend on the length.
    norm_constant: f32,
    /// The norm of each term of the length.
    norm_slope: f32,
    /// Factor that keeps stored impacts a bound when the mean length has changed.
    impact_factor: f32,
}

impl Bm25Weight {
    /// `weight` is the idf times the weight and the occurrences in the query. Scores use `mean_length`; the stored
    /// impacts were computed with `written_mean_length`.
    pub(crate) fn new(
        weight: f32,
        units: Units,
        mean_length: f32,
        written_mean_length: f32,
    ) -> Bm25Weight {
        Bm25Weight {
            weight: weight * units.0,
            norm_constant: K1 * (1.0 - B),
            norm_slope: K1 * B / mean_length,
            // Stored impacts belong to the mean length of the segment when it was written; the
            // collection's mean has changed since.
            impact_factor: K1 * (written_mean_length / mean_length).min(1.0),
        }
    }

    /// The contribution of a posting: at least 1.
    #[inline(always)]
    pub(crate) fn units(&self, frequency: u32, length: f32) -> i32 {
        let frequency = frequency as i32 as f32;
        let norm = self.norm_constant + self.norm_slope * length;
        let score = self.weight * (frequency / (frequency + norm));
        // Unlike a cast, this compiles to one vector instruction for four postings.
        let units = (score + ROUNDING).to_bits() & (ROUNDING as u32 - 1);
        // A row that has a term scores above one that has none, however common the term is.
        (units as i32).max(1)
    }

    /// An upper bound for postings whose impact is at least `least_impact`.
    ///
    /// Under a greater mean length than the one written with, impacts shrink, but never by more
    /// than the ratio of the two; under a smaller one they grow.
    pub(crate) fn most_units(&self, least_impact: f32) -> i32 {
        let bound = self.weight / (1.0 + least_impact.max(0.0) * self.impact_factor);
        // The margin covers the rounding differences to `units`, some 2^-24 each.
        (bound * (1.0 + 1e-6)) as i32 + 2
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_rare_term_weighs_more_and_every_term_something() {
        let statistics = Statistics {
            chunks: 1000,
            total_length: 50_000,
        };
        assert!((statistics.idf(1) - (1.0f32 + 999.5 / 1.5).ln()).abs() < 1e-6);
        assert!(statistics.idf(0) > statistics.idf(1));
        assert!(statistics.idf(999) > statistics.idf(1000));
        assert!(statistics.idf(1000) > 0.0);
        assert_eq!(statistics.mean_length(), 50.0);
        assert_eq!(Statistics::default().mean_length(), 1.0);
    }

    #[test]
    fn a_score_is_the_formula_rounded_to_units() {
        let units = Units::for_scores_up_to(30.0);
        let scorer = Bm25Weight::new(7.5, units, 100.0, 100.0);
        for (frequency, length) in [(1, 20.0), (3, 100.0), (40, 900.0)] {
            let norm = 1.2 * (0.25 + 0.75 * f64::from(length) / 100.0);
            let expected = 7.5 * f64::from(frequency) / (f64::from(frequency) + norm);
            let got = f64::from(units.score(scorer.units(frequency, length)));
            assert!((got - expected).abs() < 1e-5, "{got} for {expected}");
        }
    }

    #[test]
    fn units_leave_room_for_any_query() {
        for most in [0.0, 1e-9, 0.3, 1.0, 13.0, 1e4, 1e9] {
            let units = Units::for_scores_up_to(most);
            assert!(most * f64::from(units.0) <= MAX_UNITS, "{most}");
            assert!(units.0 >= 1.0 || most * f64::from(units.0) * 2.0 > MAX_UNITS);
            for whole in [0, 1, 12_345, 1 << 22] {
                assert_eq!(units.at_least(units.score(whole)), whole);
            }
        }
    }

    proptest! {
        #[test]
        fn the_bound_of_a_block_holds_under_any_mean_length(
            frequency in 1u32..200,
            length in 0u32..5000,
            written in 1f32..3000.0,
            mean in 1f32..3000.0,
            weight in 0.0001f32..20.0,
        ) {
            let units = Units::for_scores_up_to(f64::from(weight));
            let scorer = Bm25Weight::new(weight, units, mean, written);
            let most = scorer.most_units(impact(frequency, length, written));
            prop_assert!(scorer.units(frequency, length as f32) <= most);
        }
    }
}
