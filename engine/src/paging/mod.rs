//! Token budgets and continuation: how a long answer is given in parts, without any state between
//! the calls.
//!
//! A continuation names the file, its state, the question and how far the answer was given. Nothing
//! in it is trusted: a caller may send anything.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value, json};

use crate::error::{Error, Result};

/// Bytes of UTF-8 that count as one token.
pub const TOKEN_BYTES: u64 = 4;

/// Most tokens that one answer may be asked to have.
pub const TOKENS_LIMIT: u32 = 1_000_000;

/// Most bytes of an answer made of texts, whatever was asked for: texts are compressed, and a hostile
/// file packs gigabytes of them into some hundred KB. Lists of names and records are bounded by the
/// size of the file.
pub const ANSWER_LIMIT_BYTES: u64 = 16 << 20;

/// Longest note of a caller, in bytes.
pub const NOTE_LIMIT_BYTES: usize = 2048;

/// Longest continuation that is looked at, in bytes; a note of control characters takes six bytes for
/// each in JSON, and base64 adds a third.
const CONTINUATION_LIMIT_BYTES: usize = 20_000;

/// Version of the continuation.
const VERSION: u64 = 1;

/// How much of an answer is wanted at once, and where to go on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    /// Stop before the answer has more tokens than that, at 4 bytes of UTF-8 a token. One item is
    /// always given, even when it alone is larger. `None`: no limit; but an answer with texts ends at
    /// [`ANSWER_LIMIT_BYTES`] in any case and goes on with its continuation.
    pub max_tokens: Option<u32>,
    /// What an earlier answer to the same question gave as `continuation`.
    pub continuation: Option<String>,
    /// A text of the caller to be kept in the continuation, at most [`NOTE_LIMIT_BYTES`]; [`note`]
    /// gives it back. Nobody vouches for what comes back.
    pub note: Option<String>,
}

impl Page {
    /// # Errors
    /// [`Error::InvalidArgument`] when the budget is out of range.
    pub(crate) fn validate(&self) -> Result<()> {
        if let Some(note) = &self.note
            && note.len() > NOTE_LIMIT_BYTES
        {
            return Err(Error::InvalidArgument {
                argument: "note",
                reason: format!("{} bytes; at most {NOTE_LIMIT_BYTES}", note.len()),
            });
        }
        match self.max_tokens {
            Some(tokens) if tokens == 0 || tokens > TOKENS_LIMIT => Err(Error::InvalidArgument {
                argument: "max_tokens",
                reason: format!("{tokens} given; allowed are 1 to {TOKENS_LIMIT}"),
            }),
            _ => Ok(()),
        }
    }
}

/// Tokens that `bytes` bytes of UTF-8 count as.
pub fn tokens(bytes: u64) -> u64 {
    bytes.div_ceil(TOKEN_BYTES)
}

/// What an answer tells of its place in the whole.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Paging {
    /// Tokens of this part, at 4 bytes each.
    pub tokens: u64,
    /// Whether the first item alone went over the budget.
    pub over_budget: bool,
    /// What to ask for the next part with; `None`: nothing is left.
    pub continuation: Option<String>,
}

/// Which question to which state of which files an answer belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Origin {
    /// The kind of answer: `search`, `list`, `text`, `outline`, `sections`, `section`, `chunks`.
    pub(crate) kind: &'static str,
    /// Identity of the file, or of all files together.
    pub(crate) index: String,
    /// Generation of its content, or of all.
    pub(crate) generation: u64,
    /// Hash of everything that was asked, budget and page aside.
    pub(crate) question: String,
}

impl Origin {
    /// Of one or several files, each with identity and generation, and of all that was asked.
    pub(crate) fn new(
        kind: &'static str,
        files: &[([u8; 16], u64)],
        question: impl IntoIterator<Item = impl AsRef<[u8]>>,
    ) -> Origin {
        let (index, generation) = match files {
            [(uuid, generation)] => (crate::types::hex(uuid), *generation),
            several => {
                let (mut uuids, mut generations) = (blake3::Hasher::new(), blake3::Hasher::new());
                for (uuid, generation) in several {
                    uuids.update(uuid);
                    generations.update(&generation.to_le_bytes());
                }
                (short(&uuids), number(&generations))
            }
        };
        let mut hasher = blake3::Hasher::new();
        for part in question {
            hasher.update(&(part.as_ref().len() as u64).to_le_bytes());
            hasher.update(part.as_ref());
        }
        Origin {
            kind,
            index,
            generation,
            question: short(&hasher),
        }
    }

