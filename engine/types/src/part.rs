//! Parts of a document: its pages, sheets or slides.

use crate::cell_text::MAX_COLUMNS;
use crate::{Lines, Span, line_ends};

/// A part of a document that has an address of its own. All parts of a document are of one kind, the first
/// begins at its first byte, and each begins with a line and ends where the next one begins. No chunk crosses
/// a part, and the lines of a document with parts are those of its stored text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// First byte in the stored text. Empty parts begin where the next one does.
    pub start: u32,
    /// Line of the stored text that begins there, from 1.
    pub line: u32,
    /// What it is.
    pub content: PartContent,
}

/// What a part is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PartContent {
    /// A page.
    Page(Page),
    /// A sheet of a workbook, or a table of rows.
    Sheet(Sheet),
    /// A slide of a presentation.
    Slide(Slide),
}

/// A page of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// How it is known where the page begins.
    pub source: PageSource,
    /// The number that is printed on it, where the document states one other than its position: `iv`, `A-3`;
    /// else empty.
    pub label: String,
}

/// How it is known where the pages of a document begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum PageSource {
    /// They are pages of the document itself: PDF.
    Physical = 1,
    /// The program that wrote the document noted where its pages began.
    Rendered = 2,
    /// The document begins a new page there. What is too long for a page goes on on estimated ones.
    Explicit = 3,
    /// Nothing is known of it: about as much text as a page usually has, cut at paragraphs and headings.
    Estimated = 4,
}

impl PageSource {
    /// All sources, in the order of their numbers.
    pub const ALL: [PageSource; 4] = [
        PageSource::Physical,
        PageSource::Rendered,
        PageSource::Explicit,
        PageSource::Estimated,
    ];

    /// The name used in output.
    pub fn name(self) -> &'static str {
        match self {
            PageSource::Physical => "physical",
            PageSource::Rendered => "rendered",
            PageSource::Explicit => "explicit",
            PageSource::Estimated => "estimated",
        }
    }

    /// The source with that number in a file.
    pub fn from_number(number: u8) -> Option<PageSource> {
        PageSource::ALL.into_iter().find(|it| *it as u8 == number)
    }
}

/// A sheet: one line of text a row that has cells, from top to bottom.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sheet {
    /// Its name, as on its tab; empty for a file of rows without sheets, such as CSV.
    pub name: String,
    /// The last row with a cell, from 1; 0 for an empty sheet.
    pub rows: u32,
    /// The last column with a cell, from 1; 0 for an empty sheet.
    pub columns: u32,
    /// The row whose cells name the columns, if there is one, from 1.
    pub header_row: Option<u32>,
    /// Whether the program that wrote it hides it.
    pub is_hidden: bool,
    /// Cells with a formula whose value the file does not hold.
    pub uncalculated: u32,
    /// Where the rows of the lines do not go on by one: pairs of a line of the sheet, from 0, and its row, from
    /// 1, both ascending. The first line is row 1 unless a pair says otherwise.
    pub runs: Vec<(u32, u32)>,
}

impl Sheet {
    /// The row of a line of the sheet, from 0.
    pub fn row_of_line(&self, line: u32) -> u32 {
        let after = self.runs.partition_point(|(first, _)| *first <= line);
        let run = after.checked_sub(1).and_then(|at| self.runs.get(at));
        let (first, row) = run.copied().unwrap_or((0, 1));
        row.saturating_add(line - first)
    }

    /// The lines of the sheet, from 0, that hold rows of `first..=last`; `None` when no line does.
    pub fn lines_of_rows(&self, first: u32, last: u32, lines: u32) -> Option<(u32, u32)> {
        // Rows ascend with lines.
        let before = |row: u32| {
            let (mut low, mut high) = (0, lines);
            while low < high {
                let middle = low + (high - low) / 2;
                if self.row_of_line(middle) < row {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            low
        };
        let (from, to) = (before(first), before(last.saturating_add(1)));
        (from < to).then(|| (from, to - 1))
    }
}

/// A slide: its title, its text, then its notes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Slide {
    /// Its title; empty when it has none.
    pub title: String,
    /// First byte of its notes in the stored text; they go to its end.
    pub notes: Option<u32>,
    /// Whether it is not shown.
    pub is_hidden: bool,
}

/// The kinds of parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum PartKind {
    /// Pages.
    Page = 1,
    /// Sheets.
    Sheet = 2,
    /// Slides.
    Slide = 3,
}

