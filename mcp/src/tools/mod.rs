//! The tools: a name and arguments become an answer. Plain functions; nothing here waits for a
//! client.

mod arguments;
#[cfg(test)]
mod bench;
mod choose;
mod fit;
mod going_on;
mod hits;
#[cfg(test)]
pub(crate) mod schema;
mod search;
mod search_code;
mod search_docs;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use kb_engine::Class;

use crate::answer::{Answer, Object, ToolError};
use crate::indexes::{Index, Indexes};
use arguments::Arguments;

/// One call of a tool.
pub(crate) struct Call<'c> {
    /// The open files.
    pub(crate) indexes: &'c Arc<Indexes>,
    /// Name of the tool, one of those advertised.
    pub(crate) name: &'c str,
    /// What it is given.
    pub(crate) arguments: Object,
    /// Whether this client may write; the server must allow it too.
    pub(crate) may_write: bool,
    /// Set when the client wants no answer any more.
    pub(crate) cancel: &'c Arc<AtomicBool>,
    /// Told how much of how much is done (0: not known yet); cheap to call often.
    pub(crate) progress: &'c (dyn Fn(u64, u64) + Sync),
}

/// How a tool answers: from the call and its arguments, checked.
type Tool = fn(&Call<'_>, &Arguments) -> Result<Answer, ToolError>;

/// The tools by name.
const TOOLS: &[(&str, Tool)] = &[
    ("search", search::call),
    ("search_code", search_code::call),
    ("search_docs", search_docs::call),
];

/// Answers one call.
pub(crate) fn call(call: &Call<'_>) -> Result<Answer, ToolError> {
    let arguments = Arguments::read(call.name, call.arguments.clone())?;
    let mut tools = TOOLS.iter();
    let tool = tools.find(|(name, _)| *name == call.name);
    let (_, tool) =
        tool.ok_or_else(|| ToolError::new("INTERNAL", format!("{} is not there yet", call.name)))?;
    tool(call, &arguments)
}

/// Whether one of these indexes has documents of one of these classes.
fn any_has(indexes: &[Arc<Index>], classes: &[Class]) -> Result<bool, ToolError> {
    for index in indexes {
        if index.kb().has_class(classes)? {
            return Ok(true);
        }
    }
    Ok(false)
}
