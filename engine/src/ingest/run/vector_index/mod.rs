//! What is done for vector search when a large file is written whole: inverted lists, and how much a
//! search is to read of them, measured.

mod columns;
pub(super) mod due;
pub(super) mod embedded;
pub(super) mod lists;
pub(super) mod recall;
mod tries;
mod truth;

#[cfg(test)]
mod tests;
