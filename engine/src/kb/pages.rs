//! Lists and texts in parts: the same answers as in one piece, as far as a token budget goes.

use std::ops::ControlFlow;

use crate::catalog::Catalog;
use crate::error::Result;
use crate::kb::facts::{ChunkText, DocumentInfo, DocumentText, Entry};
use crate::kb::sections::section_span;
use crate::kb::{Kb, texts};
use crate::paging::{Budget, Origin, Page, Paging};
use crate::store::outline::SectionPath;
use crate::types::Lines;

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
            part(
                &origin,
                Budget::of_list(page),
                start,
                rest,
                |entry| match entry {
                    Entry::Folder { path, .. } => path.len() as u64 + ENTRY_OVERHEAD_BYTES,
                    Entry::Document(document) => cost(document),
                },
            )
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
            part(&origin, Budget::of_list(page), start, documents, cost)
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
                return part(
                    &origin,
                    Budget::of_texts(page),
                    start,
                    std::iter::empty(),
                    |_| 0,
                );
            }
            let segment = catalog.segment(record.segment())?.bind(snapshot)?;
            let (chunks, mut blocks) = (segment.chunks(), segment.blocks()?);
            let headings = catalog.outlines.get(snapshot, id)?;
            let mut sections = SectionPath::new(&headings);
            let mut rows = record.first_row..record.first_row.saturating_add(record.rows);
            if let Some(span) = span {
                rows.start = texts::row_at(&segment, &record, u64::from(span.start))?;
                // The last byte of a section; an empty one is where its heading stands.
                let last = span.end.saturating_sub(1).max(span.start);
                rows.end = texts::row_at(&segment, &record, u64::from(last))?.saturating_add(1);
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
            part(
                &origin,
                Budget::of_texts(page),
                start,
                texts,
                |chunk: &ChunkText| {
                    let section: usize = chunk.section.iter().map(String::len).sum();
                    (chunk.text.len() + section) as u64 + ITEM_OVERHEAD_BYTES
                },
            )
        })
    }

    /// As [`Kb::text`], in parts: each ends at the end of a line, where one fits. A part costs what it
    /// holds.
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
            let mut budget = Budget::of_texts(page);
            let span = texts::span_of(snapshot, catalog, &record, lines)?;
            let from = u64::from(span.start).saturating_add(start);
            let left = u64::from(span.end).saturating_sub(from);
            if left == 0 && start > 0 {
                return Err(Origin::out_of_range());
            }
            let bytes = budget.left_bytes().min(left);
            let Some(text) = texts::from(snapshot, catalog, record, from, bytes)? else {
                return Err(Origin::out_of_range());
            };
            let len = text.text.len() as u64;
            budget.take(len);
            let next = (len < left).then(|| start.saturating_add(len));
            Ok((text, budget.paging(&origin, next)))
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
    mut budget: Budget,
    start: u64,
    items: impl Iterator<Item = Result<T>>,
    cost: impl Fn(&T) -> u64,
) -> Result<(Vec<T>, Paging)> {
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
