//! Candidates -> one order -> passages.
//!
//! 1. A candidate has a keyword and a vector score, which [`scored`] fuses.
//! 2. [`ranker`] makes one row of [`parts::Features`] of each. Class and role come from bitmaps of the index. For the
//!    best [`DOCUMENT_DEPTH`] the records of documents are read, for the best [`DEPTH`] of these the texts; more of
//!    both for a query of names, the texts where [`texts`] finds that they can change the first hits. The texts are
//!    kept for rendering.
//! 3. [`parts::Rules`] make a score of the row, with the constants of [`weights`] and the intent of the query. Names
//!    and texts only add to a score, so a candidate that was not looked at comes after all that were.
//! 4. [`titles`] brings documents to the front whose title is the query. [`titled`] finds those that are not among the
//!    candidates, and makes them some.
//! 5. [`passages`] joins neighbouring chunks, or keeps one chunk a document; [`spread`] limits the passages of one
//!    document among the first.
//!
//! These candidates are of the first layer, whatever page is asked for, so the order of hits does not depend on the
//! page.
//!
//! A further signal is a field of `Features`, its line in `Rules::parts`, and its weight in the table.

mod adjacency;
mod copies;
pub(crate) mod fusion;
mod names;
pub(crate) mod parts;
mod passage;
pub(crate) mod passages;
mod ranker;
pub(crate) mod scored;
mod spread;
mod texts;
mod titled;
mod titles;
mod verbatim;
pub(crate) mod weights;

pub(crate) use ranker::Ranker;

/// Chunks whose text may be read.
// With 12 of them the development sets lose 0.0002 nDCG@10 on text and 0.0015 on code (0.0057 by
// keywords alone), and 0.006 of the functions that the first five hits show. Each costs about 20 us
// (docs/decisions/12-reranking.md).
const DEPTH: usize = 20;

/// Chunks whose text is read for a question without identifiers, where a text adds little: those that are rendered.
const DEPTH_FOR_QUESTIONS: usize = 10;

/// Chunks whose document record is read.
// The definition of a class that many tests use ranks far behind them: a depth of 20 misses it
// (questions of `eval where`), 60 add little.
const DOCUMENT_DEPTH: usize = 40;

/// Chunks whose text may be read for a query of one or two names.
// The chunk that defines a class may rank behind more than [`DEPTH`] chunks that use it. With 100 of them the questions
// of `eval where` and the definitions have the same places.
const DEPTH_FOR_NAMES: usize = 40;
const DOCUMENT_DEPTH_FOR_NAMES: usize = 200;

#[cfg(test)]
mod tests;
