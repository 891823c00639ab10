//! The row of version 3: a long list of symbols in groups, each of which can be read alone.
//!
//! ```text
//! row    = version (3), groups as varint, for each: symbols as varint, start as varint distance from that of the
//!          group before (of the first: from 0), end so far as zigzag distance from the start
//! group  = version (1), form, bytes of the body as varint, body; a row of its own
//! body   = holders as varint, holders + 1 varints: how many sections there are so far at the top and directly under
//!          each holder; a bit for each symbol of the list, low bits first: its path does not tell it from others;
//!          then the list as a body of version 2: the holders, outermost first, then the symbols of the group
//! ```
//! The holders of a group are those that hold its first symbol, which other groups have. The start is the first byte
//! of the first symbol with its comment, the end so far the last of all definitions of the groups before.

use std::ops::Range;

use kb_types::error::Result;
use kb_types::syntax::nesting::SymbolList;
use kb_types::syntax::paths::ambiguous_paths;
use kb_types::{Span, Symbol};

#[cfg(feature = "ingest")]
use crate::store::documents::symbols::fields::put_varint;
use crate::store::documents::symbols::fields::{damaged, take_number};
#[cfg(any(feature = "ingest", test))]
use crate::store::documents::symbols::nested::zigzag;
use crate::store::documents::symbols::nested::{self, plus};
use crate::store::documents::symbols::stored::StoredSymbols;

/// Most symbols that hold a symbol in a list with groups.
// Levels of sections are a u8, and deeper ones all count as the last level.
const MAX_HOLDERS: usize = 254;

/// Least bytes of a group in a row: three varints.
// Bounds the number of groups that a row of a hostile file can claim.
const MIN_GROUP_BYTES: usize = 3;

/// What a row says of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Group {
    /// How many symbols it has, without holders.
    pub(super) symbols: u32,
    /// First byte of its first symbol with its comment.
    pub(super) start: u32,
    /// Where the last of the definitions of the groups before ends; 0 of the first.
    pub(super) ended: u32,
}

/// What a group says beside its symbols.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Head {
    /// How many sections there are before its first symbol at the top and directly under each holder: one number more
    /// than there are holders. That of the level of a holder is its own number.
    pub(super) below: Vec<u32>,
    /// Of each holder and symbol whether its path does not tell it from other sections.
    pub(super) ambiguous: Vec<bool>,
}

impl Head {
    /// How many symbols of other groups hold the first one.
    pub(super) fn holders(&self) -> usize {
        self.below.len().saturating_sub(1)
    }
}

/// A group that is to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NewGroup {
    pub(super) group: Group,
    pub(super) head: Head,
    /// Positions of the symbols that hold the first one, outermost first.
    holders: Vec<u32>,
    /// Positions of its symbols.
    symbols: Range<usize>,
}

/// The groups of a list of symbols, which are as [`fault`](kb_types::syntax::nesting::fault) wants them, with so
/// many symbols each. `None` where they cannot be read apart: with comments they do not ascend, or one begins before the
/// name of another that does not hold it; they are nested too deeply, or their paths are too long to compare.
pub(super) fn divide(
    symbols: &[Symbol],
    sizes: impl IntoIterator<Item = usize>,
) -> Option<Vec<NewGroup>> {
    if symbols.is_empty() || !symbols.is_sorted_by_key(Symbol::start_with_doc) {
        return None;
    }
    let ambiguous = ambiguous_paths(symbols)?;
    let is_ambiguous = |position: usize| ambiguous.get(position).copied().unwrap_or(false);
    let mut sizes = sizes.into_iter();
    let mut groups: Vec<NewGroup> = Vec::new();
    let (mut open, mut below, mut ended): (Vec<u32>, _, _) = (Vec::new(), vec![0u32], 0);
    // Behind the last name of those that hold no further symbol.
    let mut named = 0;
    let mut next = 0;
    for (position, symbol) in symbols.iter().enumerate() {
        while open.last().copied() != symbol.parent
            && let Some(closed) = open.pop()
        {
            below.pop();
            let closed = symbols.get(closed as usize);
            named = closed.map_or(named, |it| named.max(it.name_start.saturating_add(1)));
        }
        if open.len() > MAX_HOLDERS {
            return None;
        }
        if position == next {
            if named > symbol.start_with_doc() {
                return None;
            }
            next = position.saturating_add(sizes.next()?).min(symbols.len());
            let members = position..next;
            let of_holders = open.iter().map(|at| is_ambiguous(*at as usize));
            groups.push(NewGroup {
                group: Group {
                    symbols: u32::try_from(members.len()).ok()?,
                    start: symbol.start_with_doc(),
                    ended,
                },
                head: Head {
                    below: below.clone(),
                    ambiguous: of_holders
                        .chain(members.clone().map(is_ambiguous))
                        .collect(),
                },
                holders: open.clone(),
                symbols: members,
            });
        }
        if let Some(count) = below.last_mut()
            && symbol.kind.is_section()
        {
            *count += 1;
        }
        open.push(u32::try_from(position).ok()?);
        below.push(0);
        ended = ended.max(symbol.span.end);
    }
    Some(groups)
}

