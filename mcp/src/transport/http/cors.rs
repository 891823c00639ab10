//! CORS: the headers that let a page of another origin use the server. Only origins that were allowed
//! by name get them.

use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD,
    HeaderValue, VARY,
};
use hyper::{HeaderMap, Method};

/// Request headers that a page may send.
const ALLOWED_HEADERS: &str = "Accept, Authorization, Content-Type, If-None-Match, Last-Event-ID, MCP-Protocol-Version, \
                    Mcp-Method, Mcp-Name, Mcp-Session-Id";

/// Whether a request is a CORS preflight.
pub(super) fn is_preflight(method: &Method, headers: &HeaderMap) -> bool {
    method == Method::OPTIONS && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

/// Adds the headers of a preflight response, beside those of [`allow_origin`].
pub(super) fn add_preflight_headers(headers: &mut HeaderMap) {
    let methods = HeaderValue::from_static("GET, POST, PUT, DELETE");
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, methods);
    headers.insert(
        ACCESS_CONTROL_ALLOW_HEADERS,
        HeaderValue::from_static(ALLOWED_HEADERS),
    );
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
}

/// Lets pages of that origin read a response.
pub(super) fn allow_origin(origin: HeaderValue, headers: &mut HeaderMap) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    let session = HeaderValue::from_static("Mcp-Session-Id");
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, session);
    headers.append(VARY, HeaderValue::from_static("Origin"));
}
