use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;

use serde_json::json;

use super::*;
use crate::options::Options;
use crate::transport::executor::{JobKind, read_concurrency};
use crate::transport::testing::{PATIENCE, block_on};

fn tokens_of(folder: &Path) -> Tokens {
    Tokens::new(folder.join("tokens.json"))
}

fn middleware(folder: &Path, origins: &[&str], requires_token: bool) -> Arc<Middleware> {
    let (_, middleware) = server_and_middleware(folder, origins, requires_token);
    middleware
}

fn server_and_middleware(
    folder: &Path,
    origins: &[&str],
    requires_token: bool,
) -> (Arc<Server>, Arc<Middleware>) {
    let file = folder.join("team.kb");
    let mut writer = kb_engine::KbWriter::open_or_create(&file).unwrap();
    writer.add_bytes("a.md", b"one").unwrap();
    writer.commit().unwrap();
    let options = Options::reading(vec![("team".to_owned(), file)]);
    let server = Server::new(&options, None).ok().unwrap();
    let origins: Vec<String> = origins.iter().map(|origin| (*origin).to_owned()).collect();
    let names = AllowList::new(&[], &origins).unwrap();
    let tokens = requires_token.then(|| Arc::new(tokens_of(folder)));
    let middleware = Middleware::new(
        &server,
        names,
        tokens,
        CancellationToken::new(),
        None,
        SignIns::new(80),
    );
    (server, Arc::new(middleware))
}

fn request(method: &Method, headers: &[(&str, &str)], body: &str) -> Request<Full<Bytes>> {
    let mut request = Request::builder().method(method).uri(PATH);
    let default = [
        ("host", "localhost"),
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
    ];
    let given = |name: &str| headers.iter().any(|(given, _)| *given == name);
    let default = default.iter().filter(|(name, _)| !given(name));
    for (name, value) in default.chain(headers) {
        request = request.header(*name, *value);
    }
    request.body(Full::new(body.to_owned().into())).unwrap()
}

fn header<'a>(response: &'a Response<ResponseBody>, name: &str) -> Option<&'a str> {
    response.headers().get(name).map(|it| it.to_str().unwrap())
}

async fn send(middleware: &Middleware, request: Request<Full<Bytes>>) -> Response<ResponseBody> {
    middleware.handle(request, None).await
}

async fn text(response: Response<ResponseBody>) -> String {
    let body = response.into_body().collect().await.unwrap().to_bytes();
    String::from_utf8(body.to_vec()).unwrap()
}

fn initialize() -> String {
    let client = json!({ "name": "t", "version": "1" });
    let params = json!({
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client,
    });
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
    message.to_string()
}

#[test]
fn only_an_allowed_origin_gets_cors_headers_and_without_a_token() {
    let folder = tempfile::tempdir().unwrap();
    let middleware = middleware(folder.path(), &["https://app.example"], true);
    block_on(async {
        let asks = ("access-control-request-method", "POST");
        let preflight = |origin| request(&Method::OPTIONS, &[("origin", origin), asks], "");
        let response = send(&middleware, preflight("https://app.example")).await;
        assert_eq!(response.status(), 204);
        let allowed = "access-control-allow-origin";
        assert_eq!(header(&response, allowed), Some("https://app.example"));
        let headers = header(&response, "access-control-allow-headers").unwrap();
        assert!(headers.contains("Authorization") && headers.contains("Mcp-Session-Id"));
        assert!(header(&response, "access-control-allow-methods").is_some());
        // Its requests are then served like any other, with CORS headers.
        let app = [("origin", "https://app.example")];
        let response = send(&middleware, request(&Method::POST, &app, "{}")).await;
        assert_eq!(response.status(), 401);
        assert_eq!(header(&response, allowed), Some("https://app.example"));
        let exposed = header(&response, "access-control-expose-headers");
        assert_eq!(exposed, Some("Mcp-Session-Id"));
        for (origin, status) in [("http://localhost:3000", 401), ("https://x.example", 403)] {
            let response = send(&middleware, preflight(origin)).await;
            assert_eq!(response.status(), status, "{origin}");
            assert_eq!(header(&response, allowed), None, "{origin}");
        }
    });
}

