//! [`Cursor`]: the wire form, base64url over a few binary fields.
//!
//! | bytes | what |
//! |---|---|
//! | 1 | version, 2 |
//! | 4 | hash of the files |
//! | 4 | hash of their generations |
//! | 6 | hash of the call and its arguments |
//! | 1 + n | n, and the offset in n bytes, little-endian, without leading zeros; n is 1 to 8 |
//!
//! The hashes tell an honest caller that something else was asked or the file changed; they keep nobody
//! out, for anybody can compute them. 24 bytes are 32 characters.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use kb_types::error::{Error, Result};

/// Version of the wire form; 1 was base64url over JSON.
// A client may hold a cursor from before an update of the server: another version is refused with a
// clear error.
const VERSION: u8 = 2;

/// Bytes before the offset.
const HEAD_BYTES: usize = 15;

/// Longest cursor, in characters: base64 has four for three bytes.
const CURSOR_LIMIT_CHARS: usize = (HEAD_BYTES + 9).div_ceil(3) * 4;

/// Where a truncated result continues, in at most 32 characters. Opaque text: pass it on as it is. It is
/// valid for the same call with the same arguments (the budget may differ), until the content of the file
/// changes.
///
/// Any text can be made a cursor; the call that it is given to checks it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Cursor(String);

/// What a cursor says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CursorState {
    /// Hash of the files.
    pub(super) files: [u8; 4],
    /// Hash of their generations.
    pub(super) generations: [u8; 4],
    /// Hash of the call and its arguments.
    pub(super) fingerprint: [u8; 6],
    /// Where the result continues, from 1.
    pub(super) offset: u64,
}

impl Cursor {
    /// The text to pass on.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// How much of the result was returned up to here: items of a list, or bytes of a text. Of pages and chunks,
    /// items in the upper 32 bits, and bytes of the next one in the lower.
    ///
    /// # Errors
    /// [`Error::InvalidCursor`] when this is no cursor.
    pub fn offset(&self) -> Result<u64> {
        Ok(self.decode()?.offset)
    }

    pub(super) fn encode(state: &CursorState) -> Cursor {
        let offset = state.offset.to_le_bytes();
        let len = offset.iter().rposition(|byte| *byte != 0);
        let len = len.map_or(0, |last| last + 1);
        let mut bytes = vec![VERSION];
        bytes.extend(state.files);
        bytes.extend(state.generations);
        bytes.extend(state.fingerprint);
        bytes.push(u8::try_from(len).unwrap_or(u8::MAX));
        bytes.extend(offset.iter().take(len));
        Cursor(URL_SAFE_NO_PAD.encode(bytes))
    }

    /// # Errors
    /// [`Error::InvalidCursor`] for what [`Cursor::encode`] never returns.
    pub(super) fn decode(&self) -> Result<CursorState> {
        self.state().ok_or_else(|| foreign("it is malformed"))
    }

    fn state(&self) -> Option<CursorState> {
        if self.0.len() > CURSOR_LIMIT_CHARS {
            return None;
        }
        let bytes = URL_SAFE_NO_PAD.decode(&self.0).ok()?;
        let (version, rest) = bytes.split_first()?;
        let (files, rest) = rest.split_first_chunk()?;
        let (generations, rest) = rest.split_first_chunk()?;
        let (fingerprint, rest) = rest.split_first_chunk()?;
        let (len, digits) = rest.split_first()?;
        let mut offset = [0; 8];
        offset.get_mut(..digits.len())?.copy_from_slice(digits);
        let is_shortest = digits.last().is_some_and(|last| *last != 0);
        let is_valid = *version == VERSION && is_shortest && digits.len() == usize::from(*len);
        is_valid.then(|| CursorState {
            files: *files,
            generations: *generations,
            fingerprint: *fingerprint,
            offset: u64::from_le_bytes(offset),
        })
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

pub(super) fn foreign(reason: &'static str) -> Error {
    Error::InvalidCursor { reason }
}
