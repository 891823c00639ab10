//! Rows of sheets.

use kb_types::CellRange;
use kb_types::cell_text::{Cell, CellValue};
use kb_types::error::{Error, Result};
use proptest::prelude::*;

use super::{Kb, add_sheet, all, document, file, text, workbook};
use crate::content::{SheetData, SheetRow};

fn rows_of(data: &SheetData) -> Vec<(u32, Vec<&str>)> {
    let shown = |row: &'_ SheetRow| {
        row.cells
            .iter()
            .map(|(_, cell)| cell.shown.len())
            .sum::<usize>()
    };
    data.rows
        .iter()
        .filter(|row| shown(row) < 1000)
        .map(|row| {
            let cells = row.cells.iter().map(|(_, cell)| cell.shown.as_str());
            (row.number, cells.collect())
        })
        .collect()
}

#[test]
fn rows_of_a_sheet_have_their_numbers_and_values() {
    let (_folder, kb) = file(vec![workbook()]);
    let first = kb.sheet("book.xlsx", None, None, &all()).unwrap();
    assert_eq!((first.number, first.sheet.name.as_str()), (2, "Revenue"));
    assert_eq!(first.range.unwrap().to_string(), "A1:C1000");
    let header = first.header.as_ref().unwrap();
    assert_eq!(
        (header.number, header.cells[1].1.shown.as_str()),
        (2, "Revenue")
    );
    assert_eq!(first.selected, 396);
    let rows = rows_of(&first);
    assert_eq!(rows[0], (1, vec!["Takings of the harbour"]));
    assert_eq!(rows[1], (3, vec!["January", "$1000.00"]));
    assert_eq!(rows[2], (8, vec!["day", "$8.00"]));
    assert_eq!(*rows.last().unwrap(), (1000, vec!["Total", "$7.00"]));
    let value = &first.rows[1].cells[1].1.value;
    assert_eq!(*value, CellValue::Number(1000.0));
    assert_eq!(first.rows[2].cells[2].1.shown.len(), 7200);

    let range = kb.sheet("book.xlsx", Some(" revenue"), Some("B3:C8"), &all());
    let range = range.unwrap();
    assert_eq!(range.header.as_ref().unwrap().number, 3);
    let shown: Vec<&str> = range
        .rows
        .iter()
        .map(|row| row.cells[0].1.shown.as_str())
        .collect();
    assert_eq!(shown, ["$2.50", "$8.00"]);
    assert_eq!(range.selected, 2);
    let gap = kb
        .sheet("book.xlsx", Some("Revenue"), Some("a4:b7"), &all())
        .unwrap();
    let header = gap.header.as_ref().unwrap();
    assert_eq!((header.number, header.cells.len()), (4, 0));
    assert_eq!(rows_of(&gap), [(7, vec!["February", "$2.50"])]);

    let empty = kb.sheet("book.xlsx", Some("Empty"), None, &all()).unwrap();
    assert_eq!((empty.range, empty.header, empty.selected), (None, None, 0));
    let far = kb.sheet("book.xlsx", Some("far"), None, &all()).unwrap();
    assert_eq!(far.range.unwrap().to_string(), "A1:XFD1048576");
    assert_eq!(
        (far.rows[0].number, far.rows[0].cells[0].0),
        (1_048_576, 16_384)
    );
    assert_eq!(far.rows.tokens, 8);
}

#[test]
fn sheets_and_cells_that_are_not_there_are_refused() {
    let mut table = document("table.csv");
    add_sheet(&mut table, "", &[(1, vec![(1, text("a"))])]);
    let (_folder, kb) = file(vec![workbook(), table]);
    let refused = |name, sheet, cells| {
        let error = kb.sheet(name, sheet, cells, &all()).unwrap_err();
        (error.code(), error.to_string())
    };
    let (code, told) = refused("book.xlsx", Some("Costs"), None);
    assert_eq!(
        (code, told.as_str()),
        ("SHEET_NOT_FOUND", "no sheet \"Costs\" in book.xlsx")
    );
    let error = kb.sheet("book.xlsx", Some("Revnue"), None, &all());
    let Err(Error::SheetNotFound {
        nearest,
        sheets,
        total,
        ..
    }) = error
    else {
        panic!("{error:?}");
    };
    assert_eq!(
        (nearest, sheets.len(), total),
        (vec!["Revenue".to_owned()], 4, 4)
    );
    assert_eq!(refused("book.xlsx", Some(""), None).0, "SHEET_NOT_FOUND");
    assert_eq!(
        refused("table.csv", Some("Sheet1"), None).0,
        "CSV_NO_SHEETS"
    );
    for cells in ["", "A", "D1:E9", "A1001:B2000", "1:2:3"] {
        let (code, told) = refused("book.xlsx", None, Some(cells));
        assert_eq!(code, "INVALID_RANGE");
        assert!(told.ends_with("the sheet has A1:C1000"), "{told}");
    }
    assert_eq!(
        refused("book.xlsx", Some("Empty"), Some("A1")).0,
        "INVALID_RANGE"
    );
    assert!(kb.sheet("table.csv", None, Some("A1:Z9"), &all()).is_ok());
}

