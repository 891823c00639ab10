//! The stdio transport of MCP: one JSON-RPC message a line, over a pair of pipes.
//!
//! Unlike the transport of rmcp, this one serves clients that misbehave: a notification that comes
//! first does not end the process, a line that is too long gets an error and its memory is freed, and
//! the end of the input cancels open subscriptions. A thread reads and parses, another one writes, so
//! neither a long line nor a client that does not read holds up other requests. The memory of messages
//! in both directions is bounded.

use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::mpsc as blocking;
use std::thread;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorData, GetExtensions, GetMeta, ProtocolVersion,
    ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::outbox::{Outbox, OutboxPermit};
use super::reader::{Incoming, read_messages};
use crate::transport::in_flight::InFlightRequests;
use crate::transport::request_guard::RequestGuard;

/// Messages that are read ahead of the session.
const READ_AHEAD: usize = 8;

/// How long the last responses may take to be written when the transport closes.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

/// How long tasks may run on at the end of the input, before rmcp is told. It waits five seconds for
/// a response that is only about to be sent, such as the one of a subscription that just began.
const DRAIN_TIME: Duration = Duration::from_millis(50);

/// A message for the writer.
struct Outgoing {
    /// `None` writes nothing: its receipt comes when everything before it is written.
    line: Option<Vec<u8>>,
    /// Gets the result of writing it.
    receipt: oneshot::Sender<io::Result<()>>,
    /// Released when it is written.
    _permit: Option<OutboxPermit>,
}

/// A [`Transport`] over two pipes.
pub(crate) struct StdioTransport {
    incoming: mpsc::Receiver<Incoming>,
    outgoing: blocking::Sender<Outgoing>,
    in_flight: Arc<InFlightRequests>,
    outbox: Arc<Outbox>,
    /// Cancelled at the end of the input, and when writing fails.
    shutdown: CancellationToken,
    /// Whether a message has started the session. Before that, rmcp takes a notification for an error
    /// of the transport and stops.
    is_initialized: bool,
}

impl StdioTransport {
    /// Reads one pipe and writes the other. `shutdown` is cancelled at the end of either; cancelling it
    /// ends the transport.
    pub(crate) fn new(
        input: File,
        output: File,
        shutdown: CancellationToken,
    ) -> io::Result<StdioTransport> {
        let (read, incoming) = mpsc::channel(READ_AHEAD);
        let (outgoing, to_write) = blocking::channel();
        let reader = thread::Builder::new().name("stdin".to_owned());
        let handle = Handle::current();
        reader.spawn(move || read_messages(input, &handle, &read))?;
        let on_failure = shutdown.clone();
        let writer = thread::Builder::new().name("stdout".to_owned());
        writer.spawn(move || write_messages(output, &to_write, &on_failure))?;
        Ok(StdioTransport {
            incoming,
            outgoing,
            in_flight: Arc::default(),
            outbox: Arc::default(),
            shutdown,
            is_initialized: false,
        })
    }

    /// Queues a message before it returns, so that messages are written in the order of the calls. The
    /// receipt comes when it is written.
    fn enqueue(&self, message: Option<ServerJsonRpcMessage>) -> oneshot::Receiver<io::Result<()>> {
        let (receipt, written) = oneshot::channel();
        let encoded = message.map(|message| self.outbox.encode(&message));
        match encoded.transpose() {
            Ok(encoded) => {
                let (line, permit) = encoded.unzip();
                // If the writer is gone, the receipt is dropped with the message.
                let _ = self.outgoing.send(Outgoing {
                    line,
                    receipt,
                    _permit: permit,
                });
            }
            Err(error) => {
                // Not every caller waits for the receipt.
                let _ = receipt.send(Err(error.into()));
            }
        }
        written
    }

