//! Compares sheets with those of the oracle: their names, and each cell by its A1 position.

use std::collections::BTreeMap;

use kb_engine::cell_text::{self, Cell, CellValue};
use kb_engine::{Document, PartContent, column_name};
use serde_json::Value;

use super::metric::{FileScore, Metric, part_text};
use super::words::ratio;

/// Rows and columns of a sheet that are compared.
const MAX_ROWS: u32 = 3000;
const MAX_COLUMNS: u32 = 300;

/// A sheet of a document.
struct Sheet {
    name: String,
    cells: BTreeMap<(u32, u32), Cell>,
}

/// Scores the sheets of a document.
pub(super) fn score(document: &Document, oracle: &Value, format: &str, score: &mut FileScore) {
    shown(document, oracle, score);
    let Some(expected) = oracle["sheets"].as_array() else {
        return;
    };
    let sheets = sheets(document);
    let expected_names: Vec<&str> = match format {
        // A file of rows has one sheet without a name.
        "csv" => vec![""],
        _ => expected
            .iter()
            .filter_map(|sheet| sheet["name"].as_str())
            .collect(),
    };
    let names: Vec<&str> = sheets.iter().map(|sheet| sheet.name.as_str()).collect();
    let same_names = names == expected_names;
    score.add(Metric::SheetNames, f64::from(u8::from(same_names)));
    if !same_names {
        score.miss(format!("sheets {names:?}, not {expected_names:?}"));
    }
    let (mut right, mut all) = (0, 0);
    for (position, (name, sheet)) in expected_names.iter().zip(expected).enumerate() {
        let by_name = sheets.iter().find(|ours| ours.name == *name);
        let Some(ours) = by_name.or(sheets.get(position)) else {
            continue;
        };
        let (sheet_right, sheet_all) = compare(ours, sheet, score);
        right += sheet_right;
        all += sheet_all;
    }
    if all > 0 {
        score.add(Metric::Cells, ratio(right, all));
    }
}

