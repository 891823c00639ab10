//! Decides about a request before the protocol does: path, names, token, rate, size.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{
    AUTHORIZATION, CONNECTION, CONTENT_LENGTH, HeaderName, HeaderValue, RETRY_AFTER,
    WWW_AUTHENTICATE,
};
use hyper::{HeaderMap, Request, Response, StatusCode};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::origin::Names;
use super::rate::Rates;
use super::sessions::Sessions;
use crate::tokens::{Access, Tokens};
use crate::wire::handler::Session;
use crate::wire::server::Server;

/// Where the protocol lives.
pub(super) const PATH: &str = "/mcp";

/// Largest body. An upload may have 10 MiB, base64 and JSON make it longer.
const BODY_LIMIT: usize = 24 << 20;

/// How long a body may take.
const BODY_TIME: Duration = Duration::from_secs(30);

/// All bodies that are being read, in KiB.
const BODIES_KIB: usize = 96 << 10;

const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");

type Answer = Response<BoxBody<Bytes, Infallible>>;

/// Everything that requests go through.
pub(super) struct Gate {
    names: Names,
    /// `None`: whoever reaches this machine may ask.
    tokens: Option<Arc<Tokens>>,
    rates: Rates,
    bodies: Arc<Semaphore>,
    sessions: Arc<Sessions>,
    service: StreamableHttpService<Session, Sessions>,
}

impl Gate {
    pub(super) fn new(
        server: &Arc<Server>,
        names: Names,
        tokens: Option<Arc<Tokens>>,
        stopped: CancellationToken,
    ) -> Gate {
        let sessions: Arc<Sessions> = Arc::default();
        // The names are checked here already, earlier and once.
        let config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .with_json_response(true)
            .with_legacy_session_mode(true)
            .with_max_request_body_bytes(BODY_LIMIT)
            .with_cancellation_token(stopped);
        let server = Arc::clone(server);
        let session = move || Ok(Session::new(Arc::clone(&server)));
        Gate {
            names,
            tokens,
            rates: Rates::default(),
            bodies: Arc::new(Semaphore::new(BODIES_KIB)),
            service: StreamableHttpService::new(session, Arc::clone(&sessions), config),
            sessions,
        }
    }

    /// Answers a request.
    pub(super) async fn answer(&self, request: Request<Incoming>) -> Answer {
        self.let_in(request).await.unwrap_or_else(refusal)
    }

    async fn let_in(&self, request: Request<Incoming>) -> Result<Answer, StatusCode> {
        if request.uri().path() != PATH {
            return Err(StatusCode::NOT_FOUND);
        }
        if !self.names.allow(request.uri(), request.headers()) {
            return Err(StatusCode::FORBIDDEN);
        }
        let access = self.access(request.headers()).await?;
        let owner = access.as_ref().map_or("", |access| &access.name).to_owned();
        if !self.rates.take(&owner, Instant::now()) {
            return Err(StatusCode::TOO_MANY_REQUESTS);
        }
        let session = request.headers().get(SESSION_ID).cloned();
        if let Some(session) = &session {
            let id = session.to_str().unwrap_or_default();
            if !self.sessions.goes_on(id, &owner) {
                return Err(StatusCode::NOT_FOUND);
            }
        }
        let (mut parts, body) = request.into_parts();
        let room = self.room(&parts.headers, &body)?;
        let body = read(body).await?;
        if let Some(access) = access {
            parts.extensions.insert(access);
        }
        let request = Request::from_parts(parts, Full::new(body));
        let answer = self.service.handle(request).await;
        drop(room);
        if session.is_none()
            && let Some(id) = answer.headers().get(SESSION_ID)
            && let Ok(id) = id.to_str()
        {
            self.sessions.began(id, &owner);
        }
        Ok(answer)
    }

    /// Who asks; `None` where nobody is asked who they are.
    async fn access(&self, headers: &HeaderMap) -> Result<Option<Access>, StatusCode> {
        let Some(tokens) = &self.tokens else {
            return Ok(None);
        };
        let header = headers.get(AUTHORIZATION);
        let header = header.and_then(|header| header.to_str().ok());
        let header = header.map(str::to_owned);
        let tokens = Arc::clone(tokens);
        // The file is looked at.
        let checked = tokio::task::spawn_blocking(move || tokens.check(header.as_deref())).await;
        match checked {
            Ok(Some(access)) => Ok(Some(access)),
            _ => Err(StatusCode::UNAUTHORIZED),
        }
    }

    /// Room for a body, as long as it is held; its length is known before anything is read, or taken
    /// for the largest.
    fn room(
        &self,
        headers: &HeaderMap,
        body: &Incoming,
    ) -> Result<tokio::sync::OwnedSemaphorePermit, StatusCode> {
        let length = match headers.get(CONTENT_LENGTH) {
            None if body.is_end_stream() => 0,
            None => BODY_LIMIT,
            Some(length) => length
                .to_str()
                .ok()
                .and_then(|length| length.parse().ok())
                .unwrap_or(usize::MAX),
        };
        if length > BODY_LIMIT {
            return Err(StatusCode::PAYLOAD_TOO_LARGE);
        }
        let kib = u32::try_from(length.div_ceil(1024)).unwrap_or(u32::MAX);
        let room = Arc::clone(&self.bodies).try_acquire_many_owned(kib);
        room.map_err(|_| StatusCode::SERVICE_UNAVAILABLE)
    }
}

async fn read(body: Incoming) -> Result<Bytes, StatusCode> {
    let whole = Limited::new(body, BODY_LIMIT).collect();
    match tokio::time::timeout(BODY_TIME, whole).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(StatusCode::PAYLOAD_TOO_LARGE),
        Ok(Err(_)) => Err(StatusCode::BAD_REQUEST),
        Err(_) => Err(StatusCode::REQUEST_TIMEOUT),
    }
}

/// An answer that says no more than its status; the connection is not used again, as something of
/// the request may still be on it.
fn refusal(status: StatusCode) -> Answer {
    let words = status.canonical_reason().unwrap_or_default();
    let mut answer = Response::new(Full::new(Bytes::from_static(words.as_bytes())).boxed());
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    match status {
        StatusCode::UNAUTHORIZED => {
            let how = HeaderValue::from_static("Bearer realm=\"kb\"");
            headers.insert(WWW_AUTHENTICATE, how);
        }
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        _ => {}
    }
    answer
}
