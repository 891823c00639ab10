//! Results and errors of the protocol, from those of tools and content.

use std::time::Duration;

use kb_engine::escape::escape_line;
use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock, MetaObject, PaginatedRequestParams};
use serde_json::{Value, json};

use super::executor::JobError;
use super::server::implementation;
use crate::content::ContentError;
use crate::limits::ADDRESS_LIMIT_BYTES;
use crate::response::{Object, ToolError, ToolResponse, cut};

/// Longest message of an error, in characters: it may repeat what a client sent.
const MESSAGE_LIMIT: usize = 300;

/// Key of `_meta` under which results name the server.
const SERVER_KEY: &str = "io.modelcontextprotocol/serverInfo";

/// Limits the length of a URI, which is looked up, may be kept, and is repeated in errors.
pub(super) fn check_uri(uri: &str) -> Result<(), ErrorData> {
    if uri.len() <= ADDRESS_LIMIT_BYTES {
        return Ok(());
    }
    let message = format!("uri: address over {ADDRESS_LIMIT_BYTES} bytes");
    Err(ErrorData::invalid_params(message, None))
}

/// Protocol 2026-07-28 requires every result to name its server.
pub(super) fn add_server_info(meta: &mut Option<MetaObject>) {
    if let Ok(server) = serde_json::to_value(implementation()) {
        let meta = &mut meta.get_or_insert_default().0;
        meta.insert(SERVER_KEY.to_owned(), server);
    }
}

pub(super) fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Refuses a cursor where a list is always one page.
pub(super) fn reject_cursor(request: Option<&PaginatedRequestParams>) -> Result<(), ErrorData> {
    match request.and_then(|request| request.cursor.as_deref()) {
        None => Ok(()),
        Some(_) => Err(ErrorData::invalid_params("invalid cursor", None)),
    }
}

pub(super) fn array(objects: Vec<Object>) -> Value {
    objects.into_iter().map(Value::Object).collect()
}

pub(super) fn internal(error: impl ToString) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

/// An error of content as one of the protocol.
pub(super) fn to_error_data(error: ContentError) -> ErrorData {
    match error {
        ContentError::NotFound(uri) => {
            ErrorData::resource_not_found("Resource not found", Some(json!({ "uri": uri })))
        }
        // The message may repeat what the client sent.
        ContentError::InvalidArgument(message) => {
            let message = escape_line(&cut(&message, MESSAGE_LIMIT)).into_owned();
            ErrorData::invalid_params(message, None)
        }
        ContentError::Failed(reason) => internal(reason),
    }
}

/// The error of a tool call whose job has no result.
pub(super) fn job_error(error: JobError) -> ToolError {
    match error {
        JobError::Busy => ToolError::new("RATE_LIMITED", "too many calls at once")
            .with_hint("Call again in a few seconds"),
        JobError::Panicked => ToolError::new("INTERNAL", "this call hit a bug in the server")
            .with_hint("Other calls are answered; try this one with other arguments"),
        JobError::Cancelled => ToolError::new("CANCELLED", "the call was cancelled"),
    }
}

/// The result of a tool call. A [`ToolError`] is a result as well, with `isError`: the model can act
/// on it, while an error of the protocol is for the program around it.
pub(super) fn tool_result(response: Result<ToolResponse, ToolError>) -> CallToolResult {
    match response {
        Ok(response) => {
            let mut result = CallToolResult::success(vec![ContentBlock::text(response.text)]);
            result.structured_content = Some(Value::Object(response.structured));
            result
        }
        Err(error) => {
            let mut result = CallToolResult::error(vec![ContentBlock::text(error.text())]);
            let mut facts = error.facts;
            facts.insert("code".to_owned(), error.code.into());
            let meta = result.meta.get_or_insert_default();
            meta.0.insert("dev.kb/error".to_owned(), facts.into());
            result
        }
    }
}
