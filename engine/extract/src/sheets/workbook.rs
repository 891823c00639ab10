//! Puts sheets together: rows as lines of text, their numbers, the row that names the columns.

use kb_types::cell_text::{self, Cell, CellValue, MAX_COLUMNS, RowWriter};
use kb_types::{PartContent, Sheet};

use crate::extracted::Extracted;
use crate::skip_reason::{MAX_TEXT_BYTES, SkipReason};
use crate::text_builder::TextBuilder;

/// Cells of a document that hold something.
// Bounds the memory of a reader within the worker's 1 GiB.
pub(super) const MAX_CELLS: usize = 2_000_000;
/// Cells of a sheet that come behind those of later rows. Programs write rows in order; others are kept apart, at
/// some 300 bytes each.
const MAX_LATE_CELLS: usize = 500_000;
/// Rows of the longest sheet that programs write.
// Excel and LibreOffice have 1,048,576 rows.
pub(super) const MAX_ROWS: u32 = 1 << 20;
/// Sheets of a document.
// Each takes memory for its name and place, however empty it is.
const MAX_SHEETS: usize = 10_000;
/// Rows with cells at the start of a sheet among which the one that names the columns is looked for.
// Titles and notes above a table take a few rows; below ten rows a row of texts is data.
const HEADER_ROWS: usize = 10;

/// Takes the cells of one sheet after the other. Memory is that of the text.
#[derive(Debug)]
pub(super) struct Workbook {
    document: TextBuilder,
    cells: usize,
    sheets: usize,
}

impl Workbook {
    pub(super) fn new() -> Workbook {
        Workbook {
            document: TextBuilder::new(),
            cells: 0,
            sheets: 0,
        }
    }

    /// Begins a sheet.
    ///
    /// # Errors
    /// [`SkipReason::Limit`].
    pub(super) fn sheet(
        &mut self,
        name: &str,
        is_hidden: bool,
    ) -> Result<SheetWriter<'_>, SkipReason> {
        self.sheets += 1;
        if self.sheets > MAX_SHEETS {
            return Err(SkipReason::Limit {
                what: "sheets",
                limit: MAX_SHEETS as u64,
            });
        }
        Ok(SheetWriter {
            sheet: Sheet {
                name: name.to_owned(),
                is_hidden,
                ..Sheet::default()
            },
            workbook: self,
            text: String::new(),
            row: 0,
            row_cells: Vec::new(),
            lines: 0,
            late: Vec::new(),
        })
    }

    /// What the document states of itself.
    pub(super) fn found(&mut self) -> &mut Extracted {
        self.document.found()
    }

    /// What was found, with the text.
    ///
    /// # Errors
    /// [`SkipReason::TooLong`].
    pub(super) fn finish(self) -> Result<Extracted, SkipReason> {
        self.document.finish()
    }
}

/// Takes the cells of a sheet, best from top to bottom and from left to right.
#[derive(Debug)]
pub(super) struct SheetWriter<'w> {
    workbook: &'w mut Workbook,
    sheet: Sheet,
    text: String,
    /// The row whose cells are being taken, from 1.
    row: u32,
    row_cells: Vec<(u32, Cell)>,
    /// Lines of `text`.
    lines: u32,
    /// Cells of rows that are written already.
    late: Vec<(u32, u32, Cell)>,
}

