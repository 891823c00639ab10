//! [`Budget`]: decides, item by item, what still fits into one call's result.

use std::ops::Range;

use kb_types::error::Result;

use crate::paging::cursor::Cursor;
use crate::paging::options::PageOptions;
use crate::paging::paged::Paged;
use crate::paging::scope::CursorScope;
use crate::paging::{ANSWER_LIMIT_BYTES, TOKEN_BYTES, tokens};

/// What one result holds so far, and the most it may hold.
#[derive(Debug)]
pub(crate) struct Budget {
    /// The most tokens that fit; `None`: no limit.
    max_tokens: Option<u64>,
    /// Bytes so far that count as tokens.
    bytes: u64,
    /// Bytes of memory so far.
    held_bytes: u64,
    /// The most bytes of memory.
    max_held_bytes: u64,
    /// Whether an item was refused because of `max_held_bytes`.
    is_full: bool,
    /// Items so far.
    items: u64,
}

impl Budget {
    /// For a list of names or records.
    pub(crate) fn of_list(page: &PageOptions) -> Budget {
        Budget {
            max_held_bytes: u64::MAX,
            ..Budget::of_texts(page)
        }
    }

    /// For a result with texts, which ends at [`ANSWER_LIMIT_BYTES`].
    pub(crate) fn of_texts(page: &PageOptions) -> Budget {
        Budget {
            max_tokens: page.max_tokens.map(u64::from),
            bytes: 0,
            held_bytes: 0,
            max_held_bytes: ANSWER_LIMIT_BYTES,
            is_full: false,
            items: 0,
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
        // The first item is always taken: a result without any could not be continued.
        if self.items > 0 && self.max_tokens.is_some_and(|max| tokens(with) > max) {
            return false;
        }
        let held = self.held_bytes.saturating_add(held_bytes);
        if self.items > 0 && held > self.max_held_bytes {
            self.is_full = true;
            return false;
        }
        (self.bytes, self.held_bytes) = (with, held);
        self.items += 1;
        true
    }

    /// Whether the result ends because of [`ANSWER_LIMIT_BYTES`].
    pub(crate) fn is_full(&self) -> bool {
        self.is_full
    }

    /// Bytes that may still be taken; the whole budget where nothing was taken yet.
    pub(crate) fn left_bytes(&self) -> u64 {
        let wanted = self.max_tokens.map_or(u64::MAX, |max| {
            (max * TOKEN_BYTES).saturating_sub(self.bytes)
        });
        wanted.min(self.max_held_bytes.saturating_sub(self.held_bytes))
    }

    /// Tokens taken so far.
    pub(crate) fn tokens(&self) -> u64 {
        tokens(self.bytes)
    }

    /// Whether the first item alone went over the budget.
    pub(crate) fn is_over(&self) -> bool {
        self.max_tokens.is_some_and(|max| self.tokens() > max)
    }

    /// Bytes of text that the first item may have, of which names count as `names_bytes` bytes: at least a quarter
    /// of the budget, and one.
    fn text_room(&self, names_bytes: u64) -> u64 {
        let room = |max: u64| {
            let bytes = max.saturating_mul(TOKEN_BYTES);
            // A quarter, lest a long title leave no room for text and every page bring a few
            // characters.
            bytes.saturating_sub(names_bytes).max(bytes / 4).max(1)
        };
        self.max_tokens.map_or(u64::MAX, room)
    }

    /// The cursor of a result that continues at `next`.
    pub(crate) fn cursor(&self, scope: &CursorScope, next: Option<u64>) -> Option<Cursor> {
        next.map(|offset| scope.cursor(offset))
    }

    /// The items that were taken; the result continues at `next`, if it does.
    pub(crate) fn paged<T>(
        self,
        items: Vec<T>,
        scope: &CursorScope,
        next: Option<u64>,
    ) -> Paged<T> {
        Paged {
            items,
            tokens: self.tokens(),
            over_budget: self.is_over(),
            is_divided: false,
            next: self.cursor(scope, next),
        }
    }
}

/// Takes items while they fit. `items` begin at offset `start` of the list ([`skip`]); `cost` is in
/// bytes.
///
/// # Errors
/// [`Error::InvalidCursor`](crate::Error::InvalidCursor) when `start` is beyond the end; what an item
/// fails with.
pub(crate) fn fill<T>(
    scope: &CursorScope,
    mut budget: Budget,
    start: u64,
    items: impl Iterator<Item = Result<T>>,
    cost: impl Fn(&T) -> u64,
) -> Result<Paged<T>> {
    let mut taken = Vec::new();
    for item in items {
        let item = item?;
        if !budget.take(cost(&item)) {
            let next = start.saturating_add(taken.len() as u64);
            return Ok(budget.paged(taken, scope, Some(next)));
        }
        taken.push(item);
    }
    if start > 0 && taken.is_empty() {
        return Err(CursorScope::out_of_range());
    }
    Ok(budget.paged(taken, scope, None))
}

/// Where a list of texts continues, which may be within one of them. In a cursor the number of the item is the
/// upper half of the offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TextPosition {
    /// Number of the item, from 0.
    pub(crate) item: u64,
    /// Bytes of its text before.
    byte: u32,
}

impl TextPosition {
    /// The position that the offset of a cursor stands for.
    pub(crate) fn of(offset: u64) -> TextPosition {
        TextPosition {
            // 32 bits are enough for a byte of a text, which has at most 4 GiB, and a list has
            // fewer than 2^32 items.
            item: offset >> u32::BITS,
            byte: u32::try_from(offset & u64::from(u32::MAX)).unwrap_or(u32::MAX),
        }
    }

    fn offset(self) -> u64 {
        self.item << u32::BITS | u64::from(self.byte)
    }
}

