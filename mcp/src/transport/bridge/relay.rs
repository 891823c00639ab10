//! Carries the messages of one client to a server, and what comes back to the client.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hyper::body::Bytes;
use hyper::header::{HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use hyper::{Method, StatusCode};
use rmcp::model::{ErrorData, RequestId, ServerJsonRpcMessage};
use serde_json::{Value, json};
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::task::AbortHandle;

use super::answer::{Delivered, is_message, one_line, revision_of, with_id};
use super::client::{Client, Reply};
use super::events::EventReader;
use super::failure::Failure;
use super::headers::{SESSION_ID, headers_of, session_headers};
use super::message::{Kind, Message};
use super::session::{Session, Sessions};

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// The method whose answer is a stream that stays open.
const LISTEN: &str = "subscriptions/listen";

/// How long to wait before a stream is opened again, and at most.
const RECONNECT_INTERVAL: Duration = Duration::from_secs(1);
const RECONNECT_LIMIT: Duration = Duration::from_secs(5);

/// How often a request is sent again that a busy server refused, a second after each refusal.
const BUSY_ATTEMPTS: usize = 5;

/// How long a notification may take: what follows waits for it.
const NOTIFY_TIMEOUT: Duration = Duration::from_secs(10);

/// Carries messages until it is dropped.
pub(super) struct Relay {
    client: Arc<Client>,
    sessions: Sessions,
    /// Lines for the client, without their line feeds.
    lines: mpsc::Sender<String>,
    /// By the JSON of their ids.
    in_flight: Mutex<HashMap<String, InFlight>>,
    /// Whether the stream of the session is read, or will be again.
    listens: AtomicBool,
    listener: Mutex<Option<AbortHandle>>,
}

struct InFlight {
    task: AbortHandle,
    /// Whether it stays open until the client ends it.
    is_stream: bool,
    is_modern: bool,
}

/// A line of the client that is a request.
struct Call {
    line: Bytes,
    message: Message,
    id: Value,
    /// Held until it is answered.
    _memory: Option<OwnedSemaphorePermit>,
}

impl Relay {
    pub(super) fn new(client: Arc<Client>, lines: mpsc::Sender<String>) -> Arc<Relay> {
        Arc::new(Relay {
            client,
            sessions: Sessions::default(),
            lines,
            in_flight: Mutex::default(),
            listens: AtomicBool::new(false),
            listener: Mutex::default(),
        })
    }

    fn in_flight(&self) -> MutexGuard<'_, HashMap<String, InFlight>> {
        self.in_flight
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a request is not answered that will be.
    pub(super) fn is_busy(&self) -> bool {
        self.in_flight().values().any(|one| !one.is_stream)
    }

    /// Takes a line of the client. Requests are answered when they are; what follows an `initialize` or
    /// a notification waits for it, as it may depend on it.
    pub(super) async fn accept(
        self: &Arc<Self>,
        line: Bytes,
        memory: Option<OwnedSemaphorePermit>,
    ) {
        let Some(message) = Message::read(&line) else {
            return;
        };
        match message.kind.clone() {
            Kind::Request(id) => {
                let call = Call {
                    line,
                    message,
                    id,
                    _memory: memory,
                };
                self.start(call).await;
            }
            Kind::Notification => self.notify(&line, &message).await,
            Kind::Response(_) => self.send_quietly(&line, &message).await,
            Kind::Unknown => {
                let session = self.sessions.current();
                let reply = self.post(&line, &message, session.as_ref());
                if let Ok(Ok(reply)) = tokio::time::timeout(NOTIFY_TIMEOUT, reply).await
                    && let Ok(text) = reply.text(&self.client).await
                    && is_message(&text)
                {
                    self.write(text).await;
                }
            }
        }
    }

    async fn start(self: &Arc<Self>, call: Call) {
        let key = call.id.to_string();
        if self.in_flight().contains_key(&key) {
            let error =
                ErrorData::invalid_request("id: a request with this id is still in progress", None);
            return self.write_error(&call.id, error).await;
        }
        let is_initialize = call.message.method == "initialize";
        let (is_stream, is_modern) = (call.message.method == LISTEN, call.message.is_modern());
        let relay = Arc::clone(self);
        let of_task = key.clone();
        let (started, start) = tokio::sync::oneshot::channel::<()>();
        let task = tokio::spawn(async move {
            // Not before it is among those in flight.
            let _ = start.await;
            relay.answer(&call).await;
            relay.in_flight().remove(&of_task);
        });
        let one = InFlight {
            task: task.abort_handle(),
            is_stream,
            is_modern,
        };
        self.in_flight().insert(key, one);
        let _ = started.send(());
        if is_initialize {
            // It ends with an answer in any case.
            let _ = task.await;
        }
    }

    async fn answer(self: &Arc<Self>, call: &Call) {
        let answered = if call.message.method == LISTEN {
            self.listen(call).await
        } else {
            self.exchange(call, &mut Delivered::default()).await
        };
        if let Err(failure) = answered {
            let error = failure.into_error(&self.client.url.to_string());
            self.write_error(&call.id, error).await;
        }
    }

    /// Sends a request and passes on what comes back, once more in a new session if the server has lost
    /// this one.
    async fn exchange(
        self: &Arc<Self>,
        call: &Call,
        delivered: &mut Delivered,
    ) -> Result<(), Failure> {
        let is_session_call = !call.message.is_modern() && call.message.method != "initialize";
        let session = self.sessions.current().filter(|_| is_session_call);
        let mut reply = self
            .post(&call.line, &call.message, session.as_ref())
            .await?;
        if reply.status == StatusCode::NOT_FOUND
            && let Some(lost) = session.filter(|session| session.id.is_some())
        {
            self.renew(&lost).await?;
            let session = self.sessions.current();
            reply = self
                .post(&call.line, &call.message, session.as_ref())
                .await?;
        }
        let session_id = reply.headers.get(SESSION_ID).cloned();
        self.deliver(reply, call, delivered).await?;
        match (&*call.message.method, &delivered.revision) {
            ("initialize", Some(revision)) => {
                let id = session_id.and_then(|id| id.to_str().map(str::to_owned).ok());
                let revision = Some(revision.clone());
                self.sessions
                    .begin(call.line.clone(), Session { id, revision });
            }
            (method @ ("resources/subscribe" | "resources/unsubscribe"), _) => {
                if let (Some(uri), true) = (&call.message.uri, delivered.is_result) {
                    self.sessions
                        .subscribe(uri, method == "resources/subscribe");
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// A subscription: when its stream breaks, it is made again as soon as the server is back.
    async fn listen(self: &Arc<Self>, call: &Call) -> Result<(), Failure> {
        let mut delivered = Delivered::default();
        let mut wait = RECONNECT_INTERVAL;
        loop {
            let before = delivered.messages;
            match self.exchange(call, &mut delivered).await {
                // One that never began is an error, which the client should know.
                Err(failure) if delivered.messages == 0 || !failure.is_of_connection() => {
                    return Err(failure);
                }
                Err(_) => {}
                Ok(()) => return Ok(()),
            }
            if delivered.messages > before {
                wait = RECONNECT_INTERVAL;
            }
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(RECONNECT_LIMIT);
        }
    }

    /// Passes on the messages of an answer.
    async fn deliver(
        &self,
        mut reply: Reply,
        call: &Call,
        delivered: &mut Delivered,
    ) -> Result<(), Failure> {
        if !reply.is_stream() {
            let status = reply.status;
            let text = reply.text(&self.client).await?;
            let Some(text) = with_id(text.as_str(), &call.id) else {
                return Err(Failure::Refused(status, text));
            };
            if delivered.take(&text, &call.id) {
                self.write(text).await;
            }
            return Ok(());
        }
        let mut events = EventReader::default();
        while let Some(chunk) = reply.chunk().await? {
            for event in events.feed(&chunk).map_err(|_| Failure::TooLong)? {
                if is_message(&event.data) && delivered.take(&event.data, &call.id) {
                    self.write(event.data).await;
                }
            }
        }
        if !delivered.is_answered {
            return Err(Failure::Lost("the stream ended".to_owned()));
        }
        reply.finish(&self.client);
        Ok(())
    }

    async fn notify(self: &Arc<Self>, line: &Bytes, message: &Message) {
        if message.method == "notifications/cancelled"
            && let Some(id) = &message.cancels
        {
            let cancelled = self.in_flight().remove(&id.to_string());
            if let Some(cancelled) = cancelled {
                // Closes the connection, which is how a request is cancelled from 2026-07-28 on.
                cancelled.task.abort();
                if cancelled.is_modern {
                    return;
                }
            }
        }
        self.send_quietly(line, message).await;
        if message.method == "notifications/initialized" {
            self.listen_to_session();
        }
    }

    /// Sends what has no answer.
    async fn send_quietly(&self, line: &Bytes, message: &Message) {
        let session = self.sessions.current();
        let sent = async {
            let reply = self.post(line, message, session.as_ref()).await?;
            reply.text(&self.client).await
        };
        // Nobody waits to hear of an error.
        let _ = tokio::time::timeout(NOTIFY_TIMEOUT, sent).await;
    }

    /// Reads the stream of a session, on which come the messages that belong to no request.
    fn listen_to_session(self: &Arc<Self>) {
        let has_session = self
            .sessions
            .current()
            .is_some_and(|session| session.id.is_some());
        if !has_session || self.listens.swap(true, Ordering::Relaxed) {
            return;
        }
        let relay = Arc::clone(self);
        let task = tokio::spawn(async move { relay.read_session().await });
        let mut listener = self.listener.lock().unwrap_or_else(PoisonError::into_inner);
        *listener = Some(task.abort_handle());
    }

    async fn read_session(self: Arc<Self>) {
        let mut wait = RECONNECT_INTERVAL;
        // The last event of a session, after which its stream goes on.
        let mut last: Option<(Session, String)> = None;
        while let Some(session) = self.sessions.current() {
            let mut headers = session_headers(&session);
            let resumed = last.as_ref().filter(|(of, _)| *of == session);
            if let Some((_, id)) = resumed
                && let Ok(id) = HeaderValue::from_str(id)
            {
                headers.insert(LAST_EVENT_ID, id);
            }
            let reply = self.client.send(Method::GET, headers, Bytes::new()).await;
            match reply {
                Ok(reply) if reply.status.is_success() && reply.is_stream() => {
                    wait = RECONNECT_INTERVAL;
                    if let Some(id) = self.pass_on(reply).await {
                        last = Some((session, id));
                    }
                }
                Ok(reply) if reply.status == StatusCode::NOT_FOUND => {
                    // What follows a failure is another attempt.
                    let _ = self.renew(&session).await;
                }
                // It offers no such stream.
                Ok(reply) if reply.status.is_client_error() => return,
                _ => {}
            }
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(RECONNECT_LIMIT);
        }
    }

    /// Passes on the messages of a stream until it ends; gives the id of the last event.
    async fn pass_on(&self, mut reply: Reply) -> Option<String> {
        let mut events = EventReader::default();
        let mut last = None;
        while let Ok(Some(chunk)) = reply.chunk().await {
            for event in events.feed(&chunk).ok()? {
                last = event.id.filter(|id| !id.is_empty()).or(last);
                if is_message(&event.data) {
                    self.write(event.data).await;
                }
            }
        }
        last
    }

    /// Opens a session in the place of one that the server does not know any more, with the same
    /// subscriptions.
    async fn renew(&self, lost: &Session) -> Result<(), Failure> {
        let _renewing = self.sessions.renewing.lock().await;
        if self.sessions.current().as_ref() != Some(lost) {
            return Ok(());
        }
        let Some((initialize, subscribed)) = self.sessions.opening() else {
            return Ok(());
        };
        let reply = self
            .client
            .send(Method::POST, HeaderMap::new(), initialize.clone())
            .await?;
        let id = reply.headers.get(SESSION_ID).cloned();
        let id = id.and_then(|id| id.to_str().map(str::to_owned).ok());
        let (status, text) = (reply.status, self.whole(reply).await?);
        let revision = revision_of(&text).ok_or(Failure::Refused(status, text))?;
        let revision = Some(revision);
        let session = Session { id, revision };
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let subscriptions = subscribed.iter().zip(1..).map(|(uri, number)| {
            json!({"jsonrpc": "2.0", "id": format!("kb-subscribe-{number}"),
                "method": "resources/subscribe", "params": {"uri": uri}})
        });
        for message in std::iter::once(initialized).chain(subscriptions) {
            let headers = session_headers(&session);
            let body = Bytes::from(message.to_string());
            let reply = self.client.send(Method::POST, headers, body).await?;
            self.whole(reply).await?;
        }
        self.sessions.begin(initialize, session);
        Ok(())
    }

    /// The message of an answer, of a stream its last one.
    async fn whole(&self, mut reply: Reply) -> Result<String, Failure> {
        if !reply.is_stream() {
            return reply.text(&self.client).await;
        }
        let mut events = EventReader::default();
        let mut last = String::new();
        while let Some(chunk) = reply.chunk().await? {
            for event in events.feed(&chunk).map_err(|_| Failure::TooLong)? {
                last = event.data;
            }
        }
        reply.finish(&self.client);
        Ok(last)
    }

    /// Sends a message, again while the server is busy.
    async fn post(
        &self,
        line: &Bytes,
        message: &Message,
        session: Option<&Session>,
    ) -> Result<Reply, Failure> {
        let mut attempts = 0;
        loop {
            attempts += 1;
            let headers = headers_of(message, session);
            let reply = self
                .client
                .send(Method::POST, headers, line.clone())
                .await?;
            let is_busy = reply.headers.contains_key(RETRY_AFTER)
                && matches!(
                    reply.status,
                    StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS
                );
            if !is_busy || attempts == BUSY_ATTEMPTS {
                return Ok(reply);
            }
            tokio::time::sleep(RECONNECT_INTERVAL).await;
        }
    }

    async fn write(&self, text: String) {
        // If nobody reads it, this program ends.
        let _ = self.lines.send(one_line(&text)).await;
    }

    async fn write_error(&self, id: &Value, error: ErrorData) {
        let id: Option<RequestId> = serde_json::from_value(id.clone()).ok();
        let error = ServerJsonRpcMessage::error(error, id);
        if let Ok(text) = serde_json::to_string(&error) {
            self.write(text).await;
        }
    }

    /// Ends everything that is open, and the session with it.
    pub(super) async fn stop(&self) {
        let listener = self
            .listener
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(listener) = listener {
            listener.abort();
        }
        for (_, one) in self.in_flight().drain() {
            one.task.abort();
        }
        if let Some(session) = self.sessions.end().filter(|session| session.id.is_some()) {
            let headers = session_headers(&session);
            // The server closes it by itself when it is not used.
            let _ = self
                .client
                .send(Method::DELETE, headers, Bytes::new())
                .await;
        }
    }
}
