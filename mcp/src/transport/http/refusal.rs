//! Answers that say no more than why a request is not taken up.

use std::borrow::Cow;
use std::convert::Infallible;

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::header::{CONNECTION, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use hyper::{Response, StatusCode};

use super::origin::Denied;

/// Why a request is not taken up.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) status: StatusCode,
    words: Cow<'static, str>,
}

impl Refused {
    /// With words for whoever has to change something.
    pub(super) fn new(status: StatusCode, words: impl Into<Cow<'static, str>>) -> Refused {
        Refused {
            status,
            words: words.into(),
        }
    }

    /// The same client may come again when it has less under way.
    pub(super) fn busy(what: &str) -> Refused {
        let words = format!("Service Unavailable: {what}; ask again in a second");
        Refused::new(StatusCode::SERVICE_UNAVAILABLE, words)
    }

    /// The answer. The connection is not used again, as something of the request may still be on it.
    pub(super) fn answer(self) -> Response<BoxBody<Bytes, Infallible>> {
        let bytes = match self.words {
            Cow::Borrowed(words) => Bytes::from_static(words.as_bytes()),
            Cow::Owned(words) => Bytes::from(words),
        };
        let mut answer = Response::new(Full::new(bytes).boxed());
        *answer.status_mut() = self.status;
        let headers = answer.headers_mut();
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
        match self.status {
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
}

impl From<StatusCode> for Refused {
    fn from(status: StatusCode) -> Refused {
        Refused::new(status, status.canonical_reason().unwrap_or_default())
    }
}

/// Whoever runs the server, or asks it under a new name, has to know what to change.
impl From<Denied> for Refused {
    fn from(denied: Denied) -> Refused {
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
        Refused::new(StatusCode::FORBIDDEN, words)
    }
}
