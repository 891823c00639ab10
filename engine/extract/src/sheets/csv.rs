//! Tables as text: fields between commas, semicolons, tabs or bars, in quotes where they hold such.

use csv::{ReaderBuilder, StringRecord};
use kb_types::cell_text::{Cell, CellValue, MAX_COLUMNS};

use crate::extracted::Extracted;
use crate::sheets::workbook::Workbook;
use crate::skip_reason::SkipReason;

/// Most bytes of a field.
// A cell of a spreadsheet holds 32,767 characters. Beyond the limit a quote was never closed, and
// the rest of the file would be one field.
const MAX_FIELD_BYTES: usize = 1 << 20;
/// Bytes of the start of a table that show what stands between its fields.
// Some hundred rows: enough to see which separator gives rows of equal length, without a pass over
// a large file.
const SNIFFED_BYTES: usize = 64 << 10;
/// Records of that start.
// A hundred rows are enough to tell the separator.
const SNIFFED_RECORDS: usize = 100;

/// The table in a decoded text: one sheet without a name. An empty line is a row without cells, a field in
/// quotes may have lines of its own.
///
/// # Errors
/// [`SkipReason::Limit`] or [`SkipReason::TooLong`] when it has too much.
pub(crate) fn extract(source: &str, prefers_tabs: bool) -> Result<Extracted, SkipReason> {
    let (stated, table) = stated_delimiter(source);
    let delimiter = stated.unwrap_or_else(|| sniff_delimiter(table, prefers_tabs));
    let mut workbook = Workbook::new();
    let mut sheet = workbook.sheet("", false)?;
    let mut reader = reader(table, delimiter);
    let mut record = StringRecord::new();
    let mut row = 0u32;
    loop {
        let at = usize::try_from(reader.position().byte()).unwrap_or(usize::MAX);
        let empty_lines = empty_lines(table, at);
        if !matches!(reader.read_record(&mut record), Ok(true)) {
            break;
        }
        row = row.saturating_add(empty_lines).saturating_add(1);
        check(&record)?;
        for (column, field) in (1u32..).zip(&record) {
            if !field.is_empty() {
                sheet.push(row, column, cell(field))?;
            }
        }
    }
    sheet.finish()?;
    workbook.finish()
}

/// Refuses what is no table: without its end, a quoted field swallows all that follows.
fn check(record: &StringRecord) -> Result<(), SkipReason> {
    if record.len() > MAX_COLUMNS as usize {
        return Err(SkipReason::Limit {
            what: "columns",
            limit: u64::from(MAX_COLUMNS),
        });
    }
    if record.iter().any(|field| field.len() > MAX_FIELD_BYTES) {
        return Err(SkipReason::Limit {
            what: "bytes in a field",
            limit: MAX_FIELD_BYTES as u64,
        });
    }
    Ok(())
}

/// A field says by itself whether it is a number.
fn cell(field: &str) -> Cell {
    let shown = field.to_owned();
    let value = CellValue::implied(&shown);
    Cell { shown, value }
}

fn reader(table: &str, delimiter: u8) -> csv::Reader<&[u8]> {
    ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .from_reader(table.as_bytes())
}

/// `sep=;` in the first line, as Excel reads it, and the text behind that line.
fn stated_delimiter(source: &str) -> (Option<u8>, &str) {
    let stated = || {
        let rest = source.strip_prefix("sep=")?;
        let delimiter = rest.bytes().next().filter(u8::is_ascii)?;
        let rest = rest.get(1..)?;
        let rest = rest.strip_prefix('\r').unwrap_or(rest);
        let rest = rest.strip_prefix('\n')?;
        (!delimiter.is_ascii_alphanumeric() && delimiter != b'"').then_some((delimiter, rest))
    };
    match stated() {
        Some((delimiter, rest)) => (Some(delimiter), rest),
        None => (None, source),
    }
}

/// The delimiter that gives the most records of one width; in doubt the one between which all commas are those of
/// decimal numbers, else a comma, or for `.tsv` a tab.
fn sniff_delimiter(table: &str, prefers_tabs: bool) -> u8 {
    let head = table
        .get(..table.floor_char_boundary(SNIFFED_BYTES))
        .unwrap_or_default();
    let candidates = match prefers_tabs {
        true => [b'\t', b',', b';', b'|'],
        false => [b',', b';', b'\t', b'|'],
    };
    let mut best = (0, candidates[0]);
    for delimiter in candidates {
        if !head.as_bytes().contains(&delimiter) {
            continue;
        }
        let mut widths: Vec<usize> = Vec::new();
        let mut commas = Commas::None;
        for record in reader(head, delimiter).records().take(SNIFFED_RECORDS) {
            let record = record.unwrap_or_default();
            widths.push(record.len());
            record.iter().for_each(|field| commas.see(field));
        }
        // The last one may be cut.
        if widths.len() > 1 && head.len() < table.len() {
            widths.pop();
        }
        widths.sort_unstable();
        let records = widths.len();
        let same = widths
            .chunk_by(|a, b| a == b)
            .filter(|run| run.first().is_some_and(|width| *width > 1))
            .map(<[usize]>::len)
            .max();
        let share = same.unwrap_or(0) * 1000 / records.max(1);
        let takes_commas = best.1 == b',' && commas == Commas::Decimal;
        if share > best.0 || share == best.0 && share > 0 && takes_commas {
            best = (share, delimiter);
        }
    }
    best.1
}

