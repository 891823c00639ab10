//! Passages -> hits: text with highlights and snippet, document, section, position, context.

use std::collections::HashMap;
use std::ops::Range;

use crate::error::{Error, Result};
use crate::index::keyword::{Analyser, TermSet};
use crate::search::explanation::TermScore;
use crate::search::fuse::passages::Passage;
use crate::search::options::Mode;
use crate::search::render::context::{self, Pieces, Side};
use crate::search::render::snippet::{Highlight, snippet};
use crate::search::render::trim::{cut, first_words, last_words};
use crate::search::request::Request;
use crate::search::rerank::ChunkTexts;
use crate::search::response::Hit;
use crate::search::sources::{ChunkAddress, Sources};
use crate::store::documents::DocumentRecord;
use crate::store::handles;
use crate::store::outline::{SectionAt, section_at, section_name, starts_within};
use crate::types::{ChunkId, DocumentId, Lines, SourceState, Span, line_ends};

/// Most bytes of the text of a hit. Passages are of some KB; only a document that was added as one chunk
/// can have a longer one, which is cut around its snippet.
pub(crate) const HIT_TEXT_LIMIT_BYTES: usize = 1_000_000;

/// Most highlights of a hit. A passage of the usual length cannot have more.
const HIGHLIGHTS_LIMIT: usize = 4096;

/// Turns passages into hits. Keeps the documents and decoded blocks that several hits share.
pub(crate) struct Renderer<'r> {
    /// The files that hits are of.
    sources: &'r Sources<'r>,
    /// The display options.
    request: &'r Request,
    /// Which scores the hits have.
    mode: Mode,
    /// Finds the terms of the query in text.
    analyser: &'r mut Analyser,
    /// The distinct terms of the query.
    terms: TermSet,
    /// Weight of a highlight of each term: its idf times the weight of its word.
    weights: Vec<f32>,
    /// Documents read so far, by file and id.
    documents: HashMap<(usize, DocumentId), DocumentRecord>,
    /// Reads the texts, and has those that were read before.
    texts: ChunkTexts<'r>,
    /// Bytes of outlines read so far.
    outline_bytes: u64,
    /// Hits that were cut to [`HIT_TEXT_LIMIT_BYTES`].
    cut_hits: usize,
}

impl std::fmt::Debug for Renderer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Renderer")
            .field("documents", &self.documents.len())
            .finish_non_exhaustive()
    }
}

