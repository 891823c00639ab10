//! One message a line over a pair of pipes.
//!
//! rmcp has a transport like it. This one differs where a client can do harm: a notification that
//! comes first does not end the process, a line that is too long gets an answer, its memory is given
//! back, and the end of the input is told to the subscriptions that wait for it. Reading, parsing
//! and writing happen on two threads of their own, so that neither a long line nor a client that
//! does not read holds anything else up.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::sync::mpsc as blocking;
use std::thread;
use std::time::Duration;

use kb_engine::escape::escape_json;
use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorData, GetMeta, ProtocolVersion, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use serde_json::Value;
use serde_json::error::Category;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

/// Longest line. An upload may have 10 MiB, base64 and JSON make it longer.
const LINE_LIMIT: usize = 24 << 20;

/// Larger buffers are not kept.
const BUFFER_LIMIT: usize = 64 << 10;

/// Messages that were read and are not taken up yet.
const AHEAD: usize = 8;

/// How long the last answers may take at the end.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// How long requests may finish at the end of the input. rmcp waits five seconds for one that it left
/// waiting for a word of its own, as a subscription that was just acknowledged.
const LAST_TURNS: Duration = Duration::from_millis(50);

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// What a line says.
#[derive(Debug)]
enum Incoming {
    Message(Box<ClientJsonRpcMessage>),
    /// Nothing that a server takes.
    Refused(ErrorData, Option<RequestId>),
}

/// A message on its way out; whoever sends it hears when it is written.
type Outgoing = (
    Option<ServerJsonRpcMessage>,
    oneshot::Sender<io::Result<()>>,
);

/// Both pipes.
pub(super) struct LineTransport {
    incoming: mpsc::Receiver<Incoming>,
    outgoing: blocking::Sender<Outgoing>,
    /// Cancelled at the end of the input, and when nobody reads the output any more.
    over: CancellationToken,
    /// Whether rmcp knows how the client speaks. Before that it takes anything but a request for an
    /// error of the server's.
    has_begun: bool,
}

impl LineTransport {
    /// Reads one pipe and writes the other. `over` is cancelled at the end of either; cancelling it
    /// ends the transport.
    pub(super) fn new(
        input: File,
        output: File,
        over: CancellationToken,
    ) -> io::Result<LineTransport> {
        let (to_server, incoming) = mpsc::channel(AHEAD);
        let (outgoing, from_server) = blocking::channel();
        let reader = thread::Builder::new().name("stdin".to_owned());
        reader.spawn(move || read_all(input, LINE_LIMIT, &to_server))?;
        let broken = over.clone();
        let writer = thread::Builder::new().name("stdout".to_owned());
        writer.spawn(move || write_all(output, &from_server, &broken))?;
        Ok(LineTransport {
            incoming,
            outgoing,
            over,
            has_begun: false,
        })
    }

    /// Puts a message behind those on their way, at once, so that they keep their order.
    fn put(&self, message: Option<ServerJsonRpcMessage>) -> oneshot::Receiver<io::Result<()>> {
        let (written, hears) = oneshot::channel();
        // Where the writer is gone, `hears` says so.
        let _ = self.outgoing.send((message, written));
        hears
    }
}

impl Transport<RoleServer> for LineTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        item: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let hears = self.put(Some(item));
        async move { hears.await.unwrap_or_else(|_| Err(closed())) }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            let incoming = tokio::select! {
                () = self.over.cancelled() => None,
                incoming = self.incoming.recv() => incoming,
            };
            match incoming {
                None => {
                    self.over.cancel();
                    tokio::time::sleep(LAST_TURNS).await;
                    return None;
                }
                Some(Incoming::Refused(error, id)) => {
                    drop(self.put(Some(ServerJsonRpcMessage::error(error, id))));
                }
                Some(Incoming::Message(message)) => {
                    let is_request = matches!(*message, ClientJsonRpcMessage::Request(_));
                    if is_request || self.has_begun {
                        self.has_begun |= begins(&message);
                        return Some(*message);
                    }
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        let hears = self.put(None);
        match tokio::time::timeout(LAST_WORDS, hears).await {
            Ok(Ok(result)) => result,
            _ => Err(closed()),
        }
    }
}

