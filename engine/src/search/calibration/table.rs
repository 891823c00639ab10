//! The weights of the calibration. `cargo xtask eval --tables calibration` fits them, leaving one collection and one
//! repository out at a time, and prints this table.

/// The weights of one combination of keyword and vector scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights {
    /// Of the fused score of the hit. Chosen, not fitted: see [`FUSED_WEIGHT`].
    pub fused: f64,
    /// Of [`RelevanceSignals::near`](crate::RelevanceSignals::near); where there is a keyword score too, times the coverage, as in the fused score.
    pub near: f64,
    /// Of the square root of the matched idf: the idf of the terms that the chunk with the largest
    /// keyword score has.
    pub matched_idf: f64,
    /// Of the coverage: the share of the words of the query that the model knows.
    pub coverage: f64,
    /// Of the tenfolds of chunks in the files: the best of many chance matches is a close one.
    pub chunks: f64,
    /// What is added to all.
    pub constant: f64,
}

impl Weights {
    /// All but the first, in the order of the fields.
    pub fn of_facts(&self) -> [f64; 5] {
        [
            self.near,
            self.matched_idf,
            self.coverage,
            self.chunks,
            self.constant,
        ]
    }
}

/// How far the hits of one answer are apart: a tenth of fused score is 1.2 in the logarithm of the odds,
/// .5 against .77. Fitted alone it is 15 for hybrid answers, where right answers are told from hits of other fields
/// less well: with 16 the share of the right ones above nine tenths of the others falls by .02.
pub const FUSED_WEIGHT: f64 = 12.0;

/// Keyword and vector score.
pub const HYBRID: Weights = Weights {
    fused: FUSED_WEIGHT,
    near: 5.269,
    matched_idf: 0.62,
    coverage: -4.597,
    chunks: -1.396,
    constant: 2.651,
};

/// Keyword score alone.
pub const KEYWORD: Weights = Weights {
    fused: FUSED_WEIGHT,
    near: 0.0,
    matched_idf: 1.099,
    coverage: 0.0,
    chunks: -1.316,
    constant: -1.476,
};

/// Vector score alone.
pub const SEMANTIC: Weights = Weights {
    fused: FUSED_WEIGHT,
    near: 3.767,
    matched_idf: 0.0,
    coverage: 0.0,
    chunks: -0.972,
    constant: -1.713,
};
