//! Lists and texts in parts: the same answers as in one piece, as far as a token budget goes.

use std::ops::ControlFlow;

use crate::catalog::{BoundSegment, Catalog};
use crate::container::Snapshot;
use crate::error::Result;
use crate::kb::Kb;
use crate::kb::facts::{ChunkText, DocumentInfo, DocumentText, Entry};
use crate::kb::sections::section_span;
use crate::search::page::{Budget, Origin, Page, Paging};
use crate::store::documents::DocumentRecord;
use crate::store::outline::Sections;
use crate::types::{Lines, line_ends};

/// What the numbers and field names of one entry of a list take, in bytes.
const ENTRY_OVERHEAD_BYTES: u64 = 120;

/// The same for a heading or a chunk.
pub(super) const ITEM_OVERHEAD_BYTES: u64 = 40;

impl Kb {
    /// As [`Kb::list`], in parts.
    ///
    /// # Errors
    /// As [`Kb::list`]; [`crate::Error::InvalidContinuation`], [`crate::Error::ContinuationStale`].
    pub fn list_page(&self, folder: Option<&str>, page: &Page) -> Result<(Vec<Entry>, Paging)> {
        page.validate()?;
        self.read(|snapshot, catalog| {
            let origin = self.origin("list", catalog, &[folder.unwrap_or("")]);
            let entries = self.entries(snapshot, catalog, folder)?;
            let start = origin.start(page)?;
            let rest = skip(entries, start).map(Ok);
            part(&origin, page, start, rest, |entry| match entry {
                Entry::Folder { path, .. } => path.len() as u64 + ENTRY_OVERHEAD_BYTES,
                Entry::Document(document) => cost(document),
            })
        })
    }

    /// The documents in `folder` (`None`: at the top), and, when `is_recursive`, those below it at any
    /// depth, in the order of path bytes, in parts. Cost grows with the documents below the folder.
    ///
    /// # Errors
    /// [`crate::Error::FolderNotFound`]; [`crate::Error::InvalidContinuation`], [`crate::Error::ContinuationStale`].
    pub fn documents_page(
        &self,
        folder: Option<&str>,
        is_recursive: bool,
        page: &Page,
    ) -> Result<(Vec<DocumentInfo>, Paging)> {
        page.validate()?;
        let prefix = Kb::folder_prefix(folder);
        self.read(|snapshot, catalog| {
            let depth = if is_recursive { "below" } else { "in" };
            let origin = self.origin("documents", catalog, &[&prefix, depth]);
            let (mut ids, mut has_any) = (Vec::new(), false);
            catalog.documents.each_path(snapshot, &prefix, |path, id| {
                let Some(rest) = path.strip_prefix(&prefix) else {
                    return Ok(ControlFlow::Break(()));
                };
                has_any = true;
                if is_recursive || !rest.contains('/') {
                    ids.push(id);
                }
                Ok(ControlFlow::Continue(()))
            })?;
            if !has_any && !prefix.is_empty() {
                return Err(Kb::no_folder(snapshot, catalog, &prefix)?);
            }
            let start = origin.start(page)?;
            let documents = skip(ids, start).map(|id| {
                let record = catalog.documents.get(snapshot, id)?;
                DocumentInfo::from_record(record)
            });
            part(&origin, page, start, documents, cost)
        })
    }

    /// The chunks of a document with their texts, in order, in parts.
    ///
    /// # Errors
    /// As [`Kb::document`]; [`crate::Error::InvalidContinuation`], [`crate::Error::ContinuationStale`].
    pub fn chunks_page(&self, name: &str, page: &Page) -> Result<(Vec<ChunkText>, Paging)> {
        self.chunks_of(name, None, page)
    }

    /// As [`Kb::chunks_page`], those of them that hold text of one section, by its number or a title
    /// that only one heading has.
    ///
    /// # Errors
    /// As [`Kb::chunks_page`]; [`crate::Error::SectionNotFound`].
    pub fn section_chunks_page(
        &self,
        name: &str,
        section: &str,
        page: &Page,
    ) -> Result<(Vec<ChunkText>, Paging)> {
        self.chunks_of(name, Some(section), page)
    }

