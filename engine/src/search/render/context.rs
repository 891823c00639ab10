//! Lines of a document before and after a passage, in a bounded number of bytes.
//!
//! A line of more than [`LINE_LIMIT_BYTES`] is cut at a character boundary: the end nearest to the passage
//! stays, and [`CUT`] replaces the rest.

use kb_types::line_ends;

use crate::search::render::whole_lines::CUT;

/// Longest line that is not cut, in bytes.
// More than any line that people read; without it one minified line would fill an answer.
const LINE_LIMIT_BYTES: usize = 4096;

/// Bytes read on one side of a passage after which no further chunk is read.
// 1,000 lines, the most that a request may ask for, of 262 bytes each, or fewer longer ones. A
// document of long lines must not be read whole for each hit.
pub(crate) const SIDE_LIMIT_BYTES: usize = 256 << 10;

/// Lines on one side of a passage.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Side {
    /// The lines with their ends.
    pub(crate) text: String,
    /// Whether a line was cut.
    pub(crate) is_cut: bool,
}

/// Text on one side of a passage, collected chunk by chunk away from it.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    pieces: Vec<String>,
    bytes: usize,
    line_ends: u32,
    characters: usize,
}

impl Pieces {
    /// Adds the next chunk.
    pub(crate) fn push(&mut self, piece: String) {
        self.bytes = self.bytes.saturating_add(piece.len());
        self.line_ends = self.line_ends.saturating_add(line_ends(&piece));
        self.characters = self.characters.saturating_add(piece.chars().count());
        self.pieces.push(piece);
    }

    /// Whether there are `line_ends` line ends, or [`SIDE_LIMIT_BYTES`].
    pub(crate) fn has_lines(&self, line_ends: u32) -> bool {
        self.line_ends >= line_ends || self.bytes >= SIDE_LIMIT_BYTES
    }

    /// Whether there are more than `characters` characters.
    pub(crate) fn is_longer_than(&self, characters: usize) -> bool {
        self.characters > characters
    }

    /// The text before a passage.
    pub(crate) fn before(mut self) -> String {
        self.pieces.reverse();
        self.pieces.concat()
    }

    /// The text after a passage.
    pub(crate) fn after(self) -> String {
        self.pieces.concat()
    }
}

/// The last `count` lines of the text before a passage; `is_whole`: whether it begins with a whole line.
pub(crate) fn lines_before(text: &str, count: u32, is_whole: bool) -> Side {
    let all = text.split_inclusive('\n').count();
    let skipped = all.saturating_sub(count as usize);
    let mut side = Side::default();
    for (number, line) in text.split_inclusive('\n').enumerate().skip(skipped) {
        let from = line.ceil_char_boundary(line.len().saturating_sub(LINE_LIMIT_BYTES));
        if from > 0 || number == 0 && !is_whole {
            side.text.push_str(CUT);
            side.is_cut = true;
        }
        side.text.push_str(line.get(from..).unwrap_or_default());
    }
    side
}

/// The first `count` lines of the text after a passage; `is_whole`: whether it ends with a whole line.
pub(crate) fn lines_after(text: &str, count: u32, is_whole: bool) -> Side {
    let mut side = Side::default();
    let mut lines = text.split_inclusive('\n').peekable();
    for _ in 0..count {
        let Some(line) = lines.next() else {
            break;
        };
        let (line, end) = match line.strip_suffix('\n') {
            Some(line) => (line, "\n"),
            None => (line, ""),
        };
        let to = line.floor_char_boundary(LINE_LIMIT_BYTES);
        side.text.push_str(line.get(..to).unwrap_or_default());
        if to < line.len() || end.is_empty() && !is_whole {
            side.text.push_str(CUT);
            side.is_cut = true;
        }
        side.text.push_str(end);
    }
    side
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(text: &str, is_cut: bool) -> Side {
        Side {
            text: text.to_owned(),
            is_cut,
        }
    }

    #[test]
    fn lines_are_those_nearest_to_the_passage() {
        let text = "a\nb\n\nc";
        assert_eq!(lines_before(text, 2, true), side("\nc", false));
        assert_eq!(lines_after(text, 2, true), side("a\nb\n", false));
        for count in [4, 9] {
            assert_eq!(lines_before(text, count, true), side(text, false));
            assert_eq!(lines_after(text, count, true), side(text, false));
        }
        assert_eq!(lines_before(text, 4, false), side("[...]a\nb\n\nc", true));
        assert_eq!(lines_before(text, 3, false), side("b\n\nc", false));
        assert_eq!(lines_after(text, 4, false), side("a\nb\n\nc[...]", true));
    }

    #[test]
    fn long_lines_are_cut_at_characters() {
        let long = "\u{e9}".repeat(LINE_LIMIT_BYTES);
        let shown = "\u{e9}".repeat(LINE_LIMIT_BYTES / 2);
        let text = format!("x\n{long}\ny\n");
        // One byte of the limit is the end of the line.
        let tail = &shown["\u{e9}".len()..];
        let before = format!("x\n[...]{tail}\ny\n");
        assert_eq!(lines_before(&text, 3, true), side(&before, true));
        let after = format!("x\n{shown}[...]\ny\n");
        assert_eq!(lines_after(&text, 3, true), side(&after, true));
    }
}
