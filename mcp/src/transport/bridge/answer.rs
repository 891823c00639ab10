//! Responses of a server, on their way to the client.

use kb_engine::escape::escape_json;
use serde_json::Value;

use super::message::{Kind, Message};

/// Sent once at the beginning of such a stream.
const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

/// What of an answer was passed on.
#[derive(Debug, Default)]
pub(super) struct Delivered {
    pub(super) messages: u64,
    /// Whether the message with the id of the request was among them.
    pub(super) is_answered: bool,
    /// Whether that has a result, rather than an error.
    pub(super) is_result: bool,
    is_acknowledged: bool,
    /// `result.protocolVersion`, of an answer to `initialize`.
    pub(super) revision: Option<String>,
}

impl Delivered {
    /// Counts a message; whether it is to be passed on. A subscription that is made again is
    /// acknowledged again, which the client does not expect.
    pub(super) fn take(&mut self, text: &str, id: &Value) -> bool {
        let Some(message) = Message::read(text.as_bytes()) else {
            return false;
        };
        if message.method == ACKNOWLEDGED && std::mem::replace(&mut self.is_acknowledged, true) {
            return false;
        }
        self.messages += 1;
        if message.kind == Kind::Response(id.clone()) {
            self.is_answered = true;
            self.revision = revision_of(text);
            let value: Option<Value> = serde_json::from_str(text).ok();
            self.is_result = value.is_some_and(|value| value.get("result").is_some());
        }
        true
    }
}

/// The revision that an answer to `initialize` names.
pub(super) fn revision_of(text: &str) -> Option<String> {
    let value: Value = serde_json::from_str(text).ok()?;
    let revision = value.pointer("/result/protocolVersion")?;
    revision.as_str().map(str::to_owned)
}

pub(super) fn is_message(text: &str) -> bool {
    text.trim_start().starts_with('{')
}

/// A message, with the id of the request that it answers where the server could not read that.
pub(super) fn with_id(text: &str, id: &Value) -> Option<String> {
    let mut value: Value = serde_json::from_str(text).ok()?;
    let object = value.as_object_mut()?;
    object.get("jsonrpc")?;
    if object.contains_key("error") && object.get("id").is_none_or(Value::is_null) {
        object.insert("id".to_owned(), id.clone());
        return Some(value.to_string());
    }
    Some(text.to_owned())
}

/// JSON on one line, by any definition of a line: its strings have no raw line ends.
pub(super) fn one_line(text: &str) -> String {
    let text = text.trim();
    escape_json(&text.replace(['\n', '\r'], " ")).into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_answer_is_one_line_with_an_id() {
        assert_eq!(
            one_line("{\n \"a\": \"\u{85}\u{2028}\"\r\n}\n"),
            "{  \"a\": \"\\u0085\\u2028\"  }"
        );
        let error = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}"#;
        let mended: Value = serde_json::from_str(&with_id(error, &json!(7)).unwrap()).unwrap();
        assert_eq!(mended["id"], 7);
        let result = r#"{"jsonrpc":"2.0","id":3,"result":{}}"#;
        assert_eq!(with_id(result, &json!(7)).as_deref(), Some(result));
        for text in ["Unauthorized", "", "[]", r#"{"error":"no"}"#] {
            assert_eq!(with_id(text, &json!(7)), None, "{text}");
        }
    }

    #[test]
    fn a_second_acknowledgement_is_kept_back() {
        let acknowledged =
            json!({"jsonrpc": "2.0", "method": ACKNOWLEDGED, "params": {}}).to_string();
        let mut delivered = Delivered::default();
        assert!(delivered.take(&acknowledged, &json!(1)));
        assert!(!delivered.take(&acknowledged, &json!(1)));
        assert!(!delivered.is_answered);
        let answer = json!({"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": "x"}});
        assert!(delivered.take(&answer.to_string(), &json!(1)));
        assert!(delivered.is_answered && delivered.is_result);
        assert_eq!(delivered.revision.as_deref(), Some("x"));
    }
}
