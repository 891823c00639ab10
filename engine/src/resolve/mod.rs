//! Finds the document that a name means: a path, the end of a path, a handle or an address. For names
//! that nothing has, finds similar ones, which errors suggest.

mod document;
mod folders;
mod nearest;

pub use document::{NameMatch, document};
pub use folders::nearest_folders;
pub use nearest::Nearest;
