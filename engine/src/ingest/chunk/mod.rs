//! Text of a document -> chunks.
//!
//! `split_costs` prices every place where the text may be split, `chunker` finds the cheapest way
//! through them.

pub mod chunker;
mod split_costs;
