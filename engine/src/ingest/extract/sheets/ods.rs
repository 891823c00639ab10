//! OpenDocument spreadsheets.

use std::collections::HashSet;

use quick_xml::events::{BytesStart, Event};

use crate::cell_text::{Cell, CellValue, MAX_COLUMNS};
use crate::ingest::extract::extracted::Extracted;
use crate::ingest::extract::sheets::number_format;
use crate::ingest::extract::sheets::package::{Package, damaged};
use crate::ingest::extract::sheets::workbook::{SheetWriter, Workbook};
use crate::ingest::extract::sheets::xml::{
    Events, attribute, each_attribute, each_property, push_text,
};
use crate::ingest::extract::skip_reason::SkipReason;

const FORMAT: &str = "OpenDocument spreadsheet";
/// Rows of the longest sheet.
const MAX_ROWS: u32 = 1 << 20;
/// Spaces that one element may stand for.
const MAX_SPACES: usize = 1000;

/// # Errors
/// Why there is no document in it.
pub(super) fn extract(bytes: &[u8]) -> Result<Extracted, SkipReason> {
    let mut package = Package::open(bytes, FORMAT)?;
    if let Some(manifest) = package.xml("META-INF/manifest.xml")?
        && is_encrypted(&manifest)?
    {
        return Err(SkipReason::Encrypted(FORMAT));
    }
    let content = package
        .xml("content.xml")?
        .ok_or_else(|| damaged(FORMAT, "it has no content.xml"))?;
    let mut workbook = Workbook::new();
    if let Ok(Some(properties)) = package.xml("meta.xml") {
        // What a spreadsheet says of itself is no reason to refuse it.
        let _ = read_properties(&properties, &mut workbook);
    }
    read_content(&content, &mut workbook)?;
    workbook.finish()
}

fn is_encrypted(manifest: &str) -> Result<bool, SkipReason> {
    let mut events = Events::new(manifest, FORMAT, "META-INF/manifest.xml");
    loop {
        match events.next()? {
            Event::Start(element) | Event::Empty(element)
                if element.local_name().as_ref() == "encryption-data" =>
            {
                return Ok(true);
            }
            Event::Eof => return Ok(false),
            _ => {}
        }
    }
}

fn read_properties(properties: &str, workbook: &mut Workbook) -> Result<(), SkipReason> {
    let mut events = Events::new(properties, FORMAT, "meta.xml");
    each_property(&mut events, |name, value| {
        let found = workbook.found();
        match name {
            "title" if !value.is_empty() => found.title = Some(value.to_owned()),
            "initial-creator" | "creator" => found.add_metadata("author", value),
            "creation-date" => found.add_metadata("created", value),
            "date" => found.add_metadata("modified", value),
            "keyword" => found.add_metadata("keywords", value),
            _ => {}
        }
    })
}

fn read_content(content: &str, workbook: &mut Workbook) -> Result<(), SkipReason> {
    let mut events = Events::new(content, FORMAT, "content.xml");
    // Names of the styles of sheets that are not shown.
    let mut hidden = HashSet::new();
    let mut style = String::new();
    let mut is_spreadsheet = false;
    loop {
        match events.next()? {
            Event::Start(element) => match element.local_name().as_ref() {
                "style" => style = attribute(&element, "name").unwrap_or_default(),
                "spreadsheet" => is_spreadsheet = true,
                "tracked-changes" => events.skip()?,
                "table" if is_spreadsheet => {
                    let name = attribute(&element, "name").unwrap_or_default();
                    // What another file held when it was last read.
                    if name.starts_with("'file:") && name.contains("'#") {
                        events.skip()?;
                        continue;
                    }
                    let of = attribute(&element, "style-name").unwrap_or_default();
                    let mut sheet = workbook.sheet(&name, hidden.contains(&of))?;
                    read_table(&mut events, &mut sheet)?;
                    sheet.finish()?;
                }
                _ => {}
            },
            Event::Empty(element) => match element.local_name().as_ref() {
                "table-properties"
                    if attribute(&element, "display").as_deref() == Some("false") =>
                {
                    hidden.insert(style.clone());
                }
                "table" if is_spreadsheet => {
                    let name = attribute(&element, "name").unwrap_or_default();
                    workbook.sheet(&name, false)?.finish()?;
                }
                _ => {}
            },
            Event::Eof if is_spreadsheet => return Ok(()),
            Event::Eof => return Err(damaged(FORMAT, "content.xml holds no spreadsheet")),
            _ => {}
        }
    }
}

