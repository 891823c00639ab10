//! `kb sheet`: prints the rows of a sheet.

use kb_engine::{PartKind, SheetData, SheetRow, column_name};

use crate::args::SheetArguments;
use crate::cmd::opened::{Opened, Rest, each_part};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::output::format::{no_parts, plural};

/// Empty columns that are printed as tabs; after more of them a cell is printed behind the name of its column.
const TABS: u32 = 8;

pub(crate) fn run(arguments: &SheetArguments, output: &mut Output) -> Result<Exit, Failure> {
    let opened = Opened::new("kb sheet", arguments.file.file.as_deref())?;
    let (sheet, range) = (arguments.sheet.as_deref(), arguments.range.as_deref());
    let is_json = arguments.json.json;
    let (mut is_first, mut exit) = (true, Exit::Found);
    let mut is_header_due = true;
    each_part(&arguments.page, is_json, output, |page, output| {
        let found = opened.kb.sheet(&arguments.document, sheet, range, page);
        let found = opened.ask(found)?;
        let rest = Rest::from(&found.rows);
        let path = &found.document.path;
        let header = found.header.as_ref();
        let header = header.filter(|header| is_header_due && !header.cells.is_empty());
        if std::mem::take(&mut is_first) {
            opened.warn_stale(path, output);
            if found.rows.is_empty() && header.is_none() {
                output.note(&nothing(&found));
                exit = Exit::Nothing;
            }
            if found.sheet.uncalculated > 0 {
                let cells = plural(found.sheet.uncalculated.into(), "cell");
                output.warning(&format!(
                    "the file stores no values for {cells}: they show their formulas"
                ));
            }
        }
        // The header row is printed at its place in the sheet: after the rows above it, which may fill this part.
        let (above, below) = match header {
            Some(header) => (found.rows.iter()).partition(|row| row.number < header.number),
            None => (found.rows.iter().collect::<Vec<_>>(), Vec::new()),
        };
        let header = header.filter(|_| !below.is_empty() || rest.next.is_none());
        is_header_due &= header.is_none();
        let first_column = found.range.map_or(1, |range| range.first_column);
        let above = above.into_iter().map(|row| (row, false));
        let named = header.map(|row| (row, true));
        let below = below.into_iter().map(|row| (row, false));
        for (row, is_header) in above.chain(named).chain(below) {
            if is_json {
                output.json(kb_json::sheet_row(path, &found.sheet.name, row, is_header))?;
            } else {
                print(row, first_column, output)?;
            }
        }
        Ok(rest)
    })?;
    Ok(exit)
}

/// Returns `sheet "Q1" of sales.xlsx has no cells in A5:C9`.
fn nothing(found: &SheetData) -> String {
    let name = match &*found.sheet.name {
        "" => String::new(),
        name => format!("sheet {name:?} of "),
    };
    let path = &found.document.path;
    if found.document.parts == 0 {
        return no_parts(path, PartKind::Sheet);
    }
    match found.range {
        Some(range) => format!("{name}{path} has no cells in {range}"),
        None => format!("{name}{path} has no cells"),
    }
}

/// Prints the number of a row and its cells, separated by tabs.
fn print(row: &SheetRow, first_column: u32, output: &mut Output) -> Result<(), Failure> {
    let mut line = output.stdout_style().line_number(&row.number.to_string());
    let mut next = first_column;
    for (column, cell) in &row.cells {
        let empty = column.saturating_sub(next);
        line.push('\t');
        if empty > TABS {
            line.push_str(&column_name(*column));
            line.push_str(": ");
        } else {
            (0..empty).for_each(|_| line.push('\t'));
        }
        // One line: a cell may contain tabs and line ends.
        line.push_str(&output.name(cell.displayed()));
        next = column.saturating_add(1);
    }
    output.line(&line)
}
