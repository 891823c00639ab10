//! Results of tools as JSON and as text, errors, and their parts. Calls no engine function and does no input or output.

mod engine_error;
pub(crate) mod envelope;
mod json;
mod text;
pub(crate) mod time;
mod tool_error;
mod tool_response;
mod truncate;
pub(crate) mod uri;
pub(crate) mod wording;

pub(crate) use json::{Object, object};
pub(crate) use text::Text;
pub(crate) use tool_error::ToolError;
pub(crate) use tool_response::{ToolResponse, Warnings, new_model};
pub(crate) use truncate::{cut, short};