impl<'r> Renderer<'r> {
    /// `terms`: the distinct terms of the query, each with its idf times its weight.
    pub(crate) fn new(
        sources: &'r Sources<'r>,
        request: &'r Request,
        mode: Mode,
        (analyser, texts): (&'r mut Analyser, ChunkTexts<'r>),
        terms: &[(String, f32)],
    ) -> Renderer<'r> {
        Renderer {
            sources,
            request,
            mode,
            analyser,
            terms: TermSet::new(terms.iter().map(|(term, _)| term.as_str())),
            weights: terms.iter().map(|(_, weight)| *weight).collect(),
            documents: HashMap::new(),
            texts,
            outline_bytes: 0,
            cut_hits: 0,
        }
    }

    /// Bytes of text and outlines that were decoded so far.
    pub(crate) fn work_bytes(&self) -> u64 {
        let text = self.texts.decoded_bytes();
        self.outline_bytes.saturating_add(text)
    }

    /// How many hits had more text than [`HIT_TEXT_LIMIT_BYTES`].
    pub(crate) fn cut_hits(&self) -> usize {
        self.cut_hits
    }

    /// The hit of a passage; `terms` are its [`Hit::terms`]. Reads the blocks of the passage and of its
    /// context.
    ///
    /// # Errors
    /// [`Error::Damaged`].
    pub(crate) fn hit(&mut self, passage: &Passage, terms: Vec<TermScore>) -> Result<Hit> {
        let address = passage.best.address;
        let segment = self.sources.segment(address.segment)?.segment.id;
        let stored = self.stored(passage)?;
        let file = self.sources.file_of(address.segment);
        let whole = self.text(address.segment, passage.rows.clone())?;
        if whole.len() as u64 != u64::from(stored.span.len()) {
            return Err(Error::damaged("a passage and its text differ in length"));
        }
        let (before, after) = self.context_lines(&stored, address.segment, &passage.rows)?;
        let is_chunk = passage.rows.len() == 1;
        let highlights = self.highlights(&whole, is_chunk.then_some(address));
        let BestLines {
            snippet,
            section,
            section_range,
        } = self.best_lines(file, &stored, &whole, &highlights)?;
        let request = self.request;
        let mode = self.mode;
        let document = self.document(file, stored.document)?;
        let mut hit = Hit {
            file,
            document: document.path.clone(),
            handle: handles::handle(&document.title, &document.path, &document.suffix),
            title: document.title.clone(),
            section_name: section_name(&section),
            section_number: section.number,
            section: section.titles,
            score: passage.best.score,
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
            before_is_cut: before.is_cut,
            after_is_cut: after.is_cut,
            before: before.text,
            after: after.text,
            highlights: highlights
                .into_iter()
                .map(|highlight| highlight.range)
                .collect(),
            snippet,
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
        let is_too_long = hit.text.len() > HIT_TEXT_LIMIT_BYTES;
        self.cut_hits += usize::from(is_too_long);
        // A character has at most four bytes.
        let longest = is_too_long.then_some(HIT_TEXT_LIMIT_BYTES / 4);
        if let Some(characters) = request.max_text_chars.into_iter().chain(longest).min() {
            // A text that was asked for whole is cut only where it must be.
            let within = match request.max_text_chars {
                Some(_) => section_range,
                None => 0..hit.text.len(),
            };
            let whole = request
                .context_chars
                .map(|around| (around, hit.text.clone()));
            let kept = cut(&mut hit, characters, &within, has_line_map);
            if let Some((around, whole)) = whole {
                let sides = (
                    whole.get(..kept.start).unwrap_or_default(),
                    whole.get(kept.end..).unwrap_or_default(),
                );
                let sides =
                    self.context_chars(&stored, address.segment, &passage.rows, sides, around)?;
                (hit.before, hit.after) = sides;
                (hit.before_is_cut, hit.after_is_cut) = (false, false);
            }
        }
        hit.snippet_first_line = (!has_line_map).then(|| {
            let before = hit.text.get(..hit.snippet.start).unwrap_or_default();
            let line = hit.lines.first.saturating_add(line_ends(before));
            line.min(hit.lines.last)
        });
        Ok(hit)
    }

    /// The snippet of a passage and the section that it lies in. Reads the outline of the document.
    fn best_lines(
        &mut self,
        file: usize,
        stored: &Stored,
        text: &str,
        highlights: &[Highlight],
    ) -> Result<BestLines> {
        let source = self.sources.source(file)?;
        let outlines = &source.catalog.outlines;
        let outline = outlines.stored(source.snapshot, stored.document)?;
        self.outline_bytes += outline.len_bytes() as u64;
        let headings = outline.headings()?;
        let passage = stored.span;
        let offset = |byte: u32| {
            let offset = byte.saturating_sub(passage.start).min(passage.len());
            usize::try_from(offset).unwrap_or(usize::MAX)
        };
        // A heading may begin within its line: in a list, or in a quotation.
        let mut borders: Vec<usize> = starts_within(&headings, passage)
            .into_iter()
            .map(|start| line_start(text, offset(start)))
            .filter(|start| *start > 0)
            .collect();
        borders.dedup();
        let from = line_start(text, offset(stored.best_start));
        let snippet = snippet(text, highlights, &borders, from);
        let shown = text.get(snippet.clone()).unwrap_or_default();
        let first_line = shown.split_inclusive('\n').next().map_or(0, str::len);
        let last_byte = (snippet.start + first_line).saturating_sub(1);
        let byte = passage
            .start
            .saturating_add(u32::try_from(last_byte).unwrap_or(u32::MAX));
        let text_bytes = self.document(file, stored.document)?.text_bytes;
        let section = section_at(&headings, byte, text_bytes);
        let end = if section.span.end < passage.end {
            line_start(text, offset(section.span.end))
        } else {
            text.len()
        };
        let start = line_start(text, offset(section.span.start));
        Ok(BestLines {
            section_range: start.min(snippet.start)..end.max(snippet.end),
            snippet,
            section,
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
        })
    }

    /// Text of consecutive rows.
    fn text(&mut self, segment: usize, rows: Range<u32>) -> Result<String> {
        self.texts.rows(segment, rows)
    }

    /// The requested lines before and after a passage, as far as its document has them.
    fn context_lines(
        &mut self,
        stored: &Stored,
        segment: usize,
        rows: &Range<u32>,
    ) -> Result<(Side, Side)> {
        let (lines_before, lines_after) = self.request.context_lines;
        if rows.is_empty() || (lines_before, lines_after) == (0, 0) {
            return Ok(Default::default());
        }
        let (mut row, mut end) = self.neighbouring_rows(stored, segment, rows)?;
        let (mut before, mut after) = (Pieces::default(), Pieces::default());
        // One line end more than lines: the one that ends the line before them.
        while lines_before > 0 && row.start < row.end && !before.has_lines(lines_before + 1) {
            row.end -= 1;
            before.push(self.text(segment, row.end..row.end + 1)?);
        }
        while end.start < end.end && !after.has_lines(lines_after) {
            after.push(self.text(segment, end.start..end.start + 1)?);
            end.start += 1;
        }
        Ok((
            context::lines_before(&before.before(), lines_before, row.is_empty()),
            context::lines_after(&after.after(), lines_after, end.is_empty()),
        ))
    }

    /// Up to `characters` characters before and after a cut text: first `sides`, which the passage has
    /// there, then the neighbouring chunks of the document.
    fn context_chars(
        &mut self,
        stored: &Stored,
        segment: usize,
        rows: &Range<u32>,
        sides: (&str, &str),
        characters: usize,
    ) -> Result<(String, String)> {
        if rows.is_empty() || characters == 0 {
            return Ok(Default::default());
        }
        let (mut row, mut end) = self.neighbouring_rows(stored, segment, rows)?;
        let (mut before, mut after) = (Pieces::default(), Pieces::default());
        before.push(sides.0.to_owned());
        after.push(sides.1.to_owned());
        // One character more, to see whether the outermost word is whole.
        while row.start < row.end && !before.is_longer_than(characters) {
            row.end -= 1;
            before.push(self.text(segment, row.end..row.end + 1)?);
        }
        while end.start < end.end && !after.is_longer_than(characters) {
            after.push(self.text(segment, end.start..end.start + 1)?);
            end.start += 1;
        }
        let before = last_words(&before.before(), characters).to_owned();
        let mut after = after.after();
        after.truncate(first_words(&after, characters).len());
        Ok((before, after))
    }

    /// The rows of the document before and after a passage.
    fn neighbouring_rows(
        &mut self,
        stored: &Stored,
        segment: usize,
        rows: &Range<u32>,
    ) -> Result<(Range<u32>, Range<u32>)> {
        let file = self.sources.file_of(segment);
        let document = self.document(file, stored.document)?;
        let end_row = document.first_row.saturating_add(document.rows);
        Ok((document.first_row..rows.start, rows.end..end_row))
    }

    fn document(&mut self, file: usize, id: DocumentId) -> Result<&DocumentRecord> {
        let key = (file, id);
        if !self.documents.contains_key(&key) {
            let record = self.sources.document(file, id)?;
            self.documents.insert(key, record);
        }
        self.documents
            .get(&key)
            .ok_or_else(|| Error::damaged("a document vanished"))
    }

    /// Matches of query terms, ascending, without overlaps. Of an identifier only the part that matches is
    /// highlighted. `chunk`: the text is that of a single chunk, which may have been searched before.
    fn highlights(&mut self, text: &str, chunk: Option<ChunkAddress>) -> Vec<Highlight> {
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
        match chunk.and_then(|chunk| self.texts.occurrences(chunk)) {
            Some(found) => found
                .iter()
                .for_each(|(term, range)| highlight(*term, range.clone())),
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

/// Where the line of a byte of a text begins; the end of the text where it has no such byte.
fn line_start(text: &str, byte: usize) -> usize {
    let Some(before) = text.as_bytes().get(..byte) else {
        return text.len();
    };
    memchr::memrchr(b'\n', before).map_or(0, |end| end + 1)
}

/// The snippet of a passage, and the section it lies in.
struct BestLines {
    snippet: Range<usize>,
    section: SectionAt,
    /// What the passage has of the section.
    section_range: Range<usize>,
}

/// The position of a passage.
struct Stored {
    document: DocumentId,
    span: Span,
    lines: Lines,
    /// First byte of its best chunk.
    best_start: u32,
}
