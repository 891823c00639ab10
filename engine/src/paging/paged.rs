//! [`Paged`]: the items of a list that one call returns.

use std::ops::Deref;

use crate::error::Result;
use crate::paging::budget::Budget;
use crate::paging::cursor::{Cursor, CursorScope};

/// The items of a list that one call returns, and where the list continues. It dereferences to a
/// slice and iterates over its items.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Paged<T> {
    /// The items, in the order of the list.
    pub items: Vec<T>,
    /// What they count as: tokens of 4 bytes of UTF-8.
    pub tokens: u64,
    /// Whether the first item alone is larger than [`PageOptions::max_tokens`](crate::PageOptions).
    pub over_budget: bool,
    /// Continues the list when passed in [`PageOptions::cursor`](crate::PageOptions); `None`: the
    /// list ends here.
    pub next: Option<Cursor>,
}

impl<T> Default for Paged<T> {
    fn default() -> Paged<T> {
        Paged {
            items: Vec::new(),
            tokens: 0,
            over_budget: false,
            next: None,
        }
    }
}

impl<T> Deref for Paged<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.items
    }
}

impl<T> IntoIterator for Paged<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

impl<'p, T> IntoIterator for &'p Paged<T> {
    type Item = &'p T;
    type IntoIter = std::slice::Iter<'p, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
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

/// The items of a list from offset `start` on.
pub(crate) fn skip<I: IntoIterator>(items: I, start: u64) -> impl Iterator<Item = I::Item> {
    items
        .into_iter()
        .skip(usize::try_from(start).unwrap_or(usize::MAX))
}
