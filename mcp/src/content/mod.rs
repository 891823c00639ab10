//! Resources, their templates, prompts and completion: plain data in and out.

use serde_json::Value;

use crate::answer::Object;
use crate::indexes::Indexes;

/// Why a request gets a protocol error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// No such resource; the address as given.
    NotFound(String),
    /// An argument that cannot be; what is wrong with it.
    Invalid(String),
    /// The engine failed.
    Failed(String),
}

/// One resource in a list: fields of the protocol's `Resource` (uri, name, title, mimeType, size,
/// annotations).
pub(crate) type Resource = Object;

/// A text that a resource holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Content {
    pub(crate) uri: String,
    pub(crate) mime_type: String,
    pub(crate) text: String,
}

/// What an argument may be completed to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Completion {
    /// At most 100.
    pub(crate) values: Vec<String>,
    /// How many there are.
    pub(crate) total: u64,
}

/// What is completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reference<'r> {
    /// A prompt by its name.
    Prompt(&'r str),
    /// A resource template by its address.
    Template(&'r str),
}

/// A page of all resources, and the cursor of the next one.
pub(crate) fn resources(
    indexes: &Indexes,
    cursor: Option<&str>,
) -> Result<(Vec<Resource>, Option<String>), Refusal> {
    let _ = (indexes, cursor);
    Ok((Vec::new(), None))
}

/// The resource templates: fields of the protocol's `ResourceTemplate`.
pub(crate) fn templates() -> Vec<Object> {
    Vec::new()
}

/// What a resource holds now.
pub(crate) fn read(indexes: &Indexes, uri: &str) -> Result<Content, Refusal> {
    let _ = indexes;
    Err(Refusal::NotFound(uri.to_owned()))
}

/// Stays the same as long as [`read`] would give the same; `None` for no resource.
pub(crate) fn revision(indexes: &Indexes, uri: &str) -> Option<String> {
    let _ = (indexes, uri);
    None
}

/// The prompts: fields of the protocol's `Prompt`.
pub(crate) fn prompts() -> Vec<Object> {
    Vec::new()
}

/// The text of one prompt with its arguments filled in, and its description.
pub(crate) fn prompt(name: &str, arguments: &Object) -> Result<(String, String), Refusal> {
    let _ = arguments;
    Err(Refusal::Invalid(format!("unknown prompt: {name}")))
}

/// Completes an argument of a prompt or a template. `given`: arguments that are already filled in.
pub(crate) fn complete(
    indexes: &Indexes,
    reference: Reference<'_>,
    argument: &str,
    typed: &str,
    given: &Object,
) -> Result<Completion, Refusal> {
    let _ = (indexes, reference, argument, typed, given);
    Ok(Completion::default())
}

/// The fields of a JSON object literal.
#[expect(dead_code, reason = "taken up by the lists")]
fn object(value: Value) -> Object {
    match value {
        Value::Object(object) => object,
        _ => Object::new(),
    }
}
