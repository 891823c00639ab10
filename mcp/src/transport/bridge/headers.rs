//! The HTTP headers of a message.

use hyper::header::{HeaderMap, HeaderName, HeaderValue};

use super::message::{Message, header_value};
use super::session::Session;

pub(super) const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
const REVISION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// The headers of a message in a session.
pub(super) fn session_headers(session: &Session) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let values = [(SESSION_ID, &session.id), (REVISION, &session.revision)];
    for (name, value) in values {
        if let Some(Ok(value)) = value.as_deref().map(HeaderValue::from_str) {
            headers.insert(name, value);
        }
    }
    headers
}

/// What HTTP says of a message: of one that names its revision that, its method and its name; of any
/// other the session it belongs to.
pub(super) fn headers_of(message: &Message, session: Option<&Session>) -> HeaderMap {
    let Some(revision) = &message.revision else {
        return session.map(session_headers).unwrap_or_default();
    };
    let mut headers = HeaderMap::new();
    let values = [
        (REVISION, Some(revision)),
        (METHOD, Some(&message.method)),
        (NAME, message.name.as_ref()),
    ];
    for (name, value) in values {
        let value = value.map(|value| HeaderValue::from_str(&header_value(value)));
        if let Some(Ok(value)) = value {
            headers.insert(name, value);
        }
    }
    headers
}
