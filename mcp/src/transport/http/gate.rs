//! Decides about a request before the protocol does: path, names, token, rate, size.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Empty, Full};
use hyper::body::{Body, Bytes};
use hyper::header::{AUTHORIZATION, HeaderName};
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;

use super::body::{Bodies, Holding, Until};
use super::origin::Names;
use super::pace::Pace;
use super::pages;
use super::places::{Place, Places, Times};
use super::rate::Rates;
use super::refusal::Refused;
use super::sessions::{OWNER, Sessions};
use super::unsent::{Counted, Unsent};
use crate::tokens::{Access, Hash, Tokens};
use crate::transport::handler::Session;
use crate::transport::held::Held;
use crate::transport::scan::UPLOAD_LIMIT;
use crate::transport::server::Server;
use crate::transport::share::{Owner, Shares};

/// Where the protocol lives.
pub(super) const PATH: &str = "/mcp";

/// How often it is looked which tokens there are.
const TOKENS_PAUSE: Duration = Duration::from_secs(2);

/// How long the streams of a token that is gone may take to end: whoever reads sees an end, whoever
/// does not is cut off.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Most connections at once; for one more an idle one is closed, or it waits.
const CONNECTIONS: usize = 256;

/// How long a new connection may take for its first request, at most and where others wait.
const TIMES: Times = Times {
    first: Duration::from_secs(10),
    fresh: Duration::from_secs(2),
};

/// Streams that last at once, and how many of them each token has for itself. Half of the
/// connections: the other half is for requests.
const STREAMS: usize = 128;
const STREAMS_RESERVED: usize = 8;

/// Requests that are not answered at once, and how many of them each token has for itself. In a
/// session they outlive the connection.
const REQUESTS: usize = 1024;
const REQUESTS_RESERVED: usize = 32;

/// All long answers that are not sent, in KiB, and how much of that each token has for itself.
const ANSWERS_KIB: usize = 40 << 10;
const ANSWERS_RESERVED_KIB: usize = 2 << 10;

/// Answers that are not counted, in bytes: a connection has one at a time.
const SHORT_ANSWER: usize = 64 << 10;

/// Why there is no answer where they are taken.
const UNREAD: &str = "too many answers are not read yet";

const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");

type Answer = Response<BoxBody<Bytes, Infallible>>;

/// What so many bytes count, rounded up.
fn kib(bytes: u64) -> usize {
    usize::try_from(bytes.div_ceil(1024)).unwrap_or(usize::MAX)
}

