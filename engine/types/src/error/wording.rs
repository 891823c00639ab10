//! The parts of the texts of errors that depend on numbers.

use std::path::Path;

use crate::{PartKind, column_name};

/// What is wrong with lines that a document does not have.
pub(super) fn wrong_lines(range: &str, lines: u32) -> String {
    if let Some((range, skip)) = range.split_once('+') {
        return format!("the text of {range} has no character that begins after {skip} bytes");
    }
    let (first, last) = range.split_once('-').unwrap_or((range, ""));
    let number = |digits: &str| digits.parse::<u32>().ok();
    match (number(first), number(last)) {
        (Some(0), _) => "lines are counted from 1".to_owned(),
        (Some(first), Some(last)) if first > last => {
            format!("the range ends before it begins; did you mean {last}-{first}?")
        }
        _ if lines == 1 => "the document has 1 line".to_owned(),
        _ => format!("the document has {lines} lines"),
    }
}

/// What cells there are in a sheet.
pub(super) fn wrong_cells(rows: u32, columns: u32) -> String {
    let last = format!("{}{rows}", column_name(columns));
    match (rows, columns) {
        (0, _) | (_, 0) => "the sheet is empty".to_owned(),
        _ => format!("the sheet has A1:{last}"),
    }
}

/// What a document has in place of what was asked for.
pub(super) fn has_others(has: Option<PartKind>) -> String {
    has.map_or(String::new(), |has| format!(", but {}", has.plural()))
}

/// What is said of files that are there and are no documents.
pub(super) fn not_read(skipped: &[String]) -> String {
    match skipped {
        [] => String::new(),
        [one] => match one.split_once(": ") {
            Some((path, reason)) => {
                format!("; {path} is in the indexed folder but was not read: {reason}")
            }
            None => format!("; {one} was not read"),
        },
        several => format!(
            "; files of that name are in the indexed folders but were not read: {}",
            several.join(", ")
        ),
    }
}

pub(super) fn replaced(path: &Path, is_gone: bool) -> String {
    let path = path.display();
    if is_gone {
        format!("{path} was moved or removed")
    } else {
        format!("{path} was replaced by another file")
    }
}

/// Where in a pattern the fault is.
pub(super) fn wrong_position(position: Option<u32>) -> String {
    position.map_or(String::new(), |position| format!(", character {position}"))
}
