//! Responses: the headers that all have, pages, and problems.

use axum::body::Bytes;
use axum::http::header::{
    ACCEPT, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue,
    LOCATION, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, Response, StatusCode};
use axum::response::IntoResponse;
use kb_engine::Error;
use kb_json::Object;
use kb_mcp::tokens::TokenError;
use kb_mcp::{Busy, CallError};
use maud::Markup;

/// Script and style are files of this server, pictures may be in the page itself, and nothing else is loaded from
/// anywhere. No page may be shown inside of another.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
     form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
);

/// Addresses here hold queries, which are nobody else's business.
const NO_REFERRER: HeaderValue = HeaderValue::from_static("same-origin");

const FRAME_OPTIONS: HeaderName = HeaderName::from_static("x-frame-options");

/// A response with all headers.
pub(crate) type Answer = Response<Bytes>;

/// What went wrong, for a page or for a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) status: StatusCode,
    /// The stable name of the kind of error.
    pub(crate) code: &'static str,
    /// What happened, without a full stop.
    pub(crate) message: String,
    /// What to do about it.
    pub(crate) hint: Option<String>,
}

impl Problem {
    pub(crate) fn new(
        status: StatusCode,
        code: &'static str,
        message: impl Into<String>,
    ) -> Problem {
        Problem {
            status,
            code,
            message: message.into(),
            hint: None,
        }
    }

    /// There is no such page or thing.
    pub(crate) fn not_found(what: impl Into<String>) -> Problem {
        Problem::new(StatusCode::NOT_FOUND, "NOT_FOUND", what)
    }

    /// As `application/problem+json` (RFC 9457).
    pub(crate) fn to_json(&self) -> Answer {
        let mut object = Object::new()
            .field("type", "about:blank")
            .field("title", self.status.canonical_reason().unwrap_or("Error"))
            .field("status", self.status.as_u16())
            .field("code", self.code)
            .field("detail", &*self.message);
        if let Some(hint) = &self.hint {
            object = object.field("hint", &**hint);
        }
        answer(self.status, "application/problem+json", object.escaped())
    }
}

impl From<TokenError> for Problem {
    fn from(error: TokenError) -> Problem {
        let (status, code) = match error {
            TokenError::Name(_) => (StatusCode::BAD_REQUEST, "INVALID_ARGUMENT"),
            TokenError::Taken(_) => (StatusCode::CONFLICT, "TOKEN_EXISTS"),
            TokenError::Full => (StatusCode::CONFLICT, "TOO_MANY_TOKENS"),
            TokenError::Unknown { .. } => (StatusCode::NOT_FOUND, "TOKEN_NOT_FOUND"),
            // The others name files of the server.
            _ => {
                return Problem::new(
                    StatusCode::INTERNAL_SERVER_ERROR,
                    "TOKENS_UNREADABLE",
                    "the tokens cannot be read or written",
                );
            }
        };
        Problem {
            hint: error.hint(),
            ..Problem::new(status, code, error.to_string())
        }
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Problem {
        let status = match error.code() {
            "DOCUMENT_NOT_FOUND" | "SECTION_NOT_FOUND" | "FOLDER_NOT_FOUND" | "SHEET_NOT_FOUND"
            | "PATH_NOT_FOUND" => StatusCode::NOT_FOUND,
            "CONTINUATION_STALE" | "AMBIGUOUS_DOCUMENT" => StatusCode::CONFLICT,
            "SNAPSHOT_EXPIRED" | "INDEX_LOCKED" | "CANCELLED" => StatusCode::SERVICE_UNAVAILABLE,
            "FILE_TOO_LARGE" => StatusCode::PAYLOAD_TOO_LARGE,
            "IO" | "STORAGE" | "DAMAGED" | "NOT_A_KB" | "FORMAT_UNSUPPORTED" | "FILE_REPLACED" => {
                StatusCode::INTERNAL_SERVER_ERROR
            }
            _ => StatusCode::BAD_REQUEST,
        };
        Problem::new(status, error.code(), error.to_string())
    }
}

impl From<Busy> for Problem {
    fn from(busy: Busy) -> Problem {
        match busy {
            Busy::Busy => Problem::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "RATE_LIMITED",
                "too many requests at once; try again in a few seconds",
            ),
            Busy::Panicked => Problem::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                "INTERNAL",
                "this request hit a bug in the server",
            ),
        }
    }
}

impl From<CallError> for Problem {
    fn from(error: CallError) -> Problem {
        let status = match error.code() {
            "INDEX_NOT_FOUND" | "DOCUMENT_NOT_FOUND" => StatusCode::NOT_FOUND,
            "RATE_LIMITED" | "INDEX_LOCKED" => StatusCode::SERVICE_UNAVAILABLE,
            "INTERNAL" => StatusCode::INTERNAL_SERVER_ERROR,
            "FILE_TOO_LARGE" => StatusCode::PAYLOAD_TOO_LARGE,
            "UNSUPPORTED_MIME_TYPE" => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "INDEX_READ_ONLY" => StatusCode::FORBIDDEN,
            _ => StatusCode::BAD_REQUEST,
        };
        Problem {
            hint: error.hint().map(str::to_owned),
            ..Problem::new(status, error.code(), error.sentence())
        }
    }
}

/// A response of that type.
pub(crate) fn answer(
    status: StatusCode,
    media_type: &'static str,
    body: impl Into<Bytes>,
) -> Answer {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert(CONTENT_SECURITY_POLICY, POLICY);
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, NO_REFERRER);
    headers.insert(FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

/// A page.
pub(crate) fn html(status: StatusCode, page: Markup) -> Answer {
    answer(status, "text/html; charset=utf-8", page.into_string())
}

/// An object of JSON.
pub(crate) fn json(object: Object) -> Answer {
    answer(StatusCode::OK, "application/json", object.escaped())
}

/// Sends the browser to another address of this site, with GET.
pub(crate) fn redirect(address: &str) -> Answer {
    let mut response = answer(StatusCode::SEE_OTHER, "text/plain", "");
    if let Ok(address) = HeaderValue::from_str(address) {
        response.headers_mut().insert(LOCATION, address);
    }
    response
}

/// Whether a client wants a page: browsers name HTML, programs do not.
pub(crate) fn wants_page(headers: &HeaderMap) -> bool {
    let accepted = headers.get(ACCEPT).and_then(|value| value.to_str().ok());
    accepted.is_some_and(|accepted| accepted.contains("text/html"))
}

/// As axum takes it.
pub(crate) fn respond(answer: Answer) -> axum::response::Response {
    answer.map(axum::body::Body::from).into_response()
}