impl PartKind {
    /// The name used in output: `page`.
    pub fn name(self) -> &'static str {
        match self {
            PartKind::Page => "page",
            PartKind::Sheet => "sheet",
            PartKind::Slide => "slide",
        }
    }

    /// The name of several: `pages`.
    pub fn plural(self) -> &'static str {
        match self {
            PartKind::Page => "pages",
            PartKind::Sheet => "sheets",
            PartKind::Slide => "slides",
        }
    }
}

impl PartContent {
    /// Its kind.
    pub fn kind(&self) -> PartKind {
        match self {
            PartContent::Page(_) => PartKind::Page,
            PartContent::Sheet(_) => PartKind::Sheet,
            PartContent::Slide(_) => PartKind::Slide,
        }
    }
}

/// The part of `parts` that holds the byte `at`, by its position; of several that begin there the last, since
/// those before it are empty.
pub fn part_at(parts: &[Part], at: u32) -> Option<usize> {
    parts
        .partition_point(|part| part.start <= at)
        .checked_sub(1)
}

/// The bytes of the part at `position` in a text of `text_bytes`.
pub fn part_span(parts: &[Part], position: usize, text_bytes: u32) -> Span {
    let start = parts.get(position).map_or(text_bytes, |part| part.start);
    let end = parts
        .get(position.saturating_add(1))
        .map_or(text_bytes, |part| part.start);
    Span { start, end }
}

/// The rows of lines of the stored text that lie in one sheet.
pub fn rows_of_lines(part: &Part, sheet: &Sheet, lines: Lines) -> Lines {
    let row = |line: u32| sheet.row_of_line(line.saturating_sub(part.line));
    Lines {
        first: row(lines.first),
        last: row(lines.last),
    }
}

/// The lines of the part at `position` in a text of so many lines: the first, from 1, and how many there are.
pub fn part_lines(parts: &[Part], position: usize, text_lines: u32) -> (u32, u32) {
    let after = text_lines.saturating_add(1);
    let line_of = |position: usize| parts.get(position).map_or(after, |part| part.line);
    let first = line_of(position);
    let next = line_of(position.saturating_add(1));
    (first, next.saturating_sub(first))
}

/// What is wrong with the parts of a text of `text_bytes`; `None` when they are as [`Part`] says, as far as
/// that is known without the text. Linear in their number.
pub fn fault(parts: &[Part], text_bytes: u32) -> Option<&'static str> {
    let first = parts.first()?;
    let kind = first.content.kind();
    if first.start != 0 || first.line != 1 {
        return Some("its first part does not begin at the start of its text");
    }
    if !parts.is_sorted_by_key(|part| (part.start, part.line)) {
        return Some("its parts are not in order");
    }
    if parts.iter().any(|part| part.content.kind() != kind) {
        return Some("its parts are of several kinds");
    }
    if parts.last().is_some_and(|last| last.start > text_bytes) {
        return Some("one of its parts begins behind its text");
    }
    let is_sound = |(position, part): (usize, &Part)| match &part.content {
        PartContent::Page(_) => true,
        PartContent::Slide(slide) => {
            let span = part_span(parts, position, text_bytes);
            slide
                .notes
                .is_none_or(|notes| span.start <= notes && notes <= span.end)
        }
        PartContent::Sheet(sheet) => is_sound(sheet),
    };
    let all_sound = parts.iter().enumerate().all(is_sound);
    (!all_sound).then_some("one of its parts contradicts itself")
}

