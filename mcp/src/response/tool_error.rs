//! Errors that a model can act on.

use kb_engine::escape::escape_line;
use serde_json::Value;

use super::json::Object;

/// An error that is the result of a tool call: a model can act on it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ToolError {
    /// The stable name of the kind of error.
    pub(crate) code: &'static str,
    /// The argument that the error is about, if there is one.
    pub(crate) argument: Option<&'static str>,
    /// What happened, without a full stop.
    pub(crate) sentence: String,
    /// What to do, without a full stop.
    pub(crate) hint: Option<String>,
    /// More facts for programs, beside the code.
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

    /// The same error with the name that a tool has for the argument.
    pub(crate) fn rename_argument(
        mut self,
        rename: impl FnOnce(&'static str) -> &'static str,
    ) -> ToolError {
        self.argument = self.argument.map(rename);
        self
    }

    /// `CODE: sentence. Hint.` or `CODE: argument: sentence. Hint.`, as one escaped line: names in it may
    /// come from documents.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_one_line_of_code_sentence_and_hint() {
        let error = ToolError::new("CODE", "no a\nb").with_hint("Try c");
        assert_eq!(error.text(), "CODE: no a\\nb. Try c.");
        assert_eq!(ToolError::new("CODE", "no").text(), "CODE: no.");
    }
}
