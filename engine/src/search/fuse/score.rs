//! Fuses keyword and vector score into one.

use crate::search::fuse::evidence::Evidence;
use crate::search::sources::ChunkAddress;

/// Weight of the vector score in the fused score when the model knows every word of the query. Chosen on
/// the development sets by leaving one set out at a time; `kb-eval --sweep` prints the choice.
pub const VECTOR_WEIGHT: f32 = 0.35;

/// Weight of the vector score when the model knows that share of the words of the query, 0..1: an
/// embedding of the few known words of a query in another language is arbitrary. Over eleven
/// languages a constant weight loses 0.029 nDCG@10; the square or the root of the share, or a start
/// at half of it, gains nothing.
pub(crate) fn vector_weight(known_share: f32) -> f32 {
    VECTOR_WEIGHT * known_share.clamp(0.0, 1.0)
}

/// A chunk with its scores, each 0..1 and comparable between queries.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scored {
    /// The chunk.
    pub(crate) address: ChunkAddress,
    /// Keyword score; 0 without a common term.
    pub(crate) keyword: f32,
    /// Vector score.
    pub(crate) vector: f32,
    /// What its text shows; nothing for a chunk whose text was not read.
    pub(crate) evidence: Evidence,
    /// The fused score and the bonus of the evidence.
    pub(crate) score: f32,
}

/// The fused score: the weighted mean of both scores.
pub(crate) fn fused(keyword: f32, vector: f32, vector_weight: f32) -> f32 {
    (1.0 - vector_weight) * keyword + vector_weight * vector
}
