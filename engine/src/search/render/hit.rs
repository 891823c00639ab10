//! Passages -> hits: text with highlights and snippet, document, section, position, context.

use std::ops::Range;
use std::rc::Rc;

use kb_types::cell_text::ShownRows;
use kb_types::error::{Error, Result};
use kb_types::{ChunkId, DocumentId, Lines, PartAddress, SourceState, Span, line_ends};

use crate::index::keyword::{Analyser, TermSet};
use crate::search::calibration::Calibration;
use crate::search::explanation::TermScore;
use crate::search::filter::symbols::WantedSymbols;
use crate::search::fuse::passages::Passage;
use crate::search::options::Mode;
use crate::search::records::DocumentRecords;
use crate::search::render::outlines::DocumentOutlines;
use crate::search::render::phrases::QuotedPhrases;
use crate::search::render::room::Room;
use crate::search::render::section::{innermost, line_start};
use crate::search::render::snippet::{Highlight, front_matter, is_shell, snippet};
use crate::search::render::trim::{keep, preview_within};
use crate::search::render::window::window;
use crate::search::request::Request;
use crate::search::rerank::ChunkTexts;
use crate::search::response::Hit;
use crate::search::sources::Sources;
use crate::store::handles;
use crate::store::outline::{SectionAt, StoredOutline, section_at, section_name, starts_within};

mod surroundings;
mod symbol;
mod symbol_passages;

/// Most bytes of the text of a hit. Passages are of some KB; only a document that was added as one chunk
/// can have a longer one, which is cut around its snippet.
pub(crate) const HIT_TEXT_LIMIT_BYTES: usize = 1_000_000;

/// Most highlights of a hit. A passage of the usual length cannot have more.
const HIGHLIGHTS_LIMIT: usize = 4096;

/// Turns passages into hits. Keeps the documents and decoded blocks that several hits share.
pub(crate) struct Renderer<'r, 'a> {
    /// The files that hits are of.
    sources: &'r Sources<'r>,
    /// The display options.
    request: &'r Request,
    /// Which scores the hits have.
    mode: Mode,
    /// The scores of hits by their fused scores.
    calibration: Calibration,
    /// Finds the terms of the query in text.
    analyser: &'a mut Analyser,
    /// The distinct terms of the query.
    terms: TermSet,
    /// Weight of a highlight of each term: its idf times the weight of its word.
    weights: Vec<f32>,
    /// Finds the quoted phrases of the query in text.
    phrases: QuotedPhrases,
    /// The name whose definition the query asks for.
    definition: Option<WantedSymbols>,
    /// Reads the records of documents, and has those that were read before.
    records: DocumentRecords<'r>,
    /// Reads the texts, and has those that were read before.
    texts: ChunkTexts<'r>,
    /// Has the outlines that were read before.
    outlines: DocumentOutlines,
    /// Hits that were cut to [`HIT_TEXT_LIMIT_BYTES`].
    cut_hits: usize,
}

impl std::fmt::Debug for Renderer<'_, '_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Renderer")
            .field("records", &self.records)
            .finish_non_exhaustive()
    }
}