/// Whether the numbers of a sheet are possible.
fn is_sound(sheet: &Sheet) -> bool {
    let ascend = |pair: &[(u32, u32)]| match pair {
        [(line, row), (next_line, next_row)] => {
            line < next_line && next_row.saturating_sub(*row) > next_line - line
        }
        _ => true,
    };
    let is_empty = (sheet.rows, sheet.columns) == (0, 0);
    let has_cells = sheet.rows > 0 && (1..=MAX_COLUMNS).contains(&sheet.columns);
    (is_empty || has_cells)
        && sheet
            .header_row
            .is_none_or(|row| (1..=sheet.rows).contains(&row))
        && sheet.runs.windows(2).all(ascend)
        && sheet.runs.first().is_none_or(|(line, row)| row > line)
}

/// What is wrong with the parts of a text of so many lines, whose parts begin where they say: whether each sheet
/// has as many lines as its rows need.
pub fn fault_of_lines(parts: &[Part], text_lines: u32) -> Option<&'static str> {
    let is_sound = |(position, part): (usize, &Part)| {
        let PartContent::Sheet(sheet) = &part.content else {
            return true;
        };
        let (_, lines) = part_lines(parts, position, text_lines);
        let last_row = lines.checked_sub(1).map(|last| sheet.row_of_line(last));
        sheet.runs.last().is_none_or(|(line, _)| *line < lines)
            && last_row.unwrap_or(0) == sheet.rows
    };
    let all_sound = parts.iter().enumerate().all(is_sound);
    (!all_sound).then_some("one of its sheets has other rows than lines")
}

