//! The tools: a name and arguments become an answer. Plain functions; nothing here waits for a
//! client.

mod arguments;
mod fit;
mod going_on;
#[cfg(test)]
pub(crate) mod schema;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::answer::{Answer, Object, ToolError};
use crate::indexes::Indexes;

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

/// Answers one call.
pub(crate) fn call(call: &Call<'_>) -> Result<Answer, ToolError> {
    Err(ToolError::new(
        "INTERNAL",
        format!("{} is not there yet", call.name),
    ))
}
