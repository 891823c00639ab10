//! Chunks of a document.

use std::ops::Range;

use kb_types::cell_text::ShownRows;
use kb_types::error::Result;
use kb_types::{ChunkSpan, Lines, PartAddress, Span};

use crate::content::CommitView;
use crate::content::paged_call::{ITEM_OVERHEAD_BYTES, PagedCall};
use crate::content::sections::section_span;
use crate::content::text::{lines_of_part, rows_of, span_of};
use crate::paging::{Budget, PageOptions, Paged, TextParts, TextPosition, fill, fill_texts, skip};
use crate::store::outline::SectionPath;

/// One chunk of a document; or where it alone is over the budget, a part of it, with the bytes and lines of that.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChunkText {
    /// Number in the document, from 0.
    pub index: u32,
    /// Its bytes of the stored text and lines of the original.
    pub at: ChunkSpan,
    /// Headings above it, outermost first.
    pub section: Vec<String>,
    /// The page, sheet or slide that it lies in; `None` in a document without them.
    pub part: Option<PartAddress>,
    /// The stored text of the bytes at [`at`](Self::at); of sheets, what their cells show.
    pub text: String,
}

/// See [`crate::Kb::chunk_spans`].
pub(crate) fn chunk_spans(commit: CommitView<'_>, name: &str) -> Result<Vec<ChunkSpan>> {
    let (_, record) = commit.resolve(name)?;
    let segment = commit.catalog.bind_document(commit.snapshot, &record)?;
    let Some(segment) = segment else {
        return Ok(Vec::new());
    };
    let chunks = segment.chunks();
    let rows = record.first_row..record.first_row.saturating_add(record.rows);
    rows.map(|row| Ok(chunks.get(row)?.at)).collect()
}

/// See [`crate::Kb::chunks`].
pub(crate) fn chunks(
    commit: CommitView<'_>,
    name: &str,
    section: Option<&str>,
    lines: Option<Lines>,
    page: &PageOptions,
) -> Result<Paged<ChunkText>> {
    page.validate()?;
    let (id, record, named) = commit.locate(name)?;
    let span = match (section, lines.or(named)) {
        (None, None) => None,
        (None, lines) => Some(span_of(commit, &record, lines)?),
        (Some(section), _) => Some(section_span(commit, id, &record, section)?),
    };
    let scope = PagedCall::Chunks {
        path: &record.path,
        span,
    }
    .scope(commit);
    let start = TextPosition::of(scope.start(page)?);
    let budget = Budget::of_texts(page);
    if record.rows == 0 {
        return fill(&scope, budget, start.item, std::iter::empty(), |_| 0);
    }
    let segment = commit.catalog.segment(record.segment())?;
    let segment = segment.bind(commit.snapshot)?;
    let (chunks, mut blocks) = (segment.chunks(), segment.blocks()?);
    let headings = commit.catalog.outlines.get(commit.snapshot, id)?;
    let parts = &commit.catalog.parts;
    let parts = parts.get(commit.snapshot, id, record.text_bytes)?;
    let mut sections = SectionPath::new(&headings);
    let mut rows = record.first_row..record.first_row.saturating_add(record.rows);
    if let Some(span) = span {
        rows = rows_of(&segment, &record, span)?;
    }
    let numbered = rows.map(|row| (row, row.saturating_sub(record.first_row)));
    let texts = skip(numbered, start.item).map(|(row, index)| {
        let at = chunks.get(row)?.at;
        Ok(ChunkText {
            index,
            at,
            section: sections.at(at.span.start).map(str::to_owned).collect(),
            part: PartAddress::of(&parts, at.span.start, at.lines),
            text: blocks.chunk(row)?,
        })
    });
    let text_parts = TextParts {
        text: |chunk: &ChunkText| chunk.text.as_str(),
        names_bytes: |chunk| {
            let section: usize = chunk.section.iter().map(String::len).sum();
            let part = chunk.part.as_ref().map_or(0, |part| part.name().len());
            (section + part) as u64 + ITEM_OVERHEAD_BYTES
        },
        keep: |chunk: &mut ChunkText, part: Range<usize>| {
            if !record.line_map {
                chunk.at.lines = lines_of_part(chunk.at.lines, &chunk.text, &part);
            }
            if chunk.part.is_some() {
                chunk.part = PartAddress::of(&parts, chunk.at.span.start, chunk.at.lines);
            }
            let byte = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
            let start = chunk.at.span.start;
            chunk.at.span = Span {
                start: start.saturating_add(byte(part.start)),
                end: start.saturating_add(byte(part.end)),
            };
            chunk.text.truncate(part.end);
            chunk.text.drain(..part.start);
        },
    };
    let mut found = fill_texts(&scope, budget, start, texts, &text_parts)?;
    // Only now: where a text is cut is counted in stored bytes, as in cursors.
    for chunk in &mut found.items {
        if matches!(chunk.part, Some(PartAddress::Sheet { .. })) {
            chunk.text = ShownRows::of(&chunk.text).text;
        }
    }
    Ok(found)
}
