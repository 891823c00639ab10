//! One message a line over a pair of pipes.
//!
//! rmcp has a transport like it. This one differs where a client can do harm: a notification that
//! comes first does not end the process, a line that is too long gets an answer, its memory is given
//! back, and the end of the input is told to the subscriptions that wait for it. Reading, parsing
//! and writing happen on two threads of their own, so that neither a long line nor a client that
//! does not read holds anything else up. What is read and not done, and what is said and not read,
//! is bounded.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::sync::Arc;
use std::sync::mpsc as blocking;
use std::thread;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorData, GetExtensions, GetMeta, ProtocolVersion,
    RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use serde_json::Value;
use serde_json::error::Category;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::flight::Flight;
use super::held::Held;
use super::hello::shorten;
use super::scan::{Shape, TooMuch, UPLOAD_LIMIT};
use super::unread::Unread;

/// All messages that were read and are not done, in KiB: three documents of 10 MiB. A message waits
/// for its turn where there is no room.
const MESSAGES_KIB: usize = 40 << 10;

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
    /// With the room that it takes until it is done.
    Message(Box<ClientJsonRpcMessage>, Option<OwnedSemaphorePermit>),
    /// Nothing that a server takes.
    Refused(ErrorData, Option<RequestId>),
}

/// A message on its way out; whoever sends it hears when it is written.
struct Outgoing {
    /// `None`: only what is sent before is waited for.
    line: Option<Vec<u8>>,
    written: oneshot::Sender<io::Result<()>>,
    /// Dropped when it is written.
    _unread: Option<super::unread::Place>,
}

