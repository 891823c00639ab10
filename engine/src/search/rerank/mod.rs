//! Ranked chunks -> the same, the best of them in an order that their texts decide.
//!
//! The index knows which terms a chunk has, not where. So the text of the first [`DEPTH`] chunks of the fused
//! list is read, and what it shows, their [`Evidence`](super::fuse::evidence::Evidence), is added to their
//! scores. The texts are kept for rendering. These chunks are of the first layer of candidates, whatever page
//! is asked for, so the order of hits does not depend on the page.
//!
//! A further signal takes a file beside `adjacency`, a function of the query and one text that returns 0..1;
//! a field of `Evidence` and its weight in `Evidence::bonuses`; and a line in `Reranker::evidence`.

mod adjacency;
mod reranker;
mod texts;

pub(crate) use reranker::Reranker;
pub(crate) use texts::ChunkTexts;

/// Chunks whose text is read. With 10 half of the gain is lost, more than 20 add nothing (development sets).
const DEPTH: usize = 20;
