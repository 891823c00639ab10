//! [`CursorScope`]: the call that a result belongs to, the state of the files it was read from, and how
//! much of it was returned. Nothing in a cursor is trusted: a client may send anything.

use serde_json::{Value, json};

use crate::error::{Error, Result};
use crate::paging::cursor::{Cursor, VERSION, foreign, malformed};
use crate::paging::options::PageOptions;
use crate::types::hex;

/// What a cursor is valid for: one call with its arguments, on one state of one or several files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CursorScope {
    /// The call: `search`, `list`, `text`, ...
    call: &'static str,
    /// Identity of the file, or of all files together.
    index: String,
    /// Generation of its content, or of all.
    generation: u64,
    /// Hash of all arguments except [`PageOptions`].
    fingerprint: String,
}

impl CursorScope {
    /// For one or several files, each with identity and generation, and all arguments of the call
    /// except [`PageOptions`].
    pub(crate) fn new(
        call: &'static str,
        files: &[([u8; 16], u64)],
        arguments: impl IntoIterator<Item = impl AsRef<[u8]>>,
    ) -> CursorScope {
        let (index, generation) = match files {
            [(uuid, generation)] => (hex(uuid), *generation),
            several => {
                let (mut uuids, mut generations) = (blake3::Hasher::new(), blake3::Hasher::new());
                for (uuid, generation) in several {
                    uuids.update(uuid);
                    generations.update(&generation.to_le_bytes());
                }
                (short_hash(&uuids), hash_53_bits(&generations))
            }
        };
        let mut fingerprint = blake3::Hasher::new();
        for argument in arguments {
            // The length first: `a`, `b` and `ab`, `` are different arguments.
            fingerprint.update(&(argument.as_ref().len() as u64).to_le_bytes());
            fingerprint.update(argument.as_ref());
        }
        CursorScope {
            call,
            index,
            generation,
            fingerprint: short_hash(&fingerprint),
        }
    }

    /// The offset at which `page` continues; 0 without a cursor.
    ///
    /// # Errors
    /// [`Error::InvalidCursor`] when the cursor is malformed or belongs to another call or file,
    /// [`Error::StaleCursor`] when the file changed since it was returned.
    pub(crate) fn start(&self, page: &PageOptions) -> Result<u64> {
        let Some(cursor) = &page.cursor else {
            return Ok(0);
        };
        let state = cursor.decode()?;
        let is = |key: &str, value: &str| state.get(key).and_then(Value::as_str) == Some(value);
        if !is("type", self.call) {
            return Err(foreign("it belongs to an answer of another kind"));
        }
        if !is("index", &self.index) {
            return Err(foreign("it belongs to another file"));
        }
        if !is("q", &self.fingerprint) {
            return Err(foreign(
                "it belongs to another question, or to other options",
            ));
        }
        let generation = state.get("gen").and_then(Value::as_u64);
        if generation.ok_or_else(malformed)? != self.generation {
            return Err(Error::StaleCursor);
        }
        let offset = state.get("offset").and_then(Value::as_u64);
        offset.filter(|offset| *offset > 0).ok_or_else(malformed)
    }

    /// The cursor of a result that was returned up to `offset`.
    pub(super) fn cursor(&self, offset: u64, client_state: Option<&str>) -> Cursor {
        let mut state = json!({
            "v": VERSION,
            "type": self.call,
            "index": self.index,
            "gen": self.generation,
            "q": self.fingerprint,
            "offset": offset,
        });
        if let (Some(text), Value::Object(state)) = (client_state, &mut state) {
            state.insert("note".to_owned(), text.into());
        }
        Cursor::encode(&state)
    }

    /// The error for an offset that no call returned.
    pub(crate) fn out_of_range() -> Error {
        foreign("it points beyond the end of the answer")
    }
}

/// The first 16 bytes of a hash, in hexadecimal digits.
fn short_hash(hasher: &blake3::Hasher) -> String {
    let hash = hasher.finalize();
    hex(hash.as_bytes().first_chunk::<16>().unwrap_or(&[0; 16]))
}

