//! Continuation tokens: base64url of a JSON object with all that the next call needs, so that any server that has
//! the file open can answer it. Tokens are not authenticated, so nothing in them is trusted.
//!
//! | field | what |
//! |---|---|
//! | `page`, `row`, `slide` or `offset` | where the result goes on, for people who read a token |
//! | `tool` | the tool of the first call |
//! | `arguments` | its arguments that differ from their defaults, those of an object as `object.field` |
//! | `cursor` | where the result goes on, for the engine, which compares file and question |
//! | `sum` | a checksum of the others: a token that was changed is refused |

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use kb_engine::Cursor;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::limits::TOKEN_LIMIT;
use crate::response::{Object, ToolError};

/// Bytes of JSON that the arguments may take. What is left out, a long vector or a query of some pages, must be given
/// again.
const ARGUMENTS_LIMIT_BYTES: usize = 4096;

/// Bytes of the other fields: the name of a tool, an engine's cursor, numbers.
const FRAME_LIMIT_BYTES: usize = 256;

// The longest token is one that a call takes.
const _: () = assert!((ARGUMENTS_LIMIT_BYTES + FRAME_LIMIT_BYTES).div_ceil(3) * 4 <= TOKEN_LIMIT);

/// Where a result goes on: the name of the field, and its number.
pub(in crate::tools) type Position = (&'static str, u64);

/// What the tokens of a call remember of it.
#[derive(Debug, Clone, Default)]
pub(in crate::tools) struct FirstCall {
    pub(super) tool: &'static str,
    /// Its arguments by published name, those of an object as `object.field`.
    pub(super) arguments: Object,
}

impl FirstCall {
    /// Drops what is too long to be remembered, the longest first.
    pub(super) fn of(tool: &'static str, mut arguments: Object) -> FirstCall {
        let bytes = |name: &str, value: &Value| name.len() + value.to_string().len() + 4;
        let mut each: Vec<(usize, String)> = arguments
            .iter()
            .map(|(name, value)| (bytes(name, value), name.clone()))
            .collect();
        each.sort();
        let mut all: usize = each.iter().map(|(bytes, _)| bytes).sum();
        while all > ARGUMENTS_LIMIT_BYTES
            && let Some((bytes, name)) = each.pop()
        {
            arguments.remove(&name);
            all -= bytes;
        }
        FirstCall { tool, arguments }
    }

    /// The token of a result that goes on at `cursor`.
    pub(super) fn token(&self, cursor: &Cursor, (name, number): Position) -> String {
        let mut fields = Object::new();
        fields.insert(name.to_owned(), number.into());
        fields.insert("tool".to_owned(), self.tool.into());
        if !self.arguments.is_empty() {
            let arguments = Value::Object(self.arguments.clone());
            fields.insert("arguments".to_owned(), arguments);
        }
        fields.insert("cursor".to_owned(), cursor.as_str().into());
        let sum = checksum(&fields);
        fields.insert("sum".to_owned(), sum.into());
        URL_SAFE_NO_PAD.encode(Value::Object(fields).to_string())
    }
}

/// What a token says.
#[derive(Debug)]
pub(super) struct Continued {
    pub(super) cursor: Cursor,
    /// The arguments of the first call.
    pub(super) arguments: Object,
}

impl Continued {
    /// Reads a token that was given to `tool`.
    pub(super) fn read(tool: &str, token: &str) -> Result<Continued, ToolError> {
        let mut fields = fields_of(token).ok_or_else(malformed)?;
        let sum = fields.remove("sum");
        let is_whole = sum.as_ref().and_then(Value::as_str) == Some(checksum(&fields).as_str());
        let (Some(Value::String(of_tool)), Some(Value::String(cursor)), true) =
            (fields.get("tool"), fields.get("cursor"), is_whole)
        else {
            return Err(malformed());
        };
        if of_tool != tool {
            return Err(refused("it belongs to another tool"));
        }
        let cursor = Cursor::from(cursor.clone());
        let arguments = match fields.remove("arguments") {
            None => Object::new(),
            Some(Value::Object(arguments)) => arguments,
            Some(_) => return Err(malformed()),
        };
        Ok(Continued { cursor, arguments })
    }
}

fn fields_of(token: &str) -> Option<Object> {
    // Programs that encode it again may add the signs that fill it up.
    let json = URL_SAFE_NO_PAD.decode(token.trim_end_matches('=')).ok()?;
    serde_json::from_slice(&json).ok()
}

/// 8 hexadecimal digits.
fn checksum(fields: &Object) -> String {
    let mut hasher = Sha256::new();
    // In one order, whatever order they were read in.
    let mut sorted: Vec<_> = fields.iter().collect();
    sorted.sort_by_key(|(name, _)| *name);
    for (name, value) in sorted {
        hasher.update(format!("{name}:{value}\n"));
    }
    let hash: [u8; 32] = hasher.finalize().into();
    let first = hash.first_chunk::<4>().copied().unwrap_or_default();
    format!("{:08x}", u32::from_be_bytes(first))
}

/// The error for a token that no result held.
pub(in crate::tools) fn malformed() -> ToolError {
    refused("it is malformed")
}

fn refused(reason: &str) -> ToolError {
    ToolError::new(
        "INVALID_CONTINUATION_TOKEN",
        format!("continuation_token: {reason}"),
    )
    .with_hint("Call again without it")
}

#[cfg(test)]
pub(super) mod tests;
