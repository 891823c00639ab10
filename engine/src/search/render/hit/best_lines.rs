//! The lines of a passage with the most of the query, and the section that they lie in.

use std::ops::Range;

use kb_types::error::Result;

use crate::search::rank::passages::Passage;
use crate::search::render::hit::Renderer;
use crate::search::render::hit::read::{ReadPassage, Stored};
use crate::search::render::section::line_start;
use crate::search::render::snippet::{Highlight, front_matter, is_shell, snippet};
use crate::store::outline::{SectionAt, StoredOutline, section_at, starts_within};

/// The snippet of a passage, and the section it lies in.
pub(super) struct BestLines {
    pub(super) snippet: Range<usize>,
    pub(super) section: SectionAt,
    /// What the passage has of the section; of one with nothing but labels, all that follows as well.
    pub(super) section_range: Range<usize>,
    /// Whether others begin in that range.
    pub(super) has_others: bool,
}

impl Renderer<'_, '_> {
    /// The snippet of a passage that was read, with the section that it lies in. The section of a symbol is that of
    /// its name, and has all of it.
    pub(super) fn best_of(
        &mut self,
        passage: &Passage,
        read: &ReadPassage,
        (sought, outline): (&[Highlight], &StoredOutline),
    ) -> Result<BestLines> {
        let file = self.sources.file_of(passage.best.address.segment);
        let stored = &read.stored;
        let mut best = self.best_lines(file, stored, &read.text, (sought, outline))?;
        if let Some(symbol) = passage.symbol {
            let text_bytes = self.cache.records.get(file, stored.document)?.text_bytes;
            best.section = section_at(outline, symbol.name_start, text_bytes);
            (best.section_range, best.has_others) = (0..read.text.len(), false);
        }
        Ok(best)
    }

    /// The snippet of a passage and the section that it lies in.
    pub(super) fn best_lines(
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
        let text_bytes = self.cache.records.get(file, stored.document)?.text_bytes;
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
}
