//! Lines of documents: arguments that select them, and how results show them.

use kb_engine::{DocumentInfo, Lines};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Without end_line: to the end.
#[derive(Debug, Clone, Copy, Deserialize, Serialize, JsonSchema)]
pub(in crate::tools) struct StartLine(#[schemars(range(min = 1))] u32);

/// Last line.
#[derive(Debug, Clone, Copy, Deserialize, Serialize, JsonSchema)]
pub(in crate::tools) struct EndLine(#[schemars(range(min = 1))] u32);

/// The lines from the first to the last argument; `None` without both.
pub(in crate::tools) fn selected(start: Option<StartLine>, end: Option<EndLine>) -> Option<Lines> {
    (start.is_some() || end.is_some()).then(|| Lines {
        first: start.map_or(1, |StartLine(first)| first),
        last: end.map_or(u32::MAX, |EndLine(last)| last),
    })
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
