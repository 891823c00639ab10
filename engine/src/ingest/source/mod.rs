//! What stands in a source tree: opening it without being led astray, its names, its git state.

pub(super) mod git;
mod git_index;
pub(super) mod names;
pub(super) mod open;
