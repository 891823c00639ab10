use crate::ingest::extract::package::test_files::compound_file;

/// A record.
pub(in crate::ingest::extract) fn record(kind: u16, data: &[u8]) -> Vec<u8> {
    let length = data.len() as u16;
    [&kind.to_le_bytes()[..], &length.to_le_bytes(), data].concat()
}

/// The stream of a workbook: records for all sheets, then sheets by name, state and records.
pub(in crate::ingest::extract) fn stream(
    globals: &[Vec<u8>],
    sheets: &[(&str, u8, Vec<Vec<u8>>)],
) -> Vec<u8> {
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
pub(in crate::ingest::extract) fn xls(
    globals: &[Vec<u8>],
    sheets: &[(&str, u8, Vec<Vec<u8>>)],
) -> Vec<u8> {
    compound_file(&[("Workbook", stream(globals, sheets))])
}

/// A cell with a text of its own.
pub(in crate::ingest::extract) fn label(row: u16, column: u16, text: &str) -> Vec<u8> {
    let place = [row, column, 0].map(u16::to_le_bytes).concat();
    let length = (text.len() as u16).to_le_bytes();
    record(
        0x204,
        &[&place[..], &length, &[0], text.as_bytes()].concat(),
    )
}
