//! Ranked chunks -> the same, the best of them in an order that their documents and texts decide.
//!
//! The index knows which terms a chunk has, not where. So the records of the documents of the first
//! [`DOCUMENT_DEPTH`] chunks of the fused list are read, then the texts of the best [`DEPTH`] of these that have
//! a term of the query, and what they show, their [`Evidence`](super::fuse::evidence::Evidence), is added to
//! their scores; more of both for a query of names. The texts are kept for rendering. These chunks are of the first layer of candidates, whatever page is asked for, so the order of
//! hits does not depend on the page.
//!
//! A further signal takes a file beside `adjacency`, a function of the query and one text that returns 0..1;
//! a field of `Evidence`, its weight and its line in `Evidence::bonuses`; and a line in `Reranker::read_text`.

mod adjacency;
mod definitions;
mod document_kind;
mod names;
mod reranker;
mod texts;

pub(crate) use reranker::Reranker;
pub(crate) use texts::ChunkTexts;

/// Chunks whose text is read. On the development sets 12 of them lose .0002 nDCG@10 on text and .0015 on code
/// (.0057 by keywords alone), and .006 of the functions that the first five hits show. Each costs about
/// 20 microseconds.
const DEPTH: usize = 20;

/// Chunks whose document is looked at. The definition of a class that many tests use is far behind them: with
/// 20 it is missed (questions of `eval where`), 60 add little.
const DOCUMENT_DEPTH: usize = 40;

/// Both for a query of one or two names: the chunk that defines a class may be behind more than [`DEPTH`] that
/// use it. At about 20 microseconds a text such a query takes up to 2 ms.
const DEPTH_FOR_NAMES: usize = 100;
const DOCUMENT_DEPTH_FOR_NAMES: usize = 200;
