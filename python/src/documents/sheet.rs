//! [`Sheet`]: a table of a workbook or a text file.

use std::sync::Arc;

use kb_engine::cell_text::{Cell, CellValue};
use kb_engine::{PageOptions, SheetData, SheetRow};
use pyo3::IntoPyObjectExt as _;
use pyo3::prelude::*;

use crate::call::run_short;
use crate::handle::Handle;

/// A sheet of a workbook, or a table of a text file. Rows are read when they are asked for.
#[pyclass(module = "kbfile", frozen)]
#[derive(Debug, Clone)]
pub(crate) struct Sheet {
    handle: Arc<Handle>,
    document: String,
    /// Its number, from 1.
    #[pyo3(get)]
    number: u32,
    sheet: kb_engine::Sheet,
}

impl Sheet {
    pub(crate) fn new(
        handle: &Arc<Handle>,
        document: &str,
        number: u32,
        sheet: kb_engine::Sheet,
    ) -> Sheet {
        Sheet {
            handle: Arc::clone(handle),
            document: document.to_owned(),
            number,
            sheet,
        }
    }

    fn read(&self, py: Python<'_>, cells: Option<&str>) -> PyResult<SheetData> {
        let kb = self.handle.kb(py)?;
        let name = Some(&*self.sheet.name).filter(|name| !name.is_empty());
        run_short(py, || {
            kb.sheet(&self.document, name, cells, &PageOptions::default())
        })
    }
}

/// Whole numbers below this are exact as floating-point numbers.
const LARGEST_WHOLE: f64 = 9_007_199_254_740_992.0;

/// A value as Python has it: a number, text, bool, or `None`; dates are text as in ISO 8601.
fn value(py: Python<'_>, cell: &Cell, is_shown: bool) -> PyResult<Py<PyAny>> {
    fn any<'py>(value: impl IntoPyObject<'py>, py: Python<'py>) -> PyResult<Py<PyAny>> {
        value.into_py_any(py)
    }
    if is_shown {
        return any(cell.displayed(), py);
    }
    match &cell.value {
        CellValue::Empty if cell.shown.is_empty() => Ok(py.None()),
        CellValue::Empty => any(&*cell.shown, py),
        CellValue::Number(number) if number.fract() == 0.0 && number.abs() < LARGEST_WHOLE => {
            any(*number as i64, py)
        }
        CellValue::Number(number) => any(*number, py),
        CellValue::Boolean(boolean) => any(*boolean, py),
        CellValue::Text(text)
        | CellValue::Date(text)
        | CellValue::Error(text)
        | CellValue::Formula(text) => any(&**text, py),
    }
}

/// A row from its first column to its last one with a value.
fn row(
    py: Python<'_>,
    row: &SheetRow,
    (first, columns): (u32, u32),
    is_shown: bool,
) -> PyResult<Vec<Py<PyAny>>> {
    let mut cells: Vec<Py<PyAny>> = (0..columns).map(|_| py.None()).collect();
    for (column, cell) in &row.cells {
        let place = column
            .checked_sub(first)
            .and_then(|it| usize::try_from(it).ok());
        if let Some(place) = place.and_then(|place| cells.get_mut(place)) {
            *place = value(py, cell, is_shown)?;
        }
    }
    Ok(cells)
}

#[pymethods]
impl Sheet {
    /// Its name; empty for a document that is one table.
    #[getter]
    fn name(&self) -> &str {
        &self.sheet.name
    }

    /// Number of rows, the header row included.
    #[getter]
    fn row_count(&self) -> u32 {
        self.sheet.rows
    }

    /// Number of columns.
    #[getter]
    fn column_count(&self) -> u32 {
        self.sheet.columns
    }

    /// Number of the header row, from 1; None without one.
    #[getter]
    fn header_row(&self) -> Option<u32> {
        self.sheet.header_row
    }

    /// Whether the sheet is hidden.
    #[getter]
    fn is_hidden(&self) -> bool {
        self.sheet.is_hidden
    }

    /// The names of the columns, as they are shown; None without a header row.
    #[getter]
    fn header(&self, py: Python<'_>) -> PyResult<Option<Vec<String>>> {
        let data = self.read(py, None)?;
        let Some(header) = &data.header else {
            return Ok(None);
        };
        let columns = usize::try_from(self.sheet.columns).unwrap_or(0);
        let mut names = vec![String::new(); columns];
        for (column, cell) in &header.cells {
            let place = usize::try_from(column.saturating_sub(1)).ok();
            if let Some(name) = place.and_then(|place| names.get_mut(place)) {
                cell.displayed().clone_into(name);
            }
        }
        Ok(Some(names))
    }

    /// Rows without the header row, each a list of the values of its cells: int for a whole number, else
    /// float, str, bool, or None for an empty one.
    /// `cells` selects a range, "A1:D10", with all its rows. With `shown=True` every cell is the text that a reader sees.
    #[pyo3(signature = (cells = None, *, shown = false))]
    fn rows(
        &self,
        py: Python<'_>,
        cells: Option<&str>,
        shown: bool,
    ) -> PyResult<Vec<Vec<Py<PyAny>>>> {
        let data = self.read(py, cells)?;
        let columns = match data.range {
            Some(range) => (
                range.first_column,
                range
                    .last_column
                    .saturating_sub(range.first_column)
                    .saturating_add(1),
            ),
            None => (1, self.sheet.columns),
        };
        // Of a range the engine takes the first row for names; here it is one of the rows.
        let first = data.header.iter().filter(|_| cells.is_some());
        let rows = first.chain(&data.rows.items);
        rows.map(|it| row(py, it, columns, shown)).collect()
    }

    fn __repr__(&self) -> String {
        let kb_engine::Sheet {
            name,
            rows,
            columns,
            ..
        } = &self.sheet;
        format!(
            "Sheet({}, {name:?}, {rows} rows, {columns} columns)",
            self.number
        )
    }
}
