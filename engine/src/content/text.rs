//! The text of one document: whole, from a byte on, or some lines of it. At most one chunk more than
//! the result is read, and memory grows with what was read, never with what a record claims.

use std::ops::Range;

use kb_types::cell_text::ShownRows;
use kb_types::error::{Error, Result};
use kb_types::{DocumentId, Lines, PartKind, Span, line_ends};

use crate::catalog::BoundSegment;
use crate::content::paged_call::PagedCall;
use crate::content::{CommitView, DocumentInfo};
use crate::paging::{Budget, Cursor, CursorScope, PageOptions, line_cut, tokens};
use crate::store::documents::DocumentRecord;

/// Most bytes of a text that [`Kb::text`](crate::Kb::text) returns as one string.
// Extracted text of a document has at most 64 MiB (docs/limits.md). A file that was made by another
// program may claim up to 4 GiB, which a caller would get in one allocation.
pub const WHOLE_TEXT_LIMIT_BYTES: u64 = 256 << 20;

/// Text of a document or of some of its lines.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DocumentText {
    /// The document.
    pub document: DocumentInfo,
    /// Lines of the original that `text` covers; where the text has lines of its own
    /// ([`DocumentInfo::has_own_lines`]), those of the chunks it is made of.
    pub lines: Lines,
    /// The text; of sheets, what their cells show: a row a line, with a tab between cells.
    pub text: String,
    /// Tokens of `text`, at 4 bytes each.
    pub tokens: u64,
    /// Whether a single character is larger than the budget.
    pub over_budget: bool,
    /// Continues the text when passed in [`PageOptions::cursor`](crate::PageOptions); `None`: it ends
    /// here.
    pub next: Option<Cursor>,
    /// Bytes of the stored text that `text` shows, and those behind the last line end among them.
    pub(crate) stored_bytes: (u32, u32),
}

impl DocumentText {
    /// The text as it is read: of sheets, what their cells show.
    fn shown(mut self) -> DocumentText {
        if self.document.part_kind == Some(PartKind::Sheet) {
            self.text = ShownRows::of(&self.text).text;
            self.tokens = tokens(self.text.len() as u64);
        }
        self
    }
}

/// See [`crate::Kb::text`].
pub(crate) fn text(
    commit: CommitView<'_>,
    name: &str,
    lines: Option<Lines>,
) -> Result<DocumentText> {
    let (document, named, skip_bytes) = commit.locate_text(name)?;
    match lines {
        Some(_) => whole(commit, document, lines, 0),
        None => whole(commit, document, named, skip_bytes),
    }
}

/// See [`crate::Kb::text_paged`].
pub(crate) fn text_paged(
    commit: CommitView<'_>,
    name: &str,
    lines: Option<Lines>,
    page: &PageOptions,
) -> Result<DocumentText> {
    page.validate()?;
    let (document, named, skip_bytes) = commit.locate_text(name)?;
    let record = &document.1;
    let (lines, skip_bytes) = match lines {
        Some(_) => (lines, 0),
        None => (named, skip_bytes),
    };
    let scope = PagedCall::Text {
        path: &record.path,
        lines,
        skip_bytes,
    }
    .scope(commit);
    let start = scope.start(page)?;
    let span = span_after(commit, record, lines, skip_bytes)?;
    paged(commit, document, span, start, &scope, page)
}

/// See [`crate::Kb::head`].
pub(crate) fn head(
    commit: CommitView<'_>,
    name: &str,
    bytes: usize,
) -> Result<(DocumentInfo, String)> {
    let (id, record) = commit.resolve(name)?;
    let mut text = String::new();
    if let Some(segment) = commit.catalog.bind_document(commit.snapshot, &record)? {
        let mut blocks = segment.blocks()?;
        let mut rows = record.first_row..record.first_row.saturating_add(record.rows);
        while text.len() < bytes
            && let Some(row) = rows.next()
        {
            blocks.append(row, 1, &mut text)?;
        }
    }
    // At most three bytes fewer than asked for, and never half a character.
    text.truncate(text.floor_char_boundary(bytes));
    Ok((DocumentInfo::from_record(commit, id, record)?, text))
}

