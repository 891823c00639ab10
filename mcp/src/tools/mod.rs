//! The tools: a name and arguments become an answer. Plain functions; nothing here waits for a
//! client.

mod call;
mod clear_index;
mod get_document;
mod get_document_data;
mod get_document_outline;
mod get_embedding;
mod get_pages;
mod get_status;
mod index_codebase;
mod index_stats;
mod list_documents;
mod list_folders;
mod list_indexes;
mod search;
mod search_code;
mod search_docs;
#[cfg(test)]
pub(crate) mod testing;
mod upload_document;

use crate::definitions;
use crate::response::{ToolError, ToolResponse};
pub(crate) use call::Call;
use call::arguments::Arguments;
use call::resolve;

/// How a tool answers: from the call and its arguments, checked.
type Tool = fn(&Call<'_>, &Arguments) -> Result<ToolResponse, ToolError>;

/// The tools by name.
const TOOLS: &[(&str, Tool)] = &[
    ("clear_index", clear_index::call),
    ("get_document", get_document::call),
    ("get_document_data", get_document_data::call),
    ("get_document_outline", get_document_outline::call),
    ("get_embedding", get_embedding::call),
    ("get_pages", get_pages::call),
    ("get_status", get_status::call),
    ("index_codebase", index_codebase::call),
    ("index_stats", index_stats::call),
    ("list_documents", list_documents::call),
    ("list_folders", list_folders::call),
    ("list_indexes", list_indexes::call),
    ("search", search::call),
    ("search_code", search_code::call),
    ("search_docs", search_docs::call),
    ("upload_document", upload_document::call),
];

/// Answers one call.
pub(crate) fn dispatch(mut call: Call<'_>) -> Result<ToolResponse, ToolError> {
    if definitions::definition(call.name).is_some_and(definitions::writes) {
        resolve::may_write(&call)?;
    }
    let arguments = Arguments::read(call.name, std::mem::take(&mut call.arguments))?;
    let mut tools = TOOLS.iter();
    let tool = tools.find(|(name, _)| *name == call.name);
    let (_, tool) =
        tool.ok_or_else(|| ToolError::new("INTERNAL", format!("{} is not there yet", call.name)))?;
    tool(&call, &arguments).map_err(|error| arguments.in_its_names(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_advertised_tool_answers() {
        let advertised = definitions::definitions(true);
        let names: Vec<&str> = advertised
            .iter()
            .filter_map(|tool| tool["name"].as_str())
            .collect();
        let answering: Vec<&str> = TOOLS.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, answering);
    }
}
