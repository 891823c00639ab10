//! The text of a passage: its chunks with the rest of the lines that they divide, or the symbol that it is.

use std::borrow::Cow;
use std::ops::Range;
use std::rc::Rc;

use kb_types::error::{Error, Result};
use kb_types::{Class, DocumentId, Lines, PartAddress, Span};

use crate::search::rank::passages::Passage;
use crate::search::render::hit::Renderer;
use crate::search::render::imports::without_imports;
use crate::search::render::snippet::Highlight;
use crate::store::outline::StoredOutline;
use crate::store::symbols::StoredSymbols;

/// Most highlights of a hit. A passage of the usual length cannot have more.
const HIGHLIGHTS_LIMIT: usize = 4096;

/// The position of a passage.
pub(super) struct Stored {
    pub(super) document: DocumentId,
    pub(super) span: Span,
    pub(super) lines: Lines,
    /// First byte of its best chunk.
    pub(super) best_start: u32,
    /// The best chunk as bytes of the text of the passage.
    pub(super) best: Range<usize>,
    /// Bytes that the text has of the chunks before and after those of the passage.
    pub(super) rests: (usize, usize),
}

/// A passage that was read.
pub(super) struct ReadPassage {
    pub(super) stored: Stored,
    /// Its text, at [`Stored::span`].
    pub(super) text: String,
    /// What its rows have before and after that text.
    pub(super) sides: (String, String),
    /// Whether the text begins, and whether it ends, within a line that is longer than it.
    pub(super) is_cut: (bool, bool),
    /// Matches of query terms in the text.
    pub(super) highlights: Vec<Highlight>,
}

impl ReadPassage {
    /// The text at a span of the document, where the passage has all of it.
    pub(super) fn part(&self, span: Span) -> Option<&str> {
        let passage = self.stored.span;
        let is_inside = passage.start <= span.start && span.end <= passage.end;
        let offset = |byte: u32| byte.saturating_sub(passage.start) as usize;
        let part = self.text.get(offset(span.start)..offset(span.end));
        part.filter(|_| is_inside)
    }
}

impl Renderer<'_, '_> {
    /// Reads a passage, and finds the terms of the query in it.
    pub(super) fn read(&mut self, passage: &Passage) -> Result<ReadPassage> {
        let segment = passage.best.address.segment;
        let mut stored = self.stored(passage)?;
        let mut text = self.text(segment, passage.rows.clone())?;
        if text.len() as u64 != u64::from(stored.span.len()) {
            return Err(Error::damaged("a passage and its text differ in length"));
        }
        let (sides, is_cut) = match passage.symbol {
            None => {
                let is_cut = self.add_rests(&mut stored, &mut text, passage)?;
                (<(String, String)>::default(), is_cut)
            }
            Some(symbol) => {
                let cut = Self::cut_to_symbol(&mut stored, &mut text, symbol)?;
                ((cut.before, cut.after), cut.is_cut)
            }
        };
        let is_of_rows = stored.rests == (0, 0) && passage.symbol.is_none();
        let rows = is_of_rows.then(|| (segment, passage.rows.clone()));
        let highlights = self.highlights(&text, rows);
        Ok(ReadPassage {
            stored,
            text,
            sides,
            is_cut,
            highlights,
        })
    }

    /// What the shown lines should have: the matches of query terms in a passage, its quoted phrases, and the name
    /// whose definition the query asks for. In a program those of imports count only where there are no others.
    pub(super) fn sought<'h>(
        &mut self,
        read: &'h ReadPassage,
        symbols: Option<&StoredSymbols>,
        class: Class,
    ) -> Cow<'h, [Highlight]> {
        let weight = self.weights.iter().sum();
        let first_term = self.weights.len();
        let sought = self
            .phrases
            .added_to(&read.text, &read.highlights, first_term, weight);
        let sought = match class {
            Class::Code => without_imports(&read.text, sought),
            Class::Doc | Class::Data => sought,
        };
        self.with_definition(sought, symbols, read.stored.span, &read.text)
    }

    /// The position of a passage, read from the first, last and best chunk.
    pub(super) fn stored(&self, passage: &Passage) -> Result<Stored> {
        let rows = &passage.rows;
        if let (Some(document), true) = (passage.document, rows.is_empty()) {
            return Ok(Stored {
                document,
                span: Span { start: 0, end: 0 },
                lines: Lines { first: 0, last: 0 },
                best_start: 0,
                best: 0..0,
                rests: (0, 0),
            });
        }
        let chunks = self.sources.segment(passage.best.address.segment)?.chunks();
        let first = chunks.get(rows.start)?;
        let last = chunks.get(rows.end.saturating_sub(1))?;
        let best = chunks.get(passage.best.address.row)?;
        Ok(Stored {
            document: first.document,
            span: Span {
                start: first.at.span.start,
                end: last.at.span.end,
            },
            lines: Lines {
                first: first.at.lines.first,
                last: last.at.lines.last,
            },
            best_start: best.at.span.start,
            best: {
                let offset = |byte: u32| byte.saturating_sub(first.at.span.start) as usize;
                offset(best.at.span.start)..offset(best.at.span.end)
            },
            rests: (0, 0),
        })
    }

    /// Matches of query terms, ascending, without overlaps. Of an identifier only the part that matches is
    /// highlighted. `rows`: the text is that of these rows of a segment, which may have been searched before.
    pub(super) fn highlights(
        &mut self,
        text: &str,
        rows: Option<(usize, Range<u32>)>,
    ) -> Vec<Highlight> {
        let mut highlights: Vec<Highlight> = Vec::new();
        if self.terms.is_empty() {
            return highlights;
        }
        let weights = &self.weights;
        let mut highlight = |term: usize, range: Range<usize>| {
            if highlights.len() < HIGHLIGHTS_LIMIT {
                let weight = weights.get(term).copied().unwrap_or(0.0);
                highlights.push(Highlight {
                    range,
                    weight,
                    term,
                });
            }
        };
        match rows.and_then(|(segment, rows)| self.cache.texts.occurrences(segment, rows)) {
            Some(found) => found
                .into_iter()
                .for_each(|(term, range)| highlight(term, range)),
            None => self.analyser.highlights(text, &self.terms, &mut highlight),
        }
        self.terms.characters_in(text, &mut highlight);
        // An identifier and its parts match the same bytes: the widest range wins.
        highlights.sort_by_key(|highlight| {
            (
                highlight.range.start,
                std::cmp::Reverse(highlight.range.end),
            )
        });
        let mut end = 0;
        highlights.retain(|highlight| {
            let keep = highlight.range.start >= end;
            if keep {
                end = highlight.range.end;
            }
            keep
        });
        highlights
    }

    /// The page, sheet or slide that a text of a passage lies in, all of which is in one.
    pub(super) fn part(
        &mut self,
        file: usize,
        passage: &Passage,
        stored: &Stored,
        span: Span,
        lines: Lines,
    ) -> Result<Option<PartAddress>> {
        if passage.rows.is_empty() {
            return Ok(None);
        }
        let parts = self.cache.records.parts(file, stored.document)?;
        Ok(PartAddress::of(parts, span.start, lines))
    }

    /// The outline of the document of a passage, around that.
    pub(super) fn outline(&mut self, file: usize, stored: &Stored) -> Result<Rc<StoredOutline>> {
        let source = self.sources.source(file)?;
        let outlines = &source.catalog.outlines;
        let read = || outlines.around(source.snapshot, stored.document, stored.span);
        self.cache
            .outlines
            .get((file, stored.document), stored.span, read)
    }
}
