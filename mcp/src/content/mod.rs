//! Resources, their templates, prompts and completion: plain data in and out.

mod completion;
mod prompts;
mod resources;

use std::sync::Arc;

pub(crate) use completion::{Reference, complete};
pub(crate) use prompts::{prompt, prompts};
pub(crate) use resources::{read, resources, revision, templates};

use crate::indexes::{Index, Indexes};
use crate::response::ToolError;

/// Why a request gets an error of the protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// No such resource; the address as given.
    NotFound(String),
    /// An argument that cannot be; what is wrong with it.
    Invalid(String),
    /// The engine failed; its code and what it says.
    Failed(String),
}

impl From<kb_engine::Error> for Refusal {
    fn from(error: kb_engine::Error) -> Refusal {
        Refusal::Failed(ToolError::from(error).text())
    }
}

/// The index that arguments name; without a name the only one, or the first.
fn index_of(indexes: &Indexes, name: Option<&str>) -> Option<Arc<Index>> {
    match name.filter(|name| !name.is_empty()) {
        Some(name) => indexes.named(name).ok(),
        None => indexes.list().into_iter().next(),
    }
}
