//! Tools that list what a server has: indexes, folders, documents, definitions.

pub(super) mod find_symbols;
pub(super) mod list_documents;
pub(super) mod list_folders;
pub(super) mod list_indexes;
