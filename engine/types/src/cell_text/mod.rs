//! A row of a sheet as one line of text, from which every cell comes back as it was.
//!
//! ```text
//! row       cell, then TAB and a cell for each further one
//! cell      [skip] shown [value]
//! skip      \> column ;   the cell stands in that column, from 1, and not in the next one
//! shown     what a reader of the sheet sees
//! value     \= kind [text]   what the cell holds, where that is not what `shown` says by itself
//! kind      n number, t text, z empty text, b boolean, d date or time, e error, f formula whose value is
//!           not known, m nothing
//! ```
//!
//! `\\`, `\t`, `\n` and `\r` stand for the backslash, the tab and line ends. Without a value, `shown` is a
//! number where it is written as this module writes that number, `TRUE` and `FALSE` are booleans, and all
//! else is text; an empty one is no cell. A value without text is that of `shown`.

mod shown;

use std::fmt::Write as _;

pub use self::shown::ShownRows;

/// Columns of the widest sheet that any program writes: XFD.
pub const MAX_COLUMNS: u32 = 16_384;

/// A cell.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cell {
    /// What a reader of the sheet sees: `$1,234.50`.
    pub shown: String,
    /// What it holds: 1234.5.
    pub value: CellValue,
}

/// What a cell holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum CellValue {
    /// Nothing.
    #[default]
    Empty,
    /// A finite number.
    Number(f64),
    /// Words.
    Text(String),
    /// True or false.
    Boolean(bool),
    /// A date, a time or both, as in ISO 8601: `2024-05-06`, `13:45:00`, `2024-05-06T13:45:00`.
    Date(String),
    /// An error: `#DIV/0!`.
    Error(String),
    /// A formula whose value the file does not hold, as it is written there.
    Formula(String),
}

impl Cell {
    /// A cell that shows what it holds.
    pub fn plain(value: CellValue) -> Cell {
        Cell {
            shown: value.text(),
            value,
        }
    }

    /// What a table of cells displays: what it shows, and of a formula whose value is not known the formula.
    pub fn displayed(&self) -> &str {
        match &self.value {
            CellValue::Formula(formula) if self.shown.is_empty() => formula,
            _ => &self.shown,
        }
    }

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.shown.is_empty() && self.value == CellValue::Empty
    }
}

impl CellValue {
    /// The value in words; a formula has none.
    pub fn text(&self) -> String {
        match self {
            CellValue::Empty | CellValue::Formula(_) => String::new(),
            CellValue::Number(number) => number_text(*number),
            CellValue::Text(text) | CellValue::Date(text) | CellValue::Error(text) => text.clone(),
            CellValue::Boolean(true) => "TRUE".to_owned(),
            CellValue::Boolean(false) => "FALSE".to_owned(),
        }
    }

    fn kind(&self) -> char {
        match self {
            CellValue::Text(text) if text.is_empty() => 'z',
            CellValue::Empty => 'm',
            CellValue::Text(_) => 't',
            CellValue::Number(_) => 'n',
            CellValue::Boolean(_) => 'b',
            CellValue::Date(_) => 'd',
            CellValue::Error(_) => 'e',
            CellValue::Formula(_) => 'f',
        }
    }

    fn of(kind: char, text: String) -> CellValue {
        match kind {
            'n' => match text.parse::<f64>() {
                Ok(number) if number.is_finite() => CellValue::Number(number),
                _ => CellValue::Text(text),
            },
            'b' => CellValue::Boolean(text == "TRUE"),
            'd' => CellValue::Date(text),
            'e' => CellValue::Error(text),
            'f' => CellValue::Formula(text),
            'z' => CellValue::Text(String::new()),
            'm' => CellValue::Empty,
            _ => CellValue::Text(text),
        }
    }

    /// What a shown text says by itself.
    pub fn implied(shown: &str) -> CellValue {
        match shown {
            "" => CellValue::Empty,
            "TRUE" => CellValue::Boolean(true),
            "FALSE" => CellValue::Boolean(false),
            _ => match shown.parse::<f64>() {
                Ok(number) if number.is_finite() && number_text(number) == shown => {
                    CellValue::Number(number)
                }
                _ => CellValue::Text(shown.to_owned()),
            },
        }
    }
}

