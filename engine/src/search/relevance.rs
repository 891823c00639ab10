//! Whether the best candidates are relevant to the query or only the least bad.
//!
//! The verdict is a threshold on the score of the best hit, before `min_score` and on the first page as
//! on all others. It depends on the whole file, so the same best chunk is judged alike with and
//! without filters.

/// What the scores of an answer and its relevance rest on: absolute scores of the best candidates, and
/// facts of the query and the files.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct RelevanceSignals {
    /// Largest fused score of all candidates after ranking them again, from 0; what their texts show may raise it
    /// above 1.
    pub fused: f32,
    /// Largest keyword score of all candidates, 0..1. `None`: the mode has no keyword score, or the
    /// query no term.
    pub keyword: Option<f32>,
    /// Sum of idf times weight of the distinct terms of the query that the chunk with the largest keyword
    /// score has; 0 without such a chunk.
    pub matched_idf: f32,
    /// Sum of idf times weight of all distinct terms of the query.
    pub query_idf: f32,
    /// Largest vector score of all candidates, 0..1. `None`: the mode has no vector score, or the
    /// model knows no word of the query.
    pub vector: Option<f32>,
    /// How near the tenth nearest candidate still is, 0..1: its vector score, but at least .6 of the largest one, so
    /// that a filter which leaves few chunks lowers it only so far. 0 without a vector score. A file about the subject
    /// of the query has many near chunks; a chance match stands alone.
    pub near: f32,
    /// Share of the words of the query that the model knows, 0..1; of several models the largest. 0 in a
    /// mode without a vector score.
    pub coverage: f32,
    /// Live chunks in all files, before filters.
    pub chunks: u64,
    /// Whether the vector of the request was given: what scores of its model say is not known, so the fused scores are
    /// the scores, and every hit is relevant.
    pub has_given_vector: bool,
    /// Whether what the query asks for is an identifier that no document has: then every hit scores below .5.
    pub asks_for_missing: bool,
}

impl RelevanceSignals {
    /// Whether one chunk has every term of the query.
    pub(crate) fn has_every_term(&self) -> bool {
        // Both are sums of the same numbers in some order.
        self.query_idf > 0.0 && self.matched_idf >= self.query_idf * 0.9999
    }
}

/// Whether the file contains anything relevant to the query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Relevance {
    /// The best hit is a better match than chance explains.
    Relevant,
    /// Nothing is relevant: hits, if there are any, are only the least bad.
    NothingRelevant,
}

impl Relevance {
    /// The name used in output.
    pub fn name(self) -> &'static str {
        match self {
            Relevance::Relevant => "relevant",
            Relevance::NothingRelevant => "nothing relevant",
        }
    }
}

/// Where the best hit scores less, nothing is relevant. Below .5, because an answer that is called
/// irrelevant by mistake costs more than a hit too many (`cargo xtask eval --tables calibration`).
pub const RELEVANT_SCORE: f32 = 0.35;
