//! The text of a document in reading order, and where its pages begin.

use kb_types::{Page, PageSource, PartContent};

use crate::extracted::Extracted;
use crate::skip_reason::{MAX_TEXT_BYTES, SkipReason};
use crate::text_builder::TextBuilder;

/// Characters of an estimated page.
// The mean of 1,251 pages that LibreOffice laid out is 1,921. Formats of word processors do not say
// where pages end.
const PAGE_CHARS: usize = 1900;
/// A page between explicit breaks of more characters than this is cut as if nothing were known of it.
// Half a page more than usual is a page of small type. More is a document whose only breaks are
// those of its chapters.
const MAX_EXPLICIT_CHARS: usize = PAGE_CHARS * 3 / 2;
/// Characters from which on an estimated page ends before a heading.
// Two thirds of a page: chapters begin on new pages more often than in the middle.
const PAGE_CHARS_BEFORE_HEADING: usize = 1300;
/// Bytes of a row that is one line although a cell of it has several paragraphs: about a chunk. Longer ones are
/// mostly tables that lay out a page.
const MAX_JOINED_BYTES: usize = 1000;
/// Cells of a row that are kept apart. The rest of the row is one cell.
// As many columns as the widest sheet; tables of word processors have at most 63.
const MAX_CELLS: usize = 16_384;

/// How a document says that a page begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Break {
    /// The program noted it when it laid the document out.
    Rendered,
    /// The writer put it there: a page begins, whatever is on the one before.
    Page,
    /// A paragraph or section that begins on a page of its own: no other page where one has just begun.
    NewPage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Paragraph,
    Heading(u8),
    Row,
}

/// A paragraph that is not empty.
#[derive(Debug)]
struct Block {
    /// Its bytes in the text.
    start: usize,
    end: usize,
    /// Where its text begins, behind its number in a list.
    title: usize,
    kind: Kind,
}

/// A row of a table that is being read.
#[derive(Debug)]
struct Row {
    /// Position of its first block.
    first: usize,
    breaks: usize,
    /// Where each of its cells ends, by position of a block.
    cells: Vec<usize>,
}

/// Collects paragraphs, rows of tables and page breaks. Linear in what it is given.
#[derive(Debug, Default)]
pub(super) struct Flow {
    text: String,
    blocks: Vec<Block>,
    /// Byte of the text, and what begins there; they ascend.
    breaks: Vec<(usize, Break)>,
    rows: Vec<Row>,
    is_full: bool,
}

impl Flow {
    /// Whether there is more text than a document may have: reading on is of no use.
    pub(super) fn is_full(&self) -> bool {
        self.is_full
    }

    /// Whether there is neither text nor a break.
    pub(super) fn is_empty(&self) -> bool {
        self.blocks.is_empty() && self.breaks.is_empty()
    }

    /// How many paragraphs and rows there are.
    pub(super) fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// The texts of those from `first` to before `end`.
    pub(super) fn texts(&self, first: usize, end: usize) -> impl Iterator<Item = &str> {
        let blocks = self.blocks.get(first..end).unwrap_or_default();
        let texts = blocks.iter();
        texts.filter_map(|block| self.text.get(block.start..block.end))
    }

    /// A paragraph, or a heading of a level from 1. `breaks` are places in it where pages begin, in ascending
    /// order. White space around it is left out; an empty one counts for its breaks only.
    pub(super) fn paragraph(&mut self, text: &str, level: Option<u8>, breaks: &[(usize, Break)]) {
        self.numbered("", text, level, breaks);
    }

