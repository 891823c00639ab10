//! The tools: a name and arguments become an answer. Plain functions; nothing here waits for a
//! client.

mod arguments;
#[cfg(test)]
mod bench;
mod choose;
mod clear;
mod codebase;
mod content;
mod data;
mod document;
mod documents;
mod embedding;
mod fit;
mod folders;
mod going_on;
mod hits;
mod indexes;
mod outline;
mod pages;
#[cfg(test)]
mod parts;
#[cfg(test)]
pub(crate) mod schema;
mod search;
mod search_code;
mod search_docs;
mod stats;
mod status;
mod typed;
mod upload;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use kb_engine::Class;

use crate::catalog;
use crate::indexes::{Index, Indexes, each};
use crate::response::{Object, ToolError, ToolResponse};
use arguments::Arguments;

/// One call of a tool.
pub(crate) struct Call<'c> {
    /// The open files.
    pub(crate) indexes: &'c Arc<Indexes>,
    /// Name of the tool, one of those advertised.
    pub(crate) name: &'c str,
    /// What it is given; taken out when it is read.
    pub(crate) arguments: Object,
    /// Whether this client may write; the server must allow it too.
    pub(crate) may_write: bool,
    /// Set when the client wants no answer any more.
    pub(crate) cancel: &'c Arc<AtomicBool>,
    /// Told how much of how much is done (0: not known yet); cheap to call often.
    pub(crate) progress: &'c (dyn Fn(u64, u64) + Sync),
}

/// How a tool answers: from the call and its arguments, checked.
type Tool = fn(&Call<'_>, &Arguments) -> Result<ToolResponse, ToolError>;

/// The tools by name.
const TOOLS: &[(&str, Tool)] = &[
    ("clear_index", clear::call),
    ("get_document", document::call),
    ("get_document_data", data::call),
    ("get_document_outline", outline::call),
    ("get_embedding", embedding::call),
    ("get_pages", pages::call),
    ("get_status", status::call),
    ("index_codebase", codebase::call),
    ("index_stats", stats::call),
    ("list_documents", documents::call),
    ("list_folders", folders::call),
    ("list_indexes", indexes::call),
    ("search", search::call),
    ("search_code", search_code::call),
    ("search_docs", search_docs::call),
    ("upload_document", upload::call),
];

/// Answers one call.
pub(crate) fn call(mut call: Call<'_>) -> Result<ToolResponse, ToolError> {
    if catalog::definition(call.name).is_some_and(catalog::writes) {
        choose::may_write(&call)?;
    }
    let arguments = Arguments::read(call.name, std::mem::take(&mut call.arguments))?;
    let mut tools = TOOLS.iter();
    let tool = tools.find(|(name, _)| *name == call.name);
    let (_, tool) =
        tool.ok_or_else(|| ToolError::new("INTERNAL", format!("{} is not there yet", call.name)))?;
    tool(&call, &arguments).map_err(|error| arguments.in_its_names(error))
}

/// Whether one of these indexes has documents of one of these classes.
fn any_has(indexes: &[Arc<Index>], classes: &[Class]) -> Result<bool, ToolError> {
    // Whoever asks them next says which cannot be read.
    let found = each(indexes, &mut Vec::new(), |index| {
        index.kb().has_class(classes)
    })?;
    Ok(found.iter().any(|(_, has)| *has))
}

/// `None` for an empty text, which is left out of answers.
fn some(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_advertised_tool_answers() {
        let advertised = catalog::definitions(true);
        let names: Vec<&str> = advertised
            .iter()
            .filter_map(|tool| tool["name"].as_str())
            .collect();
        let answering: Vec<&str> = TOOLS.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, answering);
    }
}
