//! Bytes and lines of a text.

/// A byte range of the stored text of one document: `start..end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// Length in bytes; 0 when the span is reversed.
    pub fn len(self) -> u32 {
        self.end.saturating_sub(self.start)
    }

    /// Whether no byte lies in the span.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
}

/// Lines `first..=last` of the original file, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lines {
    /// First line, from 1.
    pub first: u32,
    /// Last line, included.
    pub last: u32,
}

impl Lines {
    /// As they stand behind the name of a document: `10-20`, or `10-` up to the last line there can be.
    pub fn range_text(self) -> String {
        match self.last {
            u32::MAX => format!("{}-", self.first),
            last => format!("{}-{last}", self.first),
        }
    }

    /// As [`range_text`](Lines::range_text), with the bytes of their text that are skipped: `10-20+300`.
    pub fn range_text_after(self, skip_bytes: u32) -> String {
        let range = self.range_text();
        match skip_bytes {
            0 => range,
            skip => format!("{range}+{skip}"),
        }
    }
}

/// Number of line feeds in a text.
pub fn line_ends(text: &str) -> u32 {
    let ends = text.bytes().filter(|byte| *byte == b'\n').count();
    u32::try_from(ends).unwrap_or(u32::MAX)
}
