//! What continuation tokens remember of the first call: its tool, and the arguments that differ from their
//! defaults, packed into the few bytes that the engine carries for this server. Arguments that do not fit
//! (a long folder or filter) stay in the memory of the server, found by a hash of them: after a restart,
//! or after [`CALLS_LIMIT`] other such calls, the caller must repeat them. Tokens are not authenticated, so
//! nothing in them is trusted.
//!
//! | bytes | what |
//! |---|---|
//! | 2 | hash of the tool and the names of its arguments |
//! | 1, then the value | number of an argument and its value, repeated; or |
//! | 1 + 12 | [`IN_MEMORY`] and the hash of the arguments |
//!
//! Values: a boolean or an enumeration one byte, an integer LEB128, a number an `f32`, a text one byte of
//! length and UTF-8.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use kb_engine::{CLIENT_STATE_LIMIT_BYTES, Cursor};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::response::{Object, ToolError};

/// In place of the number of an argument: a hash of all follows.
const IN_MEMORY: u8 = 0xff;

/// Bytes of that hash: nobody finds the arguments of others by guessing.
const KEY_BYTES: usize = 12;

/// Longest arguments that are kept in memory, in bytes of JSON; with [`CALLS_LIMIT`] it bounds the memory
/// to 4 MiB.
const ARGUMENTS_LIMIT_BYTES: usize = 4096;

/// Calls in memory.
const CALLS_LIMIT: usize = 1024;

/// Found by their content, so all servers and clients of the process share it without seeing what others
/// sent.
static MEMORY: Mutex<CallMemory> = Mutex::new(CallMemory {
    calls: VecDeque::new(),
});

/// The arguments of a tool in their published order, which numbers them.
#[derive(Debug)]
pub(in crate::tools) struct ArgumentTable {
    tag: [u8; 2],
    /// Name, as `object.field` for a field, and schema.
    fields: Vec<(String, Value)>,
}

impl ArgumentTable {
    /// `properties`: those of the published schema.
    pub(super) fn new(tool: &str, properties: &Object) -> ArgumentTable {
        let mut fields = Vec::new();
        for (name, schema) in properties {
            match schema.get("properties").and_then(Value::as_object) {
                None => fields.push((name.clone(), schema.clone())),
                Some(nested) => fields.extend(
                    nested
                        .iter()
                        .map(|(field, schema)| (format!("{name}.{field}"), schema.clone())),
                ),
            }
        }
        let mut hasher = Sha256::new();
        hasher.update(tool);
        for (name, _) in &fields {
            hasher.update([0]);
            hasher.update(name);
        }
        let hash: [u8; 32] = hasher.finalize().into();
        ArgumentTable {
            tag: *hash.first_chunk().unwrap_or(&[0; 2]),
            fields,
        }
    }

    /// The client state of a call with these arguments, which are of their published types.
    pub(super) fn client_state(&self, arguments: &Object) -> Vec<u8> {
        let mut state = self.tag.to_vec();
        if let Some(packed) = self.pack(arguments)
            && state.len() + packed.len() <= CLIENT_STATE_LIMIT_BYTES
        {
            state.extend(packed);
            return state;
        }
        let json = Value::Object(arguments.clone()).to_string();
        let mut hasher = Sha256::new();
        hasher.update(self.tag);
        hasher.update(&json);
        let hash: [u8; 32] = hasher.finalize().into();
        let key: [u8; KEY_BYTES] = *hash.first_chunk().unwrap_or(&[0; KEY_BYTES]);
        if json.len() <= ARGUMENTS_LIMIT_BYTES {
            let mut memory = MEMORY.lock().unwrap_or_else(PoisonError::into_inner);
            memory.keep(key, arguments.clone());
        }
        state.push(IN_MEMORY);
        state.extend(key);
        state
    }

    /// The arguments that a token remembers; empty where this server has forgotten them.
    pub(super) fn remembered(&self, cursor: &Cursor) -> Result<Object, ToolError> {
        let state = cursor.client_state()?;
        let (tag, packed) = state.split_first_chunk().ok_or_else(malformed)?;
        if *tag != self.tag {
            return Err(refused("it belongs to another tool"));
        }
        match packed.split_first() {
            Some((&IN_MEMORY, key)) => {
                let key = key.try_into().map_err(|_| malformed())?;
                let memory = MEMORY.lock().unwrap_or_else(PoisonError::into_inner);
                Ok(memory.find(&key).unwrap_or_default())
            }
            _ => self.unpack(packed).ok_or_else(malformed),
        }
    }

