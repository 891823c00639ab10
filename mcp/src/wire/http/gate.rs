//! Decides about a request before the protocol does: path, names, token, rate, size.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Empty, Full};
use hyper::body::{Body, Bytes};
use hyper::header::{
    AUTHORIZATION, CONNECTION, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE,
};
use hyper::{HeaderMap, Request, Response, StatusCode};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;

use super::body::{BODY_LIMIT, Bodies, Until, escaped};
use super::origin::{Denied, Names};
use super::pages;
use super::rate::Rates;
use super::sessions::Sessions;
use crate::tokens::{Access, Hash, Tokens};
use crate::wire::handler::Session;
use crate::wire::server::Server;

/// Where the protocol lives.
pub(super) const PATH: &str = "/mcp";

/// How often it is looked whether a token is gone.
const TOKENS_PAUSE: Duration = Duration::from_secs(2);

const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");

type Answer = Response<BoxBody<Bytes, Infallible>>;

/// Everything that requests go through.
pub(super) struct Gate {
    names: Names,
    /// `None`: whoever reaches this machine may ask.
    tokens: Option<Arc<Tokens>>,
    rates: Rates,
    bodies: Bodies,
    /// Cancelled when the token is gone that it stands beside.
    holders: Mutex<BTreeMap<Hash, CancellationToken>>,
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
            bodies: Bodies::new(),
            holders: Mutex::default(),
            service: StreamableHttpService::new(session, Arc::clone(&sessions), config),
            sessions,
        }
    }

    /// Answers a request.
    pub(super) async fn answer<B>(&self, request: Request<B>) -> Answer
    where
        B: Body<Data = Bytes> + Unpin,
    {
        if request.uri().path() != PATH {
            return refusal(StatusCode::NOT_FOUND);
        }
        let headers = request.headers();
        let page = match self.names.check(request.uri(), headers) {
            Ok(page) => page,
            Err(denied) => return denial(denied),
        };
        let Some(page) = page else {
            return self.let_in(request).await.unwrap_or_else(refusal);
        };
        // A browser brings no token when it asks whether it may ask.
        let mut answer = if pages::is_preflight(request.method(), headers) {
            let mut answer = Response::new(Empty::new().boxed());
            *answer.status_mut() = StatusCode::NO_CONTENT;
            pages::answer_preflight(answer.headers_mut());
            answer
        } else {
            self.let_in(request).await.unwrap_or_else(refusal)
        };
        pages::allow(page, answer.headers_mut());
        answer
    }

    async fn let_in<B>(&self, request: Request<B>) -> Result<Answer, StatusCode>
    where
        B: Body<Data = Bytes> + Unpin,
    {
        let access = self.access(request.headers()).await?;
        let name = access.as_ref().map_or("", |access| &access.name);
        if !self.rates.take(name, Instant::now()) {
            return Err(StatusCode::TOO_MANY_REQUESTS);
        }
        let owner = access.as_ref().map(|access| access.hash);
        let session = request.headers().get(SESSION_ID).cloned();
        if let Some(session) = &session {
            let id = session.to_str().unwrap_or_default();
            if !self.sessions.goes_on(id, owner) {
                return Err(StatusCode::NOT_FOUND);
            }
        }
        let (mut parts, body) = request.into_parts();
        let (body, room) = self.bodies.read(&parts.headers, body).await?;
        if let Some(access) = access {
            parts.extensions.insert(access);
        }
        let request = Request::from_parts(parts, Full::new(body));
        let gone = owner.map(|owner| self.gone_of(owner));
        let answer = match &gone {
            None => self.service.handle(request).await,
            Some(gone) => tokio::select! {
                answer = self.service.handle(request) => answer,
                () = gone.cancelled() => return Err(StatusCode::UNAUTHORIZED),
            },
        };
        drop(room);
        let (parts, body) = answer.into_parts();
        let answer = Response::from_parts(parts, escaped(body).await);
        if session.is_none()
            && let Some(id) = answer.headers().get(SESSION_ID)
            && let Ok(id) = id.to_str()
        {
            self.sessions.began(id, owner);
        }
        Ok(match gone {
            // A stream, which may last.
            Some(gone) if answer.body().size_hint().exact().is_none() => {
                answer.map(|body| Until::new(body, gone).boxed())
            }
            _ => answer,
        })
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
            if held.is_empty() {
                continue;
            }
            let tokens = Arc::clone(tokens);
            let Ok(hashes) = tokio::task::spawn_blocking(move || tokens.hashes()).await else {
                continue;
            };
            let gone = held.into_iter().filter(|holder| !hashes.contains(holder));
            let gone: Vec<Hash> = gone.collect();
            for holder in &gone {
                if let Some(token) = self.holders().remove(holder) {
                    token.cancel();
                }
            }
            self.sessions.end_of(|owner| gone.contains(&owner)).await;
        }
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

