//! Builds a hit: first what is shown of its passage, then what depends on that, and the hit at the end.

use kb_types::cell_text::ShownRows;
use kb_types::error::Result;
use kb_types::{ChunkId, DocumentId, Lines, PartAddress, SourceState, Span};

use crate::search::explanation::TermScore;
use crate::search::options::Mode;
use crate::search::rank::passages::Passage;
use crate::search::render::context::Side;
use crate::search::render::hit::Renderer;
use crate::search::render::hit::read::ReadPassage;
use crate::search::render::hit::shown::ShownText;
use crate::search::render::room::Room;
use crate::search::render::section::innermost;
use crate::search::render::window::WindowLimit;
use crate::search::response::{Hit, HitNames, HitSymbol};
use crate::search::show::Show;
use crate::store::fields;
use crate::store::handles;
use crate::store::outline::{SectionAt, section_name};

/// What a hit has of the text that is shown of its passage.
struct Rendered {
    handle: String,
    /// The section that the text lies in.
    section: SectionAt,
    symbol: Option<HitSymbol>,
    part: Option<PartAddress>,
    span: Span,
    lines: Lines,
    text: ShownText,
    /// The requested context.
    before: Side,
    after: Side,
}

impl Rendered {
    /// Puts what the cells of rows show in the place of their stored form. Lines stay lines.
    fn show_cells(&mut self) {
        self.text.show_cells();
        for context in [&mut self.before, &mut self.after] {
            context.text = ShownRows::of(&context.text).text;
        }
    }
}

impl Renderer<'_, '_> {
    /// The hit of a passage; `terms` are its [`Hit::terms`]. With [`Show::Lines`] it takes its share of
    /// what is left of the budget, of which `room` has both. Reads the blocks of the passage and of its
    /// context.
    ///
    /// # Errors
    /// [`Damaged`](kb_types::error::Error::Damaged).
    pub(crate) fn hit(
        &mut self,
        passage: &Passage,
        terms: Vec<TermScore>,
        room: Room,
    ) -> Result<Hit> {
        let read = self.read(passage)?;
        let file = self.sources.file_of(passage.best.address.segment);
        let document = self.cache.records.get(file, read.stored.document)?;
        let handle = handles::handle(&document.title, &document.path, &document.suffix);
        // With a line map (HTML) lines of the text are not lines of the original.
        let (text_bytes, has_line_map) = (document.text_bytes, document.line_map);
        let class = document.class()?;
        let outline = self.outline(file, &read.stored)?;
        let sought = self.sought(&read, outline.symbols(), class);
        let best = self.best_of(passage, &read, (&sought, &outline))?;
        let limit = self.window_limit(passage, &read, (&handle, &best.section.titles), room)?;
        let shown = self.shown(&read, &sought, &best, limit);
        let innermost = if self.show.is_part() && best.has_others {
            let (span, text) = (read.stored.span, &read.text);
            innermost(&outline, span, text_bytes, text, &shown.range)
        } else {
            None
        };
        let section = innermost.unwrap_or(best.section);
        let (span, lines) = shown.place(&read, has_line_map);
        let (before, after) = self.context(passage, &read, &shown.range)?;
        let of_section = (!section.titles.is_empty()).then_some(section.span);
        let symbol = self.symbol(outline.symbols(), of_section, span, (passage, &read))?;
        let part = self.part(file, passage, &read.stored, span, lines)?;
        let document = read.stored.document;
        let mut rendered = Rendered {
            handle,
            section,
            symbol,
            span,
            lines,
            text: ShownText::of(read, shown, lines, has_line_map),
            before,
            after,
            part,
        };
        if matches!(rendered.part, Some(PartAddress::Sheet { .. })) {
            rendered.show_cells();
        }
        self.hit_of(passage, document, terms, rendered)
    }

    /// How much is shown of a text whose hit has this handle and these titles of sections; `None` without
    /// [`Show::Lines`].
    fn window_limit(
        &mut self,
        passage: &Passage,
        read: &ReadPassage,
        (handle, section): (&str, &[String]),
        room: Room,
    ) -> Result<Option<WindowLimit>> {
        let Show::Lines(lines, _) = self.show else {
            return Ok(None);
        };
        let stored = &read.stored;
        let file = self.sources.file_of(passage.best.address.segment);
        let part = self.part(file, passage, stored, stored.span, stored.lines)?;
        let document = self.cache.records.get(file, stored.document)?;
        let names = HitNames {
            names: [&document.path, handle, &document.title],
            section,
            part: part.as_ref(),
            metadata: &document.metadata,
        };
        let is_symbol = passage.symbol.is_some();
        Ok(Some(room.limit(lines, names.cost_bytes(), is_symbol)))
    }

    /// The hit of a passage of a document, of which all that depends on the shown text is rendered.
    fn hit_of(
        &mut self,
        passage: &Passage,
        document: DocumentId,
        terms: Vec<TermScore>,
        rendered: Rendered,
    ) -> Result<Hit> {
        let address = passage.best.address;
        let file = self.sources.file_of(address.segment);
        let segment = self.sources.segment(address.segment)?.segment.id;
        let mut copy_paths = Vec::with_capacity(passage.copied_in.len());
        for (file, id) in &passage.copied_in {
            copy_paths.push(self.cache.records.get(*file, *id)?.path.clone());
        }
        let document = self.cache.records.get(file, document)?;
        let (metadata, lists) = fields::joined(document.metadata.clone());
        let mode = self.mode;
        let Rendered { text, section, .. } = rendered;
        Ok(Hit {
            file,
            document: document.path.clone(),
            handle: rendered.handle,
            title: document.title.clone(),
            section_name: section_name(&section),
            section_number: section.number,
            section: section.titles,
            symbol: rendered.symbol,
            part: rendered.part,
            score: self.calibration.score(passage.best.score),
            fused_score: passage.best.score,
            keyword_score: matches!(mode, Mode::Hybrid | Mode::Keyword)
                .then_some(passage.best.keyword),
            vector_score: matches!(mode, Mode::Hybrid | Mode::Semantic)
                .then_some(passage.best.vector),
            lines: rendered.lines,
            span: rendered.span,
            file_type: document.file_type.clone(),
            language: document.language.clone(),
            class: document.class()?,
            tags: document.tags.clone(),
            modified_ms: document.modified_ms,
            size_bytes: document.size_bytes,
            source_state: SourceState::Unknown,
            metadata,
            lists,
            text: text.text,
            begins_within_line: text.is_within_line.0,
            ends_within_line: text.is_within_line.1,
            before: rendered.before.text,
            before_is_cut: rendered.before.is_cut,
            after: rendered.after.text,
            after_is_cut: rendered.after.is_cut,
            highlights: text.highlights,
            snippet: text.snippet,
            snippet_first_line: text.snippet_first_line,
            chunk: ChunkId {
                segment,
                row: address.row,
            },
            chunk_index: address.row.saturating_sub(document.first_row),
            chunks: passage.rows.end.saturating_sub(passage.rows.start),
            matches: passage.matches,
            more_in_document: passage.more_in_document,
            copies: u32::try_from(passage.copied_in.len()).unwrap_or(u32::MAX),
            copy_paths,
            bonuses: Vec::new(),
            terms,
        })
    }
}
