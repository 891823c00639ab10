//! What a part of a list of symbols leaves unsaid of the rest of it.

use std::ops::Range;

use kb_types::Span;
#[cfg(test)]
use kb_types::Symbol;

#[cfg(test)]
use crate::store::documents::symbols::groups;
use crate::store::documents::symbols::groups::{Group, Head};
#[cfg(test)]
use crate::store::documents::symbols::stored::StoredSymbols;

/// Where a part of the symbols of a document stands among them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// See [`below`](Excerpt::below).
    head: Head,
    /// From which byte of the text on it has what may be asked for; 0 where nothing is before it.
    from: u32,
    /// Where the last of the definitions before it ends.
    ended: u32,
    /// Where the first symbol behind it begins, with its comment.
    next: Option<u32>,
}

impl Excerpt {
    pub(super) fn new(groups: &[Group], numbers: Range<usize>, head: Head) -> Excerpt {
        let first = groups.get(numbers.start).filter(|_| numbers.start > 0);
        Excerpt {
            head,
            from: first.map_or(0, |group| group.start),
            ended: first.map_or(0, |group| group.ended),
            next: groups.get(numbers.end).map(|group| group.start),
        }
    }

    /// Whether it has all symbols that a byte of `span` can belong to.
    pub fn covers(&self, span: Span) -> bool {
        self.from <= span.start && self.next.is_none_or(|next| span.end <= next)
    }

    /// How many sections there are before it at the top and directly under each of the symbols that hold the first
    /// one and stand at its start: one number more than there are. That of the level of such a one is its own number.
    pub fn below(&self) -> &[u32] {
        &self.head.below
    }

    /// Whether the path of the symbol at a position does not tell it from other sections.
    pub fn is_ambiguous(&self, position: usize) -> bool {
        self.head.ambiguous.get(position).copied().unwrap_or(true)
    }

    /// Where the last of the definitions before it ends; 0 where nothing is before it.
    pub fn ended(&self) -> u32 {
        self.ended
    }

    /// Where the first symbol behind it begins, with its comment.
    pub fn next(&self) -> Option<u32> {
        self.next
    }
}

/// These symbols as they are read around a span, in groups of so many; `None` where they are not divided.
#[cfg(test)]
pub(crate) fn excerpts_of(
    symbols: &[Symbol],
    size: usize,
) -> Option<impl Fn(Span) -> (StoredSymbols, Excerpt)> {
    let new = groups::divide(symbols, std::iter::repeat(size))?;
    let bodies: Vec<Vec<u8>> = new.iter().map(|group| group.body(symbols)).collect();
    let stored = groups::groups(groups::row(0, &new).get(1..).unwrap()).unwrap();
    Some(move |span: Span| {
        let numbers = groups::around(&stored, span);
        let mut list = groups::List::default();
        for number in numbers.clone() {
            let group = &stored[number];
            let (head, symbols) = groups::decode(&bodies[number], group.symbols).unwrap();
            list.push((number, group), head, symbols).unwrap();
        }
        let (head, symbols) = list.finish().unwrap();
        (symbols, Excerpt::new(&stored, numbers, head))
    })
}
