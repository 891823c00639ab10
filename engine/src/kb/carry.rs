//! Documents that were added by name, taken along when the rest of a file is indexed anew.

use std::ops::ControlFlow;

use crate::container::Snapshot;
use crate::error::Result;
use crate::ingest::prepare::{Cut, Prepared, Preparer, Source};
use crate::search::catalog::Catalog;
use crate::store::outline;
use crate::types::Document;

/// Appends every document of a file that is no file of a root to `carried`, cut as it was.
///
/// # Errors
/// [`crate::Error::Damaged`] when rows and text contradict each other.
pub(super) fn added_documents(
    snapshot: &Snapshot<'_>,
    catalog: &Catalog,
    preparer: &mut Preparer<'_>,
    carried: &mut Vec<Prepared>,
) -> Result<()> {
    catalog.documents.each_path(snapshot, "", |_, id| {
        let record = catalog.documents.get(snapshot, id)?;
        if record.root.is_some() {
            return Ok(ControlFlow::Continue(()));
        }
        let segment = catalog.segment(record.segment())?.bind(snapshot)?;
        let mut text = String::new();
        segment
            .blocks()?
            .append(record.first_row, record.rows, &mut text)?;
        let mut chunks = Vec::new();
        for row in record.first_row..record.first_row.saturating_add(record.rows) {
            chunks.push(segment.chunks().get(row)?.at);
        }
        let document = Document {
            class: record.class()?,
            path: record.path,
            title: record.title,
            file_type: record.file_type,
            language: record.language,
            text,
            outline: outline::get(snapshot, id)?,
            line_numbers: Vec::new(),
            metadata: record.metadata,
        };
        let source = Source {
            root: None,
            size_bytes: record.size_bytes,
            modified_ms: record.modified_ms,
            hash: record.hash,
        };
        carried.push(preparer.prepare(document, source, Cut::At(chunks))?);
        Ok(ControlFlow::Continue(()))
    })
}