impl NewGroup {
    /// Its body, with `symbols` as all of the list.
    #[cfg(feature = "ingest")]
    pub(super) fn body(&self, symbols: &[Symbol]) -> Vec<u8> {
        let mut body = Vec::new();
        put_varint(&mut body, self.holders.len() as u64);
        for count in &self.head.below {
            put_varint(&mut body, u64::from(*count));
        }
        for eight in self.head.ambiguous.chunks(8) {
            let bits = eight.iter().enumerate();
            body.push(bits.fold(0, |byte, (at, bit)| byte | u8::from(*bit) << at));
        }
        body.extend_from_slice(&nested::encode(&self.list(symbols)));
        body
    }

    /// The holders and the symbols, with their parents among them.
    #[cfg(feature = "ingest")]
    fn list(&self, symbols: &[Symbol]) -> Vec<Symbol> {
        let holders = self.holders.iter().map(|at| *at as usize);
        let all = holders.chain(self.symbols.clone());
        let mut list: Vec<Symbol> = all.filter_map(|at| symbols.get(at).cloned()).collect();
        let first = u32::try_from(self.symbols.start).unwrap_or(u32::MAX);
        let count = u32::try_from(self.holders.len()).unwrap_or(u32::MAX);
        for symbol in &mut list {
            symbol.parent = symbol
                .parent
                .and_then(|parent| match parent.checked_sub(first) {
                    Some(at) => at.checked_add(count),
                    // Of those before it, only holders are parents of its symbols.
                    None => self.holders.binary_search(&parent).ok()?.try_into().ok(),
                });
        }
        list
    }
}

/// The row that says where the groups are.
#[cfg(feature = "ingest")]
pub(super) fn row(version: u8, groups: &[NewGroup]) -> Vec<u8> {
    let mut row = vec![version];
    put_varint(&mut row, groups.len() as u64);
    let mut before = 0;
    for NewGroup { group, .. } in groups {
        put_varint(&mut row, u64::from(group.symbols));
        put_varint(&mut row, u64::from(group.start.saturating_sub(before)));
        put_varint(&mut row, u64::from(zigzag(group.start, group.ended)));
        before = group.start;
    }
    row
}

/// The groups of a row, without its version.
///
/// # Errors
/// [`kb_types::error::Error::Damaged`] where they have no symbols, or more than can be numbered, or go on beyond any text.
pub(super) fn groups(mut rest: &[u8]) -> Result<Vec<Group>> {
    let count = take_number(&mut rest)? as usize;
    if count.saturating_mul(MIN_GROUP_BYTES) > rest.len() {
        return Err(damaged("is cut off"));
    }
    let mut groups = Vec::with_capacity(count);
    let (mut start, mut total) = (0u32, 0u32);
    for _ in 0..count {
        let symbols = take_number(&mut rest)?;
        if symbols == 0 {
            return Err(damaged("has a group without symbols"));
        }
        let number = total.checked_add(symbols);
        total = number.ok_or_else(|| damaged("has more symbols than can be numbered"))?;
        let next = start.checked_add(take_number(&mut rest)?);
        start = next.ok_or_else(|| damaged("has a symbol beyond any text"))?;
        let ended = plus(start, take_number(&mut rest)?);
        groups.push(Group {
            symbols,
            start,
            ended,
        });
    }
    if rest.is_empty() && count > 0 {
        Ok(groups)
    } else {
        Err(damaged("goes on behind its groups"))
    }
}

