//! Checks at the start whether a server answers, is an MCP server, and accepts the token.

use std::sync::Arc;
use std::time::Duration;

use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderMap};
use hyper::{Method, StatusCode};
use rmcp::model::ProtocolVersion;
use serde_json::{Value, json};

use super::client::{Client, Reply};
use super::failure::Failure;
use super::headers::{SESSION_ID, headers_of};
use super::message::Message;
use crate::options::StartError;

/// How long the server may take to answer a request.
const CHECK_TIMEOUT: Duration = Duration::from_secs(20);

/// Bytes of an answer that are looked at.
const LOOKED_AT_BYTES: usize = 64 << 10;

/// Where `kb mcp --http` answers.
const PATH_HINT: &str = "give the URL of an MCP server; the path of `kb mcp --http` is /mcp";

/// Asks the server for its name. A server of an older revision refuses the question in its own words; then it
/// is asked for a session, as it expects.
///
/// # Errors
/// [`StartError::InvalidToken`], [`StartError::NotConnected`].
pub(super) async fn check(client: &Arc<Client>, has_token: bool) -> Result<(), StartError> {
    let revision = ProtocolVersion::V_2026_07_28;
    let discover = json!({"jsonrpc": "2.0", "id": "kb-connect", "method": "server/discover",
    "params": {"_meta": {
        "io.modelcontextprotocol/protocolVersion": revision.as_str(),
        "io.modelcontextprotocol/clientCapabilities": {},
    }}});
    if is_mcp(ask(client, &discover, has_token).await?) {
        return Ok(());
    }
    let revision = ProtocolVersion::V_2025_06_18;
    let initialize = json!({"jsonrpc": "2.0", "id": "kb-connect", "method": "initialize", "params": {
        "protocolVersion": revision.as_str(),
        "capabilities": {},
        "clientInfo": {"name": "kb", "version": env!("CARGO_PKG_VERSION")},
    }});
    let answer = ask(client, &initialize, has_token).await?;
    if let Some(session) = answer.headers.get(SESSION_ID) {
        let mut headers = HeaderMap::new();
        headers.insert(SESSION_ID, session.clone());
        let ended = client.send(Method::DELETE, headers, Bytes::new());
        // Of a server that is slow to end it, the session expires.
        drop(tokio::time::timeout(CHECK_TIMEOUT, ended).await);
    }
    let (url, status) = (&client.url, answer.status.as_u16());
    let kind = kind_of(&answer.headers);
    if is_mcp(answer) {
        return Ok(());
    }
    let kind = if kind.is_empty() { "no content" } else { &kind };
    Err(not_connected(
        format!("no MCP server at {url}: another server answers there (status {status}, {kind})"),
        PATH_HINT,
    ))
}

/// The part of an answer that was read.
struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    is_stream: bool,
    text: String,
}

async fn ask(client: &Client, message: &Value, has_token: bool) -> Result<Answer, StartError> {
    let url = client.url.to_string();
    let message = message.to_string();
    let headers = Message::read(message.as_bytes());
    let headers = headers.map_or_else(HeaderMap::new, |message| headers_of(&message, None));
    let asked = async {
        let reply = client.send(Method::POST, headers, Bytes::from(message));
        read(reply.await?).await
    };
    let answered = match tokio::time::timeout(CHECK_TIMEOUT, asked).await {
        Ok(answered) => answered,
        Err(_) => Err(Failure::Unreachable("it does not answer".to_owned())),
    };
    let answer = answered.map_err(|failure| {
        let hint = "`kb mcp FILE.kb --http ADDR:PORT` starts one";
        not_connected(failure.describe(&url), hint)
    })?;
    match answer.status {
        StatusCode::UNAUTHORIZED if has_token => Err(StartError::InvalidToken {
            message: format!("invalid token: the server at {url} does not accept it"),
            hint: Some("`kb token list` on its machine shows the tokens it accepts".to_owned()),
        }),
        StatusCode::UNAUTHORIZED => Err(StartError::InvalidToken {
            message: format!("no token: the server at {url} requires one"),
            hint: Some("set KB_MCP_TOKEN, or pass --token-file FILE".to_owned()),
        }),
        StatusCode::FORBIDDEN => {
            let message = Failure::Refused(answer.status, answer.text).describe(&url);
            Err(not_connected(
                message,
                "the operator of the server can allow it",
            ))
        }
        StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS => {
            let message = Failure::Refused(answer.status, answer.text).describe(&url);
            Err(not_connected(message, "try again in a second"))
        }
        _ => Ok(answer),
    }
}

/// The beginning of an answer; of a stream of events, only that it is one.
async fn read(mut reply: Reply) -> Result<Answer, Failure> {
    let mut bytes = Vec::new();
    let is_stream = reply.is_stream();
    while !is_stream
        && bytes.len() < LOOKED_AT_BYTES
        && let Some(chunk) = reply.chunk().await?
    {
        let room = LOOKED_AT_BYTES - bytes.len();
        bytes.extend_from_slice(chunk.get(..room).unwrap_or(&chunk));
    }
    Ok(Answer {
        status: reply.status,
        headers: reply.headers,
        is_stream,
        text: String::from_utf8_lossy(&bytes).into_owned(),
    })
}

/// Whether an answer is a message of JSON-RPC, or a stream of events to a request.
fn is_mcp(answer: Answer) -> bool {
    if answer.is_stream {
        return answer.status.is_success();
    }
    // Of a long answer only the beginning is here.
    let is_cut = answer.text.len() >= LOOKED_AT_BYTES;
    match serde_json::from_str::<Value>(&answer.text) {
        Ok(message) => message.get("jsonrpc").is_some(),
        Err(_) => is_cut && answer.text.contains("\"jsonrpc\""),
    }
}

/// The media type, without parameters.
fn kind_of(headers: &HeaderMap) -> String {
    let kind = headers.get(CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    kind.chars().take(60).collect()
}

fn not_connected(message: String, hint: &str) -> StartError {
    StartError::NotConnected {
        message,
        hint: Some(hint.to_owned()),
    }
}