    /// Where the answer that `page` asks for begins; 0 without a continuation.
    ///
    /// # Errors
    /// [`Error::InvalidContinuation`] when it is malformed or belongs to something else,
    /// [`Error::ContinuationStale`] when the file has changed since.
    pub(crate) fn start(&self, page: &Page) -> Result<u64> {
        let Some(text) = &page.continuation else {
            return Ok(0);
        };
        let state = decode(text)?;
        let is = |key: &str, value: &str| state.get(key).and_then(Value::as_str) == Some(value);
        let foreign = |reason| Err(Error::InvalidContinuation { reason });
        if !is("type", self.kind) {
            return foreign("it belongs to an answer of another kind");
        }
        if !is("index", &self.index) {
            return foreign("it belongs to another file");
        }
        if !is("q", &self.question) {
            return foreign("it belongs to another question, or to other options");
        }
        let Some(generation) = state.get("gen").and_then(Value::as_u64) else {
            return foreign("it is malformed");
        };
        if generation != self.generation {
            return Err(Error::ContinuationStale);
        }
        match state.get("offset").and_then(Value::as_u64) {
            Some(offset) if offset > 0 => Ok(offset),
            _ => foreign("it is malformed"),
        }
    }

    /// The continuation of an answer given up to `offset`.
    fn continuation(&self, offset: u64, note: Option<&str>) -> String {
        let mut state = json!({
            "v": VERSION,
            "type": self.kind,
            "index": self.index,
            "gen": self.generation,
            "q": self.question,
            "offset": offset,
        });
        if let (Some(note), Value::Object(state)) = (note, &mut state) {
            state.insert("note".to_owned(), note.into());
        }
        URL_SAFE_NO_PAD.encode(state.to_string())
    }

    /// The error for an offset that no answer gave.
    pub(crate) fn out_of_range() -> Error {
        Error::InvalidContinuation {
            reason: "it points beyond the end of the answer",
        }
    }
}

/// The note in a continuation, as the caller of the first page gave it, or as anybody forged it.
///
/// # Errors
/// [`Error::InvalidContinuation`] when it is malformed.
pub fn note(continuation: &str) -> Result<Option<String>> {
    let state = decode(continuation)?;
    Ok(state.get("note").and_then(Value::as_str).map(str::to_owned))
}

fn decode(text: &str) -> Result<Map<String, Value>> {
    let malformed = || Error::InvalidContinuation {
        reason: "it is malformed",
    };
    if text.len() > CONTINUATION_LIMIT_BYTES {
        return Err(malformed());
    }
    let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| malformed())?;
    match serde_json::from_slice(&bytes) {
        Ok(Value::Object(state)) if state.get("v").and_then(Value::as_u64) == Some(VERSION) => {
            Ok(state)
        }
        _ => Err(malformed()),
    }
}

fn short(hasher: &blake3::Hasher) -> String {
    let hash = hasher.finalize();
    crate::types::hex(hash.as_bytes().first_chunk::<16>().unwrap_or(&[0; 16]))
}

/// 53 bits, which every JSON reader keeps.
fn number(hasher: &blake3::Hasher) -> u64 {
    let hash = hasher.finalize();
    let first = hash.as_bytes().first_chunk::<8>().unwrap_or(&[0; 8]);
    u64::from_le_bytes(*first) >> 11
}

/// Fills one part of an answer, item by item.
#[derive(Debug)]
pub(crate) struct Budget {
    /// The most that fits.
    max_tokens: Option<u64>,
    /// Bytes so far that count as tokens.
    bytes: u64,
    /// Bytes of memory so far.
    held_bytes: u64,
    /// The most that may be held.
    most_held_bytes: u64,
    /// Whether an item was refused because the answer would hold more than that.
    is_full: bool,
    /// Items so far.
    items: u64,
    /// For the continuation.
    note: Option<String>,
}

