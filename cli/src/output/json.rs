//! One JSON object on one line, its fields in the order they are written here.

use kb_engine::shown_score;
use serde_json::{Value, json};

/// Fields of one object, in order.
#[derive(Debug, Default)]
pub(crate) struct Object {
    text: String,
}

impl Object {
    pub(crate) fn new() -> Object {
        Object::default()
    }

    pub(crate) fn field(mut self, name: &str, value: impl Into<Value>) -> Object {
        self.start(name);
        self.text.push_str(&value.into().to_string());
        self
    }

    pub(crate) fn object(mut self, name: &str, value: Object) -> Object {
        self.start(name);
        self.text.push_str(&value.finish());
        self
    }

    pub(crate) fn objects(mut self, name: &str, values: Vec<Object>) -> Object {
        self.start(name);
        let values: Vec<String> = values.into_iter().map(Object::finish).collect();
        self.text.push('[');
        self.text.push_str(&values.join(","));
        self.text.push(']');
        self
    }

    /// The object without a line end.
    pub(crate) fn finish(self) -> String {
        format!("{{{}}}", self.text)
    }

    fn start(&mut self, name: &str) {
        if !self.text.is_empty() {
            self.text.push(',');
        }
        self.text.push_str(&json!(name).to_string());
        self.text.push(':');
    }
}

/// A number with six decimals: an `f32` has no more, and its widening would show noise. A score as it
/// is shown passes as `--min-score`.
pub(crate) fn score(value: f32) -> Value {
    json!(shown_score(value, 6))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_keep_their_order_and_text_is_escaped() {
        let object = Object::new()
            .field("z", "a \"b\"\n")
            .field("a", 1u64)
            .objects(
                "list",
                vec![Object::new().field("x", Value::Null), Object::new()],
            )
            .object("inner", Object::new().field("yes", true));
        assert_eq!(
            object.finish(),
            r#"{"z":"a \"b\"\n","a":1,"list":[{"x":null},{}],"inner":{"yes":true}}"#
        );
    }

    #[test]
    fn a_score_shows_no_noise_of_its_width() {
        assert_eq!(score(0.61).to_string(), "0.61");
        assert_eq!(score(0.0).to_string(), "0.0");
        let below = f32::from_bits(0.5f32.to_bits() - 1);
        assert_eq!(score(below).to_string(), "0.499999");
    }
}