impl<'r, 'a> Renderer<'r, 'a> {
    /// `terms`: the distinct terms of the query, each with its idf times its weight; its quoted phrases, and the
    /// name whose definition it asks for.
    pub(crate) fn new(
        sources: &'r Sources<'r>,
        request: &'r Request,
        mode: Mode,
        calibration: Calibration,
        (analyser, texts, records): (&'a mut Analyser, ChunkTexts<'r>, DocumentRecords<'r>),
        (terms, phrases, definition): (&[(String, f32)], QuotedPhrases, Option<WantedSymbols>),
    ) -> Renderer<'r, 'a> {
        Renderer {
            sources,
            request,
            mode,
            calibration,
            analyser,
            terms: TermSet::new(terms.iter().map(|(term, _)| term.as_str())),
            weights: terms.iter().map(|(_, weight)| *weight).collect(),
            phrases,
            definition,
            records,
            texts,
            outlines: DocumentOutlines::default(),
            cut_hits: 0,
        }
    }

    /// What was read for it.
    pub(crate) fn into_read(self) -> (ChunkTexts<'r>, DocumentRecords<'r>) {
        (self.texts, self.records)
    }

    /// Bytes of text and outlines that were decoded so far.
    pub(crate) fn work_bytes(&self) -> u64 {
        let text = self.texts.decoded_bytes();
        self.outlines.read_bytes().saturating_add(text)
    }

    /// How many hits had more text than [`HIT_TEXT_LIMIT_BYTES`].
    pub(crate) fn cut_hits(&self) -> usize {
        self.cut_hits
    }

    /// The hit of a passage; `terms` are its [`Hit::terms`]. With [`Request::max_lines`] it takes its share of
    /// what is left of the budget, of which `room` has both. Reads the blocks of the passage and of its
    /// context.
    ///
    /// # Errors
    /// [`Error::Damaged`].
    pub(crate) fn hit(
        &mut self,
        passage: &Passage,
        terms: Vec<TermScore>,
        room: Room,
    ) -> Result<Hit> {
        let address = passage.best.address;
        let segment = self.sources.segment(address.segment)?.segment.id;
        let mut stored = self.stored(passage)?;
        let file = self.sources.file_of(address.segment);
        let mut whole = self.text(address.segment, passage.rows.clone())?;
        if whole.len() as u64 != u64::from(stored.span.len()) {
            return Err(Error::damaged("a passage and its text differ in length"));
        }
        let mut sides = None;
        let (left_out_before, left_out_after) = match passage.symbol {
            None => self.add_rests(&mut stored, &mut whole, passage)?,
            Some(symbol) => {
                let cut = Self::cut_to_symbol(&mut stored, &mut whole, symbol)?;
                sides.insert(cut).is_cut
            }
        };
        let is_of_rows = stored.rests == (0, 0) && sides.is_none();
        let rows = is_of_rows.then(|| (address.segment, passage.rows.clone()));
        let highlights = self.highlights(&whole, rows);
        let weight = self.weights.iter().sum();
        let first_term = self.weights.len();
        let sought = self
            .phrases
            .added_to(&whole, &highlights, first_term, weight);
        let outline = self.outline(file, &stored)?;
        let sought = self.with_definition(sought, outline.symbols(), stored.span, &whole);
        let sought = sought.as_ref();
        let mut best = self.best_lines(file, &stored, &whole, (sought, &outline))?;
        if let Some(symbol) = passage.symbol {
            let text_bytes = self.records.get(file, stored.document)?.text_bytes;
            best.section = section_at(&outline, symbol.name_start, text_bytes);
            (best.section_range, best.has_others) = (0..whole.len(), false);
        }
        let BestLines {
            snippet: best_lines,
            section,
            section_range,
            has_others,
        } = best;
        let request = self.request;
        let mode = self.mode;
        let mut place = section.span;
        let score = self.calibration.score(passage.best.score);
        let part = self.part(file, passage, &stored, stored.span, stored.lines)?;
        let document = self.records.get(file, stored.document)?;
        let mut hit = Hit {
            file,
            document: document.path.clone(),
            handle: handles::handle(&document.title, &document.path, &document.suffix),
            title: document.title.clone(),
            section_name: section_name(&section),
            section_number: section.number,
            section: section.titles,
            symbol: None,
            part,
            score,
            fused_score: passage.best.score,
            keyword_score: matches!(mode, Mode::Hybrid | Mode::Keyword)
                .then_some(passage.best.keyword),
            vector_score: matches!(mode, Mode::Hybrid | Mode::Semantic)
                .then_some(passage.best.vector),
            lines: stored.lines,
            span: stored.span,
            file_type: document.file_type.clone(),
            language: document.language.clone(),
            class: document.class()?,
            tags: document.tags.clone(),
            modified_ms: document.modified_ms,
            size_bytes: document.size_bytes,
            source_state: SourceState::Unknown,
            metadata: document.metadata.clone(),
            text: whole,
            begins_within_line: false,
            ends_within_line: false,
            before_is_cut: false,
            after_is_cut: false,
            before: String::new(),
            after: String::new(),
            highlights: highlights
                .iter()
                .map(|highlight| highlight.range.clone())
                .collect(),
            snippet: best_lines,
            snippet_first_line: None,
            chunk: ChunkId {
                segment,
                row: address.row,
            },
            chunk_index: address.row.saturating_sub(document.first_row),
            chunks: passage.rows.end.saturating_sub(passage.rows.start),
            matches: passage.matches,
            bonuses: Vec::new(),
            terms,
        };
        // With a line map (HTML) lines of the text are not lines of the original.
        let has_line_map = document.line_map;
        let text_bytes = document.text_bytes;
        let mut shown = 0..hit.text.len();
        if let Some(lines) = request.max_lines {
            let others = hit.cost_bytes() - hit.text.len() as u64;
            let limit = room.limit(lines, others, passage.symbol.is_some());
            // Lines of one section, so that it is the section of all that is shown.
            let part = hit.text.get(section_range.clone()).unwrap_or_default();
            let inside = highlights_within(sought, &section_range);
            let best = stored.best.start.saturating_sub(section_range.start)
                ..stored.best.end.saturating_sub(section_range.start);
            let best = window(part, &inside, &best, limit);
            shown = section_range.start + best.start..section_range.start + best.end;
            let inside = highlights_within(sought, &shown);
            let best = snippet(
                hit.text.get(shown.clone()).unwrap_or_default(),
                &inside,
                &[],
                0,
            );
            hit.snippet = shown.start + best.start..shown.start + best.end;
        }
        let is_too_long = shown.len() > HIT_TEXT_LIMIT_BYTES;
        self.cut_hits += usize::from(is_too_long);
        // A character has at most four bytes.
        let longest = is_too_long.then_some(HIT_TEXT_LIMIT_BYTES / 4);
        if let Some(characters) = request.max_text_chars.into_iter().chain(longest).min() {
            // A text that was asked for whole is cut only where it must be.
            let within = match request.max_text_chars {
                Some(_) => section_range,
                None => 0..hit.text.len(),
            };
            shown = preview_within(&hit.text, &hit.snippet, characters, &within);
        }
        let is_part = request.max_lines.is_some() || request.max_text_chars.is_some();
        if is_part
            && has_others
            && let Some(section) = innermost(&outline, stored.span, text_bytes, &hit.text, &shown)
        {
            place = section.span;
            hit.section_name = section_name(&section);
            hit.section_number = section.number;
            hit.section = section.titles;
        }
        let (before, after) = (
            hit.text.get(..shown.start),
            hit.text.get(shown.start..shown.end),
        );
        let (before, inside) = (before.unwrap_or_default(), after.unwrap_or_default());
        let after = hit.text.get(shown.end..).unwrap_or_default();
        hit.begins_within_line = match before {
            "" => left_out_before,
            before => !before.ends_with('\n'),
        };
        hit.ends_within_line = match after {
            "" => left_out_after,
            after => !inside.ends_with('\n') && !after.starts_with('\n'),
        };
        let (mut before, mut after) =
            sides.map_or_else(Default::default, |it| (it.before, it.after));
        if shown.len() < hit.text.len() {
            let whole = keep(&mut hit, shown.clone(), has_line_map);
            before.push_str(whole.get(..shown.start).unwrap_or_default());
            after.insert_str(0, whole.get(shown.end..).unwrap_or_default());
        }
        self.add_context(&mut hit, &stored, passage, (&before, &after))?;
        hit.snippet_first_line = (!has_line_map).then(|| {
            let before = hit.text.get(..hit.snippet.start).unwrap_or_default();
            let line = hit.lines.first.saturating_add(line_ends(before));
            line.min(hit.lines.last)
        });
        hit.symbol = self.symbol(outline.symbols(), place, &hit, (passage, &stored))?;
        hit.part = self.part(file, passage, &stored, hit.span, hit.lines)?;
        if matches!(hit.part, Some(PartAddress::Sheet { .. })) {
            show_cells(&mut hit);
        }
        Ok(hit)
    }

    /// The page, sheet or slide that a text of a passage lies in, all of which is in one.
    fn part(
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
        let parts = self.records.parts(file, stored.document)?;
        Ok(PartAddress::of(parts, span.start, lines))
    }

    /// The outline of the document of a passage, around that.
    fn outline(&mut self, file: usize, stored: &Stored) -> Result<Rc<StoredOutline>> {
        let source = self.sources.source(file)?;
        let outlines = &source.catalog.outlines;
        let read = || outlines.around(source.snapshot, stored.document, stored.span);
        self.outlines
            .get((file, stored.document), stored.span, read)
    }

    /// The snippet of a passage and the section that it lies in.
    fn best_lines(
        &mut self,
        file: usize,
        stored: &Stored,
        text: &str,
        (highlights, outline): (&[Highlight], &StoredOutline),
    ) -> Result<BestLines> {
        let passage = stored.span;
        let offset = |byte: u32| {
            let offset = byte.saturating_sub(passage.start).min(passage.len());
            usize::try_from(offset).unwrap_or(usize::MAX)
        };
        // A heading may begin within its line: in a list, or in a quotation.
        let mut borders: Vec<usize> = starts_within(outline, passage)
            .into_iter()
            .map(|start| line_start(text, offset(start)))
            .filter(|start| *start > 0)
            .collect();
        // Front matter has no heading, and is no part of what follows it.
        let header = if passage.start == 0 {
            front_matter(text)
        } else {
            0
        };
        if (1..text.len()).contains(&header) && !borders.iter().any(|border| *border <= header) {
            borders.insert(0, header);
        }
        borders.dedup();
        let from = line_start(text, offset(stored.best_start));
        let snippet = snippet(text, highlights, &borders, from);
        let shown = text.get(snippet.clone()).unwrap_or_default();
        let first_line = shown.split_inclusive('\n').next().map_or(0, str::len);
        let last_byte = (snippet.start + first_line).saturating_sub(1);
        let byte = passage
            .start
            .saturating_add(u32::try_from(last_byte).unwrap_or(u32::MAX));
        let text_bytes = self.records.get(file, stored.document)?.text_bytes;
        let section = section_at(outline, byte, text_bytes);
        let end = if section.span.end < passage.end {
            line_start(text, offset(section.span.end))
        } else {
            text.len()
        };
        let mut start = line_start(text, offset(section.span.start));
        if start < header && header <= snippet.start {
            start = header;
        }
        let mut section_range = start.min(snippet.start)..end.max(snippet.end);
        let part = text.get(section_range.clone()).unwrap_or_default();
        if section.titles.is_empty() && is_shell(part) {
            // Labels alone say nothing: what they belong to is shown with them.
            section_range = section_range.start..text.len();
        }
        let has_others = borders.iter().any(|border| {
            section_range.start < *border && *border < section_range.end && *border != header
        });
        Ok(BestLines {
            section_range,
            snippet,
            section,
            has_others,
        })
    }

    /// The position of a passage, read from the first, last and best chunk.
    fn stored(&self, passage: &Passage) -> Result<Stored> {
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

    /// Text of consecutive rows.
    fn text(&mut self, segment: usize, rows: Range<u32>) -> Result<String> {
        self.texts.rows(segment, rows)
    }

    /// Matches of query terms, ascending, without overlaps. Of an identifier only the part that matches is
    /// highlighted. `rows`: the text is that of these rows of a segment, which may have been searched before.
    fn highlights(&mut self, text: &str, rows: Option<(usize, Range<u32>)>) -> Vec<Highlight> {
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
        match rows.and_then(|(segment, rows)| self.texts.occurrences(segment, rows)) {
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
}

/// Puts what the cells of rows show in the place of their stored form. Lines stay lines.
fn show_cells(hit: &mut Hit) {
    let shown = ShownRows::of(&hit.text);
    for highlight in &mut hit.highlights {
        *highlight = shown.range(highlight);
    }
    hit.highlights.retain(|highlight| !highlight.is_empty());
    hit.snippet = shown.range(&hit.snippet);
    hit.text = shown.text;
    for context in [&mut hit.before, &mut hit.after] {
        *context = ShownRows::of(context).text;
    }
}

/// The snippet of a passage, and the section it lies in.
struct BestLines {
    snippet: Range<usize>,
    section: SectionAt,
    /// What the passage has of the section; of one with nothing but labels, all that follows as well.
    section_range: Range<usize>,
    /// Whether others begin in that range.
    has_others: bool,
}

/// The position of a passage.
struct Stored {
    document: DocumentId,
    span: Span,
    lines: Lines,
    /// First byte of its best chunk.
    best_start: u32,
    /// The best chunk as bytes of the text of the passage.
    best: Range<usize>,
    /// Bytes that the text has of the chunks before and after those of the passage.
    rests: (usize, usize),
}

/// The highlights inside a range of a text, as ranges of that part.
fn highlights_within(highlights: &[Highlight], range: &Range<usize>) -> Vec<Highlight> {
    let inside = highlights.iter().filter(|highlight| {
        range.start <= highlight.range.start && highlight.range.end <= range.end
    });
    inside
        .map(|highlight| Highlight {
            range: highlight.range.start - range.start..highlight.range.end - range.start,
            ..*highlight
        })
        .collect()
}
