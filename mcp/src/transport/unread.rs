//! Answers on their way over a pipe that nobody has read yet.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use kb_engine::escape::escape_json;
use rmcp::model::{ErrorData, ServerJsonRpcMessage};
use tokio::sync::Notify;

/// Most messages that wait for their reader before no more requests are taken up. A client may send
/// so many before it reads.
const MESSAGES_LIMIT: usize = 1024;

/// Most bytes of their lines. An answer beyond that is an error instead: the work for it is done,
/// and nothing else would bound what requests under way bring. They wait as lines, because values
/// with many members take ten times the memory of what they say.
const BYTES_LIMIT: usize = 32 << 20;

/// Those of one conversation.
#[derive(Debug, Default)]
pub(super) struct Unread {
    messages: AtomicUsize,
    bytes: AtomicUsize,
    /// Told of every message that is written.
    written: Notify,
}

/// The place of one message, free when this is dropped.
#[derive(Debug)]
pub(super) struct Place {
    unread: Arc<Unread>,
    bytes: usize,
}

impl Unread {
    /// The line of a message, or of the error that is sent in its place.
    ///
    /// # Errors
    /// What serialising says, which nothing that is sent does.
    pub(super) fn take(
        self: &Arc<Unread>,
        message: &ServerJsonRpcMessage,
    ) -> serde_json::Result<(Vec<u8>, Place)> {
        let mut line = line_of(message)?;
        let before = self.bytes.load(Ordering::Relaxed);
        if let ServerJsonRpcMessage::Response(answer) = message
            && before.saturating_add(line.len()) > BYTES_LIMIT
        {
            let words = "too many answers are not read yet: read them, then ask again";
            let error = ErrorData::internal_error(words, None);
            line = line_of(&ServerJsonRpcMessage::error(error, Some(answer.id.clone())))?;
        }
        self.bytes.fetch_add(line.len(), Ordering::Relaxed);
        self.messages.fetch_add(1, Ordering::Relaxed);
        let place = Place {
            unread: Arc::clone(self),
            bytes: line.len(),
        };
        Ok((line, place))
    }

    /// Waits until there are so few that more may come.
    pub(super) async fn fewer(&self) {
        while self.messages.load(Ordering::Relaxed) >= MESSAGES_LIMIT {
            self.written.notified().await;
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.unread.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
        self.unread.messages.fetch_sub(1, Ordering::Relaxed);
        self.unread.written.notify_one();
    }
}

/// A message and the end of its line.
fn line_of(message: &ServerJsonRpcMessage) -> serde_json::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(message)?;
    // JSON may have U+0085, U+2028 and U+2029 in a string, and some clients end a line there.
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
    use crate::transport::block_on;

    fn answer(bytes: usize) -> ServerJsonRpcMessage {
        let text = ContentBlock::text("y".repeat(bytes));
        let result = ServerResult::CallToolResult(CallToolResult::success(vec![text]));
        ServerJsonRpcMessage::response(result, RequestId::Number(1))
    }

    fn is_error(line: &[u8]) -> bool {
        let message: serde_json::Value = serde_json::from_slice(line).unwrap();
        message["error"].is_object()
    }

    #[test]
    fn a_message_is_one_line_for_every_reader() {
        let said = "a\u{85}b\u{2028}c\u{2029}d\u{9b}e\u{7f}";
        let message = ServerJsonRpcMessage::error(ErrorData::internal_error(said, None), None);
        let text = String::from_utf8(line_of(&message).unwrap()).unwrap();
        let text = text.strip_suffix('\n').unwrap();
        assert!(
            text.is_ascii() && !text.contains(|c: char| c.is_control()),
            "{text:?}"
        );
        let value: serde_json::Value = serde_json::from_str(text).unwrap();
        assert_eq!(value["error"]["message"], said);
    }

    #[test]
    fn long_answers_that_nobody_reads_become_errors_until_some_are_read() {
        let unread = Arc::new(Unread::default());
        let take = |bytes: usize| unread.take(&answer(bytes)).unwrap();
        let mut held: Vec<_> = (0..8).map(|_| take(BYTES_LIMIT / 8 - 200)).collect();
        assert!(held.iter().all(|(line, _)| !is_error(line)));
        assert!(is_error(&take(2000).0));
        held.pop();
        assert!(!is_error(&take(2000).0));
        drop(held);
        assert_eq!(unread.bytes.load(Ordering::Relaxed), 0);
        assert_eq!(unread.messages.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn no_more_is_taken_up_while_many_answers_wait() {
        block_on(async {
            let unread = Arc::new(Unread::default());
            let mut held: Vec<_> = (1..MESSAGES_LIMIT)
                .map(|_| unread.take(&answer(0)).unwrap())
                .collect();
            unread.fewer().await;
            held.push(unread.take(&answer(0)).unwrap());
            let early = tokio::time::timeout(Duration::from_millis(20), unread.fewer()).await;
            assert!(early.is_err(), "all wait");
            held.pop();
            unread.fewer().await;
        });
    }
}
