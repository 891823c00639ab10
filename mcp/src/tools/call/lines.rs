//! Lines of documents: arguments that select them, and how results show them.

use kb_engine::{DocumentInfo, Lines};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::response::ToolError;

/// Without end_line to the end.
#[derive(Debug, Clone, Copy, Deserialize, Serialize, JsonSchema)]
pub(in crate::tools) struct StartLine(#[schemars(range(min = 1))] u32);

/// Last line.
#[derive(Debug, Clone, Copy, Deserialize, Serialize, JsonSchema)]
pub(in crate::tools) struct EndLine(#[schemars(range(min = 1))] u32);

/// The lines from the first to the last argument; `None` without both.
///
/// # Errors
/// `INVALID_RANGE` where the last is before the first.
pub(in crate::tools) fn selected(
    start: Option<StartLine>,
    end: Option<EndLine>,
) -> Result<Option<Lines>, ToolError> {
    if start.is_none() && end.is_none() {
        return Ok(None);
    }
    let (first, last) = (start.map_or(1, |it| it.0), end.map_or(u32::MAX, |it| it.0));
    if first > last {
        let sentence = format!("end_line {last} is before start_line {first}");
        return Err(ToolError::new("INVALID_RANGE", sentence).with_fact("argument", "end_line"));
    }
    Ok(Some(Lines { first, last }))
}

/// The line that says where a passage is from; an empty document has no lines.
pub(in crate::tools) fn source(path: &str, lines: Lines) -> String {
    match lines.first {
        0 => path.to_owned(),
        first => format!("{path}:{first}-{}", lines.last),
    }
}

/// A line as a field of a result; none for an empty document.
pub(in crate::tools) fn line(line: u32) -> Option<u32> {
    (line > 0).then_some(line)
}

/// The number of the first line of a text that begins on line `lines.first`; `None` where the lines of the text
/// are not those of the original.
pub(in crate::tools) fn first_number(document: &DocumentInfo, lines: Lines) -> Option<u32> {
    line(lines.first).filter(|_| !document.has_own_lines)
}
