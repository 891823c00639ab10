//! [`PageOptions`]: what a caller asks of one call.

use kb_types::error::{Error, Result};

use crate::paging::cursor::Cursor;

/// Most tokens that a call may be limited to.
// Above the context of today's models. It keeps products of tokens and bytes far from overflow.
pub const TOKENS_LIMIT: u32 = 1_000_000;

/// How much of a result to return at once, and where to continue. The default is everything, from
/// the beginning.
///
/// ```
/// use kb_engine::PageOptions;
///
/// let page = PageOptions::default().max_tokens(2000);
/// assert_eq!(page.cursor, None);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PageOptions {
    /// Limits the result to this many tokens, 4 bytes of UTF-8 each, 1 to [`TOKENS_LIMIT`]. At least
    /// one item is returned, even when it alone is larger. `None`: no limit; but a result with texts
    /// ends at [`ANSWER_LIMIT_BYTES`](crate::ANSWER_LIMIT_BYTES) in any case, with a cursor.
    pub max_tokens: Option<u32>,
    /// Where to continue: the cursor of an earlier result of the same call with the same arguments.
    pub cursor: Option<Cursor>,
}

impl PageOptions {
    /// Limits the result to `max_tokens` tokens.
    #[must_use]
    pub fn max_tokens(mut self, max_tokens: u32) -> PageOptions {
        self.max_tokens = Some(max_tokens);
        self
    }

    /// Continues at `cursor`.
    #[must_use]
    pub fn cursor(mut self, cursor: Cursor) -> PageOptions {
        self.cursor = Some(cursor);
        self
    }

    /// # Errors
    /// [`Error::InvalidArgument`] when the budget is out of range.
    pub(crate) fn validate(&self) -> Result<()> {
        match self.max_tokens {
            Some(tokens) if tokens == 0 || tokens > TOKENS_LIMIT => Err(Error::InvalidArgument {
                argument: "max_tokens",
                reason: format!("{tokens} given; allowed are 1 to {TOKENS_LIMIT}"),
            }),
            _ => Ok(()),
        }
    }
}