/// Everything that requests go through.
pub(super) struct Gate {
    names: Names,
    /// `None`: whoever reaches this machine may ask.
    tokens: Option<Arc<Tokens>>,
    rates: Rates,
    pace: Pace,
    bodies: Bodies,
    requests: Arc<Shares>,
    streams: Arc<Shares>,
    answers: Arc<Shares>,
    /// Cancelled when the token is gone that it stands beside.
    holders: Mutex<BTreeMap<Hash, CancellationToken>>,
    pub(super) places: Arc<Places>,
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
        let asks = tokens.is_some();
        if let Some(tokens) = &tokens {
            // So that they are known from the first request on, whoever else asks then.
            let _ = tokens.hashes();
        }
        let sessions = Arc::new(Sessions::new(asks));
        // The names are checked here already, earlier and once.
        let config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .with_json_response(true)
            .with_legacy_session_mode(true)
            .with_max_request_body_bytes(UPLOAD_LIMIT)
            .with_cancellation_token(stopped);
        let server = Arc::clone(server);
        let session = move || Ok(Session::new(Arc::clone(&server), asks));
        Gate {
            names,
            tokens,
            rates: Rates::default(),
            pace: Pace::new(),
            bodies: Bodies::new(asks),
            requests: Shares::new(REQUESTS, REQUESTS_RESERVED, asks),
            streams: Shares::new(STREAMS, STREAMS_RESERVED, asks),
            answers: Shares::new(ANSWERS_KIB, ANSWERS_RESERVED_KIB, asks),
            holders: Mutex::default(),
            places: Places::new(CONNECTIONS, asks, TIMES),
            service: StreamableHttpService::new(session, Arc::clone(&sessions), config),
            sessions,
        }
    }

    /// Answers a request that came over the connection with that place.
    pub(super) async fn answer<B>(&self, request: Request<B>, place: Option<&Place>) -> Answer
    where
        B: Body<Data = Bytes> + Unpin,
    {
        if request.uri().path() != PATH {
            return Refused::from(StatusCode::NOT_FOUND).answer();
        }
        let headers = request.headers();
        let page = match self.names.check(request.uri(), headers) {
            Ok(page) => page,
            Err(denied) => return Refused::from(denied).answer(),
        };
        let Some(page) = page else {
            let answer = self.in_turn(request, place).await;
            return answer.unwrap_or_else(Refused::answer);
        };
        // A browser brings no token when it asks whether it may ask.
        let mut answer = if pages::is_preflight(request.method(), headers) {
            let mut answer = Response::new(Empty::new().boxed());
            *answer.status_mut() = StatusCode::NO_CONTENT;
            pages::answer_preflight(answer.headers_mut());
            answer
        } else {
            let answer = self.in_turn(request, place).await;
            answer.unwrap_or_else(Refused::answer)
        };
        pages::allow(page, answer.headers_mut());
        answer
    }

    async fn in_turn<B>(
        &self,
        request: Request<B>,
        place: Option<&Place>,
    ) -> Result<Answer, Refused>
    where
        B: Body<Data = Bytes> + Unpin,
    {
        let header = request.headers().get(AUTHORIZATION).cloned();
        let header = header.as_ref().and_then(|header| header.to_str().ok());
        // Those that are not known have a rate of their own.
        let known = self
            .tokens
            .as_ref()
            .filter(|tokens| tokens.is_known(header));
        match (known, header) {
            (Some(_), Some(header)) => {
                // The scheme may be spelled in many ways, the token in one.
                let token = header.split_whitespace().next_back().unwrap_or_default();
                self.pace.run(token, self.let_in(request, place)).await
            }
            _ => self.let_in(request, place).await,
        }
    }

    async fn let_in<B>(&self, request: Request<B>, place: Option<&Place>) -> Result<Answer, Refused>
    where
        B: Body<Data = Bytes> + Unpin,
    {
        let access = self.access(request.headers()).await?;
        let owner = access.as_ref().map(|access| access.hash);
        if place.is_some_and(|place| !place.claim(owner)) {
            return Err(Refused::busy(
                "too many connections of this client are in use",
            ));
        }
        let name = access.as_ref().map_or("", |access| &access.name);
        if !self.rates.take(name, Instant::now()) {
            return Err(StatusCode::TOO_MANY_REQUESTS.into());
        }
        if let Some(session) = request.headers().get(SESSION_ID) {
            let id = session.to_str().unwrap_or_default();
            if !self.sessions.goes_on(id, owner) {
                return Err(StatusCode::NOT_FOUND.into());
            }
        }
        let unsent = place.map(Place::unsent).unwrap_or_default();
        // A client that does not read its answers gets no more of them.
        unsent.nothing().await;
        let answer = self.serve(request, access, owner, unsent);
        let Some(gone) = owner.map(|owner| self.gone_of(owner)) else {
            return answer.await;
        };
        // Also while a body is waited for.
        let answer = tokio::select! {
            answer = answer => answer?,
            () = gone.cancelled() => return Err(StatusCode::UNAUTHORIZED.into()),
        };
        Ok(if answer.body().size_hint().exact().is_none() {
            // A stream, which may last.
            answer.map(|body| Until::new(body, gone).boxed())
        } else {
            answer
        })
    }

    async fn serve<B>(
        &self,
        request: Request<B>,
        access: Option<Access>,
        owner: Owner,
        unsent: Arc<Unsent>,
    ) -> Result<Answer, Refused>
    where
        B: Body<Data = Bytes> + Unpin,
    {
        let (mut parts, body) = request.into_parts();
        let message = self.bodies.read(owner, &parts.headers, body).await?;
        let share = self.requests.take(owner, 1);
        let share = share.ok_or(Refused::busy("too many requests are not answered yet"))?;
        let stream = if message.is_stream || parts.method == Method::GET {
            let share = self.streams.take(owner, 1);
            Some(share.ok_or(Refused::busy("too many streams of this client are open"))?)
        } else {
            None
        };
        if let Some(access) = access {
            parts.extensions.insert(access);
        }
        // They travel with the request: one of a session goes on without its connection.
        parts.extensions.insert(Held::new((message.room, share)));
        let length = message.bytes.len();
        let request = Request::from_parts(parts, Full::new(message.bytes));
        let service = self.service.clone();
        let answer = async move { service.handle(request).await };
        let answer = self
            .bodies
            .begin(length, OWNER.scope(owner, answer))
            .await?;
        let (parts, body) = answer.into_parts();
        // Before it is looked through, because many may wait for that.
        let mut share = match body.size_hint().exact() {
            Some(length) if length > SHORT_ANSWER as u64 => {
                let share = self.answers.take(owner, kib(length));
                Some(share.ok_or(Refused::busy(UNREAD))?)
            }
            _ => None,
        };
        let body = self.bodies.escaped(body).await?;
        let length = body.size_hint().exact();
        if let (Some(length), Some(share)) = (length, &mut share)
            && !share.more(kib(length).saturating_sub(share.amount()))
        {
            return Err(Refused::busy(UNREAD));
        }
        let body = match (length, share) {
            (None, _) => {
                let body = Counted::events(body, Arc::clone(&self.answers), owner, unsent);
                Holding::new(body.boxed(), stream).boxed()
            }
            (_, Some(share)) => Counted::whole(body, share, unsent).boxed(),
            _ => body,
        };
        Ok(Response::from_parts(parts, body))
    }

    fn holders(&self) -> MutexGuard<'_, BTreeMap<Hash, CancellationToken>> {
        self.holders.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Cancelled when that token is gone.
    fn gone_of(&self, owner: Hash) -> CancellationToken {
        self.holders().entry(owner).or_default().clone()
    }

    /// Ends what a token began when it is gone, until the server is over.
    pub(super) async fn follow_tokens(&self, over: CancellationToken) {
        let Some(tokens) = &self.tokens else {
            return;
        };
        loop {
            tokio::select! {
                () = over.cancelled() => return,
                () = tokio::time::sleep(TOKENS_PAUSE) => {}
            }
            // Before the look at the file: a token that is made after it is not one that is gone.
            let held: Vec<Hash> = self.holders().keys().copied().collect();
            let tokens = Arc::clone(tokens);
            // Also where nobody holds anything: a new token is known before its first request.
            let Ok(hashes) = tokio::task::spawn_blocking(move || tokens.hashes()).await else {
                continue;
            };
            let gone = held.into_iter().filter(|holder| !hashes.contains(holder));
            for holder in gone {
                self.end_of(holder);
            }
        }
    }

    /// Ends what a token began that is gone. Waits for nobody: a client that does not read holds up
    /// neither this nor the end of others.
    fn end_of(&self, holder: Hash) {
        if let Some(token) = self.holders().remove(&holder) {
            token.cancel();
        }
        self.sessions.end_of(holder);
        let places = Arc::clone(&self.places);
        tokio::spawn(async move {
            tokio::time::sleep(LAST_WORDS).await;
            places.close_of(Some(holder));
        });
    }

    /// Who asks; `None` where nobody is asked who they are.
    async fn access(&self, headers: &HeaderMap) -> Result<Option<Access>, StatusCode> {
        let Some(tokens) = &self.tokens else {
            return Ok(None);
        };
        let header = headers.get(AUTHORIZATION);
        let header = header.and_then(|header| header.to_str().ok());
        if !tokens.is_known(header) && !self.rates.take_stranger(Instant::now()) {
            return Err(StatusCode::TOO_MANY_REQUESTS);
        }
        let header = header.map(str::to_owned);
        let tokens = Arc::clone(tokens);
        // The file is looked at.
        let checked = tokio::task::spawn_blocking(move || tokens.check(header.as_deref())).await;
        match checked {
            Ok(Some(access)) => Ok(Some(access)),
            _ => Err(StatusCode::UNAUTHORIZED),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::json;

    use super::*;
    use crate::options::Options;
    use crate::transport::work::reads;
    use crate::transport::{PATIENCE, block_on};

    fn gate(folder: &Path, origins: &[&str], asks_for_tokens: bool) -> Arc<Gate> {
        let (_, gate) = server_and_gate(folder, origins, asks_for_tokens);
        gate
    }

    fn server_and_gate(
        folder: &Path,
        origins: &[&str],
        asks_for_tokens: bool,
    ) -> (Arc<Server>, Arc<Gate>) {
        let file = folder.join("team.kb");
        let mut writer = kb_engine::KbWriter::open_or_create(&file).unwrap();
        writer.add_bytes("a.md", b"one").unwrap();
        writer.commit().unwrap();
        let options = Options {
            files: vec![("team".to_owned(), file)],
            allow_write: false,
            allow_roots: Vec::new(),
            note: Arc::new(|_| ()),
            opened: None,
        };
        let server = Server::new(&options, None).ok().unwrap();
        let origins: Vec<String> = origins.iter().map(|origin| (*origin).to_owned()).collect();
        let names = Names::new(&[], &origins).unwrap();
        let tokens = asks_for_tokens.then(|| Arc::new(Tokens::new(folder.join("tokens.json"))));
        let gate = Gate::new(&server, names, tokens, CancellationToken::new());
        (server, Arc::new(gate))
    }

    fn request(method: &Method, headers: &[(&str, &str)], body: &str) -> Request<Full<Bytes>> {
        let mut request = Request::builder().method(method).uri(PATH);
        let usual = [
            ("host", "localhost"),
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
        ];
        let given = |name: &str| headers.iter().any(|(given, _)| *given == name);
        let usual = usual.iter().filter(|(name, _)| !given(name));
        for (name, value) in usual.chain(headers) {
            request = request.header(*name, *value);
        }
        request.body(Full::new(body.to_owned().into())).unwrap()
    }

    fn header<'a>(answer: &'a Answer, name: &str) -> Option<&'a str> {
        answer.headers().get(name).map(|it| it.to_str().unwrap())
    }

    async fn ask(gate: &Gate, request: Request<Full<Bytes>>) -> Answer {
        gate.answer(request, None).await
    }

    async fn text(answer: Answer) -> String {
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        String::from_utf8(body.to_vec()).unwrap()
    }

    fn hello() -> String {
        let client = json!({ "name": "t", "version": "1" });
        let params = json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client,
        });
        let message =
            json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
        message.to_string()
    }

    #[test]
    fn a_page_that_was_allowed_hears_so_without_a_token_and_no_other_does() {
        let folder = tempfile::tempdir().unwrap();
        let gate = gate(folder.path(), &["https://app.example"], true);
        block_on(async {
            let asks = ("access-control-request-method", "POST");
            let preflight = |origin| request(&Method::OPTIONS, &[("origin", origin), asks], "");
            let answer = ask(&gate, preflight("https://app.example")).await;
            assert_eq!(answer.status(), 204);
            let allowed = "access-control-allow-origin";
            assert_eq!(header(&answer, allowed), Some("https://app.example"));
            let headers = header(&answer, "access-control-allow-headers").unwrap();
            assert!(headers.contains("Authorization") && headers.contains("Mcp-Session-Id"));
            assert!(header(&answer, "access-control-allow-methods").is_some());
            // What it asks then is answered as to anybody, readably.
            let app = [("origin", "https://app.example")];
            let answer = ask(&gate, request(&Method::POST, &app, "{}")).await;
            assert_eq!(answer.status(), 401);
            assert_eq!(header(&answer, allowed), Some("https://app.example"));
            let exposed = header(&answer, "access-control-expose-headers");
            assert_eq!(exposed, Some("Mcp-Session-Id"));
            for (origin, status) in [("http://localhost:3000", 401), ("https://x.example", 403)] {
                let answer = ask(&gate, preflight(origin)).await;
                assert_eq!(answer.status(), status, "{origin}");
                assert_eq!(header(&answer, allowed), None, "{origin}");
            }
        });
    }

    #[test]
    fn a_denial_says_whether_the_host_or_the_origin_is_at_fault() {
        let folder = tempfile::tempdir().unwrap();
        let gate = gate(folder.path(), &[], false);
        block_on(async {
            for (name, value, flag) in [
                ("host", "kb.example", "--allow-host"),
                ("origin", "https://app.example", "--allow-origin"),
            ] {
                let answer = ask(&gate, request(&Method::POST, &[(name, value)], "{}")).await;
                assert_eq!(answer.status(), 403);
                let text = text(answer).await;
                assert!(text.contains(flag), "{text}");
            }
        });
    }

    #[test]
    fn wrong_tokens_meet_a_limit_and_do_not_keep_a_right_one_out() {
        let folder = tempfile::tempdir().unwrap();
        let gate = gate(folder.path(), &[], true);
        let token = gate.tokens.as_ref().unwrap().create("laptop", false);
        let right = format!("Bearer {}", token.unwrap());
        block_on(async {
            let with = |token| request(&Method::POST, &[("authorization", token)], "{}");
            let mut seen = BTreeMap::new();
            for _ in 0..300 {
                let status = ask(&gate, with("Bearer kb_wrong")).await.status();
                *seen.entry(status.as_u16()).or_insert(0) += 1;
            }
            assert!(seen[&401] >= 100 && seen[&429] >= 100, "{seen:?}");
            assert!(![401, 429].contains(&ask(&gate, with(&right)).await.status().as_u16()));
        });
    }

    #[test]
    fn a_right_token_is_let_in_while_wrong_ones_use_up_their_rate_from_the_start_on() {
        let folder = tempfile::tempdir().unwrap();
        let tokens = Tokens::new(folder.path().join("tokens.json"));
        let right = format!("Bearer {}", tokens.create("laptop", false).unwrap());
        let gate = gate(folder.path(), &[], true);
        while gate.rates.take_stranger(Instant::now()) {}
        block_on(async {
            let request = request(&Method::POST, &[("authorization", &right)], "{}");
            let status = ask(&gate, request).await.status().as_u16();
            assert!(![401, 429].contains(&status), "{status}");
        });
    }

    #[test]
    fn what_a_request_of_a_session_takes_is_counted_until_it_is_done() {
        let folder = tempfile::tempdir().unwrap();
        let (server, gate) = server_and_gate(folder.path(), &[], false);
        let (release, held) = std::sync::mpsc::channel::<()>();
        let held = Arc::new(Mutex::new(held));
        block_on(async {
            let answer = ask(&gate, request(&Method::POST, &[], &hello())).await;
            let session = header(&answer, "mcp-session-id").unwrap().to_owned();
            text(answer).await;
            let of = [("mcp-session-id", session.as_str())];
            let done = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
            ask(&gate, request(&Method::POST, &of, done)).await;
            for _ in 0..reads() {
                let (server, held) = (Arc::clone(&server), Arc::clone(&held));
                let job = move |_: &_, _: &(dyn Fn(u64, u64) + Sync)| {
                    let _ = held.lock().unwrap().recv();
                };
                tokio::spawn(async move {
                    let never = CancellationToken::new();
                    let _ = server.work.run(false, None, &never, None, job).await;
                });
            }
            tokio::task::yield_now().await;
            let arguments = json!({ "query": "y".repeat(20 << 10) });
            let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call",
                "params": { "name": "search", "arguments": arguments } });
            let answer = ask(&gate, request(&Method::POST, &of, &call.to_string())).await;
            assert_eq!(answer.status(), 200);
            // The client leaves; the session goes on with what it asked.
            drop(answer);
            for _ in 0..100 {
                tokio::task::yield_now().await;
            }
            assert!(gate.bodies.held_kib() >= 16, "{}", gate.bodies.held_kib());
            assert_eq!(gate.requests.in_use(), 1);
            drop(release);
            let over = async {
                while gate.bodies.held_kib() > 0 || gate.requests.in_use() > 0 {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            };
            let over = tokio::time::timeout(PATIENCE, over).await;
            assert!(over.is_ok(), "{} KiB are held", gate.bodies.held_kib());
        });
    }

    #[test]
    fn what_a_token_began_ends_when_it_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let gate = gate(folder.path(), &[], true);
        let tokens = Arc::clone(gate.tokens.as_ref().unwrap());
        let bearer = |token: String| format!("Bearer {token}");
        let first = bearer(tokens.create("laptop", false).unwrap());
        block_on(async {
            let over = CancellationToken::new();
            let (following, until) = (Arc::clone(&gate), over.clone());
            tokio::spawn(async move { following.follow_tokens(until).await });
            let begin = |token| request(&Method::POST, &[("authorization", token)], &hello());
            let answer = ask(&gate, begin(&first)).await;
            let session = header(&answer, "mcp-session-id").unwrap().to_owned();
            text(answer).await;
            let of = |token| {
                [
                    ("authorization", token),
                    ("mcp-session-id", session.as_str()),
                ]
            };
            let done = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
            let answer = ask(&gate, request(&Method::POST, &of(&first), done)).await;
            assert_eq!(answer.status(), 202);
            let mut stream = ask(&gate, request(&Method::GET, &of(&first), "")).await;
            assert_eq!(stream.status(), 200);
            tokens.revoke("laptop").unwrap();
            let second = bearer(tokens.create("laptop", false).unwrap());
            let answer = ask(&gate, request(&Method::POST, &of(&second), done)).await;
            assert_eq!(answer.status(), 404, "another token of that name");
            let rest = async { while stream.body_mut().frame().await.is_some() {} };
            let ended = tokio::time::timeout(PATIENCE, rest).await;
            assert!(ended.is_ok(), "the stream goes on");
            let answer = ask(&gate, begin(&second)).await;
            assert_eq!(answer.status(), 200);
        });
    }
}
