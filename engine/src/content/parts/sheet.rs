//! Rows of a sheet, or of a range of its cells.

use kb_types::cell_text::{Cell, cells};
use kb_types::error::{Error, Result};
use kb_types::part::{part_lines, rows_of_lines};
use kb_types::{CellRange, Lines, Part, PartContent, PartKind, Sheet};

use crate::catalog::BoundSegment;
use crate::content::paged_call::PagedCall;
use crate::content::parts::row_reader::RowReader;
use crate::content::parts::stored::{number_of, parts_of_kind};
use crate::content::{CommitView, DocumentInfo};
use crate::paging::{Budget, CursorScope, PageOptions, Paged};
use crate::resolve::Nearest;
use crate::store::documents::DocumentRecord;

/// Bytes that the number of a row and its brackets count as in a token budget.
// As JSON has them; rows of few short cells would otherwise exceed a budget several times.
const ROW_OVERHEAD_BYTES: u64 = 8;

/// Bytes that the column of a cell, its quotes and its comma count as.
const CELL_OVERHEAD_BYTES: u64 = 4;

/// Names of sheets in an error.
// A workbook may have hundreds of sheets; an error stays short.
const SHEETS_SHOWN: usize = 20;

/// A row of a sheet that has cells.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SheetRow {
    /// Its number in the sheet, from 1.
    pub number: u32,
    /// Its cells that are not empty, with their columns from 1, ascending.
    pub cells: Vec<(u32, Cell)>,
}

/// Rows of a sheet.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SheetData {
    /// The document.
    pub document: DocumentInfo,
    /// Number of the sheet in the document, from 1.
    pub number: u32,
    /// The sheet.
    pub sheet: Sheet,
    /// The cells that were asked for, as far as the sheet has them; `None` in an empty sheet.
    pub range: Option<CellRange>,
    /// The row whose cells name the columns, also where the result continues: the first of a range that was
    /// given, else the detected one. It is not among `rows`.
    pub header: Option<SheetRow>,
    /// The rows that have cells in the sheet, in order, each with those of its cells that lie in the range.
    pub rows: Paged<SheetRow>,
    /// How many such rows the call selects, those of earlier and later parts of the result included.
    pub selected: u64,
    /// How many of these the next parts of the result have.
    pub left: u64,
}

/// See [`crate::Kb::sheet`].
pub(crate) fn sheet(
    commit: CommitView<'_>,
    name: &str,
    sheet_name: Option<&str>,
    cells: Option<&str>,
    page: &PageOptions,
) -> Result<SheetData> {
    page.validate()?;
    let (id, record, named) = commit.locate(name)?;
    let mut parts = parts_of_kind(commit, id, &record, PartKind::Sheet)?;
    if parts.is_empty() && sheet_name.is_none() {
        // What is answered of a workbook without sheets.
        parts.push(Part {
            start: 0,
            line: 1,
            content: PartContent::Sheet(Sheet::default()),
        });
    }
    let named = named.filter(|_| cells.is_none());
    let (position, part, sheet) = match (sheet_name, named) {
        (None, Some(lines)) => holding(&parts, lines, &record)?,
        (sheet_name, _) => find(&parts, sheet_name, &record)?,
    };
    let (_, count) = part_lines(&parts, position, record.lines);
    let range = match named {
        Some(lines) => Some(clip_lines(part, sheet, count, lines, &record)?),
        None => clip(sheet, cells, &record)?,
    };
    let header_row = match (cells, range) {
        (Some(_), Some(range)) => Some(range.first_row),
        _ => sheet.header_row,
    };
    let scope = PagedCall::Sheet {
        path: &record.path,
        number: number_of(position),
        header_row,
        range: range.unwrap_or(CellRange {
            first_row: 0,
            last_row: 0,
            first_column: 0,
            last_column: 0,
        }),
    }
    .scope(commit);
    let start = scope.start(page)?;
    let reading = Reading {
        record: &record,
        part,
        sheet,
        range,
    };
    let line_of = |row: u32| sheet.lines_of_rows(row, row, count).map(|(line, _)| line);
    let header_line = header_row.and_then(line_of);
    let lines = range.and_then(|range| sheet.lines_of_rows(range.first_row, range.last_row, count));
    let selected = lines.map_or(0, |(first, last)| {
        let is_within = header_line.is_some_and(|line| (first..=last).contains(&line));
        u64::from(last - first) + 1 - u64::from(is_within)
    });
    let segment = commit.catalog.bind_document(commit.snapshot, &record)?;
    let header = match (header_row, header_line, &segment) {
        (Some(_), Some(line), Some(segment)) => reading.rows(segment, line)?.next(reading)?,
        (Some(number), ..) if range.is_some() => Some(SheetRow {
            number,
            cells: Vec::new(),
        }),
        _ => None,
    };
    let mut budget = Budget::of_texts(page);
    let names_bytes = header.as_ref().map_or(0, cost);
    let (rows, next) = match (lines, &segment) {
        (Some(lines), Some(segment)) if start < selected => {
            let lines = SheetLines {
                lines,
                header: header_line,
                number: number_of(position),
            };
            fill_rows(reading, segment, lines, (start, names_bytes), &mut budget)?
        }
        _ => (Vec::new(), None),
    };
    if start > 0 && rows.is_empty() {
        return Err(CursorScope::out_of_range());
    }
    let left = next.map_or(0, |next| selected.saturating_sub(next));
    let rows = budget.paged(rows, &scope, next);
    let (number, sheet) = (number_of(position), sheet.clone());
    Ok(SheetData {
        document: DocumentInfo::from_record(commit, id, record)?,
        number,
        sheet,
        range,
        header,
        rows,
        selected,
        left,
    })
}

