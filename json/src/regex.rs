//! Matches of regular expressions.

use kb_engine::{RegexMatch, RegexOutput};
use serde_json::{Value, json};

use crate::object::Object;
use crate::parts::part_address;

/// A match of a request that asked for `output`: lines, documents, or counts of lines; `file` names the
/// .kb that it is of where several were searched. `matches` are ranges of bytes of `text`;
/// `lines_are_of_passage`, `begins_within_line`, `ends_within_line` and `part` are there where they say
/// something.
#[must_use]
pub fn regex_match(found: &RegexMatch, file: Option<&str>, output: RegexOutput) -> Object {
    let mut object = Object::new();
    if let Some(file) = file {
        object = object.field("file", file);
    }
    object = object
        .field("document", &*found.document)
        .field("handle", &*found.handle)
        .field("file_type", &*found.file_type);
    match output {
        RegexOutput::Documents => return object,
        RegexOutput::Counts => return object.field("matching_lines", found.matching_lines),
        _ => {}
    }
    let ranges = found
        .ranges
        .iter()
        .map(|range| json!([range.start, range.end]));
    object = object
        .field("start_line", found.lines.first)
        .field("end_line", found.lines.last)
        .field("text", &*found.text)
        .field("matches", Value::Array(ranges.collect()));
    if found.lines_are_of_passage {
        object = object.field("lines_are_of_passage", true);
    }
    if found.begins_within_line {
        object = object.field("begins_within_line", true);
    }
    if found.ends_within_line {
        object = object.field("ends_within_line", true);
    }
    match &found.part {
        Some(part) => object.object("part", part_address(part)),
        None => object,
    }
}
