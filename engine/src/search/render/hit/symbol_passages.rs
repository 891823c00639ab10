//! Chunks -> the symbols that they are parts of: those that filters ask for, or with smart context the one that has
//! the best lines.

use kb_types::error::{Error, Result};
use kb_types::syntax::nesting::holders;
use kb_types::syntax::{SymbolRef, SymbolSpans};
use kb_types::{DocumentId, Lines, Span, line_ends};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::search::filter::symbols::WantedSymbols;
use crate::search::options::Scope;
use crate::search::rank::passages::{Passage, SymbolPlace};
use crate::search::render::hit::Renderer;
use crate::search::render::hit::read::Stored;
use crate::search::render::section::line_start;
use crate::search::render::snippet::Highlight;

/// Longest symbol that a part of it is extended to, with its comment: some 400 lines. Of a longer one that a filter
/// asks for the beginning is shown.
const SYMBOL_LIMIT_BYTES: u32 = 16 << 10;

/// With a filter of kinds alone, the other symbols of a chunk need this share of the weight of its best one: they are
/// not what was searched for because they stand beside it.
const WEIGHT_SHARE: f32 = 0.5;

/// More than the words of a query weigh: what it asks to be defined.
// Sums of the weights of terms stay far below, so the order among definitions is still that of the
// words.
const DEFINED_WEIGHT: f32 = 1e6;

/// The rest of the last line of a symbol is shown with it, unless it is longer.
const REST_LIMIT_BYTES: usize = 200;

/// What passages were made of, by file and document.
#[derive(Default)]
struct Taken {
    names: FxHashSet<(usize, DocumentId, u32)>,
    spans: FxHashMap<(usize, DocumentId), Vec<Span>>,
}

impl Taken {
    /// Whether a passage has all of a span.
    fn has(&self, document: (usize, DocumentId), span: Span) -> bool {
        let spans = self.spans.get(&document);
        let holds = |other: &Span| other.start <= span.start && span.end <= other.end;
        spans.is_some_and(|spans| spans.iter().any(holds))
    }
}

impl Renderer<'_, '_> {
    /// The symbols of passages of one chunk each, in their order, each symbol once. With filters of symbols all that
    /// they ask for, else a passage for each, where it is in no symbol the passage itself.
    ///
    /// # Errors
    /// [`Error::Damaged`], [`Error::Cancelled`].
    pub(crate) fn symbol_passages(&mut self, found: &[Passage]) -> Result<Vec<Passage>> {
        let wanted = self.wanted.clone();
        let mut taken = Taken::default();
        let mut made = Vec::with_capacity(found.len());
        for passage in found {
            self.sources.tick()?;
            let segment = passage.best.address.segment;
            let file = self.sources.file_of(segment);
            let stored = self.stored(passage)?;
            let document = (file, stored.document);
            if passage.rows.is_empty() {
                made.extend(wanted.is_none().then(|| passage.clone()));
                continue;
            }
            let Some(wanted) = &wanted else {
                let place = self.enclosing(file, passage, &stored)?;
                let span = place.map_or(stored.span, |place| Span {
                    start: place.start,
                    end: place.span.end,
                });
                if !taken.has(document, span) {
                    taken.spans.entry(document).or_default().push(span);
                    made.extend(self.of_symbol(passage, &stored, place)?);
                }
                continue;
            };
            let mut places = self.wanted_places(file, passage, &stored, wanted)?;
            if self.scope == Scope::Documents || passage.document.is_some() {
                // One passage a document was asked for.
                places.truncate(1);
            }
            for place in places {
                if taken
                    .names
                    .insert((file, stored.document, place.name_start))
                {
                    made.extend(self.of_symbol(passage, &stored, Some(place))?);
                }
            }
        }
        Ok(made)
    }

