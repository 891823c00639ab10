//! Completion of arguments.

use std::sync::Arc;

use super::error::ContentError;
use super::prompts::is_prompt;
use super::resources::templates;
use crate::indexes::{Index, Indexes};
use crate::response::{Object, short};

/// Most values of one completion: the limit of the protocol.
const VALUES_LIMIT: usize = 100;

/// The values that an argument may be completed to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Completion {
    /// At most 100, best first.
    pub(crate) values: Vec<String>,
    /// How many there are in total.
    pub(crate) total: u64,
}

/// What the argument belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reference<'r> {
    /// A prompt by its name.
    Prompt(&'r str),
    /// A resource template by its URI.
    Template(&'r str),
}

/// Completes an argument of a prompt or a template. `given` has those that are filled in
/// already.
pub(crate) fn complete(
    indexes: &Indexes,
    reference: Reference<'_>,
    argument: &str,
    prefix: &str,
    given: &Object,
) -> Result<Completion, ContentError> {
    let is_known = match reference {
        Reference::Prompt(name) => is_prompt(name),
        Reference::Template(address) => templates().iter().any(|template| {
            template.get("uriTemplate").and_then(|uri| uri.as_str()) == Some(address)
        }),
    };
    if !is_known {
        return Err(ContentError::InvalidArgument(match reference {
            Reference::Prompt(name) => format!("Unknown prompt: {}", short(name)),
            Reference::Template(address) => {
                format!("Unknown resource template: {}", short(address))
            }
        }));
    }
    match (reference, argument) {
        (_, "index_name") => Ok(names(indexes, prefix)),
        (Reference::Template(_), "path") | (Reference::Prompt(_), "document_id" | "target") => {
            let name = given.get("index_name").and_then(|name| name.as_str());
            let Some(index) = index_of(indexes, name) else {
                return Ok(Completion::default());
            };
            let (values, total) = index.kb().complete_path(prefix, VALUES_LIMIT)?;
            Ok(Completion { values, total })
        }
        _ => Ok(Completion::default()),
    }
}

/// The index that the arguments name; without a name the only one, or the first.
fn index_of(indexes: &Indexes, name: Option<&str>) -> Option<Arc<Index>> {
    match name.filter(|name| !name.is_empty()) {
        Some(name) => indexes.named(name).ok(),
        None => indexes.list().into_iter().next(),
    }
}

/// Names of indexes that start with the prefix, then those that contain it.
fn names(indexes: &Indexes, prefix: &str) -> Completion {
    let all = indexes.list();
    let names = || all.iter().map(|index| index.name().to_owned());
    let mut values: Vec<String> = names().filter(|name| name.starts_with(prefix)).collect();
    values.extend(names().filter(|name| !name.starts_with(prefix) && name.contains(prefix)));
    Completion {
        total: values.len() as u64,
        values,
    }
}
