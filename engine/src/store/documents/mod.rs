//! What is kept of each document: tables `docs`, `doc_by_path` and `doc_by_suffix`.

use std::ops::ControlFlow;

use kb_types::DocumentId;
use kb_types::error::{Error, Result};

#[cfg(feature = "ingest")]
use crate::container::Transaction;
use crate::container::codec::u64_at;
use crate::container::{Key, Snapshot, Table};
use crate::store::{handles, tables};

pub(crate) mod parts;
mod record;
pub(crate) mod symbols;

pub use record::DocumentRecord;

/// The segment of a document without chunks: it is in none. Segments are numbered from 1.
pub(crate) const NO_SEGMENT: u32 = 0;

/// Most unwanted records that are read on the way to the next wanted one.
// A lookup reads a path of the tree, three or four pages. Sixteen records lie in one or two leaves.
const MAX_SKIPPED_ROWS: usize = 16;

/// The tables, as one commit has them.
#[derive(Debug, Clone)]
pub struct Documents {
    /// Table `docs`; none before the first document.
    docs: Option<Table>,
    /// Table `doc_by_path`.
    by_path: Option<Table>,
    /// Table `doc_by_suffix`.
    by_suffix: Option<Table>,
}

impl Documents {
    /// Finds the tables.
    pub fn locate(snapshot: &Snapshot<'_>) -> Result<Documents> {
        Ok(Documents {
            docs: snapshot.table(tables::DOCS)?,
            by_path: snapshot.table(tables::DOC_BY_PATH)?,
            by_suffix: snapshot.table(tables::DOC_BY_SUFFIX)?,
        })
    }

    /// The record of a document that a row of this file names.
    ///
    /// # Errors
    /// [`Error::Damaged`] when there is none.
    pub fn get(&self, snapshot: &Snapshot<'_>, id: DocumentId) -> Result<DocumentRecord> {
        let missing = || Error::damaged(format!("document {} is named but missing", id.0));
        let table = self.docs.as_ref().ok_or_else(missing)?;
        let row = snapshot
            .get(table, Key::U64(u64::from(id.0)))?
            .ok_or_else(missing)?;
        record::decode(&row)
    }

    /// The number of the document of that path.
    pub fn by_path(&self, snapshot: &Snapshot<'_>, path: &str) -> Result<Option<DocumentId>> {
        lookup_id(snapshot, self.by_path.as_ref(), path)
    }

    /// The number of the document whose handle ends in `suffix`.
    pub fn by_suffix(&self, snapshot: &Snapshot<'_>, suffix: &str) -> Result<Option<DocumentId>> {
        lookup_id(snapshot, self.by_suffix.as_ref(), suffix)
    }

    /// Calls `visit` with number and record of every document, by ascending number.
    ///
    /// # Errors
    /// [`Error::Damaged`]; what `visit` says.
    pub fn each(
        &self,
        snapshot: &Snapshot<'_>,
        mut visit: impl FnMut(DocumentId, DocumentRecord) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let Some(table) = &self.docs else {
            return Ok(());
        };
        snapshot.range(table, Key::U64(0), |key, value| {
            let record = record::decode(value)?;
            visit(document_id(key)?, record)
        })
    }

    /// Calls `visit` with number and record of each of `ids`, which ascend. Where they lie close to each
    /// other, this costs less than one look-up each.
    ///
    /// # Errors
    /// [`Error::Damaged`] when one is missing; what `visit` says.
    pub fn each_of(
        &self,
        snapshot: &Snapshot<'_>,
        ids: &[DocumentId],
        mut visit: impl FnMut(DocumentId, DocumentRecord) -> Result<()>,
    ) -> Result<()> {
        let missing =
            |id: DocumentId| Error::damaged(format!("document {} is named but missing", id.0));
        let mut ids = ids.iter().copied().peekable();
        while let Some(first) = ids.peek().copied() {
            let table = self.docs.as_ref().ok_or_else(|| missing(first))?;
            let mut skipped = 0;
            let mut any = false;
            snapshot.range(table, Key::U64(u64::from(first.0)), |key, value| {
                let id = document_id(key)?;
                match ids.peek() {
                    Some(next) if *next == id => {
                        visit(id, record::decode(value)?)?;
                        ids.next();
                        (skipped, any) = (0, true);
                    }
                    Some(next) if *next > id => skipped += 1,
                    _ => return Ok(ControlFlow::Break(())),
                }
                Ok(match skipped <= MAX_SKIPPED_ROWS {
                    true => ControlFlow::Continue(()),
                    // It is shorter to look the next one up.
                    false => ControlFlow::Break(()),
                })
            })?;
            if !any {
                return Err(missing(first));
            }
        }
        Ok(())
    }

