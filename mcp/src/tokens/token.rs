//! A token without its secret.

use kb_engine::escape::is_hidden;

use super::secret::Hash;

/// Most tokens of one file.
pub const TOKENS_LIMIT: usize = 10;

/// Longest name of a token, in characters.
pub(super) const NAME_LIMIT: usize = 64;

/// A token as it is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenInfo {
    /// Its name, unique in the file.
    pub name: String,
    /// Whether it allows writes.
    pub may_write: bool,
    /// When it was created, in milliseconds since 1970.
    pub created_ms: i64,
    /// When it was last used, to the minute; `None` if never.
    pub last_used_ms: Option<i64>,
}

/// What a token allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    /// Name of the token.
    pub name: String,
    /// Whether it allows writes.
    pub may_write: bool,
    /// Identifies the token; another one may have its name later.
    pub(crate) hash: Hash,
}

/// Whether a token may have that name: 1 to 64 visible characters.
pub(super) fn is_name(name: &str) -> bool {
    let length = name.chars().count();
    (1..=NAME_LIMIT).contains(&length) && name.trim() == name && !name.chars().any(is_hidden)
}