#[test]
fn lines_in_the_name_select_their_rows() {
    let (_folder, kb) = file(vec![workbook()]);
    let told = |name: &str, sheet: Option<&str>| {
        let found = kb.sheet(name, sheet, None, &all())?;
        let rows: Vec<u32> = found.rows.iter().map(|row| row.number).collect();
        let header = found.header.map(|header| header.number);
        Ok((found.sheet.name, header, rows))
    };
    let revenue = |rows: Vec<u32>| ("Revenue".to_owned(), Some(2), rows);
    // The draft is line 1, the sheet of 397 lines begins with line 2.
    assert_eq!(told("book.xlsx:4-6", None).unwrap(), revenue(vec![3, 7, 8]));
    assert_eq!(told("book.xlsx:3", None).unwrap(), revenue(vec![]));
    let across = told("book.xlsx:1-4", Some("Revenue")).unwrap();
    assert_eq!(across, revenue(vec![1, 3]));
    let far = ("Far".to_owned(), None, vec![1_048_576]);
    assert_eq!(told("book.xlsx:399-9999", None).unwrap(), far);
    for (name, sheet) in [
        ("book.xlsx:400", None),
        ("book.xlsx:1", Some("Far")),
        ("book.xlsx:4", Some("Empty")),
    ] {
        let error: Result<_> = told(name, sheet);
        assert_eq!(error.unwrap_err().code(), "INVALID_RANGE", "{name}");
    }
}

/// All rows, call by call; the header is repeated.
fn rows_in_parts(
    kb: &Kb,
    sheet: Option<&str>,
    cells: Option<&str>,
    max_tokens: u32,
) -> Result<Vec<SheetRow>> {
    let mut page = all().max_tokens(max_tokens);
    let mut rows = Vec::new();
    let first = kb.sheet("book.xlsx", sheet, cells, &page)?;
    loop {
        let found = kb.sheet("book.xlsx", sheet, cells, &page)?;
        assert_eq!(found.header, first.header);
        assert!(found.rows.tokens <= max_tokens.into() || found.rows.len() == 1);
        page.cursor = found.rows.next.clone();
        rows.extend(found.rows);
        if page.cursor.is_none() {
            return Ok(rows);
        }
    }
}

#[test]
fn rows_are_continued_where_they_ended() {
    let (_folder, kb) = file(vec![workbook()]);
    for cells in [None, Some("A1:C1000"), Some("B2:B390"), Some("3:8")] {
        let whole = kb.sheet("book.xlsx", None, cells, &all()).unwrap();
        assert_eq!(whole.rows.len() as u64, whole.selected);
        for max_tokens in [1, 9, 100, 2000] {
            let rows = rows_in_parts(&kb, None, cells, max_tokens).unwrap();
            assert_eq!(rows, *whole.rows, "{cells:?} {max_tokens}");
        }
    }
    let page = all().max_tokens(50);
    let next = kb
        .sheet("book.xlsx", None, None, &page)
        .unwrap()
        .rows
        .next
        .unwrap();
    let page = page.cursor(next);
    // Another header, and another sheet.
    for (sheet, cells) in [(None, Some("A1:C1000")), (Some("Far"), None)] {
        let error = kb.sheet("book.xlsx", sheet, cells, &page).unwrap_err();
        assert_eq!(error.code(), "INVALID_CONTINUATION_TOKEN");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_range_of_any_sheet_is_its_cells(
        rows in prop::collection::btree_map(
            1u32..60,
            prop::collection::btree_map(1u32..12, "[a-z\\\\\t\n]{0,9}|[a-z]{300,900}|[0-9]{1,3}", 1..5),
            0..20,
        ),
        corners in (1u32..60, 1u32..60, 1u32..12, 1u32..12),
        max_tokens in 1u32..900,
    ) {
        let rows: Vec<(u32, Vec<(u32, Cell)>)> = rows
            .into_iter()
            .map(|(row, cells)| {
                let cells = cells.into_iter().map(|(column, value)| (column, text(&value)));
                (row, cells.collect())
            })
            .collect();
        let mut book = document("book.xlsx");
        add_sheet(&mut book, "Before", &[(3, vec![(1, text("before"))])]);
        add_sheet(&mut book, "Sheet", &rows);
        add_sheet(&mut book, "After", &[(1, vec![(1, text("after"))])]);
        let (_folder, kb) = file(vec![book]);
        let whole = rows_in_parts(&kb, Some("Sheet"), None, max_tokens).unwrap();
        let stored: Vec<(u32, Vec<(u32, Cell)>)> = whole.into_iter().map(|row| (row.number, row.cells)).collect();
        prop_assert_eq!(&stored, &rows);
        let (a, b, c, d) = corners;
        let range = CellRange {
            first_row: a.min(b),
            last_row: a.max(b),
            first_column: c.min(d),
            last_column: c.max(d),
        };
        let found = rows_in_parts(&kb, Some("Sheet"), Some(&range.to_string()), max_tokens);
        let last_column = rows.iter().flat_map(|(_, cells)| cells).map(|(column, _)| *column).max();
        let is_within = rows.last().is_some_and(|(row, _)| *row >= range.first_row)
            && last_column >= Some(range.first_column);
        prop_assert_eq!(found.is_ok(), is_within);
        if let Ok(found) = found {
            let expected: Vec<(u32, Vec<(u32, Cell)>)> = rows
                .iter()
                .filter(|(row, _)| range.first_row < *row && *row <= range.last_row)
                .map(|(row, cells)| {
                    let columns = range.first_column..=range.last_column;
                    let cells = cells.iter().filter(|(column, _)| columns.contains(column));
                    (*row, cells.cloned().collect())
                })
                .collect();
            let found: Vec<(u32, Vec<(u32, Cell)>)> = found.into_iter().map(|row| (row.number, row.cells)).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
