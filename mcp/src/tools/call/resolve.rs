//! Which open files a call speaks of.

use std::sync::Arc;

use kb_engine::{Class, DocumentInfo};

use super::Call;
use super::arguments::Arguments;
use crate::indexes::{Index, each};
use crate::response::{ToolError, short};

/// The words of one of the sources for an index.
const PROJECT: &[&str] = &["projectId", "project_id", "project"];

/// The one index.
pub(in crate::tools) fn one(
    call: &Call<'_>,
    arguments: &Arguments,
) -> Result<Arc<Index>, ToolError> {
    let found = call.indexes.pick(arguments.index_name());
    let index = found.map_err(|error| in_their_words(error, arguments))?;
    // An error of what cannot be read at all shall name it.
    let state = index.kb().state();
    state.map_err(|error| index.failure(error))?;
    Ok(index)
}

/// The indexes that a search asks.
pub(in crate::tools) fn all(
    call: &Call<'_>,
    arguments: &Arguments,
) -> Result<Vec<Arc<Index>>, ToolError> {
    let found = call.indexes.pick_all(arguments.index_name());
    found.map_err(|error| in_their_words(error, arguments))
}

/// The document of that name and its index.
pub(in crate::tools) fn document(
    call: &Call<'_>,
    arguments: &Arguments,
    name: &str,
) -> Result<(Arc<Index>, DocumentInfo), ToolError> {
    call.indexes.document(arguments.index_name(), name)
}

/// Whether one of these indexes has documents of one of these classes.
pub(in crate::tools) fn any_has(
    indexes: &[Arc<Index>],
    classes: &[Class],
) -> Result<bool, ToolError> {
    // The next query of an unreadable index reports the error.
    let found = each(indexes, &mut Vec::new(), |index| {
        index.kb().has_class(classes)
    })?;
    Ok(found.iter().any(|(_, has)| *has))
}

/// Refuses a call that would write where it may not.
pub(in crate::tools) fn may_write(call: &Call<'_>) -> Result<(), ToolError> {
    let refused = |sentence, hint| Err(ToolError::new("INDEX_READ_ONLY", sentence).with_hint(hint));
    match (call.indexes.allow_write(), call.may_write) {
        (true, true) => Ok(()),
        (false, _) => refused(
            "this server does not write",
            "Whoever runs it can start it with writing allowed",
        ),
        (true, false) => refused(
            "this access token may only read",
            "A token with write scope may write",
        ),
    }
}

/// Whoever asked for a project is told of a project.
fn in_their_words(error: ToolError, arguments: &Arguments) -> ToolError {
    if error.code != "INDEX_NOT_FOUND" || !arguments.is_spelled(PROJECT) {
        return error;
    }
    let name = arguments.index_name().unwrap_or_default();
    ToolError {
        sentence: format!("project not found: no index is called {:?}", short(name)),
        ..error
    }
}