fn closed() -> io::Error {
    io::ErrorKind::BrokenPipe.into()
}

/// Whether rmcp takes a message as the beginning of a conversation: `initialize`, or a request that
/// says itself how it is to be understood.
fn begins(message: &ClientJsonRpcMessage) -> bool {
    let ClientJsonRpcMessage::Request(request) = message else {
        return false;
    };
    match &request.request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        request => {
            let meta = request.get_meta();
            let is_whole = meta
                .missing_required_keys(&ProtocolVersion::V_2026_07_28)
                .is_empty();
            let version = meta.protocol_version();
            is_whole && version.is_some_and(|it| ProtocolVersion::KNOWN_VERSIONS.contains(&it))
        }
    }
}

/// Takes one line after the other until the end of the input, or until nobody wants them.
fn read_all(input: impl io::Read, limit: usize, sender: &mpsc::Sender<Incoming>) {
    let mut input = BufReader::with_capacity(BUFFER_LIMIT, input);
    let mut line = Vec::new();
    loop {
        let incoming = match read_line(&mut input, &mut line, limit) {
            Ok(Line::Whole) => parsed(&line),
            Ok(Line::TooLong) => Some(Incoming::Refused(
                ErrorData::invalid_request(format!("line over {} MiB", limit >> 20), None),
                None,
            )),
            Ok(Line::End) | Err(_) => return,
        };
        line.clear();
        line.shrink_to(BUFFER_LIMIT);
        if let Some(incoming) = incoming
            && sender.blocking_send(incoming).is_err()
        {
            return;
        }
    }
}

enum Line {
    Whole,
    TooLong,
    End,
}

/// The next line without its end; a last line needs none.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>, limit: usize) -> io::Result<Line> {
    let (mut any, mut is_too_long) = (false, false);
    loop {
        let bytes = match input.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            bytes => bytes?,
        };
        let (part, is_last) = match bytes.iter().position(|byte| *byte == b'\n') {
            Some(end) => (bytes.get(..end).unwrap_or_default(), true),
            None => (bytes, bytes.is_empty()),
        };
        any |= !bytes.is_empty();
        is_too_long |= line.len() + part.len() > limit;
        if is_too_long {
            line.clear();
        } else {
            line.extend_from_slice(part);
        }
        let used = part.len() + usize::from(is_last && !bytes.is_empty());
        input.consume(used);
        if is_last {
            return Ok(match (any, is_too_long) {
                (false, _) => Line::End,
                (true, true) => Line::TooLong,
                (true, false) => Line::Whole,
            });
        }
    }
}

/// What a line says; `None` where nobody waits for an answer.
fn parsed(line: &[u8]) -> Option<Incoming> {
    let line = line.strip_prefix(BOM).unwrap_or(line);
    let error = match serde_json::from_slice(line) {
        Ok(message) => return Some(Incoming::Message(Box::new(message))),
        Err(error) => error,
    };
    match error.classify() {
        // Good JSON can be more than this reader takes: a number too large, half of a surrogate
        // pair, nesting too deep. Somebody waits for the answer.
        Category::Syntax if line.starts_with(b"{") => return unreadable(line),
        // What is no JSON may be an echo of our own words: it is passed over, as other servers do.
        Category::Syntax | Category::Eof => return None,
        Category::Data | Category::Io => {}
    }
    let value: Value = serde_json::from_slice(line).ok()?;
    let id = value.get("id");
    if id.is_none() && value.get("method").is_some() {
        return None;
    }
    let id = id.and_then(|id| serde_json::from_value(id.clone()).ok());
    let error = ErrorData::invalid_request("not a request of the protocol", None);
    Some(Incoming::Refused(error, id))
}

