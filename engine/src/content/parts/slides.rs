//! Texts of slides.

use std::ops::Range;

use kb_types::error::{Error, Result};
use kb_types::{Lines, PartContent, PartKind, Slide};

use crate::catalog::BoundSegment;
use crate::content::number_ranges::{self, NumberRanges};
use crate::content::paged_call::{ITEM_OVERHEAD_BYTES, PagedCall};
use crate::content::parts::stored::{lines_of, part_rows, parts_of_kind};
use crate::content::text::lines_of_part;
use crate::content::{CommitView, DocumentInfo};
use crate::paging::{Budget, PageOptions, Paged, TextParts, TextPosition, fill_texts, skip};

/// A slide; or where it alone is over the budget, a part of it, with the lines of that.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SlideText {
    /// Its number in the document, from 1.
    pub number: u32,
    /// Its title; empty when it has none.
    pub title: String,
    /// Its text, which begins with the title, as far as it is stored there.
    pub text: String,
    /// Its notes; empty when it has none.
    pub notes: String,
    /// Whether it is not shown.
    pub is_hidden: bool,
    /// Lines of the stored text that it covers; both 0 for a slide without text.
    pub lines: Lines,
}

/// Slides of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DocumentSlides {
    /// The document.
    pub document: DocumentInfo,
    /// The requested slides, in the order of the request.
    pub slides: Paged<SlideText>,
    /// Number of slides of the document.
    pub total: u32,
    /// Number of slides that the call selects, those of earlier parts of the result included.
    pub selected: u64,
    /// Number of these that the next parts of the result have; of a slide that is cut, the rest.
    pub left: u64,
}

/// See [`crate::Kb::slides`].
pub(crate) fn slides(
    commit: CommitView<'_>,
    name: &str,
    ranges: &[(u32, u32)],
    page: &PageOptions,
) -> Result<DocumentSlides> {
    page.validate()?;
    let (id, record, named) = commit.locate(name)?;
    let parts = parts_of_kind(commit, id, &record, PartKind::Slide)?;
    let total = u32::try_from(parts.len()).unwrap_or(u32::MAX);
    let ranges = match (ranges, named) {
        // The slides of the lines that the name selects.
        ([], Some(lines)) => {
            let number = |line: u32| {
                let up_to = parts.partition_point(|part| part.line <= line);
                u32::try_from(up_to).unwrap_or(u32::MAX)
            };
            vec![(number(lines.first), number(lines.last))]
        }
        _ => ranges.to_vec(),
    };
    let ranges = NumberRanges::new(&ranges);
    let ranges_text = ranges.text();
    if !ranges.are_within(total) {
        return Err(Error::InvalidSlides {
            slides: ranges_text,
            path: record.path,
            total,
        });
    }
    let scope = PagedCall::Slides {
        path: &record.path,
        ranges: &ranges_text,
    }
    .scope(commit);
    let start = TextPosition::of(scope.start(page)?);
    let ranges = ranges.clipped(total);
    let selected = number_ranges::count(&ranges);
    let segment = commit.catalog.bind_document(commit.snapshot, &record)?;
    let rows = part_rows(segment.as_ref(), &record, &parts)?;
    let mut blocks = segment.as_ref().map(BoundSegment::blocks).transpose()?;
    let texts = skip(ranges.into_iter().flatten(), start.item).map(|number| {
        let position = (number as usize).saturating_sub(1);
        let part = parts.get(position);
        let (Some(part), Some(rows)) = (part, rows.get(position)) else {
            return Err(Error::damaged("a slide vanished"));
        };
        let PartContent::Slide(slide) = &part.content else {
            return Err(Error::damaged("a slide is none"));
        };
        let mut text = String::new();
        if let Some(blocks) = &mut blocks
            && !rows.is_empty()
        {
            blocks.append(rows.start, rows.end - rows.start, &mut text)?;
        }
        let notes = slide.notes.map_or(text.len(), |notes| {
            text.floor_char_boundary(notes.saturating_sub(part.start) as usize)
        });
        Ok(WholeText {
            number,
            slide: slide.clone(),
            lines: lines_of(&parts, position, &record),
            text,
            notes,
        })
    });
    let text_parts = TextParts {
        text: |slide: &WholeText| slide.text.as_str(),
        names_bytes: |slide| slide.slide.title.len() as u64 + ITEM_OVERHEAD_BYTES,
        keep: |slide: &mut WholeText, part: Range<usize>| {
            slide.lines = lines_of_part(slide.lines, &slide.text, &part);
            slide.text.truncate(part.end);
            slide.text.drain(..part.start);
            slide.notes = slide.notes.saturating_sub(part.start).min(slide.text.len());
        },
    };
    let found = fill_texts(&scope, Budget::of_texts(page), start, texts, &text_parts)?;
    let left = match &found.next {
        Some(next) => selected.saturating_sub(TextPosition::of(next.offset()?).item),
        None => 0,
    };
    let slides = Paged {
        items: found.items.into_iter().map(WholeText::divided).collect(),
        tokens: found.tokens,
        over_budget: found.over_budget,
        is_divided: found.is_divided,
        next: found.next,
    };
    let document = DocumentInfo::from_record(commit, id, record)?;
    Ok(DocumentSlides {
        document,
        slides,
        total,
        selected,
        left,
    })
}

/// A slide with its text and notes in one.
struct WholeText {
    number: u32,
    slide: Slide,
    lines: Lines,
    text: String,
    /// First byte of the notes in `text`.
    notes: usize,
}

impl WholeText {
    fn divided(mut self) -> SlideText {
        let notes = self.text.split_off(self.notes.min(self.text.len()));
        SlideText {
            number: self.number,
            title: self.slide.title,
            text: self.text,
            notes,
            is_hidden: self.slide.is_hidden,
            lines: self.lines,
        }
    }
}
