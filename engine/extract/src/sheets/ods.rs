//! OpenDocument spreadsheets.

use std::collections::HashSet;

use kb_types::cell_text::{Cell, CellValue, MAX_COLUMNS};

use crate::extracted::Extracted;
use crate::package::odf::{self, push_collapsed, push_spaces};
use crate::package::xml::{Element, XmlEvent, XmlReader};
use crate::package::zip_package::ZipPackage;
use crate::sheets::number_format;
use crate::sheets::workbook::{MAX_ROWS, SheetWriter, Workbook};
use crate::skip_reason::SkipReason;

pub(crate) const FORMAT: &str = "OpenDocument spreadsheet";

/// Reads a package whose content is a spreadsheet.
///
/// # Errors
/// Damaged, encrypted or beyond a limit.
pub(crate) fn extract(bytes: &[u8]) -> Result<Extracted, SkipReason> {
    let package = &mut ZipPackage::open(bytes, FORMAT)?;
    let content = odf::content(package)?;
    let mut workbook = Workbook::new();
    odf::read_properties(package, workbook.found())?;
    let mut reader = XmlReader::new(&content);
    let has_sheets = read_content(&mut reader, &mut workbook)?;
    match has_sheets && !reader.is_broken() {
        true => workbook.finish(),
        false => Err(SkipReason::damaged(
            FORMAT,
            "its content is no XML of a spreadsheet",
        )),
    }
}

/// Whether there is a spreadsheet.
fn read_content(reader: &mut XmlReader<'_>, workbook: &mut Workbook) -> Result<bool, SkipReason> {
    // Names of the styles of sheets that are not shown.
    let mut hidden = HashSet::new();
    let mut style = String::new();
    let mut is_spreadsheet = false;
    while let Some(event) = reader.next()? {
        let XmlEvent::Start(element) = event else {
            continue;
        };
        match element.name() {
            "style" => style = element.reference("name").unwrap_or_default(),
            "table-properties" if element.attribute("display").as_deref() == Some("false") => {
                hidden.insert(style.clone());
            }
            "spreadsheet" => is_spreadsheet = true,
            "tracked-changes" => reader.skip()?,
            "table" if is_spreadsheet => {
                let name = element.attribute("name").unwrap_or_default();
                // What another file held when it was last read.
                if name.starts_with("'file:") && name.contains("'#") {
                    reader.skip()?;
                    continue;
                }
                let of = element.reference("style-name").unwrap_or_default();
                let mut sheet = workbook.sheet(&name, hidden.contains(&of))?;
                read_table(reader, &mut sheet)?;
                sheet.finish()?;
            }
            _ => {}
        }
    }
    Ok(is_spreadsheet)
}

/// Rows up to the end of the table. Rows and cells that are repeated are counted, and written only where they
/// hold something.
fn read_table(reader: &mut XmlReader<'_>, sheet: &mut SheetWriter<'_>) -> Result<(), SkipReason> {
    let mut row = 0u32;
    while let Some(event) = reader.next()? {
        match event {
            XmlEvent::Start(element) => match element.name() {
                "table-row" => {
                    let times = repeated(&element, "number-rows-repeated", MAX_ROWS);
                    let cells = read_row(reader)?;
                    if !cells.is_empty() {
                        for row in (row + 1..=MAX_ROWS).take(times as usize) {
                            write_row(row, &cells, sheet)?;
                        }
                    }
                    row = row.saturating_add(times).min(MAX_ROWS);
                }
                // These hold rows.
                "table-rows" | "table-row-group" | "table-header-rows" | "soft-page-break" => {}
                _ => reader.skip()?,
            },
            XmlEvent::End(element) if element.name() == "table" => break,
            _ => {}
        }
    }
    Ok(())
}