/// The answer to an object that cannot be read; its members on the first level are found without
/// reading what is in them.
fn unreadable(line: &[u8]) -> Option<Incoming> {
    let (mut depth, mut start) = (0_u32, 0);
    let (mut is_quoted, mut is_escaped) = (false, false);
    let (mut id, mut is_call) = (None, false);
    for (at, byte) in line.iter().enumerate() {
        if is_quoted {
            is_quoted = is_escaped || *byte != b'"';
            is_escaped = !is_escaped && *byte == b'\\';
            continue;
        }
        if depth == 1 && matches!(byte, b',' | b'}') {
            let member = line.get(start..at).unwrap_or_default();
            id = id.or_else(|| value_of(member, b"\"id\""));
            is_call |= value_of(member, b"\"method\"").is_some();
            start = at + 1;
        }
        match byte {
            b'"' => is_quoted = true,
            b'{' | b'[' => {
                depth += 1;
                if depth == 1 {
                    start = at + 1;
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    if id.is_none() && is_call {
        return None;
    }
    let id = id.and_then(|id| serde_json::from_slice(id).ok());
    let error = ErrorData::parse_error("JSON that this server cannot read", None);
    Some(Incoming::Refused(error, id))
}

/// The value of a member that is called that.
fn value_of<'l>(member: &'l [u8], name: &[u8]) -> Option<&'l [u8]> {
    let rest = member.trim_ascii().strip_prefix(name)?;
    let value = rest.trim_ascii_start().strip_prefix(b":")?;
    Some(value.trim_ascii())
}

/// Writes one message after the other until there is no sender.
fn write_all(
    mut output: impl Write,
    messages: &blocking::Receiver<Outgoing>,
    over: &CancellationToken,
) {
    let mut line = Vec::new();
    for (message, written) in messages {
        let result = match message {
            Some(message) => write_line(&mut output, &mut line, &message),
            None => Ok(()),
        };
        if result.is_err() {
            // Nobody reads: there is nobody to serve.
            over.cancel();
        }
        // Whoever sent it may not wait for it.
        let _ = written.send(result);
        line.clear();
        line.shrink_to(BUFFER_LIMIT);
    }
}

fn write_line(
    output: &mut impl Write,
    line: &mut Vec<u8>,
    message: &ServerJsonRpcMessage,
) -> io::Result<()> {
    serde_json::to_writer(&mut *line, message)?;
    // JSON may have U+0085, U+2028 and U+2029 in a string, and some clients end a line there.
    if let Ok(text) = std::str::from_utf8(line)
        && let Cow::Owned(escaped) = escape_json(text)
    {
        *line = escaped.into_bytes();
    }
    line.push(b'\n');
    output.write_all(line)?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(input: &[u8], limit: usize) -> Vec<Result<String, ()>> {
        let mut input = BufReader::with_capacity(3, input);
        let mut found = Vec::new();
        loop {
            let mut line = Vec::new();
            match read_line(&mut input, &mut line, limit).unwrap() {
                Line::Whole => found.push(Ok(String::from_utf8(line).unwrap())),
                Line::TooLong => found.push(Err(())),
                Line::End => return found,
            }
        }
    }

    #[test]
    fn lines_end_in_a_line_feed_or_with_the_input() {
        let whole = |text: &str| Ok(text.to_owned());
        assert_eq!(lines(b"ab\n\nc", 9), [whole("ab"), whole(""), whole("c")]);
        assert_eq!(lines(b"abcdef\n", 9), [whole("abcdef")]);
        assert_eq!(lines(b"", 9), []);
    }

    #[test]
    fn a_line_over_the_limit_is_told_and_the_next_one_is_read() {
        let next = Ok("1234".to_owned());
        assert_eq!(lines(b"12345\n1234\n", 4), [Err(()), next.clone()]);
        assert_eq!(lines(b"1234\n12345", 4), [next, Err(())]);
    }

    fn refused_as(code: i32, line: &str) -> Option<Option<String>> {
        match parsed(line.as_bytes()) {
            Some(Incoming::Refused(error, id)) => {
                assert_eq!(error.code.0, code, "{line}");
                Some(id.map(|id| id.to_string()))
            }
            _ => None,
        }
    }

    fn refused(line: &str) -> Option<Option<String>> {
        refused_as(-32600, line)
    }

    #[test]
    fn json_that_cannot_be_read_is_answered_by_its_id() {
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        for value in ["1e999", r#""\ud83d""#, r#""a\"},{\"id\":9,\ud83d""#, &deep] {
            let call = |id: &str| {
                let params = format!(r#"{{"id":3,"x":{value}}}"#);
                format!(r#"{{"jsonrpc":"2.0",{id}"method":"ping", "params" : {params}}}"#)
            };
            let answer = refused_as(-32700, &call(r#""id" : 7, "#));
            assert_eq!(answer, Some(Some("7".to_owned())), "{value}");
            let answer = refused_as(-32700, &call(r#""id":"a,b","#));
            assert_eq!(answer, Some(Some("a,b".to_owned())), "{value}");
            assert!(parsed(call("").as_bytes()).is_none(), "a notification");
        }
        assert_eq!(refused_as(-32700, r#"{"id":1e999}"#), Some(None));
        assert_eq!(refused_as(-32700, "{,"), Some(None));
    }

    #[test]
    fn requests_of_a_wrong_shape_are_answered_and_what_is_no_json_is_not() {
        assert_eq!(
            refused(r#"{"jsonrpc":"2.0","id":7}"#),
            Some(Some("7".to_owned()))
        );
        assert_eq!(refused(r#"[1,2]"#), Some(None));
        for passed_over in ["", "\r", "no json", r#"{"jsonrpc":"2.0","id":"#] {
            assert!(parsed(passed_over.as_bytes()).is_none(), "{passed_over:?}");
        }
    }

    #[test]
    fn a_message_is_one_line_for_every_reader() {
        let said = "a\u{85}b\u{2028}c\u{2029}d\u{9b}e\u{7f}";
        let message = ServerJsonRpcMessage::error(ErrorData::internal_error(said, None), None);
        let (mut output, mut line) = (Vec::new(), Vec::new());
        write_line(&mut output, &mut line, &message).unwrap();
        let text = String::from_utf8(output).unwrap();
        let text = text.strip_suffix('\n').unwrap();
        assert!(
            text.is_ascii() && !text.contains(|c: char| c.is_control()),
            "{text:?}"
        );
        let value: Value = serde_json::from_str(text).unwrap();
        assert_eq!(value["error"]["message"], said);
    }

    #[test]
    fn a_byte_order_mark_and_a_carriage_return_do_no_harm() {
        let line = "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r";
        assert!(matches!(
            parsed(line.as_bytes()),
            Some(Incoming::Message(_))
        ));
    }

    #[test]
    fn only_requests_that_say_how_they_are_meant_begin_a_conversation() {
        let begins = |line: &str| match parsed(line.as_bytes()) {
            Some(Incoming::Message(message)) => begins(&message),
            other => panic!("{other:?}"),
        };
        let meta = |version: &str| {
            format!(
                r#"{{"io.modelcontextprotocol/protocolVersion":"{version}","io.modelcontextprotocol/clientCapabilities":{{}}}}"#
            )
        };
        let request = |method: &str, version: &str| {
            let meta = meta(version);
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"_meta":{meta}}}}}"#)
        };
        assert!(begins(&request("tools/list", "2026-07-28")));
        assert!(!begins(&request("tools/list", "1900-01-01")));
        assert!(!begins(&request("server/discover", "2026-07-28")));
        assert!(!begins(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#));
        assert!(!begins(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#));
    }
}
