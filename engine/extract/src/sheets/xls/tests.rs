use kb_types::cell_text::{Cell, CellValue};
use proptest::prelude::*;

use super::extract;
use crate::package::test_files::compound_file;
use crate::sheets::tests::sheets;
use crate::skip_reason::SkipReason;

/// A record.
pub(crate) fn record(kind: u16, data: &[u8]) -> Vec<u8> {
    let length = data.len() as u16;
    [&kind.to_le_bytes()[..], &length.to_le_bytes(), data].concat()
}

/// The stream of a workbook: records for all sheets, then sheets by name, state and records.
pub(crate) fn stream(globals: &[Vec<u8>], sheets: &[(&str, u8, Vec<Vec<u8>>)]) -> Vec<u8> {
    let begin = |kind: u8| record(0x809, &[0, 6, kind, 0, 0, 0, 0, 0]);
    let end = record(0x0A, &[]);
    let entry = |start: usize, (name, state, _): &(&str, u8, Vec<Vec<u8>>)| {
        let start = (start as u32).to_le_bytes();
        let head = [*state, 0, name.len() as u8, 0];
        record(0x85, &[&start[..], &head, name.as_bytes()].concat())
    };
    let list = |start: usize| -> Vec<u8> {
        let mut start = start;
        let mut list = Vec::new();
        for sheet in sheets {
            list.extend(entry(start, sheet));
            start += begin(0x10).len() + sheet.2.concat().len() + end.len();
        }
        list
    };
    let before = begin(5).len() + globals.concat().len() + list(0).len() + end.len();
    let mut stream = [begin(5), globals.concat(), list(before), end.clone()].concat();
    for (.., records) in sheets {
        stream.extend([begin(0x10), records.concat(), end.clone()].concat());
    }
    stream
}

/// A file with such a workbook.
pub(crate) fn xls(globals: &[Vec<u8>], sheets: &[(&str, u8, Vec<Vec<u8>>)]) -> Vec<u8> {
    compound_file(&[("Workbook", stream(globals, sheets))])
}

/// A cell with a text of its own.
pub(crate) fn label(row: u16, column: u16, text: &str) -> Vec<u8> {
    let place = [row, column, 0].map(u16::to_le_bytes).concat();
    let length = (text.len() as u16).to_le_bytes();
    record(
        0x204,
        &[&place[..], &length, &[0], text.as_bytes()].concat(),
    )
}

fn at(row: u16, column: u16, style: u16) -> Vec<u8> {
    [row, column, style].map(u16::to_le_bytes).concat()
}

/// A cell of any kind.
fn cell(kind: u16, place: Vec<u8>, rest: &[u8]) -> Vec<u8> {
    record(kind, &[&place, rest].concat())
}

fn style(format: u16) -> Vec<u8> {
    record(0xE0, &[0, format, 0].map(u16::to_le_bytes).concat())
}

/// The texts that cells share: one within a record, one across two with another width, one with runs and a reading.
fn shared_strings() -> Vec<u8> {
    let head = [3u32.to_le_bytes(), 3u32.to_le_bytes()].concat();
    let first = [&head[..], &[3, 0, 0], b"One", &[8, 0, 0], b"abcd"].concat();
    let wide: Vec<u8> = "\u{44f}\u{4e2d}\u{6587}!"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let rich = [
        &[2, 0, 12][..],
        &[1, 0],
        &[4, 0, 0, 0],
        b"xy",
        &[9; 4],
        &[7; 4],
    ]
    .concat();
    let second = [&[1][..], &wide, &rich].concat();
    [record(0xFC, &first), record(0x3C, &second)].concat()
}

