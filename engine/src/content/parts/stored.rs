//! The parts of a document as they are stored, and which rows and lines they have.

use std::ops::Range;

use kb_types::error::{Error, Result};
use kb_types::file_types;
use kb_types::part::{part_lines, part_span};
use kb_types::{DocumentId, Lines, Part, PartKind};

use crate::catalog::BoundSegment;
use crate::content::CommitView;
use crate::store::documents::DocumentRecord;

/// The number of the part at a position.
pub(in crate::content) fn number_of(position: usize) -> u32 {
    u32::try_from(position)
        .unwrap_or(u32::MAX)
        .saturating_add(1)
}

/// First and last line of a part; both 0 when it has no text.
pub(super) fn lines_of(parts: &[Part], position: usize, record: &DocumentRecord) -> Lines {
    match part_lines(parts, position, record.lines) {
        (_, 0) => Lines { first: 0, last: 0 },
        (first, count) => Lines {
            first,
            last: first.saturating_add(count - 1),
        },
    }
}

/// The rows of a segment that each part of a document has; no row for one without text. Reads no text.
pub(in crate::content) fn part_rows(
    segment: Option<&BoundSegment<'_>>,
    record: &DocumentRecord,
    parts: &[Part],
) -> Result<Vec<Range<u32>>> {
    let mut row = record.first_row;
    let end = record.first_row.saturating_add(record.rows);
    let mut all = Vec::with_capacity(parts.len());
    for position in 0..parts.len() {
        let first = row;
        let span = part_span(parts, position, record.text_bytes);
        if let Some(segment) = segment {
            let chunks = segment.chunks();
            while row < end && chunks.get(row)?.at.span.start < span.end {
                row += 1;
            }
        }
        all.push(first..row);
    }
    Ok(all)
}

/// What a document without parts would have had: an empty presentation is one, and a workbook without sheets.
pub(in crate::content) fn kind_without_parts(record: &DocumentRecord) -> Option<PartKind> {
    file_types::part_kind(&record.file_type).filter(|_| record.text_bytes == 0)
}

/// The parts of a document that must be of a kind; none where it is empty.
///
/// # Errors
/// [`Error::UnsupportedDocumentType`] for another kind.
pub(super) fn parts_of_kind(
    commit: CommitView<'_>,
    id: DocumentId,
    record: &DocumentRecord,
    wanted: PartKind,
) -> Result<Vec<Part>> {
    let table = &commit.catalog.parts;
    let parts = table.get(commit.snapshot, id, record.text_bytes)?;
    let kind = parts.first().map(|part| part.content.kind());
    match kind.or_else(|| kind_without_parts(record)) {
        Some(kind) if kind == wanted => Ok(parts),
        has => Err(unsupported(record, wanted, has)),
    }
}

/// What is said where a document does not have what was asked for.
pub(in crate::content) fn unsupported(
    record: &DocumentRecord,
    wanted: PartKind,
    has: Option<PartKind>,
) -> Error {
    Error::UnsupportedDocumentType {
        path: record.path.clone(),
        file_type: record.file_type.clone(),
        wanted,
        has,
    }
}