#[test]
fn a_rejection_names_the_flag_for_the_host_or_the_origin() {
    let folder = tempfile::tempdir().unwrap();
    let middleware = middleware(folder.path(), &[], false);
    block_on(async {
        for (name, value, flag) in [
            ("host", "kb.example", "--allow-host"),
            ("origin", "https://app.example", "--allow-origin"),
        ] {
            let response = send(&middleware, request(&Method::POST, &[(name, value)], "{}")).await;
            assert_eq!(response.status(), 403);
            let text = text(response).await;
            assert!(text.contains(flag), "{text}");
        }
    });
}

#[test]
fn wrong_tokens_are_limited_and_do_not_keep_a_valid_one_out() {
    let folder = tempfile::tempdir().unwrap();
    let middleware = middleware(folder.path(), &[], true);
    let token = tokens_of(folder.path()).create("laptop", false);
    let right = format!("Bearer {}", token.unwrap());
    block_on(async {
        let with = |token| request(&Method::POST, &[("authorization", token)], "{}");
        let mut seen = BTreeMap::new();
        for _ in 0..300 {
            let status = send(&middleware, with("Bearer kb_wrong")).await.status();
            *seen.entry(status.as_u16()).or_insert(0) += 1;
        }
        assert!(seen[&401] >= 100 && seen[&429] >= 100, "{seen:?}");
        assert!(![401, 429].contains(&send(&middleware, with(&right)).await.status().as_u16()));
    });
}

#[test]
fn a_valid_token_is_known_from_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let tokens = tokens_of(folder.path());
    let right = format!("Bearer {}", tokens.create("laptop", false).unwrap());
    let middleware = middleware(folder.path(), &[], true);
    middleware.auth.exhaust_unknown_rate();
    block_on(async {
        let request = request(&Method::POST, &[("authorization", &right)], "{}");
        let status = send(&middleware, request).await.status().as_u16();
        assert!(![401, 429].contains(&status), "{status}");
    });
}

#[test]
fn what_a_session_request_takes_is_counted_until_it_ends() {
    let folder = tempfile::tempdir().unwrap();
    let (server, middleware) = server_and_middleware(folder.path(), &[], false);
    let (release, held) = std::sync::mpsc::channel::<()>();
    let held = Arc::new(Mutex::new(held));
    block_on(async {
        let response = send(&middleware, request(&Method::POST, &[], &initialize())).await;
        let session = header(&response, "mcp-session-id").unwrap().to_owned();
        text(response).await;
        let of = [("mcp-session-id", session.as_str())];
        let done = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        send(&middleware, request(&Method::POST, &of, done)).await;
        for _ in 0..read_concurrency() {
            let (server, held) = (Arc::clone(&server), Arc::clone(&held));
            let job = move |_: &_, _: &(dyn Fn(u64, u64) + Sync)| {
                let _ = held.lock().unwrap().recv();
            };
            tokio::spawn(async move {
                let never = CancellationToken::new();
                let _ = server
                    .executor
                    .run(JobKind::Read, None, &never, None, job)
                    .await;
            });
        }
        tokio::task::yield_now().await;
        let arguments = json!({ "query": "y".repeat(20 << 10) });
        let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call",
            "params": { "name": "search", "arguments": arguments } });
        let response = send(&middleware, request(&Method::POST, &of, &call.to_string())).await;
        assert_eq!(response.status(), 200);
        // The client leaves; the session keeps its request.
        drop(response);
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        assert!(
            middleware.bodies.in_use_kib() >= 16,
            "{}",
            middleware.bodies.in_use_kib()
        );
        assert_eq!(middleware.requests.in_use(), 1);
        drop(release);
        let released = async {
            while middleware.bodies.in_use_kib() > 0 || middleware.requests.in_use() > 0 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        let released = tokio::time::timeout(PATIENCE, released).await;
        assert!(
            released.is_ok(),
            "{} KiB are in use",
            middleware.bodies.in_use_kib()
        );
    });
}