/// Rows up to the end of the table. Rows and cells that are repeated are counted, and written only where they
/// hold something.
fn read_table(events: &mut Events<'_>, sheet: &mut SheetWriter<'_>) -> Result<(), SkipReason> {
    let mut row = 0u32;
    loop {
        match events.next()? {
            Event::Start(element) => match element.local_name().as_ref() {
                "table-row" => {
                    let times = repeated(&element, "number-rows-repeated", MAX_ROWS);
                    let cells = read_row(events)?;
                    if !cells.is_empty() {
                        for row in (row + 1..=MAX_ROWS).take(times as usize) {
                            write_row(row, &cells, sheet)?;
                        }
                    }
                    row = row.saturating_add(times).min(MAX_ROWS);
                }
                // These hold rows.
                "table-rows" | "table-row-group" | "table-header-rows" | "soft-page-break" => {}
                _ => events.skip()?,
            },
            Event::Empty(element) if element.local_name().as_ref() == "table-row" => {
                let times = repeated(&element, "number-rows-repeated", MAX_ROWS);
                row = row.saturating_add(times).min(MAX_ROWS);
            }
            Event::End(element) if element.local_name().as_ref() == "table" => return Ok(()),
            Event::Eof => return Err(damaged(FORMAT, "content.xml ends within a table")),
            _ => {}
        }
    }
}

fn repeated(element: &BytesStart<'_>, name: &str, limit: u32) -> u32 {
    let times = attribute(element, name).and_then(|times| times.parse::<u64>().ok());
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
fn read_row(events: &mut Events<'_>) -> Result<Vec<Run>, SkipReason> {
    let mut cells: Vec<Run> = Vec::new();
    let mut column = 1u32;
    loop {
        let (element, has_content) = match events.next()? {
            Event::Start(element) => (element, true),
            Event::Empty(element) => (element, false),
            Event::End(element) if element.local_name().as_ref() == "table-row" => {
                return Ok(cells);
            }
            Event::Eof => return Err(damaged(FORMAT, "content.xml ends within a row")),
            _ => continue,
        };
        let name = element.local_name();
        if !matches!(name.as_ref(), "table-cell" | "covered-table-cell") {
            if has_content {
                events.skip()?;
            }
            continue;
        }
        let stated = Stated::of(&element);
        let text = if has_content {
            read_cell(events)?
        } else {
            String::new()
        };
        let times = repeated(&element, "number-columns-repeated", MAX_COLUMNS);
        let cell = stated.cell(text);
        if !cell.is_empty() && column <= MAX_COLUMNS {
            cells.push(Run {
                column,
                times,
                cell,
            });
        }
        column = column.saturating_add(times).min(MAX_COLUMNS + 1);
    }
}

/// The paragraphs of a cell: what it shows.
fn read_cell(events: &mut Events<'_>) -> Result<String, SkipReason> {
    let mut text = String::new();
    let mut words = String::new();
    let mut paragraphs = 0u32;
    let mut in_paragraph = 0u32;
    loop {
        let event = events.next()?;
        match &event {
            Event::Start(element) => match element.local_name().as_ref() {
                "p" | "h" => {
                    if in_paragraph == 0 && paragraphs > 0 {
                        text.push('\n');
                    }
                    paragraphs += 1;
                    in_paragraph += 1;
                }
                "s" if in_paragraph > 0 => {
                    spaces(element, &mut text);
                    events.skip()?;
                }
                // Text within the text, but for notes, pictures and a second writing.
                "a" | "span" | "title" | "sheet-name" | "date" | "time" | "ruby" | "ruby-base"
                | "author-name" | "file-name" | "page-number" | "meta" | "meta-field" => {}
                _ => events.skip()?,
            },
            Event::Empty(element) => match element.local_name().as_ref() {
                "p" | "h" => {
                    if in_paragraph == 0 && paragraphs > 0 {
                        text.push('\n');
                    }
                    paragraphs += 1;
                }
                "s" if in_paragraph > 0 => spaces(element, &mut text),
                "tab" if in_paragraph > 0 => text.push('\t'),
                "line-break" if in_paragraph > 0 => text.push('\n'),
                _ => {}
            },
            Event::End(element) => match element.local_name().as_ref() {
                "p" | "h" => in_paragraph = in_paragraph.saturating_sub(1),
                "table-cell" | "covered-table-cell" => return Ok(text),
                _ => {}
            },
            Event::Eof => return Err(damaged(FORMAT, "content.xml ends within a cell")),
            Event::GeneralRef(_) if in_paragraph > 0 => push_text(&event, &mut text),
            event if in_paragraph > 0 => {
                words.clear();
                push_text(event, &mut words);
                collapse(&words, &mut text);
            }
            _ => {}
        }
    }
}

fn spaces(element: &BytesStart<'_>, text: &mut String) {
    let count = attribute(element, "c").and_then(|count| count.parse::<usize>().ok());
    let count = count.unwrap_or(1).min(MAX_SPACES);
    text.extend(std::iter::repeat_n(' ', count));
}

/// White space counts as one space, and as none at the start of a paragraph.
fn collapse(words: &str, text: &mut String) {
    for character in words.chars() {
        if !matches!(character, ' ' | '\t' | '\r' | '\n') {
            text.push(character);
        } else if !text.is_empty() && !text.ends_with([' ', '\n']) {
            text.push(' ');
        }
    }
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
    fn of(element: &BytesStart<'_>) -> Stated {
        let mut stated = Stated::default();
        each_attribute(element, |name, value| match name {
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
