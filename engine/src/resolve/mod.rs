//! Finds the document that a name means: a path, the end of a path, a handle or an address, each also with
//! lines after it; and the documents that a glob means. For names that nothing has, finds similar ones,
//! which errors suggest.

mod abbreviate;
mod document;
mod folders;
mod glob;
mod line_suffix;
mod nearest;

pub(crate) use abbreviate::abbreviate;
pub use document::{NameMatch, document, locate};
pub(crate) use document::{of_address, split_selection};
pub use folders::nearest_folders;
pub(crate) use glob::{GlobMatcher, Globs, PathOperand};
pub use nearest::Nearest;