impl Budget {
    /// For a list of names or records.
    pub(crate) fn of_list(page: &Page) -> Budget {
        Budget {
            most_held_bytes: u64::MAX,
            ..Budget::of_texts(page)
        }
    }

    /// For an answer with texts, which ends at [`ANSWER_LIMIT_BYTES`].
    pub(crate) fn of_texts(page: &Page) -> Budget {
        Budget {
            max_tokens: page.max_tokens.map(u64::from),
            bytes: 0,
            held_bytes: 0,
            most_held_bytes: ANSWER_LIMIT_BYTES,
            is_full: false,
            items: 0,
            note: page.note.clone(),
        }
    }

    /// Takes an item of that many bytes, if it fits or is the first.
    pub(crate) fn take(&mut self, bytes: u64) -> bool {
        self.take_holding(bytes, bytes)
    }

    /// Takes an item that counts as `bytes` bytes and holds `held_bytes` bytes of memory, if it fits or
    /// is the first.
    pub(crate) fn take_holding(&mut self, bytes: u64, held_bytes: u64) -> bool {
        let with = self.bytes.saturating_add(bytes);
        if self.items > 0 && self.max_tokens.is_some_and(|max| tokens(with) > max) {
            return false;
        }
        let held = self.held_bytes.saturating_add(held_bytes);
        if self.items > 0 && held > self.most_held_bytes {
            self.is_full = true;
            return false;
        }
        (self.bytes, self.held_bytes) = (with, held);
        self.items += 1;
        true
    }

    /// Whether the answer ends because of [`ANSWER_LIMIT_BYTES`].
    pub(crate) fn is_full(&self) -> bool {
        self.is_full
    }

    /// Bytes that may still be taken; the whole budget where nothing was taken yet.
    pub(crate) fn left_bytes(&self) -> u64 {
        let wanted = self.max_tokens.map_or(u64::MAX, |max| {
            (max * TOKEN_BYTES).saturating_sub(self.bytes)
        });
        wanted.min(self.most_held_bytes.saturating_sub(self.held_bytes))
    }

