//! How a long result is split: token budgets and cursors, with no state kept between calls.
//!
//! A list is returned as [`Paged`]: the items that fit [`PageOptions::max_tokens`], and a [`Cursor`]
//! when more are left. The same call with that cursor returns the items that follow.

mod budget;
mod cursor;
mod list;
mod options;
mod paged;
mod scope;

pub(crate) use budget::{Budget, TextParts, TextPosition, fill, fill_texts, line_cut, skip};
pub use cursor::Cursor;
pub use list::ListScope;
pub use options::{PageOptions, TOKENS_LIMIT};
pub use paged::Paged;
pub(crate) use scope::CursorScope;

/// Bytes of UTF-8 that count as one token.
// A rule of thumb for English and code. No tokenizer is used: each model has another one, and a
// budget is approximate.
pub const TOKEN_BYTES: u64 = 4;

/// Most bytes of text that one call returns, whatever its budget: texts are compressed, and a hostile
/// file packs gigabytes of them into some hundred KB. Lists of names and records are bounded by the
/// size of the file.
pub const ANSWER_LIMIT_BYTES: u64 = 16 << 20;

/// Tokens that `bytes` bytes of UTF-8 count as.
pub(crate) fn tokens(bytes: u64) -> u64 {
    bytes.div_ceil(TOKEN_BYTES)
}
