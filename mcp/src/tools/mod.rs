//! The tools: a name and arguments become a result. Plain functions; nothing here waits for a client.
//!
//! To add a tool:
//! 1. Write `NAME.rs` like `list/list_documents.rs`: a parameter struct, a result struct, `impl Tool`. Their
//!    doc comments and limits are what clients read; nothing else describes the tool.
//! 2. Add it to `TOOLS` below, sorted by name, and an example to `mcp/data/examples.json`. Raise the count in
//!    `definitions/tests.rs`.
//! 3. Say in `definitions/instructions.rs` when to use it, or name it there as one that is rarely needed.
//! 4. Run `cargo xtask docs --write`, which generates `mcp/data/tools.json` and `docs/mcp-tools.md`. A test compares
//!    `tools.json` with the types, so its diff shows each tool and field that clients gain or lose.
//! 5. Test it in its file with `testing::Fixture`, which compares each result with the schema and its text.

mod call;
mod clear_index;
mod get_document;
mod get_document_data;
mod get_document_outline;
mod get_documents;
mod get_embedding;
mod get_pages;
mod get_sheet_data;
mod get_slides;
mod get_status;
mod index_codebase;
mod index_stats;
mod list;
mod search;
mod search_code;
mod search_docs;
mod search_regex;
#[cfg(test)]
pub(crate) mod testing;
mod upload_document;

use std::sync::OnceLock;

pub(crate) use call::context::Call;
use call::resolve;
use call::tool::{Definition, Effect, Entry};
use list::{find_symbols, list_documents, list_folders, list_indexes};

use crate::indexes::Indexes;
use crate::response::{Object, ToolError, ToolResponse};

/// Every tool, sorted by name.
const TOOLS: &[Entry] = &[
    Entry::of::<clear_index::ClearIndex>(),
    Entry::of::<find_symbols::FindSymbols>(),
    Entry::of::<get_document::GetDocument>(),
    Entry::of::<get_document_data::GetDocumentData>(),
    Entry::of::<get_document_outline::GetDocumentOutline>(),
    Entry::of::<get_documents::GetDocuments>(),
    Entry::of::<get_embedding::GetEmbedding>(),
    Entry::of::<get_pages::GetPages>(),
    Entry::of::<get_sheet_data::GetSheetData>(),
    Entry::of::<get_slides::GetSlides>(),
    Entry::of::<get_status::GetStatus>(),
    Entry::of::<index_codebase::IndexCodebase>(),
    Entry::of::<index_stats::IndexStats>(),
    Entry::of::<list_documents::ListDocuments>(),
    Entry::of::<list_folders::ListFolders>(),
    Entry::of::<list_indexes::ListIndexes>(),
    Entry::of::<search::Search>(),
    Entry::of::<search_code::SearchCode>(),
    Entry::of::<search_docs::SearchDocs>(),
    Entry::of::<search_regex::SearchRegex>(),
    Entry::of::<upload_document::UploadDocument>(),
];

/// The tools with their schemas, derived once.
fn all() -> &'static [Definition] {
    static ALL: OnceLock<Vec<Definition>> = OnceLock::new();
    ALL.get_or_init(|| TOOLS.iter().map(|tool| tool.define()).collect())
}

fn find(name: &str) -> Option<&'static Definition> {
    all().iter().find(|tool| tool.name() == name)
}

/// What is published of the tools, sorted by name, and whether each writes.
pub(crate) fn published() -> impl Iterator<Item = (&'static Object, bool)> {
    all().iter().map(|tool| (&tool.published, writes(tool)))
}

fn writes(tool: &Definition) -> bool {
    tool.effect != Effect::Reads
}

/// Whether there is a tool of that name that writes.
pub(crate) fn is_writing(name: &str) -> bool {
    find(name).is_some_and(writes)
}

/// Refuses a change where nothing may be changed, or not by this client.
pub(crate) fn may_write(indexes: &Indexes, client_may: bool) -> Result<(), ToolError> {
    resolve::may_write(indexes, client_may)
}

/// Answers one call.
pub(crate) fn dispatch(mut call: Call<'_>) -> Result<ToolResponse, ToolError> {
    let tool = find(call.name);
    let tool = tool.ok_or_else(|| ToolError::new("INTERNAL", format!("no tool {}", call.name)))?;
    if writes(tool) {
        resolve::may_write(call.indexes, call.may_write)?;
    }
    tool.answer(&mut call)
}
