//! Errors of requests for resources and prompts, which become protocol errors.

use crate::response::ToolError;

/// An error of the protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ContentError {
    /// There is no resource of this URI.
    NotFound(String),
    /// An argument is wrong; the message for the client.
    InvalidArgument(String),
    /// The engine failed; its code and message.
    Failed(String),
}

impl From<kb_engine::Error> for ContentError {
    fn from(error: kb_engine::Error) -> ContentError {
        ContentError::Failed(ToolError::from(error).text())
    }
}