/// The lines of the text of a sheet whose rows are asked for.
struct SheetLines {
    /// The first and the last of them.
    lines: (u32, u32),
    /// The line of the header row, which is returned apart.
    header: Option<u32>,
    /// Number of the sheet.
    number: u32,
}

/// The rows from a number on, until the budget is full, of which `names_bytes` are spent; with the number to go on
/// from, where not all are there.
fn fill_rows(
    reading: Reading<'_>,
    segment: &BoundSegment<'_>,
    wanted: SheetLines,
    (start, mut names_bytes): (u64, u64),
    budget: &mut Budget,
) -> Result<(Vec<SheetRow>, Option<u64>)> {
    let (first, last) = wanted.lines;
    // Below the number of lines.
    let mut line = first.saturating_add(u32::try_from(start).unwrap_or(u32::MAX));
    if wanted
        .header
        .is_some_and(|header| (first..=line).contains(&header))
    {
        line = line.saturating_add(1);
    }
    let mut reader = reading.rows(segment, line)?;
    let mut rows = Vec::new();
    while line <= last {
        if wanted.header == Some(line) {
            reader.skip()?;
            line += 1;
            continue;
        }
        let Some(row) = reader.next(reading)? else {
            return Err(Error::damaged(format!(
                "{:?}: sheet {} has fewer lines than rows",
                reading.record.path, wanted.number
            )));
        };
        // An empty-looking cell costs few tokens and much memory: both are limited.
        let held = size_of::<(u32, Cell)>().saturating_mul(row.cells.len()) as u64;
        let bytes = cost(&row).saturating_add(std::mem::take(&mut names_bytes));
        if !budget.take_holding(bytes, bytes.saturating_add(held)) {
            let next = start.saturating_add(rows.len() as u64);
            return Ok((rows, Some(next)));
        }
        rows.push(row);
        line += 1;
    }
    Ok((rows, None))
}

/// Bytes that a row counts as.
fn cost(row: &SheetRow) -> u64 {
    let cells = row.cells.iter();
    let shown = cells.map(|(_, cell)| cell.displayed().len() as u64 + CELL_OVERHEAD_BYTES);
    shown.sum::<u64>() + ROW_OVERHEAD_BYTES
}

/// The sheet of a name, without regard to case where no other has it so; without a name the first that is not
/// hidden, else the first.
fn find<'p>(
    parts: &'p [Part],
    name: Option<&str>,
    record: &DocumentRecord,
) -> Result<(usize, &'p Part, &'p Sheet)> {
    let sheets = || {
        let numbered = parts.iter().enumerate();
        numbered.filter_map(|(position, part)| match &part.content {
            PartContent::Sheet(sheet) => Some((position, part, sheet)),
            _ => None,
        })
    };
    let Some(name) = name else {
        let shown = sheets().find(|(_, _, sheet)| !sheet.is_hidden);
        let first = shown.or_else(|| sheets().next());
        return first.ok_or_else(|| Error::damaged("a sheet vanished"));
    };
    let exact = sheets().find(|(_, _, sheet)| sheet.name == name);
    // Spreadsheets do not tell names by case either, so that two sheets cannot differ by it alone.
    let lower = name.trim().to_lowercase();
    let found = exact
        .filter(|_| !name.is_empty())
        .or_else(|| sheets().find(|(_, _, sheet)| sheet.name.trim().to_lowercase() == lower))
        .filter(|_| !lower.is_empty());
    if let Some(found) = found {
        return Ok(found);
    }
    let path = record.path.clone();
    if !parts.is_empty() && sheets().all(|(_, _, sheet)| sheet.name.is_empty()) {
        return Err(Error::NoSheetNames { path });
    }
    let mut nearest = Nearest::new(name);
    sheets().for_each(|(_, _, sheet)| nearest.offer(&sheet.name));
    let names = sheets().map(|(_, _, sheet)| sheet.name.clone());
    Err(Error::SheetNotFound {
        sheet: name.to_owned(),
        path,
        nearest: nearest.finish(),
        sheets: names.take(SHEETS_SHOWN).collect(),
        total: u32::try_from(parts.len()).unwrap_or(u32::MAX),
    })
}