/// A number as it is written: the fewest digits that give it back, and an exponent only from 1e16 on and
/// below 1e-5.
pub fn number_text(number: f64) -> String {
    let size = number.abs();
    if size != 0.0 && !(1e-5..1e16).contains(&size) {
        format!("{number:e}")
    } else {
        format!("{number}")
    }
}

/// Writes rows, one line each.
#[derive(Debug)]
pub struct RowWriter<'t> {
    text: &'t mut String,
    /// Column of the next cell, from 1.
    next: u32,
}

impl<'t> RowWriter<'t> {
    /// Begins a row at the end of `text`.
    pub fn new(text: &'t mut String) -> RowWriter<'t> {
        RowWriter { text, next: 1 }
    }

    /// Adds the cell of a column, from 1. Columns ascend; an empty cell, and one that comes too late, is left
    /// out.
    pub fn push(&mut self, column: u32, cell: &Cell) {
        if cell.is_empty() || column < self.next {
            return;
        }
        let is_first = self.next == 1;
        let gap = column - self.next;
        // A tab for each missing column is easier to read, and as short as a skip when there are few.
        let skips = gap > 4;
        if !is_first {
            self.text.push('\t');
        }
        if skips {
            let _ = write!(self.text, "\\>{column};");
        } else {
            self.text.extend(std::iter::repeat_n('\t', gap as usize));
        }
        escape(&cell.shown, self.text);
        if CellValue::implied(&cell.shown) != cell.value {
            self.text.push_str("\\=");
            self.text.push(cell.value.kind());
            let is_formula = matches!(cell.value, CellValue::Formula(_));
            let text = match &cell.value {
                CellValue::Formula(formula) => formula.clone(),
                value => value.text(),
            };
            if is_formula || text != cell.shown {
                escape(&text, self.text);
            }
        }
        self.next = column.saturating_add(1);
    }

    /// Ends the row.
    pub fn finish(self) {
        self.text.push('\n');
    }
}

fn escape(from: &str, to: &mut String) {
    for character in from.chars() {
        match character {
            '\\' => to.push_str("\\\\"),
            '\t' => to.push_str("\\t"),
            '\n' => to.push_str("\\n"),
            '\r' => to.push_str("\\r"),
            other => to.push(other),
        }
    }
}

/// The cells of a line with their columns, from 1. What does not follow the rules above is taken as text, and
/// columns beyond [`MAX_COLUMNS`] are left out. Linear in the line.
pub fn cells(line: &str) -> Vec<(u32, Cell)> {
    let line = line.strip_suffix('\n').unwrap_or(line);
    let mut found = Vec::new();
    let mut column = 1u32;
    for field in line.split('\t') {
        let mut field = field;
        if let Some((number, rest)) = field
            .strip_prefix("\\>")
            .and_then(|rest| rest.split_once(';'))
            && let Ok(number) = number.parse::<u32>()
            && number >= column
        {
            (column, field) = (number, rest);
        }
        if column > MAX_COLUMNS {
            break;
        }
        let cell = cell(field);
        if !cell.is_empty() {
            found.push((column, cell));
        }
        column += 1;
    }
    found
}

fn cell(field: &str) -> Cell {
    let (mut shown, mut value) = (String::new(), None);
    let mut characters = field.chars();
    while let Some(character) = characters.next() {
        let is_shown = value.is_none();
        let text = match &mut value {
            None => &mut shown,
            Some((_, text)) => text,
        };
        if character != '\\' {
            text.push(character);
            continue;
        }
        match characters.next() {
            Some('t') => text.push('\t'),
            Some('n') => text.push('\n'),
            Some('r') => text.push('\r'),
            Some('=') if is_shown => {
                let kind = characters.next().unwrap_or('t');
                value = Some((kind, String::new()));
            }
            Some(other) => text.push(other),
            None => text.push('\\'),
        }
    }
    let value = match value {
        None => CellValue::implied(&shown),
        Some((kind, text)) if text.is_empty() && kind != 'f' => CellValue::of(kind, shown.clone()),
        Some((kind, text)) => CellValue::of(kind, text),
    };
    Cell { shown, value }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn line_of(cells: &[(u32, Cell)]) -> String {
        let mut text = String::new();
        let mut row = RowWriter::new(&mut text);
        for (column, cell) in cells {
            row.push(*column, cell);
        }
        row.finish();
        text
    }

    fn shown(shown: &str, value: CellValue) -> Cell {
        Cell {
            shown: shown.to_owned(),
            value,
        }
    }

    #[test]
    fn a_row_reads_as_its_cells_do() {
        let text = |text: &str| Cell::plain(CellValue::Text(text.to_owned()));
        let row = [
            (1, text("Total")),
            (2, shown("$1,234.50", CellValue::Number(1234.5))),
            (4, Cell::plain(CellValue::Number(0.1))),
            (5, text("12")),
            (6, text("a\tb\\n\n")),
            (20, shown("", CellValue::Formula("=A1+1".to_owned()))),
        ];
        let line = line_of(&row);
        assert_eq!(
            line,
            "Total\t$1,234.50\\=n1234.5\t\t0.1\t12\\=t\ta\\tb\\\\n\\n\t\\>20;\\=f=A1+1\n"
        );
        assert_eq!(cells(&line), row);
        assert!(cells("\n").is_empty() && cells("").is_empty());
    }

    #[test]
    fn what_no_writer_writes_is_text() {
        let texts = |line: &str| -> Vec<(u32, String)> {
            let read = cells(line).into_iter();
            read.map(|(column, cell)| (column, cell.shown)).collect()
        };
        assert_eq!(texts("\\>2"), [(1, ">2".to_owned())]);
        assert_eq!(
            texts("a\tb\t\\>1;c"),
            [
                (1, "a".to_owned()),
                (2, "b".to_owned()),
                (3, ">1;c".to_owned())
            ]
        );
        assert!(texts("\\>4000000000;a").is_empty());
        assert_eq!(texts("a\\"), [(1, "a\\".to_owned())]);
        assert_eq!(
            cells("x\\=nabc").pop().unwrap().1.value,
            CellValue::Text("abc".to_owned())
        );
    }

    fn value() -> impl Strategy<Value = CellValue> {
        prop_oneof![
            any::<f64>()
                .prop_filter("finite", |it| it.is_finite())
                .prop_map(CellValue::Number),
            (-1000i32..1000).prop_map(|it| CellValue::Number(f64::from(it) / 4.0)),
            "[a-z0-9\\\\\t\n\r;=>.-]{0,6}".prop_map(CellValue::Text),
            any::<bool>().prop_map(CellValue::Boolean),
            "[0-9T:-]{1,8}".prop_map(CellValue::Date),
            "#[A-Z/0!]{1,5}".prop_map(CellValue::Error),
            "=[A-Z0-9+\\\\\t]{0,6}".prop_map(CellValue::Formula),
            Just(CellValue::Empty),
        ]
    }

    proptest! {
        #[test]
        fn every_cell_comes_back(
            cells_in in prop::collection::btree_map(
                1u32..60,
                (value(), prop::option::of("[a-z0-9$,.\\\\\t\n;=>]{0,6}")),
                0..12,
            )
        ) {
            let row: Vec<(u32, Cell)> = cells_in
                .into_iter()
                .map(|(column, (value, shown))| {
                    let cell = match shown {
                        Some(shown) => Cell { shown, value },
                        None => Cell::plain(value),
                    };
                    (column, cell)
                })
                .filter(|(_, cell)| !cell.is_empty())
                .collect();
            let line = line_of(&row);
            prop_assert_eq!(line.matches('\n').count(), 1);
            prop_assert_eq!(cells(&line), row);
        }

        #[test]
        fn any_line_gives_ascending_columns(line in "[a-z0-9\\\\\t;=>ntf]{0,40}") {
            let columns: Vec<u32> = cells(&line).iter().map(|(column, _)| *column).collect();
            prop_assert!(columns.is_sorted_by(|a, b| a < b));
        }
    }
}
