//! The name of a document or folder, as a person types it -> the document, or the names that look like
//! it.

mod document;
mod folders;
mod nearest;

pub use document::document;
pub use folders::nearest_folders;
pub use nearest::Nearest;
