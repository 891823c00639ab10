//! The checks of every request before rmcp sees it (path, host, origin, token, rate, size), and the processing of every
//! response before it is sent.

use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt, Empty, Full};
use hyper::body::{Body, Bytes};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderName};
use hyper::{HeaderMap, Method, Request, Response, StatusCode, Uri};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;

use super::allow_list::{AllowList, Forbidden, Sender};
use super::auth::Authenticator;
use super::body::budget::BodyBudget;
use super::body::offload::Offload;
use super::body::response::{ResponseBody, counted, counted_events, end_on, escaped, guarded};
use super::body::unflushed::Unflushed;
use super::cors;
use super::limits::concurrency::ConcurrencyLimit;
use super::limits::connections::{ConnectionLimit, ConnectionSlot, FirstRequestTimeouts};
use super::rejection::Rejection;
use super::session_manager::{LimitedSessionManager, OWNER};
use super::site::{Files, MakeSite, Refused, SignIns, Site, Visitor};
use crate::options::Note;
use crate::tokens::{Access, Hash, Tokens};
use crate::transport::message_shape::UPLOAD_LIMIT;
use crate::transport::quota::{Owner, Quota, QuotaPermit};
use crate::transport::request_guard::RequestGuard;
use crate::transport::server::Server;
use crate::transport::session::Session;

/// The path of the MCP endpoint.
pub(super) const PATH: &str = "/mcp";

/// How long the streams of a revoked token may take to end. A client that reads sees the end; after
/// that its connections are closed.
const REVOCATION_GRACE: Duration = Duration::from_secs(1);

/// Most connections. For one more an idle one is closed, or it waits.
const CONNECTIONS: usize = 256;

const FIRST_REQUEST_TIMEOUTS: FirstRequestTimeouts = FirstRequestTimeouts {
    always: Duration::from_secs(10),
    when_full: Duration::from_secs(2),
};

/// Open streams, and how many of them each token can always have. Half of the connections: the other
/// half is for requests.
const STREAMS: usize = 128;
const STREAMS_RESERVED: usize = 8;

/// Requests in flight, and how many of them each token can always have. In a session they outlive the
/// connection.
const REQUESTS: usize = 1024;
const REQUESTS_RESERVED: usize = 32;

/// Memory of all long responses that are not written, in KiB, and how much of it each token can always
/// have.
const RESPONSES_KIB: usize = 40 << 10;
const RESPONSES_RESERVED_KIB: usize = 2 << 10;

/// Longest response that is not counted, in bytes: a connection has one at a time.
const UNCOUNTED_LIMIT_BYTES: u64 = 64 << 10;

/// Why a response that does not fit into [`RESPONSES_KIB`] is replaced by an error.
const UNREAD: &str = "too many unread responses";

const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");

/// Everything between a connection and rmcp.
pub(super) struct Middleware {
    allow_list: AllowList,
    auth: Authenticator,
    concurrency: ConcurrencyLimit,
    bodies: BodyBudget,
    offload: Offload,
    requests: Arc<Quota>,
    streams: Arc<Quota>,
    responses_kib: Arc<Quota>,
    pub(super) connections: Arc<ConnectionLimit>,
    sessions: Arc<LimitedSessionManager>,
    service: StreamableHttpService<Session, LimitedSessionManager>,
    /// Answers all other paths; `None`: nothing does.
    site: Option<Arc<dyn Site>>,
    sign_ins: Arc<SignIns>,
}

impl Middleware {
    pub(super) fn new(
        server: &Arc<Server>,
        allow_list: AllowList,
        tokens: Option<Arc<Tokens>>,
        shutdown: CancellationToken,
        make_site: Option<MakeSite<'_>>,
        sign_ins: SignIns,
    ) -> Middleware {
        let requires_token = tokens.is_some();
        let sessions = Arc::new(LimitedSessionManager::new(requires_token));
        // Hosts are checked here, before anything else.
        let config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .with_json_response(true)
            .with_legacy_session_mode(true)
            .with_max_request_body_bytes(UPLOAD_LIMIT)
            .with_cancellation_token(shutdown);
        let sign_ins = Arc::new(sign_ins);
        let files = Files::new(Arc::clone(server), tokens.clone(), Arc::clone(&sign_ins));
        let site = make_site.map(|make| make(files));
        let server = Arc::clone(server);
        let session = move || Ok(Session::new(Arc::clone(&server), requires_token));
        let offload = Offload::new();
        Middleware {
            allow_list,
            auth: Authenticator::new(tokens),
            concurrency: ConcurrencyLimit::new(),
            bodies: BodyBudget::new(requires_token, offload.clone()),
            offload,
            requests: Quota::new(REQUESTS, REQUESTS_RESERVED, requires_token),
            streams: Quota::new(STREAMS, STREAMS_RESERVED, requires_token),
            responses_kib: Quota::new(RESPONSES_KIB, RESPONSES_RESERVED_KIB, requires_token),
            connections: ConnectionLimit::new(CONNECTIONS, requires_token, FIRST_REQUEST_TIMEOUTS),
            service: StreamableHttpService::new(session, Arc::clone(&sessions), config),
            sessions,
            site,
            sign_ins,
        }
    }