/// 53 bits of a hash: a number that every JSON reader keeps exactly.
fn hash_53_bits(hasher: &blake3::Hasher) -> u64 {
    let hash = hasher.finalize();
    let first = hash.as_bytes().first_chunk::<8>().unwrap_or(&[0; 8]);
    u64::from_le_bytes(*first) >> 11
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use proptest::prelude::*;

    use super::*;

    fn scope(generation: u64, argument: &str) -> CursorScope {
        CursorScope::new("search", &[([7; 16], generation)], [argument])
    }

    fn continued(cursor: Cursor) -> PageOptions {
        PageOptions::default().cursor(cursor)
    }

    #[test]
    fn a_cursor_is_valid_for_its_own_call_only() {
        let here = scope(3, "walrus");
        let page = continued(here.cursor(12, None));
        assert_eq!(here.start(&page).unwrap(), 12);
        assert_eq!(here.start(&PageOptions::default()).unwrap(), 0);
        let code = |scope: CursorScope| scope.start(&page).unwrap_err().code();
        assert_eq!(code(scope(3, "seal")), "INVALID_CONTINUATION_TOKEN");
        assert_eq!(code(scope(4, "walrus")), "CONTINUATION_STALE");
        let other_file = CursorScope::new("search", &[([8; 16], 3)], ["walrus"]);
        assert_eq!(code(other_file), "INVALID_CONTINUATION_TOKEN");
        let other_call = CursorScope::new("list", &[([7; 16], 3)], ["walrus"]);
        assert_eq!(code(other_call), "INVALID_CONTINUATION_TOKEN");
    }

    #[test]
    fn several_files_together_have_one_identity_and_generation() {
        let files = [([1; 16], 5), ([2; 16], 6)];
        let both = CursorScope::new("search", &files, ["walrus"]);
        let page = continued(both.cursor(1, None));
        assert_eq!(both.start(&page).unwrap(), 1);
        let code = |files: [([u8; 16], u64); 2]| {
            let scope = CursorScope::new("search", &files, ["walrus"]);
            scope.start(&page).unwrap_err().code()
        };
        assert_eq!(code([files[0], ([2; 16], 7)]), "CONTINUATION_STALE");
        assert_eq!(code([files[1], files[0]]), "INVALID_CONTINUATION_TOKEN");
    }

    #[test]
    fn the_fingerprint_keeps_arguments_apart() {
        let files = [([7; 16], 3)];
        let two = CursorScope::new("search", &files, ["a", "b"]);
        let joined = CursorScope::new("search", &files, ["ab", ""]);
        assert_ne!(two.fingerprint, joined.fingerprint);
    }

    #[test]
    fn a_cursor_returns_its_offset_and_the_state_of_the_client() {
        let cursor = scope(3, "walrus").cursor(12, Some("mode=title"));
        assert_eq!(cursor.offset().unwrap(), 12);
        assert_eq!(
            cursor.client_state().unwrap().as_deref(),
            Some("mode=title")
        );
        assert_eq!(Cursor::from(cursor.to_string()), cursor);
        for text in ["", "!", "e30"] {
            let code = Cursor::from(text).client_state().unwrap_err().code();
            assert_eq!(code, "INVALID_CONTINUATION_TOKEN");
        }
    }

    proptest! {
        #[test]
        fn a_forged_cursor_is_refused(
            text in "\\PC{0,60}",
            state in proptest::collection::vec(any::<u8>(), 0..80),
            offset in any::<u64>(),
        ) {
            let here = scope(3, "walrus");
            let forged = json!({"v": 1, "type": "search", "index": here.index, "gen": 3, "q": "x", "offset": offset});
            for token in [text, URL_SAFE_NO_PAD.encode(&state), URL_SAFE_NO_PAD.encode(forged.to_string())] {
                let error = here.start(&continued(token.into())).unwrap_err();
                prop_assert_eq!(error.code(), "INVALID_CONTINUATION_TOKEN");
            }
        }
    }
}
