//! How the symbols of a program lie within each other: which holds which, and the sections that they make.

use crate::syntax::{SymbolRef, SymbolSpans};
use crate::{Heading, HeadingSymbol, Lines, Span, Symbol};

/// Symbols by their positions, however they are kept.
pub trait SymbolList {
    /// The symbol at a position; none behind the last.
    fn symbol_at(&self, position: usize) -> Option<SymbolRef<'_>>;
}

impl SymbolList for [Symbol] {
    fn symbol_at(&self, position: usize) -> Option<SymbolRef<'_>> {
        self.get(position).map(SymbolRef::from)
    }
}

/// The positions of a symbol and of those that hold it, the innermost first.
pub fn holders(
    symbols: &(impl SymbolList + ?Sized),
    position: usize,
) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(position), |at| {
        let parent = symbols.symbol_at(*at)?.spans.parent? as usize;
        // A list that was not checked could go round.
        (parent < *at).then_some(parent)
    })
}

/// Labels of a symbol and of those that hold it, the outermost first: `impl Foo > fn bar`. Linear in its depth.
pub fn hierarchy(symbols: &(impl SymbolList + ?Sized), position: usize) -> String {
    let held_by = holders(symbols, position);
    let labels = held_by.filter_map(|at| symbols.symbol_at(at).map(|symbol| symbol.label()));
    let mut labels: Vec<String> = labels.collect();
    labels.reverse();
    labels.join(" > ")
}

/// The innermost symbol that is a section and whose definition has a byte of the text. Takes the logarithm of the number
/// of `symbols`, which are as [`fault`] wants them, and the depth.
pub fn innermost(symbols: &[Symbol], byte: u32) -> Option<usize> {
    let begun = symbols.partition_point(|symbol| symbol.span.start <= byte);
    holders(symbols, begun.checked_sub(1)?).find(|at| {
        let symbol = symbols.get(*at);
        symbol.is_some_and(|symbol| byte < symbol.span.end && symbol.kind.is_section())
    })
}

/// The sections of a program: each symbol but a field is one with its comment, under that which holds it.
pub fn outline<'s>(symbols: impl IntoIterator<Item: Into<SymbolRef<'s>>>) -> Vec<Heading> {
    let symbols = symbols.into_iter();
    let mut headings: Vec<Heading> = Vec::with_capacity(symbols.size_hint().0);
    let mut levels = Levels::default();
    for symbol in symbols {
        let symbol: SymbolRef<'s> = symbol.into();
        let spans = symbol.spans;
        let level = levels.next(&symbol);
        if !symbol.kind.is_section() {
            continue;
        }
        headings.push(Heading {
            level,
            title: symbol.label(),
            start: spans.start_with_doc(),
            line: spans.lines.first,
            symbol: Some(HeadingSymbol {
                kind: symbol.kind,
                end: spans.span.end,
                last_line: spans.lines.last,
                name_bytes: u32::try_from(symbol.name.len()).unwrap_or(u32::MAX),
            }),
        });
    }
    headings
}

/// The levels of symbols as sections, in their order.
#[derive(Debug, Default)]
pub struct Levels {
    levels: Vec<u8>,
}

impl Levels {
    /// The level of the next symbol.
    pub fn next(&mut self, symbol: &SymbolRef<'_>) -> u8 {
        let parent = symbol.spans.parent;
        let parent = parent.and_then(|at| self.levels.get(at as usize));
        let level = level_below(parent.copied());
        self.levels.push(level);
        level
    }
}

/// The level of the section of a symbol, by that of the symbol that holds it. From 255 on all are the same.
pub fn level_below(parent: Option<u8>) -> u8 {
    // A function of the level alone is computed, and thrown away, where there is none: valgrind says so.
    parent.unwrap_or(0).saturating_add(1)
}

/// What is wrong with the symbols of a text of `text_bytes`, in a few words. They stand in the order in which they
/// begin, those that hold others before them and around them.
pub fn fault<'s>(
    symbols: impl IntoIterator<Item: Into<SymbolRef<'s>>>,
    text_bytes: u32,
) -> Option<&'static str> {
    let mut nesting = Nesting::default();
    let mut each = symbols.into_iter().enumerate();
    each.find_map(|(position, symbol)| {
        let symbol: SymbolRef<'s> = symbol.into();
        let fault = nesting.fault_of(&symbol, text_bytes);
        nesting.push(position, &symbol);
        fault
    })
}