    /// What to tell; `next` is where the answer goes on, if it does.
    pub(crate) fn paging(&self, origin: &Origin, next: Option<u64>) -> Paging {
        let tokens = tokens(self.bytes);
        Paging {
            tokens,
            over_budget: self.max_tokens.is_some_and(|max| tokens > max),
            continuation: next.map(|offset| origin.continuation(offset, self.note.as_deref())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn origin(generation: u64, question: &str) -> Origin {
        Origin::new("search", &[([7; 16], generation)], [question])
    }

    fn page(continuation: String) -> Page {
        Page {
            continuation: Some(continuation),
            ..Page::default()
        }
    }

    fn at_most(tokens: u32) -> Page {
        Page {
            max_tokens: Some(tokens),
            ..Page::default()
        }
    }

    #[test]
    fn a_continuation_leads_back_to_its_question_and_to_no_other() {
        let here = origin(3, "walrus");
        let given = page(here.continuation(12, None));
        assert_eq!(here.start(&given).unwrap(), 12);
        assert_eq!(here.start(&Page::default()).unwrap(), 0);
        let code = |origin: Origin| origin.start(&given).unwrap_err().code();
        assert_eq!(code(origin(3, "seal")), "INVALID_CONTINUATION_TOKEN");
        assert_eq!(code(origin(4, "walrus")), "CONTINUATION_STALE");
        let other_file = Origin::new("search", &[([8; 16], 3)], ["walrus"]);
        assert_eq!(code(other_file), "INVALID_CONTINUATION_TOKEN");
        let other_kind = Origin::new("list", &[([7; 16], 3)], ["walrus"]);
        assert_eq!(code(other_kind), "INVALID_CONTINUATION_TOKEN");
    }

    #[test]
    fn several_files_have_an_identity_of_their_own() {
        let files = [([1; 16], 5), ([2; 16], 6)];
        let both = Origin::new("search", &files, ["walrus"]);
        let given = page(both.continuation(1, None));
        assert_eq!(both.start(&given).unwrap(), 1);
        let changed = [([1; 16], 5), ([2; 16], 7)];
        let changed = Origin::new("search", &changed, ["walrus"]);
        let error = changed.start(&given).unwrap_err();
        assert_eq!(error.code(), "CONTINUATION_STALE");
        let swapped = [files[1], files[0]];
        let swapped = Origin::new("search", &swapped, ["walrus"]);
        let error = swapped.start(&given).unwrap_err();
        assert_eq!(error.code(), "INVALID_CONTINUATION_TOKEN");
    }

    #[test]
    fn the_parts_of_a_question_do_not_run_into_each_other() {
        let ab = Origin::new("search", &[([7; 16], 3)], ["a", "b"]);
        let joined = Origin::new("search", &[([7; 16], 3)], ["ab", ""]);
        assert_ne!(ab.question, joined.question);
    }

    #[test]
    fn one_item_always_fits() {
        let mut budget = Budget::of_texts(&at_most(10));
        assert!(budget.take(100));
        assert!(!budget.take(1));
        let paging = budget.paging(&origin(1, "q"), Some(1));
        assert!(paging.over_budget && paging.continuation.is_some());
        assert_eq!(paging.tokens, 25);
        let mut budget = Budget::of_texts(&at_most(10));
        assert!(budget.take(37) && budget.take(3) && !budget.take(1));
        assert!(!budget.paging(&origin(1, "q"), None).over_budget);
    }

    #[test]
    fn no_answer_holds_more_than_its_limit_but_for_its_first_item() {
        let mut budget = Budget::of_texts(&Page::default());
        assert_eq!(budget.left_bytes(), ANSWER_LIMIT_BYTES);
        assert!(budget.take(ANSWER_LIMIT_BYTES - 1) && budget.take(1));
        assert!(!budget.is_full() && !budget.take(1) && budget.is_full());
        assert_eq!(budget.left_bytes(), 0);
        let mut budget = Budget::of_texts(&at_most(TOKENS_LIMIT));
        assert!(budget.take_holding(1, u64::MAX) && !budget.take_holding(1, 1));
        assert!(budget.is_full());
        let mut budget = Budget::of_texts(&at_most(1));
        assert!(budget.take(4) && !budget.take(1) && !budget.is_full());
        let mut list = Budget::of_list(&Page::default());
        assert!(list.take(ANSWER_LIMIT_BYTES) && list.take(ANSWER_LIMIT_BYTES));
    }

    #[test]
    fn a_note_comes_back_and_has_a_limit() {
        let long = "\u{1}".repeat(NOTE_LIMIT_BYTES);
        for text in ["", "mode=title", &long] {
            let mut asked = at_most(1);
            asked.note = Some(text.to_owned());
            asked.validate().unwrap();
            let paging = Budget::of_texts(&asked).paging(&origin(3, "walrus"), Some(5));
            let continuation = paging.continuation.unwrap();
            assert_eq!(note(&continuation).unwrap().as_deref(), Some(text));
            assert_eq!(origin(3, "walrus").start(&page(continuation)).unwrap(), 5);
        }
        let mut asked = at_most(1);
        asked.note = Some(long + "x");
        assert_eq!(asked.validate().unwrap_err().code(), "INVALID_ARGUMENT");
    }

    proptest! {
        #[test]
        fn anything_sent_as_a_continuation_is_refused_in_words(
            text in "\\PC{0,60}",
            state in proptest::collection::vec(any::<u8>(), 0..80),
            offset in any::<u64>(),
        ) {
            let here = origin(3, "walrus");
            let forged = json!({"v": 1, "type": "search", "index": here.index, "gen": 3, "q": "x", "offset": offset});
            for token in [text, URL_SAFE_NO_PAD.encode(&state), URL_SAFE_NO_PAD.encode(forged.to_string())] {
                let error = here.start(&page(token)).unwrap_err();
                prop_assert_eq!(error.code(), "INVALID_CONTINUATION_TOKEN");
            }
        }
    }
}
