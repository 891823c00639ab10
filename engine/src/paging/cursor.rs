//! [`Cursor`]: the wire form, base64url over JSON.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value};

use crate::error::{Error, Result};

/// Longest cursor that is decoded, in bytes; client state of control characters takes six bytes for
/// each in JSON, and base64 adds a third.
const CURSOR_LIMIT_BYTES: usize = 20_000;

/// Version of the wire form.
pub(super) const VERSION: u64 = 1;

/// Where a truncated result continues. Opaque text: pass it on as it is. It is valid for the same
/// call with the same arguments (the budget may differ), until the content of the file changes.
///
/// Any text can be made a cursor; the call that it is given to checks it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Cursor(String);

impl Cursor {
    /// The text to pass on.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The [`PageOptions::client_state`](crate::PageOptions::client_state) of the call that returned this cursor; `None` when it had
    /// none. It is not authenticated: whoever sends a cursor can have changed it.
    ///
    /// # Errors
    /// [`Error::InvalidCursor`] when this is no cursor.
    pub fn client_state(&self) -> Result<Option<String>> {
        let state = self.decode()?;
        Ok(state.get("note").and_then(Value::as_str).map(str::to_owned))
    }

    /// How much of the result was returned up to here: items of a list, or bytes of a text.
    ///
    /// # Errors
    /// [`Error::InvalidCursor`] when this is no cursor.
    pub fn offset(&self) -> Result<u64> {
        let state = self.decode()?;
        let offset = state.get("offset").and_then(Value::as_u64);
        offset.ok_or_else(malformed)
    }

    pub(super) fn encode(state: &Value) -> Cursor {
        Cursor(URL_SAFE_NO_PAD.encode(state.to_string()))
    }

    pub(super) fn decode(&self) -> Result<Map<String, Value>> {
        if self.0.len() > CURSOR_LIMIT_BYTES {
            return Err(malformed());
        }
        let bytes = URL_SAFE_NO_PAD.decode(&self.0).map_err(|_| malformed())?;
        match serde_json::from_slice(&bytes) {
            Ok(Value::Object(state)) if state.get("v").and_then(Value::as_u64) == Some(VERSION) => {
                Ok(state)
            }
            _ => Err(malformed()),
        }
    }
}

impl From<String> for Cursor {
    fn from(text: String) -> Cursor {
        Cursor(text)
    }
}

impl From<&str> for Cursor {
    fn from(text: &str) -> Cursor {
        Cursor(text.to_owned())
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

pub(super) fn malformed() -> Error {
    foreign("it is malformed")
}

pub(super) fn foreign(reason: &'static str) -> Error {
    Error::InvalidCursor { reason }
}
