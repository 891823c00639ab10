//! Shared formulas: one cell has the text, the others of its block only its number. Theirs is the same with
//! its relative references moved by the distance between the two cells.

use std::collections::HashMap;

use kb_types::cell_text::MAX_COLUMNS;
use kb_types::{column_name, column_number};

use crate::sheets::workbook::MAX_ROWS;

/// Bytes of a formula that is kept: what a spreadsheet allows.
const MAX_FORMULA_BYTES: usize = 8192;
/// What stands for a formula whose text is not known.
// Text, and not an empty cell: the cell is there, and a reader must not take it for an empty one.
const UNKNOWN: &str = "(formula not known)";

/// The formulas of a sheet that several cells share, by number.
#[derive(Debug, Default)]
pub(super) struct SharedFormulas {
    masters: HashMap<u32, Master>,
}

#[derive(Debug)]
struct Master {
    row: u32,
    column: u32,
    text: String,
}

impl SharedFormulas {
    /// Keeps the formula of the cell that has its text; the first of a number counts.
    pub(super) fn keep(&mut self, number: u32, (row, column): (u32, u32), text: &str) {
        if text.len() <= MAX_FORMULA_BYTES {
            let text = text.to_owned();
            let master = Master { row, column, text };
            self.masters.entry(number).or_insert(master);
        }
    }

    /// The formula of a cell that has only its number: moved there, or where that is not simple which cell has it.
    pub(super) fn at(&self, number: Option<u32>, (row, column): (u32, u32)) -> String {
        let Some(master) = number.and_then(|number| self.masters.get(&number)) else {
            return UNKNOWN.to_owned();
        };
        let rows = i64::from(row) - i64::from(master.row);
        let columns = i64::from(column) - i64::from(master.column);
        moved(&master.text, rows, columns).unwrap_or_else(|| {
            let cell = format!("{}{}", column_name(master.column), master.row);
            format!("(formula of {cell}, moved)")
        })
    }
}

/// A formula with its relative references moved. None where it has others than to cells, or one would leave the
/// sheet.
fn moved(formula: &str, rows: i64, columns: i64) -> Option<String> {
    let mut text = String::with_capacity(formula.len());
    let mut rest = formula;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            // Texts, and names of sheets; a quote inside is doubled, which reads as two of them.
            '"' | '\'' => rest.get(1..)?.find(first)? + 2,
            // Columns of a table by name.
            '[' => return None,
            _ if is_of_word(first) => rest.find(|c| !is_of_word(c)).unwrap_or(rest.len()),
            _ => first.len_utf8(),
        };
        let (word, behind) = rest.split_at_checked(length)?;
        rest = behind;
        let next = rest.chars().next();
        let is_name = matches!(next, Some('(' | '!'));
        match Reference::of(word).filter(|_| !is_name) {
            Some(reference) => text.push_str(&reference.moved(rows, columns)?),
            // Whole rows and columns.
            None if !is_name && is_of_word(first) && (next == Some(':') || text.ends_with(':')) => {
                return None;
            }
            None => text.push_str(word),
        }
    }
    Some(text)
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '$' | '_' | '.' | '\\')
}

/// `$B$2`
struct Reference<'a> {
    /// Letters, or `$` and letters.
    column: &'a str,
    row: &'a str,
}

impl<'a> Reference<'a> {
    fn of(word: &'a str) -> Option<Reference<'a>> {
        let letters_at = usize::from(word.starts_with('$'));
        let letters = word.get(letters_at..)?;
        let letters = letters.bytes().take_while(u8::is_ascii_alphabetic).count();
        let (column, row) = word.split_at_checked(letters_at + letters)?;
        let digits = row.strip_prefix('$').unwrap_or(row);
        let is_row = !digits.is_empty()
            && digits.len() <= 7
            && !digits.starts_with('0')
            && digits.bytes().all(|byte| byte.is_ascii_digit());
        ((1..=3).contains(&letters) && is_row).then_some(Reference { column, row })
    }

    fn moved(&self, rows: i64, columns: i64) -> Option<String> {
        let column = match self.column.starts_with('$') {
            true => self.column.to_owned(),
            false => column_name(shifted(column_number(self.column)?, columns, MAX_COLUMNS)?),
        };
        let row = match self.row.starts_with('$') {
            true => self.row.to_owned(),
            false => shifted(self.row.parse().ok()?, rows, MAX_ROWS)?.to_string(),
        };
        Some(format!("{column}{row}"))
    }
}

fn shifted(number: u32, by: i64, most: u32) -> Option<u32> {
    let number = u32::try_from(i64::from(number).checked_add(by)?).ok()?;
    (1..=most).contains(&number).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_references_move() {
        let one = |formula: &str| moved(formula, 3, 1);
        for (formula, expected) in [
            ("A2*$B$1+$C2-D$4", "B5*$B$1+$C5-E$4"),
            ("SUM(A1:B2)&\"A1 \"\"B2\"", "SUM(B4:C5)&\"A1 \"\"B2\""),
            (
                "'It''s A1'!A1+Q1!B2+LOG10(A1)",
                "'It''s A1'!B4+Q1!C5+LOG10(B4)",
            ),
            ("Z9+rate_1+1.5E3+TRUE", "AA12+rate_1+1.5E3+TRUE"),
        ] {
            assert_eq!(one(formula).as_deref(), Some(expected));
        }
        for formula in [
            "SUM(A:A)",
            "SUM(2:3)",
            "Table1[Size]",
            "XFD1",
            "A1048576",
            "\"open",
        ] {
            assert_eq!(one(formula), None, "{formula}");
        }
        assert_eq!(moved("A1", -1, 0), None);
    }

    #[test]
    fn a_formula_that_is_not_moved_is_named() {
        let mut formulas = SharedFormulas::default();
        formulas.keep(0, (2, 3), "SUM(A:A)");
        formulas.keep(0, (9, 9), "A1");
        formulas.keep(1, (2, 3), "A2");
        formulas.keep(2, (2, 3), &"A".repeat(MAX_FORMULA_BYTES + 1));
        assert_eq!(formulas.at(Some(0), (4, 3)), "(formula of C2, moved)");
        assert_eq!(formulas.at(Some(1), (4, 3)), "A4");
        assert_eq!(formulas.at(Some(2), (4, 3)), UNKNOWN);
        assert_eq!(formulas.at(None, (4, 3)), UNKNOWN);
    }
}
