//! Content of the fixtures, and results made of it.

use rmcp::model::{CallToolResponse, CallToolResult, ErrorData};
use serde_json::{Value, json};

/// A PNG of one pixel.
pub(super) const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5E\
                   rkJggg==";

/// A WAV file of one sample.
pub(super) const WAV: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQIAAAAAAA==";

/// A result with that content.
pub(super) fn complete(content: Value) -> Result<CallToolResponse, ErrorData> {
    let content = serde_json::from_value(content).map_err(internal)?;
    Ok(CallToolResult::success(content).into())
}

/// A text block.
pub(super) fn text_block(text: impl Into<String>) -> Value {
    json!({ "type": "text", "text": text.into() })
}

/// An image block.
pub(super) fn image() -> Value {
    json!({ "type": "image", "data": PNG, "mimeType": "image/png" })
}

/// An error that the suite does not expect.
pub(super) fn internal(error: impl ToString) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}
