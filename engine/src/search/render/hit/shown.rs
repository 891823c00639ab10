//! Which part of a passage is shown, and its text.

use std::ops::Range;

use kb_types::cell_text::ShownRows;
use kb_types::{Lines, Span, line_ends};

use crate::search::render::hit::best_lines::BestLines;
use crate::search::render::hit::read::ReadPassage;
use crate::search::render::hit::{HIT_TEXT_LIMIT_BYTES, Renderer};
use crate::search::render::snippet::{Highlight, snippet};
use crate::search::render::trim::preview_within;
use crate::search::render::window::{WindowLimit, window};
use crate::search::show::Show;

/// What is shown of the text of a passage, as ranges of that.
pub(super) struct Shown {
    pub(super) range: Range<usize>,
    pub(super) snippet: Range<usize>,
}

impl Renderer<'_, '_> {
    /// What is shown of a passage: its best lines within a `limit`, a preview, or all, up to
    /// [`HIT_TEXT_LIMIT_BYTES`].
    pub(super) fn shown(
        &mut self,
        read: &ReadPassage,
        sought: &[Highlight],
        best: &BestLines,
        limit: Option<WindowLimit>,
    ) -> Shown {
        let text = read.text.as_str();
        let mut shown = match limit {
            Some(limit) => best_window(read, sought, &best.section_range, limit),
            None => Shown {
                range: 0..text.len(),
                snippet: best.snippet.clone(),
            },
        };
        let is_too_long = shown.range.len() > HIT_TEXT_LIMIT_BYTES;
        self.cut_hits += usize::from(is_too_long);
        // A character has at most four bytes.
        let longest = is_too_long.then_some(HIT_TEXT_LIMIT_BYTES / 4);
        let asked = match self.show {
            Show::Chars(characters, _) => Some(characters),
            Show::Whole(_) | Show::Lines(..) => None,
        };
        if let Some(characters) = asked.into_iter().chain(longest).min() {
            // A text that was asked for whole is cut only where it must be.
            let within = match asked {
                Some(_) => best.section_range.clone(),
                None => 0..text.len(),
            };
            shown.range = preview_within(text, &shown.snippet, characters, &within);
        }
        shown
    }
}

/// The best lines of one section, so that it is the section of all that is shown.
fn best_window(
    read: &ReadPassage,
    sought: &[Highlight],
    section: &Range<usize>,
    limit: WindowLimit,
) -> Shown {
    let text = read.text.as_str();
    let part = text.get(section.clone()).unwrap_or_default();
    let best = &read.stored.best;
    let best = best.start.saturating_sub(section.start)..best.end.saturating_sub(section.start);
    let window = window(part, &highlights_within(sought, section), &best, limit);
    let range = section.start + window.start..section.start + window.end;
    let lines = text.get(range.clone()).unwrap_or_default();
    let snippet = snippet(lines, &highlights_within(sought, &range), &[], 0);
    Shown {
        snippet: range.start + snippet.start..range.start + snippet.end,
        range,
    }
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

impl Shown {
    /// Where the shown text is: its bytes in the document, and its lines. With a line map only the lines of all of
    /// the passage are known.
    pub(super) fn place(&self, read: &ReadPassage, has_line_map: bool) -> (Span, Lines) {
        let (mut span, mut lines) = (read.stored.span, read.stored.lines);
        if self.range.len() == read.text.len() {
            return (span, lines);
        }
        let shown = read.text.get(self.range.clone()).unwrap_or_default();
        if !has_line_map {
            let before = read.text.get(..self.range.start).unwrap_or_default();
            let last = lines.last;
            lines.first = lines.first.saturating_add(line_ends(before)).min(last);
            let ends = line_ends(shown.strip_suffix('\n').unwrap_or(shown));
            lines.last = lines.first.saturating_add(ends).min(last);
        }
        let bytes = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        span.start = span.start.saturating_add(bytes(self.range.start));
        span.end = span.start.saturating_add(bytes(shown.len()));
        (span, lines)
    }

    /// Whether the shown text begins, and whether it ends, within a line.
    fn is_within_line(&self, read: &ReadPassage) -> (bool, bool) {
        let text = read.text.as_str();
        let before = text.get(..self.range.start).unwrap_or_default();
        let inside = text.get(self.range.clone()).unwrap_or_default();
        let after = text.get(self.range.end..).unwrap_or_default();
        let begins = match before {
            "" => read.is_cut.0,
            before => !before.ends_with('\n'),
        };
        let ends = match after {
            "" => read.is_cut.1,
            after => !inside.ends_with('\n') && !after.starts_with('\n'),
        };
        (begins, ends)
    }
}

/// The shown text, with ranges of it.
pub(super) struct ShownText {
    pub(super) text: String,
    /// Whether it begins, and whether it ends, within a line.
    pub(super) is_within_line: (bool, bool),
    pub(super) highlights: Vec<Range<usize>>,
    pub(super) snippet: Range<usize>,
    /// `None` with a line map.
    pub(super) snippet_first_line: Option<u32>,
}

impl ShownText {
    /// The text of a passage that is shown, which has these lines.
    pub(super) fn of(
        read: ReadPassage,
        shown: Shown,
        lines: Lines,
        has_line_map: bool,
    ) -> ShownText {
        let is_within_line = shown.is_within_line(&read);
        let highlights = read.highlights.into_iter().map(|it| it.range);
        let Shown { range, snippet } = shown;
        let (text, highlights, snippet) = if range.len() == read.text.len() {
            (read.text, highlights.collect(), snippet)
        } else {
            let inside = |part: Range<usize>| {
                let (start, end) = (part.start.max(range.start), part.end.min(range.end));
                (start < end).then(|| start - range.start..end - range.start)
            };
            let text = read.text.get(range.clone()).unwrap_or_default().to_owned();
            let highlights = highlights.filter_map(inside).collect();
            (text, highlights, inside(snippet).unwrap_or(0..0))
        };
        let snippet_first_line = (!has_line_map).then(|| {
            let before = text.get(..snippet.start).unwrap_or_default();
            let line = lines.first.saturating_add(line_ends(before));
            line.min(lines.last)
        });
        ShownText {
            text,
            is_within_line,
            highlights,
            snippet,
            snippet_first_line,
        }
    }

    /// Puts what the cells of rows show in the place of their stored form. Lines stay lines.
    pub(super) fn show_cells(&mut self) {
        let shown = ShownRows::of(&self.text);
        for highlight in &mut self.highlights {
            *highlight = shown.range(highlight);
        }
        self.highlights.retain(|highlight| !highlight.is_empty());
        self.snippet = shown.range(&self.snippet);
        self.text = shown.text;
    }
}
