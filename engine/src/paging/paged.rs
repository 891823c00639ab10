//! [`Paged`]: the items of a list that one call returns.

use std::ops::Deref;

use crate::paging::cursor::Cursor;

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
    /// Whether the only item is a part of one that is too long to be returned whole.
    pub is_divided: bool,
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
            is_divided: false,
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
