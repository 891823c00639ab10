//! Number formats: what a spreadsheet shows for a number.
//!
//! `#,##0.00;[Red](#,##0.00)` and the like, as Excel writes them, in the English of the United States. Colours
//! and the width of columns are left out, with the space that a format leaves at the ends.

mod date;
mod decimal;
mod number;
mod section;

use kb_types::cell_text::{Cell, CellValue};

use self::date::{DatePart, Moment};
use self::decimal::general;
use self::section::{Section, Token};

/// Characters of a format code; Excel takes 255. A longer one counts as none.
// A code is parsed for each style, so a forged one could be slow.
const MAX_CODE_CHARS: usize = 1024;

/// Characters of all codes of a workbook. A workbook may have 250 of its own.
const MAX_CODES_CHARS: usize = 1 << 20;

/// Reads the format codes of one workbook, as many as have [`MAX_CODES_CHARS`] together; the others count as none.
#[derive(Debug)]
pub(super) struct CodeReader {
    left_chars: usize,
}

impl CodeReader {
    pub(super) fn new() -> CodeReader {
        CodeReader {
            left_chars: MAX_CODES_CHARS,
        }
    }

    /// The format of a number, whose code the workbook states unless it is known by its number alone.
    pub(super) fn read(&mut self, id: u32, stated: Option<&str>) -> NumberFormat {
        let code = stated.or_else(|| built_in(id)).unwrap_or_default();
        match self.left_chars.checked_sub(code.len()) {
            Some(left) => {
                self.left_chars = left;
                NumberFormat::parse(code)
            }
            None => NumberFormat::default(),
        }
    }
}

/// The code of a format that is known by its number alone.
fn built_in(id: u32) -> Option<&'static str> {
    Some(match id {
        0 => "General",
        1 => "0",
        2 => "0.00",
        3 => "#,##0",
        4 => "#,##0.00",
        5 => "\"$\"#,##0_);\\(\"$\"#,##0\\)",
        6 => "\"$\"#,##0_);[Red]\\(\"$\"#,##0\\)",
        7 => "\"$\"#,##0.00_);\\(\"$\"#,##0.00\\)",
        8 => "\"$\"#,##0.00_);[Red]\\(\"$\"#,##0.00\\)",
        9 => "0%",
        10 => "0.00%",
        11 => "0.00E+00",
        12 => "# ?/?",
        13 => "# ??/??",
        // The short date and time of the system; these are those of the United States.
        14 => "m/d/yyyy",
        15 => "d-mmm-yy",
        16 => "d-mmm",
        17 => "mmm-yy",
        18 => "h:mm AM/PM",
        19 => "h:mm:ss AM/PM",
        20 => "h:mm",
        21 => "h:mm:ss",
        22 => "m/d/yyyy h:mm",
        // Of East Asia, where they differ from one system to the next.
        27..=31 | 36 | 50..=54 | 57 | 58 => "yyyy-mm-dd",
        32..=35 | 55 | 56 => "h:mm:ss",
        37 => "#,##0_);(#,##0)",
        38 => "#,##0_);[Red](#,##0)",
        39 => "#,##0.00_);(#,##0.00)",
        40 => "#,##0.00_);[Red](#,##0.00)",
        41 => "_(* #,##0_);_(* (#,##0);_(* \"-\"_);_(@_)",
        42 => "_($* #,##0_);_($* (#,##0);_($* \"-\"_);_(@_)",
        43 => "_(* #,##0.00_);_(* (#,##0.00);_(* \"-\"??_);_(@_)",
        44 => "_($* #,##0.00_);_($* (#,##0.00);_($* \"-\"??_);_(@_)",
        45 => "mm:ss",
        46 => "[h]:mm:ss",
        47 => "mm:ss.0",
        48 => "##0.0E+0",
        49 => "@",
        _ => return None,
    })
}

/// A number format.
#[derive(Debug, Clone, Default)]
pub(super) struct NumberFormat {
    /// None for numbers as they are.
    sections: Vec<Section>,
}

impl NumberFormat {
    /// Reads a format code. Every code has a meaning: what is no known letter stands for itself.
    pub(super) fn parse(code: &str) -> NumberFormat {
        let is_general = code.is_empty() || code.eq_ignore_ascii_case("general");
        if is_general || code.chars().nth(MAX_CODE_CHARS).is_some() {
            return NumberFormat::default();
        }
        NumberFormat {
            sections: section::parse(code),
        }
    }