/// Longest first text, in bytes, that is returned whole whatever the budget is.
// A page, slide or chunk is read as one piece, and a cursor cannot point into it. 80,000 bytes are
// 20,000 tokens, the largest answer that agents take.
const WHOLE_TEXT_BYTES: usize = 80_000;

/// What [`fill_texts`] reads and changes of an item.
pub(crate) struct TextParts<T, K> {
    /// What may be cut, at any character; counts in bytes, 4 a token.
    pub(crate) text: fn(&T) -> &str,
    /// Bytes that its names count as.
    pub(crate) names_bytes: fn(&T) -> u64,
    /// Leaves these bytes of the text, which end at characters, and says which lines they are.
    pub(crate) keep: K,
}

/// As [`fill`], for items with a text. Where the first alone is over the budget and has more than
/// [`WHOLE_TEXT_BYTES`], it is cut after a line, or after a character of a long one, and the result continues in it.
/// `items` begin at item `start.item`.
///
/// # Errors
/// As [`fill`]; [`Error::InvalidCursor`](crate::Error::InvalidCursor) when `start` is not at a character of the
/// text.
pub(crate) fn fill_texts<T>(
    scope: &CursorScope,
    mut budget: Budget,
    start: TextPosition,
    items: impl Iterator<Item = Result<T>>,
    parts: &TextParts<T, impl Fn(&mut T, Range<usize>)>,
) -> Result<Paged<T>> {
    let mut taken = Vec::new();
    for item in items {
        let mut item = item?;
        let mut begin = 0;
        if taken.is_empty() && start.byte > 0 {
            begin = usize::try_from(start.byte).unwrap_or(usize::MAX);
            let text = (parts.text)(&item);
            if begin >= text.len() || !text.is_char_boundary(begin) {
                return Err(CursorScope::out_of_range());
            }
            let end = text.len();
            (parts.keep)(&mut item, begin..end);
        }
        let names = (parts.names_bytes)(&item);
        let text = (parts.text)(&item);
        let whole = text.len();
        if taken.is_empty() && begin.saturating_add(whole) > WHOLE_TEXT_BYTES {
            let kept = line_cut(text, budget.text_room(names));
            if kept < whole {
                (parts.keep)(&mut item, 0..kept);
                budget.take((kept as u64).saturating_add(names));
                let next = TextPosition {
                    item: start.item,
                    byte: u32::try_from(begin + kept).unwrap_or(u32::MAX),
                };
                let mut paged = budget.paged(vec![item], scope, Some(next.offset()));
                (paged.over_budget, paged.is_divided) = (true, true);
                return Ok(paged);
            }
        }
        if !budget.take((whole as u64).saturating_add(names)) {
            let next = TextPosition {
                item: start.item.saturating_add(taken.len() as u64),
                byte: 0,
            };
            return Ok(budget.paged(taken, scope, Some(next.offset())));
        }
        taken.push(item);
    }
    if start.offset() > 0 && taken.is_empty() {
        return Err(CursorScope::out_of_range());
    }
    Ok(budget.paged(taken, scope, None))
}

/// Where to cut a text so that at most `bytes` bytes are left: after the last line that fits, else after
/// the last character that fits, else after the first.
pub(crate) fn line_cut(text: &str, bytes: u64) -> usize {
    let Some(bytes) = usize::try_from(bytes)
        .ok()
        .filter(|bytes| *bytes < text.len())
    else {
        return text.len();
    };
    let fits = text
        .get(..text.floor_char_boundary(bytes))
        .unwrap_or_default();
    match fits.rfind('\n') {
        Some(end) => end + 1,
        None if fits.is_empty() => text.chars().next().map_or(0, char::len_utf8),
        None => fits.len(),
    }
}

/// The items of a list from offset `start` on.
pub(crate) fn skip<I: IntoIterator>(items: I, start: u64) -> impl Iterator<Item = I::Item> {
    items
        .into_iter()
        .skip(usize::try_from(start).unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paging::options::TOKENS_LIMIT;

    fn scope() -> CursorScope {
        CursorScope::new("search", &[([7; 16], 3)], ["walrus"])
    }

    fn at_most(tokens: u32) -> PageOptions {
        PageOptions::default().max_tokens(tokens)
    }

    #[test]
    fn one_item_always_fits() {
        let mut budget = Budget::of_texts(&at_most(10));
        assert!(budget.take(100));
        assert!(!budget.take(1));
        let paged = budget.paged(vec![()], &scope(), Some(1));
        assert!(paged.over_budget && paged.next.is_some());
        assert_eq!(paged.tokens, 25);
        let mut budget = Budget::of_texts(&at_most(10));
        assert!(budget.take(37) && budget.take(3) && !budget.take(1));
        assert!(!budget.is_over());
    }

    #[test]
    fn texts_end_at_their_limit_whatever_the_budget() {
        let mut budget = Budget::of_texts(&PageOptions::default());
        assert_eq!(budget.left_bytes(), ANSWER_LIMIT_BYTES);
        assert!(budget.take(ANSWER_LIMIT_BYTES - 1) && budget.take(1));
        assert!(!budget.is_full() && !budget.take(1) && budget.is_full());
        assert_eq!(budget.left_bytes(), 0);
        let mut budget = Budget::of_texts(&at_most(TOKENS_LIMIT));
        assert!(budget.take_holding(1, u64::MAX) && !budget.take_holding(1, 1));
        assert!(budget.is_full());
        let mut budget = Budget::of_texts(&at_most(1));
        assert!(budget.take(4) && !budget.take(1) && !budget.is_full());
        let mut list = Budget::of_list(&PageOptions::default());
        assert!(list.take(ANSWER_LIMIT_BYTES) && list.take(ANSWER_LIMIT_BYTES));
    }
}