/// All lines of a document.
pub(super) fn all_lines(record: &DocumentRecord) -> Lines {
    Lines {
        first: 1.min(record.lines),
        last: record.lines,
    }
}

/// The text of a document, or some lines of it, as one string.
///
/// # Errors
/// [`Error::InvalidRange`] when none of the lines exists, [`Error::TooLarge`] above
/// [`WHOLE_TEXT_LIMIT_BYTES`], [`Error::Damaged`].
fn whole(
    commit: CommitView<'_>,
    document: (DocumentId, DocumentRecord),
    lines: Option<Lines>,
    skip_bytes: u32,
) -> Result<DocumentText> {
    let record = &document.1;
    let damaged = |path: &str| Error::damaged(format!("the text of {path:?}"));
    // A record may claim any size. That of its last chunk is backed by blocks that must be there.
    if chunk_bytes(commit, record)? != record.text_bytes {
        return Err(damaged(&record.path));
    }
    let span = span_after(commit, record, lines, skip_bytes)?;
    let len = u64::from(span.len());
    if len > WHOLE_TEXT_LIMIT_BYTES {
        return Err(Error::TooLarge {
            what: format!("the text of {:?}", record.path),
            size: len,
            limit: WHOLE_TEXT_LIMIT_BYTES,
        });
    }
    let path = record.path.clone();
    let start = u64::from(span.start);
    match from(commit, document, start, len)? {
        Some(text) if text.text.len() as u64 == len => Ok(text.shown()),
        _ => Err(damaged(&path)),
    }
}

/// At most `bytes` bytes of the text of a document from byte `start` on, up to the end of a line where
/// one fits, but at least one character. `None` when `start` is outside of the text or within a
/// character.
///
/// # Errors
/// [`Error::Damaged`].
fn from(
    commit: CommitView<'_>,
    (id, record): (DocumentId, DocumentRecord),
    start: u64,
    bytes: u64,
) -> Result<Option<DocumentText>> {
    if start >= u64::from(record.text_bytes) && start > 0 {
        return Ok(None);
    }
    let (mut text, mut lines) = (String::new(), all_lines(&record));
    if bytes > 0
        && let Some(segment) = commit.catalog.bind_document(commit.snapshot, &record)?
    {
        let mut row = row_at(&segment, &record, start)?;
        let end = record.first_row.saturating_add(record.rows);
        let (chunks, mut blocks) = (segment.chunks(), segment.blocks()?);
        let first = chunks.get(row)?.at;
        let skip = start.saturating_sub(u64::from(first.span.start));
        // Chunk by chunk: memory follows what is read, whatever length the record claims.
        while row < end && (text.len() as u64) < bytes.saturating_add(skip) {
            blocks.append(row, 1, &mut text)?;
            lines.last = chunks.get(row)?.at.lines.last;
            row += 1;
        }
        let skip = usize::try_from(skip).unwrap_or(usize::MAX);
        // A cursor names any byte that its sender likes.
        if !text.is_char_boundary(skip) {
            return Ok(None);
        }
        lines.first = first.lines.first;
        if !record.line_map {
            let before = text.get(..skip).unwrap_or_default();
            lines.first = lines.first.saturating_add(line_ends(before));
        }
        text.drain(..skip);
    }
    let kept = line_cut(&text, bytes);
    if !record.line_map && kept < text.len() {
        let shown = text.get(..kept).unwrap_or_default();
        let shown = shown.strip_suffix('\n').unwrap_or(shown);
        lines.last = lines.first.saturating_add(line_ends(shown));
    }
    text.truncate(kept);
    let len = |text: &str| u32::try_from(text.len()).unwrap_or(u32::MAX);
    let begun = text.rsplit('\n').next().unwrap_or_default();
    let stored_bytes = (len(&text), len(begun));
    Ok(Some(DocumentText {
        stored_bytes,
        tokens: tokens(text.len() as u64),
        over_budget: false,
        next: None,
        document: DocumentInfo::from_record(commit, id, record)?,
        lines,
        text,
    }))
}

