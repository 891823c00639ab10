//! Which chunks have no vector in a column yet, and what is to be embedded for them.

use std::cmp::Reverse;
use std::ops::ControlFlow;

use kb_types::DocumentId;
use kb_types::error::Result;
use roaring::RoaringBitmap;

use super::options::WaitingTexts;
use crate::catalog::Catalog;
use crate::container::{Container, Snapshot};
use crate::ingest::run::session::Session;
use crate::ingest::run::vector_index::embedded::each_embedded;
use crate::store::documents::DocumentRecord;

/// A document with chunks that have no vector.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct WaitingDocument {
    /// When its original was changed last; newest first.
    modified_ms: Reverse<i64>,
    /// Its path.
    pub(super) path: String,
    /// How many of its chunks wait.
    pub(super) chunks: u32,
}

impl Session {
    /// See [`crate::KbWriter::waiting_texts`].
    pub(crate) fn waiting_texts(&self, column: Option<&str>) -> Result<WaitingTexts> {
        Container::open(&self.path)?.read(|snapshot| {
            let catalog = Catalog::load(snapshot)?;
            let named = column.and_then(|name| catalog.vector_columns.named(name));
            let column = named.map(|column| column.number);
            let mut texts = WaitingTexts::default();
            for waiting in waiting_documents(snapshot, &catalog, (column, ""), &mut || Ok(()))? {
                for chunk in waiting_chunks(snapshot, &catalog, column, &waiting.path)? {
                    texts.texts += 1;
                    texts.bytes += chunk.text.len() as u64;
                }
            }
            Ok(texts)
        })
    }
}

/// A chunk with the text that is embedded for it.
#[derive(Debug)]
pub(super) struct WaitingChunk {
    /// Its document.
    pub(super) path: String,
    /// BLAKE3 of the text of that document.
    pub(super) text_hash: [u8; 32],
    /// Chunks of that document.
    pub(super) rows: u32,
    /// Number of the chunk in its document.
    pub(super) index: u32,
    /// What is embedded.
    pub(super) text: String,
}

/// The documents of a folder with chunks without a vector in a column, newest first. No column: all; an empty folder is
/// the whole file.
///
/// # Errors
/// [`crate::Error::Damaged`], and those of `check`, which is asked now and then whether to go on.
pub(super) fn waiting_documents(
    snapshot: &Snapshot<'_>,
    catalog: &Catalog,
    (column, folder): (Option<u16>, &str),
    check: &mut dyn FnMut() -> Result<()>,
) -> Result<Vec<WaitingDocument>> {
    let mut waiting = Vec::new();
    let below = match folder {
        "" => String::new(),
        folder => format!("{folder}/"),
    };
    catalog.documents.each_path(snapshot, &below, |path, id| {
        check()?;
        if !path.starts_with(&below) {
            return Ok(ControlFlow::Break(()));
        }
        let record = catalog.documents.get(snapshot, id)?;
        let had = present(catalog, &record, column);
        let end = record.first_row.saturating_add(record.rows);
        let with = had.map_or(0, |rows| rows.range_cardinality(record.first_row..end));
        let chunks = record
            .rows
            .saturating_sub(u32::try_from(with).unwrap_or(u32::MAX));
        if chunks > 0 {
            waiting.push(WaitingDocument {
                modified_ms: Reverse(record.modified_ms),
                path: path.to_owned(),
                chunks,
            });
        }
        Ok(ControlFlow::Continue(()))
    })?;
    waiting.sort_unstable();
    Ok(waiting)
}

/// The chunks of a document that wait, in order; none if it is gone.
///
/// # Errors
/// [`crate::Error::Damaged`].
pub(super) fn waiting_chunks(
    snapshot: &Snapshot<'_>,
    catalog: &Catalog,
    column: Option<u16>,
    path: &str,
) -> Result<Vec<WaitingChunk>> {
    let Some((id, record)) = document(snapshot, catalog, path)? else {
        return Ok(Vec::new());
    };
    let had = present(catalog, &record, column);
    let waits = |index: &u32| {
        let row = record.first_row.saturating_add(*index);
        had.is_none_or(|had| !had.contains(row))
    };
    let numbers: Vec<u32> = (0..record.rows).filter(waits).collect();
    let mut chunks = Vec::with_capacity(numbers.len());
    each_embedded(snapshot, catalog, id, numbers, |index, text| {
        chunks.push(WaitingChunk {
            path: path.to_owned(),
            text_hash: record.text_hash,
            rows: record.rows,
            index,
            text: text.to_owned(),
        });
        Ok(())
    })?;
    Ok(chunks)
}

/// A document by its path.
pub(super) fn document(
    snapshot: &Snapshot<'_>,
    catalog: &Catalog,
    path: &str,
) -> Result<Option<(DocumentId, DocumentRecord)>> {
    let Some(id) = catalog.documents.by_path(snapshot, path)? else {
        return Ok(None);
    };
    Ok(Some((id, catalog.documents.get(snapshot, id)?)))
}

/// The rows of the segment of a document that have a vector in a column.
fn present<'c>(
    catalog: &'c Catalog,
    record: &DocumentRecord,
    column: Option<u16>,
) -> Option<&'c RoaringBitmap> {
    let mut segments = catalog.segments.iter();
    let segment = segments.find(|segment| segment.id == record.segment())?;
    let mut more = segment.records.more_vectors.iter();
    let index = more.find(|index| Some(index.number) == column)?;
    Some(&index.present)
}
