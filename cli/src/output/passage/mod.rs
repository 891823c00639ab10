//! Prints a hit: its location, then its lines with the matched words highlighted.

use std::ops::Range;

use kb_engine::escape::{escape_char, escape_controls, escape_line, shown};
use kb_engine::{Hit, PartAddress, shown_score};
use unicode_width::UnicodeWidthChar;

use crate::output::hyperlink::linked;
use crate::output::style::Style;

/// Columns of a tab stop.
const TAB_COLUMNS: usize = 4;

/// What stands for text that was cut off; one column wide.
const ELLIPSIS: &str = "\u{2026}";

/// Copies of a hit that are named; `--json` has all.
const NAMED_COPIES: usize = 3;

/// How hits are laid out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout {
    /// Colours.
    pub(crate) style: Style,
    /// Width to clip lines to; `None`: a pipe, where passages are raw and whole.
    pub(crate) columns: Option<usize>,
    /// Whole chunks instead of their best lines.
    pub(crate) full: bool,
    /// With the parts of the score.
    pub(crate) explain: bool,
}

impl Layout {
    /// A name, title or term as a part of a line.
    fn name(&self, text: &str) -> String {
        match self.columns {
            Some(_) => escape_line(text).into_owned(),
            None => escape_controls(text).into_owned(),
        }
    }
}

/// The block of one hit, each line ended.
#[cfg(test)]
fn render(hit: &Hit, file: Option<&str>, layout: &Layout) -> String {
    render_linked(hit, file, layout, &|_| None)
}

/// As [`render`], the place linked to what `link` gives for a line of the hit.
pub(crate) fn render_linked(
    hit: &Hit,
    file: Option<&str>,
    layout: &Layout,
    link: &dyn Fn(u32) -> Option<String>,
) -> String {
    let (range, first_line) = if layout.full {
        (0..hit.text.len(), hit.lines.first)
    } else {
        (
            hit.snippet.clone(),
            hit.snippet_first_line.unwrap_or(hit.lines.first),
        )
    };
    let lines = lines_of(&hit.text, range, first_line, hit.lines.last);
    // What is shown, so that the place of it reads it again.
    let shown = match (lines.first(), lines.last()) {
        (Some((first, _)), Some((last, _))) if !layout.full && hit.snippet_first_line.is_some() => {
            (*first, *last)
        }
        _ => (hit.lines.first, hit.lines.last),
    };
    let mut block = header(hit, shown, file, layout, link(shown.0));
    if layout.explain {
        block.push_str(&score_parts(hit, layout));
    }
    let last_number = hit.lines.last.saturating_add(line_count(&hit.after));
    let rows = first_row(hit);
    let margin = Margin {
        layout,
        digits: rows
            .map_or(last_number, |first| {
                first.saturating_add(last_number.saturating_sub(hit.lines.first))
            })
            .to_string()
            .len(),
        is_numbered: hit.snippet_first_line.is_some() && (rows.is_some() || !is_sheet(hit)),
        rows: rows.map(|first| (hit.lines.first, first)),
    };
    // A chunk that begins within a line shares it with what is before, and likewise at its end.
    let shares = |text: &str| u32::from(!text.is_empty() && !text.ends_with('\n'));
    let first_before = (hit.lines.first + shares(&hit.before))
        .saturating_sub(line_count(&hit.before))
        .max(1);
    let first_after = (hit.lines.last + 1).saturating_sub(shares(&hit.text));
    let around = |text: &str, first: u32| lines_of(text, 0..text.len(), first, last_number);
    if layout.full {
        let lines = around(&hit.before, first_before);
        margin.push(&mut block, &hit.before, lines, &[], ("", ""));
    }
    let cut = (hit.cut_before(), hit.cut_after());
    margin.push(&mut block, &hit.text, lines, &hit.highlights, cut);
    if layout.full {
        let lines = around(&hit.after, first_after);
        margin.push(&mut block, &hit.after, lines, &[], ("", ""));
    }
    if hit.more_in_document > 0 {
        let more = format!("{} more in this document", hit.more_in_document);
        block.push_str(&format!("  {}\n", layout.style.faint(&more)));
    }
    if let Some(copies) = hit.copies_note(NAMED_COPIES) {
        let copies = layout.name(&copies);
        block.push_str(&format!("  {}\n", layout.style.faint(&copies)));
    }
    block
}

fn is_sheet(hit: &Hit) -> bool {
    matches!(hit.part, Some(PartAddress::Sheet { .. }))
}

/// The row of the first line of a hit in a sheet, where each further line is the next row.
fn first_row(hit: &Hit) -> Option<u32> {
    match &hit.part {
        Some(PartAddress::Sheet {
            first_row,
            last_row,
            ..
        }) if last_row - first_row == hit.lines.last.saturating_sub(hit.lines.first) => {
            Some(*first_row)
        }
        _ => None,
    }
}

fn line_count(text: &str) -> u32 {
    u32::try_from(text.lines().count()).unwrap_or(u32::MAX)
}