impl SheetWriter<'_> {
    /// Adds a cell by row and column, both from 1. Of two at one place the first counts; an empty cell, and one
    /// beyond the last column that a sheet can have, are left out.
    ///
    /// # Errors
    /// [`SkipReason::Limit`] or [`SkipReason::TooLong`] when the document has too much.
    pub(super) fn push(&mut self, row: u32, column: u32, cell: Cell) -> Result<(), SkipReason> {
        if cell.is_empty() || row == 0 || column == 0 || column > MAX_COLUMNS {
            return Ok(());
        }
        self.workbook.cells += 1;
        if self.workbook.cells > MAX_CELLS {
            return Err(SkipReason::Limit {
                what: "cells",
                limit: MAX_CELLS as u64,
            });
        }
        if row < self.row {
            if self.late.len() >= MAX_LATE_CELLS {
                return Err(SkipReason::Limit {
                    what: "cells in rows that are out of order",
                    limit: MAX_LATE_CELLS as u64,
                });
            }
            self.late.push((row, column, cell));
            return Ok(());
        }
        if row > self.row {
            self.end_row()?;
            self.row = row;
        }
        self.row_cells.push((column, cell));
        Ok(())
    }

    fn end_row(&mut self) -> Result<(), SkipReason> {
        if self.row_cells.is_empty() {
            return Ok(());
        }
        let cells = &mut self.row_cells;
        if !cells.is_sorted_by_key(|(column, _)| *column) {
            cells.sort_by_key(|(column, _)| *column);
        }
        cells.dedup_by_key(|(column, _)| *column);
        if (self.lines as usize) < HEADER_ROWS
            && self.sheet.header_row.is_none()
            && names_columns(cells)
        {
            self.sheet.header_row = Some(self.row);
        }
        let mut writer = RowWriter::new(&mut self.text);
        for (column, cell) in cells.iter() {
            if matches!(cell.value, CellValue::Formula(_)) {
                self.sheet.uncalculated += 1;
            }
            self.sheet.columns = self.sheet.columns.max(*column);
            writer.push(*column, cell);
        }
        writer.finish();
        cells.clear();
        let expected = self.sheet.rows.saturating_add(1);
        if self.row != expected {
            self.sheet.runs.push((self.lines, self.row));
        }
        self.sheet.rows = self.row;
        self.lines = self.lines.saturating_add(1);
        let text_bytes = self.workbook.document.len().saturating_add(self.text.len());
        if text_bytes > MAX_TEXT_BYTES {
            return Err(SkipReason::TooLong { text_bytes });
        }
        Ok(())
    }

    /// Ends the sheet.
    ///
    /// # Errors
    /// As [`SheetWriter::push`].
    pub(super) fn finish(mut self) -> Result<(), SkipReason> {
        self.end_row()?;
        if !self.late.is_empty() {
            self.merge_late()?;
        }
        let document = &mut self.workbook.document;
        let name = self.sheet.name.clone();
        document.begin_part(PartContent::Sheet(self.sheet));
        // Its rows are found by its name.
        document.section(1, &name);
        document.lines(&self.text);
        Ok(())
    }

    /// Writes the sheet again with the cells that came late.
    fn merge_late(&mut self) -> Result<(), SkipReason> {
        let mut late = std::mem::take(&mut self.late);
        late.sort_by_key(|(row, column, _)| (*row, *column));
        let mut late = late.into_iter().peekable();
        let text = std::mem::take(&mut self.text);
        let sheet = std::mem::take(&mut self.sheet);
        self.sheet.name.clone_from(&sheet.name);
        self.sheet.is_hidden = sheet.is_hidden;
        (self.row, self.lines) = (0, 0);
        for (line, cells) in (0..).zip(text.split_terminator('\n')) {
            let row = sheet.row_of_line(line);
            while let Some((late_row, column, cell)) = late.next_if(|(late, ..)| *late < row) {
                self.put(late_row, column, cell)?;
            }
            for (column, cell) in cell_text::cells(cells) {
                self.put(row, column, cell)?;
            }
            while let Some((_, column, cell)) = late.next_if(|(late, ..)| *late == row) {
                self.put(row, column, cell)?;
            }
        }
        for (row, column, cell) in late {
            self.put(row, column, cell)?;
        }
        self.end_row()
    }

    /// Adds a cell that is counted already.
    fn put(&mut self, row: u32, column: u32, cell: Cell) -> Result<(), SkipReason> {
        if row != self.row {
            self.end_row()?;
            self.row = row;
        }
        self.row_cells.push((column, cell));
        Ok(())
    }
}

/// Whether a row may name the columns: two texts or more, and nothing else.
fn names_columns(cells: &[(u32, Cell)]) -> bool {
    let is_name = |(_, cell): &(u32, Cell)| match &cell.value {
        // Numbers of a table without types stand there as text.
        CellValue::Text(text) => !text.trim().is_empty() && !looks_like_number(text),
        _ => false,
    };
    cells.len() >= 2 && cells.iter().all(is_name)
}

