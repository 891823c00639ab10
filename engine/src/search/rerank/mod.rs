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

pub(crate) use reranker::Reranker;

/// Chunks whose text is read.
// With 12 of them the development sets lose 0.0002 nDCG@10 on text and 0.0015 on code (0.0057 by
// keywords alone), and 0.006 of the functions that the first five hits show. Each costs about 20 us
// (docs/decisions/12-reranking.md).
const DEPTH: usize = 20;

/// Chunks whose document record is read.
// The definition of a class that many tests use ranks far behind them: a depth of 20 misses it
// (questions of `eval where`), 60 add little.
const DOCUMENT_DEPTH: usize = 40;

/// Chunks whose text is read for a query of one or two names.
// The chunk that defines a class may rank behind more than [`DEPTH`] chunks that use it. At about
// 20 us a text such a query takes up to 2 ms.
const DEPTH_FOR_NAMES: usize = 100;
const DOCUMENT_DEPTH_FOR_NAMES: usize = 200;
