//! What the tools share: reading arguments, choosing indexes, fitting a budget, going on with a cursor.

pub(super) mod arguments;
pub(super) mod budget;
pub(super) mod coerce;
pub(super) mod cursor;
pub(super) mod hits;
pub(super) mod resolve;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::indexes::Indexes;
use crate::response::Object;

/// One call of a tool.
pub(crate) struct Call<'c> {
    /// The open files.
    pub(crate) indexes: &'c Arc<Indexes>,
    /// Name of the tool, one of those advertised.
    pub(crate) name: &'c str,
    /// The arguments as the client sent them; taken out when they are read.
    pub(crate) arguments: Object,
    /// Whether this client may write; the server must allow it too.
    pub(crate) may_write: bool,
    /// Set when the client no longer waits for the result.
    pub(crate) cancel: &'c Arc<AtomicBool>,
    /// Receives the work done and the total (0: not known yet); called often, so it must be cheap.
    pub(crate) progress: &'c (dyn Fn(u64, u64) + Sync),
}

/// `None` for an empty text, which is left out of results.
pub(super) fn non_empty(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}
