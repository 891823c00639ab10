//! Finds the document that a name means: a path, the end of a path, a handle, an address or the path of a file on a
//! disk, each also with lines after it; the folder that a name means, and the documents that a glob means. For names that nothing has, finds similar ones,
//! which errors suggest.

mod abbreviate;
mod disk_globs;
mod disk_path;
mod document;
mod folders;
mod glob;
mod line_suffix;
mod nearest;
mod path_filter;

pub(crate) use abbreviate::abbreviate;
pub(crate) use disk_globs::{disk_glob, globs, is_disk_path};
pub use document::NameMatch;
pub(crate) use document::{document, locate};
pub(crate) use document::{of_address, split_selection};
pub(crate) use folders::folder;
pub(crate) use glob::{GlobMatcher, Globs, PathOperand};
pub(crate) use nearest::Nearest;
pub(crate) use path_filter::{PathFilter, excluding};
