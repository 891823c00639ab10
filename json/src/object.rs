//! A JSON object that keeps the order of its fields.

use kb_engine::escape::escape_json;
use serde_json::{Value, json};

/// Fields of one object, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Object {
    /// What stands between the braces.
    text: String,
}

impl Object {
    /// An object without fields.
    #[must_use]
    pub fn new() -> Object {
        Object::default()
    }

    /// With one more field. A name that is there already comes twice.
    #[must_use]
    pub fn field(mut self, name: &str, value: impl Into<Value>) -> Object {
        self.start(name);
        self.text.push_str(&value.into().to_string());
        self
    }

    /// With one more field, which is an object itself.
    #[must_use]
    pub fn object(mut self, name: &str, value: Object) -> Object {
        self.start(name);
        self.text.push_str(&value.finish());
        self
    }

    /// With one more field, which is an array of objects.
    #[must_use]
    pub fn objects(mut self, name: &str, values: Vec<Object>) -> Object {
        self.start(name);
        let values: Vec<String> = values.into_iter().map(Object::finish).collect();
        self.text.push('[');
        self.text.push_str(&values.join(","));
        self.text.push(']');
        self
    }

    /// With all fields of another object behind its own.
    #[must_use]
    pub fn join(mut self, other: Object) -> Object {
        if !self.text.is_empty() && !other.text.is_empty() {
            self.text.push(',');
        }
        self.text.push_str(&other.text);
        self
    }

    /// The object as text, without a line end.
    #[must_use]
    pub fn finish(self) -> String {
        format!("{{{}}}", self.text)
    }

    /// The same with escapes of JSON for characters that are not seen or that a terminal could obey:
    /// a line of `kb --json`.
    #[must_use]
    pub fn escaped(self) -> String {
        escape_json(&self.finish()).into_owned()
    }

    fn start(&mut self, name: &str) {
        if !self.text.is_empty() {
            self.text.push(',');
        }
        self.text.push_str(&json!(name).to_string());
        self.text.push(':');
    }
}

/// A share with four digits.
pub(crate) fn share(share: f32) -> f64 {
    (f64::from(share) * 1e4).round() / 1e4
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
    fn joined_objects_have_the_fields_of_both() {
        let (one, none) = (Object::new().field("a", 1), Object::new());
        let two = Object::new().field("b", 2);
        assert_eq!(one.clone().join(two.clone()).finish(), r#"{"a":1,"b":2}"#);
        assert_eq!(one.clone().join(none.clone()).finish(), r#"{"a":1}"#);
        assert_eq!(none.join(one).finish(), r#"{"a":1}"#);
    }

    #[test]
    fn a_line_holds_nothing_that_a_terminal_obeys() {
        let object = Object::new().field("text", "a\u{9b}31m\u{202e}b");
        let line = object.clone().escaped();
        assert!(line.is_ascii(), "{line}");
        let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        assert_eq!(read(&line), read(&object.finish()));
    }
}
