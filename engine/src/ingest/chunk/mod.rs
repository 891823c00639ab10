//! Text of a document -> chunks.
//!
//! `split_costs` prices every place where the text may be split, `syntax_costs` the lines of programs whose syntax is
//! known, `chunker` finds the cheapest way through them.

pub(crate) mod chunker;
mod split_costs;
mod syntax_costs;
