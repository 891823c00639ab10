//! What goes out: the two forms of an answer, errors, and the words both are made of. No engine
//! call, no input or output.

mod engine_error;
pub(crate) mod envelope;
mod remedy;
mod text;
pub(crate) mod time;
pub(crate) mod uri;

use std::borrow::Cow;

use kb_engine::escape::escape_line;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

pub(crate) use text::Text;

/// A JSON object.
pub(crate) type Object = Map<String, Value>;

/// The answer of a tool in its two forms. Either is all that some hosts show a model, so neither may
/// be a summary of the other.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ToolResponse {
    /// The structured form.
    pub(crate) structured: Object,
    /// The same for a reader.
    pub(crate) text: String,
}

impl ToolResponse {
    /// A result from the type of its structured form, whose `None`s are left out at any depth, and its
    /// text.
    pub(crate) fn new(structured: &impl Serialize, text: String) -> ToolResponse {
        let structured = serde_json::to_value(structured).unwrap_or_default();
        ToolResponse {
            structured: object(structured),
            text,
        }
    }
}

/// Things the caller should know: ignored arguments, degraded mode, stale index.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Warnings(Vec<String>);

impl Warnings {
    /// `None` without any, since a result without warnings has no such field.
    pub(crate) fn of(warnings: Vec<String>) -> Option<Warnings> {
        (!warnings.is_empty()).then_some(Warnings(warnings))
    }
}

/// An error that a model can do something about.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ToolError {
    /// Stable name of the kind of error.
    pub(crate) code: &'static str,
    /// The argument that the error is about, where it is about one that the engine names.
    pub(crate) argument: Option<&'static str>,
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
            argument: None,
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

    /// The same error about an argument that a tool calls otherwise than the others.
    pub(crate) fn rename_argument(
        mut self,
        rename: impl FnOnce(&'static str) -> &'static str,
    ) -> ToolError {
        self.argument = self.argument.map(rename);
        self
    }

    /// `CODE: sentence. Hint.` or `CODE: argument: sentence. Hint.`, in one line: names in it may come
    /// from anywhere.
    pub(crate) fn text(&self) -> String {
        let argument = self.argument.map(|argument| format!("{argument}: "));
        let hint = self.hint.as_ref().map(|hint| format!(" {hint}."));
        let text = format!(
            "{}: {}{}.{}",
            self.code,
            argument.unwrap_or_default(),
            self.sentence,
            hint.unwrap_or_default()
        );
        escape_line(&text).into_owned()
    }
}

/// Characters of what a client said that an error repeats.
const SHORT: usize = 100;

/// The beginning of what a client said.
pub(crate) fn short(said: &str) -> Cow<'_, str> {
    cut(said, SHORT)
}

/// At most `length` characters of a text.
pub(crate) fn cut(text: &str, length: usize) -> Cow<'_, str> {
    match text.char_indices().nth(length) {
        None => Cow::Borrowed(text),
        Some((end, _)) => format!("{}\u{2026}", text.get(..end).unwrap_or_default()).into(),
    }
}

/// The fields of a JSON object without those that are null, at any depth: a result leaves out what has
/// no value.
pub(crate) fn object(mut value: Value) -> Object {
    remove_nulls(&mut value);
    match value {
        Value::Object(object) => object,
        _ => Object::new(),
    }
}

fn remove_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, value| !value.is_null());
            fields.values_mut().for_each(remove_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_nulls),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_error_is_one_line_of_code_sentence_and_hint() {
        let error = ToolError::new("CODE", "no a\nb").with_hint("Try c");
        assert_eq!(error.text(), "CODE: no a\\nb. Try c.");
        assert_eq!(ToolError::new("CODE", "no").text(), "CODE: no.");
    }

    #[test]
    fn what_has_no_value_is_left_out() {
        let given = json!({"a": null, "b": [{"c": null, "d": 0}], "e": {"f": null}});
        assert_eq!(
            Value::Object(object(given)),
            json!({"b": [{"d": 0}], "e": {}})
        );
    }
}