#[test]
fn what_a_token_began_ends_when_it_is_revoked() {
    let folder = tempfile::tempdir().unwrap();
    let middleware = middleware(folder.path(), &[], true);
    let tokens = tokens_of(folder.path());
    let bearer = |token: String| format!("Bearer {token}");
    let first = bearer(tokens.create("laptop", false).unwrap());
    block_on(async {
        let shutdown = CancellationToken::new();
        let (watching, until) = (Arc::clone(&middleware), shutdown.clone());
        tokio::spawn(async move { watching.watch_tokens(&until).await });
        let begin = |token| request(&Method::POST, &[("authorization", token)], &initialize());
        let response = send(&middleware, begin(&first)).await;
        let session = header(&response, "mcp-session-id").unwrap().to_owned();
        text(response).await;
        let of = |token| {
            [
                ("authorization", token),
                ("mcp-session-id", session.as_str()),
            ]
        };
        let done = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        let response = send(&middleware, request(&Method::POST, &of(&first), done)).await;
        assert_eq!(response.status(), 202);
        let mut stream = send(&middleware, request(&Method::GET, &of(&first), "")).await;
        assert_eq!(stream.status(), 200);
        tokens.revoke("laptop").unwrap();
        let second = bearer(tokens.create("laptop", false).unwrap());
        let response = send(&middleware, request(&Method::POST, &of(&second), done)).await;
        assert_eq!(response.status(), 404, "another token with that name");
        let rest = async { while stream.body_mut().frame().await.is_some() {} };
        let ended = tokio::time::timeout(PATIENCE, rest).await;
        assert!(ended.is_ok(), "the stream stays open");
        let response = send(&middleware, begin(&second)).await;
        assert_eq!(response.status(), 200);
    });
}

#[test]
fn a_body_that_is_no_message_is_a_json_rpc_error() {
    let folder = tempfile::tempdir().unwrap();
    let middleware = middleware(folder.path(), &[], false);
    let unread = "[".repeat(200);
    block_on(async {
        for (body, code, id) in [
            ("", -32700, json!(null)),
            ("{", -32700, json!(null)),
            ("no json", -32700, json!(null)),
            (
                r#"{"jsonrpc":"2.0","id":7,"method":"ping""#,
                -32700,
                json!(null),
            ),
            (&unread, -32700, json!(null)),
            (r#"{"jsonrpc":"2.0","id":7}"#, -32600, json!(7)),
            (
                r#"{"id":"a","jsonrpc":"1.0","method":"ping"}"#,
                -32600,
                json!("a"),
            ),
            ("[]", -32600, json!(null)),
            ("17", -32600, json!(null)),
        ] {
            let response = send(&middleware, request(&Method::POST, &[], body)).await;
            assert_eq!(response.status(), 400, "{body}");
            assert_eq!(header(&response, "content-type"), Some("application/json"));
            let error: serde_json::Value = serde_json::from_str(&text(response).await).unwrap();
            assert_eq!(error["jsonrpc"], "2.0", "{body}");
            assert_eq!((&error["error"]["code"], &error["id"]), (&json!(code), &id));
        }
        // What is not sent as JSON is no wrong JSON.
        let plain = request(&Method::POST, &[("content-type", "text/plain")], "{");
        assert_eq!(send(&middleware, plain).await.status(), 415);
    });
}

#[test]
fn a_session_that_is_deleted_is_gone_with_status_200() {
    let folder = tempfile::tempdir().unwrap();
    let middleware = middleware(folder.path(), &[], false);
    block_on(async {
        let response = send(&middleware, request(&Method::POST, &[], &initialize())).await;
        let session = header(&response, "mcp-session-id").unwrap().to_owned();
        text(response).await;
        let of = [("mcp-session-id", session.as_str())];
        for (expected, told) in [(200, "it was there"), (404, "it is gone")] {
            let response = send(&middleware, request(&Method::DELETE, &of, "")).await;
            assert_eq!(response.status(), expected, "{told}");
        }
    });
}