    /// Tells the person who started the server where it is, at `authority`. Returns the address for a browser.
    pub(super) fn announce(&self, authority: &str, note: &Note) -> String {
        let Some(site) = &self.site else {
            let address = format!("http://{authority}{PATH}");
            note(&address);
            return address;
        };
        let home = format!("http://{authority}{}", site.home());
        note(&format!("{home} (MCP: http://{authority}{PATH})"));
        if self.auth.requires_token()
            && let Some(key) = self.sign_ins.make_link()
        {
            let link = format!("{home}sign-in?key={key}");
            note(&format!("to read in your browser, once: {link}"));
            return link;
        }
        home
    }

    /// Serves one request. `slot` is that of its connection.
    pub(super) async fn handle<B>(
        &self,
        request: Request<B>,
        slot: Option<&ConnectionSlot>,
    ) -> Response<ResponseBody>
    where
        B: Body<Data = Bytes> + Unpin,
    {
        if request.uri().path() != PATH && self.site.is_none() {
            return Rejection::from(StatusCode::NOT_FOUND).into_response();
        }
        let sender = match self.allow_list.check(request.uri(), request.headers()) {
            Ok(sender) => sender,
            Err(forbidden) => return Rejection::from(forbidden).into_response(),
        };
        let Sender::Named(origin) = &sender else {
            return self.handle_allowed(request, &sender, slot).await;
        };
        // A preflight carries no token.
        let mut response = if cors::is_preflight(request.method(), request.headers()) {
            let mut response = Response::new(Empty::new().boxed());
            *response.status_mut() = StatusCode::NO_CONTENT;
            cors::add_preflight_headers(response.headers_mut());
            response
        } else {
            self.handle_allowed(request, &sender, slot).await
        };
        cors::allow_origin(origin.clone(), response.headers_mut());
        response
    }

    /// Serves a request with an allowed host and origin, at most as many of one token at once as
    /// [`ConcurrencyLimit`] lets start. Unknown tokens have a rate instead.
    async fn handle_allowed<B>(
        &self,
        request: Request<B>,
        sender: &Sender,
        slot: Option<&ConnectionSlot>,
    ) -> Response<ResponseBody>
    where
        B: Body<Data = Bytes> + Unpin,
    {
        let token = self.auth.known_token(request.headers()).map(str::to_owned);
        let site = self.site_of(request.uri());
        // The site words its own refusals, by what the client accepts.
        let asked = site.map(|_| {
            let (method, headers) = (request.method().clone(), request.headers().clone());
            (request.uri().clone(), method, headers)
        });
        let response = match token {
            Some(token) => {
                let authorized = self.authorize(request, sender, slot);
                self.concurrency.run(&token, authorized).await
            }
            None => self.authorize(request, sender, slot).await,
        };
        match (response, site, asked) {
            (Ok(response), _, _) => response,
            (Err(rejection), Some(site), Some((uri, method, headers))) => {
                rejection.into_page(|rejection| {
                    site.refuse(&Refused {
                        uri: &uri,
                        method: &method,
                        headers: &headers,
                        status: rejection.status,
                        message: rejection.message(),
                    })
                })
            }
            (Err(rejection), _, _) => rejection.into_response(),
        }
    }

    /// The site, for all paths but that of MCP.
    fn site_of(&self, uri: &Uri) -> Option<&Arc<dyn Site>> {
        self.site.as_ref().filter(|_| uri.path() != PATH)
    }

