//! Rows of a sheet as a table: the same columns in each row.

use std::fmt::Write as _;

use kb_engine::escape::escape_line;
use kb_engine::{SheetData, SheetRow, column_name};

/// Most columns of a range that are all shown: of a wider one, those with cells, for a row with a single cell
/// far to the right would cost 16 384 empty ones.
const SHOWN_COLUMNS: u32 = 64;

/// Bytes of the cells of a row that no smaller budget makes shorter; of a longer one each cell is cut.
const ROW_BYTES: usize = 40_000;

/// Bytes that every cell may have.
const LEAST_CELL_BYTES: usize = 4;

/// The rows of a result, and the columns that are shown of them.
pub(super) struct Grid<'d> {
    rows: &'d [SheetRow],
    header: Option<&'d SheetRow>,
    /// Number and letters of each column, ascending.
    columns: Vec<(u32, String)>,
    left_out: bool,
    /// Bytes of a cell, where the header or the only row is too long.
    cell_bytes: Option<usize>,
}

impl<'d> Grid<'d> {
    pub(super) fn of(data: &'d SheetData) -> Grid<'d> {
        let (first, last) = data
            .range
            .map_or((1, 0), |range| (range.first_column, range.last_column));
        let left_out = last.saturating_sub(first) >= SHOWN_COLUMNS;
        let numbers: Vec<u32> = if left_out {
            let rows = data.header.iter().chain(data.rows.iter());
            let mut used: Vec<u32> = rows
                .flat_map(|row| row.cells.iter().map(|(column, _)| *column))
                .collect();
            used.sort_unstable();
            used.dedup();
            used
        } else {
            (first..=last).collect()
        };
        let bytes = |row: &SheetRow| -> usize {
            let cells = row.cells.iter();
            cells.map(|(_, cell)| cell.displayed().len()).sum()
        };
        let only = match data.rows.items.as_slice() {
            [only] => Some(only),
            _ => None,
        };
        let longest = data.header.iter().chain(only).map(bytes).max();
        let is_too_long = longest.is_some_and(|longest| longest > ROW_BYTES);
        let each = ROW_BYTES / numbers.len().max(1);
        Grid {
            cell_bytes: is_too_long.then(|| each.max(LEAST_CELL_BYTES)),
            rows: &data.rows,
            header: data.header.as_ref(),
            columns: numbers
                .into_iter()
                .map(|column| (column, column_name(column)))
                .collect(),
            left_out,
        }
    }

    /// Whether columns without cells are left out.
    pub(super) fn left_out(&self) -> bool {
        self.left_out
    }

    /// Whether cells are cut.
    pub(super) fn is_cut(&self) -> bool {
        self.cell_bytes.is_some()
    }

    /// The letters of the columns.
    pub(super) fn letters(&self) -> Vec<&str> {
        let letters = self.columns.iter();
        letters.map(|(_, letters)| letters.as_str()).collect()
    }

    /// The cells of the header row, and the letters of columns that it does not name.
    pub(super) fn headers(&self) -> Vec<&str> {
        let named = self.header.map(|header| self.cells(header));
        let letters = self.letters().into_iter().enumerate();
        let headers = letters.map(|(at, letters)| {
            let name = named.as_ref().and_then(|named| named.get(at).copied());
            name.filter(|name| !name.is_empty()).unwrap_or(letters)
        });
        headers.collect()
    }

    pub(super) fn rows(&self) -> Vec<Vec<&'d str>> {
        self.rows.iter().map(|row| self.cells(row)).collect()
    }

    /// What is displayed in each column of a row. Linear in its cells and the columns, both ascending.
    fn cells(&self, row: &'d SheetRow) -> Vec<&'d str> {
        let mut cells = row.cells.iter().peekable();
        let columns = self.columns.iter().map(|(column, _)| {
            while cells.next_if(|(at, _)| at < column).is_some() {}
            let cell = cells.next_if(|(at, _)| at == column);
            let cell = cell.map_or("", |(_, cell)| cell.displayed());
            let bytes = self.cell_bytes.unwrap_or(cell.len());
            cell.get(..cell.floor_char_boundary(bytes)).unwrap_or(cell)
        });
        columns.collect()
    }

    /// The numbers of the rows: `2-40,45`; `None` without rows.
    pub(super) fn row_numbers(&self) -> Option<String> {
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for row in self.rows {
            match runs.last_mut() {
                Some((_, last)) if last.checked_add(1) == Some(row.number) => *last = row.number,
                _ => runs.push((row.number, row.number)),
            }
        }
        let runs: Vec<String> = runs
            .iter()
            .map(|(first, last)| match last - first {
                0 => first.to_string(),
                _ => format!("{first}-{last}"),
            })
            .collect();
        (!runs.is_empty()).then(|| runs.join(","))
    }

    /// A line a row: its number and its cells, with tabs between; above them the headers.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        let mut line = |number: &str, cells: &[&str]| {
            text.push_str(number);
            for cell in cells {
                // Tabs and line ends of a cell would be taken for those between cells.
                let _ = write!(text, "\t{}", escape_line(cell));
            }
            text.truncate(text.trim_end_matches('\t').len());
            text.push('\n');
        };
        if self.left_out && self.header.is_some() {
            line("row", &self.letters());
        }
        let number = self.header.map(|header| header.number.to_string());
        line(number.as_deref().unwrap_or("row"), &self.headers());
        for row in self.rows {
            line(&row.number.to_string(), &self.cells(row));
        }
        text
    }
}