    /// A paragraph behind its number in a list, which no title in the outline has. An empty one has none, but in a
    /// table, where a column may hold nothing but numbers.
    pub(super) fn numbered(
        &mut self,
        number: &str,
        text: &str,
        level: Option<u8>,
        breaks: &[(usize, Break)],
    ) {
        let trimmed_start = text.len() - text.trim_start().len();
        let trimmed = text.trim();
        let number = match trimmed.is_empty() {
            true if self.rows.is_empty() => "",
            true => number.trim_end(),
            false => number,
        };
        if self.text.len() + number.len() + trimmed.len() > MAX_TEXT_BYTES {
            self.is_full = true;
            return;
        }
        let start = self.text.len();
        let title = start + number.len();
        self.text.push_str(number);
        self.text.push_str(trimmed);
        for (at, kind) in breaks {
            let at = match at.saturating_sub(trimmed_start) {
                0 => start,
                at => title + at.min(trimmed.len()),
            };
            self.push_break(at, *kind);
        }
        if self.text.len() > start {
            let end = self.text.len();
            let kind = level.map_or(Kind::Paragraph, Kind::Heading);
            self.blocks.push(Block {
                start,
                end,
                title,
                kind,
            });
        }
    }

    /// A page begins here.
    pub(super) fn begin_page(&mut self, kind: Break) {
        self.push_break(self.text.len(), kind);
    }

    fn push_break(&mut self, at: usize, kind: Break) {
        let last = self.breaks.last().copied();
        let is_after_break = last.is_some_and(|(last, _)| last == at);
        let is_first = at == 0 && last.is_none();
        if kind != Break::Page && (is_after_break || is_first) {
            return;
        }
        self.breaks.push((at, kind));
    }

    /// A row of a table begins. Rows may be inside each other.
    pub(super) fn begin_row(&mut self) {
        self.rows.push(Row {
            first: self.blocks.len(),
            breaks: self.breaks.len(),
            cells: Vec::new(),
        });
    }

    /// What came since the cell before is a cell.
    pub(super) fn end_cell(&mut self) {
        let end = self.blocks.len();
        if let Some(row) = self.rows.last_mut()
            && row.cells.len() < MAX_CELLS
        {
            row.cells.push(end);
        }
    }

    /// The row ends: one line, unless it has a heading, another table or a page break in it, or is long and has a
    /// cell of several paragraphs; then its paragraphs stay apart.
    pub(super) fn end_row(&mut self) {
        let Some(row) = self.rows.pop() else {
            return;
        };
        let blocks = self.blocks.get(row.first..).unwrap_or_default();
        let Some(start) = blocks.first().map(|block| block.start) else {
            return;
        };
        let mut first = row.first;
        let mut is_simple = row.cells.last() == Some(&self.blocks.len());
        if self.text.len() - start > MAX_JOINED_BYTES {
            if blocks.len() > row.cells.len() {
                return;
            }
            for end in &row.cells {
                is_simple &= end.saturating_sub(first) <= 1;
                first = *end;
            }
        }
        let is_paragraph = |block: &Block| block.kind == Kind::Paragraph;
        let late = self.breaks.get(row.breaks..).unwrap_or_default();
        if !is_simple || !blocks.iter().all(is_paragraph) || late.iter().any(|(at, _)| *at > start)
        {
            return;
        }
        let mut line = String::new();
        let mut first = row.first;
        for (position, end) in row.cells.iter().enumerate() {
            if position > 0 {
                line.push_str(" | ");
            }
            let cell = self.blocks.get(first..*end).unwrap_or_default();
            for (position, block) in cell.iter().enumerate() {
                if position > 0 {
                    line.push(' ');
                }
                let text = self.text.get(block.start..block.end);
                // A row is a line.
                line.extend(text.unwrap_or_default().chars().map(|c| match c {
                    '\n' => ' ',
                    c => c,
                }));
            }
            first = *end;
        }
        let line = line.trim_end_matches([' ', '|']);
        self.blocks.truncate(row.first);
        self.text.truncate(start);
        if start + line.len() > MAX_TEXT_BYTES {
            self.is_full = true;
            return;
        }
        self.text.push_str(line);
        self.blocks.push(Block {
            start,
            end: self.text.len(),
            title: start,
            kind: Kind::Row,
        });
    }