/// The sheet that holds the first of some lines of the stored text.
///
/// # Errors
/// [`Error::InvalidRange`] where there is no such line.
fn holding<'p>(
    parts: &'p [Part],
    lines: Lines,
    record: &DocumentRecord,
) -> Result<(usize, &'p Part, &'p Sheet)> {
    let position = parts.partition_point(|part| part.line <= lines.first);
    let position = position.checked_sub(1).filter(|_| is_there(lines, record));
    let found = position.and_then(|position| Some((position, parts.get(position)?)));
    match found {
        Some((position, part)) => match &part.content {
            PartContent::Sheet(sheet) => Ok((position, part, sheet)),
            _ => Err(Error::damaged("a sheet is none")),
        },
        None => Err(no_lines(lines, record)),
    }
}

/// The rows of a sheet of `count` lines that lines of the stored text are.
///
/// # Errors
/// [`Error::InvalidRange`] where none of them is in the sheet.
fn clip_lines(
    part: &Part,
    sheet: &Sheet,
    count: u32,
    lines: Lines,
    record: &DocumentRecord,
) -> Result<CellRange> {
    let last = part.line.saturating_add(count);
    let is_in = lines.first < last && lines.last >= part.line && is_there(lines, record);
    if !is_in {
        return Err(no_lines(lines, record));
    }
    let rows = rows_of_lines(
        part,
        sheet,
        Lines {
            first: lines.first.max(part.line),
            last: lines.last.min(last - 1),
        },
    );
    Ok(CellRange {
        first_row: rows.first,
        last_row: rows.last,
        first_column: 1,
        last_column: sheet.columns,
    })
}

fn is_there(lines: Lines, record: &DocumentRecord) -> bool {
    0 < lines.first && lines.first <= lines.last && lines.first <= record.lines
}

fn no_lines(lines: Lines, record: &DocumentRecord) -> Error {
    Error::InvalidRange {
        range: lines.range_text(),
        path: record.path.clone(),
        lines: record.lines,
    }
}

/// The cells of a sheet that a range means; all without one, `None` in an empty sheet.
///
/// # Errors
/// [`Error::InvalidCells`] where it is no range, or has no cell of the sheet.
fn clip(sheet: &Sheet, cells: Option<&str>, record: &DocumentRecord) -> Result<Option<CellRange>> {
    let all = CellRange {
        first_row: 1,
        last_row: sheet.rows,
        first_column: 1,
        last_column: sheet.columns,
    };
    let Some(text) = cells else {
        return Ok((sheet.rows > 0).then_some(all));
    };
    let range = CellRange::parse(text).map(|range| CellRange {
        last_row: range.last_row.min(all.last_row),
        last_column: range.last_column.min(all.last_column),
        ..range
    });
    let has_cells = |range: &CellRange| {
        range.first_row <= range.last_row && range.first_column <= range.last_column
    };
    match range.filter(has_cells) {
        Some(range) => Ok(Some(range)),
        None => Err(Error::InvalidCells {
            range: text.to_owned(),
            path: record.path.clone(),
            rows: sheet.rows,
            columns: sheet.columns,
        }),
    }
}

/// What is read of a sheet.
#[derive(Clone, Copy)]
struct Reading<'r> {
    record: &'r DocumentRecord,
    part: &'r Part,
    sheet: &'r Sheet,
    range: Option<CellRange>,
}

impl<'r> Reading<'r> {
    /// The rows from line `line` of the sheet on, counted from 0.
    fn rows(self, segment: &'r BoundSegment<'r>, line: u32) -> Result<Rows<'r>> {
        let first = self.part.line.saturating_add(line);
        Ok(Rows {
            lines: RowReader::new(segment, self.record, first)?,
            line,
        })
    }
}

/// Rows of a sheet, one after the other.
struct Rows<'s> {
    lines: RowReader<'s>,
    /// The next line of the sheet, from 0.
    line: u32,
}

impl Rows<'_> {
    fn next(&mut self, reading: Reading<'_>) -> Result<Option<SheetRow>> {
        let Some(line) = self.lines.next()? else {
            return Ok(None);
        };
        let number = reading.sheet.row_of_line(self.line);
        self.line = self.line.saturating_add(1);
        let mut cells = cells(line);
        if let Some(range) = reading.range {
            let columns = range.first_column..=range.last_column;
            cells.retain(|(column, _)| columns.contains(column));
        }
        Ok(Some(SheetRow { number, cells }))
    }

    fn skip(&mut self) -> Result<()> {
        self.line = self.line.saturating_add(1);
        self.lines.skip()
    }
}
