//! What goes out: the two forms of an answer, errors, and the words both are made of. No engine
//! call, no input or output.

mod error;
pub(crate) mod uri;

use serde_json::{Map, Value};

/// A JSON object.
pub(crate) type Object = Map<String, Value>;

/// The answer of a tool in its two forms. Either is all that some hosts show a model, so neither may
/// be a summary of the other.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer {
    /// The structured form.
    pub(crate) structured: Object,
    /// The same for a reader.
    pub(crate) text: String,
}

/// An error that a model can do something about.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ToolError {
    /// Stable name of the kind of error.
    pub(crate) code: &'static str,
    /// What happened, without a full stop.
    pub(crate) sentence: String,
    /// What to do, without a full stop.
    pub(crate) hint: Option<String>,
    /// More for programs, beside the code.
    pub(crate) facts: Object,
}

impl ToolError {
    pub(crate) fn new(code: &'static str, sentence: impl Into<String>) -> ToolError {
        ToolError {
            code,
            sentence: sentence.into(),
            hint: None,
            facts: Object::new(),
        }
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> ToolError {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn with_fact(mut self, name: &str, fact: impl Into<Value>) -> ToolError {
        self.facts.insert(name.to_owned(), fact.into());
        self
    }

    /// `CODE: sentence. Hint.`
    pub(crate) fn text(&self) -> String {
        let mut text = format!("{}: {}.", self.code, self.sentence);
        if let Some(hint) = &self.hint {
            text.push(' ');
            text.push_str(hint);
            text.push('.');
        }
        text
    }
}
