//! Puts the text of a document together with its headings and parts, and holds the limit of its length.

use crate::extracted::Extracted;
use crate::skip_reason::{MAX_TEXT_BYTES, SkipReason};
// Only formats that a feature adds have parts.
#[cfg(any(feature = "office", feature = "pdf", feature = "sheets"))]
use kb_types::{Part, PartContent};

/// Pages, sheets or slides of one document.
// As many as a u16 counts.
pub(super) const MAX_PARTS: usize = 65_535;

/// Appends what an extractor reads, in reading order. Every call ends at the end of a line. Once the text is as long as a document may be, nothing more is kept, and [`TextBuilder::finish`]
/// refuses it.
#[derive(Debug, Default)]
pub(super) struct TextBuilder {
    text: String,
    /// Line of the end of the text, from 1.
    line: u32,
    found: Extracted,
    is_too_long: bool,
    has_too_many_parts: bool,
}

impl TextBuilder {
    pub(super) fn new() -> TextBuilder {
        TextBuilder {
            line: 1,
            ..TextBuilder::default()
        }
    }

    /// Whether the text is too long: reading on is of no use.
    pub(super) fn is_full(&self) -> bool {
        self.is_too_long || self.has_too_many_parts
    }

    /// Bytes so far.
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// Line of the stored text that comes next, from 1, once a paragraph has ended.
    pub(super) fn line(&self) -> u32 {
        self.line
    }

    /// The document states its title, or a fact such as `author`; the first of each counts.
    pub(super) fn found(&mut self) -> &mut Extracted {
        &mut self.found
    }

    /// Begins a part: what follows belongs to it.
    #[cfg(any(feature = "office", feature = "pdf", feature = "sheets"))]
    pub(super) fn begin_part(&mut self, content: PartContent) {
        self.end_line();
        if self.found.parts.len() >= MAX_PARTS {
            self.has_too_many_parts = true;
            return;
        }
        self.found.parts.push(Part {
            start: u32::try_from(self.text.len()).unwrap_or(u32::MAX),
            line: self.line,
            content,
        });
    }

    /// The part that was begun last.
    #[cfg(any(feature = "office", feature = "pdf", feature = "sheets"))]
    pub(super) fn part(&mut self) -> Option<&mut PartContent> {
        self.found.parts.last_mut().map(|part| &mut part.content)
    }

    /// First byte and line of the part at `position`; of the text where there is no such part.
    #[cfg(feature = "pdf")]
    pub(super) fn part_start(&self, position: usize) -> (usize, u32) {
        let part = self.found.parts.get(position);
        let place = part.map(|part| (usize::try_from(part.start).unwrap_or(0), part.line));
        place.unwrap_or((0, 1))
    }

    /// A paragraph: its lines, then an empty one. White space around it is left out; without more there is none.
    pub(super) fn paragraph(&mut self, text: &str) {
        let text = text.trim_matches(|c: char| c.is_whitespace());
        if !text.is_empty() {
            self.lines(text);
            self.push("\n");
        }
    }

    /// Lines as they are; a line end is added where the last has none.
    pub(super) fn lines(&mut self, text: &str) {
        self.push(text);
        self.end_line();
    }

    /// An entry of the outline, of level 1 to 6, for what follows. No text says it.
    pub(super) fn section(&mut self, level: usize, title: &str) {
        self.end_line();
        self.found
            .add_heading(level, title, self.text.len(), self.line);
    }

    /// A heading: a paragraph that the outline names, of level 1 to 6.
    pub(super) fn heading(&mut self, level: usize, title: &str) {
        self.numbered_heading(level, title, title);
    }

    /// A heading with more in its paragraph than its title: its number.
    pub(super) fn numbered_heading(&mut self, level: usize, title: &str, paragraph: &str) {
        self.section(level, title);
        self.paragraph(paragraph);
    }

    fn end_line(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.push("\n");
        }
    }

    fn push(&mut self, text: &str) {
        if self.is_too_long || self.text.len() + text.len() > MAX_TEXT_BYTES {
            self.is_too_long = true;
            return;
        }
        let ends = text.bytes().filter(|byte| *byte == b'\n').count();
        self.line = self
            .line
            .saturating_add(u32::try_from(ends).unwrap_or(u32::MAX));
        self.text.push_str(text);
    }

    /// What was found, with the text.
    ///
    /// # Errors
    /// [`SkipReason::TooLong`], [`SkipReason::Limit`] for more than [`MAX_PARTS`].
    pub(super) fn finish(mut self) -> Result<Extracted, SkipReason> {
        if self.is_too_long {
            return Err(SkipReason::TooLong {
                text_bytes: MAX_TEXT_BYTES + 1,
            });
        }
        if self.has_too_many_parts {
            return Err(SkipReason::Limit {
                what: "pages, sheets or slides",
                limit: MAX_PARTS as u64,
            });
        }
        self.end_line();
        self.found.text = Some(self.text);
        Ok(self.found)
    }
}
