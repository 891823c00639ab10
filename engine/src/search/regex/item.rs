//! A matching line or document -> the item of the answer.

use kb_types::error::Result;
use kb_types::{Lines, Part, PartAddress};

use crate::search::regex::line_finder::FoundLine;
use crate::search::regex::response::RegexMatch;
use crate::search::regex::window::WindowReader;
use crate::store::documents::DocumentRecord;
use crate::store::handles;

/// What an item says of its document.
#[derive(Debug)]
pub(super) struct Facts {
    pub(super) record: DocumentRecord,
    /// Not known for an item of a whole document.
    pub(super) parts: Vec<Part>,
}

/// The item of a document with matches.
pub(super) fn document_item(
    file: usize,
    record: &DocumentRecord,
    matching_lines: u64,
) -> RegexMatch {
    RegexMatch {
        file,
        document: record.path.clone(),
        handle: handles::handle(&record.title, &record.path, &record.suffix),
        file_type: record.file_type.clone(),
        part: None,
        lines: Lines { first: 0, last: 0 },
        lines_are_of_passage: false,
        text: String::new(),
        begins_within_line: false,
        ends_within_line: false,
        ranges: Vec::new(),
        matching_lines,
    }
}

/// The item of a line of the text in `reader`, with at most `limit_bytes` of it.
///
/// # Errors
/// [`Error::Damaged`](crate::Error::Damaged).
pub(super) fn line_item(
    file: usize,
    facts: &Facts,
    line: &FoundLine,
    reader: &WindowReader<'_>,
    limit_bytes: usize,
) -> Result<RegexMatch> {
    let record = &facts.record;
    let mut item = document_item(file, record, 1);
    item.lines_are_of_passage = record.line_map;
    item.lines = if record.line_map {
        reader.chunk_lines(&line.bytes)?
    } else {
        let first = reader.first_line()?.saturating_add(line.line_ends_before);
        Lines {
            first,
            last: first.saturating_add(line.line_ends_within),
        }
    };
    item.part = part_of(&facts.parts, item.lines);
    show(&mut item, reader.text(), line, limit_bytes);
    Ok(item)
}

/// The part that some lines of the stored text begin in. Each part begins with a line.
fn part_of(parts: &[Part], lines: Lines) -> Option<PartAddress> {
    let after = parts.partition_point(|part| part.line <= lines.first);
    let part = parts.get(after.checked_sub(1)?)?;
    let next_line = parts.get(after).map_or(u32::MAX, |next| next.line);
    let within = Lines {
        first: lines.first,
        last: lines.last.min(next_line.saturating_sub(1)),
    };
    PartAddress::of(parts, part.start, within)
}

/// Puts a line into an item, or the part of it around its first match.
fn show(item: &mut RegexMatch, text: &str, line: &FoundLine, limit_bytes: usize) {
    let whole = line.bytes.clone();
    let line_text = text.get(whole.clone()).unwrap_or_default();
    let line_text = line_text.strip_suffix('\r').unwrap_or(line_text);
    let (mut start, mut end) = (0, line_text.len());
    if end > limit_bytes {
        let first = line
            .matches
            .first()
            .map_or(0, |found| found.start - whole.start);
        // A quarter of what is shown stands before the match, unless the line ends before the rest does.
        let wanted = first.saturating_sub(limit_bytes / 4);
        start = line_text.floor_char_boundary(wanted.min(end - limit_bytes));
        end = line_text.floor_char_boundary(start + limit_bytes);
        item.begins_within_line = start > 0;
        item.ends_within_line = end < line_text.len();
    }
    item.text = line_text.get(start..end).unwrap_or_default().to_owned();
    let (from, to) = (whole.start + start, whole.start + end);
    let clipped = line.matches.iter().map(|found| {
        let (begin, end) = (found.start.clamp(from, to), found.end.clamp(from, to));
        begin - from..end - from
    });
    item.ranges = clipped.filter(|range| !range.is_empty()).collect();
}