/// What is wrong with the parts of `text`; `None` when they are as [`Part`] says. Linear in the text.
pub fn fault_in(parts: &[Part], text: &str) -> Option<&'static str> {
    let Ok(text_bytes) = u32::try_from(text.len()) else {
        return Some("its text is too long");
    };
    if let Some(fault) = fault(parts, text_bytes) {
        return Some(fault);
    }
    let begins_line = |at: u32| at == 0 || text.as_bytes().get(at as usize - 1) == Some(&b'\n');
    let (mut at, mut line) = (0, 1);
    for part in parts {
        let before = text.get(at..part.start as usize);
        line += before.map_or(0, line_ends);
        at = part.start as usize;
        if part.line != line || !begins_line(part.start) {
            return Some("one of its parts does not begin with the line that it says");
        }
        if let PartContent::Slide(Slide {
            notes: Some(notes), ..
        }) = part.content
            && !begins_line(notes)
        {
            return Some("the notes of one of its slides do not begin with a line");
        }
    }
    let rest = text.get(at..).unwrap_or_default();
    let ended = rest.strip_suffix('\n').unwrap_or(rest);
    let lines_before = line - 1;
    let lines = if rest.is_empty() {
        lines_before
    } else {
        lines_before + line_ends(ended) + 1
    };
    fault_of_lines(parts, lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet(runs: &[(u32, u32)]) -> Sheet {
        Sheet {
            rows: 9,
            columns: 2,
            runs: runs.to_vec(),
            ..Sheet::default()
        }
    }

    #[test]
    fn lines_of_a_sheet_have_the_rows_that_its_runs_say() {
        let dense = sheet(&[]);
        assert_eq!([0, 1, 9].map(|line| dense.row_of_line(line)), [1, 2, 10]);
        let sparse = sheet(&[(0, 3), (2, 1_000_000)]);
        assert_eq!(
            [0, 1, 2, 3].map(|line| sparse.row_of_line(line)),
            [3, 4, 1_000_000, 1_000_001]
        );
        assert_eq!(sparse.lines_of_rows(1, 2, 4), None);
        assert_eq!(sparse.lines_of_rows(4, 999_999, 4), Some((1, 1)));
        assert_eq!(sparse.lines_of_rows(1, u32::MAX, 4), Some((0, 3)));
    }

    #[test]
    fn a_byte_belongs_to_the_last_part_that_begins_before_it() {
        let slide = |start| Part {
            start,
            line: 1,
            content: PartContent::Slide(Slide::default()),
        };
        let parts = [slide(0), slide(5), slide(5), slide(9)];
        assert_eq!(part_at(&parts, 4), Some(0));
        assert_eq!(part_at(&parts, 5), Some(2));
        assert_eq!(part_at(&parts, 100), Some(3));
        assert_eq!(part_at(&[], 0), None);
        assert_eq!(part_span(&parts, 1, 12), Span { start: 5, end: 5 });
        assert_eq!(part_span(&parts, 3, 12), Span { start: 9, end: 12 });
        assert_eq!(fault(&parts, 12), None);
        assert!(fault(&parts, 8).is_some() && fault(&parts[1..], 12).is_some());
    }

    #[test]
    fn parts_that_contradict_themselves_are_found() {
        let part = |content| Part {
            start: 0,
            line: 1,
            content,
        };
        for runs in [&[(0, 0)][..], &[(0, 5), (0, 6)], &[(0, 5), (3, 7)]] {
            assert!(fault(&[part(PartContent::Sheet(sheet(runs)))], 9).is_some());
        }
        for runs in [&[(0, 1)][..], &[(1, 5), (3, 8)]] {
            assert_eq!(fault(&[part(PartContent::Sheet(sheet(runs)))], 9), None);
        }
        let slide = Slide {
            notes: Some(10),
            ..Slide::default()
        };
        assert!(fault(&[part(PartContent::Slide(slide))], 9).is_some());
        let mixed = [
            part(PartContent::Slide(Slide::default())),
            part(PartContent::Sheet(sheet(&[]))),
        ];
        assert!(fault(&mixed, 9).is_some());
        let changes: [fn(&mut Sheet); 4] = [
            |sheet| sheet.rows = 0,
            |sheet| sheet.columns = 0,
            |sheet| sheet.columns = MAX_COLUMNS + 1,
            |sheet| sheet.header_row = Some(10),
        ];
        for change in changes {
            let mut sheet = sheet(&[]);
            change(&mut sheet);
            assert!(fault(&[part(PartContent::Sheet(sheet))], 9).is_some());
        }
    }

    #[test]
    fn parts_are_compared_with_their_text() {
        let text = "a\nb\nc\n";
        let sheet_of = |rows, runs: &[(u32, u32)]| {
            PartContent::Sheet(Sheet {
                rows,
                columns: u32::from(rows > 0),
                runs: runs.to_vec(),
                ..Sheet::default()
            })
        };
        let part = |start, line, content| Part {
            start,
            line,
            content,
        };
        let sheets = |first: PartContent, start, line, second: PartContent| {
            [part(0, 1, first), part(start, line, second)]
        };
        let right = [
            sheets(sheet_of(2, &[]), 4, 3, sheet_of(1, &[])),
            sheets(sheet_of(9, &[(1, 9)]), 4, 3, sheet_of(5, &[(0, 5)])),
            sheets(sheet_of(0, &[]), 0, 1, sheet_of(3, &[])),
            sheets(sheet_of(3, &[]), 6, 4, sheet_of(0, &[])),
        ];
        for parts in right {
            assert_eq!(fault_in(&parts, text), None, "{parts:?}");
            assert_eq!(
                fault_in(&parts, text.trim_end()).is_none(),
                parts[1].start < 6
            );
        }
        let wrong = [
            sheets(sheet_of(2, &[]), 3, 3, sheet_of(1, &[])),
            sheets(sheet_of(2, &[]), 4, 2, sheet_of(1, &[])),
            sheets(sheet_of(3, &[]), 4, 3, sheet_of(1, &[])),
            sheets(sheet_of(2, &[]), 4, 3, sheet_of(7, &[(1, 7)])),
            sheets(sheet_of(0, &[]), 4, 3, sheet_of(1, &[])),
        ];
        for parts in wrong {
            assert!(fault_in(&parts, text).is_some(), "{parts:?}");
        }
        let slide = |notes| {
            let slide = Slide {
                notes: Some(notes),
                ..Slide::default()
            };
            [part(0, 1, PartContent::Slide(slide))]
        };
        for notes in [0, 2, 6] {
            assert_eq!(fault_in(&slide(notes), text), None);
        }
        assert!(fault_in(&slide(3), text).is_some());
    }
}
