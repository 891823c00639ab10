//! Results of tools.

use schemars::JsonSchema;
use serde::Serialize;

use super::json::{Object, object};

/// The result of a tool as structured JSON and as equivalent text. Some hosts show a model only one of
/// the two, so neither is a summary of the other.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ToolResponse {
    pub(crate) structured: Object,
    pub(crate) text: String,
}

impl ToolResponse {
    /// A result from the type of its structured form, whose `None`s are left out at any depth, and its
    /// text.
    pub(crate) fn new(structured: &impl Serialize, text: String) -> ToolResponse {
        let structured = serde_json::to_value(structured).unwrap_or_default();
        ToolResponse {
            structured: object(structured),
            text,
        }
    }
}

/// Warnings for the caller: ignored arguments, degraded mode, stale index.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Warnings(Vec<String>);

impl Warnings {
    /// `None` without any, since a result without warnings has no such field.
    pub(crate) fn of(warnings: Vec<String>) -> Option<Warnings> {
        (!warnings.is_empty()).then_some(Warnings(warnings))
    }
}

/// The warning that all documents were embedded again, because the model of their vectors, `before`, is no
/// longer built in.
pub(crate) fn new_model(before: &str) -> String {
    format!(
        "all documents were embedded again with {}: the old vectors were made by the embedding model {before}",
        kb_engine::BUILT_IN_MODEL
    )
}