    fn chunks_of(
        &self,
        name: &str,
        section: Option<&str>,
        page: &Page,
    ) -> Result<(Vec<ChunkText>, Paging)> {
        page.validate()?;
        self.read(|snapshot, catalog| {
            let (id, record) = self.resolved(snapshot, catalog, name)?;
            let span = match section {
                None => None,
                Some(section) => Some(section_span(snapshot, catalog, id, &record, section)?),
            };
            let asked = span.map(|span| format!("{}-{}", span.start, span.end));
            let asked = asked.unwrap_or_default();
            let origin = self.origin("chunks", catalog, &[&record.path, &asked]);
            let start = origin.start(page)?;
            if record.rows == 0 {
                return part(&origin, page, start, std::iter::empty(), |_| 0);
            }
            let segment = catalog.segment(record.segment())?.bind(snapshot)?;
            let (chunks, mut blocks) = (segment.chunks(), segment.blocks()?);
            let headings = catalog.outlines.get(snapshot, id)?;
            let mut sections = Sections::new(&headings);
            let mut rows = record.first_row..record.first_row.saturating_add(record.rows);
            if let Some(span) = span {
                rows.start = row_at(&segment, &record, u64::from(span.start))?;
                // The last byte of a section; an empty one is where its heading stands.
                let last = span.end.saturating_sub(1).max(span.start);
                rows.end = row_at(&segment, &record, u64::from(last))?.saturating_add(1);
            }
            let numbered = rows.map(|row| (row, row.saturating_sub(record.first_row)));
            let texts = skip(numbered, start).map(|(row, index)| {
                let at = chunks.get(row)?.at;
                Ok(ChunkText {
                    index,
                    at,
                    section: sections.at(at.span.start).map(str::to_owned).collect(),
                    text: blocks.chunk(row)?,
                })
            });
            part(&origin, page, start, texts, |chunk: &ChunkText| {
                let section: usize = chunk.section.iter().map(String::len).sum();
                (chunk.text.len() + section) as u64 + ITEM_OVERHEAD_BYTES
            })
        })
    }

    /// As [`Kb::text`], in parts: each ends at the end of a line, where one fits. A part costs what it
    /// holds, or, of some lines of a document, what these lines hold.
    ///
    /// # Errors
    /// As [`Kb::text`]; [`crate::Error::InvalidContinuation`], [`crate::Error::ContinuationStale`].
    pub fn text_page(
        &self,
        name: &str,
        lines: Option<Lines>,
        page: &Page,
    ) -> Result<(DocumentText, Paging)> {
        page.validate()?;
        self.read(|snapshot, catalog| {
            let (_, record) = self.resolved(snapshot, catalog, name)?;
            let range = lines.map(|lines| format!("{}-{}", lines.first, lines.last));
            let range = range.unwrap_or_default();
            let origin = self.origin("text", catalog, &[&record.path, &range]);
            let start = origin.start(page)?;
            let mut budget = Budget::new(page);
            let found = match lines {
                None => whole_from(snapshot, catalog, record, start, budget.left_bytes())?,
                Some(lines) => {
                    let found = self.lines_of_document(snapshot, catalog, record, lines)?;
                    rest_of(found, start, budget.left_bytes())
                }
            };
            let Some(Piece { text, is_last }) = found else {
                return Err(Origin::out_of_range());
            };
            budget.take(text.text.len() as u64);
            let next = start.saturating_add(text.text.len() as u64);
            let paging = budget.paging(&origin, (!is_last).then_some(next));
            Ok((text, paging))
        })
    }

    /// What an answer of one file belongs to.
    pub(super) fn origin(&self, kind: &'static str, catalog: &Catalog, asked: &[&str]) -> Origin {
        let uuid = self.container().signature().uuid;
        Origin::new(kind, &[(uuid, catalog.manifest.generation)], asked)
    }
}

fn cost(document: &DocumentInfo) -> u64 {
    let strings = [&document.path, &document.handle, &document.title];
    let bytes: usize = strings
        .into_iter()
        .chain(&document.tags)
        .map(String::len)
        .sum();
    bytes as u64 + ENTRY_OVERHEAD_BYTES
}