    /// A passage with the rows of a symbol.
    fn of_symbol(
        &mut self,
        passage: &Passage,
        stored: &Stored,
        place: Option<SymbolPlace>,
    ) -> Result<Option<Passage>> {
        let Some(place) = place else {
            return Ok(Some(passage.clone()));
        };
        let segment = passage.best.address.segment;
        let file = self.sources.file_of(segment);
        let record = self.cache.records.get(file, stored.document)?;
        let rows = record.first_row..record.first_row.saturating_add(record.rows);
        let read = Span {
            start: place.start,
            end: (place.span.end).min(place.start.saturating_add(SYMBOL_LIMIT_BYTES)),
        };
        let (rows, _) = self.sources.rows_of(segment, rows, read)?;
        Ok((!rows.is_empty()).then(|| Passage {
            rows,
            symbol: Some(place),
            ..passage.clone()
        }))
    }

    /// The function or type around the best lines of a chunk, with its comment, where it is not too long.
    fn enclosing(
        &mut self,
        file: usize,
        passage: &Passage,
        stored: &Stored,
    ) -> Result<Option<SymbolPlace>> {
        let outline = self.outline(file, stored)?;
        let Some(symbols) = outline.symbols() else {
            return Ok(None);
        };
        let (text, highlights) = self.text_with_highlights(passage)?;
        let sought = self.with_definition(
            highlights.as_slice().into(),
            Some(symbols),
            stored.span,
            &text,
        );
        let best = self.best_lines(file, stored, &text, (sought.as_ref(), &outline))?;
        if best.section.titles.is_empty() {
            return Ok(None);
        }
        let section = best.section.span;
        let is_section = |spans: &SymbolSpans| {
            spans.start_with_doc() == section.start && section.end == spans.span.end
        };
        let mut last_first = symbols.iter().enumerate().rev();
        let Some((position, _)) = last_first.find(|(_, symbol)| is_section(&symbol.spans)) else {
            return Ok(None);
        };
        let around = holders(symbols, position).filter_map(|at| symbols.iter().nth(at));
        let mut around = around.filter(|it| it.kind.is_callable() || it.kind.has_methods());
        let found = around.next().map(|symbol| SymbolPlace {
            start: symbol.spans.start_with_doc(),
            ..place_of(&symbol)
        });
        let is_short =
            |place: &SymbolPlace| place.span.end.saturating_sub(place.start) <= SYMBOL_LIMIT_BYTES;
        Ok(found.filter(is_short))
    }

    /// The symbols that filters ask for which a chunk names, or which it begins in; the best first.
    fn wanted_places(
        &mut self,
        file: usize,
        passage: &Passage,
        stored: &Stored,
        wanted: &WantedSymbols,
    ) -> Result<Vec<SymbolPlace>> {
        let outline = self.outline(file, stored)?;
        let Some(symbols) = outline.symbols() else {
            return Ok(Vec::new());
        };
        let chunk = stored.span;
        let is_here = |symbol: &SymbolRef<'_>| {
            let SymbolSpans {
                span, name_start, ..
            } = symbol.spans;
            let is_named = chunk.start <= name_start && name_start < chunk.end;
            is_named || (span.start <= chunk.start && chunk.start < span.end)
        };
        let here = symbols.iter().filter(|it| wanted.has(it) && is_here(it));
        let here: Vec<SymbolRef<'_>> = here.collect();
        let Some(_) = here.get(1) else {
            return Ok(here.iter().map(place_of).collect());
        };
        let (_, highlights) = self.text_with_highlights(passage)?;
        let mut weighed: Vec<(f32, u32, SymbolPlace)> = Vec::with_capacity(here.len());
        for symbol in &here {
            let start = symbol.spans.start_with_doc().max(chunk.start);
            let shared = Span {
                start,
                end: symbol.spans.span.end.min(chunk.end).max(start),
            };
            let inside = Span {
                start: shared.start - chunk.start,
                end: shared.end - chunk.start,
            };
            let is_defined = self.definition.as_ref().is_some_and(|it| it.has(symbol));
            let defined = if is_defined { DEFINED_WEIGHT } else { 0.0 };
            let weight = weight_within(&highlights, inside) + defined;
            weighed.push((weight, shared.len(), place_of(symbol)));
        }
        // Stable: those of one weight in the order of the text.
        weighed.sort_by(|a, b| b.0.total_cmp(&a.0));
        if wanted.names.is_empty() {
            let best = weighed.first().map_or(0.0, |first| first.0);
            if best > 0.0 {
                weighed.retain(|(weight, ..)| *weight >= best * WEIGHT_SHARE);
            } else {
                // No word of the query is there: what the chunk has most of.
                weighed.sort_by_key(|(_, shared, _)| std::cmp::Reverse(*shared));
                weighed.truncate(1);
            }
        }
        Ok(weighed.into_iter().map(|(_, _, place)| place).collect())
    }

    fn text_with_highlights(&mut self, passage: &Passage) -> Result<(String, Vec<Highlight>)> {
        let segment = passage.best.address.segment;
        let text = self.text(segment, passage.rows.clone())?;
        let highlights = self.highlights(&text, Some((segment, passage.rows.clone())));
        Ok((text, highlights))
    }
}

