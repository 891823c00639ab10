//! The cells of a sheet.

use quick_xml::events::{BytesStart, Event};

use super::parts::{FORMAT, Strings, Styles, rich_text, unescape};
use crate::cell_text::{Cell, CellValue};
use crate::ingest::extract::sheets::workbook::SheetWriter;
use crate::ingest::extract::sheets::xml::{Events, attribute, each_attribute, push_text};
use crate::ingest::extract::skip_reason::SkipReason;

/// What cells refer to.
pub(super) struct Context<'w> {
    pub(super) strings: &'w Strings,
    pub(super) styles: &'w Styles,
    pub(super) is_1904: bool,
}

/// Writes the cells of a sheet.
pub(super) fn read(
    xml: &str,
    context: &Context<'_>,
    sheet: &mut SheetWriter<'_>,
) -> Result<(), SkipReason> {
    let mut events = Events::new(xml, FORMAT, "a sheet");
    let (mut row, mut column) = (0u32, 0u32);
    loop {
        match events.next()? {
            Event::Start(element) => match element.local_name().as_ref() {
                "row" => {
                    row = row_number(&element, row);
                    column = 0;
                }
                "c" => {
                    let stated = Stated::of(&element, (row, column));
                    (row, column) = (stated.row, stated.column);
                    let content = Content::read(&mut events)?;
                    let cell = content.cell(&stated, context);
                    sheet.push(row, column, cell)?;
                }
                _ => {}
            },
            Event::Empty(element) => match element.local_name().as_ref() {
                "row" => row = row_number(&element, row),
                "c" => {
                    let stated = Stated::of(&element, (row, column));
                    (row, column) = (stated.row, stated.column);
                }
                _ => {}
            },
            Event::End(element) if element.local_name().as_ref() == "sheetData" => return Ok(()),
            Event::Eof => return Ok(()),
            _ => {}
        }
    }
}

fn row_number(element: &BytesStart<'_>, before: u32) -> u32 {
    let stated = attribute(element, "r").and_then(|row| row.parse::<u32>().ok());
    stated.unwrap_or(before.saturating_add(1))
}

/// What the attributes of a cell say.
struct Stated {
    row: u32,
    column: u32,
    style: usize,
    kind: String,
}

impl Stated {
    /// A cell that does not say where it is stands behind the one before.
    fn of(element: &BytesStart<'_>, before: (u32, u32)) -> Stated {
        let mut stated = Stated {
            row: before.0.max(1),
            column: before.1.saturating_add(1),
            style: 0,
            kind: String::new(),
        };
        each_attribute(element, |name, value| match name {
            "r" => {
                if let Some((row, column)) = position(&value) {
                    (stated.row, stated.column) = (row, column);
                }
            }
            "s" => stated.style = value.parse().unwrap_or(0),
            "t" => stated.kind = value,
            _ => {}
        });
        stated
    }
}

/// `B12` -> row 12, column 2.
fn position(reference: &str) -> Option<(u32, u32)> {
    let digits = reference.find(|c: char| c.is_ascii_digit())?;
    let (letters, row) = reference.split_at(digits);
    let mut column = 0u32;
    for letter in letters.bytes() {
        let letter = letter.to_ascii_uppercase();
        let number = u32::from(letter.checked_sub(b'A').filter(|number| *number < 26)?) + 1;
        column = column.checked_mul(26)?.checked_add(number)?;
    }
    let row = row.parse::<u32>().ok().filter(|row| *row > 0)?;
    (column > 0).then_some((row, column))
}

/// What is inside a cell.
#[derive(Default)]
struct Content {
    value: Option<String>,
    formula: Option<String>,
}

impl Content {
    fn read(events: &mut Events<'_>) -> Result<Content, SkipReason> {
        let mut content = Content::default();
        loop {
            match events.next()? {
                Event::Start(element) => match element.local_name().as_ref() {
                    "v" => content.value = Some(text(events)?),
                    "f" => content.formula = Some(text(events)?),
                    "is" => {
                        let mut words = String::new();
                        rich_text(events, "is", &mut words)?;
                        content.value = Some(words);
                    }
                    _ => events.skip()?,
                },
                Event::Empty(element) => match element.local_name().as_ref() {
                    "v" => content.value = Some(String::new()),
                    "f" => content.formula = Some(String::new()),
                    _ => {}
                },
                Event::End(element) if element.local_name().as_ref() == "c" => return Ok(content),
                Event::Eof => return Ok(content),
                _ => {}
            }
        }
    }

    fn cell(self, stated: &Stated, context: &Context<'_>) -> Cell {
        let format = context.styles.format(stated.style);
        let is_text = matches!(stated.kind.as_str(), "s" | "str" | "inlineStr");
        let value = match (self.value, self.formula) {
            // A formula may well give an empty text.
            (Some(value), None) => value,
            (Some(value), Some(_)) if is_text || !value.is_empty() => value,
            (_, Some(formula)) => {
                return Cell {
                    shown: String::new(),
                    value: CellValue::Formula(format!("={formula}")),
                };
            }
            (None, None) => return Cell::default(),
        };
        let of_text = |text: &str| {
            if text.is_empty() {
                return Cell::default();
            }
            Cell {
                shown: format.text(text),
                value: CellValue::Text(text.to_owned()),
            }
        };
        let trimmed = value.trim();
        match stated.kind.as_str() {
            "s" => {
                let index = trimmed.parse::<usize>().ok();
                of_text(
                    index
                        .and_then(|at| context.strings.get(at))
                        .unwrap_or_default(),
                )
            }
            "str" | "inlineStr" => of_text(&unescape(&value)),
            _ if trimmed.is_empty() => Cell::default(),
            "b" => Cell::plain(CellValue::Boolean(matches!(trimmed, "1" | "true"))),
            "e" => Cell::plain(CellValue::Error(trimmed.to_owned())),
            "d" => Cell::plain(CellValue::Date(trimmed.trim_end_matches('Z').to_owned())),
            _ => match trimmed.parse::<f64>() {
                Ok(number) if number.is_finite() => format.cell(number, context.is_1904),
                _ => of_text(&value),
            },
        }
    }
}

/// The text of an element up to its end.
fn text(events: &mut Events<'_>) -> Result<String, SkipReason> {
    let mut text = String::new();
    loop {
        let event = events.next()?;
        match &event {
            Event::Start(_) => events.skip()?,
            Event::End(_) | Event::Eof => return Ok(text),
            event => push_text(event, &mut text),
        }
    }
}
