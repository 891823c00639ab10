//! The nearest rows of all segments of a file to one query or to many.
//!
//! The *exact* scan computes the product with every row that may answer. The *rescored* scan
//! estimates it from the sign bits of every such row, keeps an oversampled number of candidates,
//! and computes the exact product of these. Both depend on the rows alone, not on how they are
//! split into segments. Of a segment with inverted lists the rescored scan reads those near the query.

mod candidates;
pub mod effort;
mod exact;
mod lists;
pub mod rescoring;
mod runs;
pub mod search;
pub mod segments;
pub mod top_k;

#[cfg(test)]
mod tests;