/// As much of `span` of the text of a document as fits on a page, from `offset` bytes into it on.
///
/// # Errors
/// [`Error::InvalidCursor`] when `offset` is beyond the end, [`Error::Damaged`].
pub(super) fn paged(
    commit: CommitView<'_>,
    document: (DocumentId, DocumentRecord),
    span: Span,
    offset: u64,
    scope: &CursorScope,
    page: &PageOptions,
) -> Result<DocumentText> {
    let start = u64::from(span.start).saturating_add(offset);
    let left = u64::from(span.end).saturating_sub(start);
    if left == 0 && offset > 0 {
        return Err(CursorScope::out_of_range());
    }
    let mut budget = Budget::of_texts(page);
    let wanted = budget.left_bytes().min(left);
    let Some(mut text) = from(commit, document, start, wanted)? else {
        return Err(CursorScope::out_of_range());
    };
    let len = text.text.len() as u64;
    budget.take(len);
    text.over_budget = budget.is_over();
    text.next = budget.cursor(scope, (len < left).then(|| offset.saturating_add(len)));
    Ok(text.shown())
}

/// The span of the text that holds `lines` of the original, the whole text without `lines`. Where the
/// text has other lines than the original, the span of the chunks that touch them. Reads the chunks in
/// which the lines begin and end.
///
/// # Errors
/// [`Error::InvalidRange`] when none of the lines exists, [`Error::Damaged`].
pub(super) fn span_of(
    commit: CommitView<'_>,
    record: &DocumentRecord,
    lines: Option<Lines>,
) -> Result<Span> {
    let all = Span {
        start: 0,
        end: record.text_bytes,
    };
    let Some(range) = lines else {
        return Ok(all);
    };
    if range.first == 0 || range.first > range.last || range.first > record.lines {
        return Err(Error::InvalidRange {
            range: range.range_text(),
            path: record.path.clone(),
            lines: record.lines,
        });
    }
    let Some(segment) = commit.catalog.bind_document(commit.snapshot, record)? else {
        return Ok(all);
    };
    let chunks = segment.chunks();
    let mut touching = None;
    for row in record.first_row..record.first_row.saturating_add(record.rows) {
        let at = chunks.get(row)?.at.lines;
        if at.last >= range.first && at.first <= range.last {
            let (first, _) = touching.unwrap_or((row, row));
            touching = Some((first, row));
        }
    }
    // Lines of an original of which no text was kept: those of a head, for example.
    let Some((first, last)) = touching else {
        return Ok(Span { start: 0, end: 0 });
    };
    let (first_at, last_at) = (chunks.get(first)?.at, chunks.get(last)?.at);
    let mut span = Span {
        start: first_at.span.start,
        end: last_at.span.end,
    };
    if !record.line_map {
        let mut blocks = segment.blocks()?;
        let before = range.first.saturating_sub(first_at.lines.first);
        let skipped = bytes_of_lines(&blocks.chunk(first)?, before);
        span.start = span.start.saturating_add(skipped);
        let kept = range.last.saturating_sub(last_at.lines.first);
        let taken = bytes_of_lines(&blocks.chunk(last)?, kept.saturating_add(1));
        span.end = last_at.span.start.saturating_add(taken).max(span.start);
    }
    Ok(span)
}

/// As [`span_of`], without the first `skip_bytes` bytes.
///
/// # Errors
/// As [`span_of`]; [`Error::InvalidRange`] when the lines have no more bytes than that, or a character of them
/// would be cut.
fn span_after(
    commit: CommitView<'_>,
    record: &DocumentRecord,
    lines: Option<Lines>,
    skip_bytes: u32,
) -> Result<Span> {
    let span = span_of(commit, record, lines)?;
    if skip_bytes == 0 {
        return Ok(span);
    }
    let start = span.start.saturating_add(skip_bytes);
    let is_there = start < span.end && is_character(commit, record, start)?;
    match lines {
        Some(lines) if !is_there => Err(Error::InvalidRange {
            range: lines.range_text_after(skip_bytes),
            path: record.path.clone(),
            lines: record.lines,
        }),
        _ => Ok(Span { start, ..span }),
    }
}

