//! Which section the lines that are shown of a text lie in.

use std::ops::Range;

use kb_types::Span;

use crate::store::outline::{SectionAt, StoredOutline, section_at, start_of_parent};

/// Where the line of a byte of a text begins; the end of the text where it has no such byte.
pub(crate) fn line_start(text: &str, byte: usize) -> usize {
    let Some(before) = text.as_bytes().get(..byte) else {
        return text.len();
    };
    memchr::memrchr(b'\n', before).map_or(0, |end| end + 1)
}

/// The innermost section that has all lines that are `shown` of a text at `span`; `None` where none has.
pub(crate) fn innermost(
    outline: &StoredOutline,
    span: Span,
    text_bytes: u32,
    text: &str,
    shown: &Range<usize>,
) -> Option<SectionAt> {
    let lines = text.get(shown.clone()).unwrap_or_default();
    // A heading may begin within its line.
    let first_line = lines.split_inclusive('\n').next().map_or(0, str::len);
    let document_byte = |byte: usize| {
        let byte = u32::try_from(byte).unwrap_or(u32::MAX);
        span.start.saturating_add(byte)
    };
    let mut byte = document_byte((shown.start + first_line).saturating_sub(1));
    loop {
        let section = section_at(outline, byte, text_bytes);
        let end = section.span.end.saturating_sub(span.start);
        let end = if section.span.end < span.end {
            line_start(text, usize::try_from(end).unwrap_or(usize::MAX))
        } else {
            text.len()
        };
        if shown.end <= end {
            return Some(section);
        }
        byte = start_of_parent(outline, byte)?;
    }
}