fn repeated(element: &Element<'_>, name: &str, limit: u32) -> u32 {
    let times = element
        .attribute(name)
        .and_then(|times| times.parse::<u64>().ok());
    let times = times.unwrap_or(1).clamp(1, u64::from(limit));
    u32::try_from(times).unwrap_or(limit)
}

/// A cell and the columns that it fills.
struct Run {
    column: u32,
    times: u32,
    cell: Cell,
}

fn write_row(row: u32, cells: &[Run], sheet: &mut SheetWriter<'_>) -> Result<(), SkipReason> {
    for run in cells {
        for column in (run.column..=MAX_COLUMNS).take(run.times as usize) {
            sheet.push(row, column, run.cell.clone())?;
        }
    }
    Ok(())
}

/// The cells of a row that hold something.
fn read_row(reader: &mut XmlReader<'_>) -> Result<Vec<Run>, SkipReason> {
    let mut cells: Vec<Run> = Vec::new();
    let mut column = 1u32;
    while let Some(event) = reader.next()? {
        let element = match event {
            XmlEvent::Start(element) => element,
            XmlEvent::End(element) if element.name() == "table-row" => break,
            _ => continue,
        };
        if !matches!(element.name(), "table-cell" | "covered-table-cell") {
            reader.skip()?;
            continue;
        }
        let stated = Stated::of(&element);
        let times = repeated(&element, "number-columns-repeated", MAX_COLUMNS);
        let cell = stated.cell(read_cell(reader)?);
        if !cell.is_empty() && column <= MAX_COLUMNS {
            cells.push(Run {
                column,
                times,
                cell,
            });
        }
        column = column.saturating_add(times).min(MAX_COLUMNS + 1);
    }
    Ok(cells)
}

/// The paragraphs of a cell: what it shows.
fn read_cell(reader: &mut XmlReader<'_>) -> Result<String, SkipReason> {
    let mut text = String::new();
    let mut paragraph = String::new();
    let mut paragraphs = 0u32;
    let mut in_paragraph = 0u32;
    while let Some(event) = reader.next()? {
        match event {
            XmlEvent::Start(element) => match element.name() {
                "p" | "h" => in_paragraph += 1,
                "s" if in_paragraph > 0 => {
                    push_spaces(&mut paragraph, element.number("c"));
                    reader.skip()?;
                }
                "tab" if in_paragraph > 0 => paragraph.push('\t'),
                "line-break" if in_paragraph > 0 => paragraph.push('\n'),
                // Text within the text, but for notes, pictures and a second writing.
                "a" | "span" | "title" | "sheet-name" | "date" | "time" | "ruby" | "ruby-base"
                | "author-name" | "file-name" | "page-number" | "meta" | "meta-field" => {}
                _ => reader.skip()?,
            },
            XmlEvent::End(element) => match element.name() {
                "p" | "h" => {
                    in_paragraph = in_paragraph.saturating_sub(1);
                    if in_paragraph == 0 {
                        if paragraphs > 0 {
                            text.push('\n');
                        }
                        text.push_str(&paragraph);
                        paragraph.clear();
                        paragraphs += 1;
                    }
                }
                "table-cell" | "covered-table-cell" => break,
                _ => {}
            },
            XmlEvent::Text(words) if in_paragraph > 0 => push_collapsed(&mut paragraph, &words),
            XmlEvent::Text(_) => {}
        }
    }
    Ok(text)
}

/// What the attributes of a cell say.
#[derive(Default)]
struct Stated {
    kind: String,
    is_error: bool,
    number: Option<String>,
    date: Option<String>,
    time: Option<String>,
    boolean: Option<String>,
    string: Option<String>,
    formula: Option<String>,
}