/// The groups with all symbols that have a byte of `span`, or are the last before its first byte.
pub(super) fn around(groups: &[Group], span: Span) -> Range<usize> {
    let first = groups.partition_point(|group| group.start <= span.start);
    let first = first.saturating_sub(1);
    let end = groups.partition_point(|group| group.start < span.end);
    first..end.max(first + 1).min(groups.len())
}

/// Takes consecutive groups.
#[derive(Debug, Default)]
pub(super) struct List {
    /// What the first group says of places, and each of its symbols; the symbols behind those that hold the first.
    list: Option<(Head, StoredSymbols)>,
}

impl List {
    /// Takes the group with that number, of which the row says the first.
    ///
    /// # Errors
    /// [`kb_types::error::Error::Damaged`] where it does not stand there, or does not begin with what holds its first
    /// symbol.
    pub(super) fn push(
        &mut self,
        (number, group): (usize, &Group),
        head: Head,
        symbols: StoredSymbols,
    ) -> Result<()> {
        let holders = head.holders();
        let position_of = |parent: Option<u32>| parent.map(|parent| parent as usize);
        let chain = symbols.iter().take(holders).enumerate();
        let is_nested = chain.fold(true, |is_nested, (at, holder)| {
            is_nested && position_of(holder.spans.parent) == at.checked_sub(1)
        });
        let first = symbols.symbol_at(holders).map(|symbol| symbol.spans);
        let is_in_place = first.is_some_and(|spans| {
            spans.start_with_doc() == group.start
                && position_of(spans.parent) == holders.checked_sub(1)
        });
        if !is_nested || !is_in_place || (number == 0 && holders > 0) {
            return Err(damaged("has a group of other symbols"));
        }
        match &mut self.list {
            Some((all, list)) => {
                list.append(&symbols, holders)?;
                all.ambiguous.extend(head.ambiguous.iter().skip(holders));
            }
            None => self.list = Some((head, symbols)),
        }
        Ok(())
    }

    /// What the first group says of places, and each of its symbols; the symbols behind those that hold the first.
    /// `None` without a group.
    pub(super) fn finish(self) -> Option<(Head, StoredSymbols)> {
        self.list
    }
}

/// Head and list of a body. The list has the holders before the symbols; whether it suits the group before is not
/// looked at.
///
/// # Errors
/// [`kb_types::error::Error::Damaged`].
pub(super) fn decode(mut rest: &[u8], symbols: u32) -> Result<(Head, StoredSymbols)> {
    let holders = take_number(&mut rest)? as usize;
    if holders > MAX_HOLDERS {
        return Err(damaged("is nested too deeply"));
    }
    let below = (0..=holders).map(|_| take_number(&mut rest));
    let below = below.collect::<Result<Vec<u32>>>()?;
    let listed = (symbols as usize).saturating_add(holders);
    let (bits, rest) = rest
        .split_at_checked(listed.div_ceil(8))
        .ok_or_else(|| damaged("is cut off"))?;
    let list = nested::decode(rest)?;
    if list.len() != listed {
        return Err(damaged("has a group of another length than it says"));
    }
    let bit = |at: usize| {
        bits.get(at / 8)
            .is_some_and(|byte| byte >> (at % 8) & 1 == 1)
    };
    let ambiguous = (0..listed).map(bit).collect();
    Ok((Head { below, ambiguous }, list))
}

#[cfg(test)]
mod tests;
