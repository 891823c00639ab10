//! Messages to a client that it has not read from the pipe.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use kb_engine::escape::escape_json;
use rmcp::model::{ErrorData, ServerJsonRpcMessage};
use tokio::sync::Notify;

/// Messages in the outbox above which no more requests are received. A client may send this many before
/// it reads a response.
const MESSAGES_LIMIT: usize = 1024;

/// Most bytes in the outbox. A response beyond that is replaced by an error, as nothing else bounds the
/// responses of the requests in flight. Messages wait encoded: as values they may take ten times the
/// memory.
const BYTES_LIMIT: usize = 32 << 20;

/// The encoded messages of one session that are not written, counted.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    messages: AtomicUsize,
    bytes: AtomicUsize,
    /// Notified after each message that is written.
    written: Notify,
}

/// Counts one message until this is dropped.
#[derive(Debug)]
pub(crate) struct OutboxPermit {
    outbox: Arc<Outbox>,
    bytes: usize,
}

impl Outbox {
    /// Encodes a message, or the error that replaces it, and counts its bytes.
    ///
    /// # Errors
    /// Those of serialising it, which no message of this server has.
    pub(crate) fn encode(
        self: &Arc<Outbox>,
        message: &ServerJsonRpcMessage,
    ) -> serde_json::Result<(Vec<u8>, OutboxPermit)> {
        let mut line = encode_line(message)?;
        let before = self.bytes.load(Ordering::Relaxed);
        if let ServerJsonRpcMessage::Response(response) = message
            && before.saturating_add(line.len()) > BYTES_LIMIT
        {
            let message = "too many unread responses: read them, then send the request again";
            let error = ErrorData::internal_error(message, None);
            line = encode_line(&ServerJsonRpcMessage::error(
                error,
                Some(response.id.clone()),
            ))?;
        }
        self.bytes.fetch_add(line.len(), Ordering::Relaxed);
        self.messages.fetch_add(1, Ordering::Relaxed);
        let permit = OutboxPermit {
            outbox: Arc::clone(self),
            bytes: line.len(),
        };
        Ok((line, permit))
    }

    /// Waits until there are fewer than [`MESSAGES_LIMIT`].
    pub(crate) async fn wait_for_capacity(&self) {
        while self.messages.load(Ordering::Relaxed) >= MESSAGES_LIMIT {
            self.written.notified().await;
        }
    }
}

impl Drop for OutboxPermit {
    fn drop(&mut self) {
        self.outbox.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
        self.outbox.messages.fetch_sub(1, Ordering::Relaxed);
        self.outbox.written.notify_one();
    }
}

/// A message as one line, with its line feed.
fn encode_line(message: &ServerJsonRpcMessage) -> serde_json::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(message)?;
    // Some clients end a line at U+0085, U+2028 or U+2029, which JSON does not require to be escaped.
    if let Ok(text) = std::str::from_utf8(&line)
        && let Cow::Owned(escaped) = escape_json(text)
    {
        line = escaped.into_bytes();
    }
    line.push(b'\n');
    line.shrink_to_fit();
    Ok(line)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rmcp::model::{CallToolResult, ContentBlock, RequestId, ServerResult};

    use super::*;
    use crate::transport::testing::block_on;

    fn response(bytes: usize) -> ServerJsonRpcMessage {
        let text = ContentBlock::text("y".repeat(bytes));
        let result = ServerResult::CallToolResult(CallToolResult::success(vec![text]));
        ServerJsonRpcMessage::response(result, RequestId::Number(1))
    }

    fn is_error(line: &[u8]) -> bool {
        let message: serde_json::Value = serde_json::from_slice(line).unwrap();
        message["error"].is_object()
    }

    #[test]
    fn a_message_is_one_line_by_any_definition() {
        let said = "a\u{85}b\u{2028}c\u{2029}d\u{9b}e\u{7f}";
        let message = ServerJsonRpcMessage::error(ErrorData::internal_error(said, None), None);
        let text = String::from_utf8(encode_line(&message).unwrap()).unwrap();
        let text = text.strip_suffix('\n').unwrap();
        assert!(
            text.is_ascii() && !text.contains(|c: char| c.is_control()),
            "{text:?}"
        );
        let value: serde_json::Value = serde_json::from_str(text).unwrap();
        assert_eq!(value["error"]["message"], said);
    }

    #[test]
    fn responses_beyond_the_byte_limit_become_errors() {
        let outbox = Arc::new(Outbox::default());
        let take = |bytes: usize| outbox.encode(&response(bytes)).unwrap();
        let mut held: Vec<_> = (0..8).map(|_| take(BYTES_LIMIT / 8 - 200)).collect();
        assert!(held.iter().all(|(line, _)| !is_error(line)));
        assert!(is_error(&take(2000).0));
        held.pop();
        assert!(!is_error(&take(2000).0));
        drop(held);
        assert_eq!(outbox.bytes.load(Ordering::Relaxed), 0);
        assert_eq!(outbox.messages.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_full_outbox_has_no_capacity_until_a_message_is_written() {
        block_on(async {
            let outbox = Arc::new(Outbox::default());
            let mut held: Vec<_> = (1..MESSAGES_LIMIT)
                .map(|_| outbox.encode(&response(0)).unwrap())
                .collect();
            outbox.wait_for_capacity().await;
            held.push(outbox.encode(&response(0)).unwrap());
            let early =
                tokio::time::timeout(Duration::from_millis(20), outbox.wait_for_capacity()).await;
            assert!(early.is_err(), "all wait");
            held.pop();
            outbox.wait_for_capacity().await;
        });
    }
}
