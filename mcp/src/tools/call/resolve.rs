//! Which open files and which document a call names.

use std::sync::Arc;

use kb_engine::Class;

use super::context::Context;
use crate::indexes::{Index, Indexes, each};
use crate::response::{ToolError, short};

/// Aliases of `index_name` that say project.
const PROJECT: &[&str] = &["projectId", "project_id", "project"];

/// The one index of that name; without a name, the only one or the one of the working directory.
pub(in crate::tools) fn one(cx: &Context<'_>, name: Option<&str>) -> Result<Arc<Index>, ToolError> {
    let found = cx.indexes.pick(name);
    let index = found.map_err(|error| with_alias(cx, name, error))?;
    // Of a file that cannot be read, the error names the index.
    let state = index.kb().state();
    state.map_err(|error| index.failure(error))?;
    Ok(index)
}

/// The indexes that a search of that name asks; without a name, all.
pub(in crate::tools) fn all(
    cx: &Context<'_>,
    name: Option<&str>,
) -> Result<Vec<Arc<Index>>, ToolError> {
    let found = cx.indexes.pick_all(name);
    found.map_err(|error| with_alias(cx, name, error))
}

/// As [`all`], but without a name the one of the working directory, where there is one.
pub(in crate::tools) fn of_directory(
    cx: &Context<'_>,
    name: Option<&str>,
) -> Result<Vec<Arc<Index>>, ToolError> {
    match (name, cx.indexes.pick(None)) {
        (None, Ok(index)) => Ok(vec![index]),
        (name, _) => all(cx, name),
    }
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
pub(in crate::tools) fn may_write(indexes: &Indexes, client_may: bool) -> Result<(), ToolError> {
    let refused =
        |sentence, hint: String| Err(ToolError::new("INDEX_READ_ONLY", sentence).with_hint(hint));
    match (indexes.allow_write(), client_may) {
        (true, true) => Ok(()),
        (false, _) => refused(
            "this server was started without --allow-write, so nothing can be added or changed",
            format!(
                "Its operator can start it as: {} FILE.kb --allow-write",
                indexes.command()
            ),
        ),
        (true, false) => refused(
            "this access token is read-only",
            "A token created with `kb token create NAME --write` can write".to_owned(),
        ),
    }
}

/// The error for a call that names a project.
fn with_alias(cx: &Context<'_>, name: Option<&str>, error: ToolError) -> ToolError {
    if error.code != "INDEX_NOT_FOUND" || !cx.is_spelled(PROJECT) {
        return error;
    }
    let name = short(name.unwrap_or_default());
    ToolError {
        sentence: format!("project not found: no index is called {name:?}"),
        ..error
    }
}