    /// The access of a request; `None` where no token is required, and for what everybody may see.
    async fn access<B>(
        &self,
        request: &Request<B>,
        sender: &Sender,
    ) -> Result<Option<Access>, Rejection> {
        let Some(site) = self.site_of(request.uri()) else {
            return Ok(self.auth.authenticate(request.headers()).await?);
        };
        let changes = !matches!(*request.method(), Method::GET | Method::HEAD);
        if site.is_public(request.uri().path()) {
            if changes {
                // Somebody may be guessing tokens, or signing a browser in that is not theirs.
                self.auth.check_unknown_rate()?;
                if matches!(sender, Sender::OtherPage | Sender::Named(_)) {
                    return Err(Forbidden::Origin.into());
                }
            }
            return Ok(None);
        }
        if request.headers().contains_key(AUTHORIZATION) {
            return Ok(self.auth.authenticate(request.headers()).await?);
        }
        let Some(visitor) = self.sign_ins.visitor(request.headers()) else {
            return Ok(self.auth.authenticate(request.headers()).await?);
        };
        // Browsers send a cookie whatever page makes them, also one from another port.
        if changes && *sender != Sender::OwnPage {
            return Err(Forbidden::Origin.into());
        }
        match visitor {
            Visitor::Link => Ok(None),
            Visitor::Token(owner) => Ok(Some(self.auth.access_of(owner).await?)),
        }
    }

    /// Checks token, connection, rate and session, then forwards the request.
    async fn authorize<B>(
        &self,
        request: Request<B>,
        sender: &Sender,
        slot: Option<&ConnectionSlot>,
    ) -> Result<Response<ResponseBody>, Rejection>
    where
        B: Body<Data = Bytes> + Unpin,
    {
        let access = self.access(&request, sender).await?;
        let owner = access.as_ref().map(|access| access.hash);
        if slot.is_some_and(|slot| !slot.charge_to(owner)) {
            return Err(Rejection::busy(
                "too many connections of this client are in use",
            ));
        }
        self.auth.check_rate(access.as_ref())?;
        if self.site_of(request.uri()).is_none()
            && let Some(session) = request.headers().get(SESSION_ID)
        {
            let id = session.to_str().unwrap_or_default();
            if !self.sessions.touch(id, owner) {
                return Err(StatusCode::NOT_FOUND.into());
            }
        }
        let unflushed = slot.map(ConnectionSlot::unflushed).unwrap_or_default();
        // Backpressure: a client that does not read its responses gets no more of them.
        unflushed.drained().await;
        let responding = self.forward(request, access, owner, unflushed);
        let Some(revocation) = owner.map(|owner| self.auth.revocation_of(owner)) else {
            return responding.await;
        };
        // A request also ends while its body is read.
        let response = tokio::select! {
            response = responding => response?,
            () = revocation.cancelled() => return Err(StatusCode::UNAUTHORIZED.into()),
        };
        let is_stream = response.body().size_hint().exact().is_none();
        Ok(if is_stream {
            response.map(|body| end_on(body, revocation).boxed())
        } else {
            response
        })
    }

    /// Reads the body, takes the permits of the request and lets rmcp respond.
    async fn forward<B>(
        &self,
        request: Request<B>,
        access: Option<Access>,
        owner: Owner,
        unflushed: Arc<Unflushed>,
    ) -> Result<Response<ResponseBody>, Rejection>
    where
        B: Body<Data = Bytes> + Unpin,
    {
        if let Some(site) = self.site_of(request.uri()) {
            return self.visit(site, request, access, unflushed).await;
        }
        let (mut parts, body) = request.into_parts();
        let body = self.bodies.read(owner, &parts.headers, body).await?;
        let permit = self.requests.try_acquire(owner, 1);
        let permit = permit.ok_or(Rejection::busy("too many requests are in progress"))?;
        let stream_permit = if body.may_be_stream || parts.method == Method::GET {
            let permit = self.streams.try_acquire(owner, 1);
            Some(permit.ok_or(Rejection::busy("too many streams of this client are open"))?)
        } else {
            None
        };
        if let Some(access) = access {
            parts.extensions.insert(access);
        }
        // They travel with the request: in a session it may outlive its connection.
        let guard = RequestGuard::new((body.permit, permit));
        parts.extensions.insert(guard);
        let length = body.bytes.len();
        let (method, claims_json) = (parts.method.clone(), claims_json(&parts.headers));
        let request = Request::from_parts(parts, Full::new(body.bytes));
        let service = self.service.clone();
        let responding = OWNER.scope(owner, async move { service.handle(request).await });
        let mut response = self.offload.first_poll(length, responding).await?;
        match response.status() {
            StatusCode::UNSUPPORTED_MEDIA_TYPE if claims_json => {
                return Ok(body.malformed.into_response());
            }
            // The session is closed by then. Clients of the official SDKs warn at 202.
            StatusCode::ACCEPTED if method == Method::DELETE => {
                *response.status_mut() = StatusCode::OK;
            }
            _ => {}
        }
        let (parts, body) = response.into_parts();
        let body = self
            .count_response(body, owner, unflushed, stream_permit)
            .await?;
        Ok(Response::from_parts(parts, body))
    }