    /// The document, in pages: as rendered where it says so anywhere, else as it breaks explicitly, with what is too
    /// long for a page cut by estimate, else estimated.
    ///
    /// # Errors
    /// [`SkipReason::TooLong`], or too many pages.
    pub(super) fn finish(self, found: Extracted) -> Result<Extracted, SkipReason> {
        if self.is_full {
            return Err(SkipReason::TooLong {
                text_bytes: MAX_TEXT_BYTES + 1,
            });
        }
        let is_rendered = |(_, kind): &(usize, Break)| *kind == Break::Rendered;
        let source = match self.breaks.is_empty() {
            true => PageSource::Estimated,
            false if self.breaks.iter().any(is_rendered) => PageSource::Rendered,
            false => PageSource::Explicit,
        };
        let mut pages = Pages {
            builder: TextBuilder::new(),
            source,
            lengths: match source {
                PageSource::Explicit => self.explicit_lengths(),
                _ => Vec::new(),
            }
            .into_iter(),
            is_estimated: source == PageSource::Estimated,
            chars: 0,
            after_row: false,
        };
        *pages.builder.found() = found;
        pages.begin();
        let mut breaks = self.breaks.iter().map(|(at, _)| *at).peekable();
        for block in &self.blocks {
            let mut from = block.start;
            let mut title = block.title;
            while let Some(at) = breaks.next_if(|at| *at < block.end) {
                let before = self.text.get(from..at).unwrap_or_default();
                pages.block(before, title.saturating_sub(from), block.kind);
                pages.begin();
                from = at;
                title = title.max(at);
            }
            let rest = self.text.get(from..block.end).unwrap_or_default();
            pages.block(rest, title.saturating_sub(from), block.kind);
        }
        for _ in breaks {
            pages.begin();
        }
        pages.end_table();
        pages.builder.finish()
    }

    /// Characters of each page between explicit breaks.
    fn explicit_lengths(&self) -> Vec<usize> {
        let ends = self.breaks.iter().map(|(at, _)| *at);
        let mut start = 0;
        ends.chain([self.text.len()])
            .map(|end| {
                let page = self.text.get(start..end).unwrap_or_default();
                start = end;
                page.chars().count()
            })
            .collect()
    }
}

/// Writes blocks into pages.
struct Pages {
    builder: TextBuilder,
    source: PageSource,
    /// Characters of the explicit pages that follow.
    lengths: std::vec::IntoIter<usize>,
    /// Whether what is on the page may go on on another, where it is long.
    is_estimated: bool,
    /// Characters of the page so far.
    chars: usize,
    after_row: bool,
}

impl Pages {
    /// A page begins as the document says.
    fn begin(&mut self) {
        if let Some(length) = self.lengths.next() {
            self.is_estimated = length > MAX_EXPLICIT_CHARS;
        }
        self.begin_as(self.source);
    }

    fn begin_as(&mut self, source: PageSource) {
        self.end_table();
        self.chars = 0;
        self.builder.begin_part(PartContent::Page(Page {
            source,
            label: String::new(),
        }));
    }

    fn end_table(&mut self) {
        if self.after_row {
            self.builder.lines("\n");
        }
        self.after_row = false;
    }

    /// A block, or the rest of it on another page; its first bytes are its number.
    fn block(&mut self, text: &str, number_bytes: usize, kind: Kind) {
        if text.trim().is_empty() {
            return;
        }
        let chars = text.chars().count();
        if self.is_estimated && self.chars > 0 {
            let is_heading = matches!(kind, Kind::Heading(_));
            let is_late = is_heading && self.chars >= PAGE_CHARS_BEFORE_HEADING;
            // The end that is nearer to the length of a page.
            if is_late || self.chars + chars / 2 >= PAGE_CHARS {
                self.begin_as(PageSource::Estimated);
            }
        }
        self.chars += chars;
        match kind {
            Kind::Row => {
                self.builder.lines(text);
                self.after_row = true;
            }
            Kind::Paragraph => {
                self.end_table();
                self.builder.paragraph(text);
            }
            Kind::Heading(level) => {
                self.end_table();
                let title = text.get(number_bytes..).unwrap_or(text);
                self.builder
                    .numbered_heading(usize::from(level), title, text);
            }
        }
    }
}
