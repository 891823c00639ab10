//! The nearest rows of all segments of a file to a question, or to many.
//!
//! **Exact**: the product with every row that may answer. **Two stages**: first what the signs of
//! every such row say, then the exact product of the best. The first stage is cut by value: every
//! row whose sum reaches the c-th best of all segments together is a candidate. So the answer
//! depends on the rows alone, not on how they are split into segments.

mod exact;
pub mod rescoring;
pub mod search;
pub mod segments;
pub mod top_k;

#[cfg(test)]
mod tests;
