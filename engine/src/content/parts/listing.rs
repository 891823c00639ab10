//! What parts a document has, without their texts.

use kb_types::error::{Error, Result};
use kb_types::part::part_span;
use kb_types::{Lines, Part, PartContent, Span};

use crate::content::paged_call::{ITEM_OVERHEAD_BYTES, PagedCall};
use crate::content::parts::stored::{lines_of, number_of};
use crate::content::{CommitView, DocumentInfo};
use crate::paging::{Budget, PageOptions, Paged, fill, skip};
use crate::store::documents::DocumentRecord;

/// A page, sheet or slide of a document, without its text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PartInfo {
    /// Its number in the document, from 1.
    pub number: u32,
    /// Its bytes of the stored text.
    pub span: Span,
    /// Its lines; both 0 when it has no text.
    pub lines: Lines,
    /// What it is: a page, a sheet with rows and columns, or a slide with its title.
    pub content: PartContent,
}

/// The pages, sheets or slides of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DocumentParts {
    /// The document, with the kind and the number of all its parts.
    pub document: DocumentInfo,
    /// The parts in the order of the document; empty when it has none.
    pub parts: Paged<PartInfo>,
    /// Rows of all its sheets together, those that have no cells included.
    pub rows: u64,
}

/// See [`crate::Kb::parts`].
pub(crate) fn parts(
    commit: CommitView<'_>,
    name: &str,
    page: &PageOptions,
) -> Result<DocumentParts> {
    page.validate()?;
    let (id, record) = commit.resolve(name)?;
    let scope = PagedCall::Parts { path: &record.path }.scope(commit);
    let start = scope.start(page)?;
    let parts = commit
        .catalog
        .parts
        .get(commit.snapshot, id, record.text_bytes)?;
    let rows_of = |part: &Part| match &part.content {
        PartContent::Sheet(sheet) => u64::from(sheet.rows),
        _ => 0,
    };
    let rows = parts.iter().map(rows_of).sum();
    let infos = skip(0..parts.len(), start).map(|position| info(&parts, position, &record));
    let parts = fill(&scope, Budget::of_list(page), start, infos, |part| {
        let text = match &part.content {
            PartContent::Page(page) => &page.label,
            PartContent::Sheet(sheet) => &sheet.name,
            PartContent::Slide(slide) => &slide.title,
        };
        text.len() as u64 + ITEM_OVERHEAD_BYTES
    })?;
    let document = DocumentInfo::from_record(commit, id, record)?;
    Ok(DocumentParts {
        document,
        parts,
        rows,
    })
}

fn info(parts: &[Part], position: usize, record: &DocumentRecord) -> Result<PartInfo> {
    let part = parts.get(position);
    let part = part.ok_or_else(|| Error::damaged("a part vanished"))?;
    Ok(PartInfo {
        number: number_of(position),
        span: part_span(parts, position, record.text_bytes),
        lines: lines_of(parts, position, record),
        content: part.content.clone(),
    })
}
