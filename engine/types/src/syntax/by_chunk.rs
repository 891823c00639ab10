//! Which symbols each chunk of a program has.

use crate::syntax::nesting::innermost;
use crate::{Span, Symbol, SymbolKind};

/// Follows the chunks of a program in the order of its text.
#[derive(Debug)]
pub struct SymbolsByChunk<'s> {
    symbols: &'s [Symbol],
    /// Positions of the symbols in the order in which their names stand in the text.
    by_name: Vec<u32>,
    /// How many of them stand in chunks that were passed.
    passed: usize,
}

impl<'s> SymbolsByChunk<'s> {
    /// Before the first chunk. The symbols are as [`fault`](super::nesting::fault) wants them.
    pub fn new(symbols: &'s [Symbol]) -> SymbolsByChunk<'s> {
        let mut by_name: Vec<u32> = (0u32..).zip(symbols).map(|(at, _)| at).collect();
        // The name of a type may stand behind its body.
        by_name.sort_by_key(|at| symbols.get(*at as usize).map(|symbol| symbol.name_start));
        SymbolsByChunk {
            symbols,
            by_name,
            passed: 0,
        }
    }

    /// The symbols whose names begin in the next chunk.
    pub fn named_in(&mut self, chunk: Span) -> impl Iterator<Item = &'s Symbol> + use<'s, '_> {
        let symbols = self.symbols;
        let rest = self.by_name.get(self.passed..).unwrap_or_default();
        let here = rest.partition_point(|at| {
            let symbol = symbols.get(*at as usize);
            symbol.is_some_and(|symbol| symbol.name_start < chunk.end)
        });
        self.passed += here;
        let names = rest.iter().take(here);
        names.filter_map(move |at| symbols.get(*at as usize))
    }

    /// What the next chunk is, each kind once: the kinds of the symbols whose names begin in it, and of the innermost
    /// one that its first byte lies in.
    pub fn kinds_of(&mut self, chunk: Span) -> Vec<SymbolKind> {
        let around = innermost(self.symbols, chunk.start);
        let around = around.and_then(|at| self.symbols.get(at));
        let mut kinds: Vec<SymbolKind> = around.map(|symbol| symbol.kind).into_iter().collect();
        kinds.extend(self.named_in(chunk).map(|symbol| symbol.kind));
        kinds.sort_unstable();
        kinds.dedup();
        kinds
    }
}
