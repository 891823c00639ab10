//! Reads and parses the messages of a pipe, on a thread of its own.

use std::io::{self, BufRead, BufReader};
use std::sync::Arc;

use rmcp::model::{ClientJsonRpcMessage, ErrorData, RequestId};
use serde_json::Value;
use serde_json::error::Category;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use crate::transport::client_info::truncate_client_info;
use crate::transport::message_shape::{LimitExceeded, MessageShape, UPLOAD_LIMIT};

/// Memory of all messages that were read and whose work has not ended, in KiB: three documents of
/// 10 MiB. The reader waits while there is no more.
const MEMORY_KIB: usize = 40 << 10;

/// The capacity of the line buffer that is kept between two messages, in bytes.
const BUFFER_LIMIT: usize = 64 << 10;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// What came of one line.
#[derive(Debug)]
pub(super) enum Incoming {
    /// A message, and the permit for its memory.
    Message(Box<ClientJsonRpcMessage>, Option<OwnedSemaphorePermit>),
    /// The error to answer with.
    Rejected(ErrorData, Option<RequestId>),
}

/// Reads lines until the end of the input, or until the receiver is gone.
pub(super) fn read_messages(
    input: impl io::Read,
    handle: &Handle,
    sender: &mpsc::Sender<Incoming>,
) {
    let mut input = BufReader::with_capacity(BUFFER_LIMIT, input);
    let mut line = Vec::new();
    let memory = Arc::new(Semaphore::new(MEMORY_KIB));
    loop {
        let incoming = match read_line(&mut input, &mut line, UPLOAD_LIMIT) {
            Ok(Line::Complete) => {
                let shape = MessageShape::scan(&line);
                let kib = line.len().saturating_add(shape.parsed_bytes()) >> 10;
                let kib = u32::try_from(kib.min(MEMORY_KIB)).unwrap_or(u32::MAX);
                match shape.check() {
                    Ok(()) => {
                        let permit = Arc::clone(&memory).acquire_many_owned(kib);
                        // The semaphore is never closed.
                        parse(&line, handle.block_on(permit).ok())
                    }
                    Err(exceeded) => reject_unread(&shape, exceeded),
                }
            }
            Ok(Line::TooLong) => Some(Incoming::Rejected(
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

/// How reading a line ended.
pub(in crate::transport) enum Line {
    Complete,
    TooLong,
    End,
}

/// Reads the next line without its line feed, which the last line need not have. A line over `limit`
/// bytes is skipped, and takes no more memory than that.
pub(in crate::transport) fn read_line(
    input: &mut impl BufRead,
    line: &mut Vec<u8>,
    limit: usize,
) -> io::Result<Line> {
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
                (true, false) => Line::Complete,
            });
        }
    }
}

/// Parses a line. `None` if it is to be ignored, as no response is expected.
pub(super) fn parse(line: &[u8], memory: Option<OwnedSemaphorePermit>) -> Option<Incoming> {
    let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
    if std::str::from_utf8(line).is_err() {
        return reject_bytes(line);
    }
    let error = match serde_json::from_slice(line) {
        Ok(mut message) => {
            truncate_client_info(&mut message);
            return Some(Incoming::Message(Box::new(message), memory));
        }
        Err(error) => error,
    };
    match error.classify() {
        // It may be a valid message that serde_json does not accept: a number out of range, half of a
        // surrogate pair, nesting too deep. Its sender expects a response.
        Category::Syntax if line.starts_with(b"{") => {
            let error = ErrorData::parse_error("JSON that this server cannot read", None);
            return reject(&MessageShape::scan(line), error);
        }
        // Text that is not JSON is ignored, as other servers do: answering could start an endless echo.
        Category::Syntax | Category::Eof => return None,
        Category::Data | Category::Io => {}
    }
    let value: Value = serde_json::from_slice(line).ok()?;
    let id = value.get("id");
    if id.is_none() && value.get("method").is_some() {
        return None;
    }
    let id = id.and_then(|id| serde_json::from_value(id.clone()).ok());
    let error = ErrorData::invalid_request("not a valid MCP request", None);
    Some(Incoming::Rejected(error, id))
}

/// Rejects a line that is not UTF-8. Whoever sent it meant a message: the encoding of a console, for example.
fn reject_bytes(line: &[u8]) -> Option<Incoming> {
    let error = ErrorData::parse_error("the line is not valid UTF-8", None);
    if line.starts_with(b"{") {
        return reject(&MessageShape::scan(line), error);
    }
    Some(Incoming::Rejected(error, None))
}

/// Rejects a message that exceeds a limit, without parsing it.
fn reject_unread(shape: &MessageShape<'_>, exceeded: LimitExceeded) -> Option<Incoming> {
    reject(
        shape,
        ErrorData::invalid_request(exceeded.to_string(), None),
    )
}

/// Answers a message that was not parsed with an error. A notification gets no response.
fn reject(shape: &MessageShape<'_>, error: ErrorData) -> Option<Incoming> {
    if shape.id.is_none() && shape.has_method() {
        return None;
    }
    let id = shape.id.and_then(|id| serde_json::from_slice(id).ok());
    Some(Incoming::Rejected(error, id))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(input: &[u8], limit: usize) -> Vec<Result<String, ()>> {
        let mut input = BufReader::with_capacity(3, input);
        let mut lines = Vec::new();
        loop {
            let mut line = Vec::new();
            match read_line(&mut input, &mut line, limit).unwrap() {
                Line::Complete => lines.push(Ok(String::from_utf8(line).unwrap())),
                Line::TooLong => lines.push(Err(())),
                Line::End => return lines,
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
    fn a_line_over_the_limit_is_reported_and_the_next_one_is_read() {
        let next = Ok("1234".to_owned());
        assert_eq!(lines(b"12345\n1234\n", 4), [Err(()), next.clone()]);
        assert_eq!(lines(b"1234\n12345", 4), [next, Err(())]);
    }

    fn rejected_as(code: i32, line: impl AsRef<[u8]>) -> Option<Option<String>> {
        match parse(line.as_ref(), None) {
            Some(Incoming::Rejected(error, id)) => {
                assert_eq!(error.code.0, code, "{error:?}");
                Some(id.map(|id| id.to_string()))
            }
            _ => None,
        }
    }

    fn malformed(line: &str) -> Option<Option<String>> {
        rejected_as(-32600, line)
    }

    #[test]
    fn json_that_cannot_be_parsed_is_answered_with_its_id() {
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        for value in ["1e999", r#""\ud83d""#, r#""a\"},{\"id\":9,\ud83d""#, &deep] {
            let call = |id: &str| {
                let params = format!(r#"{{"id":3,"x":{value}}}"#);
                format!(r#"{{"jsonrpc":"2.0",{id}"method":"ping", "params" : {params}}}"#)
            };
            let answer = rejected_as(-32700, call(r#""id" : 7, "#));
            assert_eq!(answer, Some(Some("7".to_owned())), "{value}");
            let answer = rejected_as(-32700, call(r#""id":"a,b","#));
            assert_eq!(answer, Some(Some("a,b".to_owned())), "{value}");
            assert!(parse(call("").as_bytes(), None).is_none(), "a notification");
        }
        assert_eq!(rejected_as(-32700, r#"{"id":1e999}"#), Some(None));
        assert_eq!(rejected_as(-32700, "{,"), Some(None));
    }

    #[test]
    fn a_line_that_is_not_utf8_is_answered() {
        for line in [
            &b"\xff\xfe"[..],
            b"\xff\xfe{\0}\0",
            b"{\"id\": \"\xe9\"}",
            b"h\xe9",
        ] {
            assert_eq!(rejected_as(-32700, line), Some(None), "{line:?}");
        }
        let call =
            b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\",\"params\":{\"x\":\"\xe9\"}}";
        assert_eq!(rejected_as(-32700, call), Some(Some("7".to_owned())));
    }

    #[test]
    fn malformed_requests_are_answered_and_other_text_is_ignored() {
        assert_eq!(
            malformed(r#"{"jsonrpc":"2.0","id":7}"#),
            Some(Some("7".to_owned()))
        );
        assert_eq!(malformed(r#"[1,2]"#), Some(None));
        for ignored in ["", "\r", "no json", r#"{"jsonrpc":"2.0","id":"#] {
            assert!(parse(ignored.as_bytes(), None).is_none(), "{ignored:?}");
        }
    }

    #[test]
    fn a_byte_order_mark_and_a_carriage_return_are_accepted() {
        let line = "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r";
        assert!(matches!(
            parse(line.as_bytes(), None),
            Some(Incoming::Message(..))
        ));
    }
}
