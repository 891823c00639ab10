//! The symbol that a hit belongs to.

use crate::error::Result;
use crate::search::filter::symbols::WantedSymbols;
use crate::search::render::hit::{Renderer, Stored};
use crate::search::response::{Hit, HitSymbol};
use crate::types::syntax::nesting::hierarchy;
use crate::types::syntax::signature;
use crate::types::{Span, Symbol};

/// Bytes of a definition whose chunks are read for its signature.
const HEAD_BYTES: u32 = 4096;

impl Renderer<'_> {
    /// The symbol whose section has the `place`; before it the first one in the text that filters of symbols ask for.
    pub(super) fn symbol(
        &mut self,
        symbols: &[Symbol],
        place: Span,
        hit: &Hit,
        (segment, stored): (usize, &Stored),
    ) -> Result<Option<HitSymbol>> {
        let is_here = |byte: u32| hit.span.start <= byte && byte < hit.span.end;
        let filtered = WantedSymbols::of(&self.request.filters)?.and_then(|wanted| {
            let mut here = symbols.iter().enumerate();
            here.find(|(_, symbol)| is_here(symbol.name_start) && wanted.has(symbol))
        });
        let is_section = |symbol: &Symbol| {
            symbol.start_with_doc() == place.start && place.end == symbol.span.end
        };
        let of_section = || {
            let mut last_first = symbols.iter().enumerate().rev();
            last_first.find(|(_, symbol)| !hit.section.is_empty() && is_section(symbol))
        };
        let Some((position, symbol)) = filtered.or_else(of_section) else {
            return Ok(None);
        };
        let document = self.records.get(hit.file, stored.document)?;
        let rows = document.first_row..document.first_row.saturating_add(document.rows);
        // The head of a damaged record may be all of a long text.
        let read = Span {
            start: symbol.head.start,
            end: symbol
                .head
                .end
                .min(symbol.head.start.saturating_add(HEAD_BYTES)),
        };
        let (rows, start) = self.sources.rows_of(segment, rows, read)?;
        let text = if rows.is_empty() {
            String::new()
        } else {
            self.text(segment, rows)?
        };
        let offset = |byte: u32| (byte.saturating_sub(start) as usize).min(text.len());
        let head = text.get(offset(symbol.head.start)..offset(symbol.head.end));
        Ok(Some(HitSymbol {
            kind: symbol.kind,
            name: symbol.name.clone(),
            hierarchy: hierarchy(symbols, position),
            signature: signature(head.unwrap_or_default()),
            lines: symbol.lines,
        }))
    }
}