/// The items of a list that a page asks for: `items` from `start` on.
pub(super) fn part<T>(
    origin: &Origin,
    page: &Page,
    start: u64,
    items: impl Iterator<Item = Result<T>>,
    cost: impl Fn(&T) -> u64,
) -> Result<(Vec<T>, Paging)> {
    let mut budget = Budget::new(page);
    let mut taken = Vec::new();
    for item in items {
        let item = item?;
        if !budget.take(cost(&item)) {
            let next = start.saturating_add(taken.len() as u64);
            return Ok((taken, budget.paging(origin, Some(next))));
        }
        taken.push(item);
    }
    if start > 0 && taken.is_empty() {
        return Err(Origin::out_of_range());
    }
    Ok((taken, budget.paging(origin, None)))
}

/// The items of a list from `start` on.
pub(super) fn skip<I: IntoIterator>(items: I, start: u64) -> impl Iterator<Item = I::Item> {
    items
        .into_iter()
        .skip(usize::try_from(start).unwrap_or(usize::MAX))
}

/// A part of a text.
pub(super) struct Piece {
    /// It, with its lines.
    pub(super) text: DocumentText,
    /// Whether nothing comes after it.
    is_last: bool,
}

/// The text of a document from byte `start` on, as far as `bytes` go; `None` when there is no such
/// byte.
pub(super) fn whole_from(
    snapshot: &Snapshot<'_>,
    catalog: &Catalog,
    record: DocumentRecord,
    start: u64,
    bytes: u64,
) -> Result<Option<Piece>> {
    let len = u64::from(record.text_bytes);
    if start >= len && start > 0 {
        return Ok(None);
    }
    let (mut text, mut lines) = (String::new(), Lines { first: 0, last: 0 });
    if record.rows > 0 {
        let segment = catalog.segment(record.segment())?.bind(snapshot)?;
        let mut row = row_at(&segment, &record, start)?;
        let end = record.first_row.saturating_add(record.rows);
        let (chunks, mut blocks) = (segment.chunks(), segment.blocks()?);
        let first = chunks.get(row)?.at;
        let skip = start.saturating_sub(u64::from(first.span.start));
        while row < end && (text.len() as u64) < bytes.saturating_add(skip) {
            blocks.append(row, 1, &mut text)?;
            lines.last = chunks.get(row)?.at.lines.last;
            row += 1;
        }
        let skip = usize::try_from(skip).unwrap_or(usize::MAX);
        if !text.is_char_boundary(skip) {
            return Ok(None);
        }
        lines.first = first.lines.first;
        if !record.line_map {
            lines.first += line_ends(text.get(..skip).unwrap_or_default());
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
    Ok(Some(Piece {
        is_last: start.saturating_add(text.len() as u64) >= len,
        text: DocumentText {
            has_own_lines: record.line_map,
            document: DocumentInfo::from_record(record)?,
            lines,
            text,
        },
    }))
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
        match u64::from(chunks.get(middle)?.at.span.start) <= start {
            true => low = middle,
            false => high = middle,
        }
    }
    Ok(low)
}

/// What is left of some lines from byte `start` on.
fn rest_of(mut found: DocumentText, start: u64, bytes: u64) -> Option<Piece> {
    let skip = usize::try_from(start).unwrap_or(usize::MAX);
    if skip > 0 && skip >= found.text.len() || !found.text.is_char_boundary(skip) {
        return None;
    }
    let before = found.text.get(..skip).unwrap_or_default();
    let skipped_lines = line_ends(before);
    found.text.drain(..skip);
    let kept = line_cut(&found.text, bytes);
    let is_last = kept == found.text.len();
    found.text.truncate(kept);
    if !found.has_own_lines {
        found.lines.first = found.lines.first.saturating_add(skipped_lines);
        if !is_last {
            let shown = found.text.strip_suffix('\n').unwrap_or(&found.text);
            found.lines.last = found.lines.first.saturating_add(line_ends(shown));
        }
    }
    Some(Piece {
        text: found,
        is_last,
    })
}

/// How much of a text to give for so many bytes: up to the end of the last line that fits, else to the
/// last character that fits, at least one.
fn line_cut(text: &str, bytes: u64) -> usize {
    let Some(bytes) = usize::try_from(bytes)
        .ok()
        .filter(|bytes| *bytes < text.len())
    else {
        return text.len();
    };
    let fits = text
        .get(..text.floor_char_boundary(bytes))
        .unwrap_or_default();
    match fits.rfind('\n') {
        Some(end) => end + 1,
        None if fits.is_empty() => text.chars().next().map_or(0, char::len_utf8),
        None => fits.len(),
    }
}
