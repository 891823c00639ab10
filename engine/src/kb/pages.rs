//! Lists and texts in parts: the same answers as in one piece, as far as a token budget goes.

use std::ops::ControlFlow;

use crate::catalog::Catalog;
use crate::error::Result;
use crate::kb::facts::{ChunkText, DocumentInfo, DocumentText, Entry};
use crate::kb::paged_call::PagedCall;
use crate::kb::sections::section_span;
use crate::kb::{Kb, texts};
use crate::paging::{Budget, CursorScope, PageOptions, Paged, fill, skip};
use crate::store::outline::SectionPath;
use crate::types::Lines;

/// What the numbers and field names of one entry of a list take, in bytes.
const ENTRY_OVERHEAD_BYTES: u64 = 120;

/// The same for a heading or a chunk.
pub(super) const ITEM_OVERHEAD_BYTES: u64 = 40;

impl Kb {
    /// Folders, then documents, directly in `folder` (`None`: at the top), each in the order of path
    /// bytes. Cost grows with the documents below it.
    ///
    /// # Errors
    /// [`crate::Error::FolderNotFound`] with the nearest names; [`crate::Error::InvalidCursor`],
    /// [`crate::Error::StaleCursor`].
    pub fn list(&self, folder: Option<&str>, page: &PageOptions) -> Result<Paged<Entry>> {
        page.validate()?;
        self.read(|snapshot, catalog| {
            let scope = self.cursor_scope(catalog, &PagedCall::List { folder });
            let entries = self.entries(snapshot, catalog, folder)?;
            let start = scope.start(page)?;
            let rest = skip(entries, start).map(Ok);
            fill(
                &scope,
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
    /// depth, in the order of path bytes. Cost grows with the documents below the folder.
    ///
    /// # Errors
    /// [`crate::Error::FolderNotFound`]; [`crate::Error::InvalidCursor`], [`crate::Error::StaleCursor`].
    pub fn documents(
        &self,
        folder: Option<&str>,
        is_recursive: bool,
        page: &PageOptions,
    ) -> Result<Paged<DocumentInfo>> {
        page.validate()?;
        let prefix = Kb::folder_prefix(folder);
        self.read(|snapshot, catalog| {
            let call = PagedCall::Documents {
                prefix: &prefix,
                is_recursive,
            };
            let scope = self.cursor_scope(catalog, &call);
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
            let start = scope.start(page)?;
            let documents = skip(ids, start).map(|id| {
                let record = catalog.documents.get(snapshot, id)?;
                DocumentInfo::from_record(record)
            });
            fill(&scope, Budget::of_list(page), start, documents, cost)
        })
    }

    /// The chunks of a document with their texts, in order; with `section` those that hold text of
    /// that section, by its number or a title that only one heading has.
    ///
    /// # Errors
    /// As [`Kb::document`]; [`crate::Error::SectionNotFound`]; [`crate::Error::InvalidCursor`],
    /// [`crate::Error::StaleCursor`].
    pub fn chunks(
        &self,
        name: &str,
        section: Option<&str>,
        page: &PageOptions,
    ) -> Result<Paged<ChunkText>> {
        page.validate()?;
        self.read(|snapshot, catalog| {
            let (id, record) = self.resolved(snapshot, catalog, name)?;
            let span = match section {
                None => None,
                Some(section) => Some(section_span(snapshot, catalog, id, &record, section)?),
            };
            let call = PagedCall::Chunks {
                path: &record.path,
                span,
            };
            let scope = self.cursor_scope(catalog, &call);
            let start = scope.start(page)?;
            if record.rows == 0 {
                return fill(
                    &scope,
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
            fill(
                &scope,
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

    /// As [`Kb::text`], as much as fits the budget: up to the end of a line, where one fits. Cost grows
    /// with what is returned.
    ///
    /// # Errors
    /// As [`Kb::text`]; [`crate::Error::InvalidCursor`], [`crate::Error::StaleCursor`].
    pub fn text_paged(
        &self,
        name: &str,
        lines: Option<Lines>,
        page: &PageOptions,
    ) -> Result<DocumentText> {
        page.validate()?;
        self.read(|snapshot, catalog| {
            let (_, record) = self.resolved(snapshot, catalog, name)?;
            let call = PagedCall::Text {
                path: &record.path,
                lines,
            };
            let scope = self.cursor_scope(catalog, &call);
            let start = scope.start(page)?;
            let span = texts::span_of(snapshot, catalog, &record, lines)?;
            texts::paged(snapshot, catalog, record, span, start, &scope, page)
        })
    }

    /// What the cursors of a call to this file are valid for.
    pub(super) fn cursor_scope(&self, catalog: &Catalog, call: &PagedCall<'_>) -> CursorScope {
        call.scope(
            self.container().signature().uuid,
            catalog.manifest.generation,
        )
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