/// Writes lines behind their numbers.
struct Margin<'l> {
    layout: &'l Layout,
    /// Columns of the longest number.
    digits: usize,
    /// Lines that the original does not have get room but no number.
    is_numbered: bool,
    /// In a sheet: a line and its row, which stands in the margin.
    rows: Option<(u32, u32)>,
}

impl Margin<'_> {
    /// `cut` is written before the text and after it, where these lines begin and end it.
    fn push(
        &self,
        block: &mut String,
        text: &str,
        lines: Vec<(u32, Range<usize>)>,
        highlights: &[Range<usize>],
        cut: (&str, &str),
    ) {
        let (style, digits) = (self.layout.style, self.digits);
        for (line_number, line) in lines {
            let number = if self.is_numbered {
                let number = self.rows.map_or(line_number, |(line, row)| {
                    (line_number + row).saturating_sub(line)
                });
                format!("{number:>digits$}")
            } else {
                " ".repeat(digits)
            };
            let columns = self.layout.columns;
            let first = if line.start == 0 { cut.0 } else { "" };
            let last = if line.end == text.len() { cut.1 } else { "" };
            let taken = digits + 4 + first.len() + last.len();
            let columns = columns.map(|columns| columns.saturating_sub(taken));
            block.push_str(&format!("  {}  {first}", style.line_number(&number)));
            block.push_str(&marked_line(text, line, highlights, style, columns));
            block.push_str(last);
            block.truncate(block.trim_end_matches(' ').len());
            block.push('\n');
        }
    }
}

/// `path:first-last  title > section  score`, or `report.pdf p. 3  title > section  score`.
fn header(
    hit: &Hit,
    lines: (u32, u32),
    file: Option<&str>,
    layout: &Layout,
    link: Option<String>,
) -> String {
    let style = layout.style;
    let shown = |text: &str| layout.name(text);
    let address = match &hit.part {
        Some(part) => format!(" {}", shown(&part.to_string())),
        None => format!(":{}-{}", lines.0, lines.1),
    };
    let place = match file {
        Some(file) => format!("{} {}{address}", shown(file), shown(&hit.document)),
        None => format!("{}{address}", shown(&hit.document)),
    };
    let score = format!("{:.2}", shown_score(hit.score, 2));
    let crumbs: Vec<String> = breadcrumbs(hit).iter().map(|crumb| shown(crumb)).collect();
    let crumbs = match layout.columns {
        None => crumbs.join(" > "),
        Some(columns) => fit_crumbs(
            &crumbs,
            columns.saturating_sub(width(&place) + score.len() + 4),
        ),
    };
    let mut line = style.path(&place);
    if let Some(address) = link {
        line = linked(&line, &address);
    }
    if !crumbs.is_empty() {
        line.push_str("  ");
        line.push_str(&style.strong(&crumbs));
    }
    line.push_str("  ");
    line.push_str(&style.faint(&score));
    line.push('\n');
    line
}

/// Title and headings, without what the path or the crumb before already says.
fn breadcrumbs(hit: &Hit) -> Vec<String> {
    let file_name = hit.document.rsplit('/').next().unwrap_or_default();
    let mut crumbs: Vec<String> = Vec::new();
    for part in std::iter::once(&hit.title).chain(&hit.section) {
        let part = part.split_whitespace().collect::<Vec<_>>().join(" ");
        if !part.is_empty() && part != file_name && crumbs.last() != Some(&part) {
            crumbs.push(part);
        }
    }
    crumbs
}

/// The crumbs that fit: all, else the outermost and the innermost, else the innermost, which says
/// most about the passage.
fn fit_crumbs(crumbs: &[String], columns: usize) -> String {
    let whole = crumbs.join(" > ");
    let [first, .., last] = crumbs else {
        return clip_end(&whole, columns);
    };
    let ends = format!("{first} > {ELLIPSIS} > {last}");
    match columns {
        _ if width(&whole) <= columns => whole,
        _ if crumbs.len() > 2 && width(&ends) <= columns => ends,
        _ => clip_end(last, columns),
    }
}

fn score_parts(hit: &Hit, layout: &Layout) -> String {
    let style = layout.style;
    let mut parts = vec![
        format!("score {:.4}", shown_score(hit.score, 4)),
        format!("fused {:.4}", hit.fused_score),
    ];
    parts.extend(hit.keyword_score.map(|score| format!("keyword {score:.4}")));
    parts.extend(hit.vector_score.map(|score| format!("vector {score:.4}")));
    let bonuses = hit.bonuses.iter();
    let counted = bonuses.filter(|bonus| bonus.score != 0.0);
    parts.extend(counted.map(|bonus| format!("{} {:+.4}", bonus.name, bonus.score)));
    let mut text = format!("  {}\n", style.faint(&parts.join("  ")));
    let terms: Vec<String> = hit
        .terms
        .iter()
        .map(|term| {
            let name = layout.name(&term.term);
            format!("{name} {:.4} (x{})", term.score, term.frequency)
        })
        .collect();
    if !terms.is_empty() {
        text.push_str(&format!("  {}\n", style.faint(&terms.join("  "))));
    }
    text
}

