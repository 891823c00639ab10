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

    /// `CODE: sentence. Hint.`, in one line: names in it may come from anywhere.
    pub(crate) fn text(&self) -> String {
        let hint = self.hint.as_ref().map(|hint| format!(" {hint}."));
        let text = format!(
            "{}: {}.{}",
            self.code,
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

/// Adds `warnings` to an answer that has some.
pub(crate) fn insert_warnings(answer: &mut Object, warnings: &[String]) {
    if !warnings.is_empty() {
        answer.insert("warnings".to_owned(), warnings.into());
    }
}

/// The fields of a JSON object literal, without those that are null, at any depth: what has no value
/// is left out of an answer.
pub(crate) fn object(value: Value) -> Object {
    match without_nulls(value) {
        Value::Object(object) => object,
        _ => Object::new(),
    }
}

fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields.into_iter().filter(|(_, value)| !value.is_null());
            Value::Object(fields.map(|(k, v)| (k, without_nulls(v))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(without_nulls).collect()),
        other => other,
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
