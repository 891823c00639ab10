//! Answers on their way over a pipe that nobody has read yet.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rmcp::model::{ErrorData, ServerJsonRpcMessage, ServerResult};
use tokio::sync::Notify;

/// Most messages that wait for their reader before no more requests are taken up. A client may send
/// so many before it reads.
const MESSAGES_LIMIT: usize = 1024;

/// Most bytes of text in them. An answer beyond that is an error instead: the work for it is done,
/// and nothing else would bound what requests under way bring. The longest text has 800 KiB.
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
    /// Takes a message, or the error that is sent in its place.
    pub(super) fn take(
        self: &Arc<Unread>,
        message: ServerJsonRpcMessage,
    ) -> (ServerJsonRpcMessage, Place) {
        let mut bytes = text_bytes(&message);
        let before = self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.messages.fetch_add(1, Ordering::Relaxed);
        let message = match message {
            ServerJsonRpcMessage::Response(answer)
                if bytes > 0 && before.saturating_add(bytes) > BYTES_LIMIT =>
            {
                self.bytes.fetch_sub(bytes, Ordering::Relaxed);
                bytes = 0;
                let words = "too many answers are not read yet: read them, then ask again";
                let error = ErrorData::internal_error(words, None);
                ServerJsonRpcMessage::error(error, Some(answer.id))
            }
            message => message,
        };
        let place = Place {
            unread: Arc::clone(self),
            bytes,
        };
        (message, place)
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

/// The bytes of the texts in an answer, which are nearly all that it takes. The structured form says
/// the same once more.
fn text_bytes(message: &ServerJsonRpcMessage) -> usize {
    let ServerJsonRpcMessage::Response(answer) = message else {
        return 0;
    };
    match &answer.result {
        ServerResult::CallToolResult(result) => {
            let texts = result.content.iter().filter_map(|block| block.as_text());
            let bytes: usize = texts.map(|text| text.text.len()).sum();
            bytes * (1 + usize::from(result.structured_content.is_some()))
        }
        ServerResult::ReadResourceResult(result) => {
            let texts = result.contents.iter().map(|content| match content {
                rmcp::model::ResourceContents::TextResourceContents { text, .. } => text.len(),
                _ => 0,
            });
            texts.sum()
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rmcp::model::{CallToolResult, ContentBlock, RequestId};

    use super::*;
    use crate::wire::block_on;

    fn answer(bytes: usize) -> ServerJsonRpcMessage {
        let text = ContentBlock::text("y".repeat(bytes));
        let result = ServerResult::CallToolResult(CallToolResult::success(vec![text]));
        ServerJsonRpcMessage::response(result, RequestId::Number(1))
    }

    fn is_error(message: &ServerJsonRpcMessage) -> bool {
        matches!(message, ServerJsonRpcMessage::Error(_))
    }

    #[test]
    fn long_answers_that_nobody_reads_become_errors_until_some_are_read() {
        let unread = Arc::new(Unread::default());
        let mut held: Vec<_> = (0..8)
            .map(|_| unread.take(answer(BYTES_LIMIT / 8)))
            .collect();
        assert!(held.iter().all(|(message, _)| !is_error(message)));
        assert!(is_error(&unread.take(answer(1)).0));
        assert!(!is_error(&unread.take(answer(0)).0), "it takes nothing");
        held.pop();
        assert!(!is_error(&unread.take(answer(1)).0));
        drop(held);
        assert_eq!(unread.bytes.load(Ordering::Relaxed), 0);
        assert_eq!(unread.messages.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn no_more_is_taken_up_while_many_answers_wait() {
        block_on(async {
            let unread = Arc::new(Unread::default());
            let mut held: Vec<_> = (1..MESSAGES_LIMIT)
                .map(|_| unread.take(answer(0)))
                .collect();
            unread.fewer().await;
            held.push(unread.take(answer(0)));
            let early = tokio::time::timeout(Duration::from_millis(20), unread.fewer()).await;
            assert!(early.is_err(), "all wait");
            held.pop();
            unread.fewer().await;
        });
    }
}