    /// Calls `visit` with path and number of every document, in the order of path bytes, from the
    /// first path at or after `from`.
    pub fn each_path(
        &self,
        snapshot: &Snapshot<'_>,
        from: &str,
        mut visit: impl FnMut(&str, DocumentId) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let Some(table) = &self.by_path else {
            return Ok(());
        };
        snapshot.range(table, Key::Str(from), |key, value| {
            let path = std::str::from_utf8(key)
                .map_err(|_| Error::damaged("a document path is not UTF-8"))?;
            visit(path, document_id(value)?)
        })
    }
}

fn lookup_id(
    snapshot: &Snapshot<'_>,
    table: Option<&Table>,
    key: &str,
) -> Result<Option<DocumentId>> {
    let Some(table) = table else {
        return Ok(None);
    };
    snapshot
        .get(table, Key::Str(key))?
        .map(|value| document_id(&value))
        .transpose()
}

pub(crate) fn document_id(value: &[u8]) -> Result<DocumentId> {
    let number = u64_at(value, 0)?;
    u32::try_from(number)
        .map(DocumentId)
        .map_err(|_| Error::damaged(format!("document number {number} is out of range")))
}

/// Writes a document with its path and suffix, in the place of an older record of that number.
#[cfg(feature = "ingest")]
pub fn put(
    transaction: &mut Transaction<'_>,
    id: DocumentId,
    record: &DocumentRecord,
) -> Result<()> {
    put_with_path(transaction, id, record)?;
    put_suffix(transaction, id, &record.suffix)
}

/// Writes a document with its path; the caller writes its suffix.
#[cfg(feature = "ingest")]
pub(crate) fn put_with_path(
    transaction: &mut Transaction<'_>,
    id: DocumentId,
    record: &DocumentRecord,
) -> Result<()> {
    put_record(transaction, id, record)?;
    let number = u64::from(id.0).to_le_bytes();
    transaction.put(tables::DOC_BY_PATH, Key::Str(&record.path), &number)
}

/// Writes the suffix of a document. Suffixes that ascend take a fifth less of a file than others.
#[cfg(feature = "ingest")]
pub(crate) fn put_suffix(
    transaction: &mut Transaction<'_>,
    id: DocumentId,
    suffix: &str,
) -> Result<()> {
    let number = u64::from(id.0).to_le_bytes();
    transaction.put(tables::DOC_BY_SUFFIX, Key::Str(suffix), &number)
}

/// The record of a document as it would be after a commit now.
///
/// # Errors
/// [`Error::Damaged`] when there is none, or it does not decode.
#[cfg(feature = "ingest")]
pub(crate) fn get_uncommitted(
    transaction: &mut Transaction<'_>,
    id: DocumentId,
) -> Result<DocumentRecord> {
    let row = transaction
        .get(tables::DOCS, Key::U64(u64::from(id.0)))?
        .ok_or_else(|| Error::damaged(format!("document {} is named but missing", id.0)))?;
    record::decode(&row)
}

/// Writes a document whose path and suffix stay as they are.
#[cfg(feature = "ingest")]
pub fn put_record(
    transaction: &mut Transaction<'_>,
    id: DocumentId,
    record: &DocumentRecord,
) -> Result<()> {
    let row = record::encode(record)?;
    transaction.put(tables::DOCS, Key::U64(u64::from(id.0)), &row)
}

/// Removes a document with its path and suffix. Its chunks, outline and skipped files are not looked
/// at.
#[cfg(feature = "ingest")]
pub(crate) fn remove(
    transaction: &mut Transaction<'_>,
    id: DocumentId,
    record: &DocumentRecord,
) -> Result<()> {
    transaction.remove(tables::DOCS, Key::U64(u64::from(id.0)))?;
    transaction.remove(tables::DOC_BY_PATH, Key::Str(&record.path))?;
    transaction
        .remove(tables::DOC_BY_SUFFIX, Key::Str(&record.suffix))
        .map(|_| ())
}

/// A suffix for a new document of that path that no document has so far, changes of this
/// transaction included, and that is not reserved. The same path in a file without a clash gets the
/// same suffix.
#[cfg(feature = "ingest")]
pub(crate) fn free_suffix(
    transaction: &mut Transaction<'_>,
    path: &str,
    is_reserved: &mut dyn FnMut(&str) -> Result<bool>,
) -> Result<String> {
    let mut candidates = handles::suffixes(path);
    loop {
        let candidate = candidates.next().ok_or_else(|| Error::TooLarge {
            what: "the table of handles".to_owned(),
            size: u64::MAX,
            limit: u64::from(u32::MAX),
        })?;
        let key = Key::Str(&candidate);
        if transaction.get(tables::DOC_BY_SUFFIX, key)?.is_none() && !is_reserved(&candidate)? {
            return Ok(candidate);
        }
    }
}
