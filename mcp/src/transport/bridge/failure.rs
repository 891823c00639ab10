//! Turns a failed exchange with the server into a response to the client.

use hyper::StatusCode;
use rmcp::model::ErrorData;

/// Longest text of a server that is repeated, in characters.
const TEXT_LIMIT: usize = 300;

/// Why a message got no answer.
#[derive(Debug)]
pub(super) enum Failure {
    /// No connection could be made; nothing was sent.
    Unreachable(String),
    /// The connection ended before the answer was there.
    Lost(String),
    /// The server answered with a status and a text that is no message.
    Refused(StatusCode, String),
    /// The answer is longer than this program reads.
    TooLong,
}

impl Failure {
    /// Whether the server may answer later on.
    pub(super) fn is_of_connection(&self) -> bool {
        match self {
            Failure::Unreachable(_) | Failure::Lost(_) => true,
            Failure::Refused(status, _) => *status == StatusCode::SERVICE_UNAVAILABLE,
            Failure::TooLong => false,
        }
    }

    /// The error for the client of the server at `url`.
    pub(super) fn into_error(self, url: &str) -> ErrorData {
        ErrorData::internal_error(self.describe(url), None)
    }

    /// What happened, for a person.
    pub(super) fn describe(&self, url: &str) -> String {
        match self {
            Failure::Unreachable(reason) => {
                format!("the server at {url} cannot be reached ({reason}); nothing was sent")
            }
            Failure::Lost(reason) => format!(
                "the connection to {url} ended before the answer ({reason}); it is not known whether \
                 the request was carried out"
            ),
            Failure::Refused(StatusCode::UNAUTHORIZED, _) => {
                format!("invalid token: the server at {url} does not accept it")
            }
            Failure::Refused(status, text) => {
                let text: String = text.trim().chars().take(TEXT_LIMIT).collect();
                let text = if text.is_empty() {
                    status.canonical_reason().unwrap_or_default().to_owned()
                } else {
                    text
                };
                format!("the server at {url} answers {}: {text}", status.as_u16())
            }
            Failure::TooLong => format!("the answer of {url} is too long"),
        }
    }
}
