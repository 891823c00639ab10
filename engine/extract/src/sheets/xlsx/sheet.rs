//! The cells of a sheet.

use kb_types::cell_text::{Cell, CellValue};

use super::parts::{FORMAT, Strings, Styles, rich_text, unescape};
use super::shared_formulas::SharedFormulas;
use crate::package::xml::{Element, XmlEvent, XmlReader};
use crate::sheets::workbook::SheetWriter;
use crate::skip_reason::{MAX_TEXT_BYTES, SkipReason};

/// What cells refer to.
pub(super) struct Context<'w> {
    pub(super) strings: &'w Strings,
    pub(super) styles: &'w Styles,
    pub(super) is_1904: bool,
}

/// Writes the cells of a sheet.
///
/// # Errors
/// [`SkipReason::Damaged`] for what is no XML; a limit is exceeded.
pub(super) fn read(
    xml: &str,
    context: &Context<'_>,
    sheet: &mut SheetWriter<'_>,
) -> Result<(), SkipReason> {
    let mut reader = XmlReader::of_own(xml);
    let (mut row, mut column) = (0u32, 0u32);
    let mut shared = SharedFormulas::default();
    while let Some(event) = reader.next()? {
        match event {
            XmlEvent::Start(element) => match element.name() {
                "row" => {
                    // The attribute may be left out (ECMA-376 part 1, 18.3.1.73), as writers of
                    // streams do.
                    row = element.number("r").unwrap_or(row.saturating_add(1));
                    column = 0;
                }
                "c" => {
                    let stated = Stated::of(&element, (row, column));
                    (row, column) = (stated.row, stated.column);
                    let content = Content::read(&mut reader, (row, column), &mut shared)?;
                    let cell = content.cell(&stated, context, &shared);
                    sheet.push(row, column, cell)?;
                }
                _ => {}
            },
            XmlEvent::End(element) if element.name() == "sheetData" => return Ok(()),
            _ => {}
        }
    }
    match reader.is_broken() {
        false => Ok(()),
        true => Err(SkipReason::damaged(FORMAT, "one of its sheets is no XML")),
    }
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
    fn of(element: &Element<'_>, before: (u32, u32)) -> Stated {
        let mut stated = Stated {
            row: before.0.max(1),
            column: before.1.saturating_add(1),
            style: 0,
            kind: String::new(),
        };
        element.each_attribute(|name, value| match name {
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
    /// The number of its formula, where several cells share it.
    shared: Option<u32>,
}

impl Content {
    fn read(
        reader: &mut XmlReader<'_>,
        cell: (u32, u32),
        shared: &mut SharedFormulas,
    ) -> Result<Content, SkipReason> {
        let mut content = Content::default();
        while let Some(event) = reader.next()? {
            match event {
                XmlEvent::Start(element) => match element.name() {
                    "v" => content.value = Some(reader.text_of_element(MAX_TEXT_BYTES)?),
                    "f" => {
                        let is_shared = element.attribute("t").as_deref() == Some("shared");
                        content.shared = element.number("si").filter(|_| is_shared);
                        let formula = reader.text_of_element(MAX_TEXT_BYTES)?;
                        if let Some(number) = content.shared
                            && !formula.trim().is_empty()
                        {
                            shared.keep(number, cell, &formula);
                        }
                        content.formula = Some(formula);
                    }
                    "is" => content.value = Some(rich_text(reader, "is")?),
                    _ => reader.skip()?,
                },
                XmlEvent::End(element) if element.name() == "c" => break,
                _ => {}
            }
        }
        Ok(content)
    }

    fn cell(self, stated: &Stated, context: &Context<'_>, shared: &SharedFormulas) -> Cell {
        let format = context.styles.format(stated.style);
        let is_text = matches!(stated.kind.as_str(), "s" | "str" | "inlineStr");
        let value = match (self.value, self.formula) {
            // A formula may well give an empty text.
            (Some(value), None) => value,
            (Some(value), Some(_)) if is_text || !value.is_empty() => value,
            // A formula without a value: the program that wrote the file did not calculate. The
            // formula is all there is to search.
            (_, Some(mut formula)) => {
                if formula.trim().is_empty() {
                    formula = shared.at(self.shared, (stated.row, stated.column));
                }
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
            // An ISO 8601 date, in strict workbooks only. Times of a sheet have no zone, whatever
            // is written.
            "d" => Cell::plain(CellValue::Date(trimmed.trim_end_matches('Z').to_owned())),
            _ => match trimmed.parse::<f64>() {
                Ok(number) if number.is_finite() => format.cell(number, context.is_1904),
                _ => of_text(&value),
            },
        }
    }
}