    fn pack(&self, arguments: &Object) -> Option<Vec<u8>> {
        let mut packed = Vec::new();
        for (name, value) in arguments {
            let number = self.fields.iter().position(|(field, _)| field == name)?;
            let (_, schema) = self.fields.get(number)?;
            packed.push(u8::try_from(number).ok().filter(|it| *it != IN_MEMORY)?);
            match (kind_of(schema), value) {
                ("boolean", Value::Bool(flag)) => packed.push(u8::from(*flag)),
                ("integer", value) => {
                    let mut rest = value.as_u64()?;
                    while rest >= 0x80 {
                        packed.push(0x80 | u8::try_from(rest & 0x7f).ok()?);
                        rest >>= 7;
                    }
                    packed.push(u8::try_from(rest).ok()?);
                }
                // Scores are f32 in the engine.
                ("number", value) => packed.extend((value.as_f64()? as f32).to_le_bytes()),
                ("string", Value::String(text)) => match choices(schema) {
                    Some(choices) => {
                        let chosen = choices.iter().position(|choice| choice == value)?;
                        packed.push(u8::try_from(chosen).ok()?);
                    }
                    None => {
                        packed.push(u8::try_from(text.len()).ok()?);
                        packed.extend(text.as_bytes());
                    }
                },
                _ => return None,
            }
        }
        Some(packed)
    }

    fn unpack(&self, mut packed: &[u8]) -> Option<Object> {
        let mut arguments = Object::new();
        while let Some((number, rest)) = packed.split_first() {
            let (name, schema) = self.fields.get(usize::from(*number))?;
            packed = rest;
            let value = match kind_of(schema) {
                "boolean" => match take_byte(&mut packed)? {
                    0 => false.into(),
                    1 => true.into(),
                    _ => return None,
                },
                "integer" => take_integer(&mut packed)?.into(),
                "number" => {
                    let (bytes, rest) = packed.split_first_chunk()?;
                    packed = rest;
                    // A number that JSON has none of is null here, and refused as such.
                    f64::from(f32::from_le_bytes(*bytes)).into()
                }
                "string" => {
                    let byte = usize::from(take_byte(&mut packed)?);
                    match choices(schema) {
                        Some(choices) => choices.get(byte)?.clone(),
                        None => {
                            let (text, rest) = packed.split_at_checked(byte)?;
                            packed = rest;
                            std::str::from_utf8(text).ok()?.into()
                        }
                    }
                }
                _ => return None,
            };
            if arguments.insert(name.clone(), value).is_some() {
                return None;
            }
        }
        Some(arguments)
    }
}

fn kind_of(schema: &Value) -> &str {
    schema
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// The values of an enumeration.
fn choices(schema: &Value) -> Option<&Vec<Value>> {
    schema.get("enum").and_then(Value::as_array)
}

fn take_byte(packed: &mut &[u8]) -> Option<u8> {
    let (byte, rest) = packed.split_first()?;
    *packed = rest;
    Some(*byte)
}

fn take_integer(packed: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..63).step_by(7) {
        let byte = take_byte(packed)?;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

/// The arguments of calls that do not fit into a token; the longest unused go first.
#[derive(Debug)]
struct CallMemory {
    calls: VecDeque<([u8; KEY_BYTES], Object)>,
}

impl CallMemory {
    fn keep(&mut self, key: [u8; KEY_BYTES], arguments: Object) {
        self.calls.retain(|(kept, _)| *kept != key);
        if self.calls.len() >= CALLS_LIMIT {
            self.calls.pop_front();
        }
        self.calls.push_back((key, arguments));
    }

    fn find(&self, key: &[u8; KEY_BYTES]) -> Option<Object> {
        let kept = self.calls.iter().find(|(kept, _)| kept == key);
        kept.map(|(_, arguments)| arguments.clone())
    }
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
