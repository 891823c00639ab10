//! Responses to requests that are refused before rmcp sees them.

use std::borrow::Cow;

use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::header::{CONNECTION, CONTENT_TYPE, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use hyper::{Response, StatusCode};
use rmcp::model::{ErrorData, RequestId, ServerJsonRpcMessage};
use serde::de::IgnoredAny;
use tokio::task::JoinError;

use super::allow_list::Forbidden;
use super::body::response::ResponseBody;
use crate::transport::message_shape::MessageShape;

/// Status and text of a refused request.
#[derive(Debug)]
pub(super) struct Rejection {
    pub(super) status: StatusCode,
    message: Cow<'static, str>,
}

impl Rejection {
    /// With a text for the person who has to change something.
    pub(super) fn new(status: StatusCode, message: impl Into<Cow<'static, str>>) -> Rejection {
        Rejection {
            status,
            message: message.into(),
        }
    }

    /// 503 with Retry-After: the client has too much in flight.
    pub(super) fn busy(what: &str) -> Rejection {
        let message = format!("Service Unavailable: {what}; try again in a second");
        Rejection::new(StatusCode::SERVICE_UNAVAILABLE, message)
    }

    /// What was wrong, for a person.
    pub(super) fn message(&self) -> &str {
        &self.message
    }

    /// The response with the body and the headers that `page` makes. As [`Rejection::into_response`] otherwise.
    pub(super) fn into_page(
        self,
        page: impl FnOnce(&Rejection) -> Response<Bytes>,
    ) -> Response<ResponseBody> {
        let (parts, bytes) = page(&self).into_parts();
        let mut response = self.into_response();
        *response.status_mut() = parts.status;
        response.headers_mut().extend(parts.headers);
        response.map(|_| Full::new(bytes).boxed())
    }

    /// The response. It closes the connection, as part of the request body may still be on its way.
    pub(super) fn into_response(self) -> Response<ResponseBody> {
        let bytes = match self.message {
            Cow::Borrowed(message) => Bytes::from_static(message.as_bytes()),
            Cow::Owned(message) => Bytes::from(message),
        };
        let mut response = Response::new(Full::new(bytes).boxed());
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
        match self.status {
            StatusCode::UNAUTHORIZED => {
                let scheme = HeaderValue::from_static("Bearer realm=\"kb\"");
                headers.insert(WWW_AUTHENTICATE, scheme);
            }
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
                headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
            }
            _ => {}
        }
        response
    }
}

/// The error for a body that rmcp cannot read as a message, found before rmcp consumes it. rmcp answers
/// such a body with 415 and a text, where JSON-RPC 2.0 (section 5.1) has codes.
#[derive(Debug)]
pub(super) struct Malformed {
    /// Whether the body is JSON at all.
    is_json: bool,
    /// The id of the request; `None` if it has none that can be read.
    id: Option<RequestId>,
}

impl Malformed {
    pub(super) fn of(body: &[u8], shape: &MessageShape<'_>) -> Malformed {
        let is_json = serde_json::from_slice::<IgnoredAny>(body).is_ok();
        let id = shape.id.filter(|_| is_json);
        Malformed {
            is_json,
            id: id.and_then(|id| serde_json::from_slice(id).ok()),
        }
    }

    /// 400 with the error as JSON-RPC: -32700 for what is not JSON, else -32600.
    pub(super) fn into_response(self) -> Response<ResponseBody> {
        let error = if self.is_json {
            ErrorData::invalid_request("not a valid MCP request", None)
        } else {
            ErrorData::parse_error("the body is not JSON", None)
        };
        let error = ServerJsonRpcMessage::error(error, self.id);
        // A message of this server has nothing that cannot be written.
        let bytes = serde_json::to_vec(&error).unwrap_or_default();
        let mut response = Response::new(Full::new(Bytes::from(bytes)).boxed());
        *response.status_mut() = StatusCode::BAD_REQUEST;
        let json = HeaderValue::from_static("application/json");
        response.headers_mut().insert(CONTENT_TYPE, json);
        response
    }
}

impl From<StatusCode> for Rejection {
    fn from(status: StatusCode) -> Rejection {
        Rejection::new(status, status.canonical_reason().unwrap_or_default())
    }
}

/// A panic on a blocking thread.
impl From<JoinError> for Rejection {
    fn from(_: JoinError) -> Rejection {
        StatusCode::INTERNAL_SERVER_ERROR.into()
    }
}

/// Says which flag allows it: the person who runs the server sees this text in a client.
impl From<Forbidden> for Rejection {
    fn from(forbidden: Forbidden) -> Rejection {
        let message = match forbidden {
            Forbidden::Host => {
                "Forbidden: this server does not go by the name in the Host header \
                 (--allow-host HOST lets it)"
            }
            Forbidden::Origin => {
                "Forbidden: pages of this Origin may not ask \
                 (--allow-origin ORIGIN lets them)"
            }
        };
        Rejection::new(StatusCode::FORBIDDEN, message)
    }
}