/// Both pipes.
pub(super) struct LineTransport {
    incoming: mpsc::Receiver<Incoming>,
    outgoing: blocking::Sender<Outgoing>,
    flight: Arc<Flight>,
    unread: Arc<Unread>,
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
        let handle = Handle::current();
        reader.spawn(move || read_all(input, &handle, &to_server))?;
        let broken = over.clone();
        let writer = thread::Builder::new().name("stdout".to_owned());
        writer.spawn(move || write_all(output, &from_server, &broken))?;
        Ok(LineTransport {
            incoming,
            outgoing,
            flight: Arc::default(),
            unread: Arc::default(),
            over,
            has_begun: false,
        })
    }

    /// Puts a message behind those on their way, at once, so that they keep their order.
    fn put(&self, message: Option<ServerJsonRpcMessage>) -> oneshot::Receiver<io::Result<()>> {
        let (written, hears) = oneshot::channel();
        let taken = message.map(|message| self.unread.take(&message));
        let (line, place) = match taken.transpose() {
            Ok(taken) => taken.unzip(),
            Err(error) => {
                // Whoever sent it may not wait for it.
                let _ = written.send(Err(error.into()));
                return hears;
            }
        };
        let outgoing = Outgoing {
            line,
            written,
            _unread: place,
        };
        // Where the writer is gone, `hears` says so.
        let _ = self.outgoing.send(outgoing);
        hears
    }

    /// Lets a request keep its number and its room until it is done; else what to answer.
    fn take_up(
        &self,
        message: &mut ClientJsonRpcMessage,
        room: Option<OwnedSemaphorePermit>,
    ) -> Result<(), ErrorData> {
        match message {
            ClientJsonRpcMessage::Request(request) => {
                let in_flight = self.flight.begin(&request.id)?;
                // One that lasts keeps less than it said, and must not keep others out.
                let lasts = matches!(
                    request.request,
                    ClientRequest::SubscriptionsListenRequest(_)
                );
                let room = room.filter(|_| !lasts);
                let held = Held::new((in_flight, room));
                request.request.extensions_mut().insert(held);
            }
            ClientJsonRpcMessage::Notification(told) => {
                let held = Held::new(room);
                told.notification.extensions_mut().insert(held);
            }
            _ => {}
        }
        Ok(())
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
            // Who does not read the answers gets no more of them.
            let next = async {
                self.unread.fewer().await;
                self.incoming.recv().await
            };
            let incoming = tokio::select! {
                () = self.over.cancelled() => None,
                incoming = next => incoming,
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
                Some(Incoming::Message(mut message, room)) => {
                    let id = match &*message {
                        ClientJsonRpcMessage::Request(request) => Some(request.id.clone()),
                        _ => None,
                    };
                    if id.is_none() && !self.has_begun {
                        continue;
                    }
                    if let Err(error) = self.take_up(&mut message, room) {
                        drop(self.put(Some(ServerJsonRpcMessage::error(error, id))));
                        continue;
                    }
                    self.has_begun |= begins(&message);
                    return Some(*message);
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
fn read_all(input: impl io::Read, handle: &Handle, sender: &mpsc::Sender<Incoming>) {
    let mut input = BufReader::with_capacity(BUFFER_LIMIT, input);
    let mut line = Vec::new();
    let room = Arc::new(Semaphore::new(MESSAGES_KIB));
    loop {
        let incoming = match read_line(&mut input, &mut line, UPLOAD_LIMIT) {
            Ok(Line::Whole) => {
                let shape = Shape::of(&line);
                let kib = line.len().saturating_add(shape.weight()) >> 10;
                let kib = u32::try_from(kib.min(MESSAGES_KIB)).unwrap_or(u32::MAX);
                match shape.check() {
                    Ok(()) => {
                        let room = Arc::clone(&room).acquire_many_owned(kib);
                        // It is never closed.
                        parsed(&line, handle.block_on(room).ok())
                    }
                    Err(too_much) => refused(&shape, too_much),
                }
            }
            Ok(Line::TooLong) => Some(Incoming::Refused(
                ErrorData::invalid_request(format!("line over {} MiB", UPLOAD_LIMIT >> 20), None),
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
fn parsed(line: &[u8], room: Option<OwnedSemaphorePermit>) -> Option<Incoming> {
    let line = line.strip_prefix(BOM).unwrap_or(line);
    let error = match serde_json::from_slice(line) {
        Ok(mut message) => {
            shorten(&mut message);
            return Some(Incoming::Message(Box::new(message), room));
        }
        Err(error) => error,
    };
    match error.classify() {
        // Good JSON can be more than this reader takes: a number too large, half of a surrogate
        // pair, nesting too deep. Somebody waits for the answer.
        Category::Syntax if line.starts_with(b"{") => {
            let error = ErrorData::parse_error("JSON that this server cannot read", None);
            return answer_to(&Shape::of(line), error);
        }
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

/// The answer to a message that is not parsed.
fn refused(shape: &Shape<'_>, too_much: TooMuch) -> Option<Incoming> {
    answer_to(
        shape,
        ErrorData::invalid_request(too_much.to_string(), None),
    )
}

/// An error for whoever sent an object that was not read; nobody waits for the answer to a
/// notification.
fn answer_to(shape: &Shape<'_>, error: ErrorData) -> Option<Incoming> {
    if shape.id.is_none() && shape.is_call() {
        return None;
    }
    let id = shape.id.and_then(|id| serde_json::from_slice(id).ok());
    Some(Incoming::Refused(error, id))
}

/// Writes one message after the other until there is no sender.
fn write_all(
    mut output: impl Write,
    messages: &blocking::Receiver<Outgoing>,
    over: &CancellationToken,
) {
    for outgoing in messages {
        let result = match outgoing.line {
            Some(line) => output.write_all(&line).and_then(|()| output.flush()),
            None => Ok(()),
        };
        if result.is_err() {
            // Nobody reads: there is nobody to serve.
            over.cancel();
        }
        // Whoever sent it may not wait for it.
        let _ = outgoing.written.send(result);
    }
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
        match parsed(line.as_bytes(), None) {
            Some(Incoming::Refused(error, id)) => {
                assert_eq!(error.code.0, code, "{line}");
                Some(id.map(|id| id.to_string()))
            }
            _ => None,
        }
    }

    fn misshapen(line: &str) -> Option<Option<String>> {
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
            assert!(
                parsed(call("").as_bytes(), None).is_none(),
                "a notification"
            );
        }
        assert_eq!(refused_as(-32700, r#"{"id":1e999}"#), Some(None));
        assert_eq!(refused_as(-32700, "{,"), Some(None));
    }

    #[test]
    fn requests_of_a_wrong_shape_are_answered_and_what_is_no_json_is_not() {
        assert_eq!(
            misshapen(r#"{"jsonrpc":"2.0","id":7}"#),
            Some(Some("7".to_owned()))
        );
        assert_eq!(misshapen(r#"[1,2]"#), Some(None));
        for passed_over in ["", "\r", "no json", r#"{"jsonrpc":"2.0","id":"#] {
            assert!(
                parsed(passed_over.as_bytes(), None).is_none(),
                "{passed_over:?}"
            );
        }
    }

    #[test]
    fn a_byte_order_mark_and_a_carriage_return_do_no_harm() {
        let line = "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r";
        assert!(matches!(
            parsed(line.as_bytes(), None),
            Some(Incoming::Message(..))
        ));
    }

    #[test]
    fn only_requests_that_say_how_they_are_meant_begin_a_conversation() {
        let begins = |line: &str| match parsed(line.as_bytes(), None) {
            Some(Incoming::Message(message, _)) => begins(&message),
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