fn full_sheet() -> Vec<Vec<u8>> {
    let result = |number: f64| [&number.to_le_bytes()[..], &[0; 6]].concat();
    let special = |kind: u8, value: u8| [kind, 0, value, 0, 0, 0, 0xFF, 0xFF, 0, 0, 0, 0, 0, 0];
    let rk = |number: u32| number.to_le_bytes();
    let pair = |style: u16, number: u32| [&style.to_le_bytes()[..], &rk(number)].concat();
    vec![
        cell(0xFD, at(0, 0, 0), &0u32.to_le_bytes()),
        cell(0xFD, at(0, 1, 0), &1u32.to_le_bytes()),
        cell(0xFD, at(0, 2, 0), &2u32.to_le_bytes()),
        cell(0xFD, at(0, 3, 0), &99u32.to_le_bytes()),
        cell(0x203, at(1, 0, 1), &1_234_567.0f64.to_le_bytes()),
        cell(0x203, at(1, 1, 2), &45_415.0f64.to_le_bytes()),
        // Integers, hundredths, the upper half of a float.
        cell(0x27E, at(2, 0, 0), &rk(7 << 2 | 2)),
        cell(0x27E, at(2, 1, 0), &rk((-5i32 << 2).cast_unsigned() | 3)),
        cell(0x27E, at(2, 2, 0), &rk(0x3FF8_0000)),
        record(
            0xBD,
            &[
                at(3, 0, 0)[..4].to_vec(),
                pair(0, 6),
                pair(1, 10),
                vec![1, 0],
            ]
            .concat(),
        ),
        cell(0x205, at(4, 0, 0), &[1, 0]),
        cell(0x205, at(4, 1, 0), &[0x2A, 1]),
        cell(0x06, at(5, 0, 1), &result(2.0)),
        cell(0x06, at(5, 1, 0), &special(0, 0)),
        record(0x207, &[&[4, 0, 0][..], b"text"].concat()),
        cell(0x06, at(5, 2, 0), &special(1, 1)),
        cell(0x06, at(5, 3, 0), &special(2, 0x07)),
        cell(0x06, at(5, 4, 0), &special(3, 0)),
    ]
}

fn full_workbook() -> Vec<u8> {
    let code = record(0x41E, &[&[164, 0, 8, 0, 0][..], b"\"$\"#,##0"].concat());
    let globals = [code, style(0), style(164), style(14), shared_strings()];
    stream(
        &globals,
        &[("One", 0, full_sheet()), ("Hidden", 1, Vec::new())],
    )
}

#[test]
fn every_kind_of_cell_is_read() {
    let found = extract(&compound_file(&[("Workbook", full_workbook())])).unwrap();
    let sheets = sheets(&found);
    let names: Vec<_> = sheets
        .iter()
        .map(|(sheet, _)| (sheet.name.as_str(), sheet.is_hidden))
        .collect();
    assert_eq!(names, [("One", false), ("Hidden", true)]);
    let text = |text: &str| Cell::plain(CellValue::Text(text.to_owned()));
    let number = |number: f64| Cell::plain(CellValue::Number(number));
    let shown = |shown: &str, value| Cell {
        shown: shown.to_owned(),
        value,
    };
    let error = |name: &str| Cell::plain(CellValue::Error(name.to_owned()));
    let expected = [
        (1, 1, text("One")),
        (1, 2, text("abcd\u{44f}\u{4e2d}\u{6587}!")),
        (1, 3, text("xy")),
        (2, 1, shown("$1,234,567", CellValue::Number(1_234_567.0))),
        (
            2,
            2,
            shown("5/3/2024", CellValue::Date("2024-05-03".to_owned())),
        ),
        (3, 1, number(7.0)),
        (3, 2, number(-0.05)),
        (3, 3, number(1.5)),
        (4, 1, number(1.0)),
        (4, 2, shown("$2", CellValue::Number(2.0))),
        (5, 1, Cell::plain(CellValue::Boolean(true))),
        (5, 2, error("#N/A")),
        (6, 1, shown("$2", CellValue::Number(2.0))),
        (6, 2, text("text")),
        (6, 3, Cell::plain(CellValue::Boolean(true))),
        (6, 4, error("#DIV/0!")),
    ];
    assert_eq!(sheets[0].1, expected);
    assert_eq!(sheets[0].0.header_row, Some(1));
}

/// A shared string as it is stored: its bytes, and which of them begin a character.
fn stored(text: &str, is_wide: bool, runs: u16, spoken: u32) -> (Vec<u8>, Vec<usize>) {
    let flags = u8::from(is_wide) | if runs > 0 { 8 } else { 0 } | if spoken > 0 { 4 } else { 0 };
    let units: Vec<u16> = text.encode_utf16().collect();
    let mut bytes = [&(units.len() as u16).to_le_bytes()[..], &[flags]].concat();
    if runs > 0 {
        bytes.extend(runs.to_le_bytes());
    }
    if spoken > 0 {
        bytes.extend(spoken.to_le_bytes());
    }
    let mut starts = Vec::new();
    for unit in units {
        starts.push(bytes.len());
        match is_wide {
            true => bytes.extend(unit.to_le_bytes()),
            false => bytes.push(unit as u8),
        }
    }
    bytes.resize(bytes.len() + 4 * usize::from(runs) + spoken as usize, 0xAB);
    (bytes, starts)
}