/// `1,234.50`, `12 %`, `$5`, `-3`, `2024-05-06`: signs and digits, no letter.
fn looks_like_number(text: &str) -> bool {
    text.contains(|c: char| c.is_ascii_digit()) && !text.contains(char::is_alphabetic)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(text: &str) -> Cell {
        Cell::plain(CellValue::Text(text.to_owned()))
    }

    fn number(number: f64) -> Cell {
        Cell::plain(CellValue::Number(number))
    }

    fn one_sheet(cells: Vec<(u32, u32, Cell)>) -> (Sheet, String) {
        let mut workbook = Workbook::new();
        let mut sheet = workbook.sheet("a", false).unwrap();
        for (row, column, cell) in cells {
            sheet.push(row, column, cell).unwrap();
        }
        sheet.finish().unwrap();
        let mut found = workbook.finish().unwrap();
        match found.parts.pop().unwrap().content {
            PartContent::Sheet(sheet) => (sheet, found.text.unwrap()),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_sparse_sheet_costs_its_cells() {
        let (sheet, text) = one_sheet(vec![
            (1, 1, text("first")),
            (1_048_576, 16_384, text("last")),
        ]);
        assert_eq!(text, "first\n\\>16384;last\n");
        assert_eq!((sheet.rows, sheet.columns), (1_048_576, 16_384));
        assert_eq!(sheet.runs, [(1, 1_048_576)]);
        let (sheet, text) = one_sheet(vec![(1, 16_385, number(1.0)), (1, 0, number(1.0))]);
        assert_eq!(
            (sheet, text.as_str()),
            (
                Sheet {
                    name: "a".to_owned(),
                    ..Sheet::default()
                },
                ""
            )
        );
    }

    #[test]
    fn the_first_row_of_names_is_the_header() {
        let row = |row, cells: &[Cell]| -> Vec<(u32, u32, Cell)> {
            (1..)
                .zip(cells.to_vec())
                .map(|(column, cell)| (row, column, cell))
                .collect()
        };
        let title = row(1, &[text("Report of 2024")]);
        let names = row(3, &[text("Month"), text("Sales")]);
        let dates = row(4, &[text("2024-05-06"), text("x")]);
        let values = row(5, &[text("May"), number(5.0)]);
        let header = |rows: &[&Vec<_>]| {
            one_sheet(rows.iter().flat_map(|row| row.to_vec()).collect())
                .0
                .header_row
        };
        assert_eq!(header(&[&title, &names, &values]), Some(3));
        assert_eq!(header(&[&title, &dates, &values]), None);
        assert_eq!(header(&[&values]), None);
        let far: Vec<_> = (1..=10)
            .flat_map(|at| row(at, &[number(1.0), number(2.0)]))
            .collect();
        assert_eq!(header(&[&far, &row(11, &[text("a"), text("b")])]), None);
    }

    #[test]
    fn uncalculated_formulas_are_counted() {
        let formula = Cell {
            shown: String::new(),
            value: CellValue::Formula("=A1+1".to_owned()),
        };
        let (sheet, text) = one_sheet(vec![(1, 1, number(1.0)), (1, 2, formula)]);
        assert_eq!((sheet.uncalculated, text.as_str()), (1, "1\t\\=f=A1+1\n"));
    }

    #[test]
    fn too_many_cells_are_refused() {
        let mut workbook = Workbook {
            cells: MAX_CELLS - 1,
            ..Workbook::new()
        };
        let mut sheet = workbook.sheet("", false).unwrap();
        sheet.push(1, 1, number(1.0)).unwrap();
        let refused = sheet.push(1, 2, number(1.0)).unwrap_err();
        assert_eq!(refused.to_string(), "more than 2000000 cells");
    }

    #[test]
    fn too_many_cells_out_of_order_are_refused() {
        let mut workbook = Workbook::new();
        let mut sheet = workbook.sheet("", false).unwrap();
        sheet.push(9, 1, number(1.0)).unwrap();
        for _ in 0..MAX_LATE_CELLS {
            sheet.push(1, 1, number(1.0)).unwrap();
        }
        let refused = sheet.push(1, 1, number(1.0)).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "more than 500000 cells in rows that are out of order"
        );
    }

    proptest! {
        #[test]
        fn cells_come_back_whatever_their_order(
            cells in prop::collection::vec((1u32..9, 1u32..9, -9i32..9), 0..30),
        ) {
            let cells: Vec<(u32, u32, Cell)> = cells
                .into_iter()
                .map(|(row, column, value)| (row * row, column, number(f64::from(value))))
                .collect();
            let (sheet, text) = one_sheet(cells.clone());
            let mut found = Vec::new();
            for (line, cells) in (0..).zip(text.lines()) {
                let row = sheet.row_of_line(line);
                found.extend(cell_text::cells(cells).into_iter().map(|(column, _)| (row, column)));
            }
            let mut expected: Vec<(u32, u32)> = cells.iter().map(|(row, column, _)| (*row, *column)).collect();
            expected.sort_unstable();
            expected.dedup();
            prop_assert_eq!(sheet.rows, expected.last().map_or(0, |last| last.0));
            prop_assert_eq!(found, expected);
        }
    }
}