/// What the commas inside fields are.
#[derive(PartialEq, Eq)]
enum Commas {
    None,
    Decimal,
    Other,
}

impl Commas {
    fn see(&mut self, field: &str) {
        let mut parts = field.trim().trim_start_matches(['-', '+']).split(',');
        let (Some(whole), Some(fraction)) = (parts.next(), parts.next()) else {
            return;
        };
        let is_whole = |byte: u8| byte.is_ascii_digit() || byte == b'.' || byte == b' ';
        let is_number = parts.next().is_none()
            && whole.bytes().all(is_whole)
            && whole.bytes().any(|byte| byte.is_ascii_digit())
            && !fraction.is_empty()
            && fraction.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number {
            *self = Commas::Other;
        } else if *self == Commas::None {
            *self = Commas::Decimal;
        }
    }
}

/// Empty lines at a byte of the text, which the reader passes over.
fn empty_lines(table: &str, at: usize) -> u32 {
    let bytes = table.as_bytes();
    let byte = |at: usize| bytes.get(at).copied();
    let mut at = at;
    // The reader stands between the two bytes of a line end.
    if byte(at) == Some(b'\n') && at.checked_sub(1).and_then(byte) == Some(b'\r') {
        at += 1;
    }
    let mut lines = 0;
    loop {
        let ends = match (byte(at), byte(at + 1)) {
            (Some(b'\r'), Some(b'\n')) => 2,
            (Some(b'\r' | b'\n'), _) => 1,
            _ => return lines,
        };
        at += ends;
        lines += 1;
    }
}

#[cfg(test)]
mod tests {
    use kb_types::cell_text;
    use kb_types::{PartContent, Sheet};
    use proptest::prelude::*;

    use super::*;

    /// A row and what its cells show.
    type Row = (u32, Vec<String>);

    fn table(source: &str) -> (Sheet, Vec<Row>) {
        let mut found = extract(source, false).unwrap();
        let PartContent::Sheet(sheet) = found.parts.pop().unwrap().content else {
            panic!("no sheet");
        };
        let text = found.text.unwrap();
        let rows = (0..).zip(text.lines()).map(|(line, cells)| {
            let cells = cell_text::cells(cells);
            let shown = cells.into_iter().map(|(_, cell)| cell.shown).collect();
            (sheet.row_of_line(line), shown)
        });
        let rows = rows.collect();
        assert!(found.line_numbers.is_empty());
        (sheet, rows)
    }

    #[test]
    fn empty_lines_keep_their_rows() {
        for end in ["\n", "\r\n"] {
            let source = format!(
                "{end}{end}name,size{end}{end}\"a{end}b\",2{end}{end}{end}c,3{end},,{end}d,4"
            );
            let (sheet, rows) = table(&source);
            let numbers: Vec<u32> = rows.iter().map(|(row, _)| *row).collect();
            assert_eq!(numbers, [3, 5, 8, 10], "{end:?}");
            assert_eq!(rows[1].1, [format!("a{end}b"), "2".to_owned()]);
            assert_eq!(
                (sheet.rows, sheet.columns, sheet.header_row),
                (10, 2, Some(3))
            );
        }
    }

    #[test]
    fn the_delimiter_is_the_one_that_gives_even_rows() {
        for (source, row) in [
            ("a;b\n1,5;2,5\n3,1;4,2\n", ["a", "b"]),
            ("a|b\n1|2, or 3\n", ["a", "b"]),
            ("a\tb\nx, y\tz\n", ["a", "b"]),
            ("a,b\n\"x;y;z\",2\n", ["a", "b"]),
            ("sep=;\na;b\n1;2\n", ["a", "b"]),
            // Without a header that says it.
            ("1,5;2,5\n-3,25;1.000,2\n", ["1,5", "2,5"]),
            ("1,5\t2,5\n3,1\t4,2\n", ["1,5", "2,5"]),
            ("a,b;c\nd,e;f\n", ["a", "b;c"]),
            ("1,2;b\n3,x;4\n", ["1", "2;b"]),
        ] {
            let (sheet, rows) = table(source);
            assert_eq!(rows[0].1, row, "{source}");
            assert_eq!(sheet.columns, 2, "{source}");
        }
        assert_eq!(table("one column\nof words\n").0.columns, 1);
        assert_eq!(table("").0, Sheet::default());
    }

    #[test]
    fn what_is_no_table_is_refused() {
        let wide = extract(&",".repeat(20_000), false).unwrap_err();
        assert_eq!(wide.to_string(), "more than 16384 columns");
        let open = extract(&format!("a,\"{}", "b,c\n".repeat(300_000)), false);
        assert_eq!(
            open.unwrap_err().to_string(),
            "more than 1048576 bytes in a field"
        );
    }

    proptest! {
        #[test]
        fn any_text_gives_rows_that_ascend(source in "[a-c0-9,;\t\"\r\n ]{0,60}") {
            let (_, rows) = table(&source);
            prop_assert!(rows.is_sorted_by(|a, b| a.0 < b.0));
        }
    }
}
