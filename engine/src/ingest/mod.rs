//! Room 3a: files -> documents -> chunks -> terms and vectors -> store.
//!
//! `walk -> extract -> chunk -> embed -> write`, each step a function with a plain struct on both
//! sides. It ranks nothing and prints nothing.

pub mod agreement;
pub mod batch;
pub mod changes;
pub mod chunk;
pub mod coverage;
pub mod extract;
pub mod git;
mod gitignore;
pub mod indexed;
pub mod limits;
pub mod merge;
pub mod merge_policy;
mod open;
pub mod ordered;
pub mod pipeline;
pub mod prepare;
pub mod report;
pub mod root;
pub mod roots;
pub mod segment;
mod split_costs;
pub mod survey;
pub mod walk;