/// A symbol without its comment.
fn place_of(symbol: &SymbolRef<'_>) -> SymbolPlace {
    let SymbolSpans {
        span,
        lines,
        name_start,
        ..
    } = symbol.spans;
    SymbolPlace {
        start: span.start,
        span,
        lines,
        name_start,
    }
}

/// The weight of the distinct terms in a part of a text.
fn weight_within(highlights: &[Highlight], part: Span) -> f32 {
    let (start, end) = (part.start as usize, part.end as usize);
    let inside = highlights
        .iter()
        .filter(|it| start <= it.range.start && it.range.end <= end);
    let mut seen = FxHashSet::default();
    inside
        .filter(|it| seen.insert(it.term))
        .map(|it| it.weight)
        .sum()
}

/// What the rows of a passage have before and after the symbol that it is.
pub(super) struct Sides {
    pub(super) before: String,
    pub(super) after: String,
    /// Whether the text begins within a line, and whether it ends before the symbol does.
    pub(super) is_cut: (bool, bool),
}

impl Renderer<'_, '_> {
    /// Leaves of the text of the rows of a passage the symbol that it is.
    ///
    /// # Errors
    /// [`Error::Damaged`] when the symbol does not lie in it.
    pub(super) fn cut_to_symbol(
        stored: &mut Stored,
        text: &mut String,
        place: SymbolPlace,
    ) -> Result<Sides> {
        let rows = stored.span;
        let offset = |byte: u32| (byte.saturating_sub(rows.start) as usize).min(text.len());
        let is_part = place.span.end > rows.end;
        let (mut from, mut to) = (offset(place.start), offset(place.span.end));
        // A comment may stand behind white space.
        let line = line_start(text, from);
        let indented = text.get(line..from).unwrap_or_default();
        if indented.trim().is_empty() {
            from = line;
        }
        if is_part {
            let part = text.get(from..to).unwrap_or_default();
            to = part.rfind('\n').map_or(to, |end| from + end + 1);
        } else {
            let rest = text.get(to..).unwrap_or_default();
            let line = rest.find('\n').map_or(rest.len(), |end| end + 1);
            to += if line <= REST_LIMIT_BYTES { line } else { 0 };
        }
        let damaged = || Error::damaged("a symbol is not in its text");
        let above = text.get(from..offset(place.span.start).max(from));
        let shown = text.get(from..to).filter(|shown| !shown.is_empty());
        let shown = shown.ok_or_else(damaged)?.to_owned();
        let sides = Sides {
            before: text.get(..from).unwrap_or_default().to_owned(),
            after: text.get(to..).unwrap_or_default().to_owned(),
            is_cut: (from > 0 && line != from, is_part),
        };
        stored.lines = Lines {
            first: (place.lines.first).saturating_sub(line_ends(above.unwrap_or_default())),
            last: place.lines.last,
        };
        let byte = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        stored.span = Span {
            start: rows.start.saturating_add(byte(from)),
            end: rows.start.saturating_add(byte(to)),
        };
        let within = |at: usize| at.saturating_sub(from).min(shown.len());
        stored.best = within(stored.best.start)..within(stored.best.end);
        *text = shown;
        Ok(sides)
    }
}
