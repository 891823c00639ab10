//! Verbs that write a file.

pub(crate) mod add;
mod each_document;
mod git_fields;
pub(crate) mod import;
pub(crate) mod import_documents;
pub(crate) mod index;
pub(crate) mod merge;
pub(crate) mod meta;
pub(crate) mod reembed;
pub(crate) mod rm;
pub(crate) mod seal;
pub(crate) mod tag;
pub(crate) mod vectors;
pub(crate) mod watch;