    /// Reads the body, takes the permits of the request and lets the site respond.
    async fn visit<B>(
        &self,
        site: &Arc<dyn Site>,
        request: Request<B>,
        access: Option<Access>,
        unflushed: Arc<Unflushed>,
    ) -> Result<Response<ResponseBody>, Rejection>
    where
        B: Body<Data = Bytes> + Unpin,
    {
        let owner = access.as_ref().map(|access| access.hash);
        let (mut parts, body) = request.into_parts();
        let (bytes, _memory) = self.bodies.read_plain(owner, &parts.headers, body).await?;
        let permit = self.requests.try_acquire(owner, 1);
        let _permit = permit.ok_or(Rejection::busy("too many requests are in progress"))?;
        if let Some(access) = access {
            parts.extensions.insert(access);
        }
        let response = site.respond(Request::from_parts(parts, bytes)).await;
        let (parts, bytes) = response.into_parts();
        let length = bytes.len() as u64;
        let body = Full::new(bytes).boxed();
        if length <= UNCOUNTED_LIMIT_BYTES {
            return Ok(Response::from_parts(parts, body));
        }
        let permit = self.responses_kib.try_acquire(owner, kib(length));
        let permit = permit.ok_or(Rejection::busy(UNREAD))?;
        let body = counted(body, permit, unflushed).boxed();
        Ok(Response::from_parts(parts, body))
    }

    /// Escapes the body of a response and counts its memory until it is written.
    async fn count_response(
        &self,
        body: ResponseBody,
        owner: Owner,
        unflushed: Arc<Unflushed>,
        stream_permit: Option<QuotaPermit>,
    ) -> Result<ResponseBody, Rejection> {
        // Taken before the body is escaped, as many responses may wait for that.
        let mut permit = match body.size_hint().exact() {
            Some(length) if length > UNCOUNTED_LIMIT_BYTES => {
                let permit = self.responses_kib.try_acquire(owner, kib(length));
                Some(permit.ok_or(Rejection::busy(UNREAD))?)
            }
            _ => None,
        };
        let body = escaped(body, &self.offload).await?;
        let Some(length) = body.size_hint().exact() else {
            let memory_kib = Arc::clone(&self.responses_kib);
            let events = counted_events(body, memory_kib, owner, unflushed);
            return Ok(guarded(events.boxed(), stream_permit).boxed());
        };
        // Escaping makes it longer.
        if let Some(permit) = &mut permit
            && !permit.try_grow(kib(length).saturating_sub(permit.amount()))
        {
            return Err(Rejection::busy(UNREAD));
        }
        Ok(match permit {
            Some(permit) => counted(body, permit, unflushed).boxed(),
            None => body,
        })
    }

    /// Ends what revoked tokens began, until `shutdown`.
    pub(super) async fn watch_tokens(&self, shutdown: &CancellationToken) {
        self.auth
            .watch(shutdown, |owner| self.close_all_of(owner))
            .await;
    }

    /// Closes sessions and connections of a revoked token. Nothing waits for that: a client that does
    /// not read delays nobody else.
    fn close_all_of(&self, owner: Hash) {
        self.sessions.close_all_of(owner);
        self.sign_ins.end_all_of(owner);
        let connections = Arc::clone(&self.connections);
        tokio::spawn(async move {
            tokio::time::sleep(REVOCATION_GRACE).await;
            connections.close_all_of(Some(owner));
        });
    }
}

/// Whether a request says that its body is JSON.
fn claims_json(headers: &HeaderMap) -> bool {
    let value = headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok());
    let essence = value.and_then(|value| value.split(';').next());
    essence.is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/json"))
}

/// Bytes in KiB, rounded up.
fn kib(bytes: u64) -> usize {
    usize::try_from(bytes.div_ceil(1024)).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests;