/// An answer that says no more than its status; the connection is not used again, as something of
/// the request may still be on it.
fn refusal(status: StatusCode) -> Answer {
    refusal_that_says(status, status.canonical_reason().unwrap_or_default())
}

/// Whoever runs the server, or asks it under a new name, has to know what to change.
fn denial(denied: Denied) -> Answer {
    let words = match denied {
        Denied::Host => {
            "Forbidden: this server does not go by the name in the Host header \
             (kb mcp --allow-host HOST lets it)"
        }
        Denied::Origin => {
            "Forbidden: pages of this Origin may not ask \
             (kb mcp --allow-origin ORIGIN lets them)"
        }
    };
    refusal_that_says(StatusCode::FORBIDDEN, words)
}

fn refusal_that_says(status: StatusCode, words: &'static str) -> Answer {
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use hyper::Method;
    use serde_json::json;

    use super::*;
    use crate::options::Options;
    use crate::wire::{PATIENCE, block_on};

    fn gate(folder: &Path, origins: &[&str], asks_for_tokens: bool) -> Arc<Gate> {
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
        Arc::new(Gate::new(&server, names, tokens, CancellationToken::new()))
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
            let answer = gate.answer(preflight("https://app.example")).await;
            assert_eq!(answer.status(), 204);
            let allowed = "access-control-allow-origin";
            assert_eq!(header(&answer, allowed), Some("https://app.example"));
            let headers = header(&answer, "access-control-allow-headers").unwrap();
            assert!(headers.contains("Authorization") && headers.contains("Mcp-Session-Id"));
            assert!(header(&answer, "access-control-allow-methods").is_some());
            // What it asks then is answered as to anybody, readably.
            let app = [("origin", "https://app.example")];
            let answer = gate.answer(request(&Method::POST, &app, "{}")).await;
            assert_eq!(answer.status(), 401);
            assert_eq!(header(&answer, allowed), Some("https://app.example"));
            let exposed = header(&answer, "access-control-expose-headers");
            assert_eq!(exposed, Some("Mcp-Session-Id"));
            for (origin, status) in [("http://localhost:3000", 401), ("https://x.example", 403)] {
                let answer = gate.answer(preflight(origin)).await;
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
                let answer = gate
                    .answer(request(&Method::POST, &[(name, value)], "{}"))
                    .await;
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
                let status = gate.answer(with("Bearer kb_wrong")).await.status();
                *seen.entry(status.as_u16()).or_insert(0) += 1;
            }
            assert!(seen[&401] >= 100 && seen[&429] >= 100, "{seen:?}");
            assert!(![401, 429].contains(&gate.answer(with(&right)).await.status().as_u16()));
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
            let answer = gate.answer(begin(&first)).await;
            let session = header(&answer, "mcp-session-id").unwrap().to_owned();
            text(answer).await;
            let of = |token| {
                [
                    ("authorization", token),
                    ("mcp-session-id", session.as_str()),
                ]
            };
            let done = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
            let answer = gate.answer(request(&Method::POST, &of(&first), done)).await;
            assert_eq!(answer.status(), 202);
            let mut stream = gate.answer(request(&Method::GET, &of(&first), "")).await;
            assert_eq!(stream.status(), 200);
            tokens.revoke("laptop").unwrap();
            let second = bearer(tokens.create("laptop", false).unwrap());
            let answer = gate
                .answer(request(&Method::POST, &of(&second), done))
                .await;
            assert_eq!(answer.status(), 404, "another token of that name");
            let rest = async { while stream.body_mut().frame().await.is_some() {} };
            let ended = tokio::time::timeout(PATIENCE, rest).await;
            assert!(ended.is_ok(), "the stream goes on");
            let answer = gate.answer(begin(&second)).await;
            assert_eq!(answer.status(), 200);
        });
    }
}
