//! The symbol that a hit belongs to.

use crate::error::Result;
use crate::search::filter::symbols::WantedSymbols;
use crate::search::render::hit::{Renderer, Stored};
use crate::search::response::{Hit, HitSymbol};
use crate::types::syntax::nesting::hierarchy;
use crate::types::syntax::signature;
use crate::types::{Span, Symbol};

impl Renderer<'_> {
    /// The symbol whose section has the `place`; before it the first one in the text that filters of symbols ask for.
    pub(super) fn symbol(
        &mut self,
        symbols: &[Symbol],
        place: Span,
        hit: &Hit,
        stored: &Stored,
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
        let positions = self.sources.positions(hit.file);
        let mut segments = positions.filter(|at| {
            let segment = self.sources.segment(*at);
            segment.is_ok_and(|segment| segment.segment.id == hit.chunk.segment)
        });
        let mut line = String::new();
        if let Some(segment) = segments.next() {
            let (rows, start) = self.sources.rows_of(segment, rows, symbol.head)?;
            let text = self.text(segment, rows)?;
            let offset = |byte: u32| byte.saturating_sub(start) as usize;
            let head = text.get(offset(symbol.head.start)..offset(symbol.head.end));
            line = signature(head.unwrap_or_default());
        }
        Ok(Some(HitSymbol {
            kind: symbol.kind,
            name: symbol.name.clone(),
            hierarchy: hierarchy(symbols, position),
            signature: line,
            lines: symbol.lines,
        }))
    }
}
