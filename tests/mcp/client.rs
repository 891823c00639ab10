//! A client of the protocol that hides nothing: whole messages go in and come out, of any revision,
//! over either transport.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::http::HttpServer;
use super::schema::violations;
use super::stdio::Stdio;
use crate::support::PATIENCE;

/// Every revision that the server speaks.
pub(crate) const REVISIONS: [&str; 5] = [
    "2024-11-05",
    "2025-03-26",
    "2025-06-18",
    "2025-11-25",
    MODERN,
];

/// The first revision without a handshake.
pub(crate) const MODERN: &str = "2026-07-28";

/// What carries messages.
pub(crate) trait Carrier {
    /// Sends one message; over HTTP the answers to it are kept for [`Carrier::receive`].
    fn send(&mut self, message: &Value);

    /// The next message of the server; `None` when none came in that time, or it has ended.
    fn receive(&mut self, patience: Duration) -> Option<Value>;
}

/// One client of one revision.
pub(crate) struct Client {
    carrier: Box<dyn Carrier>,
    revision: &'static str,
    last_id: u64,
    /// Notifications that came while answers were waited for.
    pub(crate) notifications: Vec<Value>,
    definitions: Vec<Value>,
}

impl Client {
    /// A client over that carrier, after the handshake of its revision.
    pub(crate) fn over(carrier: impl Carrier + 'static, revision: &'static str) -> Client {
        let mut client = Client {
            carrier: Box::new(carrier),
            revision,
            last_id: 0,
            notifications: Vec::new(),
            definitions: Vec::new(),
        };
        if revision != MODERN {
            let asked = json!({
                "protocolVersion": revision,
                "capabilities": {},
                "clientInfo": {"name": "tests", "version": "1"},
            });
            let answer = client.result("initialize", asked);
            assert_eq!(answer["protocolVersion"], revision);
            client.notify("notifications/initialized", json!({}));
        }
        client
    }

    /// The newest revision over stdio, with these arguments after `kb mcp`.
    pub(crate) fn stdio(folder: &crate::support::Folder, arguments: &[&str]) -> Client {
        Client::over(Stdio::start(folder, arguments), MODERN)
    }

    /// The newest revision over HTTP.
    pub(crate) fn http(server: &HttpServer) -> Client {
        Client::over(server.connect(MODERN), MODERN)
    }

    pub(crate) fn is_modern(&self) -> bool {
        self.revision == MODERN
    }

    /// What every request of the newest revision carries.
    pub(crate) fn meta() -> Value {
        json!({
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        })
    }

    /// Sends a request and gives its number.
    pub(crate) fn send(&mut self, method: &str, params: Value) -> u64 {
        self.last_id += 1;
        let mut params = match params {
            Value::Object(params) => params,
            Value::Null => Map::new(),
            other => panic!("{other}"),
        };
        if self.is_modern() {
            let mut meta = Client::meta();
            if let Some(Value::Object(more)) = params.remove("_meta") {
                meta.as_object_mut().unwrap().extend(more);
            }
            params.insert("_meta".to_owned(), meta);
        }
        let message =
            json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params});
        self.carrier.send(&message);
        self.last_id
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        self.carrier.send(&message);
    }

    /// The message that answers that request; the test fails when none comes.
    #[track_caller]
    pub(crate) fn answer(&mut self, id: u64) -> Value {
        match self.answer_within(id, PATIENCE) {
            Some(answer) => answer,
            None => panic!("request {id} got no answer"),
        }
    }

    pub(crate) fn answer_within(&mut self, id: u64, patience: Duration) -> Option<Value> {
        loop {
            let message = self.carrier.receive(patience)?;
            assert_eq!(message["jsonrpc"], "2.0", "{message}");
            if message["id"] == id {
                return Some(message);
            }
            self.notifications.push(message);
        }
    }

    /// Whatever the server says next.
    #[track_caller]
    pub(crate) fn next_message(&mut self) -> Value {
        let message = self.carrier.receive(PATIENCE);
        message.expect("a message")
    }

    /// Waits for a notification of that method.
    pub(crate) fn notified(&mut self, method: &str, patience: Duration) -> Option<Value> {
        loop {
            let mut kept = self.notifications.iter();
            if let Some(at) = kept.position(|message| message["method"] == method) {
                return Some(self.notifications.remove(at));
            }
            let message = self.carrier.receive(patience)?;
            self.notifications.push(message);
        }
    }

    /// The message that answers a request.
    #[track_caller]
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        self.answer(id)
    }

    /// The result of a request that must succeed.
    #[track_caller]
    pub(crate) fn result(&mut self, method: &str, params: Value) -> Value {
        let mut answer = self.ask(method, params);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].take()
    }

    /// The number of the protocol's error that a request must get, and what it says.
    #[track_caller]
    pub(crate) fn refused(&mut self, method: &str, params: Value) -> (i64, String) {
        let answer = self.ask(method, params);
        let code = answer["error"]["code"].as_i64();
        let code = code.unwrap_or_else(|| panic!("{method} was not refused: {answer}"));
        (
            code,
            answer["error"]["message"].as_str().unwrap().to_owned(),
        )
    }

    /// The whole result of a tool, error or not.
    #[track_caller]
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.result("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// The definitions of the tools, asked for once.
    pub(crate) fn definitions(&mut self) -> &[Value] {
        if self.definitions.is_empty() {
            let mut list = self.result("tools/list", json!({}));
            self.definitions = match list["tools"].take() {
                Value::Array(tools) => tools,
                other => panic!("{other}"),
            };
        }
        &self.definitions
    }

    /// The structured form and the text of a tool's answer, which must be no error. The structured
    /// form must be what the schema says.
    #[track_caller]
    pub(crate) fn both(&mut self, tool: &str, arguments: Value) -> (Value, String) {
        let mut result = self.call(tool, arguments);
        let text = text_of(&result);
        assert_ne!(result["isError"], true, "{tool}: {text}");
        let structured = result["structuredContent"].take();
        let definitions = self.definitions();
        let definition = definitions.iter().find(|one| one["name"] == tool).unwrap();
        let wrong = violations(&definition["outputSchema"], &structured);
        assert!(wrong.is_empty(), "{tool}: {wrong:#?} in {structured:#}");
        (structured, text)
    }

    /// The structured form of a tool's answer, which must be no error.
    #[track_caller]
    pub(crate) fn tool(&mut self, tool: &str, arguments: Value) -> Value {
        self.both(tool, arguments).0
    }

    /// What a tool says that must fail: `CODE: sentence. Hint.` or `Did you mean ...?`, and nothing else.
    #[track_caller]
    pub(crate) fn error(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments);
        let text = text_of(&result);
        assert_eq!(result["isError"], true, "{tool} did not fail: {text}");
        assert!(result.get("structuredContent").is_none(), "{result}");
        let code = &result["_meta"]["dev.kb/error"]["code"];
        let begin = format!("{}: ", code.as_str().unwrap_or_default());
        assert!(
            text.starts_with(&begin) && text.ends_with(['.', '?']),
            "{text}"
        );
        text
    }
}

/// The one text block of a tool's result.
#[track_caller]
pub(crate) fn text_of(result: &Value) -> String {
    let content = result["content"].as_array();
    match content.map(Vec::as_slice) {
        Some([block]) if block["type"] == "text" => block["text"].as_str().unwrap().to_owned(),
        other => panic!("not one text block: {other:?}"),
    }
}
