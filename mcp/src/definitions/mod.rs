//! What a server publishes about itself: the definitions of its tools, the instructions for models, and
//! the reference page.

mod instructions;
mod reference;

pub(crate) use instructions::instructions;
pub use reference::reference;

use crate::response::Object;
use crate::tools;

/// The definitions as published, sorted by name; those that write only where writing is allowed.
pub(crate) fn definitions(allow_write: bool) -> Vec<Object> {
    let shown = tools::published().filter(|(_, writes)| allow_write || !writes);
    shown.map(|(tool, _)| tool.clone()).collect()
}

#[cfg(test)]
mod tests;
