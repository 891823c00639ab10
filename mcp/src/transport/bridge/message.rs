//! The parts of a message that HTTP headers repeat.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::Value;

/// Methods whose `Mcp-Name` header is the name in their parameters, and those whose it is the URI.
const NAMED: [&str; 2] = ["tools/call", "prompts/get"];
const WITH_URI: [&str; 1] = ["resources/read"];

/// What a message is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    /// It expects an answer of this id.
    Request(Value),
    Notification,
    /// It answers a request of the other side.
    Response(Value),
    /// It is no message of the protocol, which the server says better.
    Unknown,
}

/// What is read of a message.
#[derive(Debug, Clone)]
pub(super) struct Message {
    pub(super) kind: Kind,
    /// Empty for a response.
    pub(super) method: String,
    /// The revision that the message itself names, as all do from 2026-07-28 on.
    pub(super) revision: Option<String>,
    /// `params.name` or `params.uri`, where a header repeats it.
    pub(super) name: Option<String>,
    /// `params.uri`.
    pub(super) uri: Option<String>,
    /// `params.requestId`: the request that a notification cancels.
    pub(super) cancels: Option<Value>,
}

#[derive(Deserialize)]
struct Envelope {
    id: Option<Value>,
    method: Option<String>,
    params: Option<Params>,
    /// Present in answers.
    #[serde(default)]
    result: Present,
    #[serde(default)]
    error: Present,
}

#[derive(Default, Deserialize)]
struct Params {
    name: Option<String>,
    uri: Option<String>,
    #[serde(rename = "requestId")]
    request_id: Option<Value>,
    #[serde(rename = "_meta")]
    meta: Option<Meta>,
}

#[derive(Default, Deserialize)]
struct Meta {
    #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
    revision: Option<String>,
}

/// Whether a member is there, whatever it holds.
#[derive(Default)]
struct Present(bool);

impl<'de> Deserialize<'de> for Present {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Present, D::Error> {
        serde::de::IgnoredAny::deserialize(deserializer).map(|_| Present(true))
    }
}

impl Message {
    /// Reads a message; `None` for text that is not JSON and not like it: no client waits for an answer.
    pub(super) fn read(text: &[u8]) -> Option<Message> {
        let text = text.trim_ascii();
        let Ok(envelope) = serde_json::from_slice::<Envelope>(text) else {
            let looks_like_json = text.starts_with(b"{") || text.starts_with(b"[");
            return looks_like_json.then(|| Message {
                kind: Kind::Unknown,
                method: String::new(),
                revision: None,
                name: None,
                uri: None,
                cancels: None,
            });
        };
        let kind = match (envelope.id, &envelope.method) {
            (Some(id), Some(_)) => Kind::Request(id),
            (None, Some(_)) => Kind::Notification,
            (Some(id), None) if envelope.result.0 || envelope.error.0 => Kind::Response(id),
            _ => Kind::Unknown,
        };
        let method = envelope.method.unwrap_or_default();
        let params = envelope.params.unwrap_or_default();
        let name = if NAMED.contains(&&*method) {
            params.name
        } else if WITH_URI.contains(&&*method) {
            params.uri.clone()
        } else {
            None
        };
        Some(Message {
            kind,
            method,
            revision: params.meta.and_then(|meta| meta.revision),
            name,
            uri: params.uri,
            cancels: params.request_id,
        })
    }

    /// Whether it needs no session: it names its revision.
    pub(super) fn is_modern(&self) -> bool {
        self.revision.is_some()
    }
}

/// A value as a header can have it: as it is, or as base64 between marks where it has other characters
/// than ASCII, or spaces at an end (SEP-2243).
pub(super) fn header_value(value: &str) -> String {
    let is_plain = value.bytes().all(|byte| (0x20..0x7f).contains(&byte))
        && value.trim() == value
        && !value.starts_with("=?base64?");
    if is_plain {
        value.to_owned()
    } else {
        format!("=?base64?{}?=", STANDARD.encode(value))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_message_is_known_by_its_members() {
        let read = |text: &str| Message::read(text.as_bytes()).map(|message| message.kind);
        for (text, kind) in [
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
                Kind::Request(json!(1)),
            ),
            (r#"{"method":"x","id":"a"}"#, Kind::Request(json!("a"))),
            (
                r#"{"method":"notifications/initialized"}"#,
                Kind::Notification,
            ),
            (r#"{"id":3,"result":null}"#, Kind::Response(json!(3))),
            (r#"{"id":3,"error":{"code":1}}"#, Kind::Response(json!(3))),
            (r#"{"id":3}"#, Kind::Unknown),
            (r#"{"method":"x","params":[1]"#, Kind::Unknown),
            ("[1]", Kind::Unknown),
        ] {
            assert_eq!(read(text), Some(kind), "{text}");
        }
        for text in ["", "  ", "no json", "\"text\""] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn headers_repeat_method_name_and_revision() {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "search", "arguments": {"name": "no"},
            "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}});
        let message = Message::read(message.to_string().as_bytes()).unwrap();
        assert_eq!(message.name.as_deref(), Some("search"));
        assert_eq!(message.revision.as_deref(), Some("2026-07-28"));
        let read =
            json!({"id": 1, "method": "resources/read", "params": {"uri": "kb://a", "name": "b"}});
        let read = Message::read(read.to_string().as_bytes()).unwrap();
        assert_eq!(read.name.as_deref(), Some("kb://a"));
        assert!(!read.is_modern());
        let list = json!({"id": 1, "method": "tools/list", "params": {"name": "b"}});
        assert_eq!(
            Message::read(list.to_string().as_bytes()).unwrap().name,
            None
        );
    }

    #[test]
    fn a_header_value_is_ascii() {
        assert_eq!(header_value("kb://a/doc/b.md"), "kb://a/doc/b.md");
        assert_eq!(header_value("\u{e9}"), "=?base64?w6k=?=");
        assert_eq!(header_value(" a"), "=?base64?IGE=?=");
        assert_eq!(header_value("a\nb"), "=?base64?YQpi?=");
    }
}