impl Stated {
    fn of(element: &Element<'_>) -> Stated {
        let mut stated = Stated::default();
        element.each_attribute(|name, value| match name {
            // `calcext:value-type` comes after `office:value-type`.
            "value-type" if value == "error" => stated.is_error = true,
            "value-type" if stated.kind.is_empty() => stated.kind = value,
            "value" => stated.number = Some(value),
            "date-value" => stated.date = Some(value),
            "time-value" => stated.time = Some(value),
            "boolean-value" => stated.boolean = Some(value),
            "string-value" => stated.string = Some(value),
            "formula" => stated.formula = Some(value),
            _ => {}
        });
        stated
    }

    fn cell(self, text: String) -> Cell {
        let number = |text: &Option<String>| {
            let number = text.as_deref()?.trim().parse::<f64>().ok()?;
            number.is_finite().then_some(number)
        };
        let is_formula = self.formula.is_some();
        let value = match self.kind.as_str() {
            _ if self.is_error => CellValue::Error(text.clone()),
            "float" | "percentage" | "currency" => match number(&self.number) {
                Some(number) => CellValue::Number(number),
                None => CellValue::Text(text.clone()),
            },
            "date" => CellValue::Date(self.date.unwrap_or_default()),
            "time" => match self.time.as_deref().and_then(seconds) {
                Some(seconds) => time_value(seconds, &text),
                None => CellValue::Text(text.clone()),
            },
            "boolean" => CellValue::Boolean(self.boolean.as_deref() == Some("true")),
            "" if text.is_empty() => match self.formula {
                // `of:=SUM([.A1:.A3])`
                Some(formula) => {
                    let bare = formula.find('=').and_then(|at| formula.get(at..));
                    CellValue::Formula(bare.unwrap_or(&formula).to_owned())
                }
                None => CellValue::Empty,
            },
            _ => {
                let words = match (self.string, text.is_empty()) {
                    (Some(words), true) => words,
                    _ => text.clone(),
                };
                if words.is_empty() {
                    CellValue::Empty
                } else {
                    CellValue::Text(words)
                }
            }
        };
        // Some programs write the number that an error stands for.
        let value = match value {
            CellValue::Number(0.0) if is_formula && is_error(&text) => {
                CellValue::Error(text.clone())
            }
            other => other,
        };
        // A cell that is too narrow shows no more than that.
        let is_narrow = text.len() > 2 && text.bytes().all(|byte| byte == b'#');
        let shown = if text.is_empty() || is_narrow {
            value.text()
        } else {
            text
        };
        Cell { shown, value }
    }
}

/// `#DIV/0!`, `#N/A`, `#NAME?`, and what they are in other languages.
fn is_error(shown: &str) -> bool {
    let is_letter = |c: char| c.is_alphabetic();
    shown
        .strip_prefix('#')
        .is_some_and(|rest| rest.starts_with(is_letter) && !rest.contains(' '))
}

/// `PT16H17M36.5S` in seconds.
fn seconds(duration: &str) -> Option<f64> {
    let (sign, rest) = match duration.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, duration),
    };
    let mut total = 0.0;
    let mut number = String::new();
    let mut in_time = false;
    for character in rest.strip_prefix('P')?.chars() {
        let unit = match character {
            'T' => {
                in_time = true;
                continue;
            }
            'D' => 86_400.0,
            'H' => 3600.0,
            'M' if in_time => 60.0,
            'S' => 1.0,
            digit => {
                number.push(if digit == ',' { '.' } else { digit });
                continue;
            }
        };
        total += number.parse::<f64>().ok()? * unit;
        number.clear();
    }
    let total = sign * total;
    (number.is_empty() && total.is_finite()).then_some(total)
}

/// A time of the day. One of a day and more is a length of time where its hours are shown, and a moment that
/// shows no date where they are not.
fn time_value(seconds: f64, shown: &str) -> CellValue {
    let days = seconds / 86_400.0;
    let hours = format!("{}:", (seconds.abs() / 3600.0).trunc());
    if (0.0..1.0).contains(&days) || !shown.trim_start_matches('-').starts_with(&hours) {
        number_format::moment_value(days, false)
    } else {
        CellValue::Number(days)
    }
}