    /// The cell of a number: its value, a date where the format is that of a date, and what is shown.
    pub(super) fn cell(&self, number: f64, is_1904: bool) -> Cell {
        let plain = || Cell {
            shown: general(number),
            value: CellValue::Number(number),
        };
        let Some((section, is_size_only)) = self.section_of(number) else {
            return plain();
        };
        if section.is_date() {
            return date_cell(section, number, is_1904).unwrap_or_else(plain);
        }
        if section.is_text() {
            return Cell {
                shown: show_text(section, &general(number)),
                value: CellValue::Number(number),
            };
        }
        let mut shown = number::show(section, number);
        if number < 0.0 && !is_size_only {
            shown.insert(0, '-');
        }
        Cell {
            shown: shown.trim().to_owned(),
            value: CellValue::Number(number),
        }
    }

    /// What is shown for a text.
    pub(super) fn text(&self, text: &str) -> String {
        let of_text = match self.sections.as_slice() {
            [_, _, _, of_text, ..] => Some(of_text),
            sections => sections.iter().find(|section| section.is_text()),
        };
        match of_text {
            Some(section) => show_text(section, text),
            None => text.to_owned(),
        }
    }

    /// The section of a number, and whether it says by itself that the number is negative.
    fn section_of(&self, number: f64) -> Option<(&Section, bool)> {
        let numbers = match self.sections.len() {
            4.. => self.sections.get(..3)?,
            // A last section for texts is none for numbers, unless there is no other.
            2 | 3 if self.sections.last()?.is_text() => {
                self.sections.get(..self.sections.len() - 1)?
            }
            _ => &self.sections,
        };
        let has_conditions = numbers.iter().any(|section| section.condition.is_some());
        if has_conditions {
            let holds = |section: &&Section| {
                section
                    .condition
                    .is_none_or(|condition| condition.holds(number))
            };
            let section = numbers.iter().find(holds)?;
            let is_size_only = match section.condition {
                Some(condition) => number < 0.0 && !condition.holds(1.0) && !condition.holds(0.0),
                None => false,
            };
            return Some((section, is_size_only));
        }
        match numbers {
            [only] => Some((only, false)),
            [other, negative] => Some(if number < 0.0 {
                (negative, true)
            } else {
                (other, false)
            }),
            [positive, negative, zero, ..] => Some(if number > 0.0 {
                (positive, false)
            } else if number < 0.0 {
                (negative, true)
            } else {
                (zero, false)
            }),
            [] => None,
        }
    }
}

fn date_cell(section: &Section, number: f64, is_1904: bool) -> Option<Cell> {
    let parts = || {
        section.tokens.iter().filter_map(|token| match token {
            Token::Date(part) => Some(*part),
            _ => None,
        })
    };
    let decimals = parts()
        .map(|part| match part {
            DatePart::Fraction(digits) => digits,
            _ => 0,
        })
        .max();
    let has_half_days = parts().any(|part| matches!(part, DatePart::HalfDay { .. }));
    let is_elapsed = parts().any(|part| {
        matches!(
            part,
            DatePart::ElapsedHours(_) | DatePart::ElapsedMinutes(_) | DatePart::ElapsedSeconds(_)
        )
    });
    let is_before = is_elapsed && number < 0.0;
    let moment = Moment::of(if is_before { -number } else { number }, is_1904)?;
    let rounded = moment.rounded(decimals.unwrap_or(0), is_1904);
    let mut shown = String::new();
    if is_before {
        shown.push('-');
    }
    for token in &section.tokens {
        match token {
            Token::Date(part) => rounded.show(*part, has_half_days, &mut shown),
            Token::Literal(character) => shown.push(*character),
            Token::General => shown.push_str(&general(number)),
            _ => {}
        }
    }
    // A length of time of a day or more is no moment.
    let value = if is_elapsed && !(0.0..1.0).contains(&number) {
        CellValue::Number(number)
    } else {
        CellValue::Date(moment.iso())
    };
    Some(Cell {
        shown: shown.trim().to_owned(),
        value,
    })
}

/// The value of a moment, or of a number of days that is none.
pub(super) fn moment_value(number: f64, is_1904: bool) -> CellValue {
    match Moment::of(number, is_1904) {
        Some(moment) => CellValue::Date(moment.iso()),
        None => CellValue::Number(number),
    }
}

fn show_text(section: &Section, text: &str) -> String {
    if section.tokens == [Token::Text] {
        return text.to_owned();
    }
    let mut shown = String::new();
    for token in &section.tokens {
        match token {
            Token::Text | Token::General => shown.push_str(text),
            Token::Literal(character) => shown.push(*character),
            _ => {}
        }
    }
    shown.trim().to_owned()
}

#[cfg(test)]
mod tests;