/// Scores what cells show, where the oracle has it: `shown`, the rows of each sheet as the program that wrote
/// the workbook exports them.
fn shown(document: &Document, oracle: &Value, score: &mut FileScore) {
    let sheets = sheets(document);
    let expected = oracle["shown"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let (mut right, mut all) = (0, 0);
    for (sheet, rows) in sheets.iter().zip(expected) {
        let rows = rows.as_array().map(Vec::as_slice).unwrap_or_default();
        for ((row, column), cell) in &sheet.cells {
            let text = rows
                .get(*row as usize - 1)
                .and_then(|cells| cells[*column as usize - 1].as_str());
            let is_computed = !matches!(cell.value, CellValue::Text(_) | CellValue::Empty);
            // What does not fit into its column is exported as signs.
            let text = text
                .map(tidy)
                .filter(|text| !text.trim_matches('#').is_empty());
            let Some(text) = text.filter(|_| is_computed) else {
                continue;
            };
            all += 1;
            if tidy(&cell.shown) == text {
                right += 1;
            } else {
                score.miss(format!(
                    "{}: shows {:?}, not {text:?} ({:?})",
                    name_of(sheet, (*row, *column)),
                    cell.shown,
                    cell.value
                ));
            }
        }
    }
    if all > 0 {
        score.add(Metric::Shown, ratio(right, all));
    }
}

/// Cells that are right, and cells that either has.
fn compare(ours: &Sheet, oracle: &Value, score: &mut FileScore) -> (usize, usize) {
    let mut expected = BTreeMap::new();
    let rows = oracle["rows"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    for (row, cells) in (1..=MAX_ROWS).zip(rows) {
        let cells = cells.as_array().map(Vec::as_slice).unwrap_or_default();
        for (column, cell) in (1..=MAX_COLUMNS).zip(cells) {
            let text = cell
                .as_str()
                .map_or_else(|| cell.to_string(), str::to_owned);
            if !tidy(&text).is_empty() {
                expected.insert((row, column), text);
            }
        }
    }
    let mut right = 0;
    let mut all = expected.len();
    for (address, text) in &expected {
        match ours.cells.get(address) {
            Some(cell) if is_right(cell, text) => right += 1,
            Some(cell) => score.miss(format!(
                "{}: {:?} {:?}, not {text:?}",
                name_of(ours, *address),
                cell.value,
                cell.shown
            )),
            None => score.miss(format!("{}: empty, not {text:?}", name_of(ours, *address))),
        }
    }
    for (address, cell) in &ours.cells {
        let is_inside = address.0 <= MAX_ROWS && address.1 <= MAX_COLUMNS;
        let is_blank = tidy(&cell.value.text()).is_empty() && tidy(&cell.shown).is_empty();
        if is_inside && !is_blank && !expected.contains_key(address) {
            all += 1;
            score.miss(format!(
                "{}: {:?} {:?}, not empty",
                name_of(ours, *address),
                cell.value,
                cell.shown
            ));
        }
    }
    (right, all)
}

fn name_of(sheet: &Sheet, (row, column): (u32, u32)) -> String {
    format!("{}!{}{row}", sheet.name, column_name(column))
}

/// Whether a cell holds what the oracle says in words: as a number to 1 part in 10^9, as a moment to a
/// millisecond, else letter for letter but for white space.
fn is_right(cell: &Cell, expected: &str) -> bool {
    let expected = tidy(expected);
    match &cell.value {
        CellValue::Number(number) => {
            expected.parse::<f64>().is_ok_and(|it| is_near(*number, it))
                || days(&expected).is_some_and(|days| (number - days).abs() < 1e-6)
        }
        CellValue::Text(text) => tidy(text) == expected,
        // LibreOffice writes booleans of .ods into .xlsx as the numbers that they are there.
        CellValue::Boolean(is_true) => {
            cell.value.text().eq_ignore_ascii_case(&expected)
                || expected == u8::from(*is_true).to_string()
        }
        CellValue::Date(text) => {
            is_same_moment(text, &expected)
                || tidy(&cell.shown) == expected
                || is_leap_of_1900(text, &expected)
        }
        // The oracle has what is shown, in the language of the program that wrote it.
        CellValue::Error(text) => tidy(text) == expected || tidy(&cell.shown) == expected,
        CellValue::Formula(text) => tidy(text) == expected,
        CellValue::Empty => tidy(&cell.shown) == expected,
    }
}

/// The serial number, as sheets count days, of what openpyxl makes of a number that is shown as a time or
/// date: `-2 days, 19:12:00`, `07:30:00`, `1866-03-12 07:42:23.04`.
fn days(text: &str) -> Option<f64> {
    let (days, time) = match text.split_once(", ") {
        Some((days, time)) => (days.split(' ').next()?.parse::<f64>().ok()?, time),
        None => match text.split_once(' ') {
            Some((day, time)) => (f64::from(day_number(day)?), time),
            None => (0.0, text),
        },
    };
    let fields: Vec<f64> = time
        .split(':')
        .map_while(|field| field.parse().ok())
        .collect();
    let [hours, minutes, seconds] = fields.as_slice() else {
        return None;
    };
    Some(days + (hours * 3600.0 + minutes * 60.0 + seconds) / 86_400.0)
}

/// Days since 1899-12-30, the day 0 of sheets.
fn day_number(day: &str) -> Option<i32> {
    let fields: Vec<i32> = day
        .split('-')
        .map_while(|field| field.parse().ok())
        .collect();
    let [year, month, day] = fields.as_slice() else {
        return None;
    };
    // The calendar from March on: leap days are at the end of its years.
    let (year, month) = if *month > 2 {
        (*year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let since_march = (153 * month + 2) / 5 + day - 1;
    let since_year_0 = 365 * year + year / 4 - year / 100 + year / 400 + since_march;
    Some(since_year_0 - 693_899)
}

/// Whether two days before March 1900 differ by the one day that Excel believes in, 29 February 1900: the
/// oracle of .ods has gone through .xlsx.
fn is_leap_of_1900(ours: &str, oracle: &str) -> bool {
    let day = |text: &str| day_number(text.get(..10)?);
    match (day(ours), day(oracle)) {
        (Some(ours), Some(oracle)) => ours + 1 == oracle && (0..=60).contains(&ours),
        _ => false,
    }
}

fn is_near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

fn tidy(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether two moments as in ISO 8601 are the same to a millisecond; a day alone is its midnight.
fn is_same_moment(ours: &str, oracle: &str) -> bool {
    let moment = |text: &str| -> Option<(String, f64)> {
        let text = text.replace('T', " ");
        let (day, time) = match text.split_once(' ') {
            Some((day, time)) => (day.to_owned(), time.to_owned()),
            None if text.contains(':') => (String::new(), text),
            None => (text, "0:0:0".to_owned()),
        };
        let mut seconds = 0.0;
        for field in time.split(':') {
            seconds = seconds * 60.0 + field.parse::<f64>().ok()?;
        }
        // `1:30` has no seconds.
        if time.matches(':').count() == 1 {
            seconds *= 60.0;
        }
        Some((day, seconds))
    };
    match (moment(ours), moment(oracle)) {
        (Some(ours), Some(oracle)) => ours.0 == oracle.0 && (ours.1 - oracle.1).abs() < 1e-3,
        _ => false,
    }
}

fn sheets(document: &Document) -> Vec<Sheet> {
    let mut sheets = Vec::new();
    for (position, part) in document.parts.iter().enumerate() {
        let PartContent::Sheet(sheet) = &part.content else {
            continue;
        };
        let mut cells = BTreeMap::new();
        for (line, text) in (0..).zip(part_text(document, position).lines()) {
            let row = sheet.row_of_line(line);
            for (column, cell) in cell_text::cells(text) {
                cells.insert((row, column), cell);
            }
        }
        sheets.push(Sheet {
            name: sheet.name.clone(),
            cells,
        });
    }
    sheets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_as_sheets_do() {
        for (day, number) in [
            ("1899-12-30", 0),
            ("1900-03-01", 61),
            ("2024-05-06", 45_418),
        ] {
            assert_eq!(day_number(day), Some(number));
        }
    }

    #[test]
    fn cells_are_compared_by_what_they_hold() {
        let right = [
            (CellValue::Number(0.1 + 0.2), "0.3"),
            (CellValue::Number(25.0), "25"),
            (CellValue::Text("a  b\n".into()), "a b"),
            (CellValue::Boolean(true), "True"),
            (CellValue::Date("2024-05-06".into()), "2024-05-06 00:00:00"),
            (
                CellValue::Date("2024-05-06T01:02:03.0004".into()),
                "2024-05-06 01:02:03",
            ),
            (CellValue::Date("01:30".into()), "01:30:00"),
            (CellValue::Error("#N/A".into()), "#N/A"),
            (CellValue::Number(-1.2), "-2 days, 19:12:00"),
            (CellValue::Number(0.3125), "07:30:00"),
            (CellValue::Number(-12_345.678_9), "1866-03-12 07:42:23.04"),
            (CellValue::Boolean(false), "0"),
            (
                CellValue::Date("1900-01-12T07:12:00".into()),
                "1900-01-13 07:12:00",
            ),
        ];
        for (value, text) in right {
            assert!(is_right(&Cell::plain(value.clone()), text), "{value:?}");
        }
        let wrong = [
            (CellValue::Number(0.3001), "0.3"),
            (CellValue::Text("a b".into()), "ab"),
            (CellValue::Boolean(true), "False"),
            (CellValue::Date("2024-05-06".into()), "2024-05-07 00:00:00"),
            (CellValue::Date("01:30".into()), "01:31:00"),
            (CellValue::Number(1.0), "2 days, 0:00:00"),
            (CellValue::Boolean(false), "1"),
            (CellValue::Date("1900-03-12".into()), "1900-03-13 00:00:00"),
        ];
        for (value, text) in wrong {
            assert!(!is_right(&Cell::plain(value.clone()), text), "{value:?}");
        }
    }
}