/// The lines of `range` with their numbers, without blank lines at both ends. A range that does
/// not lie on character bounds has no lines.
fn lines_of(text: &str, range: Range<usize>, first: u32, last: u32) -> Vec<(u32, Range<usize>)> {
    let Some(part) = text.get(range.clone()) else {
        return Vec::new();
    };
    let mut start = range.start;
    let mut lines = Vec::new();
    for (line, number) in part.split_inclusive('\n').zip(first..) {
        let body = line.trim_end_matches(['\n', '\r']);
        lines.push((number.min(last), start..start + body.len()));
        start += line.len();
    }
    let blank = |(_, line): &(u32, Range<usize>)| {
        text.get(line.clone())
            .is_none_or(|line| line.trim().is_empty())
    };
    let blank_lines_at_start = lines.iter().take_while(|line| blank(line)).count();
    lines.drain(..blank_lines_at_start);
    while lines.last().is_some_and(blank) {
        lines.pop();
    }
    lines
}

/// One character as it is shown.
struct Cell {
    shown: String,
    columns: usize,
    marked: bool,
}

/// One line, its marked words coloured; with `columns`, harmless to a terminal and clipped to
/// where the highlights are.
fn marked_line(
    text: &str,
    line: Range<usize>,
    highlights: &[Range<usize>],
    style: Style,
    columns: Option<usize>,
) -> String {
    let body = text.get(line.clone()).unwrap_or_default();
    let marked = |position: usize| {
        let after = highlights.partition_point(|highlight| highlight.end <= position);
        highlights
            .get(after)
            .is_some_and(|highlight| highlight.start <= position)
    };
    let mut column = 0;
    let mut cells: Vec<Cell> = Vec::with_capacity(body.len());
    for one in shown(body) {
        let shown = match one.character {
            '\t' if columns.is_some() => " ".repeat(TAB_COLUMNS - column % TAB_COLUMNS),
            character if columns.is_some() && one.is_escaped() => escape_char(character),
            character => character.to_string(),
        };
        let cell = Cell {
            columns: width(&shown),
            shown,
            marked: marked(line.start + one.offset),
        };
        column += cell.columns;
        cells.push(cell);
    }
    match columns {
        Some(columns) if column > columns => clip(&cells, columns, style),
        _ => paint(&cells, style),
    }
}

/// The part of a line that fits, begun so that as much as possible of its highlights is seen.
fn clip(cells: &[Cell], columns: usize, style: Style) -> String {
    let first_mark = cells.iter().position(|cell| cell.marked);
    let mark_end = cells
        .iter()
        .rposition(|cell| cell.marked)
        .map_or(0, |last| last + 1);
    let columns_of = |cells: &[Cell]| cells.iter().map(|cell| cell.columns).sum::<usize>();
    let part = |range: Range<usize>| cells.get(range).unwrap_or_default();
    let mut start = 0;
    // Leave the start of the line only when the highlights do not fit together with it.
    if let Some(first_mark) = first_mark.filter(|_| columns_of(part(0..mark_end)) + 1 > columns) {
        // Words before a mark tell what it is about: a third of the width goes to them.
        let before = columns / 3;
        start = first_mark;
        while start > 0 && columns_of(part(start - 1..first_mark)) <= before {
            start -= 1;
        }
    }
    let mut left = columns.saturating_sub(1 + usize::from(start > 0));
    let mut end = start;
    while let Some(cell) = cells.get(end).filter(|cell| cell.columns <= left) {
        left -= cell.columns;
        end += 1;
    }
    let ellipsis = style.faint(ELLIPSIS);
    let head = if start > 0 { ellipsis.as_str() } else { "" };
    let tail = if end < cells.len() {
        ellipsis.as_str()
    } else {
        ""
    };
    format!("{head}{}{tail}", paint(part(start..end), style))
}

fn paint(cells: &[Cell], style: Style) -> String {
    let mut painted = String::new();
    for run in cells.chunk_by(|one, next| one.marked == next.marked) {
        let text: String = run.iter().map(|cell| cell.shown.as_str()).collect();
        if run.first().is_some_and(|cell| cell.marked) {
            painted.push_str(&style.mark(&text))
        } else {
            painted.push_str(&text)
        }
    }
    painted
}

/// As much of `text` as fits, with an ellipsis when that is not all.
pub(crate) fn clip_end(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut left = columns.saturating_sub(1);
    let mut clipped = String::new();
    for character in text.chars() {
        let columns = character.width().unwrap_or(0);
        if columns > left {
            break;
        }
        left -= columns;
        clipped.push(character);
    }
    if columns > 0 {
        clipped.push_str(ELLIPSIS);
    }
    clipped
}

pub(crate) fn width(text: &str) -> usize {
    text.chars()
        .map(|character| character.width().unwrap_or(0))
        .sum()
}

#[cfg(test)]
mod tests;