    /// Adds a message to what is in flight until its work has ended.
    ///
    /// # Errors
    /// The error to answer the request with instead.
    fn track(
        &self,
        message: &mut ClientJsonRpcMessage,
        memory: Option<OwnedSemaphorePermit>,
    ) -> Result<(), ErrorData> {
        match message {
            ClientJsonRpcMessage::Request(request) => {
                let in_flight = self.in_flight.start(&request.id)?;
                // A subscription stays open and keeps little of its message.
                let is_subscription = matches!(
                    request.request,
                    ClientRequest::SubscriptionsListenRequest(_)
                );
                let memory = memory.filter(|_| !is_subscription);
                let guard = RequestGuard::new((in_flight, memory));
                request.request.extensions_mut().insert(guard);
            }
            ClientJsonRpcMessage::Notification(notification) => {
                let guard = RequestGuard::new(memory);
                notification.notification.extensions_mut().insert(guard);
            }
            _ => {}
        }
        Ok(())
    }
}

impl Transport<RoleServer> for StdioTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        item: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let written = self.enqueue(Some(item));
        async move { written.await.unwrap_or_else(|_| Err(broken_pipe())) }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            // Backpressure: a client that does not read its responses sends no more requests.
            let next = async {
                self.outbox.wait_for_capacity().await;
                self.incoming.recv().await
            };
            let incoming = tokio::select! {
                () = self.shutdown.cancelled() => None,
                incoming = next => incoming,
            };
            match incoming {
                None => {
                    self.shutdown.cancel();
                    tokio::time::sleep(DRAIN_TIME).await;
                    return None;
                }
                Some(Incoming::Rejected(error, id)) => {
                    drop(self.enqueue(Some(ServerJsonRpcMessage::error(error, id))));
                }
                Some(Incoming::Message(mut message, memory)) => {
                    let id = match &*message {
                        ClientJsonRpcMessage::Request(request) => Some(request.id.clone()),
                        _ => None,
                    };
                    if id.is_none() && !self.is_initialized {
                        continue;
                    }
                    if let Err(error) = self.track(&mut message, memory) {
                        drop(self.enqueue(Some(ServerJsonRpcMessage::error(error, id))));
                        continue;
                    }
                    self.is_initialized |= starts_session(&message);
                    return Some(*message);
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        let written = self.enqueue(None);
        match tokio::time::timeout(FLUSH_TIMEOUT, written).await {
            Ok(Ok(result)) => result,
            _ => Err(broken_pipe()),
        }
    }
}

fn broken_pipe() -> io::Error {
    io::ErrorKind::BrokenPipe.into()
}

/// Whether rmcp starts a session with this message: an `initialize`, or a request of protocol
/// 2026-07-28, which carries its protocol version.
fn starts_session(message: &ClientJsonRpcMessage) -> bool {
    let ClientJsonRpcMessage::Request(request) = message else {
        return false;
    };
    match &request.request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        request => {
            let meta = request.get_meta();
            let missing = meta.missing_required_keys(&ProtocolVersion::V_2026_07_28);
            let version = meta.protocol_version();
            let is_supported =
                version.is_some_and(|it| ProtocolVersion::KNOWN_VERSIONS.contains(&it));
            missing.is_empty() && is_supported
        }
    }
}

/// Writes messages until all senders are gone. A failed write cancels `shutdown`, as nobody reads.
fn write_messages(
    mut output: impl Write,
    messages: &blocking::Receiver<Outgoing>,
    shutdown: &CancellationToken,
) {
    for outgoing in messages {
        let result = match outgoing.line {
            Some(line) => output.write_all(&line).and_then(|()| output.flush()),
            None => Ok(()),
        };
        if result.is_err() {
            shutdown.cancel();
        }
        // Not every caller waits for the receipt.
        let _ = outgoing.receipt.send(result);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::stdio::reader::parse;

    #[test]
    fn only_requests_with_a_protocol_version_start_a_session() {
        let starts_session = |line: &str| match parse(line.as_bytes(), None) {
            Some(Incoming::Message(message, _)) => starts_session(&message),
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
        assert!(starts_session(&request("tools/list", "2026-07-28")));
        assert!(!starts_session(&request("tools/list", "1900-01-01")));
        assert!(!starts_session(&request("server/discover", "2026-07-28")));
        assert!(!starts_session(
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#
        ));
        assert!(!starts_session(
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#
        ));
    }
}