/// Leaves out the symbols that have a [`fault`]; what they hold belongs to what holds them.
pub fn keep_nested(symbols: &mut Vec<Symbol>, text_bytes: u32) {
    if fault(symbols.iter(), text_bytes).is_none() {
        return;
    }
    let mut nesting = Nesting::default();
    let mut kept: Vec<Symbol> = Vec::with_capacity(symbols.len());
    // Where each went, or its holder where it was left out.
    let mut places: Vec<Option<u32>> = Vec::with_capacity(symbols.len());
    for mut symbol in std::mem::take(symbols) {
        let parent = symbol
            .parent
            .and_then(|at| places.get(at as usize).copied());
        symbol.parent = parent.flatten();
        let as_kept = SymbolRef::from(&symbol);
        if nesting.fault_of(&as_kept, text_bytes).is_some() {
            places.push(symbol.parent);
            continue;
        }
        nesting.push(kept.len(), &as_kept);
        places.push(u32::try_from(kept.len()).ok());
        kept.push(symbol);
    }
    *symbols = kept;
}

/// Follows symbols in their order.
#[derive(Debug, Default)]
struct Nesting {
    /// Position, bytes and lines of the last symbol and of those that hold it, the outermost first.
    open: Vec<(usize, Span, Lines)>,
}

impl Nesting {
    /// What is wrong with the next symbol.
    fn fault_of(&self, symbol: &SymbolRef<'_>, text_bytes: u32) -> Option<&'static str> {
        let spans = &symbol.spans;
        let holder = match spans.parent {
            None => None,
            Some(parent) => {
                let parent = parent as usize;
                let at = self.open.binary_search_by_key(&parent, |(at, ..)| *at);
                match at.ok().and_then(|at| self.open.get(at)) {
                    Some((_, span, _)) => Some(*span),
                    None => return Some("a symbol does not follow the one that holds it"),
                }
            }
        };
        let is_inside = |inner: Span, outer: Span| {
            outer.start <= inner.start && inner.start <= inner.end && inner.end <= outer.end
        };
        let text = Span {
            start: 0,
            end: text_bytes,
        };
        if !is_name(symbol.name) {
            return Some("a symbol has no name");
        }
        let name = Span {
            start: spans.name_start,
            end: spans.name_start,
        };
        if !is_inside(spans.span, holder.unwrap_or(text))
            || !is_inside(spans.head, spans.span)
            || !is_inside(name, spans.span)
            || !spans.doc.is_none_or(|doc| is_inside(doc, text))
        {
            return Some("a symbol does not stand in its place");
        }
        let (before, lines_before) = self
            .open
            .last()
            .map_or((0, 1), |(_, span, lines)| (span.start, lines.first));
        let Lines { first, last } = spans.lines;
        if spans.span.start < before || first < lines_before || last < first {
            return Some("a symbol is out of order");
        }
        None
    }

    fn push(&mut self, position: usize, symbol: &SymbolRef<'_>) {
        let SymbolSpans {
            parent,
            span,
            lines,
            ..
        } = symbol.spans;
        let parent = parent.map(|parent| parent as usize);
        while let Some((last, ..)) = self.open.last()
            && Some(*last) != parent
        {
            self.open.pop();
        }
        self.open.push((position, span, lines));
    }
}

/// Whether a symbol can be called that: it is not blank, and of one line.
#[inline]
fn is_name(name: &str) -> bool {
    // Nearly all names begin with a character that `trim` leaves, which is seen sooner so.
    let begins_visibly = name.starts_with(|first: char| first.is_ascii_graphic());
    let is_blank = !begins_visibly && name.trim().is_empty();
    // It looks at all bytes, several at a time.
    let is_of_lines = name
        .bytes()
        .fold(false, |found, byte| found | (byte == b'\n'));
    !is_blank && !is_of_lines
}
