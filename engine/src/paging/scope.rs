//! [`CursorScope`]: the call that a result belongs to, the state of the files it was read from, and how
//! much of it was returned. Nothing in a cursor is trusted: a client may send anything.

use kb_types::error::{Error, Result};

use crate::paging::cursor::{Cursor, CursorState, foreign};
use crate::paging::options::PageOptions;

/// What a cursor is valid for: one call with its arguments, on one state of one or several files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CursorScope {
    /// Hash of the identities of the files, in their order.
    files: [u8; 4],
    /// Hash of the generations of their content.
    generations: [u8; 4],
    /// Hash of the call and all its arguments except [`PageOptions`].
    fingerprint: [u8; 6],
}

impl CursorScope {
    /// For one or several files, each with identity and generation, and all arguments of the call
    /// (`search`, `list`, `text`, ...) except [`PageOptions`].
    pub(crate) fn new(
        call: &'static str,
        files: &[([u8; 16], u64)],
        arguments: impl IntoIterator<Item = impl AsRef<[u8]>>,
    ) -> CursorScope {
        let (mut uuids, mut generations) = (blake3::Hasher::new(), blake3::Hasher::new());
        for (uuid, generation) in files {
            uuids.update(uuid);
            generations.update(&generation.to_le_bytes());
        }
        let mut fingerprint = blake3::Hasher::new();
        let mut add = |argument: &[u8]| {
            // The length first: `a`, `b` and `ab`, `` are different arguments.
            fingerprint.update(&(argument.len() as u64).to_le_bytes());
            fingerprint.update(argument);
        };
        add(call.as_bytes());
        for argument in arguments {
            add(argument.as_ref());
        }
        CursorScope {
            files: short_hash(&uuids),
            generations: short_hash(&generations),
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
        if state.files != self.files {
            return Err(foreign("it belongs to another file"));
        }
        if state.fingerprint != self.fingerprint {
            return Err(foreign(
                "it belongs to another question, or to other options",
            ));
        }
        if state.generations != self.generations {
            return Err(Error::StaleCursor);
        }
        Ok(state.offset)
    }

    /// The cursor of a result that was returned up to `offset`.
    pub(super) fn cursor(&self, offset: u64) -> Cursor {
        Cursor::encode(&CursorState {
            files: self.files,
            generations: self.generations,
            fingerprint: self.fingerprint,
            offset,
        })
    }

    /// The error for an offset that no call returned.
    pub(crate) fn out_of_range() -> Error {
        foreign("it points beyond the end of the answer")
    }
}

/// The first bytes of a hash.
fn short_hash<const N: usize>(hasher: &blake3::Hasher) -> [u8; N] {
    let hash = hasher.finalize();
    *hash.as_bytes().first_chunk().unwrap_or(&[0; N])
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
        let page = continued(here.cursor(12));
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
        let page = continued(both.cursor(1));
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
    fn a_cursor_returns_its_offset() {
        for offset in [1, 255, 256, u64::MAX] {
            let cursor = scope(3, "walrus").cursor(offset);
            assert_eq!(cursor.offset().unwrap(), offset);
            assert_eq!(Cursor::from(cursor.to_string()), cursor);
        }
        for text in ["", "!", "e30"] {
            let code = Cursor::from(text).offset().unwrap_err().code();
            assert_eq!(code, "INVALID_CONTINUATION_TOKEN");
        }
    }

    #[test]
    fn the_longest_cursor_has_32_characters() {
        let longest = scope(3, "walrus").cursor(u64::MAX);
        assert_eq!(longest.as_str().len(), 32);
        assert_eq!(longest.offset().unwrap(), u64::MAX);
        let usual = scope(3, "walrus").cursor(5);
        assert_eq!(usual.as_str().len(), 23);
    }

    #[test]
    fn an_offset_has_one_form() {
        let cursor = scope(3, "walrus").cursor(5);
        let bytes = URL_SAFE_NO_PAD.decode(cursor.as_str()).unwrap();
        let head = &bytes[..15];
        for offset in [
            &[][..],
            &[0],
            &[1, 0],
            &[2, 5, 0],
            &[2, 5],
            &[9, 1, 1, 1, 1, 1, 1, 1, 1, 1],
        ] {
            let forged = URL_SAFE_NO_PAD.encode([head, offset].concat());
            let error = scope(3, "walrus")
                .start(&continued(forged.into()))
                .unwrap_err();
            assert_eq!(error.code(), "INVALID_CONTINUATION_TOKEN", "{offset:?}");
        }
    }

    proptest! {
        #[test]
        fn a_forged_cursor_is_refused(
            text in "\\PC{0,60}",
            state in proptest::collection::vec(any::<u8>(), 0..80),
        ) {
            let here = scope(3, "walrus");
            let mut versioned = state.clone();
            versioned.insert(0, 2);
            for token in [text, URL_SAFE_NO_PAD.encode(&state), URL_SAFE_NO_PAD.encode(versioned)] {
                let error = here.start(&continued(token.into())).unwrap_err();
                prop_assert_eq!(error.code(), "INVALID_CONTINUATION_TOKEN");
            }
        }

        #[test]
        fn a_changed_cursor_is_refused_or_has_another_offset(
            offset in 1..u64::MAX,
            place in any::<proptest::sample::Index>(),
            flip in 1..=u8::MAX,
        ) {
            let here = scope(3, "walrus");
            let mut bytes = URL_SAFE_NO_PAD.decode(here.cursor(offset).as_str()).unwrap();
            let place = place.index(bytes.len());
            bytes[place] ^= flip;
            let changed = here.start(&continued(URL_SAFE_NO_PAD.encode(&bytes).into()));
            match changed {
                Err(error) => prop_assert!(error.code().starts_with("CONTINUATION_") || error.code().starts_with("INVALID_CONT")),
                Ok(other) => prop_assert!(other != offset && place >= 15),
            }
        }
    }
}
