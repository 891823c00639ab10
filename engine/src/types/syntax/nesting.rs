//! How the symbols of a program lie within each other: which holds which, and the sections that they make.

use crate::types::{Heading, HeadingSymbol, Lines, Span, Symbol};

/// The positions of a symbol and of those that hold it, the innermost first.
pub fn holders(symbols: &[Symbol], position: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(position), |at| {
        let parent = symbols.get(*at)?.parent? as usize;
        // A list that was not checked could go round.
        (parent < *at).then_some(parent)
    })
}

/// Labels of a symbol and of those that hold it, the outermost first: `impl Foo > fn bar`. Linear in its depth.
pub fn hierarchy(symbols: &[Symbol], position: usize) -> String {
    let labels = holders(symbols, position).filter_map(|at| symbols.get(at).map(Symbol::label));
    let mut labels: Vec<String> = labels.collect();
    labels.reverse();
    labels.join(" > ")
}

/// The innermost symbol whose definition has a byte of the text. Takes the logarithm of the number of `symbols`,
/// which are as [`fault`] wants them, and the depth.
pub fn innermost(symbols: &[Symbol], byte: u32) -> Option<usize> {
    let begun = symbols.partition_point(|symbol| symbol.span.start <= byte);
    holders(symbols, begun.checked_sub(1)?).find(|at| {
        let symbol = symbols.get(*at);
        symbol.is_some_and(|symbol| byte < symbol.span.end)
    })
}

/// The sections of a program: each symbol with its comment is one, under that which holds it.
pub fn outline(symbols: &[Symbol]) -> Vec<Heading> {
    let mut levels: Vec<u8> = Vec::with_capacity(symbols.len());
    let mut headings = Vec::with_capacity(symbols.len());
    for symbol in symbols {
        let holder = symbol
            .parent
            .and_then(|at| levels.get(at as usize).copied());
        let level = holder.map_or(1, |level| level.saturating_add(1));
        levels.push(level);
        headings.push(Heading {
            level,
            title: symbol.label(),
            start: symbol.start_with_doc(),
            line: symbol.lines.first,
            symbol: Some(HeadingSymbol {
                kind: symbol.kind,
                end: symbol.span.end,
                last_line: symbol.lines.last,
                name_bytes: u32::try_from(symbol.name.len()).unwrap_or(u32::MAX),
            }),
        });
    }
    headings
}

/// What is wrong with the symbols of a text of `text_bytes`, in a few words. They stand in the order in which they
/// begin, those that hold others before them and around them.
pub fn fault(symbols: &[Symbol], text_bytes: u32) -> Option<&'static str> {
    let mut nesting = Nesting::default();
    let mut each = symbols.iter().enumerate();
    each.find_map(|(position, symbol)| {
        let fault = nesting.fault_of(symbol, text_bytes);
        nesting.push(position, symbol);
        fault
    })
}

/// Leaves out the symbols that have a [`fault`]; what they hold belongs to what holds them.
#[cfg(feature = "syntax")]
pub fn keep_nested(symbols: &mut Vec<Symbol>, text_bytes: u32) {
    if fault(symbols, text_bytes).is_none() {
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
        if nesting.fault_of(&symbol, text_bytes).is_some() {
            places.push(symbol.parent);
            continue;
        }
        nesting.push(kept.len(), &symbol);
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
    fn fault_of(&self, symbol: &Symbol, text_bytes: u32) -> Option<&'static str> {
        let holder = match symbol.parent {
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
        if symbol.name.trim().is_empty() || symbol.name.contains('\n') {
            return Some("a symbol has no name");
        }
        let name = Span {
            start: symbol.name_start,
            end: symbol.name_start,
        };
        if !is_inside(symbol.span, holder.unwrap_or(text))
            || !is_inside(symbol.head, symbol.span)
            || !is_inside(name, symbol.span)
            || !symbol.doc.is_none_or(|doc| is_inside(doc, text))
        {
            return Some("a symbol does not stand in its place");
        }
        let (before, lines_before) = self
            .open
            .last()
            .map_or((0, 1), |(_, span, lines)| (span.start, lines.first));
        let Lines { first, last } = symbol.lines;
        if symbol.span.start < before || first < lines_before || last < first {
            return Some("a symbol is out of order");
        }
        None
    }

    fn push(&mut self, position: usize, symbol: &Symbol) {
        let parent = symbol.parent.map(|parent| parent as usize);
        while let Some((last, ..)) = self.open.last()
            && Some(*last) != parent
        {
            self.open.pop();
        }
        self.open.push((position, symbol.span, symbol.lines));
    }
}