#[test]
fn shared_strings_are_whole_wherever_records_cut_them() {
    let texts = [
        ("plum jam", false, 0, 0),
        ("\u{5ca9}\u{624b}", true, 0, 0),
        ("", false, 0, 0),
        ("pear", false, 3, 5),
        ("\u{3b1}\u{3b2}g", true, 1, 2),
        ("quince", false, 0, 9),
    ];
    let mut bytes = vec![0; 8];
    // Where a record may end: behind each byte but between the halves of a character, and whether characters go on
    // behind it, which takes a byte of flags.
    let mut places = Vec::new();
    for (text, is_wide, runs, spoken) in texts {
        let (stored, starts) = stored(text, is_wide, runs, spoken);
        let width = if is_wide { 2 } else { 1 };
        for at in 0..stored.len() {
            let in_character = starts
                .iter()
                .any(|start| (start + 1..start + width).contains(&at));
            if !in_character {
                places.push((
                    bytes.len() + at,
                    starts.contains(&at).then_some(u8::from(is_wide)),
                ));
            }
        }
        bytes.extend(stored);
    }
    let cells = |count: usize| -> Vec<Vec<u8>> {
        (0..count as u32)
            .map(|n| cell(0xFD, at(n as u16, 0, 0), &n.to_le_bytes()))
            .collect()
    };
    let expected: String = texts
        .iter()
        .map(|(text, ..)| text)
        .filter(|text| !text.is_empty())
        .map(|text| format!("{text}\n"))
        .collect();
    let read = |cuts: &[(usize, Option<u8>)], with_empty: bool| {
        let mut records = Vec::new();
        let (mut from, mut kind, mut flags) = (0, 0xFC, None);
        let ends = cuts.iter().copied().chain([(bytes.len(), None)]);
        for (end, next) in ends {
            let piece: Vec<u8> = flags
                .into_iter()
                .chain(bytes[from..end].iter().copied())
                .collect();
            records.push(record(kind, &piece));
            if with_empty {
                records.push(record(0x3C, &[]));
            }
            (from, kind, flags) = (end, 0x3C, next);
        }
        let found = extract(&xls(&records, &[("a", 0, cells(texts.len()))])).unwrap();
        found.text.unwrap()
    };
    for (number, first) in places.iter().enumerate() {
        assert_eq!(read(&[*first], false), expected, "cut at {first:?}");
        assert_eq!(
            read(&[*first], true),
            expected,
            "cut at {first:?}, then an empty record"
        );
        if let Some(second) = places.get(number + 1 + number % 5) {
            assert_eq!(
                read(&[*first, *second], false),
                expected,
                "cut at {first:?} and {second:?}"
            );
        }
    }
}

#[test]
fn a_long_text_of_a_formula_goes_on_in_the_next_record() {
    let formula = cell(
        0x06,
        at(0, 0, 0),
        &[0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0, 0, 0, 0, 0, 0],
    );
    let first = record(0x207, &[&[6, 0, 0][..], b"one "].concat());
    let second = record(0x3C, &[1, b'u', 0, b'p', 0]);
    let found = extract(&xls(&[], &[("a", 0, vec![formula, first, second])])).unwrap();
    assert_eq!(found.text.as_deref(), Some("one up\n"));
}

#[test]
fn days_count_from_1904_where_the_workbook_says_so() {
    let globals = [record(0x22, &[1, 0]), style(14)];
    let cells = vec![cell(0x203, at(0, 0, 0), &1.0f64.to_le_bytes())];
    let found = extract(&xls(&globals, &[("a", 0, cells)])).unwrap();
    assert_eq!(found.text.as_deref(), Some("1/2/1904\\=d1904-01-02\n"));
}

