//! Ranges of cells as spreadsheets write them: `A1:D10`.

use std::fmt;

use crate::cell_text::MAX_COLUMNS;

/// Cells of a sheet: rows and columns from 1, first and last included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CellRange {
    /// First row.
    pub first_row: u32,
    /// Last row.
    pub last_row: u32,
    /// First column.
    pub first_column: u32,
    /// Last column.
    pub last_column: u32,
}

impl CellRange {
    /// Reads `A1:D10`, a cell `B2`, columns `A:D` or rows `3:10`, in any case, with or without `$`. Corners may
    /// come in any order. `None` for anything else, and for columns beyond [`MAX_COLUMNS`].
    ///
    /// ```
    /// use kb_types::CellRange;
    ///
    /// let range = CellRange::parse("$d$10:a1").unwrap();
    /// assert_eq!(range.to_string(), "A1:D10");
    /// assert_eq!(CellRange::parse("A"), None);
    /// ```
    pub fn parse(text: &str) -> Option<CellRange> {
        let (from, to) = match text.trim().split_once(':') {
            Some((from, to)) => (corner(from)?, corner(to)?),
            None => match corner(text.trim())? {
                cell @ (Some(_), Some(_)) => (cell, cell),
                _ => return None,
            },
        };
        let both = |from: Option<u32>, to: Option<u32>, last: u32| match (from, to) {
            (Some(from), Some(to)) => Some((from.min(to), from.max(to))),
            (None, None) => Some((1, last)),
            _ => None,
        };
        let (first_column, last_column) = both(from.0, to.0, MAX_COLUMNS)?;
        let (first_row, last_row) = both(from.1, to.1, u32::MAX)?;
        Some(CellRange {
            first_row,
            last_row,
            first_column,
            last_column,
        })
    }
}

/// Column and row of a corner, one of which may be left out.
fn corner(text: &str) -> Option<(Option<u32>, Option<u32>)> {
    let text = text.trim();
    let text = text.strip_prefix('$').unwrap_or(text);
    let letters = text.bytes().take_while(u8::is_ascii_alphabetic).count();
    let (column, row) = text.split_at_checked(letters)?;
    let row = row.strip_prefix('$').unwrap_or(row);
    let column = match column {
        "" => None,
        letters => Some(column_number(letters)?),
    };
    let row = match row {
        "" => None,
        digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            Some(digits.parse::<u32>().ok().filter(|row| *row > 0)?)
        }
        _ => return None,
    };
    (column.is_some() || row.is_some()).then_some((column, row))
}

/// The column of letters, in any case: `AA` is 27. `None` for others, and beyond [`MAX_COLUMNS`].
pub fn column_number(letters: &str) -> Option<u32> {
    let mut column = 0u32;
    for letter in letters.bytes() {
        let digit = u32::from(letter.to_ascii_uppercase().checked_sub(b'A')?) + 1;
        column = column * 26 + digit;
        if column > MAX_COLUMNS {
            return None;
        }
    }
    Some(column)
}

/// The letters of a column, from 1: `A`, `Z`, `AA`; empty for 0.
pub fn column_name(column: u32) -> String {
    let (mut letters, mut rest) = (Vec::new(), column);
    while rest > 0 {
        rest -= 1;
        // Below 26.
        letters.push(char::from(b'A' + (rest % 26) as u8));
        rest /= 26;
    }
    letters.into_iter().rev().collect()
}

impl fmt::Display for CellRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, last) = (
            column_name(self.first_column),
            column_name(self.last_column),
        );
        let (from, to) = (self.first_row, self.last_row);
        write!(f, "{first}{from}:{last}{to}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_as_spreadsheets_write_them() {
        let read = |text: &str| {
            let range = CellRange::parse(text)?;
            let rows = (range.first_row, range.last_row);
            Some((rows, (range.first_column, range.last_column)))
        };
        for (text, rows, columns) in [
            ("A1:D10", (1, 10), (1, 4)),
            (" d10:A1 ", (1, 10), (1, 4)),
            ("$B$2", (2, 2), (2, 2)),
            ("xfd1048576", (1_048_576, 1_048_576), (16_384, 16_384)),
            ("A:C", (1, u32::MAX), (1, 3)),
            ("3 : 10", (3, 10), (1, 16_384)),
            ("C9:B3", (3, 9), (2, 3)),
        ] {
            assert_eq!(read(text), Some((rows, columns)), "{text}");
        }
        for wrong in [
            "",
            ":",
            "A",
            "7",
            "A1:",
            "A1:B",
            "A:3",
            "XFE1",
            "A0",
            "1A",
            "A1:B2:C3",
            "A-1",
            "A1B2",
            "$",
            "A1.5",
            "\u{c4}1",
            "A99999999999",
        ] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn columns_have_the_names_that_they_are_read_by() {
        for (column, name) in [
            (1, "A"),
            (26, "Z"),
            (27, "AA"),
            (702, "ZZ"),
            (16_384, "XFD"),
        ] {
            assert_eq!(column_name(column), name);
        }
        for column in 1..=MAX_COLUMNS {
            assert_eq!(column_number(&column_name(column)), Some(column));
        }
    }
}
