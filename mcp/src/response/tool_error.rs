//! Errors that a model can act on.

use kb_engine::escape::escape_line;
use serde_json::Value;

use super::json::Object;
use super::truncate::cut;

/// Characters of the sentence, and of the hint: an error has at most 2000, whatever the names in it.
const PART_LIMIT: usize = 960;

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
    /// come from documents. A hint that is a question keeps its mark.
    pub(crate) fn text(&self) -> String {
        let argument = self.argument.map(|argument| format!("{argument}: "));
        let argument = argument.unwrap_or_default();
        let sentence = format!("{argument}{}", self.sentence);
        let mut text = format!("{}: {}.", self.code, part(&sentence));
        if let Some(hint) = &self.hint {
            let end = if hint.ends_with('?') { "" } else { "." };
            text.push_str(&format!(" {}{end}", part(hint)));
        }
        text
    }
}

/// A part of an error, escaped and cut.
fn part(text: &str) -> String {
    cut(&escape_line(text), PART_LIMIT).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_one_line_of_code_sentence_and_hint() {
        let error = ToolError::new("CODE", "no a\nb").with_hint("Try c");
        assert_eq!(error.text(), "CODE: no a\\nb. Try c.");
        assert_eq!(ToolError::new("CODE", "no").text(), "CODE: no.");
        let error = error.with_hint("Did you mean b?");
        assert_eq!(error.text(), "CODE: no a\\nb. Did you mean b?");
    }

    #[test]
    fn an_error_is_short_whatever_is_in_it() {
        let long = "a\n".repeat(5000);
        let error = ToolError::new("CODE", &long).with_hint(&long);
        assert!(error.text().chars().count() <= 2000);
    }
}
