//! Requests to one server, over connections that are kept for the next one.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderMap, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use super::failure::Failure;
use super::url::ServerUrl;

/// How long a connection may take to be made.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Connections that are kept, and for how long: less than a server keeps them, which would close one
/// while it is used.
const IDLE_CONNECTIONS: usize = 8;
const IDLE_TIME: Duration = Duration::from_secs(30);

/// Longest answer that is no stream, in bytes.
const ANSWER_LIMIT: usize = 64 << 20;

type Sender = SendRequest<Full<Bytes>>;

/// The connections to one server.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) url: ServerUrl,
    /// `Bearer TOKEN`.
    authorization: Option<HeaderValue>,
    idle: Mutex<Vec<(Sender, Instant)>>,
}

/// An answer whose body is still to be read. Dropping it closes its connection, which cancels the
/// request.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    body: Incoming,
    sender: Sender,
}

impl Client {
    /// `token` is the one to send, if there is one.
    pub(super) fn new(url: ServerUrl, authorization: Option<HeaderValue>) -> Client {
        Client {
            url,
            authorization,
            idle: Mutex::default(),
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<(Sender, Instant)>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a request with these headers beside the usual ones; comes back with its first line.
    pub(super) async fn send(
        &self,
        method: Method,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<Reply, Failure> {
        let mut request = self.request(method, headers, body);
        while let Some(mut sender) = self.take_idle() {
            if sender.ready().await.is_err() {
                continue;
            }
            match sender.try_send_request(request).await {
                Ok(response) => return Ok(Reply::new(response, sender)),
                // The connection was closed before anything was sent over it.
                Err(mut error) => match error.take_message() {
                    Some(unsent) => request = unsent,
                    None => return Err(lost(error.error())),
                },
            }
        }
        let mut sender = self.connect().await?;
        let response = sender.send_request(request).await;
        Ok(Reply::new(response.map_err(|error| lost(&error))?, sender))
    }

    fn request(&self, method: Method, headers: HeaderMap, body: Bytes) -> Request<Full<Bytes>> {
        let has_body = !body.is_empty();
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = method;
        // Both were parts of a URL.
        if let Ok(path) = self.url.path.parse() {
            *request.uri_mut() = path;
        }
        *request.headers_mut() = headers;
        let headers = request.headers_mut();
        if let Ok(host) = HeaderValue::from_str(&self.url.authority) {
            headers.insert(HOST, host);
        }
        if let Some(authorization) = &self.authorization {
            headers.insert(AUTHORIZATION, authorization.clone());
        }
        let accepted = HeaderValue::from_static("application/json, text/event-stream");
        headers.insert(ACCEPT, accepted);
        if has_body {
            let json = HeaderValue::from_static("application/json");
            headers.insert(CONTENT_TYPE, json);
        }
        request
    }

    async fn connect(&self) -> Result<Sender, Failure> {
        let unreachable = |error: std::io::Error| Failure::Unreachable(error.to_string());
        let connecting = TcpStream::connect((self.url.host.as_str(), self.url.port));
        let connected = tokio::time::timeout(CONNECT_TIMEOUT, connecting).await;
        let connected = connected.unwrap_or_else(|_| Err(std::io::ErrorKind::TimedOut.into()));
        let stream = connected.map_err(unreachable)?;
        // Small messages would wait for an acknowledgement.
        let _: std::io::Result<()> = stream.set_nodelay(true);
        let handshake = http1::handshake(TokioIo::new(stream)).await;
        let (sender, connection) = handshake.map_err(|error| lost(&error))?;
        // Its errors are those of the request that it carries.
        tokio::spawn(connection);
        Ok(sender)
    }

    fn take_idle(&self) -> Option<Sender> {
        let mut idle = self.idle();
        idle.retain(|(sender, since)| !sender.is_closed() && since.elapsed() < IDLE_TIME);
        idle.pop().map(|(sender, _)| sender)
    }

    fn keep(&self, sender: Sender) {
        let mut idle = self.idle();
        if !sender.is_closed() && idle.len() < IDLE_CONNECTIONS {
            idle.push((sender, Instant::now()));
        }
    }
}

impl Reply {
    fn new(response: Response<Incoming>, sender: Sender) -> Reply {
        let (parts, body) = response.into_parts();
        Reply {
            status: parts.status,
            headers: parts.headers,
            body,
            sender,
        }
    }

    /// Whether it is a stream of events.
    pub(super) fn is_stream(&self) -> bool {
        let kind = self.headers.get(CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        kind.trim_start().starts_with("text/event-stream")
    }

    /// The next bytes of the body; `None` at its end.
    pub(super) async fn chunk(&mut self) -> Result<Option<Bytes>, Failure> {
        while let Some(frame) = self.body.frame().await {
            if let Ok(data) = frame.map_err(|error| lost(&error))?.into_data() {
                return Ok(Some(data));
            }
        }
        Ok(None)
    }

    /// The whole body. Its connection is kept for the next request.
    pub(super) async fn text(mut self, client: &Arc<Client>) -> Result<String, Failure> {
        let mut bytes = Vec::new();
        while let Some(chunk) = self.chunk().await? {
            if bytes.len() + chunk.len() > ANSWER_LIMIT {
                return Err(Failure::TooLong);
            }
            bytes.extend_from_slice(&chunk);
        }
        client.keep(self.sender);
        Ok(String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }

    /// Keeps the connection of a stream that has ended.
    pub(super) fn finish(self, client: &Arc<Client>) {
        client.keep(self.sender);
    }
}

/// The reason that the system gives, rather than the layer above it.
fn lost(error: &hyper::Error) -> Failure {
    let mut reason: &dyn std::error::Error = error;
    while let Some(source) = reason.source() {
        reason = source;
    }
    Failure::Lost(reason.to_string())
}