#[test]
fn a_workbook_of_1995_is_read_in_its_code_page() {
    let begin = |kind: u8| record(0x809, &[0, 5, kind, 0]);
    let page = record(0x42, &1251u16.to_le_bytes());
    let text = [&[2, 0][..], b"\xC4\xE0"].concat();
    let entry = |start: u32| {
        record(
            0x85,
            &[&start.to_le_bytes()[..], &[0, 0, 1], b"\xDF"].concat(),
        )
    };
    let end = record(0x0A, &[]);
    let start = [begin(5), page.clone(), entry(0), end.clone()]
        .concat()
        .len() as u32;
    let sheet = [begin(0x10), cell(0x204, at(0, 0, 0), &text), end.clone()].concat();
    let stream = [begin(5), page, entry(start), end, sheet].concat();
    let found = extract(&compound_file(&[("Book", stream)])).unwrap();
    assert_eq!(found.text.as_deref(), Some("\u{414}\u{430}\n"));
    assert_eq!(sheets(&found)[0].0.name, "\u{42f}");
}

#[test]
fn a_stream_cut_anywhere_gives_what_is_left_or_a_reason() {
    let whole = full_workbook();
    let mut cells_before = 0;
    for length in 0..whole.len() {
        let cut = compound_file(&[("Workbook", whole[..length].to_vec())]);
        if let Ok(found) = extract(&cut) {
            let cells = sheets(&found).iter().map(|(_, cells)| cells.len()).sum();
            assert!(cells >= cells_before, "{length}");
            cells_before = cells;
        }
    }
    assert!(cells_before >= 15, "{cells_before}");
}

#[test]
fn counts_that_no_file_can_hold_cost_nothing() {
    // 2^32 texts, one of them of 65,535 characters with 65,535 runs and a reading of 4 GB.
    let head = [u32::MAX.to_le_bytes(), u32::MAX.to_le_bytes()].concat();
    let text = [&[0xFF; 2][..], &[12], &[0xFF; 6], b"xy"].concat();
    let strings = record(0xFC, &[head, text].concat());
    let cells = vec![
        cell(0xFD, at(0, 0, 0), &0u32.to_le_bytes()),
        cell(0x204, at(1, 0, 0), &[0xFF, 0xFF, 1]),
        label(2, 0, "there"),
    ];
    let found = extract(&xls(&[strings], &[("a", 0, cells)])).unwrap();
    assert_eq!(found.text.as_deref(), Some("xy\nthere\n"));
}

#[test]
fn sheets_that_are_one_place_are_read_once() {
    // As many names of one sheet as a workbook may have, and records enough that reading all of them again for each
    // would take minutes.
    let records = record(0x1234, &[]).repeat(20_000);
    let entries = 9_000;
    let begin = |kind: u8| record(0x809, &[0, 6, kind, 0]);
    let entry = |start: u32| {
        record(
            0x85,
            &[&start.to_le_bytes()[..], &[0, 0, 1, 0], b"a"].concat(),
        )
    };
    let start = begin(5).len() + entries * entry(0).len() + record(0x0A, &[]).len();
    let list: Vec<u8> = (0..entries).flat_map(|_| entry(start as u32)).collect();
    let sheet = [begin(0x10), records, label(0, 0, "once")].concat();
    let stream = [begin(5), list, record(0x0A, &[]), sheet].concat();
    let sectors = stream.len().div_ceil(512);
    let found = super::read(&stream).unwrap();
    assert!(sectors > 127, "too long for the file that tests make");
    assert_eq!(found.text.as_deref(), Some("once\n"));
    assert_eq!(found.parts.len(), entries);
}

#[test]
fn chains_in_circles_end() {
    let mut bytes = compound_file(&[("Workbook", full_workbook())]);
    // Each sector follows itself: the directory, and the stream.
    for sector in 1..128u32 {
        let place = 512 + 4 * sector as usize;
        bytes[place..place + 4].copy_from_slice(&sector.to_le_bytes());
    }
    let found = extract(&bytes);
    assert!(!matches!(found, Err(SkipReason::Encrypted(_))));
    // The table of sectors names itself as what goes on with it.
    bytes[68..72].copy_from_slice(&0u32.to_le_bytes());
    let _ = extract(&bytes);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn changed_records_give_sheets_or_a_reason(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..16),
    ) {
        let mut stream = full_workbook();
        for (at, byte) in changes {
            let at = at.index(stream.len());
            stream[at] = byte;
        }
        let _ = extract(&compound_file(&[("Workbook", stream)]));
    }
}
