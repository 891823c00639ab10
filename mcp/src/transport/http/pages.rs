//! What a browser wants to hear before a page of another origin may ask: only pages that were
//! allowed by name hear it.

use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD,
    HeaderValue, VARY,
};
use hyper::{HeaderMap, Method};

/// What a page may send along.
const SENT: &str = "Accept, Authorization, Content-Type, Last-Event-ID, MCP-Protocol-Version, \
                    Mcp-Method, Mcp-Name, Mcp-Session-Id";

/// Whether a browser asks whether it may ask.
pub(super) fn is_preflight(method: &Method, headers: &HeaderMap) -> bool {
    method == Method::OPTIONS && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

/// What it hears then, beside [`allow`].
pub(super) fn answer_preflight(headers: &mut HeaderMap) {
    let methods = HeaderValue::from_static("GET, POST, DELETE");
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, methods);
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(SENT));
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
}

/// Lets that page read an answer.
pub(super) fn allow(page: HeaderValue, headers: &mut HeaderMap) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, page);
    let session = HeaderValue::from_static("Mcp-Session-Id");
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, session);
    headers.append(VARY, HeaderValue::from_static("Origin"));
}
