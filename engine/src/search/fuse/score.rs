//! Candidates -> one score each.

use crate::search::sources::ChunkAddress;

/// Weight of the vector part in the fused score when the model knows every word of the query. Chosen
/// on the development sets by leaving one set out at a time; `cargo xtask eval --sweep` prints the
/// choice.
pub const VECTOR_WEIGHT: f32 = 0.35;

/// Weight of the vector part for a query of whose words the model knows that share, 0..1: a vector
/// made of a few known words of a question in another language points anywhere. Over eleven
/// languages a weight that does not follow the share loses 0.029 nDCG@10, one that follows its
/// square or root or begins at half of it gains nothing.
pub(crate) fn vector_weight(known_share: f32) -> f32 {
    VECTOR_WEIGHT * known_share.clamp(0.0, 1.0)
}

/// A chunk with its absolute part scores, each 0..1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scored {
    /// The chunk.
    pub(crate) address: ChunkAddress,
    /// Keyword part.
    pub(crate) keyword: f32,
    /// Vector part.
    pub(crate) vector: f32,
    /// Fused.
    pub(crate) score: f32,
}

/// The fused score: a weighted mean of the parts.
pub(crate) fn fused(keyword: f32, vector: f32, vector_weight: f32) -> f32 {
    (1.0 - vector_weight) * keyword + vector_weight * vector
}
