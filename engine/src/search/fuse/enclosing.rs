//! Passages that have a part of a symbol -> all of it.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::error::Result;
use crate::search::sources::{ChunkAddress, Sources};
use crate::store::symbols::Excerpt;
use crate::types::{DocumentId, Span, Symbol};

/// Longest symbol that a passage is extended to, with its comment: some 200 lines.
const SYMBOL_LIMIT_BYTES: u32 = 8192;

/// The rows and symbols of documents, as far as they were asked for.
#[derive(Debug, Default)]
pub(super) struct EnclosingSymbols {
    read: FxHashMap<(usize, DocumentId), Program>,
}

/// A document, and the symbols around a place of it.
#[derive(Debug)]
struct Program {
    rows: Range<u32>,
    symbols: Vec<Symbol>,
    excerpt: Option<Excerpt>,
}

impl EnclosingSymbols {
    /// The rows of a chunk, and of the symbol that it has a part of. Reads the symbols of each document once, of a long
    /// one those around the chunk.
    ///
    /// # Errors
    /// [`crate::Error::Damaged`].
    pub(super) fn rows(
        &mut self,
        sources: &Sources<'_>,
        address: ChunkAddress,
    ) -> Result<Range<u32>> {
        let chunk = sources
            .segment(address.segment)?
            .chunks()
            .get(address.row)?;
        let alone = address.row..address.row.saturating_add(1);
        let file = sources.file_of(address.segment);
        let key = (file, chunk.document);
        let span = chunk.at.span;
        let kept = self.read.remove(&key).filter(|program| {
            let excerpt = program.excerpt.as_ref();
            excerpt.is_none_or(|excerpt| excerpt.covers(span))
        });
        let program = match kept {
            Some(program) => program,
            None => {
                let source = sources.source(file)?;
                let record = sources.document(file, chunk.document)?;
                let table = &source.catalog.symbols;
                let (id, text_bytes) = (chunk.document, record.text_bytes);
                let (symbols, excerpt) = table.around(source.snapshot, id, text_bytes, span)?;
                Program {
                    rows: record.first_row..record.first_row.saturating_add(record.rows),
                    symbols: symbols.to_symbols(),
                    excerpt,
                }
            }
        };
        let Program { rows, symbols, .. } = self.read.entry(key).or_insert(program);
        let Some(symbol) = divided(symbols, chunk.at.span) else {
            return Ok(alone);
        };
        let (found, _) = sources.rows_of(address.segment, rows.clone(), with_doc(symbol))?;
        Ok(found.start.min(alone.start)..found.end.max(alone.end))
    }
}

fn with_doc(symbol: &Symbol) -> Span {
    Span {
        start: symbol.start_with_doc(),
        end: symbol.span.end,
    }
}

/// The symbol that a chunk has a part of: one that begins in it and ends behind it, or where it has no whole symbol
/// the innermost that it lies in.
fn divided(symbols: &[Symbol], chunk: Span) -> Option<&Symbol> {
    let overlaps = |span: Span| span.start < chunk.end && chunk.start < span.end;
    let (mut begun, mut around, mut has_whole) = (None, None, false);
    for symbol in symbols {
        let span = with_doc(symbol);
        if !overlaps(span) {
            continue;
        }
        let begins = chunk.start <= symbol.name_start && symbol.name_start < chunk.end;
        match (begins, span.end > chunk.end) {
            (true, true) => begun = Some(symbol),
            (true, false) => has_whole |= chunk.start <= span.start,
            // Its name is before the chunk, or its comment in it and its name behind it.
            (false, _) => {}
        }
        if span.start <= chunk.start || begins {
            around = Some(symbol);
        }
    }
    let found = match (begun, has_whole) {
        (Some(symbol), false) => Some(symbol),
        (_, true) => None,
        (None, false) => around,
    };
    found.filter(|symbol| with_doc(symbol).len() <= SYMBOL_LIMIT_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{Lines, SymbolKind};

    fn symbol(name: &str, start: u32, end: u32, parent: Option<u32>) -> Symbol {
        Symbol {
            kind: SymbolKind::Function,
            name: name.to_owned(),
            keyword: String::new(),
            head: Span { start, end: start },
            parent,
            doc: None,
            span: Span { start, end },
            lines: Lines { first: 1, last: 1 },
            name_start: start,
        }
    }

    #[test]
    fn a_chunk_belongs_to_the_symbol_that_it_divides() {
        let symbols = [
            symbol("class", 0, 9000, None),
            symbol("short", 10, 50, Some(0)),
            symbol("long", 50, 900, Some(0)),
            symbol("alone", 9100, 9200, None),
        ];
        let name = |start, end| {
            let found = divided(&symbols, Span { start, end });
            found.map(|symbol| symbol.name.as_str())
        };
        assert_eq!(name(400, 600), Some("long"), "a part of its body");
        assert_eq!(name(50, 400), Some("long"), "its beginning");
        assert_eq!(name(600, 900), Some("long"), "its end");
        assert_eq!(name(10, 50), None, "a whole symbol");
        assert_eq!(name(10, 900), None, "whole symbols of a longer one");
        assert_eq!(name(9100, 9200), None);
        assert_eq!(name(9200, 9300), None, "no symbol");
        assert_eq!(name(950, 1000), None, "a symbol that is too long");
    }
}
