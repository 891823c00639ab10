//! The text that is searched at once: whole lines of one document, or all of it.

use std::ops::Range;

use kb_types::Lines;
use kb_types::cell_text::ShownRows;
use kb_types::error::{Error, Result};

use crate::catalog::BoundSegment;
use crate::store::blocks::BlockReader;
use crate::store::chunks::ChunkReader;

/// Bytes from which on a window ends, with the line that reaches them.
// Some blocks of text: they stay in the second-level cache while they are searched.
const WINDOW_BYTES: usize = 64 << 10;

/// Longest text that is searched at once for a pattern that needs whole documents.
// Extracted texts have at most 64 MiB. The whole text is decoded into memory for such a pattern.
pub(super) const DOCUMENT_LIMIT_BYTES: u32 = 256 << 20;

/// Reads windows of one segment.
pub(super) struct WindowReader<'s> {
    segment: &'s BoundSegment<'s>,
    blocks: BlockReader<'s>,
    /// The text of the window; kept for its memory.
    text: String,
    /// What cells show, where that is another text.
    shown: Option<String>,
    /// Rows of the window.
    rows: Range<u32>,
}

impl std::fmt::Debug for WindowReader<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WindowReader")
            .field("rows", &self.rows)
            .finish_non_exhaustive()
    }
}

/// Whether the rows up to `end`, of a document from byte `start` on, have at most `room` bytes.
fn is_within(chunks: &ChunkReader<'_>, end: u32, start: u32, room: u32) -> Result<bool> {
    let Some(last) = end.checked_sub(1) else {
        return Ok(false);
    };
    Ok(chunks.get(last)?.at.span.end.saturating_sub(start) <= room)
}

impl<'s> WindowReader<'s> {
    pub(super) fn new(segment: &'s BoundSegment<'s>) -> Result<WindowReader<'s>> {
        Ok(WindowReader {
            segment,
            blocks: segment.blocks()?,
            text: String::new(),
            shown: None,
            rows: 0..0,
        })
    }

    /// Reads the next window from the first of `rows` on, all of one document, and returns the rows that follow.
    /// It ends with a line, or with the last row of the document, which is the one before `document_end`; with
    /// `is_whole` it has all of `rows`.
    ///
    /// # Errors
    /// [`Error::Damaged`].
    pub(super) fn read(
        &mut self,
        rows: Range<u32>,
        document_end: u32,
        is_whole: bool,
    ) -> Result<Range<u32>> {
        let chunks = self.segment.chunks();
        self.shown = None;
        // Its memory serves the next text.
        let mut bytes = std::mem::take(&mut self.text).into_bytes();
        bytes.clear();
        let mut end = rows.start;
        while end < document_end {
            let first = end;
            let start = chunks.get(first)?.at.span.start;
            let room = u32::try_from(WINDOW_BYTES.saturating_sub(bytes.len())).unwrap_or(u32::MAX);
            if is_whole || is_within(&chunks, rows.end, start, room)? {
                end = rows.end;
            }
            while end < rows.end && chunks.get(end)?.at.span.start.saturating_sub(start) < room {
                end += 1;
            }
            // A line goes on in the next row.
            end = end.max(first + 1);
            self.blocks.append_bytes(first, end - first, &mut bytes)?;
            let is_full = end >= rows.end || bytes.len() >= WINDOW_BYTES && !is_whole;
            if is_full && bytes.ends_with(b"\n") {
                break;
            }
        }
        let text = String::from_utf8(bytes);
        self.text = text.map_err(|_| Error::damaged("the text of chunks is not UTF-8"))?;
        self.rows = rows.start..end;
        Ok(end..rows.end.max(end))
    }

    /// Takes what the cells of the window show for its text.
    pub(super) fn show_cells(&mut self) {
        self.shown = Some(ShownRows::of(&self.text).text);
    }

    /// Whether its text may hold cells that show something else than is stored.
    pub(super) fn may_have_cells(&self) -> bool {
        memchr::memchr(b'\\', self.text.as_bytes()).is_some()
    }

    /// The text to search.
    pub(super) fn text(&self) -> &str {
        self.shown.as_deref().unwrap_or(&self.text)
    }

    /// Bytes of stored text in the window.
    pub(super) fn stored_bytes(&self) -> usize {
        self.text.len()
    }

    /// First byte of the window in the text of its document.
    pub(super) fn first_byte(&self) -> Result<u32> {
        Ok(self.segment.chunks().get(self.rows.start)?.at.span.start)
    }

    /// First line of the window.
    pub(super) fn first_line(&self) -> Result<u32> {
        Ok(self.segment.chunks().get(self.rows.start)?.at.lines.first)
    }

    /// The lines of the chunks that a range of the stored text of the window touches.
    ///
    /// # Errors
    /// [`Error::Damaged`].
    pub(super) fn chunk_lines(&self, range: &Range<usize>) -> Result<Lines> {
        let chunks = self.segment.chunks();
        let start = self.first_byte()? as usize;
        let (first_byte, last_byte) = (
            start + range.start,
            start + range.end.max(range.start + 1) - 1,
        );
        let mut lines: Option<Lines> = None;
        for row in self.rows.clone() {
            let at = chunks.get(row)?.at;
            let (from, to) = (at.span.start as usize, at.span.end as usize);
            if from <= last_byte && to > first_byte {
                let first = lines.map_or(at.lines.first, |lines| lines.first);
                lines = Some(Lines {
                    first,
                    last: at.lines.last,
                });
            }
        }
        lines.ok_or_else(|| Error::damaged("a line of no chunk"))
    }
}