/// Whether a character of the text begins at byte `at`.
fn is_character(commit: CommitView<'_>, record: &DocumentRecord, at: u32) -> Result<bool> {
    let Some(segment) = commit.catalog.bind_document(commit.snapshot, record)? else {
        return Ok(false);
    };
    let row = row_at(&segment, record, u64::from(at))?;
    let first = segment.chunks().get(row)?.at.span.start;
    let text = segment.blocks()?.chunk(row)?;
    Ok(text.is_char_boundary(at.saturating_sub(first) as usize))
}

/// Length of the first `lines` lines of a text in bytes, line ends included.
fn bytes_of_lines(text: &str, lines: u32) -> u32 {
    let lines = text.split_inclusive('\n').take(lines as usize);
    u32::try_from(lines.map(str::len).sum::<usize>()).unwrap_or(u32::MAX)
}

/// Length of the text of a document in bytes, by the span of its last chunk.
fn chunk_bytes(commit: CommitView<'_>, record: &DocumentRecord) -> Result<u32> {
    let Some(segment) = commit.catalog.bind_document(commit.snapshot, record)? else {
        return Ok(0);
    };
    let last = record.first_row.saturating_add(record.rows - 1);
    Ok(segment.chunks().get(last)?.at.span.end)
}

/// The row of a document that holds byte `start` of its text.
fn row_at(segment: &BoundSegment<'_>, record: &DocumentRecord, start: u64) -> Result<u32> {
    let chunks = segment.chunks();
    let (mut low, mut high) = (
        record.first_row,
        record.first_row.saturating_add(record.rows),
    );
    while low + 1 < high {
        let middle = low + (high - low) / 2;
        if u64::from(chunks.get(middle)?.at.span.start) <= start {
            low = middle
        } else {
            high = middle
        }
    }
    Ok(low)
}

/// The rows of a document that hold a span of its text; of an empty span, the one where it is.
pub(super) fn rows_of(
    segment: &BoundSegment<'_>,
    record: &DocumentRecord,
    span: Span,
) -> Result<Range<u32>> {
    let first = row_at(segment, record, u64::from(span.start))?;
    let last = span.end.saturating_sub(1).max(span.start);
    let last = row_at(segment, record, u64::from(last))?;
    Ok(first..last.saturating_add(1))
}

/// The lines of a part of a text that covers `lines`, where those are the lines of the text.
pub(super) fn lines_of_part(lines: Lines, text: &str, part: &Range<usize>) -> Lines {
    let before = text.get(..part.start).unwrap_or_default();
    let shown = text.get(part.clone()).unwrap_or_default();
    let shown = shown.strip_suffix('\n').unwrap_or(shown);
    let first = lines.first.saturating_add(line_ends(before));
    Lines {
        first,
        last: first.saturating_add(line_ends(shown)),
    }
}

#[cfg(test)]
#[cfg(feature = "ingest")]
mod tests {
    use crate::content::tests::two_documents;

    #[test]
    fn a_head_ends_before_the_character_that_does_not_fit() {
        let text = "tide \u{1f30a} and sand\n".repeat(700);
        let (_folder, kb) = two_documents("a.txt", &text);
        for bytes in (0..40).chain([5000, text.len() - 1, text.len(), usize::MAX]) {
            let (document, head) = kb.head("a.txt", bytes).unwrap();
            assert_eq!(document.text_bytes, text.len() as u64);
            assert!(text.starts_with(&head), "{bytes}");
            let limit = bytes.min(text.len());
            assert!(head.len() <= limit && limit - head.len() <= 3, "{bytes}");
        }
        assert_eq!(
            kb.head("c.txt", 1).unwrap_err().code(),
            "DOCUMENT_NOT_FOUND"
        );
    }
}
