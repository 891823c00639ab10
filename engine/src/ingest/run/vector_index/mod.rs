//! What is done for vector search when a large file is written whole: inverted lists, and how much a
//! search is to read of them, measured.

pub(super) mod lists;
pub(super) mod recall;
mod truth;

#[cfg(test)]
mod tests;
