//! The symbols of a document as they are read: without copies of the texts of each.

use std::ops::Range;

use kb_types::error::Result;
use kb_types::syntax::nesting::{SymbolList, holders};
use kb_types::syntax::{SymbolRef, SymbolSpans};
use kb_types::{Symbol, SymbolKind};

use crate::store::documents::symbols::fields::damaged;

/// The symbols of a document, in the order in which they begin.
#[derive(Debug, Default)]
pub struct StoredSymbols {
    /// The names of all in their order; there may be a byte between two.
    names: String,
    /// Kind and keyword, by number.
    labels: Vec<(SymbolKind, String)>,
    entries: Vec<Entry>,
}

/// A symbol whose label and name are there.
#[derive(Debug)]
struct Entry {
    /// Number of its label.
    label: u32,
    /// Bytes of `names`.
    name_start: u32,
    name_end: u32,
    spans: SymbolSpans,
}

impl StoredSymbols {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Bytes that they take in memory.
    pub fn len_bytes(&self) -> usize {
        self.names.len() + size_of_val(&*self.entries)
    }

    /// All of them.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = SymbolRef<'_>> + ExactSizeIterator {
        self.entries.iter().map(|entry| self.symbol_of(entry))
    }

    /// All of them, each with texts of its own.
    pub fn to_symbols(&self) -> Vec<Symbol> {
        self.iter().map(|symbol| symbol.to_symbol()).collect()
    }

    fn symbol_of(&self, entry: &Entry) -> SymbolRef<'_> {
        // The builder has checked both.
        let name = self
            .names
            .get(entry.name_start as usize..entry.name_end as usize);
        let label = self.labels.get(entry.label as usize);
        let (kind, keyword) = label.map_or((SymbolKind::Function, ""), |(kind, keyword)| {
            (*kind, keyword)
        });
        SymbolRef {
            kind,
            name: name.unwrap_or_default(),
            keyword,
            spans: entry.spans,
        }
    }
}

impl StoredSymbols {
    /// Appends the symbols of a group, whose list begins with copies of those that hold its first one.
    ///
    /// # Errors
    /// [`kb_types::error::Error::Damaged`] where those do not hold the last symbol so far, or are not the same.
    pub(super) fn append(&mut self, group: &StoredSymbols, copies: usize) -> Result<()> {
        let mut holders: Vec<usize> = match self.len().checked_sub(1) {
            Some(last) => holders(self, last).collect(),
            None => Vec::new(),
        };
        holders.reverse();
        let holders = holders.get(..copies);
        let holders = holders.ok_or_else(|| damaged("has a group of other symbols"))?;
        let is_copied = |(at, holder): (usize, &usize)| {
            let (copy, symbol) = (group.symbol_at(at), self.symbol_at(*holder));
            copy.zip(symbol).is_some_and(|(copy, symbol)| {
                let parent = copy.spans.parent.map(|parent| parent as usize);
                let mut copy = copy;
                copy.spans.parent = symbol.spans.parent;
                copy == symbol && parent == at.checked_sub(1)
            })
        };
        if !holders.iter().enumerate().all(is_copied) {
            return Err(damaged("has a group of other symbols"));
        }
        let too_many = |_| damaged("has more symbols than can be numbered");
        let of_holders = holders.iter().map(|at| u32::try_from(*at));
        let of_holders = of_holders.collect::<std::result::Result<Vec<u32>, _>>();
        let of_holders = of_holders.map_err(too_many)?;
        let first = u32::try_from(self.len()).map_err(too_many)?;
        let names = u32::try_from(self.names.len()).map_err(too_many)?;
        self.names.push_str(&group.names);
        u32::try_from(self.names.len()).map_err(too_many)?;
        // Of a label that both have there are two then: to look for each would take a file of nothing but labels days.
        let labels = u32::try_from(self.labels.len()).map_err(too_many)?;
        self.labels.extend_from_slice(&group.labels);
        let entries = group.entries.get(copies..).unwrap_or_default();
        self.entries.reserve(entries.len());
        for entry in entries {
            let parent = entry.spans.parent.map(|parent| {
                let own = (parent as usize).checked_sub(copies);
                match of_holders.get(parent as usize) {
                    Some(holder) => *holder,
                    None => first.saturating_add(own.map_or(0, |own| own as u32)),
                }
            });
            self.entries.push(Entry {
                label: entry.label.saturating_add(labels),
                name_start: entry.name_start.saturating_add(names),
                name_end: entry.name_end.saturating_add(names),
                spans: SymbolSpans {
                    parent,
                    ..entry.spans
                },
            });
        }
        Ok(())
    }
}

impl SymbolList for StoredSymbols {
    fn symbol_at(&self, position: usize) -> Option<SymbolRef<'_>> {
        let entry = self.entries.get(position)?;
        Some(self.symbol_of(entry))
    }
}

/// Takes symbols in their order.
#[derive(Debug)]
pub(super) struct Builder {
    labels: Vec<(SymbolKind, String)>,
    entries: Vec<Entry>,
}

impl Builder {
    /// For `count` symbols with these labels. The caller has compared the count with the bytes that are left.
    pub(super) fn new(labels: Vec<(SymbolKind, String)>, count: usize) -> Builder {
        Builder {
            labels,
            entries: Vec::with_capacity(count),
        }
    }

    /// Takes the next symbol, whose `name` is there in the names.
    #[inline]
    pub(super) fn push(
        &mut self,
        label: u32,
        name: Range<usize>,
        spans: SymbolSpans,
    ) -> Result<()> {
        if label as usize >= self.labels.len() {
            return Err(damaged("has an unknown label"));
        }
        let end_early = |_| damaged("has names that end early");
        self.entries.push(Entry {
            label,
            name_start: u32::try_from(name.start).map_err(end_early)?,
            name_end: u32::try_from(name.end).map_err(end_early)?,
            spans,
        });
        Ok(())
    }

    /// Where a symbol that was taken lies.
    pub(super) fn spans_mut(&mut self, position: usize) -> Option<&mut SymbolSpans> {
        let entry = self.entries.get_mut(position)?;
        Some(&mut entry.spans)
    }

    /// The symbols, which have their names in `names`.
    pub(super) fn finish(self, names: Vec<u8>) -> Result<StoredSymbols> {
        let names =
            String::from_utf8(names).map_err(|_| damaged("has names that are not UTF-8"))?;
        let is_whole = |entry: &Entry| {
            names.is_char_boundary(entry.name_start as usize)
                && names.is_char_boundary(entry.name_end as usize)
        };
        if !self.entries.iter().all(is_whole) {
            return Err(damaged("has names that end early"));
        }
        Ok(StoredSymbols {
            names,
            labels: self.labels,
            entries: self.entries,
        })
    }
}
