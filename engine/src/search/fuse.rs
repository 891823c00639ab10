//! Candidates -> one score each.

use crate::types::ChunkId;

/// Weight of the vector part in the fused score. Chosen on the development sets by leaving one set
/// out at a time; `cargo xtask eval --sweep` prints the choice.
pub const VECTOR_WEIGHT: f32 = 0.35;

/// A chunk with its absolute part scores, each 0..1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scored {
    /// The chunk.
    pub chunk: ChunkId,
    /// Keyword part.
    pub keyword: f32,
    /// Vector part.
    pub vector: f32,
    /// Fused.
    pub score: f32,
}

/// The fused score: a weighted mean of the parts.
pub fn fused(keyword: f32, vector: f32, vector_weight: f32) -> f32 {
    (1.0 - vector_weight) * keyword + vector_weight * vector
}
