//! Rows -> documents -> symbols.

use std::collections::BTreeMap;

use kb_types::error::Result;
use kb_types::{DocumentId, Span};
use roaring::RoaringBitmap;

use crate::search::filter::symbols::WantedSymbols;
use crate::search::sources::Sources;
use crate::store::documents::DocumentRecord;

/// Leaves the rows that may have the name of a symbol that is wanted.
pub(super) fn keep_rows(
    wanted: &WantedSymbols,
    sources: &Sources<'_>,
    rows: &mut [RoaringBitmap],
) -> Result<()> {
    for (segment, (bound, rows)) in sources.segments.iter().zip(rows).enumerate() {
        sources.tick()?;
        wanted.keep_rows(sources.source(sources.file_of(segment))?, bound, rows)?;
    }
    Ok(())
}

/// Some rows of a document.
#[derive(Debug)]
pub(super) struct DocumentRows {
    pub(super) id: DocumentId,
    pub(super) record: DocumentRecord,
    /// Position of its segment.
    pub(super) segment: usize,
    /// Which of its rows, ascending.
    pub(super) rows: Vec<u32>,
}

/// The documents of some live rows, file by file in the order of paths.
pub(super) fn documents(
    sources: &Sources<'_>,
    rows: &[RoaringBitmap],
) -> Result<Vec<DocumentRows>> {
    let mut by_path: BTreeMap<(usize, String), DocumentRows> = BTreeMap::new();
    for (segment, (bound, rows)) in sources.segments.iter().zip(rows).enumerate() {
        let chunks = bound.chunks();
        let file = sources.file_of(segment);
        let mut open: Option<DocumentRows> = None;
        for row in rows {
            if let Some(open) = &mut open
                && row < open.record.first_row.saturating_add(open.record.rows)
            {
                open.rows.push(row);
                continue;
            }
            sources.tick()?;
            let id = chunks.document(row)?;
            let record = sources.document(file, id)?;
            let next = DocumentRows {
                id,
                record,
                segment,
                rows: vec![row],
            };
            if let Some(done) = open.replace(next) {
                by_path.insert((file, done.record.path.clone()), done);
            }
        }
        if let Some(done) = open {
            by_path.insert((file, done.record.path.clone()), done);
        }
    }
    Ok(by_path.into_values().collect())
}

/// Bytes of a document, read from the chunks that hold them.
///
/// # Errors
/// [`crate::Error::Damaged`] when a chunk cannot be read.
pub(super) fn text_of(
    sources: &Sources<'_>,
    document: &DocumentRows,
    span: Span,
) -> Result<String> {
    let record = &document.record;
    let all = record.first_row..record.first_row.saturating_add(record.rows);
    let (rows, start) = sources.rows_of(document.segment, all, span)?;
    let mut text = String::new();
    let mut blocks = sources.segment(document.segment)?.blocks()?;
    for row in rows {
        blocks.append(row, 1, &mut text)?;
    }
    let own = text
        .get(span.start.saturating_sub(start) as usize..span.end.saturating_sub(start) as usize);
    Ok(own.unwrap_or_default().to_owned())
}
