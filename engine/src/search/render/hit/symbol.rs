//! The symbol that a hit belongs to, and the name in it that a query asks for.

use std::borrow::Cow;

use kb_types::error::Result;
use kb_types::syntax::nesting::hierarchy;
use kb_types::syntax::{SymbolRef, SymbolSpans, signature};
use kb_types::{DocumentId, Span};

use crate::index::keyword::searched_names;
use crate::search::rank::passages::Passage;
use crate::search::render::hit::Renderer;
use crate::search::render::hit::read::ReadPassage;
use crate::search::render::snippet::Highlight;
use crate::search::response::HitSymbol;
use crate::store::symbols::StoredSymbols;

/// Bytes of a definition whose chunks are read for its signature.
const HEAD_BYTES: u32 = 4096;

/// Weight of the name of a definition, in the sum of the weights of all terms: its line is shown rather than others.
const NAME_WEIGHT: f32 = 4.0;

impl Renderer<'_, '_> {
    /// `highlights` of the text of a passage, and the name of the first symbol in it that the query asks for.
    pub(super) fn with_definition<'h>(
        &self,
        highlights: Cow<'h, [Highlight]>,
        symbols: Option<&StoredSymbols>,
        passage: Span,
        text: &str,
    ) -> Cow<'h, [Highlight]> {
        let (Some(wanted), Some(symbols)) = (&self.definition, symbols) else {
            return highlights;
        };
        let is_here = |byte: u32| passage.start <= byte && byte < passage.end;
        let mut here = symbols.iter().filter(|it| is_here(it.spans.name_start));
        let Some(symbol) = here.find(|symbol| wanted.has(symbol)) else {
            return highlights;
        };
        let start = (symbol.spans.name_start - passage.start) as usize;
        // A receiver or an object stands in the name, and elsewhere in the text. In a damaged file the name does, too.
        let ranges =
            searched_names(symbol.name).map(|name| (start..start.saturating_add(name.len()), name));
        let mut ranges = ranges.filter(|(range, name)| text.get(range.clone()) == Some(*name));
        let Some((range, _)) = ranges.next().filter(|(_, name)| !name.contains('\n')) else {
            return highlights;
        };
        let weight: f32 = self.weights.iter().sum();
        let terms = highlights.iter().map(|highlight| highlight.term + 1);
        let name = Highlight {
            term: terms.max().unwrap_or(0).max(self.weights.len()),
            weight: NAME_WEIGHT * if weight > 0.0 { weight } else { 1.0 },
            range,
        };
        let mut highlights = highlights.into_owned();
        let place = highlights.partition_point(|other| other.range.start <= name.range.start);
        highlights.insert(place, name);
        Cow::Owned(highlights)
    }

    /// The symbol that a passage is; else the first one in the `shown` part of it that filters of symbols ask for;
    /// else the one that the section at `of_section` is.
    pub(super) fn symbol(
        &mut self,
        symbols: Option<&StoredSymbols>,
        of_section: Option<Span>,
        shown: Span,
        (passage, read): (&Passage, &ReadPassage),
    ) -> Result<Option<HitSymbol>> {
        let Some(symbols) = symbols else {
            return Ok(None);
        };
        let is_here = |byte: u32| shown.start <= byte && byte < shown.end;
        let filtered = self.wanted.as_ref().and_then(|wanted| {
            let mut here = symbols.iter().enumerate();
            here.find(|(_, symbol)| is_here(symbol.spans.name_start) && wanted.has(symbol))
        });
        let of_section = || {
            let section = of_section?;
            let mut last_first = symbols.iter().enumerate().rev();
            last_first.find(|(_, SymbolRef { spans, .. })| {
                spans.start_with_doc() == section.start && section.end == spans.span.end
            })
        };
        let own = passage.symbol.and_then(|own| {
            let mut all = symbols.iter().enumerate();
            all.find(|(_, symbol)| symbol.spans.name_start == own.name_start)
        });
        let Some((position, symbol)) = own.or(filtered).or_else(of_section) else {
            return Ok(None);
        };
        let SymbolSpans { head, lines, .. } = symbol.spans;
        let signature = match read.part(head).filter(|_| head.len() <= HEAD_BYTES) {
            Some(head) => signature(head),
            None => signature(&self.head(passage, read.stored.document, head)?),
        };
        Ok(Some(HitSymbol {
            kind: symbol.kind,
            name: symbol.name.to_owned(),
            hierarchy: hierarchy(symbols, position),
            signature,
            lines,
        }))
    }

    /// The first line of a symbol that a passage does not have, of the same document.
    fn head(&mut self, passage: &Passage, document: DocumentId, head: Span) -> Result<String> {
        let segment = passage.best.address.segment;
        let file = self.sources.file_of(segment);
        let document = self.cache.records.get(file, document)?;
        let rows = document.first_row..document.first_row.saturating_add(document.rows);
        // The head of a damaged record may be all of a long text.
        let read = Span {
            start: head.start,
            end: head.end.min(head.start.saturating_add(HEAD_BYTES)),
        };
        let (rows, start) = self.sources.rows_of(segment, rows, read)?;
        let text = if rows.is_empty() {
            String::new()
        } else {
            self.text(segment, rows)?
        };
        let offset = |byte: u32| (byte.saturating_sub(start) as usize).min(text.len());
        let head = text.get(offset(head.start)..offset(head.end));
        Ok(head.unwrap_or_default().to_owned())
    }
}
