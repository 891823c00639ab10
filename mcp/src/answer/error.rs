//! Errors of the engine in the words of this server: a code and a sentence without flags of the
//! command line.

use kb_engine::Error;

use super::ToolError;

impl From<Error> for ToolError {
    fn from(error: Error) -> ToolError {
        ToolError::new(error.code(), error.to_string())
    }
}
